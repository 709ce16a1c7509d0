"""From the result of a visit to its acknowledgement: decide the next state, collect a batch, commit it.

A page that may be a near-duplicate of an archived one, and whose sketch does not decide it, is held back: its text is
compared first, and its visit is committed with a later batch.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from crawler.fetch.robots import judge_robots
from crawler.frontier.frontier import Frontier
from crawler.items import NOT_ASKED, ExportedDocument, Key, Kind, Outcome, Reason, RobotsFile, Visited
from crawler.options import Options
from crawler.stores.contract.commits import CommitSummary, VisitResult
from crawler.worker.committer import CommitAnswer, SimilarArchivedPage
from crawler.worker.runtime import Runtime, Similarities, StoreCalls, Timers

logger = logging.getLogger(__name__)

# Links and list entries of a commit of several visits. Other calls of the store's thread wait until it is done, and with
# several workers on one disk, 20,000 new ones may take ten seconds.
URLS_OF_COMMIT = 20_000

# Called when a visit is acknowledged, with its page if that was wanted; or with the error by which it cannot be.
Acknowledge = Callable[[BaseException | None, ExportedDocument | None], None]


class _UncommittedVisit(NamedTuple):
    result: VisitResult
    acknowledge: Acknowledge
    wants_page: bool


class VisitCommits:
    """The visits of a worker that have ended and are not acknowledged yet."""

    def __init__(
        self,
        runtime: Runtime,
        calls: StoreCalls,
        frontier: Frontier,
        options: Options,
        on_commit: Callable[[Sequence[Visited], CommitSummary], None],
    ) -> None:
        self._runtime = runtime
        self._calls = calls
        self._frontier = frontier
        self._options = options
        self._on_commit = on_commit  # called with the acknowledged visits of a batch
        self._timers = Timers(runtime.clock)
        self._batch: list[_UncommittedVisit] = []  # for the next commit
        self._committing: list[_UncommittedVisit] = []
        self._comparing: dict[Key, _UncommittedVisit] = {}  # held back until their texts are compared
        self._flush_again = False
        self._is_stopped = False

    def __len__(self) -> int:
        return len(self._batch) + len(self._committing) + len(self._comparing)

    @property
    def is_comparing(self) -> bool:
        return bool(self._comparing)

    def finish_visit(self, visited: Visited, acknowledge: Acknowledge, *, wants_page: bool = False) -> None:
        """Decide what a visit's result means for its URL and its hosts, and add it to the batch."""
        visit, now = visited.visit, self._runtime.clock.now()
        if self._frontier.in_flight.get(visit.key) is not visit:
            logger.error("A second result for %s is dropped", visit.url)
            acknowledge(None, None)
            return
        visited = self._with_robots_file(visited, now)
        was_down = self._frontier.network.is_down
        clocks = self._frontier.visit_ended(visited, now)
        self._log_outage(was_down=was_down)
        clock = clocks[visit.host_key]
        # A URL is not blamed for failures of its host or of our network.
        excused = self._frontier.network.is_down or clock.backoff > 1
        next_state = self._options.revisit.after(visited, now, clock.next_visit, excused=excused)
        gates = self._frontier.gate_times(visited)
        result = VisitResult(visited=visited, next_state=next_state, clocks=clocks, gates=gates)
        self._add(_UncommittedVisit(result, acknowledge, wants_page))

    def flush(self) -> None:
        """Commit what has ended, as soon as no other commit is running."""
        self._timers.cancel("flush")
        if self._calls.is_running("commit"):
            self._flush_again = True  # the batch grows meanwhile; `_committed` comes back for it
            return
        size = self._size_of_next()
        batch, self._batch = self._batch[:size], self._batch[size:]
        if batch:
            self._committing += batch
            results = [entry.result for entry in batch]
            wanted = {entry.result.visited.visit.key for entry in batch if entry.wants_page}
            access = self._runtime.store_access
            self._calls.run(lambda: access.commit(results, wanted), partial(self._committed, batch), kind="commit")

    def _size_of_next(self) -> int:
        """Return how many visits of the batch the next commit takes: fewer if their pages have very many links."""
        size, found = 0, 0
        for entry in self._batch[: self._options.commit.visits]:
            page = entry.result.visited.page
            found += len(page.links) + len(page.listed) if page is not None else 0
            if size and found > URLS_OF_COMMIT:
                break
            size += 1
        return size

    def stop(self) -> None:
        """From now on, commit each result at once."""
        self._is_stopped = True

    def abandon(self, error: BaseException) -> None:
        """Tell everybody who waits for a commit that there will be none."""
        self._timers.cancel_all()
        for entry in (*self._batch, *self._committing, *self._comparing.values()):
            entry.acknowledge(error, None)
        self._batch.clear()
        self._committing.clear()
        self._comparing.clear()

    def _with_robots_file(self, visited: Visited, now: float) -> Visited:
        """Treat a robots.txt visit on which our own code failed as one without answer: its origin rests."""
        visit = visited.visit
        if visit.kind is not Kind.ROBOTS or visited.rules is not None or visited.outcome is Outcome.ABORTED:
            return visited
        if visited.reason is Reason.MIDDLEWARE_REFUSED:
            origin, expires = visit.origin, now + self._options.robots.retry_delay
            refused = RobotsFile(
                host=visit.key.host, origin=origin, status=NOT_ASKED, body=None, fetched=now, expires=expires
            )
            return replace(visited, rules=refused)
        home = self._frontier.hosts.get(visit.key.host)
        rules = judge_robots(
            status=0,
            reason=visited.reason,
            body=b"",
            fetched=now,
            previous=home.rules.get(visit.origin) if home is not None else None,
            host=visit.key.host,
            origin=visit.origin,
            retry=self._options.robots.retry_delay,
        )
        return replace(visited, rules=rules)

    def _log_outage(self, *, was_down: bool) -> None:
        is_down = self._frontier.network.is_down
        if is_down and not was_down:
            self._runtime.engine.count("frontier/outages")
            logger.warning(
                "Our network seems to be down: hosts that answered before cannot be reached. The crawl waits, tries "
                "one now and then, and blames nobody"
            )
        elif was_down and not is_down:
            logger.warning("The network is back; the crawl goes on")

    def _add(self, entry: _UncommittedVisit) -> None:
        """Add a result to the batch; commit now if it is full, or if nothing else can happen until then."""
        self._batch.append(entry)
        is_full = len(self._batch) >= self._options.commit.visits
        if is_full or entry.result.visited.visit.crashes or not self._frontier.has_more or self._is_stopped:
            self.flush()
        else:
            self._flush_later()

    def _flush_later(self) -> None:
        if "flush" not in self._timers:
            self._timers.set("flush", self._options.commit.interval, self.flush)

    def _committed(self, batch: Sequence[_UncommittedVisit], answer: CommitAnswer) -> None:
        engine, acknowledged = self._runtime.engine, []
        for entry in batch:
            visited = entry.result.visited
            key = visited.visit.key
            if key in answer.undecided:
                self._compare(entry, answer.undecided[key])
                continue
            if key in answer.late:
                engine.count("commit/late")
                visited = replace(visited, rules=None)
            else:
                engine.visit_acknowledged(self._frontier.hosts[visited.visit.host_key].name, visited)
                acknowledged.append(visited)
            self._frontier.visit_committed(visited)
            entry.acknowledge(None, answer.pages.get(key))
        self._committing = self._committing[len(batch) :]
        engine.batch_committed(answer.committed)
        self._on_commit(acknowledged, answer.committed)
        if self._flush_again or self._is_stopped or len(self._batch) >= self._options.commit.visits:
            self._flush_again = False
            self.flush()
        elif self._batch:
            self._flush_later()
        engine.wake()

    def _compare(self, entry: _UncommittedVisit, others: Sequence[SimilarArchivedPage]) -> None:
        """Hold a visit back until it is known whether its page is a near-duplicate."""
        visited = entry.result.visited
        self._comparing[visited.visit.key] = entry
        self._runtime.engine.count("duplicates/compared", len(others))
        then = partial(self._compared, visited.visit.key)
        if not others:  # the other page was in the same batch
            then({})
        else:
            assert self._runtime.page_reader is not None, "only pages with texts are undecided"
            self._runtime.page_reader.compare(visited, others, then)

    def _compared(self, key: Key, similarities: Similarities) -> None:
        entry = self._comparing.pop(key, None)
        if entry is not None:
            result = entry.result
            compared = {**result.compared, **similarities}
            self._add(entry._replace(result=replace(result, compared=compared, comparisons=result.comparisons + 1)))
