"""The role `frontier` on SQLite: due hosts by priority level; their URLs are loaded, leased and postponed."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import apsw
from msgspec.structs import replace

from crawler.frontier.budgets import next_day
from crawler.frontier.exploration import LevelLimit
from crawler.frontier.frontier import HostLoad
from crawler.frontier.priority import LEVELS, STEPS, Draw, most_important
from crawler.items import Kind, Reason, State, Visit
from crawler.stores.contract.frontier import GrantedLeases, Outlook
from crawler.stores.contract.urls import NewUrl
from crawler.stores.sqlite.database import Database
from crawler.stores.sqlite.host_trust import trust_of
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.listed_urls import vouchers_of
from crawler.stores.sqlite.new_urls import SeenCache, insert_urls, new_url_row
from crawler.stores.sqlite.rows import CLOCK_COLUMNS, RULES_COLUMNS, VISIT_COLUMNS, clock_of, rules_of, visit_of


def _of_each(name: str, count: int, statement: str) -> str:
    """Return one statement for all levels or steps in order: it reads an index range for each, and sorts nothing."""
    return " UNION ALL ".join(f"SELECT * FROM ({statement.replace(name, str(number))})" for number in range(count))


_DUE_HOSTS = _of_each(
    "LEVEL",
    LEVELS,
    """SELECT h.level, h.host FROM hosts h JOIN partitions p ON p.id = h.partition
       WHERE h.level = LEVEL AND h.due <= ?1 AND p.owner = ?2 ORDER BY h.due LIMIT ?3""",
)
_DUE_URLS = (
    _of_each(
        "STEP",
        STEPS,
        f"""SELECT {VISIT_COLUMNS} FROM urls u LEFT JOIN urls v ON v.id = u.via LEFT JOIN url_facts t ON t.id = u.id
            WHERE u.host = ?1 AND u.state = {State.WAITING:d} AND u.level = ?2 AND u.step = STEP AND u.due <= ?3
            ORDER BY u.due LIMIT ?4""",
    )
    + " LIMIT ?4"
)
_FIRST_DUE_OF_LEVEL = f"""
SELECT min(due) FROM ({
    _of_each(
        "STEP",
        STEPS,
        f'''SELECT min(due) AS due FROM urls
            WHERE host = ?1 AND state = {State.WAITING:d} AND level = ?2 AND step = STEP''',
    )
})
"""
_BETTER_HOST = "SELECT 1 FROM hosts WHERE level <= ?1 AND due <= ?2 AND next_visit <= ?2 + ?3 LIMIT 1"
_BETTER_WITHIN = 10.0  # seconds within which a host with better URLs may be visited, so that others are held back
_FIRST_DUE_HOST = "SELECT min(due) AS due FROM hosts WHERE level = LEVEL AND due IS NOT NULL"
# When the next host is due or the next site's budget is reviewed: at any time, and after a time.
_FIRST_DUE = f"""
SELECT min(due) FROM ({_of_each("LEVEL", LEVELS, _FIRST_DUE_HOST)}
                      UNION ALL SELECT min(review) FROM sites WHERE review IS NOT NULL)
"""
_NEXT_DUE = f"""
SELECT min(due) FROM ({_of_each("LEVEL", LEVELS, "SELECT min(due) AS due FROM hosts WHERE level = LEVEL AND due > ?1")}
                      UNION ALL SELECT min(review) FROM sites WHERE review > ?1)
"""

_LEASE = f"""
UPDATE urls SET state = {State.LEASED:d}, epoch = ?1, leased_host = ?2, kind = ?3
WHERE host = ?4 AND rest = ?5
  AND (state = {State.WAITING:d} OR (state = {State.PARKED:d} AND ?3 = {Kind.ROBOTS:d}))
  AND EXISTS (SELECT 1 FROM hosts h JOIN partitions p ON p.id = h.partition
              WHERE h.host = ?2 AND p.owner = ?6 AND p.epoch = ?1)
