"""One worker: it asks the frontier what to load and lease, has the store do it, and commits results in batches.

The frontier decides and does no I/O; the store takes its time. In between the worker pumps: it carries what the
frontier wants to the store, and what the store answers back. What it needs of its process is its `Runtime`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from crawler.frontier.exploration import Exploration, LevelLimit
from crawler.frontier.frontier import Frontier
from crawler.frontier.priority import Draw
from crawler.items import Reason, Visit, Visited
from crawler.options import Options
from crawler.stores.contract.commits import CommitSummary
from crawler.stores.contract.frontier import GrantedLeases, Outlook
from crawler.stores.contract.partitions import Assignment
from crawler.stores.contract.urls import NewUrl
from crawler.worker.activation import LOOK_WHEN_IDLE, HostActivation
from crawler.worker.commits import Acknowledge, VisitCommits
from crawler.worker.link_rescoring import LinkRescoring
from crawler.worker.partitions import PartitionShare
from crawler.worker.remote_robots import RemoteRobots
from crawler.worker.runtime import Runtime, StoreCalls, Timers, ignore_result
from crawler.worker.template_jobs import TemplateJobs

RENEW_EVERY = 2.0  # seconds between two renewals of the lease, by which workers also learn of each other
RENEWALS_PER_LEASE = 6  # at least
SETTLE_RENEWALS = 1.5  # renewals after which all workers know of one that has joined
PUMP_EVERY = 0.02  # seconds
LEASE_EVERY = 0.05  # seconds between two leases while visits are under way: only hosts without a delay could use more
OUTLOOK_EVERY = 0.1  # seconds between two questions whether the crawl is over, at least


class Worker:
    """The traffic of one crawl process between frontier and store."""

    def __init__(
        self,
        runtime: Runtime,
        options: Options,
        frontier: Frontier,
        draw: Draw,
        look_when_idle: float = LOOK_WHEN_IDLE,
        renew_every: float = RENEW_EVERY,
    ) -> None:
        self.frontier = frontier
        self.is_done = False  # nothing is left to do within the horizon
        self._runtime = runtime
        self._options = options
        self._look_when_idle = look_when_idle
        self._renew_every = min(renew_every, options.partition_lease / RENEWALS_PER_LEASE)
        self._calls = StoreCalls(runtime.store_thread, self._pump_soon, runtime.engine.fail)
        self._timers = Timers(runtime.clock)
        self._share = PartitionShare(frontier, options.politeness.address_gap, self._renew_every)
        self._remote_robots = RemoteRobots()
        self._commits = VisitCommits(runtime, self._calls, frontier, options, self._batch_committed)
        self._template_jobs = TemplateJobs(runtime, self._calls, frontier)
        learner = runtime.store_access.learner
        self._exploration = (
            Exploration(options.focus.explore, options.focus.follow, learner.mean_relevance)
            if learner is not None
            else None
        )
        self._rescoring = LinkRescoring(runtime, self._calls, frontier)
        self._activation = HostActivation(
            runtime,
            self._calls,
            frontier,
            options,
            draw,
            self._share,
            self._remote_robots,
            on_work=self._continue,
            look_when_idle=look_when_idle,
            exploration=self._exploration,
        )
        self._lease_at = 0.0  # when to ask the store for leases again
        self._pages_of_others = 0
        self._has_outlook = False  # the store was asked whether the crawl is over, and nothing was due since
        self._is_stopped = False

    # ── the life of a worker ──

    def open(self, assignment: Assignment, leased: float) -> None:
        """Begin with the partitions that were leased at a time."""
        self._lease_renewed(leased + self._options.partition_lease, assignment)
        self._timers.set("renew", self._renew_every, self._renew_lease)
        self._rescoring.start()
        self._pump()

    def next_visit(self) -> Visit | None:
        """Return a visit whose time has come."""
        now = self._runtime.clock.now()
        visit = self.frontier.next(now)
        if visit is None and not self._is_stopped:
            self._pump_later(now)
        elif visit is not None and self._exploration is not None:
            self._exploration.visit_released()
        return visit

    def finish_visit(self, visited: Visited, acknowledge: Acknowledge, *, wants_page: bool = False) -> None:
        """Take the result of a visit; `acknowledge` is called when it is committed, with its page if it is wanted."""
        self._commits.finish_visit(visited, acknowledge, wants_page=wants_page)
        self._pump_soon()

    def add_url(self, new: NewUrl) -> None:
        """Add a URL that a spider has requested."""
        self.is_done = False
        access, clock = self._runtime.store_access, self._runtime.clock
        self._calls.run(lambda: access.store.urls.add([new], clock.now()), lambda _: self.look_now())

    def add_seed(self, seed: NewUrl) -> None:
        """Add a seed; the scope is extended by it when the store is next asked for seeds."""
        self.is_done = False
        access, clock = self._runtime.store_access, self._runtime.clock
        self._calls.run(lambda: access.store.urls.add_seeds([seed], clock.now()), lambda _: self.look_now())

    def look_now(self) -> None:
        """Ask the store for due hosts as soon as possible: it may have something new."""
        self._activation.look_now()

    def stop(self) -> None:
        """Release nothing more, and undo the leases of visits that were not sent."""
        self._stop_parts()
        self._undo_unsent_leases()

    def flush(self) -> None:
        """Commit what has ended."""
        self._commits.flush()

    def close(self) -> None:
        """Stop, and commit what is left; it is over when `is_waiting` is false."""
        self._timers.cancel_all()
        self.stop()
        self.flush()

    def abandon(self, error: BaseException) -> None:
        """End without a commit, and tell so to all who wait for one."""
        self._timers.cancel_all()
        self._stop_parts()
        self._commits.abandon(error)

    def _stop_parts(self) -> None:
        self._is_stopped = True
        self._commits.stop()
        self._template_jobs.stop()
        self._rescoring.stop()
        self._activation.stop()

    @property
    def workers(self) -> int:
        """How many workers are alive, this one included."""
        return self._share.assignment.workers

    @property
    def pages_of_others(self) -> int:
        """How many pages the other workers have fetched, as of their last renewal; also those that have ended."""
        return self._pages_of_others

    @property
    def is_waiting(self) -> bool:
        """Whether calls of the store are running, or will follow when pages are compared."""
        return self._calls.running > 0 or self._commits.is_comparing

    @property
    def uncommitted(self) -> int:
        """How many visits have ended and are not acknowledged."""
        return len(self._commits)

    def _batch_committed(self, acknowledged: Sequence[Visited], summary: CommitSummary) -> None:
        for visited in acknowledged:
            if visited.rules is not None:
                self._remote_robots.robots_committed(visited.rules.origin)
            if self._exploration is not None and visited.page is not None and visited.page.relevance is not None:
                self._exploration.page_judged(visited.visit.host_key, visited.page.relevance)
        self._template_jobs.add(summary.template_hosts)
        self.frontier.urls_found(summary.hosts_with_new, self._runtime.clock.now())
        if any(host not in self.frontier.hosts for host in summary.hosts_with_new):
            self._activation.look_at = 0.0

    # ── the pump: what the frontier wants ──

    def _continue(self) -> None:
        """Pump soon: something may have become ready, so the crawl is not over."""
        self.is_done = False
        self._pump_soon()

    def _pump_soon(self) -> None:
        """Pump once for all that happens within a moment: at speed, a dozen things happen per page."""
        if "pump soon" not in self._timers and not self._is_stopped:
            self._timers.set("pump soon", PUMP_EVERY, self._pump)

    def _pump_later(self, now: float) -> None:
        """Pump again when the frontier or the store may have something."""
        next_time = self.frontier.next_time(
            now, lease_from=self._lease_from(), release=self._runtime.engine.may_release()
        )
        delay = min(self._activation.next_look(now), next_time) - now
        self._timers.set("pump", max(0.0, delay), self._pump_due)

    def _pump_due(self) -> None:
        if self._activation.look_at <= self._runtime.clock.now():
            self._has_outlook = False
        self._runtime.engine.wake()
        self._pump()

    def _pump(self) -> None:
        """Do whatever can be done now, and come back when more can."""
        if self._is_stopped:
            return
        now = self._runtime.clock.now()
        if self.frontier.has_dropped():
            self._activation.look_soon()
        self._send_back_hosts(now)
        self._refill_queues(now)
        self._activation.look(now)
        self._lease_visits(now)
        self._queue_remote_robots(now)
        self._activation.claim()
        self._hold_hosts()
        self._postpone_visits()
        self._ask_outlook()
        self._pump_later(now)

    def _send_back_hosts(self, now: float) -> None:
        hosts = self.frontier.to_send_back() + self._activation.take_refused()
        if hosts:
            self._activation.look_at = 0.0  # others can take their places; calls of the store keep their order
            access = self._runtime.store_access
            self._calls.run(lambda: access.store.frontier.send_back(hosts, now), ignore_result)

    def _refill_queues(self, now: float) -> None:
        hosts = self.frontier.wants_refill()
        if hosts:
            access, length = self._runtime.store_access, self._activation.queue_length()
            limit = self._activation.level_limit()
            load = partial(access.store.frontier.load_all, hosts, now, length, limit)
            self._calls.run(load, partial(self._refilled, limit))

    def _refilled(self, limit: LevelLimit | None, loads: Sequence[tuple[int, Sequence[Visit]]]) -> None:
        for host, visits in loads:
            self._activation.visits_loaded(host, visits, limit)
            self.frontier.refill(host, visits, self._runtime.clock.now())

    def _queue_remote_robots(self, now: float) -> None:
        if self.frontier.remote_robots:
            visits = list(self.frontier.remote_robots)
            self.frontier.remote_robots.clear()
            self._remote_robots.robots_queued(visits, now)
            access = self._runtime.store_access
            self._calls.run(lambda: access.store.partitions.add_remote_robots(visits), lambda _: self.look_now())

    def _hold_hosts(self) -> None:
        holds = self.frontier.to_hold()
        if holds:
            access = self._runtime.store_access
            self._calls.run(lambda: access.store.frontier.hold(holds), ignore_result)

    def _postpone_visits(self) -> None:
        postponed = self.frontier.to_postpone()
        if postponed:
            self._runtime.engine.count("frontier/postponed", len(postponed))
            access, reason = self._runtime.store_access, Reason.ROBOTS_UNAVAILABLE
            self._calls.run(lambda: access.store.frontier.postpone(postponed, reason), ignore_result)

    # ── leases of visits ──

    def _lease_from(self) -> float:
        """When the next visits may be leased: while others are under way, several together."""
        if self._calls.is_running("lease"):
            return math.inf
        return self._lease_at if self.frontier.in_flight else 0.0

    def _lease_visits(self, now: float) -> None:
        visits = self.frontier.to_lease(now) if self._lease_from() <= now else []
        if visits:
            self._lease_at = now + LEASE_EVERY
            access = self._runtime.store_access
            self._calls.run(
                lambda: access.store.frontier.lease(access.owner, visits, now),
                partial(self._visits_leased, visits),
                kind="lease",
            )

    def _visits_leased(self, wanted: Sequence[Visit], leases: GrantedLeases) -> None:
        self._undo_leases(self.frontier.leases_granted(wanted, leases.granted, leases.held_until))
        if self._is_stopped:
            self._undo_unsent_leases()
        self._runtime.engine.wake()

    def _undo_unsent_leases(self) -> None:
        self._undo_leases(self.frontier.recall_leases())

    def _undo_leases(self, visits: Sequence[Visit]) -> None:
        if visits:
            access, clock = self._runtime.store_access, self._runtime.clock
            self._calls.run(lambda: access.store.frontier.unlease(visits, clock.now()), ignore_result)

    # ── other workers: leases of partitions ──

    def _renew_lease(self) -> None:
        now = self._runtime.clock.now()
        lease_end = now + self._options.partition_lease
        self._calls.run(self._runtime.store_access.renew_lease, partial(self._lease_renewed, lease_end), kind="renew")
        self._timers.set("renew", self._renew_every, self._renew_lease)
        for rules in self._remote_robots.time_out(now):
            self.frontier.robots_received(rules, now)

    def _lease_renewed(self, lease_end: float, assignment: Assignment) -> None:
        now, previous = self._runtime.clock.now(), self._share.assignment.partitions
        self._pages_of_others = max(self._pages_of_others, assignment.pages_of_others)
        is_unknown = now > self.frontier.lease_end  # the others did not know us, or believed us dead
        pause = SETTLE_RENEWALS * self._renew_every if is_unknown and assignment.workers > 1 else 0.0
        self.frontier.share_bandwidth(assignment.workers, now, pause)
        self._undo_leases(self._share.lease_renewed(assignment, lease_end, now))
        if assignment.partitions.items() - previous.items():
            self.look_now()
            self._template_jobs.add_unfinished()
        if not self._activation.is_entering:  # hosts on their way in may be of partitions to be released
            self._release_partitions()
            self._hand_over_addresses(now)
        self._runtime.engine.lease_renewed()

    def _release_partitions(self) -> None:
        if partitions := self._share.to_release():
            access = self._runtime.store_access
            self._calls.run(
                lambda: access.store.partitions.release(access.owner, partitions), ignore_result, kind="release"
            )

    def _hand_over_addresses(self, now: float) -> None:
        if addresses := self._share.to_hand_over(now):
            access = self._runtime.store_access
            self._calls.run(lambda: access.store.partitions.hand_over_addresses(access.owner, addresses), ignore_result)

    # ── the end ──

    @property
    def _is_quiet(self) -> bool:
        """Whether nothing that could bring new work is under way in memory."""
        is_busy = self._commits or self._activation.is_entering or self._template_jobs.is_running
        return self.frontier.is_quiet and not is_busy

    def _ask_outlook(self) -> None:
        """When nothing is left in memory, ask the store whether anything is left at all."""
        if not self.is_done and not self._has_outlook and not self._calls.running and self._is_quiet:
            access = self._runtime.store_access
            self._calls.run(lambda: access.store.frontier.outlook(), self._take_outlook, kind="outlook")

    def _take_outlook(self, outlook: Outlook) -> None:
        now = self._runtime.clock.now()
        if not self._is_quiet:
            return
        next_due = outlook.next_due if outlook.next_due is not None else math.inf
        if outlook.leased or next_due <= now + self._options.crawl.horizon:
            self._activation.look_at = min(max(next_due, now + OUTLOOK_EVERY), now + self._look_when_idle)
            self._has_outlook = True  # `_pump_due` asks again at that time
        else:
            self.is_done = True
            self._runtime.engine.wake()
