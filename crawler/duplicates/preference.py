"""Choose the representative URL of a group of duplicates."""

from __future__ import annotations

from typing import NamedTuple

from crawler.urls.hosts import host_of

# Only these first parts of the order replace a representative that was chosen before: with few steps, a page changes
# its representative URL only a few times at most.
_DECIDING_PARTS = 4


class CanonicalClaim(NamedTuple):
    """A URL, and the canonical URL that its page declares."""

    url: str
    canonical: str = ""


def is_better_url(new: CanonicalClaim, old: CanonicalClaim) -> bool:
    """Whether a URL is to replace the representative that was chosen before.

    The canonical URL that one of the pages declares is better. On one host the simpler of two URLs is better; between
    hosts it cannot be known which copied from the other, so the earlier one stays.

    >>> is_better_url(CanonicalClaim("https://a.com/x"), CanonicalClaim("https://a.com/x?print=1"))
    True
    >>> is_better_url(CanonicalClaim("https://b.com/"), CanonicalClaim("https://a.com/x?print=1"))
    False
    >>> declares = CanonicalClaim("https://a.com/x", canonical="https://b.com/long")
    >>> is_better_url(CanonicalClaim("https://b.com/long"), declares)
    True
    """
    if (new.canonical == old.url) != (old.canonical == new.url):
        return old.canonical == new.url
    return (
        host_of(new.url) == host_of(old.url)
        and _simplicity_order(new)[:_DECIDING_PARTS] < _simplicity_order(old)[:_DECIDING_PARTS]
    )


def best_urls_first(claims: list[CanonicalClaim]) -> list[CanonicalClaim]:
    """Rank copies whose representative has gone: the first is to be the next one."""
    named = {claim.canonical for claim in claims}
    return sorted(claims, key=lambda claim: (claim.url not in named, *_simplicity_order(claim)))


def _simplicity_order(claim: CanonicalClaim) -> tuple[bool, bool, bool, int, int, str]:
    """Simple URLs before complicated ones; at last in alphabetical order, so that the order is total."""
    url = claim.url
    points_elsewhere = bool(claim.canonical) and claim.canonical != url
    return points_elsewhere, not url.startswith("https:"), "?" in url, url.count("/"), len(url), url
