"""How reliable are a host's statements about whether its pages have changed?

Hosts state it in several ways: validators, HEAD, sitemaps, feeds. Each time a page is fetched in full, such a statement
can be checked; for each source we count how often it was right and wrong.
"""

from __future__ import annotations

from typing import NamedTuple

from crawler.items import DescribedCode

_CREDIT = 4  # right statements that are assumed before any was checked
_SAME = 0.8  # share of "unchanged" that must be true: a change that is missed is missed for long
_CHANGED = 0.5  # and of "changed": a wrong one costs only a visit
_MOST = 64  # observations; when there are so many, all counts are halved, so that older ones fade


class Source(DescribedCode):
    """The ways in which a host states whether a page has changed. Stores keep the codes, so they never change."""

    VALIDATORS = 1, "ETag and Last-Modified"
    HEAD = 2, "answers to HEAD"
    LASTMOD = 3, "dates of sitemaps"
    CHANGEFREQ = 4, "change frequencies of sitemaps"
    FEED = 5, "dates of feeds"


class Trust(NamedTuple):
    """How often one source of a host was right and wrong in stating that a page has changed or is the same."""

    changed_right: int = 0
    changed_wrong: int = 0
    same_right: int = 0
    same_wrong: int = 0

    @property
    def believes_same(self) -> bool:
        """Whether to rely on its statement that a page is unchanged.

        >>> Trust().believes_same, Trust(same_wrong=2).believes_same, Trust(same_right=8, same_wrong=2).believes_same
        (True, False, True)
        """
        return _share(self.same_right, self.same_wrong) >= _SAME

    @property
    def believes_change(self) -> bool:
        """Whether to rely on its statement that a page has changed.

        >>> Trust(changed_wrong=4).believes_change, Trust(changed_wrong=5).believes_change
        (True, False)
        """
        return _share(self.changed_right, self.changed_wrong) >= _CHANGED

    def after(self, *, says_changed: bool, has_changed: bool) -> Trust:
        """Return the counts after one more checked statement.

        >>> Trust().after(says_changed=True, has_changed=False)
        Trust(changed_right=0, changed_wrong=1, same_right=0, same_wrong=0)
        """
        counts = Trust(*(count // 2 for count in self)) if sum(self) >= _MOST else self
        place = 2 * (not says_changed) + (says_changed != has_changed)
        return Trust(*(count + (number == place) for number, count in enumerate(counts)))


UNKNOWN = Trust()


def _share(right: int, wrong: int) -> float:
    return (right + _CREDIT) / (right + wrong + _CREDIT)
