"""Read texts, spreadsheets and presentations of OpenDocument and its OpenOffice predecessor."""

from __future__ import annotations

from typing import Any

from crawler.parse.documents.conversion import embed
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import MOST_PARTS, Draft, Inline, TextRun
from crawler.parse.documents.xml_tree import attribute, first, local_name, parse_xml, parse_xml_with_problem, text_of
from crawler.parse.documents.zip_reader import ZipArchive, base_name, open_zip

_PROPERTIES = {
    "creator": "modified_by",
    "initial-creator": "author",
    "subject": "subject",
    "description": "description",
    "language": "language",
    "creation-date": "created",
    "date": "modified",
    "generator": "application",
}
_COUNTS = {"page-count": "pages", "table-count": "tables", "word-count": "words"}
_NOT_SHOWN = frozenset(
    {"tracked-changes", "forms", "sequence-decls", "variable-decls", "user-field-decls", "event-listeners"}
    | {"scripts", "font-face-decls", "automatic-styles", "calculation-settings", "dde-connection-decls"}
)
_MOST_REPEATED = 100  # a row or cell repeated more often only fills the sheet
_STYLE_PARTS = {"header": "header", "header-left": "header", "footer": "footer", "footer-left": "footer"}
_MOST_EMBEDDED = 100


def read(body: bytes, draft: Draft) -> None:
    if not body.startswith(b"PK"):
        root, problem = parse_xml_with_problem(body)
        draft.report_problem(problem)
        _read_flat(root, draft)
        return
    archive = open_zip(body, draft)
    _read_properties(parse_xml(archive.read("meta.xml")), draft)
    if b"manifest:encryption-data" in archive.read("META-INF/manifest.xml"):
        draft.add_metadata("encrypted", "true")
        draft.report_problem(Problem.ENCRYPTED)
        return
    if archive.names("basic/") or archive.names("scripts/"):
        draft.add_metadata("has_macro", "true")
    content, problem = parse_xml_with_problem(archive.read("content.xml"))
    styles = parse_xml(archive.read("styles.xml"))
    draft.report_problem(problem)
    reader = _Reader(draft, content, styles)
    reader.read_headers_or_footers(styles, "header")
    reader.read(first(content, "body"))
    reader.read_headers_or_footers(styles, "footer")
    _read_embedded(archive, draft)


def _read_flat(root: Any, draft: Draft) -> None:
    if root is None:
        return
    _read_properties(first(root, "meta"), draft)
    reader = _Reader(draft, root)
    reader.read_headers_or_footers(root, "header")
    reader.read(first(root, "body"))
    reader.read_headers_or_footers(root, "footer")


def _read_properties(root: Any, draft: Draft) -> None:
    keywords: list[str] = []
    for element in root.iter() if root is not None else ():
        name, text = local_name(element), (element.text or "").strip()
        if name == "title":
            draft.title = draft.title or text
        elif name == "keyword":
            keywords.append(text)
        elif name in _PROPERTIES:
            draft.add_metadata(_PROPERTIES[name], text)
        elif name == "user-defined":
            draft.add_metadata(f"custom: {attribute(element, 'name')[:100]}", text)
        elif name == "document-statistic":
            for count, key in _COUNTS.items():
                draft.add_metadata(key, attribute(element, count))
    draft.add_metadata("keywords", ", ".join(keywords))
    draft.add_metadata("author", draft.metadata.get("modified_by", ""))


def _read_embedded(archive: ZipArchive, draft: Draft) -> None:
    """Read embedded objects: OpenDocument content without its own container, or other files."""
    objects = [
        name for name in archive.names() if not name.startswith(("Basic/", "Pictures/", "Thumbnails/", "META-INF/"))
    ]
    for name in objects[:_MOST_EMBEDDED]:
        folder, _, last = name.rpartition("/")
        if folder and last == "content.xml":
            draft.add_name("embedded", folder)
            root = parse_xml(archive.read(name))
            with draft.section("file", folder):
                _Reader(draft, root).read(first(root, "body") if first(root, "body") is not None else root)
        elif "/" not in name and "." not in name and name.startswith("Object"):
            embed(draft, base_name(name), archive.read(name))