RETURNING host, rest
"""
_UNLEASE = f"""
UPDATE urls SET state = ?1, reason = iif(?2, ?3, reason), epoch = NULL, leased_host = NULL
WHERE host = ?4 AND rest = ?5 AND state = {State.LEASED:d} AND epoch = ?6 RETURNING level
"""
_POSTPONE = f"UPDATE urls SET due = ?, reason = ? WHERE host = ? AND rest = ? AND state = {State.WAITING:d}"
_COUNT_LEASED = f"SELECT count(*) FROM urls INDEXED BY urls_leased WHERE state = {State.LEASED:d}"


class SqliteFrontier:
    """Implements `crawler.stores.contract.frontier.FrontierStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def activate(
        self,
        owner: str,
        now: float,
        hosts: int,
        urls: int,
        exclude: Collection[int],
        draw: Draw = most_important,
        limit: LevelLimit | None = None,
    ) -> list[HostLoad]:
        self._review_budgets(now)
        with self._database.transaction() as connection:
            limit = _binding(connection, now, limit)
            queues = _HostQueues(connection.execute(_DUE_HOSTS, (now, owner, hosts + len(exclude))), exclude)
            if limit is not None and limit.beyond <= 0:
                queues.drop_beyond(limit)
            loads: list[HostLoad] = []
            while queues and len(loads) < hosts:
                level, host = queues.take(draw)
                load = _load_host(connection, owner, host, now, urls, limit)
                if load is None or not load.visits:
                    continue
                first = load.visits[0].level
                if first > level and self._database.seen_cache.is_focused:  # its better URLs were moved since
                    connection.execute("UPDATE hosts SET level = ? WHERE host = ?", (first, host))
                    queues.add(first, host)
                    continue
                loads.append(load)
                limit = _rest_of(limit, host, load.visits)
                if not first:  # an urgent host has due = 0; now it is loaded
                    connection.execute("UPDATE hosts SET due = ? WHERE host = ? AND due = 0", (now, host))
            return loads

    def _review_budgets(self, now: float) -> None:
        """Admit URLs that were parked over budget, where budgets allow it now; usually no site is due for review."""
        with self._database.errors():
            is_due = self._database.connection.execute("SELECT 1 FROM sites WHERE review <= ? LIMIT 1", (now,)).get
        if is_due is not None:
            with self._database.changing(now) as (_, ledger):
                ledger.review()

    def urgent(self, hosts: Collection[int], now: float) -> list[int]:
        with self._database.errors():  # usually no host is urgent
            if self._database.connection.execute("SELECT 1 FROM hosts WHERE level = 0 AND due = 0 LIMIT 1").get is None:
                return []
        with self._database.transaction() as connection:
            due: list[Any] = connection.execute("SELECT host FROM hosts WHERE level = 0 AND due = 0").fetchall()
            found = [host for (host,) in due if host in hosts]
            connection.executemany("UPDATE hosts SET due = ? WHERE host = ?", [(now, host) for host in found])
            return found

    def next_due(self, now: float) -> float:
        with self._database.errors():
            due: float | None = self._database.connection.execute(_NEXT_DUE, (now,)).get
        return math.inf if due is None else due

    def send_back(self, hosts: Sequence[int], now: float) -> None:
        with self._database.transaction() as connection:
            connection.executemany("UPDATE hosts SET due = max(due, ?) WHERE host = ?", [(now, host) for host in hosts])

    def load_host(self, owner: str, host: int, name: str, now: float, urls: int) -> HostLoad | None:
        with self._database.transaction() as connection:
            self._database.seen_cache.add_hosts(connection, [(host, f"http://{name}/")])
            return _load_host(connection, owner, host, now, urls)

    def load(self, host: int, now: float, urls: int) -> list[Visit]:
        with self._database.transaction() as connection:
            return _load(connection, host, now, urls)

    def load_all(
        self, hosts: Sequence[int], now: float, urls: int, limit: LevelLimit | None = None
    ) -> list[tuple[int, list[Visit]]]:
        loads: list[tuple[int, list[Visit]]] = []
        with self._database.transaction() as connection:
            limit = _binding(connection, now, limit)
            for host in hosts:
                visits = _load(connection, host, now, urls, limit)
                limit = _rest_of(limit, host, visits)
                loads.append((host, visits))
        return loads

    def lease(self, owner: str, visits: Sequence[Visit], now: float) -> GrantedLeases:
        with self._database.changing(now) as (connection, ledger):
            held_until: dict[int, float] = {}
            allowed: list[Visit] = []
            for visit in visits:
                if visit.kind is Kind.ROBOTS:
                    _add_robots_url(connection, self._database.seen_cache, ledger, visit)
                    allowed.append(visit)
                elif ledger.count_visit(visit.host_key):
                    allowed.append(visit)
                else:
                    held_until[visit.host_key] = next_day(now)
            _hold(connection, list(held_until.items()))
            granted = connection.executemany(
                _LEASE,
                [(visit.epoch, visit.host_key, visit.kind, *visit.key, owner) for visit in allowed],
            )
            keys = set(granted)
            for visit in allowed:
                if visit.key not in keys and visit.kind is not Kind.ROBOTS:
                    ledger.uncount_visit(visit.host_key)
            return GrantedLeases(granted=[visit for visit in allowed if visit.key in keys], held_until=held_until)

    def unlease(self, visits: Sequence[Visit], now: float) -> None:
        with self._database.changing(now) as (connection, ledger):
            for visit in visits:
                robots = visit.kind is Kind.ROBOTS
                level = connection.execute(
                    _UNLEASE,
                    (State.PARKED if robots else State.WAITING, robots, Reason.ROBOTS_FILE, *visit.key, visit.epoch),
                ).get
                if level is not None and not robots:  # it may have changed while the URL was leased
                    ledger.add_waiting(visit.key.host, now, level)
                    ledger.uncount_visit(visit.host_key)

    def postpone(self, visits: Sequence[tuple[Visit, float]], reason: Reason) -> None:
        with self._database.transaction() as connection:
            connection.executemany(_POSTPONE, [(until, reason, *visit.key) for visit, until in visits])

    def hold(self, hosts: Sequence[tuple[int, float]]) -> None:
        with self._database.transaction() as connection:
            _hold(connection, hosts)

    def gates(self) -> dict[str, float]:
        with self._database.errors():
            return dict(self._database.connection.execute("SELECT name, next_visit FROM gates"))

    def outlook(self) -> Outlook:
        with self._database.snapshot() as connection:
            leased = connection.execute(_COUNT_LEASED).get
            return Outlook(leased=leased, next_due=first_due(connection))

    def clamp_future_times(self, latest: float) -> None:
        with self._database.transaction() as connection:
            connection.execute(
                """UPDATE hosts SET next_visit = min(next_visit, ?1), held_until = min(held_until, ?1),
                          due = min(due, ?1)
                   WHERE next_visit > ?1 OR held_until > ?1 OR due > ?1""",
                (latest,),
            )
            connection.execute(
                "UPDATE origins SET held_until = min(held_until, ?1), expires = min(expires, ?1) WHERE expires > ?1",
                (latest,),
            )
            connection.execute("UPDATE sites SET review = ?1 WHERE review > ?1", (latest,))


class _HostQueues:
    """Due hosts by the levels in which they wait."""

    def __init__(self, rows: Iterable[Any], exclude: Collection[int]) -> None:
        self._queues: dict[int, deque[int]] = {}
        for level, host in rows:
            if host not in exclude:
                self.add(level, host)

    def __bool__(self) -> bool:
        return bool(self._queues)

    def add(self, level: int, host: int) -> None:
        self._queues.setdefault(level, deque()).append(host)

    def drop_beyond(self, limit: LevelLimit) -> None:
        """Drop the hosts of a limit that have nothing above it."""
        queues = {
            level: deque(host for host in queue if level <= limit.deepest or host not in limit.hosts)
            for level, queue in self._queues.items()
        }
        self._queues = {level: queue for level, queue in queues.items() if queue}

    def take(self, draw: Draw) -> tuple[int, int]:
        """Return a level that is drawn, and the host that has waited longest in it."""
        level = draw(sorted(self._queues))
        host = self._queues[level].popleft()
        if not self._queues[level]:
            del self._queues[level]
        return level, host


def _binding(connection: apsw.Connection, now: float, limit: LevelLimit | None) -> LevelLimit | None:
    """Return the limit if any host, of whatever worker, has URLs within it and may be visited soon; else None."""
    if limit is None:
        return None
    better = connection.execute(_BETTER_HOST, (limit.deepest, now, _BETTER_WITHIN)).get
    return limit if better is not None else None


def _rest_of(limit: LevelLimit | None, host: int, visits: Sequence[Visit]) -> LevelLimit | None:
    """Return the limit for what is loaded behind these visits."""
    if limit is None or host not in limit.hosts:
        return limit
    return limit._replace(beyond=limit.beyond - sum(visit.level > limit.deepest for visit in visits))


def _load_host(
    connection: apsw.Connection, owner: str, host: int, now: float, urls: int, limit: LevelLimit | None = None
) -> HostLoad | None:
    row = connection.execute(
        f"""SELECT h.name, p.id, p.epoch, h.address, h.levels, h.soft404, h.template, {CLOCK_COLUMNS}
            FROM hosts h JOIN partitions p ON p.id = h.partition WHERE h.host = ? AND p.owner = ?""",
        (host, owner),
    ).get
    if row is None:
        return None
    name, partition, epoch, address, levels, soft404, template, *clock_columns = row
    clock = clock_of(clock_columns)
    rules = connection.execute(f"SELECT {RULES_COLUMNS} FROM origins WHERE host = ?", (host,)).fetchall()
    return HostLoad(
        host=host,
        name=name,
        partition=partition,
        epoch=epoch,
        address=address,
        clock=clock,
        visits=_due_urls(connection, host, levels, clock.held_until, epoch, now, urls, limit),
        rules=[rules_of(rule) for rule in rules],
        trust=trust_of(connection, host),
        soft404=soft404 or b"",
        template=template or b"",
    )


def _load(
    connection: apsw.Connection, host: int, now: float, urls: int, limit: LevelLimit | None = None
) -> list[Visit]:
    held_until, epoch, levels = connection.execute(
        """SELECT h.held_until, p.epoch, h.levels FROM hosts h JOIN partitions p ON p.id = h.partition
           WHERE h.host = ?""",
        (host,),
    ).get
    return _due_urls(connection, host, levels, held_until, epoch, now, urls, limit)


def _due_urls(
    connection: apsw.Connection,
    host: int,
    levels: int,
    held_until: float,
    epoch: int,
    now: float,
    urls: int,
    limit: LevelLimit | None,
) -> list[Visit]:
    """Return the next due URLs of a host, level by level; if there are none, update the host's due time and level."""
    visits: list[Visit] = []
    if held_until <= now:
        for level in _levels_in(levels):
            if len(visits) >= urls:
                break
            most = urls - len(visits)
            if limit is not None and level > limit.deepest and host in limit.hosts:
                beyond = sum(visit.level > limit.deepest for visit in visits)
                most = max(min(most, limit.beyond - beyond), 0)
            rows = connection.execute(_DUE_URLS, (host, level, now, most))
            visits.extend(visit_of(row, epoch) for row in rows)
    for place, visit in enumerate(visits):
        if visit.kind is Kind.SITEMAP:
            visits[place] = replace(visit, vouchers=vouchers_of(connection, visit.key))
    if not visits:
        _update_due(connection, host, levels)
    return visits


def _update_due(connection: apsw.Connection, host: int, levels: int) -> None:
    first = [
        (due, level)
        for level in _levels_in(levels)
        if (due := connection.execute(_FIRST_DUE_OF_LEVEL, (host, level)).get) is not None
    ]
    due, level = min(first) if first else (None, 0)
    connection.execute(
        """UPDATE hosts SET due = CASE WHEN ?1 IS NULL THEN NULL ELSE max(?1, held_until) END, level = ?2, levels = ?3
           WHERE host = ?4""",
        (due, level, sum(1 << level for _, level in first), host),
    )


def _levels_in(levels: int) -> list[int]:
    """Return the levels whose bits are set, in ascending order."""
    return [level for level in range(LEVELS) if levels >> level & 1]


def _hold(connection: apsw.Connection, hosts: Sequence[tuple[int, float]]) -> None:
    connection.executemany(
        """UPDATE hosts SET held_until = max(held_until, ?1), next_visit = max(next_visit, ?1), due = max(due, ?1)
           WHERE host = ?2""",
        [(until, host) for host, until in hosts],
    )


def _add_robots_url(connection: apsw.Connection, seen_cache: SeenCache, ledger: HostLedger, visit: Visit) -> None:
    """Insert the robots.txt URL of an origin, whose row is used wherever a redirect has moved the file."""
    reason = connection.execute("SELECT reason FROM urls WHERE host = ? AND rest = ?", visit.key).get
    if reason == Reason.OVER_BUDGET:  # it was found as a link
        ledger.remove_excess(visit.key.host, 1)
        connection.execute("UPDATE urls SET reason = ? WHERE host = ? AND rest = ?", (Reason.ROBOTS_FILE, *visit.key))
    if reason is None:
        url = NewUrl(key=visit.key, url=visit.url, reason=Reason.ROBOTS_FILE, kind=Kind.ROBOTS)
        insert_urls(connection, seen_cache, ledger, [new_url_row(connection, url, 0.0)])


def first_due(connection: apsw.Connection) -> float | None:
    """Return when the next URL may be visited, or admitted by its budget."""
    due: float | None = connection.execute(_FIRST_DUE).get
    return due
