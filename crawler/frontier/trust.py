"""Does a host tell the truth about its pages?

Hosts say in several ways whether a page has changed. Each time a page is fetched whole, what was said can be held against
what is: so often it was right, so often wrong, for each way of saying it.
"""

from __future__ import annotations

from typing import NamedTuple

from crawler.items import DescribedCode

_CREDIT = 4  # times that a host is believed to have been right before anything is known
_SAME = 0.8  # share of "unchanged" that must be true: a change that is missed is missed for long
_CHANGED = 0.5  # and of "changed": one that was none costs a visit
_MOST = 64  # observations that count; older ones fade


class Source(DescribedCode):
    """By what a host says it. Codes are schema."""

    VALIDATORS = 1, "ETag and Last-Modified"
    HEAD = 2, "answers to HEAD"
    LASTMOD = 3, "dates of sitemaps"
    CHANGEFREQ = 4, "change frequencies of sitemaps"
    FEED = 5, "dates of feeds"


class Trust(NamedTuple):
    """How often one witness of a host was right and wrong, saying that a page has changed or is the same."""

    changed_right: int = 0
    changed_wrong: int = 0
    same_right: int = 0
    same_wrong: int = 0

    @property
    def believes_same(self) -> bool:
        """Whether to take its word that a page is unchanged.

        >>> Trust().believes_same, Trust(same_wrong=2).believes_same, Trust(same_right=8, same_wrong=2).believes_same
        (True, False, True)
        """
        return _share(self.same_right, self.same_wrong) >= _SAME

    @property
    def believes_change(self) -> bool:
        """Whether to take its word that a page has changed.

        >>> Trust(changed_wrong=4).believes_change, Trust(changed_wrong=5).believes_change
        (True, False)
        """
        return _share(self.changed_right, self.changed_wrong) >= _CHANGED

    def after(self, *, says_changed: bool, has_changed: bool) -> Trust:
        """One more observation.

        >>> Trust().after(says_changed=True, has_changed=False)
        Trust(changed_right=0, changed_wrong=1, same_right=0, same_wrong=0)
        """
        counts = Trust(*(count // 2 for count in self)) if sum(self) >= _MOST else self
        place = 2 * (not says_changed) + (says_changed != has_changed)
        return Trust(*(count + (number == place) for number, count in enumerate(counts)))


UNKNOWN = Trust()


def _share(right: int, wrong: int) -> float:
    return (right + _CREDIT) / (right + wrong + _CREDIT)