class _Reader:
    """Writes the elements of an OpenDocument body to the draft."""

    def __init__(self, draft: Draft, *roots: Any) -> None:
        self._draft = draft
        self._bold: set[str] = set()
        self._italic: set[str] = set()
        self._anchored: list[Any] = []  # frames and notes anchored in a paragraph
        self._slides = 0
        for root in roots:
            self._collect_styles(root)

    def _collect_styles(self, root: Any) -> None:
        """Collect the names of bold and italic styles."""
        for style in root.iter("{*}style") if root is not None else ():
            formatting = first(style, "text-properties")
            if formatting is not None and attribute(formatting, "font-weight") in ("bold", "600", "700", "800", "900"):
                self._bold.add(attribute(style, "name"))
            if formatting is not None and attribute(formatting, "font-style") == "italic":
                self._italic.add(attribute(style, "name"))

    def read_headers_or_footers(self, styles: Any, wanted: str) -> None:
        """Read the headers or footers, which are part of the page styles."""
        for master in styles.iter("{*}master-page") if styles is not None else ():
            for element in master:
                if _STYLE_PARTS.get(local_name(element)) == wanted:
                    with self._draft.section("part", wanted):
                        self._read_blocks(element)

    def read(self, root: Any) -> None:
        if root is not None:
            self._read_blocks(root)

    def _read_blocks(self, parent: Any) -> None:
        for element in parent:
            if self._draft.is_full:
                return
            self._read_block(element)

    def _read_block(self, element: Any) -> None:
        name = local_name(element)
        if name == "h":
            level = attribute(element, "outline-level")
            self._draft.heading(int(level) if level.isdigit() and len(level) == 1 else 1, self._read_runs(element))
            self._read_anchored()
        elif name == "p":
            self._draft.paragraph(self._read_runs(element))
            self._read_anchored()
        elif name == "list":
            self._read_list(element)
        elif name == "table":
            self._read_table(element)
        elif name == "page":
            self._read_slide(element)
        elif name in ("annotation", "note"):
            self._read_note(element)
        elif name not in _NOT_SHOWN:
            for title in ("title", "desc") if name in ("frame", "rect", "custom-shape", "g") else ():
                found = element.find(f"{{*}}{title}")
                self._draft.paragraph(text_of(found) if found is not None else "")
            if name not in ("title", "desc"):
                self._read_blocks(element)

    def _read_anchored(self) -> None:
        anchored, self._anchored = self._anchored, []
        for element in anchored:
            self._read_block(element)

    def _read_list(self, parent: Any) -> None:
        """Read a list of all levels as items; headings and tables in it are blocks of their own."""
        for element in parent.iter():
            name = local_name(element)
            if name == "p":
                self._draft.item(self._read_runs(element))
            elif name == "h":
                self._read_block(element)
            elif name == "table":
                self._read_table(element)
        self._read_anchored()

    def _read_slide(self, page: Any) -> None:
        self._slides += 1
        if self._slides > MOST_PARTS:
            self._draft.report_problem(Problem.TOO_LARGE)
            return
        self._draft.metadata["slides"] = str(self._slides)
        with self._draft.section("slide", self._slides):
            for element in page:
                if attribute(element, "class") == "title":
                    for paragraph in element.iter("{*}p"):
                        self._draft.heading(2, self._read_runs(paragraph))
                    self._read_anchored()
                elif local_name(element) == "notes":
                    with self._draft.section("part", "notes"):
                        self._read_blocks(element)
                else:
                    self._read_block(element)

    def _read_note(self, element: Any) -> None:
        with self._draft.section("part", local_name(element)):
            for part in element:
                if local_name(part) in ("p", "list", "h", "note-body"):
                    self._read_block(part)
                elif local_name(part) == "creator":
                    self._draft.paragraph(text_of(part))

    def _read_table(self, table: Any) -> None:
        name = attribute(table, "name")
        is_sheet = local_name(table.getparent()) == "spreadsheet"
        if not is_sheet:
            self._read_rows(table)
            return
        self._draft.metadata["sheets"] = str(int(self._draft.metadata.get("sheets", "0")) + 1)
        with self._draft.section("sheet", name):
            self._draft.heading(2, name, is_title=False)
            self._read_rows(table)

    def _read_rows(self, table: Any) -> None:
        for element in table:
            name = local_name(element)
            if self._draft.is_full:
                return
            if name == "table-row":
                cells = self._read_cells(element)
                for _ in range(_repeat_count(element) if any(cells) else 0):
                    self._draft.row(cells)
                self._read_anchored()
            elif name in ("shapes", "annotation"):
                self._read_block(element)
            elif name.startswith("table-") and name not in ("table-columns", "table-column"):
                self._read_rows(element)

    def _read_cells(self, row: Any) -> list[Inline]:
        cells: list[Inline] = []
        for cell in row:
            if local_name(cell) not in ("table-cell", "covered-table-cell"):
                continue
            runs: list[TextRun] = []
            for part in cell:
                if local_name(part) in ("p", "h"):
                    runs += [*([TextRun("\n")] if runs else []), *self._read_runs(part)]
                elif local_name(part) == "list":
                    for paragraph in part.iter("{*}p"):
                        runs += [*([TextRun("\n")] if runs else []), *self._read_runs(paragraph)]
                elif local_name(part) != "covered-table-cell":
                    self._anchored.append(part)
            cells += [runs] * _repeat_count(cell)
        return cells

    # ── content of a paragraph ──

    def _read_runs(self, element: Any, bold: bool = False, italic: bool = False, href: str = "") -> list[TextRun]:
        runs = [TextRun(element.text or "", bold, italic, href)]
        for child in element:
            name = local_name(child)
            if name == "s":
                count = attribute(child, "c")
                runs.append(TextRun(" " * (min(int(count), 100) if count.isdigit() and len(count) < 6 else 1)))
            elif name == "tab":
                runs.append(TextRun("\t"))
            elif name == "line-break":
                runs.append(TextRun("\n"))
            elif name == "a":
                runs += self._read_runs(child, bold, italic, attribute(child, "href"))
            elif name in ("frame", "annotation", "note", "custom-shape", "g", "rect", "ellipse", "line", "text-box"):
                self._anchored.append(child)
            elif name not in ("annotation-end", "ruby-text", "script"):
                style = attribute(child, "style-name")
                runs += self._read_runs(child, bold or style in self._bold, italic or style in self._italic, href)
            runs.append(TextRun(child.tail or "", bold, italic, href))
        return [run for run in runs if run.text]


def _repeat_count(element: Any) -> int:
    """How often a row or cell is repeated; once if so often that it only fills the sheet."""
    count = attribute(element, "number-rows-repeated") or attribute(element, "number-columns-repeated")
    number = int(count) if count.isdigit() and len(count) < 8 else 1
    return number if number <= _MOST_REPEATED else 1
