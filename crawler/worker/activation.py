"""Which hosts become active next? Ask the store for hosts that are due, learn their addresses, claim shared servers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from crawler.frontier.exploration import Exploration, LevelLimit
from crawler.frontier.frontier import Frontier, HostLoad
from crawler.frontier.priority import Draw
from crawler.items import RobotsFile, Visit
from crawler.options import Options
from crawler.urls.hosts import host_of
from crawler.worker.partitions import PartitionShare
from crawler.worker.remote_robots import RemoteRobots
from crawler.worker.runtime import Runtime, StoreAccess, StoreCalls

LOOK_EVERY = 0.5  # seconds between two questions to the store for hosts that are due or were seeded by others
LOOK_WHEN_IDLE = 5.0  # seconds between them, at most, while nothing happens: other processes may add URLs
MOST_HOSTS = 500  # that are loaded at once
FOCUSED_QUEUE = 8  # URLs of a host that are loaded at once in a focused crawl: meanwhile better ones may be found


class _DueWork(NamedTuple):
    """What the store has for a worker."""

    seeds: Sequence[str]  # from other processes
    urgent: Sequence[int]  # active hosts with URLs that cannot wait
    loads: Sequence[HostLoad]  # hosts to activate
    next_due: float  # when further hosts become due
    robots_visits: Sequence[tuple[Visit, HostLoad]]  # queued for our hosts, with the host of each
    robots_files: Sequence[RobotsFile]  # that other workers have fetched for us


class _ResolvedHost(NamedTuple):
    """A host whose address is known."""

    load: HostLoad
    robots_visit: Visit | None  # robots.txt of another host's origin, to be fetched from this one
    address: str


class HostActivation:
    """The hosts of one worker on their way from the store into the frontier's window."""

    def __init__(
        self,
        runtime: Runtime,
        calls: StoreCalls,
        frontier: Frontier,
        options: Options,
        draw: Draw,
        share: PartitionShare,
        remote_robots: RemoteRobots,
        *,
        on_work: Callable[[], None],
        look_when_idle: float,
        exploration: Exploration | None = None,
    ) -> None:
        self.look_at = 0.0  # when to ask the store next
        self._runtime = runtime
        self._calls = calls
        self._frontier = frontier
        self._options = options
        self._draw = draw
        self._share = share
        self._remote_robots = remote_robots
        self._on_work = on_work  # called when something may have become ready
        self._look_when_idle = look_when_idle
        self._exploration = exploration  # of a focused crawl
        self._is_idle = False  # nothing has happened since the last question
        self._is_stopped = False
        self._entering: set[int] = set()  # hosts whose names are being looked up, or whose addresses are claimed
        self._unclaimed: list[_ResolvedHost] = []
        self._refused: list[int] = []  # hosts whose servers another worker visits

    @property
    def is_entering(self) -> bool:
        """Whether hosts are on their way into the window."""
        return bool(self._entering)

    def next_look(self, now: float) -> float:
        """Return when `look` should be called next."""
        return self.look_at if not self._calls.is_running("activate") else now + LOOK_EVERY

    def stop(self) -> None:
        """Activate no more hosts."""
        self._is_stopped = True

    def look_now(self) -> None:
        """Ask as soon as possible: the store may have something new."""
        self.look_at = 0.0
        self._on_work()

    def look_soon(self) -> None:
        """Ask soon: a host has left the window, so another has room, and its own next URL has a due time."""
        self._is_idle = False
        self.look_at = min(self.look_at, self._runtime.clock.now() + LOOK_EVERY)

    def take_refused(self) -> list[int]:
        """Return, once, the hosts that may not become active because another worker visits their servers."""
        refused, self._refused = self._refused, []
        return refused

    def queue_length(self) -> int:
        """Return how many URLs of a host are loaded: the same number in all, however many hosts are active."""
        frontier = self._options.frontier
        most = frontier.queue_length if self._exploration is None else min(frontier.queue_length, FOCUSED_QUEUE)
        return max(most * frontier.active_hosts // max(self._frontier.window, frontier.active_hosts), 1)

    def level_limit(self) -> LevelLimit | None:
        """Return which URLs may be loaded in a focused crawl; None = all."""
        return self._exploration.limit if self._exploration is not None else None

    def visits_loaded(self, host: int, visits: Iterable[Visit], limit: LevelLimit | None) -> None:
        """Note what was loaded from the store with a limit."""
        if self._exploration is not None and limit is not None and host in limit.hosts:
            self._exploration.urls_loaded(sum(visit.level > limit.deepest for visit in visits))

    # ── what is due ──

    def look(self, now: float) -> None:
        """Ask the store for hosts, seeds and robots.txt visits, if it is time."""
        if now < self.look_at or self._calls.is_running("activate"):
            return
        self.look_at = now + LOOK_EVERY
        self._is_idle = True
        wanted = self._frontier.wants_hosts()
        if not wanted:
            self._frontier.widen(now)
        most = min(max(wanted - len(self._entering), 0), MOST_HOSTS)
        active = set(self._frontier.hosts) | self._entering
        find = partial(
            self._find_work,
            now,
            most,
            active,
            self.queue_length(),
            limit := self.level_limit(),
            list(self._remote_robots.awaited),
            set(self._remote_robots.running),
        )
        self._calls.run(find, partial(self._take_work, most, limit), kind="activate")

    def _find_work(
        self,
        now: float,
        most: int,
        active: Collection[int],
        queue_length: int,
        limit: LevelLimit | None,
        awaited: Sequence[str],
        running: Collection[str],
    ) -> _DueWork:
        """Read what is due. In the store's thread."""
        access = self._runtime.store_access
        store, owner = access.store, access.owner
        return _DueWork(
            seeds=access.new_seeds(),
            urgent=store.frontier.urgent(active, now),
            loads=(store.frontier.activate(owner, now, most, queue_length, active, self._draw, limit) if most else []),
            next_due=store.frontier.next_due(now),
            robots_visits=_robots_visits(access, now, running),
            robots_files=[rules for origin in awaited if (rules := store.urls.find_robots(origin)) is not None],
        )

    def _take_work(self, most: int, limit: LevelLimit | None, work: _DueWork) -> None:
        now = self._runtime.clock.now()
        if work.seeds:
            self._runtime.engine.seeds_added(work.seeds)
            open_scope = partial(self._runtime.store_access.open_scope, work.seeds)
            self._calls.run(open_scope, lambda _: self.look_now())
        for host in work.urgent:
            self._frontier.reload_queue(host)
        if work.loads:
            self._on_work()
        for load in work.loads:
            self.visits_loaded(load.host, load.visits, limit)
            if self._share.may_visit(load):
                self._enter(load, None)
        for visit, load in work.robots_visits:
            self._remote_robots.running[visit.origin] = now
            self._enter(load, visit)
        for rules in work.robots_files:
            if self._remote_robots.accept_robots(rules):
                self._frontier.robots_received(rules, now)
        if work.loads and len(work.loads) == most:
            self.look_at = 0.0
        elif most and not work.loads and self._is_idle:
            self.look_at = max(self.look_at, min(work.next_due, now + self._look_when_idle))

    # ── into the window ──

    def _enter(self, load: HostLoad, robots_visit: Visit | None) -> None:
        """Activate a host once its address is known: its server may be that of other hosts, too."""
        names = self._runtime.host_names
        if names.known_address(load.name) is not None:
            self._claim_or_activate(load, robots_visit)
            return
        self._entering.add(load.host)
        names.look_up(load.name, partial(self._looked_up, load, robots_visit))

    def _looked_up(self, load: HostLoad, robots_visit: Visit | None) -> None:
        self._entering.discard(load.host)
        if not self._is_stopped:
            self._claim_or_activate(load, robots_visit)
            self._on_work()

    def _claim_or_activate(self, load: HostLoad, robots_visit: Visit | None) -> None:
        address = self._runtime.host_names.known_address(load.name) or load.address
        host = _ResolvedHost(load, robots_visit, address)
        if self._share.is_shared and address and load.host not in self._frontier.hosts:
            self._entering.add(load.host)
            self._unclaimed.append(host)
        else:
            self._activate(host)

    def claim(self) -> None:
        """Claim the servers of hosts: one worker alone visits a server, and its other hosts may be another's."""
        if self._unclaimed and not self._calls.is_running("claim"):
            access, hosts = self._runtime.store_access, self._unclaimed
            self._unclaimed = []
            addresses = [(host.load.host, host.address) for host in hosts]
            self._calls.run(
                lambda: access.store.partitions.claim_hosts(access.owner, addresses),
                partial(self._claimed, hosts),
                kind="claim",
            )

    def _claimed(self, hosts: Sequence[_ResolvedHost], allowed: Collection[int]) -> None:
        for host in hosts:
            load = host.load
            self._entering.discard(load.host)
            if load.host in allowed and self._share.may_visit(load):
                self._activate(host)
            else:
                self._refused.append(load.host)
                if host.robots_visit is not None:
                    self._remote_robots.running.pop(host.robots_visit.origin, None)

    def _activate(self, host: _ResolvedHost) -> None:
        if not self._is_stopped:
            now = self._runtime.clock.now()
            clock = self._options.politeness.clamp_future(host.load.clock, now)
            self._frontier.activate(replace(host.load, address=host.address, clock=clock), now, host.robots_visit)


def _robots_visits(access: StoreAccess, now: float, running: Collection[str]) -> list[tuple[Visit, HostLoad]]:
    """Return the robots.txt visits that are queued for our hosts and not under way, each with its host."""
    store, owner = access.store, access.owner
    return [
        (visit, load)
        for visit in store.partitions.remote_robots(owner, now)
        if visit.origin not in running
        and (load := store.frontier.load_host(owner, visit.host_key, host_of(visit.url), now, 0)) is not None
    ]
