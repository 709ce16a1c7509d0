"""The role `focus` on SQLite: evidence about waiting URLs, and what the workers of a focused crawl have learned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import apsw
import numpy as np

from crawler.frontier.priority import STEPS, PriorityInputs, level_of, places_of
from crawler.items import Key, Kind, State
from crawler.stores.contract.focus import CommitLearner, LinkEvidence, RescoredUrls, WaitingPlace
from crawler.stores.sqlite.database import Database
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.url_placer import Focus, place_by_url

_SLICE = 5_000  # rows a transaction when a crawl becomes unfocused: other writers wait a moment

_EVIDENCE = """
SELECT e.score, e.evidence FROM urls u JOIN link_evidence e ON e.id = u.id WHERE u.host = ? AND u.rest = ?
"""
# The waiting URLs of a host behind a place, in the order of their index.
_WAITING = f"""
SELECT u.id, u.level, u.step, u.due, e.evidence FROM urls u LEFT JOIN link_evidence e ON e.id = u.id
WHERE u.host = ?1 AND u.state = {State.WAITING:d} AND (u.level, u.step, u.due, u.id) > (?2, ?3, ?4, ?5)
ORDER BY u.level, u.step, u.due, u.id LIMIT ?6
"""
_MOVE = f"UPDATE urls SET level = ?, step = ? WHERE id = ? AND state = {State.WAITING:d}"
_SCORE = "UPDATE link_evidence SET score = ? WHERE id = ?"
_NEXT_HOSTS = """
SELECT h.host FROM hosts h JOIN partitions p ON p.id = h.partition
WHERE h.due <= ? AND p.owner = ? ORDER BY h.level, h.due LIMIT ?
"""
# Pages that wait for their first visit and were found before the crawl had a topic.
_UNPLACED = f"""
SELECT u.id, u.host, u.due, u.url FROM urls u LEFT JOIN link_evidence e ON e.id = u.id
WHERE u.id > ?1 AND u.state = {State.WAITING:d} AND u.kind = {Kind.PAGE:d} AND u.visits = 0 AND u.level > 0
  AND e.id IS NULL
