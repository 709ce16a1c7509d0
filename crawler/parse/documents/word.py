"""Read Word documents since 2007 (.docx and variants, also as one XML file) and WordprocessingML of Word 2003."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from crawler.parse.documents.conversion import embed
from crawler.parse.documents.draft import Draft, TextRun
from crawler.parse.documents.drawings import read_drawings
from crawler.parse.documents.fields import hyperlink, references
from crawler.parse.documents.numbering import Counters, NumberingLevel
from crawler.parse.documents.ooxml import Package, Relation
from crawler.parse.documents.xml_tree import attribute, first, local_name, parse_xml_with_problem, text_of
from crawler.parse.documents.zip_reader import base_name

_TRANSPARENT = frozenset(
    [
        "ins",
        "moveTo",
        "smartTag",
        "sdt",
        "sdtContent",
        "customXml",
        "dir",
        "bdo",
        "oMath",
        "oMathPara",
        "sect",
        "sub-section",
        "r",
        "rt",
        "rubyBase",
        "ruby",
    ]
)
_KINDS_OF_2003 = {"1": "upperRoman", "2": "lowerRoman", "3": "upperLetter", "4": "lowerLetter", "23": "bullet"}
_HEADING = re.compile(r"heading\s*([1-9])", re.IGNORECASE)
_LONGEST_FIELD = 10_000
_FALSE = frozenset({"0", "false", "off", "none"})
_SECONDARY_STORIES = (  # relationship kind → name of the section, of stories beside the main one
    ("footnotes", "footnotes"),
    ("endnotes", "endnotes"),
    ("comments", "comments"),
    ("footer", "footer"),
    ("glossaryDocument", "glossary"),
)


def read(body: bytes, draft: Draft) -> None:
    if body.startswith(b"PK"):
        _read_package(Package(body, draft))
    else:
        _read_flat(body, draft)


def _read_package(package: Package) -> None:
    draft, part = package.draft, package.main_part("word/document.xml")
    package.read_properties()
    root = package.parse_part(part)
    folder = part.rpartition("/")[0]
    styles = _Styles(package.parse_part((package.related(part, "styles") or [f"{folder}/styles.xml"])[0]))
    numbers = _Numbers(package.parse_part((package.related(part, "numbering") or [f"{folder}/numbering.xml"])[0]))

    def read_story(target: str, root: Any) -> None:
        _Story(draft, styles, numbers, package, target).read(root)

    for target in dict.fromkeys(package.related(part, "header")):
        with draft.section("part", "header"):
            read_story(target, package.parse_part(target))
    read_story(part, root)
    for kind, name in _SECONDARY_STORIES:
        for target in dict.fromkeys(package.related(part, kind)):
            with draft.section("part", name):
                read_story(target, package.parse_part(target))
                read_drawings(package, target)
    read_drawings(package, part)
    package.read_links_and_embedded()


def _read_flat(body: bytes, draft: Draft) -> None:
    """Read WordprocessingML of Word 2003, or a package whose parts are all in one XML file."""
    root, problem = parse_xml_with_problem(body)
    draft.report_problem(problem)
    if root is None:
        return
    for element in root.iter("{*}Title"):
        draft.title = draft.title or (element.text or "")
    for element in root.iter("{*}Author", "{*}creator"):
        draft.add_metadata("author", element.text or "")
    styles, numbers = _Styles(root), _Numbers(root)
    for name in ("hdr", "body", "footnotes", "endnotes", "comments", "ftr"):
        for element in root.iter(f"{{*}}{name}"):
            _Story(draft, styles, numbers, None, "").read(element)
    for element in root.iter("{*}binData", "{*}binaryData"):
        if local_name(element) == "binaryData":
            continue  # mostly images
        embed(draft, attribute(element, "name"), b64decode(text_of(element).encode("ascii", "ignore")))


class _Styles:
    """The paragraph styles: heading levels and numbering, with inheritance."""

    def __init__(self, root: Any) -> None:
        self._levels: dict[str, int] = {}
        self._numbers: dict[str, Any] = {}
        self._based: dict[str, str] = {}
        for style in root.iter("{*}style") if root is not None else ():
            identity = attribute(style, "styleId")
            name, outline, based = first(style, "name"), first(style, "outlineLvl"), first(style, "basedOn")
            self._based[identity] = attribute(based, "val") if based is not None else ""
            found = _HEADING.match(attribute(name, "val")) if name is not None else None
            if found is not None:
                self._levels[identity] = int(found[1])
            elif name is not None and attribute(name, "val").lower() == "title":
                self._levels[identity] = 1
            elif outline is not None:
                self._levels[identity] = _number(attribute(outline, "val")) + 1
            numbered = first(style, "numPr")
            if numbered is not None:
                self._numbers[identity] = numbered

    def level(self, style: str) -> int:
        """The heading level of a style; 0 if it is not a heading style."""
        for name in self._ancestry(style):
            if name in self._levels:
                return self._levels[name] if self._levels[name] <= 9 else 0
        found = _HEADING.fullmatch(style)
        return int(found[1]) if found is not None else 0

    def numbering(self, style: str) -> Any:
        return next((self._numbers[name] for name in self._ancestry(style) if name in self._numbers), None)

    def _ancestry(self, style: str) -> Iterator[str]:
        for _ in range(10):  # styles may be based on each other in a cycle
            if not style:
                return
            yield style
            style = self._based.get(style, "")


class _Numbers:
    """The numbering definitions, and the counters that number paragraphs."""

    def __init__(self, root: Any) -> None:
        self._lists: dict[str, Counters] = {}
        self._abstract: dict[str, str] = {}  # numbering id → abstract list
        self._starts: dict[str, dict[int, int]] = {}
        links: dict[str, str] = {}
        for element in root.iter("{*}abstractNum", "{*}listDef") if root is not None else ():
            identity = attribute(element, "abstractNumId") or attribute(element, "listDefId")
            self._lists[identity] = Counters(dict(_level(level) for level in element.iter("{*}lvl")))
            style = first(element, "styleLink")
            if style is not None:
                links[attribute(style, "val")] = identity
        for element in root.iter("{*}num", "{*}list") if root is not None else ():
            self._add_numbering(element)
        for element in root.iter("{*}numStyleLink") if root is not None else ():
            self._link_to_style(element, links)

    def _add_numbering(self, element: Any) -> None:
        number, abstract = attribute(element, "numId") or attribute(element, "ilfo"), first(element, "abstractNumId")
        abstract = first(element, "ilst") if abstract is None else abstract
        if abstract is None:
            return
        self._abstract[number] = attribute(abstract, "val")
        for override in element.iter("{*}lvlOverride"):
            start, level = first(override, "startOverride"), first(override, "lvl")
            depth = _number(attribute(override, "ilvl"))
            if start is not None:
                self._starts.setdefault(number, {})[depth] = _number(attribute(start, "val"))
            if level is not None:
                shared = self._lists.get(self._abstract[number])
                levels = {**shared.levels} if shared is not None else {}
                levels[depth] = _level(level)[1]
                self._abstract[number] = f"{number} alone"
                self._lists[f"{number} alone"] = Counters(levels)

    def _link_to_style(self, element: Any, links: dict[str, str]) -> None:
        """Let a list that refers to a numbering style share the list of that style."""
        target = links.get(attribute(element, "val"))
        identity = attribute(element.getparent(), "abstractNumId")
        if target is not None and target in self._lists:
            self._lists[identity] = self._lists[target]

    def number_of(self, numbered: Any, inherited: Any) -> tuple[bool, str]:
        """Whether a paragraph is a list item, and its number as text."""
        number = _value_of(numbered, "numId", "ilfo") or _value_of(inherited, "numId", "ilfo")
        depth = _number(_value_of(numbered, "ilvl") or _value_of(inherited, "ilvl"))
        counters = self._lists.get(self._abstract.get(number, ""))
        if counters is None:
            return False, ""
        for at, start in self._starts.pop(number, {}).items():
            counters.restart(at, start)
        return True, counters.next(depth)


def _level(element: Any) -> tuple[int, NumberingLevel]:
    found = {local_name(part): attribute(part, "val") for part in element}
    kind = found.get("numFmt") or _KINDS_OF_2003.get(found.get("nfc", ""), "decimal")
    return _number(attribute(element, "ilvl")), NumberingLevel(
        kind,
        found.get("lvlText", ""),
        _number(found.get("start", "0")),
        found.get("lvlRestart") != "0",
        "isLgl" in found,
    )


class _Story:
    """Reads one story, a sequence of paragraphs and tables: the main text, a header, the footnotes …"""

    def __init__(self, draft: Draft, styles: _Styles, numbers: _Numbers, package: Package | None, part: str) -> None:
        self._draft, self._styles, self._numbers, self._package = draft, styles, numbers, package
        self._relations: dict[str, Relation] = package.relations(part) if package is not None else {}
        self._fields: list[str] = []  # instructions of the open fields, the innermost last
        self._boxes: list[Any] = []  # text boxes anchored in the paragraph
        self._references: list[str] = []

    def read(self, root: Any) -> None:
        if root is not None:
            self._read_blocks(root)

    def _read_blocks(self, parent: Any) -> None:
        for element in parent:
            name = local_name(element)
            if self._draft.is_full:
                return
            if name == "p":
                self._read_paragraph(element)
            elif name == "tbl":
                self._read_table(element)
            elif name == "altChunk" and self._package is not None:
                relation = self._relations.get(attribute(element, "id"))
                if relation is not None and not relation.is_external:
                    embed(self._draft, base_name(relation.target), self._package.archive.read(relation.target))
            elif name not in ("del", "moveFrom", "sectPr", "sdtPr"):
                if name == "comment":
                    self._draft.paragraph(attribute(element, "author"))
                self._read_blocks(element)

    def _read_paragraph(self, element: Any) -> None:
        runs, (style, level, numbered) = self._read_runs(element), self._paragraph_kind(element)
        is_item, number = self._numbers.number_of(numbered, self._styles.numbering(style)) if runs else (False, "")
        if number:
            runs.insert(0, TextRun(f"{number} "))
        if level:
            self._draft.heading(level, runs)
        elif is_item and not number:
            self._draft.item(runs)
        else:
            self._draft.paragraph(runs)
        self._write_anchored()

    def _paragraph_kind(self, element: Any) -> tuple[str, int, Any]:
        """The style of a paragraph, its level (0 unless a heading), and its numbering."""
        formatting = element.find("{*}pPr")
        if formatting is None:
            return "", 0, None
        named, outline = formatting.find("{*}pStyle"), formatting.find("{*}outlineLvl")
        style = attribute(named, "val") if named is not None else ""
        level = _number(attribute(outline, "val")) + 1 if outline is not None else self._styles.level(style)
        numbered = formatting.find("{*}numPr")
        return style, level if level <= 9 else 0, numbered if numbered is not None else formatting.find("{*}listPr")

    def _write_anchored(self) -> None:
        """Write the text boxes and references that are anchored in the paragraph."""
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            self._read_blocks(box)
        references, self._references = self._references, []
        for url in references:
            self._draft.reference(url)

    def _read_table(self, table: Any) -> None:
        for row in table.iter("{*}tr"):
            if _ancestor(row, "tbl") is table:
                cells = [self._read_cell(cell) for cell in row.iter("{*}tc") if _ancestor(cell, "tr") is row]
                self._draft.row(cells)
        self._write_anchored()

    def _read_cell(self, cell: Any) -> list[TextRun]:
        runs: list[TextRun] = []
        for paragraph in cell.iter("{*}p"):
            if local_name(next(paragraph.iterancestors("{*}txbxContent", "{*}tc"))) == "txbxContent":
                continue  # text boxes come after the table
            found, (style, _, numbered) = self._read_runs(paragraph), self._paragraph_kind(paragraph)
            number = self._numbers.number_of(numbered, self._styles.numbering(style))[1] if found else ""
            runs += [TextRun("\n")] if runs and found else []
            runs += [TextRun(f"{number} "), *found] if number else found
        return runs

    # ── content of a paragraph ──

    def _read_runs(self, element: Any, href: str = "") -> list[TextRun]:
        runs: list[TextRun] = []
        for child in element:
            name = local_name(child)
            if name == "r":
                runs += self._read_run(child, href)
            elif name in ("hyperlink", "hlink"):
                runs += self._read_runs(child, self._link_target(child))
            elif name == "fldSimple":
                instruction = attribute(child, "instr")
                self._references += references(instruction)
                runs += self._read_runs(child, hyperlink(instruction) or href)
            elif name in _TRANSPARENT:
                runs += self._read_runs(child, href)
            elif name == "t":  # in formulas
                runs.append(TextRun(text_of(child)))
            elif name in ("AlternateContent", "pict", "drawing"):
                self._collect_drawing(child)
        return runs

    def _link_target(self, link: Any) -> str:
        relation = self._relations.get(attribute(link, "id"))
        if relation is None:
            return attribute(link, "dest")
        anchor = attribute(link, "anchor")
        return f"{relation.target}#{anchor}" if anchor and "#" not in relation.target else relation.target

    def _read_run(self, run: Any, href: str) -> list[TextRun]:
        formatting = run.find("{*}rPr")
        bold, italic = _is_switched_on(formatting, "b"), _is_switched_on(formatting, "i")
        runs: list[TextRun] = []
        for child in run:
            name = local_name(child)
            text = ""
            if name == "t":
                text = text_of(child)
            elif name in ("tab", "ptab"):
                text = "\t"
            elif name in ("br", "cr"):
                text = "\n"
            elif name == "noBreakHyphen":
                text = "\u2011"
            elif name == "softHyphen":
                text = "\xad"
            elif name == "fldChar":
                self._process_field_mark(attribute(child, "fldCharType"))
            elif name == "instrText" and self._fields:
                self._fields[-1] = (self._fields[-1] + text_of(child))[:_LONGEST_FIELD]
            elif name in ("AlternateContent", "pict", "drawing", "object"):
                self._collect_drawing(child)
            elif name in ("ruby", "r"):
                runs += self._read_runs(child, href)
            if text:
                runs.append(TextRun(text, bold, italic, href or self._href))
        return runs

    @property
    def _href(self) -> str:
        return next((href for field in reversed(self._fields) if (href := hyperlink(field))), "")

    def _process_field_mark(self, step: str) -> None:
        if step == "begin":
            self._fields.append("")
        elif self._fields and step == "end":
            self._references += references(self._fields.pop())

    def _collect_drawing(self, element: Any) -> None:
        """Collect the text boxes, WordArt and links of a drawing.

        Text boxes often occur twice, the second time for old programs; then only the first version is read.
        """
        choice = element.find("{*}Choice") if local_name(element) == "AlternateContent" else None
        if choice is not None and first(choice, "txbxContent") is None and first(choice, "wgp") is None:
            choice = None
        shown = choice if choice is not None else element
        around = _ancestor(element, "txbxContent")
        self._boxes += [box for box in shown.iter("{*}txbxContent") if _ancestor(box, "txbxContent") is around]
        for art in shown.iter("{*}textpath"):
            self._draft.paragraph(attribute(art, "string"))
        for shape in shown.iter("{*}shape", "{*}rect", "{*}group", "{*}oval", "{*}line"):
            href = attribute(shape, "href")
            self._references += [href] if href else []
        for hover in shown.iter("{*}hlinkHover", "{*}hlinkClick"):
            relation = self._relations.get(attribute(hover, "id"))
            self._references += [relation.target] if relation is not None and relation.is_external else []


def _ancestor(element: Any, name: str) -> Any:
    return next(element.iterancestors(f"{{*}}{name}"), None)


def _value_of(element: Any, *names: str) -> str:
    for name in names if element is not None else ():
        found = first(element, name)
        if found is not None:
            return attribute(found, "val")
    return ""


def _is_switched_on(formatting: Any, name: str) -> bool:
    element = formatting.find(f"{{*}}{name}") if formatting is not None else None
    return element is not None and attribute(element, "val").lower() not in _FALSE


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
