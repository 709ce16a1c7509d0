"""Is an answer of a type that is read?"""

from __future__ import annotations

import re
from collections.abc import Iterable

_CONTENT_TYPE = re.compile(rb"\ncontent-type:[ \t]*([^\s;,]+)", re.IGNORECASE)
_ENDING = re.compile(r"[^/?#]\.([0-9a-z]{1,6})(?:[?#]|$)", re.IGNORECASE)
_ANYTHING = "application/octet-stream"  # says nothing; then the URL may
_OF_TEXT = ("html", "xml", "json", "javascript", "octet-stream")
# Endings of URLs that lead to something to read, whatever else there is.
READ = frozenset(
    [
        "asp",
        "aspx",
        "cfm",
        "cgi",
        "csv",
        "doc",
        "docm",
        "docx",
        "dotx",
        "eml",
        "epub",
        "htm",
        "html",
        "json",
        "jsp",
        "jspx",
        "log",
        "markdown",
        "mbox",
        "md",
        "mht",
        "mhtml",
        "msg",
        "odg",
        "odp",
        "ods",
        "odt",
        "pdf",
        "php",
        "php3",
        "php5",
        "phtml",
        "pl",
        "pps",
        "ppsx",
        "ppt",
        "pptm",
        "pptx",
        "pub",
        "rst",
        "rtf",
        "shtml",
        "tex",
        "tsv",
        "txt",
        "vsdx",
        "wpd",
        "xhtml",
        "xls",
        "xlsb",
        "xlsm",
        "xlsx",
        "xml",
        "xps",
    ]
)


class SkippedTypes:
    """Which types are not read: media types, or with "/" at the end all of a kind."""

    def __init__(self, skipped: Iterable[str] = ()) -> None:
        self._types = frozenset(skipped)
        self._kinds = tuple(word for word in self._types if word.endswith("/"))

    def wants(self, head: bytes, url: str) -> bool:
        """Whether the body that follows a head is worth reading.

        >>> types = SkippedTypes(("image/", "application/zip", "application/octet-stream"))
        >>> types.wants(b"HTTP/1.1 200 OK\\r\\nContent-Type: image/PNG\\r\\n\\r\\n", "http://a.com/x")
        False
        >>> types.wants(b"HTTP/1.1 200 OK\\r\\nContent-Type: application/octet-stream\\r\\n\\r\\n", "http://a.com/x.pdf")
        True
        """
        essence = essence_of(head)
        if essence not in self._types and not essence.startswith(self._kinds):
            return True
        return essence == _ANYTHING and ending_of(url) in READ


def is_whole_or_nothing(head: bytes) -> bool:
    """Whether a head names a format, such as PDF, of which the beginning alone is of no use.

    >>> [is_whole_or_nothing(b"HTTP/1.1 200 OK\\r\\nContent-Type: " + name) for name in (b"application/pdf", b"text/html")]
    [True, False]
    """
    essence = essence_of(head)
    return bool(essence) and not essence.startswith("text/") and not essence.endswith(_OF_TEXT)


def essence_of(head: bytes) -> str:
    """The media type that a head names, in lower case; empty if it names none."""
    found = _CONTENT_TYPE.search(head)
    return found[1].decode("latin-1").lower() if found is not None else ""


def ending_of(url: str) -> str:
    """What a URL's file ends in, in lower case.

    >>> ending_of("http://a.com/b/c.Tar?d=e.f"), ending_of("http://a.com/b"), ending_of("http://a.com")
    ('tar', '', '')
    """
    path = url.partition("?")[0].rpartition("/")[2] if url.count("/") > 2 else ""
    found = _ENDING.search(path)
    return found[1].lower() if found is not None else ""
