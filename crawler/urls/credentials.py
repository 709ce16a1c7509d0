"""Names and passwords in URLs, which nobody may see."""

from __future__ import annotations

import re

# The second form is of a password with a / ? or # that should have been escaped: what follows the name is no port.
_CREDENTIALS = re.compile(r"(?<=://)(?:[^/?#\s]*|[^/?#\s:@\[]+:(?!\d{1,5}[/?#])[^\s@]*)@")


def without_credentials(text: str) -> str:
    """Hide names and passwords of the URLs in a text.

    >>> without_credentials("by http://me:a@b@proxy.example:8080, said me@example.org")
    'by http://***@proxy.example:8080, said me@example.org'
    >>> without_credentials("to ftp://me:a/b@files.example/x, from http://127.0.0.1:80/~me@home")
    'to ftp://***@files.example/x, from http://127.0.0.1:80/~me@home'
    """
    return _CREDENTIALS.sub("***@", text)
