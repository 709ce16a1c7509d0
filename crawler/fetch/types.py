"""Is an answer of a media type that we read?"""

from __future__ import annotations

import re
from collections.abc import Iterable

_CONTENT_TYPE = re.compile(rb"\ncontent-type:[ \t]*([^\s;,]+)", re.IGNORECASE)
_EXTENSION = re.compile(r"[^/?#]\.([0-9a-z]{1,6})(?:[?#]|$)", re.IGNORECASE)
_GENERIC_TYPE = "application/octet-stream"  # says nothing about the format, but the URL's extension may
_TEXT_SUFFIXES = ("html", "xml", "json", "javascript", "octet-stream")
# File name extensions of URLs whose documents we read, whatever types are skipped.
READABLE_EXTENSIONS = frozenset(
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
    """The media types that are not read; one that ends in "/", such as "image/", stands for all its subtypes."""

    def __init__(self, skipped: Iterable[str]) -> None:
        self._types = frozenset(skipped)
        self._kinds = tuple(word for word in self._types if word.endswith("/"))

    def wants(self, head: bytes, url: str) -> bool:
        """Whether to read the body that follows this head.

        >>> types = SkippedTypes(("image/", "application/zip", "application/octet-stream"))
        >>> types.wants(b"HTTP/1.1 200 OK\\r\\nContent-Type: image/PNG\\r\\n\\r\\n", "http://a.com/x")
        False
        >>> types.wants(b"HTTP/1.1 200\\r\\nContent-Type: application/octet-stream\\r\\n\\r\\n", "http://a.com/x.pdf")
        True
        """
        essence = essence_of(head)
        if essence not in self._types and not essence.startswith(self._kinds):
            return True
        return essence == _GENERIC_TYPE and extension_of(url) in READABLE_EXTENSIONS


def needs_whole_body(head: bytes) -> bool:
    """Whether a head names a format, such as PDF, that is useless if truncated.

    >>> [needs_whole_body(b"HTTP/1.1 200 OK\\r\\nContent-Type: " + name) for name in (b"application/pdf", b"text/html")]
    [True, False]
    """
    essence = essence_of(head)
    return bool(essence) and not essence.startswith("text/") and not essence.endswith(_TEXT_SUFFIXES)


def essence_of(head: bytes) -> str:
    """Return the media type in a head, without parameters and in lower case; empty if there is none."""
    found = _CONTENT_TYPE.search(head)
    return found[1].decode("latin-1").lower() if found is not None else ""


def extension_of(url: str) -> str:
    """Return the file name extension of a URL, in lower case.

    >>> extension_of("http://a.com/b/c.Tar?d=e.f"), extension_of("http://a.com/b"), extension_of("http://a.com")
    ('tar', '', '')
    """
    path = url.partition("?")[0].rpartition("/")[2] if url.count("/") > 2 else ""
    found = _EXTENSION.search(path)
    return found[1].lower() if found is not None else ""
