"""In a focused crawl, URLs wait where the worth of the links to them puts them, and commits teach what links are worth.

The content process has scored the links of a page. A link to a new URL gives it its place; a link to a URL that waits
already counts if it would move it by at least a step. The evidence for a score is kept until the URL is fetched: then
it is taken back out, and the learner is told what the page turned out to be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import apsw
import numpy as np

from crawler.frontier.priority import STEPS, place_of, places_of
from crawler.items import Key, Kind, Outcome, Page, Reason, State, Visited
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.focus import CommitLearner
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.new_urls import DISCOVERED, InsertedUrls, NewUrlRow, SeenCache

# Outcomes after which the URL is visited again for the same purpose, so its evidence is still needed.
_UNDECIDED = frozenset({Outcome.BUSY, Outcome.FAILED, Outcome.ABORTED, Outcome.BROKEN, Outcome.PROMISING})

_TAKE_EVIDENCE = """
DELETE FROM link_evidence WHERE id = (SELECT id FROM urls WHERE host = ?1 AND rest = ?2)
RETURNING ?1, ?2, evidence
"""
_WAITING_EVIDENCE = f"""
SELECT u.host, u.rest, u.id, u.level, u.step, u.due, e.evidence FROM urls u JOIN link_evidence e ON e.id = u.id
WHERE u.host = ? AND u.rest = ? AND u.state = {State.WAITING:d}
"""
_MOVE = "UPDATE urls SET level = ?, step = ? WHERE id = ?"
_WRITE_EVIDENCE = "INSERT OR REPLACE INTO link_evidence (id, score, evidence) VALUES (?, ?, ?)"
_MOVE_VISITED = f"UPDATE urls SET level = ?, step = ? WHERE host = ? AND rest = ? AND state = {State.WAITING:d}"
_ADD_REWARD = "INSERT INTO rewards (slot, evidence, reward) VALUES (?, ?, ?)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus:
    """The learner of a focused crawl."""

    learner: CommitLearner
    slot: int  # of the worker


class LinkWorth(NamedTuple):
    """The best link to a URL."""

    score: float
    place: int  # level × STEPS + step
    evidence: bytes


class UrlPlacer:
    """Places the URLs that the visits of a batch found; links that would not move their URL are left out."""

    def __init__(
        self, focus: Focus, seen_cache: SeenCache, batch: Sequence[VisitResult], but: Collection[tuple[int, int]] = ()
    ) -> None:
        self._focus = focus
        self._seen_cache = seen_cache
        self._default = int(places_of(np.array([0.0]))[0])
        self.worths: dict[tuple[int, int], LinkWorth] = {}
        self._placed: dict[tuple[int, int], LinkWorth | None] = {}  # rows that may be new, with the best link
        pages = [result.visited.page for result in batch]
        self._collect([page for page in pages if page is not None and _has_scores(page)])
        for key in but:
            self.worths.pop(key, None)

    def _collect(self, pages: Sequence[Page]) -> None:
        """Collect the links that are better than all that were found for their URLs before."""
        scores = np.frombuffer(b"".join([page.link_scores for page in pages]), "<f4")
        places, best_places, worths = places_of(scores).tolist(), self._seen_cache.places, self.worths
        also: dict[tuple[int, int], bytes] = {}
        first = 0
        for page in pages:
            last, size = first + len(page.links), len(page.link_evidence) // len(page.links)
            for number, (link, place) in enumerate(zip(page.links, places[first:last], strict=True)):
                key = link[0]
                if place < best_places.get(key, LOWEST) and link[3] is None:
                    found, evidence = worths.get(key), page.link_evidence[number * size : (number + 1) * size]
                    if found is None:
                        worths[key] = LinkWorth(float(scores[first + number]), place, evidence)
                    elif place < found.place:
                        worths[key], also[key] = (
                            LinkWorth(float(scores[first + number]), place, evidence),
                            found.evidence,
                        )
            first = last
        self._merge(also)

    def _merge(self, also: Mapping[tuple[int, int], bytes]) -> None:
        """Merge the evidence of URLs with that of the second best links to them."""
        merged = self._focus.learner.merge([self.worths[key].evidence for key in also], list(also.values()))
        for key, evidence in zip(also, merged, strict=True):
            self.worths[key] = self.worths[key]._replace(evidence=evidence)

    def inherit(self, source: bytes, target: Key) -> None:
        """Give the target of a redirect the evidence of the URL that redirects."""
        (score,) = self._focus.learner.rescore([source])
        place = place_of(score)
        self.worths.setdefault(target, LinkWorth(score, place.level * STEPS + place.step, source))

    def placed(self, rows: Mapping[tuple[int, int], NewUrlRow]) -> dict[tuple[int, int], NewUrlRow]:
        """Return rows with the places of discovered pages; those to which no link was scored wait in the last place.

        The target of a redirected seed waits like a seed.
        """
        placed = dict(rows)
        for key, row in rows.items():
            reason, worth = row[4], self.worths.get(key)
            if row[3] == State.PARKED or row[5] != Kind.PAGE or reason not in DISCOVERED:
                continue
            if worth is not None or reason != Reason.REDIRECT_TARGET:
                level, step = divmod(worth.place if worth is not None else self._default, STEPS)
                placed[key] = NewUrlRow._make((*row[:6], level, *row[7:15], step))
                self._placed[key] = worth
        return placed

    def write_new(self, connection: apsw.Connection, ledger: HostLedger, inserted: InsertedUrls) -> None:
        """Write the evidence of URLs that were inserted."""
        numbers, places = inserted.numbers(connection), self._seen_cache.places
        evidence: list[tuple[int, float, bytes]] = []
        unlinked: list[NewUrlRow] = []
        for key, row in inserted.new.items():
            worth = self._placed.get(key)
            if worth is not None:
                evidence.append((numbers[key], worth.score, worth.evidence))
                places[key] = worth.place
            elif key in self._placed:
                unlinked.append(row)
            else:
                places[key] = HIGHEST
            self.worths.pop(key, None)
        self._placed.clear()
        connection.executemany(_WRITE_EVIDENCE, evidence)
        self._place_unlinked(connection, ledger, unlinked, numbers)

    def raise_waiting(self, connection: apsw.Connection, ledger: HostLedger, most: int | None = None) -> None:
        """Move up to `most` URLs that waited already: the links to them are better than those before."""
        keys = list(islice(self.worths, most))
        self._raise_waiting(connection, ledger, keys)
        for key in keys:
            del self.worths[key]

    def _place_unlinked(
        self,
        connection: apsw.Connection,
        ledger: HostLedger,
        rows: Sequence[NewUrlRow],
        numbers: Mapping[tuple[int, int], int],
    ) -> None:
        """Place new URLs of sitemaps and feeds by what the URLs say."""
        if rows:
            places = place_by_url(connection, self._focus, [(numbers[row.key], row.url) for row in rows])
            for row, place in zip(rows, places, strict=True):
                self._seen_cache.places[row.key] = place
                ledger.add_waiting(row.host, row.due, place // STEPS)

    def _raise_waiting(self, connection: apsw.Connection, ledger: HostLedger, keys: Sequence[tuple[int, int]]) -> None:
        if not keys:
            return
        places, learner = self._seen_cache.places, self._focus.learner
        rows: list[Any] = connection.executemany(_WAITING_EVIDENCE, keys).fetchall()
        merged = learner.merge([row[6] for row in rows], [self.worths[row[0], row[1]].evidence for row in rows])
        # Those that are known and not found do not wait for their first visit any more.
        places.update({key: HIGHEST for key in keys if key in self._seen_cache.urls})
        moved: list[tuple[int, int, int]] = []
        evidence: list[tuple[int, float, bytes]] = []
        scores = learner.rescore(merged)
        better = places_of(np.array(scores, float)).tolist()
        for (host, rest, number, level, step, due, _), found, score, place in zip(
            rows, merged, scores, better, strict=True
        ):
            evidence.append((number, score, found))
            places[host, rest] = place
            if place < level * STEPS + step:
                moved.append((*divmod(place, STEPS), number))
                ledger.add_waiting(host, due, place // STEPS)
        connection.executemany(_WRITE_EVIDENCE, evidence)
        connection.executemany(_MOVE, moved)


def _has_scores(page: Page) -> bool:
    """Whether the links of a page were scored; a pipeline of the project may have changed them since."""
    return bool(page.link_scores) and len(page.link_scores) == 4 * len(page.links)


LOWEST, HIGHEST = 1 << 16, -1  # places below and above all others


def place_by_url(connection: apsw.Connection, focus: Focus, urls: Sequence[tuple[int, str]]) -> list[int]:
    """Place URLs, given with their numbers, by what the URLs say; return their places."""
    evidences = [focus.learner.url_evidence(url) for _, url in urls]
    scores = focus.learner.rescore(evidences)
    places: list[int] = places_of(np.array(scores, float)).tolist()
    numbers = [number for number, _ in urls]
    connection.executemany(_WRITE_EVIDENCE, zip(numbers, scores, evidences, strict=True))
    connection.executemany(
        _MOVE, [(*divmod(place, STEPS), number) for number, place in zip(numbers, places, strict=True)]
    )
    return places


def learn_from_visits(
    connection: apsw.Connection,
    ledger: HostLedger,
    focus: Focus,
    placer: UrlPlacer | None,
    batch: Sequence[VisitResult],
) -> None:
    """Teach the learner what visited URLs turned out to be, and place them for their next visits.

    Without a placer, in the order in which URLs were found, only the words of pages are taken in.
    """
    learner = focus.learner
    for page in _pages(batch):
        learner.observe(page.topic_words)
    if placer is None:
        return
    decided = {result.visited.visit.key: result for result in batch if _is_decided(result)}
    taken: list[Any] = connection.executemany(_TAKE_EVIDENCE, list(decided)).fetchall()
    rewards: list[tuple[int, bytes, float]] = []
    for host, rest, evidence in taken:
        visited = decided[Key(host, rest)].visited
        if visited.location is not None and visited.location.refused is None:
            placer.inherit(evidence, visited.location.key)
        elif (reward := reward_of(visited)) is not None:
            rewards.append((focus.slot, evidence, reward))
    learner.learn([evidence for _, evidence, _ in rewards], [reward for _, _, reward in rewards])
    connection.executemany(_ADD_REWARD, rewards)
    _move_visited(connection, ledger, decided.values())


def _is_decided(result: VisitResult) -> bool:
    return result.visited.outcome not in _UNDECIDED or result.next_state.state is State.PARKED


def _pages(batch: Iterable[VisitResult]) -> list[Page]:
    pages = (result.visited.page for result in batch)
    return [page for page in pages if page is not None and page.topic_words]


def reward_of(visited: Visited) -> float | None:
    """Return what a link to a visited URL was worth: the relevance of the page, nothing where there is none.

    None if that is not known, as when a rule forbids the visit.
    """
    if visited.outcome is Outcome.REFUSED:
        return 0.0
    page = visited.page
    relevance = page.relevance if page is not None and visited.outcome is Outcome.FETCHED else None
    return relevance if relevance is not None and 0 <= relevance <= 1 else None


def _move_visited(connection: apsw.Connection, ledger: HostLedger, results: Iterable[VisitResult]) -> None:
    """Place pages for their next visit by their relevance, and what was no page by none."""
    found = [(result, reward) for result in results if (reward := reward_of(result.visited)) is not None]
    places = places_of(np.array([relevance for _, relevance in found], float)).tolist()
    for (result, _), place in zip(found, places, strict=True):
        if result.next_state.state is State.WAITING:
            ledger.add_waiting(result.visited.visit.key.host, result.next_state.due, place // STEPS)
    connection.executemany(
        _MOVE_VISITED,
        [(*divmod(place, STEPS), *result.visited.visit.key) for (result, _), place in zip(found, places, strict=True)],
    )
