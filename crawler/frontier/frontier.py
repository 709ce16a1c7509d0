"""Which URL next, and when? The window of the frontier that lies in memory.

Mercator's two halves. The front lies in the store: hosts with URLs due, in priority levels. The back lies here: one
queue per active host, and a heap that holds for each the earliest time at which it may be visited.

Life of a host here: *activated* with some of its due URLs; *idle* in the heap until its time comes; *busy* while one of
its URLs is being leased or visited (so a host never has two connections); *refilled* when its queue is empty and the
store may have more; *sent back* when it had its turn and the window is full; *dropped* when the store has nothing due and
nothing of it is uncommitted.

Nothing here does I/O or reads a clock. Whoever drives the frontier asks it what it wants (`wants_hosts`,
`wants_refill`, `to_lease`, `to_send_back`, `to_hold`, `to_postpone`, `errands`), does that with the store, and tells it the answer (`activate`, `refill`, `leased`); `next`
gives a visit whose time has come; `ended` and `committed` report what became of it.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct
from msgspec.structs import replace

from crawler.frontier.bandwidth import Bandwidth
from crawler.frontier.gates import Gate, Gates
from crawler.frontier.network import Network
from crawler.frontier.politeness import HostClock, Politeness
from crawler.frontier.supply import Supply
from crawler.frontier.trust import Source, Trust
from crawler.items import CrawlLimits, Key, Kind, Outcome, RobotsFile, Visit, Visited
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of

NO_HOLDS: Mapping[int, float] = {}
CRASHES = 5  # crawl processes that may die over a URL before it is visited with nothing else in flight


class HostLoad(Struct, frozen=True, kw_only=True):
    """A host and the next of its due URLs, as the store has them."""

    host: int
    name: str
    clock: HostClock
    partition: int = 0
    epoch: int
    visits: Sequence[Visit]
    rules: Sequence[RobotsFile]
    address: str = ""  # to which it was last connected
    trust: Mapping[Source, Trust] = {}  # in what it says of its pages
    soft404: bytes = b""  # sketch of what it shows for pages that it does not have
    template: bytes = b""  # shingles that are on most of its pages


@dataclass(slots=True, kw_only=True)
class BackQueue:
    """One active host."""

    host: int
    name: str
    clock: HostClock
    partition: int
    epoch: int
    queue: deque[Visit] = field(default_factory=deque)
    errands: deque[Visit] = field(default_factory=deque)
    rules: dict[str, RobotsFile] = field(default_factory=dict)
    asking_rules: set[str] = field(default_factory=set)  # origins whose robots.txt is on its way
    trust: Mapping[Source, Trust] = field(default_factory=dict)
    soft404: bytes = b""
    template: bytes = b""
    group: Gate | None = None
    address: Gate | None = None
    busy: bool = False
    in_heap: bool = False  # or in line at a gate
    entry: int = 0  # that which counts of its entries in the heap
    uncommitted: int = 0
    refilling: bool = False
    drained: bool = False  # the store had nothing more due when it was last asked
    leaving: bool = False  # it is somebody else's, or will be


class Frontier:
    """The back queues of the active hosts, and the visits on their way."""

    def __init__(
        self,
        politeness: Politeness,
        *,
        active_hosts: int,
        in_flight: int,
        ahead: float,
        most_hosts: int = 0,
        bandwidth: float = 0.0,
    ) -> None:
        self.politeness = politeness
        self.network = Network()
        self.supply = Supply()
        self.connections = in_flight
        self.lease_end = 0.0  # of the partitions: nothing is released at or after it
        self.quiet_until = 0.0  # somebody else may have visited a server until then, its gap counted
        self.hosts: dict[int, BackQueue] = {}
        self.in_flight: dict[Key, Visit] = {}
        self.errands: deque[Visit] = deque()  # visits that another host than their own must be activated for
        self.window = active_hosts  # how many hosts there is room for
        self._most_hosts = max(active_hosts, most_hosts)
        self._bandwidth = Bandwidth(bandwidth)
        self._ahead = (
            ahead  # leases are taken at most this long before the host's time, so that a commit does not delay it
        )
        self._gates = Gates()
        self._idle: list[tuple[float, int, int | Gate]] = []  # (ready at, order, a host or a gate with hosts in line)
        self._leased: list[tuple[float, int, Visit]] = []  # granted, waiting for their time
        self._leasing: dict[Key, float] = {}  # asked of the store → ready at
        self._refills: list[int] = []
        self._sent_back: list[int] = []  # hosts that made room for others
        self._held: list[tuple[int, float]] = []  # hosts whose visiting hours are over, until then
        self._postponed: list[tuple[Visit, float]] = []  # URLs of origins whose robots.txt cannot be had, until then
        self._solo: deque[Visit] = deque()
        self._alone: Key | None = None  # the URL that is being visited with nothing else in flight
        self._order = 0
        self._has_dropped = False

    # ── what it wants ──

    def has_dropped(self) -> bool:
        """Whether any host is active no more; asked once."""
        dropped, self._has_dropped = self._has_dropped, False
        return dropped

    def wants_hosts(self) -> int:
        """How many more hosts there is room for."""
        return max(0, self.window - len(self.hosts))

    def widen(self, now: float) -> None:
        """Make room for more hosts if connections are free, and none of those that are here is ready."""
        ready = any(heap and heap[0][0] <= now for heap in (self._leased, self._idle))
        if self.room > 0 and not ready and not self.network.is_down:
            self.window = min(self.window + self.window // 8 + 1, self._most_hosts)

    def wants_refill(self) -> list[int]:
        """Hosts whose queue is empty; asked once."""
        refills, self._refills = self._refills, []
        return refills

    def to_postpone(self) -> list[tuple[Visit, float]]:
        """URLs that must wait in the store until a time, with their origin; asked once."""
        postponed, self._postponed = self._postponed, []
        return postponed

    def to_send_back(self) -> list[int]:
        """Hosts that have more to visit and make room for others; asked once."""
        hosts, self._sent_back = self._sent_back, []
        return hosts

    def to_hold(self) -> list[tuple[int, float]]:
        """Hosts that must not be asked before a time; asked once."""
        held, self._held = self._held, []
        return held

    def to_lease(self, now: float) -> list[Visit]:
        """Visits whose host may be asked within a moment; each must be answered by `leased`."""
        if self._alone is not None:
            return []
        if self._solo:
            return self._lease_alone(now)
        chosen: list[Visit] = []
        room = self.room
        if self.network.is_down:
            # One visit now and then tells when the network is back; all others wait, and nobody is blamed.
            is_probe_due = now >= self.network.next_probe and not (self.in_flight or self._leasing or self._leased)
            room = min(room, 1) if is_probe_due else 0
        if not self._idle or self._idle[0][0] > now + self._ahead / 2:
            return []  # so that several are leased at once
        while room > len(chosen) and self._idle and self._idle[0][0] <= now + self._ahead:
            ready, order, what = heapq.heappop(self._idle)
            back = self._called(what, order) if isinstance(what, int) else self._first_in_line(what)
            if back is None:
                continue
            back.in_heap = False
            if self._waits_at_a_gate(back, ready) or self._is_closed(back, max(now, ready), now):
                continue
            visit = self._choose(back, now) if back.clock.next_visit <= ready else None
            if visit is None:
                self._settle(back)
                continue
            self._pass_gates(back)
            if visit.crashes >= CRASHES:
                self._solo.append(visit)
                continue
            self._leasing[visit.key] = ready
            chosen.append(visit)
        return chosen

    def next(self, now: float) -> Visit | None:
        """A leased visit whose time has come."""
        # Since the lease its host may have been told to rest longer, or an answer of its server may have ended.
        while self._leased and (due := self._not_before(self._leased[0][2])) > self._leased[0][0]:
            heapq.heapreplace(self._leased, (due, *self._leased[0][1:]))
        if not self._leased or self._leased[0][0] > now or now >= self.lease_end:
            if self.room > 0:
                self.supply.nothing_ready(now)
            return None
        if self._bandwidth.open_at(now) > now:
            return None
        visit = heapq.heappop(self._leased)[2]
        self.in_flight[visit.key] = visit
        self.supply.something_ready(now)
        self._bandwidth.asked(visit.key, now)
        return visit

    def next_time(self, now: float, *, lease_from: float = 0.0, release: bool = True) -> float:
        """When `to_lease`, which is not asked before a time, or `next` will have something, if nothing else happens."""
        times = []
        if release and self._leased and now < self.lease_end:
            times.append(max(self._leased[0][0], self._bandwidth.open_at(now)))
        if self._idle and self.room > 0 and not self._solo and self._alone is None:
            ready = max(self._idle[0][0] - self._ahead / 2, lease_from)
            if not self.network.is_down:
                times.append(ready)
            elif not (self.in_flight or self._leasing or self._leased):
                times.append(max(ready, self.network.next_probe))
        return max(now, min(times, default=math.inf))

    def is_bandwidth_spent(self, now: float) -> bool:
        return self._bandwidth.open_at(now) > now

    @property
    def room(self) -> int:
        """How many more visits could be on their way."""
        return self.connections - len(self.in_flight) - len(self._leasing) - len(self._leased)

    @property
    def has_more(self) -> bool:
        """Whether any visit is on its way or waits for its time; else only what is committed can bring more."""
        return bool(self.in_flight or self._leased or self._leasing or self._idle)

    @property
    def is_quiet(self) -> bool:
        """Nothing is leased, in flight, uncommitted or about to be."""
        waiting = (self.in_flight, self._leased, self._leasing, self._solo, self.errands)
        to_tell = (self._postponed, self._held, self._sent_back)
        return (
            not any(waiting)
            and not any(to_tell)
            and not any(
                back.queue or back.errands or back.busy or back.uncommitted or back.refilling
                for back in self.hosts.values()
            )
        )

    # ── what it is told ──

    def activate(self, load: HostLoad, now: float, errand: Visit | None = None) -> None:
        """Take a host in, perhaps to have it asked for another origin's robots.txt."""
        back = self.hosts.get(load.host)
        if back is None:
            back = BackQueue(
                host=load.host, name=load.name, clock=load.clock, partition=load.partition, epoch=load.epoch
            )
            back.rules = {rules.origin: rules for rules in load.rules}
            back.trust, back.soft404, back.template = load.trust, load.soft404, load.template
            back.queue.extend(load.visits)
            back.drained = not load.visits
            self.hosts[load.host] = back
            group = self.politeness.group_of(load.name)
            back.group = self._gates.enter(group, 1, now) if group else None
            self._meet(back, load.address, now)
        # A host that is active already keeps what it has: the store's rows may be older than what is in memory.
        if errand is not None:
            back.errands.append(replace(errand, epoch=back.epoch))
        if back.leaving:
            self._empty(back)
        self._keep_hold(back, now)
        self._settle(back)

    def refill(self, host: int, visits: Iterable[Visit], now: float) -> None:
        """The answer to `wants_refill`."""
        back = self.hosts[host]
        back.refilling = False
        before, alone = len(back.queue), {visit.key for visit in self._solo}
        if not back.leaving:
            back.queue.extend(visit for visit in visits if visit.key not in alone)
        back.drained = len(back.queue) == before
        self._keep_hold(back, now)
        self._settle(back)

    def found(self, hosts: Iterable[int], now: float) -> None:
        """New URLs of these hosts were committed."""
        for host in hosts:
            back = self.hosts.get(host)
            if back is not None and back.drained and not back.leaving and back.clock.held_until <= now:
                back.drained = False
                self._settle(back)

    def rules_came(self, rules: RobotsFile, now: float) -> None:
        """An errand was run by somebody else, or cannot be run for now."""
        back = self.hosts.get(rules.host)
        if back is not None:
            back.rules[rules.origin] = rules
            self._obey(rules)
            back.asking_rules.discard(rules.origin)
            self._keep_hold(back, now)
            self._settle(back)

    def hurry(self, host: int) -> None:
        """Something of this host cannot wait: its queue is read anew, for that comes first in the store."""
        back = self.hosts.get(host)
        if back is not None and not back.refilling and not back.leaving:
            back.queue.clear()
            back.refilling = True
            self._refills.append(host)

    def leased(
        self, asked: Collection[Visit], granted: Iterable[Visit], held: Mapping[int, float] = NO_HOLDS
    ) -> list[Visit]:
        """The store's answer to `to_lease`: visits that it did not grant are forgotten, hosts that are held wait in it.

        Leases that are not needed any more, because their host was sent away meanwhile.
        """
        given = {visit.key: visit for visit in granted}
        for visit in asked:
            ready = self._leasing.pop(visit.key)
            if visit.key in given:
                self._order += 1
                heapq.heappush(self._leased, (ready, self._order, given[visit.key]))
            else:
                if self._alone == visit.key:
                    self._alone = None
                self._forget_asking(visit)
                back = self.hosts[visit.host_key]
                self._leave_gates(back)
                if (until := held.get(back.host)) is not None:
                    back.clock = replace(back.clock, held_until=max(back.clock.held_until, until))
                    self._keep_hold(back, ready)
                self._settle(back)
        leaving = [
            visit.host_key for visit in asked if visit.host_key in self.hosts and self.hosts[visit.host_key].leaving
        ]
        return self.send_away(leaving) if leaving else []

    def send_away(self, hosts: Iterable[int]) -> list[Visit]:
        """These hosts are somebody else's, or will be: nothing more of them is visited. Leases that are not needed any more.

        Those with something on its way go when that is committed; when they are gone they are not among `hosts` any more.
        """
        going = {host for host in hosts if host in self.hosts}
        unused = [entry[2] for entry in self._leased if entry[2].host_key in going]
        self._leased = [entry for entry in self._leased if entry[2].host_key not in going]
        heapq.heapify(self._leased)
        for visit in unused:
            if visit.key == self._alone:
                self._alone = None
            self._leave_gates(self.hosts[visit.host_key])
            self._forget_asking(visit)
        for visit in [visit for visit in self._solo if visit.host_key in going]:
            self._solo.remove(visit)
            self._leave_gates(self.hosts[visit.host_key])
        for host in going:
            back = self.hosts.get(host)
            if back is not None:
                self._empty(back)
                self._settle(back)
        return unused

    def _empty(self, back: BackQueue) -> None:
        back.leaving = True
        back.queue.clear()
        while back.errands:
            self._forget_asking(back.errands.popleft())
        if back.in_heap:
            back.in_heap, back.entry = False, 0
            for gate in self._gates_of(back):
                if back.host in gate.waiting:
                    gate.waiting.remove(back.host)

    def hosts_in(self, partitions: Collection[int]) -> list[int]:
        """The active hosts of some partitions."""
        return [back.host for back in self.hosts.values() if back.partition in partitions]

    def hosts_at(self, address: str) -> list[int]:
        """The active hosts of a server."""
        return [back.host for back in self.hosts.values() if back.address is not None and back.address.name == address]

    def recall(self) -> list[Visit]:
        """Give back everything that is leased but not yet handed out."""
        visits = [entry[2] for entry in self._leased]
        self._leased.clear()
        for visit in visits:
            self._leave_gates(self.hosts[visit.host_key])
            self._forget_asking(visit)
        return visits

    def ended(self, visited: Visited, now: float) -> dict[int, HostClock]:
        """A visit is over; its host may be asked again after its rest. Returns the clocks that changed."""
        visit = visited.visit
        del self.in_flight[visit.key]
        back = self.hosts[visit.host_key]
        self.network.note(back.host, visited, now)
        back.clock = self.politeness.after(back.name, back.clock, visited, now, excused=self.network.is_down)
        clocks = self._obey(visited.rules)
        clocks[back.host] = back.clock
        self._leave_gates(back, visited, now)
        self._measure(back, visited)
        back.uncommitted += 1
        if visit.kind is Kind.PROBE and visited.page is not None:
            back.soft404 = visited.page.soft404
        self._keep_hold(back, now)
        self._settle(back)
        return clocks

    def _measure(self, back: BackQueue, visited: Visited) -> None:
        fetched = visited.fetched
        size = len(fetched.head) + len(fetched.body) if fetched is not None and fetched.was_sent else None
        self._bandwidth.came(visited.visit.key, size)
        if fetched is not None and fetched.was_sent and back.clock.held_until <= fetched.ended:
            cycle = back.clock.next_visit - fetched.started
            self.supply.note(cycle, fetched.ended - fetched.started, len(self.hosts))

    def committed(self, visited: Visited) -> None:
        """What a visit brought is durable; rules that it brought are known from now on."""
        back = self.hosts[visited.visit.host_key]
        back.uncommitted -= 1
        if self._alone == visited.visit.key:
            self._alone = None
        if visited.rules is not None and visited.rules.host in self.hosts:
            self.hosts[visited.rules.host].rules[visited.rules.origin] = visited.rules
        self._forget_asking(visited.visit)
        self._settle(back)

    # ── gates ──

    def restore_gates(self, times: Mapping[str, float]) -> None:
        """Groups that others have visited, with the time before which they rest."""
        self._gates.restore(times)

    def gate_times(self, visited: Visited) -> dict[str, tuple[float, float]]:
        """What must be kept of the groups that a visit moved: name → not before, rest."""
        hosts = [visited.visit.host_key] + ([visited.rules.host] if visited.rules is not None else [])
        gates = [back.group for host in hosts if (back := self.hosts.get(host)) is not None]
        return {gate.name: (gate.next_visit, gate.rest) for gate in gates if gate is not None}

    def _meet(self, back: BackQueue, address: str, now: float) -> None:
        """A host's server is known; it may have moved."""
        if not address or (back.address is not None and back.address.name == address):
            return
        gate = self._gates.enter(address, self.politeness.address_connections, now)
        gate.next_visit = max(gate.next_visit, self.quiet_until)
        if back.address is not None:
            self._gates.leave(back.address)
        back.address = gate

    def _not_before(self, visit: Visit) -> float:
        """When the host, the group and the server of a leased visit may be asked."""
        back = self.hosts[visit.host_key]
        return max(back.clock.next_visit, *(gate.next_visit for gate in self._gates_of(back)), 0.0)

    @staticmethod
    def _gates_of(back: BackQueue) -> list[Gate]:
        return [gate for gate in (back.group, back.address) if gate is not None]

    def _waits_at_a_gate(self, back: BackQueue, at: float) -> bool:
        """Whether the host must stand in line; it is called when the gate opens."""
        for gate in self._gates_of(back):
            if not gate.is_open(at):
                gate.waiting.append(back.host)
                back.in_heap = True
                self._announce(gate)
                return True
        return False

    def _called(self, host: int, order: int) -> BackQueue | None:
        """The host of an entry in the heap, unless it was sent away since."""
        back = self.hosts.get(host)
        return back if back is not None and back.entry == order else None

    def _first_in_line(self, gate: Gate) -> BackQueue | None:
        gate.in_heap = False
        back = self.hosts[gate.waiting.popleft()] if gate.waiting and gate.busy < gate.limit else None
        self._announce(gate)
        return back

    def _announce(self, gate: Gate) -> None:
        """Have the next in line called as soon as the gate is open."""
        if gate.waiting and not gate.in_heap and gate.busy < gate.limit:
            self._order += 1
            heapq.heappush(self._idle, (gate.next_visit, self._order, gate))
            gate.in_heap = True

    def _pass_gates(self, back: BackQueue) -> None:
        back.busy = True
        for gate in self._gates_of(back):
            gate.busy += 1

    def _leave_gates(self, back: BackQueue, visited: Visited | None = None, now: float = 0.0) -> None:
        """A host is not busy any more; after a visit its group and its server rest."""
        back.busy = False
        gates = self._gates_of(back)
        for gate in gates:
            gate.busy -= 1
        if visited is not None and visited.fetched is not None and visited.fetched.was_sent:
            self._rest_gates(back, visited, visited.fetched.ended)
            self._meet(back, visited.fetched.address, now)
        for gate in gates:
            self._announce(gate)

    def _rest_gates(self, back: BackQueue, visited: Visited, ended: float) -> None:
        if back.group is not None:
            rest = self.politeness.rest(back.name, back.clock, ended)
            # The group is asked for patience with the host; that the host is dead is no matter of the group.
            until = back.clock.next_visit if visited.outcome is Outcome.BUSY else ended + rest
            back.group.rest = rest
            back.group.next_visit = max(back.group.next_visit, until)
        if back.address is not None:
            gap = self.politeness.gap_of(back.name)
            back.address.next_visit = max(back.address.next_visit, ended + gap)

    # ── how it decides ──

    def _keep_hold(self, back: BackQueue, now: float) -> None:
        """A host that must be left alone waits in the store, which gives its URLs again when the hold ends."""
        until = back.clock.held_until
        if until <= now:
            return
        back.queue.clear()
        back.drained = True
        while back.errands:
            self._forget_asking(back.errands.popleft())  # it is still noted in the store, which knows of the hold

    def _is_closed(self, back: BackQueue, at: float, now: float) -> bool:
        """Whether the host's visiting hours are over; it waits in the store then."""
        if back.clock.crawl_limits.visit_time is None and back.clock.held_until <= at:
            return False
        clock = self.politeness.opened(back.clock, at)
        if clock.held_until <= at:
            return False
        back.clock = clock
        self._held.append((back.host, clock.held_until))
        self._keep_hold(back, now)
        self._settle(back)
        return True

    def _obey(self, rules: RobotsFile | None) -> dict[int, HostClock]:
        """What a robots.txt asks for binds at once; where a host's origins ask for different things, the most."""
        back = self.hosts.get(rules.host) if rules is not None else None
        if rules is None or back is None:
            return {}
        others = [known.crawl_limits for origin, known in back.rules.items() if origin != rules.origin]
        back.clock = clock = self.politeness.obey(back.name, back.clock, _combined([rules.crawl_limits, *others]))
        if back.group is not None and clock.last_end:
            rest = self.politeness.rest(back.name, clock, clock.last_end)
            back.group.next_visit = max(back.group.next_visit, clock.last_end + rest)
        return {back.host: clock}

    def _choose(self, back: BackQueue, now: float) -> Visit | None:
        """The next visit of a host: an errand, the next URL of its queue, or the robots.txt that this URL needs."""
        if back.errands:
            return back.errands.popleft()
        for _ in range(len(back.queue)):
            visit = back.queue.popleft()
            origin = origin_of(visit.url)
            rules = back.rules.get(origin)
            if origin in back.asking_rules:
                back.queue.append(visit)
                continue
            if rules is not None and rules.held_until > now:
                self._postponed.append((visit, rules.held_until))
                continue
            if rules is not None and rules.expires > now and not rules.location:
                return _told(visit, back)
            back.queue.appendleft(visit)
            back.asking_rules.add(origin)
            robots = self._robots_visit(back, origin, rules)
            if robots.host_key == back.host:
                return robots
            self.errands.append(robots)
        return None

    @staticmethod
    def _robots_visit(back: BackQueue, origin: str, rules: RobotsFile | None) -> Visit:
        home = f"{origin}/robots.txt"
        url = rules.location if rules is not None and rules.location else home
        return Visit(
            key=key_of(home),
            url=url,
            kind=Kind.ROBOTS,
            epoch=back.epoch,
            hops=rules.hops if rules is not None and rules.location else 0,
            origin=origin,
            host_key=key_of(url).host,
        )

    def _forget_asking(self, visit: Visit) -> None:
        """An origin whose robots.txt visit came to nothing asks again at its next page."""
        home = self.hosts.get(visit.key.host)
        if visit.kind is Kind.ROBOTS and home is not None:
            home.asking_rules.discard(visit.origin)
            self._settle(home)

    def _settle(self, back: BackQueue) -> None:
        """Put a host where it belongs: the heap, the refills, or out."""
        if back.busy or back.in_heap or back.refilling or self.hosts.get(back.host) is not back:
            return
        if back.errands or self._has_choice(back):
            self._order += 1
            heapq.heappush(self._idle, (back.clock.next_visit, self._order, back.host))
            back.in_heap, back.entry = True, self._order
        elif back.queue:
            return  # all of its URLs wait for a robots.txt
        elif not back.drained and not back.leaving and len(self.hosts) < self.window:
            back.refilling = True
            self._refills.append(back.host)
        elif not back.uncommitted and (not back.asking_rules or back.leaving):
            if not back.drained and not back.leaving:
                self._sent_back.append(back.host)  # it had its turn; others may be waiting for theirs
            self._drop(back)

    def _drop(self, back: BackQueue) -> None:
        del self.hosts[back.host]
        self._has_dropped = True
        for gate in self._gates_of(back):
            self._gates.leave(gate)

    @staticmethod
    def _has_choice(back: BackQueue) -> bool:
        if not back.asking_rules:
            return bool(back.queue)
        return any(origin_of(visit.url) not in back.asking_rules for visit in back.queue)

    def _lease_alone(self, now: float) -> list[Visit]:
        """A URL over which several processes died is visited with nothing else in flight."""
        if self.in_flight or self._leasing or self._leased:
            return []
        visit = self._solo.popleft()
        self._alone = visit.key
        self._leasing[visit.key] = max(now, self.hosts[visit.host_key].clock.next_visit)
        return [visit]


def _combined(crawl_limits: Sequence[CrawlLimits]) -> CrawlLimits:
    """The longest delay, the lowest rate, the first visiting hours."""
    rates = [limits.request_rate for limits in crawl_limits if limits.request_rate is not None]
    return CrawlLimits(
        crawl_delay=max(
            (limits.crawl_delay for limits in crawl_limits if limits.crawl_delay is not None), default=None
        ),
        request_rate=max(rates, key=lambda rate: rate.seconds / max(rate.requests, 1), default=None),
        visit_time=next((limits.visit_time for limits in crawl_limits if limits.visit_time is not None), None),
    )


def _told(visit: Visit, back: BackQueue) -> Visit:
    """With what its host's other pages have taught."""
    if not back.soft404 and not back.template:
        return visit
    return replace(visit, soft404=back.soft404, template=back.template)
