"""Convert files: choose the reader for a format, run it, and report its failures as problems."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from crawler.parse.clean_text import nonempty_lines, one_line
from crawler.parse.documents.document import Document, Problem
from crawler.parse.documents.draft import DEEPEST, Draft
from crawler.parse.documents.formats import declared_format, format_of

# Format → the module here whose `read` reads it, imported on first use: most formats are never met.
_READERS = {
    **dict.fromkeys(("docx", "docx-flat", "wordml"), "word"),
    "pptx": "slides",
    "xlsx": "sheets",
    "xlsb": "binary_sheets",
    "spreadsheetml": "sheet_xml",
    **dict.fromkeys(("odt", "ods", "odp", "odg", "odf-flat"), "opendocument"),
    "epub": "epub",
    "doc": "ole_word",
    "ppt": "ole_slides",
    "xls": "ole_sheets",
    "msg": "outlook",
    "pub": "publisher",
    "ole": "compound",
    "rtf": "rtf",
    "pdf": "pdf",
    **dict.fromkeys(("eml", "mbox"), "mail"),
    "html": "html",
    "xml": "xml",
    **dict.fromkeys(("text", "code", "json"), "text"),
    "csv": "csv",
    "markdown": "markdown",
    "zip": "archive",
    "gz": "gzip",
    "tar": "tar",
    "vsdx": "visio",
    "xps": "xps",
    "iwork": "iwork",
    "one": "onenote",
    "wpd": "wordperfect",
}


# Formats that servers may rightly declare as text/plain.
_TEXT_FORMATS = frozenset(["code", "csv", "json", "markdown", "eml", "mbox", "xml"])


class DocumentReader(Protocol):
    """The `read` function of a format's module."""

    def __call__(self, body: bytes, draft: Draft) -> None:
        """Write the file's content to the draft. Any exception means that the file is corrupt."""


def convert(body: bytes, url: str, content_type: str | None = None) -> Document:
    """Convert a file that was fetched from this URL to text and HTML; never raises, whatever the bytes.

    >>> document = convert(b"a;<2>", "http://example.com/table.csv")
    >>> document.format, document.text, document.html
    ('csv', 'a\\t<2>', '<table>\\n<tr><td>a</td><td>&lt;2&gt;</td></tr>\\n</table>')
    """
    draft = Draft(url, content_type)
    file_format = format_of(body, url, content_type)
    if file_format is None:
        return Document(format="", problem=Problem.UNSUPPORTED if body else Problem.EMPTY)
    declared = declared_format(content_type)
    if declared not in (None, file_format) and not (declared == "text" and file_format in _TEXT_FORMATS):
        draft.add_metadata("declared", (content_type or "").partition(";")[0])
    _read(file_format, body, draft)
    text = nonempty_lines(draft.text)
    return Document(
        format=file_format,
        title=one_line(draft.title) or draft.first_heading,
        html=draft.html,
        text=text,
        links=draft.links,
        metadata=draft.metadata,
        problem=draft.problem or (Problem.NONE if text or draft.title else Problem.EMPTY),
    )


def embed(draft: Draft, name: str, body: bytes, content_type: str | None = None) -> None:
    """Convert a file embedded in another one, and add it to the draft as a section."""
    draft.add_name("embedded", name)
    if draft.is_full:
        return
    inner = draft.inner_draft(name)
    with draft.section("file", name):
        inner.paragraph(name)
        file_format = format_of(body, name, content_type)
        if file_format is None:
            return
        if inner.depth > DEEPEST:
            draft.report_problem(Problem.TOO_LARGE)
            return
        inner.content_type = content_type
        _read(file_format, body, inner)
        if inner.title and inner.title != inner.first_heading:
            inner.paragraph(inner.title)
    for key in ("has_macro", "has_js"):
        draft.add_metadata(key, inner.metadata.get(key, ""))
    if inner.problem in (Problem.BOMB, Problem.TOO_LARGE):
        draft.report_problem(inner.problem)


def _read(file_format: str, body: bytes, draft: Draft) -> None:
    draft.format = file_format
    read: DocumentReader = import_module(f"crawler.parse.documents.{_READERS[file_format]}").read
    try:
        read(body, draft)
    except MemoryError:
        draft.report_problem(Problem.TOO_LARGE)
    except Exception:
        # Readers process untrusted files through half a dozen libraries and may raise anything; the file is then
        # corrupt, and what was read so far is kept.
        draft.report_problem(Problem.CORRUPT)
    if draft.is_full:
        draft.report_problem(Problem.TOO_LARGE)
