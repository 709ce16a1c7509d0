"""The URL schemes that are crawled, with their prefixes and default ports."""

from __future__ import annotations

from typing import Final

WEB_SCHEMES: Final = ("http", "https")
WEB_PREFIXES: Final = ("http://", "https://")  # of a URL in canonical form: `url.startswith(WEB_PREFIXES)`
DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def is_web_url(text: str) -> bool:
    """Whether a text begins like an http or https URL, ignoring case.

    >>> is_web_url("HTTPS://example.org/"), is_web_url("example.org"), is_web_url("mailto:a@example.org")
    (True, False, False)
    """
    return text[:8].lower().startswith(WEB_PREFIXES)
