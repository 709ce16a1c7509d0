"""Of two URLs that show the same, which one is to be shown?"""

from __future__ import annotations

from typing import NamedTuple

from crawler.urls.hosts import host_of

_TELLING = 4  # parts of the order that are worth a change: it has few steps, so that a page changes its URL a few times at most


class CanonicalClaim(NamedTuple):
    """A URL, and the one that its page calls the right one."""

    url: str
    canonical: str = ""


def is_better(new: CanonicalClaim, old: CanonicalClaim) -> bool:
    """Whether a URL is to be shown in place of one that was there before.

    A page knows its own best address. On one host the simpler of two is better; between hosts nobody can tell who copied
    from whom, so who was first stays.

    >>> is_better(CanonicalClaim("https://a.com/x"), CanonicalClaim("https://a.com/x?print=1"))
    True
    >>> is_better(CanonicalClaim("https://b.com/"), CanonicalClaim("https://a.com/x?print=1"))
    False
    >>> is_better(CanonicalClaim("https://b.com/long"), CanonicalClaim("https://a.com/x", canonical="https://b.com/long"))
    True
    """
    if (new.canonical == old.url) != (old.canonical == new.url):
        return old.canonical == new.url
    return host_of(new.url) == host_of(old.url) and _order(new)[:_TELLING] < _order(old)[:_TELLING]


def best_first(claims: list[CanonicalClaim]) -> list[CanonicalClaim]:
    """Copies that have lost the one that was shown."""
    named = {claim.canonical for claim in claims}
    return sorted(claims, key=lambda claim: (claim.url not in named, *_order(claim)))


def _order(claim: CanonicalClaim) -> tuple[bool, bool, bool, int, int, str]:
    """Simple before long-winded; at last by the letter, so that there is always a first."""
    url = claim.url
    points_elsewhere = bool(claim.canonical) and claim.canonical != url
    return points_elsewhere, not url.startswith("https:"), "?" in url, url.count("/"), len(url), url