ORDER BY u.id LIMIT ?2
"""
_PLACED = """
SELECT id, host, state, due, depth, inlinks, hint, visits, changes FROM urls WHERE id > ?1 ORDER BY id LIMIT ?2
"""


class SqliteFocus:
    """Implements `crawler.stores.contract.focus.FocusStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._saved: Mapping[str, bytes] = {}
        self._others: Mapping[int, Mapping[str, bytes]] = {}

    def begin(self, learner: CommitLearner, slot: int) -> None:
        database = self._database
        with database.snapshot() as connection:
            states = _states(connection)
            rewards: list[Any] = connection.execute(
                "SELECT evidence, reward FROM rewards WHERE slot = ? ORDER BY id", (slot,)
            ).fetchall()
        self._saved = states.pop(slot, {})
        self._others = states
        learner.load_states(self._saved, list(states.values()))
        for evidence, reward in rewards:
            learner.learn([evidence], [reward])
        database.focus = Focus(learner=learner, slot=slot)
        database.seen_cache.is_focused = not database.seen_cache.is_fifo

    def save(self, *, is_last: bool = False) -> None:
        focus = self._database.focus
        assert focus is not None, "`begin` was called"
        states = focus.learner.states(is_last=is_last)
        changed = {part: state for part, state in states.items() if self._saved.get(part) != state}
        if changed:
            with self._database.transaction() as connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO focus (slot, part, state) VALUES (?, ?, ?)",
                    [(focus.slot, part, state) for part, state in changed.items()],
                )
                connection.execute("DELETE FROM rewards WHERE slot = ?", (focus.slot,))
            self._saved = states
        with self._database.errors():
            others = _states(self._database.connection, but=focus.slot)
        if others != self._others:
            self._others = others
            focus.learner.load_states(states, list(others.values()))

    def evidence(self, key: Key) -> LinkEvidence | None:
        with self._database.errors():
            row = self._database.connection.execute(_EVIDENCE, key).get
        return LinkEvidence(*row) if row is not None else None

    def states(self) -> Mapping[int, Mapping[str, bytes]]:
        with self._database.errors():
            return _states(self._database.connection)

    def rescore(self, host: int, after: WaitingPlace, most: int, now: float) -> RescoredUrls:
        focus = self._database.focus
        assert focus is not None, "`begin` was called"
        with self._database.errors():  # most slices move nothing, so they need no transaction
            rows: list[Any] = self._database.connection.execute(_WAITING, (host, *after, most)).fetchall()
        moved, scores = _moved(focus, rows)
        if moved:
            with self._database.changing(now) as (connection, ledger):
                self._move(connection, ledger, host, moved, scores)
        if len(rows) < most:
            return RescoredUrls(len(rows), len(moved), None)
        number, level, step, due, _ = rows[-1]
        return RescoredUrls(len(rows), len(moved), WaitingPlace(level, step, due, number))

    def _move(
        self,
        connection: apsw.Connection,
        ledger: HostLedger,
        host: int,
        moved: Sequence[tuple[int, int, float]],
        scores: Sequence[tuple[float, int]],
    ) -> None:
        connection.executemany(_MOVE, [(*divmod(place, STEPS), number) for number, place, _ in moved])
        connection.executemany(_SCORE, scores)
        for _, place, due in moved:
            ledger.add_waiting(host, due, place // STEPS)

    def next_hosts(self, owner: str, now: float, most: int) -> list[int]:
        with self._database.errors():
            rows: Any = self._database.connection.execute(_NEXT_HOSTS, (now, owner, most))
            return [host for (host,) in rows]

    def place_waiting(self, after: int, most: int, now: float) -> int | None:
        focus = self._database.focus
        assert focus is not None, "`begin` was called"
        if not self._database.seen_cache.is_focused:
            return None
        with self._database.changing(now) as (connection, ledger):
            rows: list[Any] = connection.execute(_UNPLACED, (after, most)).fetchall()
            places = place_by_url(connection, focus, [(number, url) for number, _, _, url in rows]) if rows else []
            for (_, host, due, _), place in zip(rows, places, strict=True):
                ledger.add_waiting(host, due, place // STEPS)
        return rows[-1][0] if len(rows) == most else None

    def forget(self, now: float) -> None:
        self._database.focus, self._database.seen_cache.is_focused = None, False
        after: int | None = 0
        while after is not None:
            with self._database.changing(now) as (connection, ledger):
                after = self._restore_levels(connection, ledger, after)
        with self._database.transaction() as connection:
            for table in ("link_evidence", "focus", "rewards"):
                connection.execute(f"DELETE FROM {table}")

    def _restore_levels(self, connection: apsw.Connection, ledger: HostLedger, after: int) -> int | None:
        rows: list[Any] = connection.execute(_PLACED, (after, _SLICE)).fetchall()
        levels = [0 if self._database.seen_cache.is_fifo else level_of(PriorityInputs(*row[4:])) for row in rows]
        connection.executemany(
            "UPDATE urls SET level = ?, step = 0 WHERE id = ?",
            [(level, row[0]) for row, level in zip(rows, levels, strict=True)],
        )
        for (_, host, state, due, *_), level in zip(rows, levels, strict=True):
            if state == State.WAITING:
                ledger.add_waiting(host, due, level)
        return rows[-1][0] if len(rows) == _SLICE else None


def _states(connection: apsw.Connection, but: int | None = None) -> dict[int, dict[str, bytes]]:
    """Return what the workers have learned, by slot and part."""
    states: dict[int, dict[str, bytes]] = defaultdict(dict)
    rows: Any = connection.execute("SELECT slot, part, state FROM focus WHERE slot IS NOT ?", (but,))
    for slot, part, state in rows:
        states[slot][part] = state
    return states


def _moved(focus: Focus, rows: Sequence[Any]) -> tuple[list[tuple[int, int, float]], list[tuple[float, int]]]:
    """Return the URLs whose place changes, as (number, place, due), and the scores of these."""
    found = [row for row in rows if row[4] is not None]
    scores = focus.learner.rescore([row[4] for row in found])
    places = places_of(np.array(scores, float)).tolist()
    moved = [
        (number, place, due, score)
        for (number, level, step, due, _), place, score in zip(found, places, scores, strict=True)
        if place != level * STEPS + step
    ]
    return [row[:3] for row in moved], [(score, number) for number, _, _, score in moved]
