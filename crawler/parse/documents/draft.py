"""The draft that readers write blocks to, and that renders them as safe HTML and plain text.

All HTML is made here: text is escaped, only web and mail links are kept, and few elements are used. Text beyond the
limit is dropped, so readers need not check it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from itertools import groupby
from typing import NamedTuple

from crawler.parse.charset import decode
from crawler.parse.clean_text import normalize_text, one_line
from crawler.parse.documents.document import DocumentLink, Problem
from crawler.urls.canonical import resolve
from crawler.urls.schemes import WEB_PREFIXES

MOST_TEXT = 2 << 20  # characters
MOST_LINKS = 5_000
MOST_PARTS = 500  # pages, slides, sheets
MOST_UNPACKED = 100 << 20  # decompressed bytes, of a file with all embedded files
MOST_ENTRIES = 5_000  # members of archives, of a file with all embedded files
DEEPEST = 4  # nesting of files: a message in a mailbox, an archive in the message, a text in the archive
_LONGEST_HREF = 8_192
_LONGEST_ANCHOR = 200
_LONGEST_VALUE = 1_000
_MOST_NAMES = 100
_MOST_METADATA = 200  # fields


class TextRun(NamedTuple):
    """A piece of text with one formatting and link."""

    text: str
    bold: bool = False
    italic: bool = False
    href: str = ""


Inline = str | Sequence[TextRun]


class GrowthBudget:
    """What is left of the limits on decompression, shared by a file and all files embedded in it."""

    def __init__(self) -> None:
        self.unpacked = MOST_UNPACKED
        self.entries = MOST_ENTRIES


class _Output:
    """The HTML and text written so far, shared by a file and all files embedded in it."""

    def __init__(self) -> None:
        self.html: list[str] = []
        self.lines: list[str] = []
        self.links: dict[str, str] = {}
        self.room = MOST_TEXT
        self.open = ""  # tag of the list or table that is open
        self.first_heading = ""

    def switch_element(self, element: str) -> None:
        """Close the open list or table and open this one ("" for none), unless it is open already."""
        if element != self.open:
            if self.open:
                self.html.append(f"</{self.open}>")
            if element:
                self.html.append(f"<{element}>")
            self.open = element


class Draft:
    """A document under construction: readers add blocks, metadata, links and problems."""

    def __init__(self, url: str, content_type: str | None = None, *, name: str = "") -> None:
        self.url = url
        self.content_type = content_type
        self.name = name  # file name, of an embedded file
        self.format = ""  # the format as which the file is read
        self.depth = 0
        self.budget = GrowthBudget()
        self.title = ""
        self.metadata: dict[str, str] = {}
        self.problem = Problem.NONE
        self._out = _Output()

    def inner_draft(self, name: str) -> Draft:
        """The draft of an embedded file: its blocks go into this document, its title and metadata stay separate."""
        inner = Draft(self.url, name=name)
        inner.depth, inner.budget, inner._out = self.depth + 1, self.budget, self._out
        return inner

    def decode_text(self, body: bytes) -> str:
        """Decode a text file and record its encoding in the metadata."""
        found = decode(body, self.content_type)
        self.add_metadata("encoding", found.encoding)
        self.add_metadata("encoding_source", found.source)
        return found.text

    # ── metadata and problems ──

    def add_metadata(self, key: str, value: object) -> None:
        """Set a metadata field; the first value of a key is kept."""
        text, key = one_line(str(value))[:_LONGEST_VALUE], one_line(key)[:_LONGEST_ANCHOR]
        if text and (key in self.metadata or len(self.metadata) < _MOST_METADATA):
            self.metadata.setdefault(key, text)

    def add_name(self, key: str, name: str) -> None:
        """Append a name to a metadata field that is a list, one name per line."""
        names = self.metadata.get(key, "")
        name = one_line(name)[:_LONGEST_ANCHOR]
        if name and names.count("\n") < _MOST_NAMES and name not in names.split("\n"):
            self.metadata[key] = f"{names}\n{name}" if names else name

    def report_problem(self, problem: Problem) -> None:
        """Record a problem; the first one is kept, because it explains the later ones."""
        self.problem = self.problem or problem

    # ── content ──

    @property
    def is_full(self) -> bool:
        return self._out.room <= 0

    def heading(self, level: int, content: Inline, *, is_title: bool = True) -> None:
        """Add a heading; with `is_title` False, as for the name of a sheet, it is never the document's title."""
        text = self._write_block(f"h{min(max(level, 1), 6)}", content)
        if text and is_title and not self._out.first_heading:
            self._out.first_heading = one_line(text)

    def paragraph(self, content: Inline) -> None:
        self._write_block("p", content)

    def item(self, content: Inline) -> None:
        self._write_block("li", content, within="ul")

    def quote(self, content: Inline) -> None:
        self._write_block("blockquote", content)

    def preformatted(self, text: str) -> None:
        self._write_block("pre", text)

    def row(self, cells: Sequence[Inline], *, is_head: bool = False) -> None:
        self._out.room -= len(cells)  # empty cells take time, too
        rendered = [self._render(cell) for cell in cells] if not self.is_full else []
        while rendered and not rendered[-1][1].strip():
            rendered.pop()
        if not rendered:
            return
        tag = "th" if is_head else "td"
        self._out.switch_element("table")
        self._out.html.append(f"<tr>{''.join(f'<{tag}>{html}</{tag}>' for html, _ in rendered)}</tr>")
        self._out.lines.append("\t".join(" ".join(text.split()) for _, text in rendered))

    @contextmanager
    def section(self, kind: str, value: object) -> Iterator[None]:
        """Put the blocks of a page, slide, sheet or header into <section data-kind="value">; omitted if empty."""
        out = self._out
        out.switch_element("")
        value = escape(one_line(str(value))[:_LONGEST_ANCHOR])
        start = len(out.html)
        out.html.append(f'<section data-{kind}="{value}">')
        try:
            yield
        finally:
            out.switch_element("")
            if len(out.html) == start + 1:
                out.html.pop()  # the section is empty
            else:
                out.html.append("</section>")

    def link(self, href: str, anchor: str = "") -> str:
        """Record a web link; return the absolute URL to show (web or mail), or "" if it must not be shown."""
        href = href.strip()
        if not href or len(href) > _LONGEST_HREF:
            return ""
        url = resolve(href, self.url)
        if url is None or not url.startswith((*WEB_PREFIXES, "mailto:")):
            return ""
        if url.startswith(WEB_PREFIXES):
            links, anchor = self._out.links, one_line(anchor)[:_LONGEST_ANCHOR]
            if (url not in links and len(links) < MOST_LINKS) or not links.get(url, "x"):
                links[url] = anchor
        return url

    def reference(self, href: str) -> None:
        """Add an external resource that the document uses without a link to it, as a paragraph with a link."""
        if self.link(href):
            self.paragraph([TextRun(href, href=href)])

    # ── results ──

    @property
    def html(self) -> str:
        self._out.switch_element("")
        return "\n".join(self._out.html)

    @property
    def text(self) -> str:
        return "\n".join(self._out.lines)

    @property
    def first_heading(self) -> str:
        return self._out.first_heading

    @property
    def links(self) -> list[DocumentLink]:
        return [DocumentLink(url, anchor) for url, anchor in self._out.links.items()]

    # ── one block ──

    def _write_block(self, tag: str, content: Inline, within: str = "") -> str:
        html, text = self._render(content) if not self.is_full else ("", "")
        if not text.strip():
            return ""
        self._out.switch_element(within)
        self._out.html.append(f"<{tag}>{html}</{tag}>")
        self._out.lines.append(text)
        self._out.room -= 1
        return text

    def _render(self, content: Inline) -> tuple[str, str]:
        """Render inline content as HTML and as text."""
        if isinstance(content, str):
            text = self._take_text(content)
            return _escape_html(text), text
        pieces, texts = [], []
        for formatting, runs in groupby(content, key=_formatting_of):
            text = self._take_text("".join([run.text for run in runs]))
            if text:
                texts.append(text)
                pieces.append(self._style(text, *formatting))
        return "".join(pieces), "".join(texts)

    def _take_text(self, text: str) -> str:
        """Normalize a text, cut it to the remaining room, and subtract it from that."""
        room = max(self._out.room, 0)
        if not room:
            return ""
        text = normalize_text(text[: 2 * room])
        self._out.room -= len(text)
        return text if len(text) <= room else text[:room]

    def _style(self, text: str, bold: bool, italic: bool, href: str) -> str:
        html = _escape_html(text)
        if not text.strip():
            return html
        if italic:
            html = f"<i>{html}</i>"
        if bold:
            html = f"<b>{html}</b>"
        url = self.link(href, text) if href else ""
        self._out.room -= len(url)
        return f'<a href="{escape(url)}">{html}</a>' if url else html


def _formatting_of(run: TextRun) -> tuple[bool, bool, str]:
    return run.bold, run.italic, run.href


def _escape_html(text: str) -> str:
    html = escape(text, quote=False)
    return html.replace("\n", "<br>") if "\n" in html else html
