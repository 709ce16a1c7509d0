"""How much of one host, and of one site, may be visited?

A site is a registered domain. What is found beyond its budget is parked, and let in when the budget allows: another day,
or when more sites link to it. Without budgets one large site, one trap or one farm of host names could eat the crawl.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

DAY = 86_400.0
MOST_ENDORSERS = 1_000  # more do not raise a budget
FEW_ENDORSERS = 2  # a site to which fewer link, and that is no seed's, is one that nobody vouches for


class BudgetLimits(NamedTuple):
    """Of a host or a site; 0 = none."""

    total: int = 0  # URLs that are let in
    daily: int = 0  # URLs that are let in, and visits made, in a day


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """All but that of strangers grow by a share for each other site that links to the site.

    >>> Budgets(domain=100, growth=0.5).of_site(endorsers=4, seeded=False)
    BudgetLimits(total=300, daily=0)
    """

    host: int = 0
    host_day: int = 0
    domain: int = 0
    domain_day: int = 0
    stranger_day: int = 0  # of sites that nobody vouches for
    growth: float = 0.0

    def of_host(self, endorsers: int) -> BudgetLimits:
        return BudgetLimits(self._grown(self.host, endorsers), self._grown(self.host_day, endorsers))

    def of_site(self, endorsers: int, *, seeded: bool) -> BudgetLimits:
        daily = self._grown(self.domain_day, endorsers)
        if self.stranger_day and endorsers < FEW_ENDORSERS and not seeded:
            daily = min(daily or self.stranger_day, self.stranger_day)
        return BudgetLimits(self._grown(self.domain, endorsers), daily)

    def _grown(self, base: int, endorsers: int) -> int:
        return int(base * (1 + self.growth * min(endorsers, MOST_ENDORSERS)))


def day_of(now: float) -> int:
    """Days since the epoch, which begin at midnight UTC."""
    return int(now // DAY)


def next_day(now: float) -> float:
    """When the next day begins."""
    return (day_of(now) + 1) * DAY
