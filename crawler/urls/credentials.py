"""Names and passwords in URLs, which nobody may see."""

from __future__ import annotations

import re

_CREDENTIALS = re.compile(r"(?<=://)[^/?#\s]*@")


def without_credentials(text: str) -> str:
    """Hide names and passwords of the URLs in a text.

    >>> without_credentials("by http://me:a@b@proxy.example:8080, said me@example.org")
    'by http://***@proxy.example:8080, said me@example.org'
    """
    return _CREDENTIALS.sub("***@", text)
