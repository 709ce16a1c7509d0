"""How many URLs of one host, and of one site, may be visited?

A site is a registered domain. URLs beyond its budget are parked, and admitted when the budget allows: on another day,
or when more sites link to it. Without budgets one large site, one spider trap or one farm of host names could use up
the crawl.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

DAY = 86_400.0
MOST_ENDORSERS = 1_000  # other sites that link to a site; more do not raise its budget
FEW_ENDORSERS = 2  # a site with fewer of them that is not a seed's gets the budget `stranger_day`


class BudgetLimits(NamedTuple):
    """The limits of one host or site; 0 = no limit."""

    total: int = 0  # URLs that are admitted
    daily: int = 0  # URLs that are admitted, and visits made, in a day


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """The configured budgets; all but `stranger_day` grow by the share `growth` for each other site that links there.

    >>> Budgets(domain=100, growth=0.5).of_site(endorsers=4, seeded=False)
    BudgetLimits(total=300, daily=0)
    """

    host: int = 0
    host_day: int = 0
    domain: int = 0
    domain_day: int = 0
    stranger_day: int = 0  # of a site to which few other sites link, and that is not a seed's
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
    """Return the number of the day since the epoch; days begin at midnight UTC."""
    return int(now // DAY)


def next_day(now: float) -> float:
    """Return the time at which the next day begins."""
    return (day_of(now) + 1) * DAY
