"""What a reader finds, block by block, becomes HTML of our own and plain text.

Nothing of a file reaches the HTML but through here: text is escaped, of links only those for the web and for mail are
kept, and there are few elements. What is beyond the limit of text is dropped, so a reader may simply go on.
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
MOST_UNPACKED = 100 << 20  # bytes, of a file and all that lies in it
MOST_ENTRIES = 5_000  # of archives, of a file and all that lies in it
DEEPEST = 4  # files in files: a letter in a mailbox, an archive in the letter, a text in the archive
_LONGEST_HREF = 8_192
_LONGEST_ANCHOR = 200
_LONGEST_VALUE = 1_000
_MOST_NAMES = 100
_MOST_METADATA = 200  # that a file may tell of itself


class TextRun(NamedTuple):
    """Text of one look."""

    text: str
    bold: bool = False
    italic: bool = False
    href: str = ""


Inline = str | Sequence[TextRun]


class GrowthBudget:
    """How much a file and all that lies in it may still grow."""

    def __init__(self) -> None:
        self.unpacked = MOST_UNPACKED
        self.entries = MOST_ENTRIES


class _Output:
    """HTML and text so far, of a file and all that lies in it."""

    def __init__(self) -> None:
        self.html: list[str] = []
        self.lines: list[str] = []
        self.links: dict[str, str] = {}
        self.room = MOST_TEXT
        self.open = ""  # the list or table that the last block was a part of
        self.first_heading = ""

    def switch_element(self, element: str) -> None:
        """The next block is a part of such an element, or of none."""
        if element != self.open:
            if self.open:
                self.html.append(f"</{self.open}>")
            if element:
                self.html.append(f"<{element}>")
            self.open = element


class Draft:
    """A document that is being read."""

    def __init__(self, url: str, content_type: str | None = None, *, name: str = "") -> None:
        self.url = url
        self.content_type = content_type
        self.name = name  # of the file, where it lies in another
        self.format = ""  # as whose it is read
        self.depth = 0
        self.budget = GrowthBudget()
        self.title = ""
        self.metadata: dict[str, str] = {}
        self.problem = Problem.NONE
        self._out = _Output()

    def inner_draft(self, name: str) -> Draft:
        """The draft of a file in this one: what it says is said here, what is said of it stays apart."""
        inner = Draft(self.url, name=name)
        inner.depth, inner.budget, inner._out = self.depth + 1, self.budget, self._out
        return inner

    def decode_text(self, body: bytes) -> str:
        """The text of a file that is nothing but text."""
        found = decode(body, self.content_type)
        self.add_metadata("encoding", found.encoding)
        self.add_metadata("encoding_source", found.source)
        return found.text

    # ── what the file says of itself ──

    def add_metadata(self, key: str, value: object) -> None:
        """The first that is said counts."""
        text, key = one_line(str(value))[:_LONGEST_VALUE], one_line(key)[:_LONGEST_ANCHOR]
        if text and (key in self.metadata or len(self.metadata) < _MOST_METADATA):
            self.metadata.setdefault(key, text)

    def add_name(self, key: str, name: str) -> None:
        """One of several."""
        names = self.metadata.get(key, "")
        name = one_line(name)[:_LONGEST_ANCHOR]
        if name and names.count("\n") < _MOST_NAMES and name not in names.split("\n"):
            self.metadata[key] = f"{names}\n{name}" if names else name

    def report_problem(self, problem: Problem) -> None:
        """The first explains the later ones."""
        self.problem = self.problem or problem

    # ── what it says ──

    @property
    def is_full(self) -> bool:
        return self._out.room <= 0

    def heading(self, level: int, content: Inline, *, is_title: bool = True) -> None:
        """One that does not say what the document is about, as the name of a sheet, is never its title."""
        text = self._block(f"h{min(max(level, 1), 6)}", content)
        if text and is_title and not self._out.first_heading:
            self._out.first_heading = one_line(text)

    def paragraph(self, content: Inline) -> None:
        self._block("p", content)

    def item(self, content: Inline) -> None:
        self._block("li", content, within="ul")

    def quote(self, content: Inline) -> None:
        self._block("blockquote", content)

    def preformatted(self, text: str) -> None:
        self._block("pre", text)

    def row(self, cells: Sequence[Inline], *, is_head: bool = False) -> None:
        self._out.room -= len(cells)  # empty ones take time, too
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
        """A page, a slide, a sheet, a header: <section data-kind="value">."""
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
                out.html.pop()  # nothing was in it
            else:
                out.html.append("</section>")

    def link(self, href: str, anchor: str = "") -> str:
        """Keep it if it leads into the web; the href by which it may be shown, or nothing."""
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
        """Something outside that the document needs, and does not say by a link: it is shown as one."""
        if self.link(href):
            self.paragraph([TextRun(href, href=href)])

    # ── the end ──

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

    def _block(self, tag: str, content: Inline, within: str = "") -> str:
        html, text = self._render(content) if not self.is_full else ("", "")
        if not text.strip():
            return ""
        self._out.switch_element(within)
        self._out.html.append(f"<{tag}>{html}</{tag}>")
        self._out.lines.append(text)
        self._out.room -= 1
        return text

    def _render(self, content: Inline) -> tuple[str, str]:
        """As HTML and as text."""
        if isinstance(content, str):
            text = self._take_text(content)
            return _escape_html(text), text
        pieces, texts = [], []
        for look, runs in groupby(content, key=_formatting_of):
            text = self._take_text("".join([run.text for run in runs]))
            if text:
                texts.append(text)
                pieces.append(self._style(text, *look))
        return "".join(pieces), "".join(texts)

    def _take_text(self, text: str) -> str:
        """As much as there is room for."""
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
