"""What a transaction changes of hosts and sites: gathered while it runs, written once at its end.

A batch of pages has thousands of links to the same few hosts, so their rows are not touched for each of them. Budgets are
kept here too: each host and each site has an account, and what is over budget is parked until its site is reviewed.
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

_REVIEWED_SITES = 50  # in one go
_REVIEWED_HOSTS = 100  # of a site
_LET_IN = 2_000  # URLs in one go

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
    """What a host or a site has had of its budget."""

    limits: BudgetLimits
    admitted: int
    excess: int
    day: int
    admitted_today: int
    visits_today: int
    room: float = 0.0  # how many URLs may still be let in today
    is_changed: bool = False

    def turn_to(self, day: int) -> None:
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
    """Of one host."""

    known: int = 0
    due: float | None = None
    level: int = LEVELS
    levels: int = 0


class HostLedger:
    """Belongs to one transaction, and says nothing true after it."""

    def __init__(self, connection: apsw.Connection, budgets: Budgets, now: float) -> None:
        self._connection = connection
        self._budgets = budgets
        self._now = now
        self._changes: dict[int, HostChange] = {}
        self._hosts: dict[int, tuple[BudgetAccount, BudgetAccount]] = {}  # the host's and its site's
        self._sites: dict[int, BudgetAccount] = {}

    def found(self, host: int, count: int) -> None:
        """So many more URLs of this host are known from now on."""
        self._change(host).known += count

    def waits(self, host: int, due: float, level: int) -> None:
        """A URL of this host waits."""
        change = self._change(host)
        if change.due is None or due < change.due:
            change.due = due
        if level < change.level:
            change.level = level
        change.levels |= 1 << level

    def _change(self, host: int) -> HostChange:
        change = self._changes.get(host)
        if change is None:
            change = self._changes[host] = HostChange()
        return change

    # ── budgets ──

    def has_room(self, host: int, count: int = 1) -> bool:
        """Whether so many URLs of this host could be let in."""
        own, site = self._hosts.get(host) or self._read(host)
        return own.room >= count and site.room >= count

    def admit(self, host: int, count: int = 1, *, asked: bool = False) -> int:
        """Let URLs in, as many as the budget has room for, or all if they were asked for; the others are excess."""
        both = self._hosts.get(host) or self._read(host)
        admitted = count if asked else int(max(0, min(count, both[0].room, both[1].room)))
        for one in both:
            one.is_changed = True
            one.admitted += admitted
            one.admitted_today += admitted
            one.room -= admitted
            one.excess += count - admitted
        return admitted

    def exceed(self, host: int, count: int) -> None:
        """So many URLs were parked over budget."""
        if count:
            for one in self._hosts.get(host) or self._read(host):
                one.is_changed = True
                one.excess += count

    def visit(self, host: int) -> bool:
        """Whether the host may be visited once more today; it is counted then."""
        both = self._hosts.get(host) or self._read(host)
        if not all(one.may_be_visited for one in both):
            return False
        for one in both:
            one.is_changed = True
            one.visits_today += 1
        return True

    def take_back(self, host: int) -> None:
        """A visit that was counted was not made."""
        for one in self._hosts.get(host) or self._read(host):
            one.is_changed = True
            one.visits_today = max(one.visits_today - 1, 0)

    def review(self) -> int:
        """Let in what was parked over budget and may be let in now; how many URLs were."""
        sites: list[Any] = self._connection.execute(
            "SELECT site FROM sites WHERE review <= ? ORDER BY review LIMIT ?", (self._now, _REVIEWED_SITES)
        ).fetchall()
        return sum(self._review_site(site) for (site,) in sites)

    def _review_site(self, site: int) -> int:
        hosts: list[Any] = self._connection.execute(
            "SELECT host FROM hosts WHERE site = ? AND excess > 0", (site,)
        ).fetchall()
        open_hosts = [host for (host,) in hosts if self.has_room(host)][:_REVIEWED_HOSTS]
        opened = 0
        for place, host in enumerate(open_hosts):
            left = min(self._sites[site].room, _LET_IN - opened)
            share = max(1, left // (len(open_hosts) - place))
            opened += self._let_in(host, int(min(self._hosts[host][0].room, share, left)))
        # Perhaps there was more than one go could take; else nothing more can be done before the next day.
        again = self._now if opened else next_day(self._now)
        self._connection.execute("UPDATE sites SET review = ? WHERE site = ?", (again, site))
        return opened

    def _let_in(self, host: int, most: int) -> int:
        if most <= 0:
            return 0
        rows: list[Any] = self._connection.execute(_OVER_BUDGET, (host, most)).fetchall()
        for rest, url, level, hops in rows:
            twin = fetched_twin(self._connection, url)
            reason = Reason.REDIRECT_TARGET if hops > 0 else Reason.LINK
            verdict = (State.PARKED, Reason.SAME_PAGE, twin) if twin else (State.WAITING, reason, "")
            self._connection.execute(
                "UPDATE urls SET state = ?, reason = ?, detail = ?, due = ? WHERE host = ? AND rest = ?",
                (*verdict, self._now, host, rest),
            )
            if twin is None:
                self.waits(host, self._now, level)
                self.admit(host, asked=True)
        # Fewer than there was room for: that was all, whatever was counted.
        self.forget_excess(host, len(rows) if len(rows) == most else self._hosts[host][0].excess)
        return len(rows)

    def forget_excess(self, host: int, count: int) -> None:
        """So many URLs of this host are not parked over budget any more."""
        for one in self._hosts.get(host) or self._read(host):
            one.is_changed = True
            one.excess = max(one.excess - count, 0)

    def _read(self, host: int) -> tuple[BudgetAccount, BudgetAccount]:
        row: Any = self._connection.execute(_FIND, (host,)).get
        site, endorsers, seeded = row[:3]
        today = day_of(self._now)
        own = BudgetAccount(self._budgets.of_host(endorsers), *row[3:8])
        own.turn_to(today)
        if site not in self._sites:
            self._sites[site] = BudgetAccount(self._budgets.of_site(endorsers, seeded=bool(seeded)), *row[8:13])
            self._sites[site].turn_to(today)
        self._hosts[host] = own, self._sites[site]
        return self._hosts[host]

    # ── the end ──

    def write(self) -> None:
        """What was gathered. A hold on the host is never undercut by a URL that is due."""
        connection = self._connection
        connection.executemany(
            "UPDATE hosts SET known = known + ? WHERE host = ?",
            [(change.known, host) for host, change in self._changes.items() if change.known],
        )
        connection.executemany(
            """UPDATE hosts SET due = max(iif(held_until > ?5, held_until, 0), min(coalesce(due, ?1), ?1)),
                      level = CASE WHEN due IS NULL THEN ?2 ELSE min(level, ?2) END, levels = levels | ?3
               WHERE host = ?4""",
            [
                (change.due, change.level, change.levels, host, self._now)
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
                (*_values(account), next_day(self._now), site)
                for site, account in self._sites.items()
                if account.is_changed
            ],
        )


def _values(account: BudgetAccount) -> tuple[int, int, int, int, int]:
    return account.admitted, account.excess, account.day, account.admitted_today, account.visits_today
