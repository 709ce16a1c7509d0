"""An archived document of any format as an HTML page that loads and runs nothing."""

from __future__ import annotations

from html import escape

from crawler.content.answers import ArchivedAnswer, plain_body_of
from crawler.monitor.text import date_of
from crawler.parse.documents import convert
from crawler.stores.contract.documents import DocumentRow


def cached_view(archived: ArchivedAnswer, document: DocumentRow) -> str:
    """Make an HTML page that shows a document; a browser loads and runs nothing for it."""
    body, content_type = plain_body_of(archived)
    found = convert(body, archived.url, content_type)
    title = escape(found.title or document.url)
    trouble = f"<p><i>Not all of it could be read: {escape(found.problem)}.</i></p>\n" if found.problem else ""
    return (
        '<!DOCTYPE html>\n<html><head><meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">\n'
        f'<meta name="robots" content="noindex">\n<title>{title}</title></head>\n<body>\n'
        f"<p><i>{escape(document.url)} as it was on {date_of(document.fetched)}, read as "
        f"{escape(found.format or 'a format that cannot be shown')}.</i></p>\n<hr>\n{trouble}{found.html}\n"
        "</body></html>\n"
    )
