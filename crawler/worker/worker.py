"""One worker: it asks the frontier what to load and lease, has the store do it, and commits results in batches.

The frontier decides and does no I/O; the store takes its time. What a worker needs of its surroundings is its `Runtime`:
under Scrapy the event loop and the store's thread, in a simulation a virtual clock.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

from msgspec.structs import replace

from crawler.frontier.frontier import Frontier, HostLoad
from crawler.frontier.priority import Draw
from crawler.items import Key, Reason, RobotsFile, Visit, Visited
from crawler.options import Options
from crawler.stores.contract.commits import CommitSummary, VisitResult
from crawler.stores.contract.frontier import GrantedLeases, Outlook
from crawler.stores.contract.partitions import Assignment
from crawler.stores.contract.similarity import TemplateJob, TemplateResult, UndecidedPage
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import NewUrl
from crawler.urls.hosts import host_of
from crawler.worker.committer import CommitAnswer, SimilarArchivedPage
from crawler.worker.partitions import PartitionShare
from crawler.worker.remote_robots import RemoteRobots

logger = logging.getLogger(__name__)
T = TypeVar("T")
Done = Callable[[BaseException | None], None]  # called when a visit is acknowledged, or cannot be

KEEP_EVERY = 2.0  # how often a worker tells the others that it lives, and sees what they do; at least six times a lease
LOOK_EVERY = 0.5  # how often the store is asked for hosts that have become due, or were seeded from outside
LOOK_WHEN_IDLE = 5.0  # at least this often when nothing happens: others may have put something into it
PUMP_EVERY = 0.02  # seconds
LEASE_EVERY = 0.05  # at most, while visits are on their way: only hosts that need no rest could use more
HOSTS_A_LOOK = 500


class Timer(Protocol):
    def cancel(self) -> None: ...


class Runtime(Protocol):
    """What a worker needs: time, timers, the store's thread, names. The store is used only inside `in_store`."""

    owner: str

    @property
    def store(self) -> Store: ...

    def now(self) -> float: ...

    def later(self, delay: float, act: Callable[[], object]) -> Timer: ...

    def in_store(self, act: Callable[[], T], then: Callable[[T], None]) -> None:
        """Do something after all that was asked for before, and then something with the answer."""

    def commit(self, batch: Sequence[VisitResult]) -> CommitAnswer:
        """Acknowledge visits. In the store."""

    def compare(
        self, visited: Visited, others: Sequence[SimilarArchivedPage], then: Callable[[Mapping[int, float]], None]
    ) -> None:
        """Find out how similar a page is to others, as far as that can be told; then do something."""

    def study(self, lesson: TemplateJob, then: Callable[[TemplateResult], None]) -> None:
        """Have the template of a host learned, or taken out of sketches; then do something."""

    def reconsider(self, unsure: UndecidedPage, then: Callable[[Mapping[int, float]], None]) -> None:
        """Find out how similar an archived page is to others; then do something."""

    def renew_lease(self) -> Assignment:
        """Extend the leases of our partitions, and take over what the dead have left. In the store."""

    def lease_renewed(self) -> None:
        """The leases were extended."""

    def new_seeds(self) -> list[str]:
        """Seeds that came from outside since the last call. In the store."""

    def extend_scope(self, seeds: Sequence[str]) -> Callable[[], None]:
        """Learn of new seeds; what then remains to be done in the store."""

    def known_address(self, host: str) -> str | None:
        """The address of a host, if it need not be looked up."""

    def look_up(self, host: str, then: Callable[[], None]) -> None:
        """Find out the address of a host; then, whether it was found or not, do something."""

    def may_release(self) -> bool:
        """Whether a visit that is ready could be sent now."""

    def wake(self) -> None:
        """Something may be ready, or everything over."""

    def acknowledged(self, host: str, visited: Visited) -> None:
        """A visit's result is durable."""

    def committed(self, committed: CommitSummary) -> None:
        """A batch is durable."""

    def count(self, what: str, times: int = 1) -> None: ...

    def fail(self, error: BaseException) -> None:
        """Nothing can be done any more."""


