"""Changes of hosts and sites are collected during a transaction, and written once at its end.

A batch of pages has thousands of links to the same few hosts, so their rows are not updated for each link. Budgets are
accounted here, too: a URL over the budget of its host or site is parked until the site is reviewed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import apsw

from crawler.frontier.budgets import BudgetLimits, Budgets, day_of, next_day
from crawler.frontier.priority import LEVELS
from crawler.items import Kind, Reason, State
from crawler.stores.sqlite.index_pages import fetched_twin

# Limits of one review, so that its transaction stays short.
_SITES_PER_REVIEW = 50
_HOSTS_PER_SITE = 100
_URLS_PER_SITE = 2_000

_ACCOUNT = "admitted, excess, day, admitted_today, visits_today"
_BOTH = ", ".join(f"{table}.{column}" for table in "hs" for column in _ACCOUNT.split(", "))
_FIND = f"SELECT h.site, s.endorsers, s.seeded, {_BOTH} FROM hosts h JOIN sites s ON s.site = h.site WHERE h.host = ?"

_OVER_BUDGET = f"""
SELECT rest, url, level, hops FROM urls
WHERE host = ? AND state = {State.PARKED:d} AND reason = {Reason.OVER_BUDGET:d} AND kind <> {Kind.ROBOTS:d}
ORDER BY level, due LIMIT ?
"""


@dataclass(slots=True)
class BudgetAccount:
    """The budget of a host or site, and how much of it is used."""

    limits: BudgetLimits
    admitted: int
    excess: int
    day: int
    admitted_today: int
    visits_today: int
    room: float = 0.0  # URLs that may still be admitted today
    is_changed: bool = False

    def start_day(self, day: int) -> None:
        """Reset the daily counters if the day is another one, and compute the room."""
        if self.day != day:
            self.day, self.admitted_today, self.visits_today = day, 0, 0
        total, daily = self.limits
        self.room = min(
            total - self.admitted if total else math.inf, daily - self.admitted_today if daily else math.inf
        )

    @property
    def may_be_visited(self) -> bool:
        return not self.limits.daily or self.visits_today < self.limits.daily


@dataclass(slots=True)
class HostChange:
    """The collected changes of one host."""

    known: int = 0
    due: float | None = None
    level: int = LEVELS
    later_level: int = LEVELS  # of URLs that are not due yet
    levels: int = 0


class HostLedger:
    """The changes of hosts and sites, and their budgets. It belongs to one transaction, and is stale after it."""

    def __init__(self, connection: apsw.Connection, budgets: Budgets, now: float, *, is_focused: bool = False) -> None:
        self._connection = connection
        self._budgets = budgets
        self.now = now
        self._is_focused = is_focused  # a host waits in the level of what is due, not of pages to be visited again
        self._changes: dict[int, HostChange] = {}
        self._hosts: dict[int, tuple[BudgetAccount, BudgetAccount]] = {}  # the host's and its site's
        self._sites: dict[int, BudgetAccount] = {}

    def add_known(self, host: int, count: int) -> None:
        """Count new URLs of a host."""
        self._change(host).known += count

    def add_waiting(self, host: int, due: float, level: int) -> None:
        """Note the due time and level of a URL of this host that waits."""
        change = self._change(host)
        if change.due is None or due < change.due:
            change.due = due
        if due > self.now and self._is_focused:
            change.later_level = min(change.later_level, level)
        elif level < change.level:
            change.level = level
        change.levels |= 1 << level

    def _change(self, host: int) -> HostChange:
        change = self._changes.get(host)
        if change is None:
            change = self._changes[host] = HostChange()
        return change

    # ── budgets ──

    def has_room(self, host: int, count: int = 1) -> bool:
        """Whether so many URLs of a host can be admitted."""
        own, site = self._hosts.get(host) or self._read(host)
        return own.room >= count and site.room >= count

    def admit(self, host: int, count: int = 1, *, force: bool = False) -> int:
        """Admit URLs of a host, and return how many: as many as budgets allow, or all with `force`.

        The others are counted as excess.
        """
        both = self._hosts.get(host) or self._read(host)
        admitted = count if force else int(max(0, min(count, both[0].room, both[1].room)))
        for account in both:
            account.is_changed = True
            account.admitted += admitted
            account.admitted_today += admitted
            account.room -= admitted
            account.excess += count - admitted
        return admitted

    def add_excess(self, host: int, count: int) -> None:
        """Count URLs of a host that were parked over budget."""
        if count:
            for account in self._hosts.get(host) or self._read(host):
                account.is_changed = True
                account.excess += count

    def count_visit(self, host: int) -> bool:
        """Count a visit to a host; False if its budget of the day is spent, and then it is not counted."""
        both = self._hosts.get(host) or self._read(host)
        if not all(account.may_be_visited for account in both):
            return False
        for account in both:
            account.is_changed = True
            account.visits_today += 1
        return True

    def uncount_visit(self, host: int) -> None:
        """Take back the count of a visit that was not made."""
        for account in self._hosts.get(host) or self._read(host):
            account.is_changed = True
            account.visits_today = max(account.visits_today - 1, 0)

    def review(self) -> int:
        """Admit URLs that were parked over budget, where budgets allow it now, and return how many."""
        sites: list[Any] = self._connection.execute(
            "SELECT site FROM sites WHERE review <= ? ORDER BY review LIMIT ?", (self.now, _SITES_PER_REVIEW)
        ).fetchall()
        return sum(self._review_site(site) for (site,) in sites)

    def _review_site(self, site: int) -> int:
        hosts: list[Any] = self._connection.execute(
            "SELECT host FROM hosts WHERE site = ? AND excess > 0", (site,)
        ).fetchall()
        open_hosts = [host for (host,) in hosts if self.has_room(host)][:_HOSTS_PER_SITE]
        admitted = 0
        for place, host in enumerate(open_hosts):
            left = min(self._sites[site].room, _URLS_PER_SITE - admitted)
            share = max(1, left // (len(open_hosts) - place))
            admitted += self._admit_parked(host, int(min(self._hosts[host][0].room, share, left)))
        # More URLs may be left than one review admits; if none was admitted, none can be before the next day.
        again = self.now if admitted else next_day(self.now)
        self._connection.execute("UPDATE sites SET review = ? WHERE site = ?", (again, site))
        return admitted

    def _admit_parked(self, host: int, most: int) -> int:
        if most <= 0:
            return 0
        rows: list[Any] = self._connection.execute(_OVER_BUDGET, (host, most)).fetchall()
        for rest, url, level, hops in rows:
            twin = fetched_twin(self._connection, url)
            reason = Reason.REDIRECT_TARGET if hops > 0 else Reason.LINK
            verdict = (State.PARKED, Reason.SAME_PAGE, twin) if twin else (State.WAITING, reason, "")
            self._connection.execute(
                "UPDATE urls SET state = ?, reason = ?, detail = ?, due = ? WHERE host = ? AND rest = ?",
                (*verdict, self.now, host, rest),
            )
            if twin is None:
                self.add_waiting(host, self.now, level)
                self.admit(host, force=True)
        # Fewer rows than asked for means that none is left, so the count of the excess is corrected.
        self.remove_excess(host, len(rows) if len(rows) == most else self._hosts[host][0].excess)
        return len(rows)

    def remove_excess(self, host: int, count: int) -> None:
        """Subtract URLs of a host that are no longer parked over budget."""
        for account in self._hosts.get(host) or self._read(host):
            account.is_changed = True
            account.excess = max(account.excess - count, 0)

    def _read(self, host: int) -> tuple[BudgetAccount, BudgetAccount]:
        row: Any = self._connection.execute(_FIND, (host,)).get
        site, endorsers, seeded = row[:3]
        today = day_of(self.now)
        own = BudgetAccount(self._budgets.of_host(endorsers), *row[3:8])
        own.start_day(today)
        if site not in self._sites:
            self._sites[site] = BudgetAccount(self._budgets.of_site(endorsers, seeded=bool(seeded)), *row[8:13])
            self._sites[site].start_day(today)
        self._hosts[host] = own, self._sites[site]
        return self._hosts[host]

    def write(self) -> None:
        """Write all changes. A host that is held does not become due before its hold ends."""
        connection = self._connection
        connection.executemany(
            "UPDATE hosts SET known = known + ? WHERE host = ?",
            [(change.known, host) for host, change in self._changes.items() if change.known],
        )
        connection.executemany(
            f"""UPDATE hosts SET due = max(iif(held_until > ?5, held_until, 0), min(coalesce(due, ?1), ?1)),
                      level = CASE WHEN due IS NULL THEN iif(?2 < {LEVELS}, ?2, ?6) ELSE min(level, ?2) END, levels = levels | ?3
               WHERE host = ?4""",
            [
                (change.due, change.level, change.levels, host, self.now, change.later_level)
                for host, change in self._changes.items()
                if change.due is not None
            ],
        )
        connection.executemany(
            f"UPDATE hosts SET ({_ACCOUNT}) = (?, ?, ?, ?, ?) WHERE host = ?",
            [(*_values(own), host) for host, (own, _) in self._hosts.items() if own.is_changed],
        )
        connection.executemany(
            f"""UPDATE sites SET ({_ACCOUNT}) = (?1, ?2, ?3, ?4, ?5),
                       review = CASE WHEN ?2 > 0 THEN coalesce(review, ?6) ELSE NULL END
                WHERE site = ?7""",
            [
                (*_values(account), next_day(self.now), site)
                for site, account in self._sites.items()
                if account.is_changed
            ],
        )


def _values(account: BudgetAccount) -> tuple[int, int, int, int, int]:
    return account.admitted, account.excess, account.day, account.admitted_today, account.visits_today
