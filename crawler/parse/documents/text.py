"""Read plain text, as paragraphs, and source code and JSON, unchanged."""

from __future__ import annotations

import re

from crawler.parse.documents.draft import Draft, TextRun
from crawler.parse.links import urls_in

_LINES = re.compile(r"\r\n?|\n[ \t]*(?=\n)|[\x0b\x0c\u2028\u2029]")
_PARAGRAPHS = re.compile(r"\n\n+")


def read(body: bytes, draft: Draft) -> None:
    text = draft.decode_text(body)
    if draft.format == "text":
        read_text(text, draft)
    else:
        draft.preformatted(text.replace("\r\n", "\n"))


def read_text(text: str, draft: Draft) -> None:
    """Write plain text to the draft: empty lines separate paragraphs, URLs become links."""
    for paragraph in _PARAGRAPHS.split(_LINES.sub("\n", text)):
        if draft.is_full:
            return
        draft.paragraph(link_urls(paragraph.strip("\n")))


def link_urls(text: str) -> list[TextRun]:
    """Split a text into runs, with its URLs as links.

    >>> [run.href for run in link_urls("see http://a.example/b.")]
    ['', 'http://a.example/b', '']
    """
    runs, end = [], 0
    for start, url in urls_in(text):
        runs += [TextRun(text[end:start]), TextRun(url, href=url)]
        end = start + len(url)
    return [*runs, TextRun(text[end:])]