class StoreLook(NamedTuple):
    """What the store has for a worker."""

    seeds: Sequence[str]  # that came from outside
    urgent: Sequence[int]  # active hosts that have something which cannot wait
    loads: Sequence[HostLoad]  # hosts to activate
    next_due: float  # when others are due
    errands: Sequence[tuple[Visit, HostLoad]]  # that were noted for our hosts
    rules: Sequence[RobotsFile]  # that others have fetched for us


class Worker:
    """One worker's traffic with the store."""

    def __init__(
        self,
        surroundings: Runtime,
        options: Options,
        frontier: Frontier,
        draw: Draw,
        patience: float = LOOK_WHEN_IDLE,
        keep_every: float = KEEP_EVERY,
    ) -> None:
        self.frontier = frontier
        self.is_done = False  # nothing is left to do, within the horizon
        self._around = surroundings
        self._options = options
        self._draw = draw
        self._patience = patience
        self._keep_every = min(keep_every, options.partition_lease / 6)
        self._batch: list[tuple[VisitResult, Done]] = []
        self._committing: list[tuple[VisitResult, Done]] = []
        self._compared: dict[Key, tuple[VisitResult, Done]] = {}  # visits that are being compared with other pages
        self._studied: dict[int, None] = {}  # hosts whose template is being learned, in order
        self._flush_again = False
        self._asked = 0  # questions to the store that are not answered yet
        self._named: set[int] = set()  # hosts whose names are being looked up, and that are being claimed
        self._claims: list[tuple[HostLoad, Visit | None, str]] = []  # with the addresses of their servers
        self._refused: list[int] = []  # hosts that are not ours to visit
        self._tenancy = PartitionShare(frontier, options.politeness.address_gap, self._keep_every)
        self._errands = RemoteRobots()
        self._busy: set[str] = set()  # questions of which one at a time is enough
        self._look_at = 0.0  # when to ask the store for hosts
        self._lease_at = 0.0  # when to ask it for leases again
        self._is_idle = False  # nothing happened since the last look
        self._stopped = False
        self._timers: dict[str, Timer] = {}

    def open(self, tenure: Assignment, leased: float) -> None:
        """Begin with what was leased at a time."""
        self._kept(leased + self._options.partition_lease, tenure)
        self._set_timer("keep", self._keep_every, self._keep)
        self._pump()

    def next(self) -> Visit | None:
        """A visit whose time has come."""
        now = self._around.now()
        visit = self.frontier.next(now)
        if visit is None and not self._stopped:
            self._come_back(now)
        return visit

    def stop(self) -> None:
        """Release nothing more, and give back what was not sent."""
        self._stopped = True
        self._give_back()

    def close(self) -> None:
        """Release nothing more, and commit what is left; it is over when `is_waiting` is false."""
        self._cancel_timers()
        self._give_back()
        self.flush()

    def abandon(self, error: BaseException) -> None:
        """Tell everybody who waits for a commit that there will be none."""
        self._cancel_timers()
        for _, done in (*self._batch, *self._committing, *self._compared.values()):
            done(error)
        self._batch.clear()
        self._committing.clear()
        self._compared.clear()

    @property
    def workers(self) -> int:
        """That are alive, this one included."""
        return self._tenancy.tenure.workers

    @property
    def pages_of_others(self) -> int:
        """That other workers have fetched, as far as they have told."""
        return self._tenancy.tenure.pages_of_others

    @property
    def is_waiting(self) -> bool:
        """Whether the store has not answered yet, or it is not known yet what to ask."""
        return self._asked > 0 or bool(self._compared)

    @property
    def uncommitted(self) -> int:
        """Visits that have ended and are not acknowledged."""
        return len(self._batch) + len(self._committing) + len(self._compared)

    def add(self, new: NewUrl) -> None:
        """Make a URL known that was asked for."""
        self.is_done = False
        self._ask(lambda: self._around.store.urls.add([new], self._around.now()), lambda _: self.look_now())

    def look_now(self) -> None:
        """The store may have something new."""
        self.is_done = False
        self._look_at = 0.0
        self._pump_soon()

    # ── results ──

    def settle(self, visited: Visited, done: Done) -> None:
        """Take in what became of a visit."""
        now, visit = self._around.now(), visited.visit
        was_down = self.frontier.network.is_down
        clocks = self.frontier.ended(visited, now)
        self._note_network(was_down=was_down)
        clock = clocks[visit.host_key]
        excused = self.frontier.network.is_down or clock.backoff > 1  # it is not this URL that fails
        after = self._options.revisit.after(visited, now, clock.next_visit, excused=excused)
        gates = self.frontier.gate_times(visited)
        self._line_up(VisitResult(visited=visited, next_state=after, clocks=clocks, gates=gates), done)
        self._pump_soon()

    def _line_up(self, settled: VisitResult, done: Done) -> None:
        """For the next commit."""
        self._batch.append((settled, done))
        is_full = len(self._batch) >= self._options.commit.visits
        if is_full or settled.visited.visit.crashes or not self.frontier.has_more or self._stopped:
            self.flush()
        elif "flush" not in self._timers:
            self._set_timer("flush", self._options.commit.interval, self.flush)

    def _note_network(self, *, was_down: bool) -> None:
        is_down = self.frontier.network.is_down
        if is_down and not was_down:
            self._around.count("frontier/outages")
            logger.warning(
                "Our network seems to be down: hosts that answered before cannot be reached. The crawl waits, tries one "
                "now and then, and blames nobody"
            )
        elif was_down and not is_down:
            logger.warning("The network is back; the crawl goes on")

    def flush(self) -> None:
        """Commit what has ended."""
        self._cancel_timer("flush")
        if "commit" in self._busy:
            self._flush_again = True  # the batch grows meanwhile; `_committed` comes back for it
            return
        most = self._options.commit.visits
        batch, self._batch = self._batch[:most], self._batch[most:]
        if batch:
            self._committing += batch
            settled = [entry[0] for entry in batch]
            self._ask(lambda: self._around.commit(settled), partial(self._committed, batch), one="commit")

    def _committed(self, batch: Sequence[tuple[VisitResult, Done]], answer: CommitAnswer) -> None:
        committed, late, undecided = answer
        for settled, done in batch:
            visited = settled.visited
            if visited.visit.key in undecided:
                self._compare(settled, done, undecided[visited.visit.key])
                continue
            if visited.visit.key in late:
                self._around.count("commit/late")
                visited = replace(visited, rules=None)
            else:
                self._around.acknowledged(self.frontier.hosts[visited.visit.host_key].name, visited)
            if visited.rules is not None:
                self._errands.done(visited.rules.origin)
            self.frontier.committed(visited)
            done(None)
        self._committing = self._committing[len(batch) :]
        self._around.committed(committed)
        self._study_all(committed.template_hosts)
        self.frontier.urls_found(committed.hosts_with_new, self._around.now())
        if any(host not in self.frontier.hosts for host in committed.hosts_with_new):
            self._look_at = 0.0
        if self._flush_again or self._stopped or len(self._batch) >= self._options.commit.visits:
            self._flush_again = False
            self.flush()
        elif self._batch and "flush" not in self._timers:
            self._set_timer("flush", self._options.commit.interval, self.flush)
        self._around.wake()

    # ── pages that must be read again ──

    def _compare(self, settled: VisitResult, done: Done, others: Sequence[SimilarArchivedPage]) -> None:
        """Hold a visit back until it is known whether its page is a near-duplicate."""
        self._compared[settled.visited.visit.key] = (settled, done)
        self._around.count("duplicates/compared", len(others))
        then = partial(self._compared_with, settled.visited.visit.key)
        if others:
            self._around.compare(settled.visited, others, then)
        else:  # the other was in the batch itself
            then({})

    def _compared_with(self, key: Key, found: Mapping[int, float]) -> None:
        if key in self._compared:
            settled, done = self._compared.pop(key)
            found = {**settled.compared, **found}
            self._line_up(replace(settled, compared=found, comparisons=settled.comparisons + 1), done)

    def _ask_for_lessons(self) -> None:
        """What somebody has left to learn of hosts that are ours now."""
        store, owner = self._around.store, self._around.owner
        self._ask(lambda: store.similarity.template_hosts(owner), self._study_all, one="lessons")

    def _study_all(self, hosts: Collection[int]) -> None:
        for host in hosts:
            self._study(host)

    def _study(self, host: int) -> None:
        """Learn the template of a host, and take it out of what is known of its pages, a part at a time."""
        if host not in self._studied and not self._stopped:
            self._studied[host] = None
            if len(self._studied) == 1:  # one after another: each has many pages in memory
                self._next_lesson()

    def _next_lesson(self) -> None:
        host = next(iter(self._studied), None)
        if host is not None and not self._stopped:
            self._ask(partial(self._around.store.similarity.next_template_job, host), partial(self._begin_study, host))

    def _begin_study(self, host: int, lesson: TemplateJob | None) -> None:
        if lesson is not None and not self._stopped:
            self._around.study(lesson, self._end_study)
        else:
            self._studied.pop(host, None)
            self._next_lesson()

    def _end_study(self, learned: TemplateResult) -> None:
        around, back = self._around, self.frontier.hosts.get(learned.host)
        if back is not None:
            back.template = learned.template
        around.count("duplicates/studied", len(learned.sketches))
        self._ask(
            lambda: around.store.similarity.store_template(learned, around.now()),
            partial(self._go_on_studying, learned.host),
        )

    def _go_on_studying(self, host: int, unsure: Sequence[UndecidedPage]) -> None:
        """First with the pages of which it must be found out what they are, one by one, then with the next part."""
        if unsure and not self._stopped:
            self._around.reconsider(unsure[0], partial(self._reconsidered, host, unsure))
        else:
            self._next_lesson()  # of the same host, until there are no more

    def _reconsidered(self, host: int, unsure: Sequence[UndecidedPage], compared: Mapping[int, float]) -> None:
        around, first = self._around, unsure[0]
        decide = partial(around.store.similarity.decide, first, compared, around.now())
        self._ask(decide, lambda _: self._go_on_studying(host, unsure[1:]))

    # ── what the frontier wants ──

    def _pump_soon(self) -> None:
        """Pump once for all that happens within a moment: at speed, a dozen things happen per page."""
        if "pump soon" not in self._timers and not self._stopped:
            self._set_timer("pump soon", PUMP_EVERY, self._pump)

    def _pump(self) -> None:
        """Do whatever can be done now, and come back when more can."""
        self._timers.pop("pump soon", None)
        if self._stopped:
            return
        now = self._around.now()
        if self.frontier.has_dropped():
            self._look_soon()
        self._send_back(now)
        self._refill(now)
        self._activate(now)
        self._lease(now)
        self._note_errands(now)
        self._claim()
        self._postpone()
        self._look_ahead()
        self._come_back(now)

    def _ask(self, act: Callable[[], T], then: Callable[[T], None], one: str = "") -> None:
        """Have something done in the store; of a kind with a name, one at a time."""
        if one and one in self._busy:
            return
        self._busy.add(one)
        self._asked += 1
        self._around.in_store(act, partial(self._answered, then, one))

    def _answered(self, then: Callable[[T], None], one: str, answer: T) -> None:
        self._asked -= 1
        self._busy.discard(one)
        try:
            then(answer)
            self._pump_soon()
        except Exception as error:
            self._around.fail(error)

    def _note_errands(self, now: float) -> None:
        if self.frontier.remote_robots:
            errands = list(self.frontier.remote_robots)
            self.frontier.remote_robots.clear()
            self._errands.noted(errands, now)
            self._ask(lambda: self._around.store.partitions.add_remote_robots(errands), lambda _: self.look_now())

    def _postpone(self) -> None:
        held = self.frontier.to_hold()
        if held:
            self._ask(lambda: self._around.store.frontier.hold(held), _nothing_more)
        postponed = self.frontier.to_postpone()
        if postponed:
            self._around.count("frontier/postponed", len(postponed))
            self._ask(lambda: self._around.store.frontier.postpone(postponed, Reason.ROBOTS_UNAVAILABLE), _nothing_more)

    def _send_back(self, now: float) -> None:
        hosts = self.frontier.to_send_back() + self._refused
        self._refused = []
        if hosts:
            self._look_at = 0.0  # others can take their places; the store is asked in this order
            self._ask(lambda: self._around.store.frontier.send_back(hosts, now), _nothing_more)

    def _queue_length(self) -> int:
        """How many URLs of a host are read ahead: as many in all, however many hosts there are."""
        options = self._options
        return max(
            options.frontier.queue_length
            * options.frontier.active_hosts
            // max(self.frontier.window, options.frontier.active_hosts),
            1,
        )

    def _refill(self, now: float) -> None:
        length = self._queue_length()
        hosts = self.frontier.wants_refill()
        if hosts:
            self._ask(lambda: self._around.store.frontier.load_all(hosts, now, length), self._refilled)

    def _refilled(self, loads: Sequence[tuple[int, Sequence[Visit]]]) -> None:
        for host, visits in loads:
            self.frontier.refill(host, visits, self._around.now())

    def _activate(self, now: float) -> None:
        if now < self._look_at or "activate" in self._busy:
            return
        self._look_at = now + LOOK_EVERY
        self._is_idle = True
        room = min(max(self.frontier.wants_hosts() - len(self._named), 0), HOSTS_A_LOOK)
        if not self.frontier.wants_hosts():
            self.frontier.widen(now)
        around, active, length = self._around, set(self.frontier.hosts) | self._named, self._queue_length()

        awaited, running = list(self._errands.awaited), set(self._errands.running)

        def look() -> StoreLook:
            store, owner = around.store, around.owner
            seeds, urgent = around.new_seeds(), store.frontier.urgent(active, now)
            loads = store.frontier.activate(owner, now, room, length, active, self._draw) if room else []
            return StoreLook(
                seeds=seeds,
                urgent=urgent,
                loads=loads,
                next_due=store.frontier.next_due(now),
                errands=[
                    (errand, load)
                    for errand in store.partitions.remote_robots(owner, now)
                    if errand.origin not in running
                    and (load := store.frontier.load_host(owner, errand.host_key, host_of(errand.url), now, 0))
                    is not None
                ],
                rules=[rules for origin in awaited if (rules := store.urls.find_robots(origin)) is not None],
            )

        self._ask(look, partial(self._activated, room), one="activate")

    def _activated(self, room: int, look: StoreLook) -> None:
        seeds, urgent, loads, next_due, errands, rules = look
        now = self._around.now()
        if seeds:
            self._ask(self._around.extend_scope(seeds), lambda _: self.look_now())
        for host in urgent:
            self.frontier.reload_queue(host)
        for load in loads:
            self.is_done = False
            if self._tenancy.may_visit(load):
                self._name(load)
        for errand, load in errands:
            self._errands.running[errand.origin] = now
            self._name(load, errand)
        for came in rules:
            if self._errands.is_news(came):
                self.frontier.robots_received(came, now)
        if loads and len(loads) == room:
            self._look_at = 0.0
        elif room and not loads and self._is_idle:
            self._look_at = max(self._look_at, min(next_due, self._around.now() + self._patience))

    def _look_soon(self) -> None:
        """Others can be activated, and a host that was has its next URL due at a time that nobody has asked for."""
        self._is_idle = False
        self._look_at = min(self._look_at, self._around.now() + LOOK_EVERY)

    def _name(self, load: HostLoad, errand: Visit | None = None) -> None:
        """A host becomes active when its server is known: it may share it with others that are being visited."""
        if self._around.known_address(load.name) is not None:
            self._named_now(load, errand)
            return
        self._named.add(load.host)
        self._around.look_up(load.name, partial(self._looked_up, load, errand))

    def _looked_up(self, load: HostLoad, errand: Visit | None) -> None:
        self._named.discard(load.host)
        if not self._stopped:
            self._named_now(load, errand)
            self._pump_soon()

    def _named_now(self, load: HostLoad, errand: Visit | None) -> None:
        address = self._around.known_address(load.name) or load.address
        if self._tenancy.is_shared and address and load.host not in self.frontier.hosts:
            self._named.add(load.host)
            self._claims.append((load, errand, address))
        else:
            self._enter(load, errand, address)

    def _claim(self) -> None:
        """A server is visited by one worker alone: other hosts on it may be somebody else's."""
        if self._claims and "claim" not in self._busy:
            claims, self._claims = self._claims, []
            hosts = [(load.host, address) for load, _, address in claims]
            claim = partial(self._around.store.partitions.claim_hosts, self._around.owner, hosts)
            self._ask(claim, partial(self._claimed, claims), one="claim")

    def _claimed(self, claims: Sequence[tuple[HostLoad, Visit | None, str]], allowed: Collection[int]) -> None:
        for load, errand, address in claims:
            self._named.discard(load.host)
            if load.host in allowed and self._tenancy.may_visit(load):
                self._enter(load, errand, address)
            else:
                self._refused.append(load.host)
                if errand is not None:
                    self._errands.running.pop(errand.origin, None)

    def _enter(self, load: HostLoad, errand: Visit | None, address: str) -> None:
        if not self._stopped:
            now = self._around.now()
            clock = self._options.politeness.clamp_future(load.clock, now)
            self.frontier.activate(replace(load, address=address, clock=clock), now, errand)

    def _lease_from(self) -> float:
        """When the next lease may be asked for: while others are on their way, several in one."""
        if "lease" in self._busy:
            return math.inf
        return self._lease_at if self.frontier.in_flight else 0.0

    def _lease(self, now: float) -> None:
        visits = self.frontier.to_lease(now) if self._lease_from() <= now else []
        if visits:
            self._lease_at = now + LEASE_EVERY
            around = self._around
            lease = partial(around.store.frontier.lease, around.owner, visits, now)
            self._ask(lease, partial(self._leased, visits), one="lease")

    def _leased(self, asked: Sequence[Visit], leased: GrantedLeases) -> None:
        self._unlease(self.frontier.leased(asked, leased.granted, leased.held_until))
        if self._stopped:
            self._give_back()
        self._around.wake()

    def _give_back(self) -> None:
        self._unlease(self.frontier.recall_leases())

    def _unlease(self, visits: Sequence[Visit]) -> None:
        if visits:
            around = self._around
            self._ask(lambda: around.store.frontier.unlease(visits, around.now()), _nothing_more)

    # ── other workers ──

    def _keep(self) -> None:
        now = self._around.now()
        self._ask(self._around.renew_lease, partial(self._kept, now + self._options.partition_lease), one="keep")
        self._set_timer("keep", self._keep_every, self._keep)
        for rules in self._errands.given_up(now):
            self.frontier.robots_received(rules, now)

    def _kept(self, lease_end: float, tenure: Assignment) -> None:
        around, now, had = self._around, self._around.now(), self._tenancy.tenure.partitions
        self._unlease(self._tenancy.kept(tenure, lease_end, now))
        if tenure.partitions.items() - had.items():
            self.look_now()
            self._ask_for_lessons()
        if not self._named:  # what was read of others is not here yet
            if giving := self._tenancy.to_release():
                self._ask(lambda: around.store.partitions.release(around.owner, giving), _nothing_more, one="release")
            if free := self._tenancy.to_hand_over(now):
                self._ask(lambda: around.store.partitions.hand_over_addresses(around.owner, free), _nothing_more)
        around.lease_renewed()

    # ── the end ──

    def _look_ahead(self) -> None:
        """When nothing is left in memory, ask the store whether anything is left at all."""
        waiting = self._asked or self._named or self._batch or self._compared or self._studied
        if not self.is_done and not waiting and self.frontier.is_quiet:
            self._ask(self._around.store.frontier.outlook, self._looked_ahead, one="outlook")

    def _looked_ahead(self, outlook: Outlook) -> None:
        now = self._around.now()
        if not self.frontier.is_quiet or self._batch or self._named or self._compared or self._studied:
            return
        next_due = outlook.next_due if outlook.next_due is not None else math.inf
        if outlook.leased or next_due <= now + self._options.crawl.horizon:
            self._look_at = min(max(next_due, now + LOOK_EVERY / 5), now + self._patience)
            self._busy.add("outlook")  # until then: `_tick` takes it out
        else:
            self.is_done = True
            self._around.wake()

    def _come_back(self, now: float) -> None:
        look_at = self._look_at if "activate" not in self._busy else now + LOOK_EVERY
        next_time = self.frontier.next_time(now, lease_from=self._lease_from(), release=self._around.may_release())
        self._set_timer("pump", max(0.0, min(look_at, next_time) - now), self._tick)

    def _tick(self) -> None:
        if self._look_at <= self._around.now():
            self._busy.discard("outlook")
        self._around.wake()
        self._pump()

    def _set_timer(self, name: str, delay: float, act: Callable[[], object]) -> None:
        self._cancel_timer(name)
        self._timers[name] = self._around.later(delay, act)

    def _cancel_timers(self) -> None:
        self._stopped = True
        for name in list(self._timers):
            self._cancel_timer(name)

    def _cancel_timer(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()


def _nothing_more(_: object) -> None:
    pass
