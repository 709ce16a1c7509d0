"""Read Markdown: headings, lists, quotes, code, emphasis and links."""

from __future__ import annotations

import re

from crawler.parse.documents.draft import Draft, TextRun
from crawler.parse.documents.text import link_urls

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_ITEM = re.compile(r"\s{0,12}(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_SPAN = re.compile(
    r"!?\[(?P<anchor>[^\[\]]{0,500})\]\((?P<url>[^\s()]{1,2000})[^()]{0,200}\)"
    r"|\*\*(?P<bold>[^*]{1,500})\*\*|__(?P<strong>[^_]{1,500})__|(?<!\w)[*_](?P<italic>[^*_\s][^*_]{0,500})[*_](?!\w)"
    r"|`(?P<code>[^`]{1,500})`|<(?P<auto>https?://[^\s<>]{1,2000})>"
)


def read(body: bytes, draft: Draft) -> None:
    text = draft.decode_text(body).replace("\r\n", "\n").replace("\r", "\n")
    _Reader(draft).read(text.split("\n"))


class _Reader:
    """Processes lines and collects those of one block until it ends."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._pending_lines: list[str] = []
        self._kind = "p"

    def read(self, lines: list[str]) -> None:
        in_code = False
        for line in lines:
            if self._draft.is_full:
                break
            if _FENCE.match(line):
                self._write_block("p" if in_code else "pre")
                in_code = not in_code
            elif in_code:
                self._pending_lines.append(line)
            else:
                self._add_line(line)
        self._write_block("p")

    def _add_line(self, line: str) -> None:
        heading, item, underline = _HEADING.match(line), _ITEM.match(line), _UNDERLINE.fullmatch(line)
        if not line.strip():
            self._write_block("p")
        elif underline is not None and len(self._pending_lines) == 1 and self._kind == "p":
            self._draft.heading(1 if underline[1].startswith("=") else 2, parse_spans(self._pending_lines.pop()))
        elif heading is not None:
            self._write_block("p")
            self._draft.heading(len(heading[1]), parse_spans(heading[2].rstrip("# \t")))
        elif item is not None:
            self._write_block("li")
            self._pending_lines.append(item[1])
        elif line.lstrip().startswith(">"):
            if self._kind != "blockquote":
                self._write_block("blockquote")
            self._pending_lines.append(line.lstrip("> \t"))
        elif line.startswith("|"):
            self._write_block("p")
            self._write_row(line)
        else:
            self._pending_lines.append(line.strip())

    def _write_row(self, line: str) -> None:
        if line.strip("|-: \t"):
            self._draft.row([parse_spans(cell.strip()) for cell in line.strip().strip("|").split("|")])

    def _write_block(self, following: str) -> None:
        """Write the collected block; `following` is the kind of the next one."""
        text, kind = "\n".join(self._pending_lines), self._kind
        self._pending_lines, self._kind = [], following
        if kind == "pre":
            self._draft.preformatted(text)
        elif kind == "li":
            self._draft.item(parse_spans(text))
        elif kind == "blockquote":
            self._draft.quote(parse_spans(text))
        else:
            self._draft.paragraph(parse_spans(text))


def parse_spans(text: str) -> list[TextRun]:
    """Parse the emphasis, code and links of a text into runs.

    >>> parse_spans("a **b** [c](http://d.example/)")[1:]
    [TextRun(text='b', bold=True, italic=False, href=''), TextRun(text=' ', bold=False, italic=False, href=''), \
TextRun(text='c', bold=False, italic=False, href='http://d.example/')]
    """
    runs: list[TextRun] = []
    end = 0
    for found in _SPAN.finditer(text):
        runs += link_urls(text[end : found.start()])
        bold = found["bold"] or found["strong"]
        if found["url"]:
            runs.append(TextRun(found["anchor"] or found["url"], href=found["url"]))
        elif bold or found["italic"] or found["code"]:
            runs.append(
                TextRun(bold or found["italic"] or found["code"], bold=bool(bold), italic=bool(found["italic"]))
            )
        else:
            runs.append(TextRun(found["auto"], href=found["auto"]))
        end = found.end()
    return [run for run in [*runs, *link_urls(text[end:])] if run.text]
