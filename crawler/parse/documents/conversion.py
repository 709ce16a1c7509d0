"""Which reader reads a file, and what if it fails?"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from crawler.parse.clean_text import nonempty_lines, one_line
from crawler.parse.documents.document import Document, Problem
from crawler.parse.documents.draft import DEEPEST, Draft
from crawler.parse.documents.formats import declared_format, format_of

# Format → the file here whose `read` reads it. They are imported when the first such file comes: most never do.
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


_TEXT_FORMATS = frozenset(
    ["code", "csv", "json", "markdown", "eml", "mbox", "xml"]
)  # which may well be called plain text


class DocumentReader(Protocol):
    def __call__(self, body: bytes, draft: Draft) -> None:
        """Put what the file says into the draft. May raise anything: the file is corrupt then."""


def convert(body: bytes, url: str, content_type: str | None = None) -> Document:
    """The file that was fetched from this URL, as text and HTML. Any bytes give an answer.

    >>> document = convert(b"a;b\\n1;<2>", "http://example.com/table.csv")
    >>> document.format, document.text, document.html
    ('csv', 'a\\tb\\n1\\t<2>', '<table>\\n<tr><td>a</td><td>b</td></tr>\\n<tr><td>1</td><td>&lt;2&gt;</td></tr>\\n</table>')
    """
    draft = Draft(url, content_type)
    found = format_of(body, url, content_type)
    if found is None:
        return Document(format="", problem=Problem.UNSUPPORTED if body else Problem.EMPTY)
    declared = declared_format(content_type)
    if declared not in (None, found) and not (declared == "text" and found in _TEXT_FORMATS):
        draft.add_metadata("declared", (content_type or "").partition(";")[0])
    _read(found, body, draft)
    text = nonempty_lines(draft.text)
    return Document(
        format=found,
        title=one_line(draft.title) or draft.first_heading,
        html=draft.html,
        text=text,
        links=draft.links,
        metadata=draft.metadata,
        problem=draft.problem or (Problem.NONE if text or draft.title else Problem.EMPTY),
    )


def embed(draft: Draft, name: str, body: bytes, content_type: str | None = None) -> None:
    """Read a file that lies in another one, as a section of it."""
    draft.add_name("embedded", name)
    if draft.is_full:
        return
    inner = draft.inner_draft(name)
    with draft.section("file", name):
        inner.paragraph(name)
        found = format_of(body, name, content_type)
        if found is None:
            return
        if inner.depth > DEEPEST:
            draft.report_problem(Problem.TOO_LARGE)
            return
        inner.content_type = content_type
        _read(found, body, inner)
        if inner.title and inner.title != inner.first_heading:
            inner.paragraph(inner.title)
    for key in ("has_macro", "has_js"):
        draft.add_metadata(key, inner.metadata.get(key, ""))
    if inner.problem in (Problem.BOMB, Problem.TOO_LARGE):
        draft.report_problem(inner.problem)


def _read(found: str, body: bytes, draft: Draft) -> None:
    draft.format = found
    read: DocumentReader = import_module(f"crawler.parse.documents.{_READERS[found]}").read
    try:
        read(body, draft)
    except MemoryError:
        draft.report_problem(Problem.TOO_LARGE)
    except Exception:
        # Readers follow what strangers wrote, through half a dozen libraries; whatever they stumble over, the file
        # is not what it should be, and what was read until then counts.
        draft.report_problem(Problem.CORRUPT)
    if draft.is_full:
        draft.report_problem(Problem.TOO_LARGE)
