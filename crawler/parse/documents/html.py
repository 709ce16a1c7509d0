"""Read HTML as blocks: whole pages, and the HTML in messages and books."""

from __future__ import annotations

import re
from typing import Any

import turbohtml
from turbohtml import Element, Text

from crawler.parse.clean_text import one_line
from crawler.parse.documents.draft import Draft, TextRun
from crawler.parse.elements import BLOCKS
from crawler.urls.canonical import resolve
from crawler.urls.schemes import WEB_PREFIXES

_SPACE = re.compile(r"[ \t\r\n\f]+")
_SKIPPED = frozenset(
    ["head", "script", "style", "template", "noscript", "noframes", "svg", "math", "select", "datalist"]
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = BLOCKS | {"frameset", "html", "iframe", "option"}
_BOLD, _ITALIC = frozenset({"b", "strong"}), frozenset({"i", "em", "cite"})
_METAS = {"author": "author", "description": "description", "keywords": "keywords", "dc.creator": "author"}
_LAYOUT_BLOCKS = frozenset({"table", "ul", "ol", "pre", "blockquote"})  # do not occur in cells of data tables
_MOST_FRAMES = 20


def read(body: bytes, draft: Draft) -> None:
    read_html(draft.decode_text(body), draft)


def read_html(text: str, draft: Draft) -> None:
    """Write the title, metadata and blocks of a page or fragment to the draft."""
    document = turbohtml.parse(text, positions=False)
    title = document.find("title")
    draft.title = draft.title or (one_line(title.text) if title is not None else "")
    for meta in document.iter_elements("meta"):
        name = _METAS.get((meta.attr("name") or "").strip().lower())
        if name is not None:
            draft.add_metadata(name, meta.attr("content") or "")
    if document.root is not None:
        draft.add_metadata("language", document.root.attr("lang") or "")
    base = next((href for element in document.iter_elements("base") if (href := element.attr("href"))), None)
    if base is not None and (url := resolve(base[:8_192], draft.url)) is not None and url.startswith(WEB_PREFIXES):
        draft.url = url
    _Reader(draft).read(document)


class _Table:
    """An open table; it is for layout, and not written as rows, if its cells contain block elements."""

    def __init__(self) -> None:
        self.is_layout = False
        self.cells: list[list[TextRun]] = []
        self.is_head = True


class _Reader:
    """Walks the tree without recursion, because pages may be nested to any depth, and writes its blocks."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._runs: list[TextRun] = []
        self._bold = self._italic = self._preformatted = 0
        self._hrefs = [""]
        self._tables: list[_Table] = []
        self._frames = 0

    def read(self, root: Any) -> None:
        pending: list[Any] = [root]
        while pending and not self._draft.is_full:
            node = pending.pop()
            if isinstance(node, str):
                self._leave(node)
            elif isinstance(node, Text):
                self._add_text(node.data)
            elif not isinstance(node, Element) or node.tag not in _SKIPPED:
                tag = node.tag if isinstance(node, Element) else ""
                pending.append(tag)
                if tag:
                    self._enter(tag, node)
                    frame = self._parse_frame(tag, node)
                    pending.extend([frame] if frame is not None else [])
                children = getattr(node, "children", None)
                pending.extend(reversed(list(children)) if children is not None else [])
        self._write_block("p")

    def _parse_frame(self, tag: str, element: Element) -> Any:
        """The document in the srcdoc attribute of an <iframe>."""
        content = element.attr("srcdoc") if tag == "iframe" else None
        if not content or self._frames >= _MOST_FRAMES:
            return None
        self._frames += 1
        return turbohtml.parse(content, positions=False)

    def _add_text(self, text: str) -> None:
        text = text if self._preformatted else _SPACE.sub(" ", text)
        if text.strip() or self._runs:
            self._runs.append(TextRun(text, self._bold > 0, self._italic > 0, self._hrefs[-1]))

    def _enter(self, tag: str, element: Element) -> None:
        if tag in _BLOCKS:
            self._enter_block(tag)
        elif tag == "br":
            self._runs.append(TextRun("\n"))
        elif tag == "a":
            self._hrefs.append(element.attr("href") or "")
        elif tag in _BOLD:
            self._bold += 1
        elif tag in _ITALIC:
            self._italic += 1

    def _enter_block(self, tag: str) -> None:
        table = self._tables[-1] if self._tables else None
        if table is not None and not table.is_layout and (tag in _HEADINGS or tag in _LAYOUT_BLOCKS):
            table.is_layout = True
            self._write_block("p")
            self._end_row(table)
        self._write_block("p")
        if tag == "table":
            self._tables.append(_Table())
        elif tag == "pre":
            self._preformatted += 1
        elif tag == "td" and table is not None:
            table.is_head = False

    def _leave(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._leave_block(tag)
        elif tag == "a" and len(self._hrefs) > 1:
            self._hrefs.pop()
        elif tag in _BOLD:
            self._bold -= 1
        elif tag in _ITALIC:
            self._italic -= 1

    def _leave_block(self, tag: str) -> None:
        table = self._tables[-1] if self._tables else None
        if tag in ("td", "th") and table is not None and not table.is_layout:
            table.cells.append(self._runs)
            self._runs = []
        else:
            self._write_block(tag)
        if tag == "tr" and table is not None:
            self._end_row(table)
        elif tag == "table" and table is not None:
            self._end_row(self._tables.pop())
        elif tag == "pre":
            self._preformatted -= 1

    def _end_row(self, table: _Table) -> None:
        if table.cells:
            self._draft.row([_strip_runs(cell) for cell in table.cells], is_head=table.is_head)
        table.cells, table.is_head = [], True

    def _write_block(self, tag: str) -> None:
        """Write the text since the last block as a block; in the cell of a table it becomes a line."""
        if not self._runs:
            return
        if self._tables and not self._tables[-1].is_layout and tag not in ("caption", "table"):
            self._runs.append(TextRun("\n"))
            return
        runs, self._runs = _strip_runs(self._runs), []
        if tag in _HEADINGS:
            self._draft.heading(_HEADINGS[tag], runs)
        elif tag == "li":
            self._draft.item(runs)
        elif tag == "blockquote":
            self._draft.quote(runs)
        elif self._preformatted:
            self._draft.preformatted("".join(run.text for run in runs))
        else:
            self._draft.paragraph(runs)


def _strip_runs(runs: list[TextRun]) -> list[TextRun]:
    """Strip white space at the start and end of runs."""
    while runs and not runs[-1].text.strip():
        runs.pop()
    if runs:
        runs[-1] = runs[-1]._replace(text=runs[-1].text.rstrip())
        runs[0] = runs[0]._replace(text=runs[0].text.lstrip())
    return runs
