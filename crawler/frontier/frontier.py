"""Which URL is visited next, and when? The window of the frontier that is in memory.

The two halves of Mercator's frontier. The front queues are in the store: hosts with due URLs, in priority levels. The
back queues are here: one per active host, and a heap with the earliest time at which each host may be visited.

Life of a host here: *activated* with some of its due URLs; *idle* in the heap until its politeness clock runs out;
*busy* while one of its URLs is being leased or visited (so a host never has two connections); *refilled* when its queue
is empty and the store may have more; *sent back* when its queue is empty and the window is full; *dropped* when the
store has nothing due and nothing of it is uncommitted.

Nothing here does I/O or reads a clock. The caller asks the frontier what it needs (`wants_hosts`, `wants_refill`,
`to_lease`, `to_send_back`, `to_hold`, `to_postpone`, `remote_robots`), does that with the store, and passes the results
in (`activate`, `refill`, `leases_granted`); `next` returns a visit that is ready; `visit_ended` and `visit_committed`
report its end.
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
SOLO_AFTER_CRASHES = 5  # crawl processes that may die during visits of a URL before it is visited alone


class HostLoad(Struct, frozen=True, kw_only=True):
    """A host and the next of its due URLs, as loaded from the store."""

    host: int
    name: str
    clock: HostClock
    partition: int = 0
    epoch: int
    visits: Sequence[Visit]
    rules: Sequence[RobotsFile]
    address: str = ""  # of the server to which it last connected
    trust: Mapping[Source, Trust] = {}  # in its statements about changes of its pages
    soft404: bytes = b""  # sketch of the page that it shows for missing pages
    template: bytes = b""  # shingles that occur on most of its pages


@dataclass(slots=True, kw_only=True)
class BackQueue:
    """One active host: its clock, its queue of due URLs, and what is known of its robots.txt files."""

    host: int
    name: str
    clock: HostClock
    partition: int
    epoch: int
    queue: deque[Visit] = field(default_factory=deque)
    remote_robots: deque[Visit] = field(default_factory=deque)  # other origins' robots.txt, fetched from this host
    rules: dict[str, RobotsFile] = field(default_factory=dict)
    robots_pending: set[str] = field(default_factory=set)  # origins whose robots.txt is being fetched
    trust: Mapping[Source, Trust] = field(default_factory=dict)
    soft404: bytes = b""
    template: bytes = b""
    group: Gate | None = None
    address: Gate | None = None
    busy: bool = False  # a visit is being leased, is leased or is in flight
    in_heap: bool = False  # or in the queue of a gate
    entry: int = 0  # the number of its valid entry in the heap
    uncommitted: int = 0  # visits
    refilling: bool = False
    drained: bool = False  # the store had nothing more due at the last refill
    leaving: bool = False  # its partition belongs, or will belong, to another worker


class Frontier:
    """The back queues of the active hosts, and the visits that are leased or in flight."""

    def __init__(
        self,
        politeness: Politeness,
        *,
        active_hosts: int,
        in_flight: int,
        ahead: float,
        most_hosts: int,
        bandwidth: float,
    ) -> None:
        self.politeness = politeness
        self.network = Network()
        self.supply = Supply()
        self.connections = in_flight
        self.lease_end = 0.0  # of the partitions: no visit is released at or after it
        self.quiet_until = 0.0  # until then another worker's last visit to a server, and the gap after it, may count
        self.hosts: dict[int, BackQueue] = {}
        self.in_flight: dict[Key, Visit] = {}
        self.remote_robots: deque[Visit] = deque()  # robots.txt visits to hosts other than their origin's
        self.window = active_hosts  # how many hosts may be active
        self._most_hosts = max(active_hosts, most_hosts)
        self._bandwidth = Bandwidth(bandwidth)
        # Seconds before a host's time at which its visit is leased, so that a running commit does not delay it.
        self._lease_ahead = ahead
        self._gates = Gates()
        self._idle: list[tuple[float, int, int | Gate]] = []  # (ready at, order, a host or a gate with hosts waiting)
        self.leased: list[tuple[float, int, Visit]] = []  # granted by the store, waiting for their time
        self._leasing: dict[Key, float] = {}  # requested from the store → ready at
        self._refills: list[int] = []
        self._sent_back: list[int] = []  # hosts that made room for others
        self._held: list[tuple[int, float]] = []  # hosts whose visiting hours are over, and when they begin again
        self._postponed: list[tuple[Visit, float]] = []  # URLs whose robots.txt is unreachable, and until when
        self._solo_queue: deque[Visit] = deque()  # URLs that must be visited with nothing else in flight
        self._solo_key: Key | None = None  # the URL that is being visited so
        self._order = 0
        self._has_dropped = False

    # ── what the caller must do ──

    def has_dropped(self) -> bool:
        """Whether any host was dropped since the last call."""
        dropped, self._has_dropped = self._has_dropped, False
        return dropped

    def wants_hosts(self) -> int:
        """Return how many more hosts may become active."""
        return max(0, self.window - len(self.hosts))

    def widen(self, now: float) -> None:
        """Enlarge the window of active hosts if connections are free and no active host is ready."""
        ready = any(heap and heap[0][0] <= now for heap in (self.leased, self._idle))
        if self.free_connections > 0 and not ready and not self.network.is_down:
            self.window = min(self.window + self.window // 8 + 1, self._most_hosts)

    def wants_refill(self) -> list[int]:
        """Return the hosts whose queue must be refilled, each once."""
        refills, self._refills = self._refills, []
        return refills

    def to_postpone(self) -> list[tuple[Visit, float]]:
        """Return URLs that must wait in the store until a time because their robots.txt is unreachable, each once."""
        postponed, self._postponed = self._postponed, []
        return postponed

    def to_send_back(self) -> list[int]:
        """Return hosts that were dropped although the store may have more of them due, each once."""
        hosts, self._sent_back = self._sent_back, []
        return hosts

    def to_hold(self) -> list[tuple[int, float]]:
        """Return hosts that must not be visited before a time, each once."""
        held, self._held = self._held, []
        return held

    def to_lease(self, now: float) -> list[Visit]:
        """Return visits whose hosts are ready now or in a moment; their leases must be reported by `leases_granted`."""
        if self._solo_key is not None:
            return []
        if self._solo_queue:
            return self._lease_solo(now)
        chosen: list[Visit] = []
        room = self.free_connections
        if self.network.is_down:
            # One visit now and then probes whether the network is back; all others wait, and failures do not count.
            is_probe_due = now >= self.network.next_probe and not (self.in_flight or self._leasing or self.leased)
            room = min(room, 1) if is_probe_due else 0
        if not self._idle or self._idle[0][0] > now + self._lease_ahead / 2:
            return []  # so that several are leased at once
        while room > len(chosen) and self._idle and self._idle[0][0] <= now + self._lease_ahead:
            ready, order, what = heapq.heappop(self._idle)
            back = self._host_of_entry(what, order) if isinstance(what, int) else self._next_host_in_line(what)
            if back is None:
                continue
            back.in_heap = False
            if self._wait_at_gate(back, ready) or self._is_outside_visiting_hours(back, max(now, ready), now):
                continue
            visit = self._choose_visit(back, now) if back.clock.next_visit <= ready else None
            if visit is None:
                self._reschedule(back)
                continue
            self._enter_gates(back)
            if visit.crashes >= SOLO_AFTER_CRASHES:
                self._solo_queue.append(visit)
                continue
            self._leasing[visit.key] = ready
            chosen.append(visit)
        return chosen

    def next(self, now: float) -> Visit | None:
        """Return a leased visit that is ready, or None."""
        # Since the lease the rest of its host may have become longer, or a visit to its server may have ended.
        while self.leased and (due := self._not_before(self.leased[0][2])) > self.leased[0][0]:
            heapq.heapreplace(self.leased, (due, *self.leased[0][1:]))
        if not self.leased or self.leased[0][0] > now or now >= self.lease_end:
            if self.free_connections > 0:
                self.supply.nothing_ready(now)
            return None
        if self._bandwidth.available_at(now) > now:
            return None
        visit = heapq.heappop(self.leased)[2]
        self.in_flight[visit.key] = visit
        self.supply.something_ready(now)
        self._bandwidth.request_sent(visit.key, now)
        return visit

    def next_time(self, now: float, *, lease_from: float = 0.0, release: bool = True) -> float:
        """Return when `to_lease` (not called before `lease_from`) or `next` will have a visit, all else unchanged."""
        times = []
        if release and self.leased and now < self.lease_end:
            times.append(max(self.leased[0][0], self._bandwidth.available_at(now)))
        if self._idle and self.free_connections > 0 and not self._solo_queue and self._solo_key is None:
            ready = max(self._idle[0][0] - self._lease_ahead / 2, lease_from)
            if not self.network.is_down:
                times.append(ready)
            elif not (self.in_flight or self._leasing or self.leased):
                times.append(max(ready, self.network.next_probe))
        return max(now, min(times, default=math.inf))

    def share_bandwidth(self, workers: int, now: float, pause: float = 0.0) -> None:
        """Take the part of one of so many workers; `pause` so long first, if they do not know us yet."""
        self._bandwidth.divide(workers, now)
        if pause:
            self._bandwidth.pause(now + pause)

    def is_bandwidth_spent(self, now: float) -> bool:
        return self._bandwidth.available_at(now) > now

    @property
    def free_connections(self) -> int:
        """The number of free connections."""
        return self.connections - len(self.in_flight) - len(self._leasing) - len(self.leased)

    @property
    def has_more(self) -> bool:
        """Whether any visit is in flight, leased or waiting in the heap; else only a commit can bring more."""
        return bool(self.in_flight or self.leased or self._leasing or self._idle)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is queued, leased, in flight, uncommitted or to be reported to the store."""
        waiting = (self.in_flight, self.leased, self._leasing, self._solo_queue, self.remote_robots)
        to_tell = (self._postponed, self._held, self._sent_back)
        return (
            not any(waiting)
            and not any(to_tell)
            and not any(
                back.queue or back.remote_robots or back.busy or back.uncommitted or back.refilling
                for back in self.hosts.values()
            )
        )

    # ── what the caller reports ──

    def activate(self, load: HostLoad, now: float, robots_visit: Visit | None = None) -> None:
        """Activate a host, perhaps to fetch the robots.txt of another host's origin from it."""
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
            self._set_address(back, load.address, now)
        # A host that is active already keeps its state: the store's rows may be older than what is in memory.
        if robots_visit is not None:
            back.remote_robots.append(replace(robots_visit, epoch=back.epoch))
        if back.leaving:
            self._clear_queue(back)
        self._apply_hold(back, now)
        self._reschedule(back)

    def refill(self, host: int, visits: Iterable[Visit], now: float) -> None:
        """Add the due URLs that the store returned for a host of `wants_refill`."""
        back = self.hosts[host]
        back.refilling = False
        before, alone = len(back.queue), {visit.key for visit in self._solo_queue}
        if not back.leaving:
            back.queue.extend(visit for visit in visits if visit.key not in alone)
        back.drained = len(back.queue) == before
        self._apply_hold(back, now)
        self._reschedule(back)

    def urls_found(self, hosts: Iterable[int], now: float) -> None:
        """Note that new URLs of these hosts were committed: hosts without URLs may be refilled again."""
        for host in hosts:
            back = self.hosts.get(host)
            if back is not None and back.drained and not back.leaving and back.clock.held_until <= now:
                back.drained = False
                self._reschedule(back)

    def robots_received(self, rules: RobotsFile, now: float) -> None:
        """Apply a robots.txt that another worker has fetched, or that cannot be fetched for now."""
        back = self.hosts.get(rules.host)
        if back is not None:
            back.rules[rules.origin] = rules
            self._apply_robots(rules)
            back.robots_pending.discard(rules.origin)
            self._apply_hold(back, now)
            self._reschedule(back)

    def reload_queue(self, host: int) -> None:
        """Reload the queue of a host that has an urgent URL: the store returns that one first."""
        back = self.hosts.get(host)
        if back is not None and not back.refilling and not back.leaving:
            back.queue.clear()
            back.refilling = True
            self._refills.append(host)

    def leases_granted(
        self, requested: Collection[Visit], granted: Iterable[Visit], held: Mapping[int, float] = NO_HOLDS
    ) -> list[Visit]:
        """Take in the store's answer to `to_lease`: visits that it did not grant are dropped, held hosts wait in it.

        Returns leases that are no longer needed, because their host was sent away meanwhile.
        """
        granted_by_key = {visit.key: visit for visit in granted}
        for visit in requested:
            ready = self._leasing.pop(visit.key)
            if visit.key in granted_by_key:
                self._order += 1
                heapq.heappush(self.leased, (ready, self._order, granted_by_key[visit.key]))
            else:
                if self._solo_key == visit.key:
                    self._solo_key = None
                self._robots_visit_over(visit)
                back = self.hosts[visit.host_key]
                self._leave_gates(back)
                if (until := held.get(back.host)) is not None:
                    back.clock = replace(back.clock, held_until=max(back.clock.held_until, until))
                    self._apply_hold(back, ready)
                self._reschedule(back)
        leaving = [
            visit.host_key for visit in requested if visit.host_key in self.hosts and self.hosts[visit.host_key].leaving
        ]
        return self.withdraw_hosts(leaving) if leaving else []

    def withdraw_hosts(self, hosts: Iterable[int]) -> list[Visit]:
        """Stop visiting hosts whose partitions pass to another worker; returns leases that are no longer needed.

        Hosts with visits in flight or uncommitted are dropped when those are committed; then they are no longer in
        `hosts`.
        """
        leaving_hosts = {host for host in hosts if host in self.hosts}
        unneeded = [entry[2] for entry in self.leased if entry[2].host_key in leaving_hosts]
        self.leased = [entry for entry in self.leased if entry[2].host_key not in leaving_hosts]
        heapq.heapify(self.leased)
        for visit in unneeded:
            if visit.key == self._solo_key:
                self._solo_key = None
            self._leave_gates(self.hosts[visit.host_key])
            self._robots_visit_over(visit)
        for visit in [visit for visit in self._solo_queue if visit.host_key in leaving_hosts]:
            self._solo_queue.remove(visit)
            self._leave_gates(self.hosts[visit.host_key])
        for host in leaving_hosts:
            back = self.hosts.get(host)
            if back is not None:
                self._clear_queue(back)
                self._reschedule(back)
        return unneeded

    def _clear_queue(self, back: BackQueue) -> None:
        back.leaving = True
        back.queue.clear()
        while back.remote_robots:
            self._robots_visit_over(back.remote_robots.popleft())
        if back.in_heap:
            back.in_heap, back.entry = False, 0
            for gate in self._gates_of(back):
                if back.host in gate.waiting:
                    gate.waiting.remove(back.host)

    def hosts_in(self, partitions: Collection[int]) -> list[int]:
        """Return the active hosts of these partitions."""
        return [back.host for back in self.hosts.values() if back.partition in partitions]

    def hosts_at(self, address: str) -> list[int]:
        """Return the active hosts of the server at this address."""
        return [back.host for back in self.hosts.values() if back.address is not None and back.address.name == address]

    def recall_leases(self) -> list[Visit]:
        """Withdraw and return all visits that are leased but not yet released by `next`."""
        visits = [entry[2] for entry in self.leased]
        self.leased.clear()
        for visit in visits:
            self._leave_gates(self.hosts[visit.host_key])
            self._robots_visit_over(visit)
        return visits

    def visit_ended(self, visited: Visited, now: float) -> dict[int, HostClock]:
        """Record the end of a visit, from which its host rests. Returns the host clocks that changed."""
        visit = visited.visit
        del self.in_flight[visit.key]
        back = self.hosts[visit.host_key]
        self.network.record_visit(back.host, visited, now)
        back.clock = self.politeness.after(back.name, back.clock, visited, now, excused=self.network.is_down)
        clocks = self._apply_robots(visited.rules)
        clocks[back.host] = back.clock
        self._leave_gates(back, visited, now)
        self._measure_visit(back, visited)
        back.uncommitted += 1
        if visit.kind is Kind.PROBE and visited.page is not None:
            back.soft404 = visited.page.soft404
        self._apply_hold(back, now)
        self._reschedule(back)
        return clocks

    def _measure_visit(self, back: BackQueue, visited: Visited) -> None:
        fetched = visited.fetched
        size = len(fetched.head) + len(fetched.body) if fetched is not None and fetched.was_sent else None
        self._bandwidth.answer_received(visited.visit.key, size)
        if fetched is not None and fetched.was_sent and back.clock.held_until <= fetched.ended:
            cycle = back.clock.next_visit - fetched.started
            self.supply.record_visit(cycle, fetched.ended - fetched.started, len(self.hosts))

    def visit_committed(self, visited: Visited) -> None:
        """Note that a visit was committed; a robots.txt that it fetched applies from now on."""
        back = self.hosts[visited.visit.host_key]
        back.uncommitted -= 1
        if self._solo_key == visited.visit.key:
            self._solo_key = None
        if visited.rules is not None and visited.rules.host in self.hosts:
            self.hosts[visited.rules.host].rules[visited.rules.origin] = visited.rules
        self._robots_visit_over(visited.visit)
        self._reschedule(back)

    # ── gates ──

    def restore_gates(self, times: Mapping[str, float]) -> None:
        """Restore the clocks of groups that an earlier crawl or another worker has visited."""
        self._gates.restore(times)

    def gate_times(self, visited: Visited) -> dict[str, tuple[float, float]]:
        """Return the clocks of the groups that a visit changed, for the store: name → (not before, rest)."""
        hosts = [visited.visit.host_key] + ([visited.rules.host] if visited.rules is not None else [])
        gates = [back.group for host in hosts if (back := self.hosts.get(host)) is not None]
        return {gate.name: (gate.next_visit, gate.rest) for gate in gates if gate is not None}

    def _set_address(self, back: BackQueue, address: str, now: float) -> None:
        """Note the server to which a host connected; it may have moved to another address."""
        if not address or (back.address is not None and back.address.name == address):
            return
        gate = self._gates.enter(address, self.politeness.address_connections, now)
        gate.next_visit = max(gate.next_visit, self.quiet_until)
        if back.address is not None:
            self._gates.leave(back.address)
        back.address = gate

    def _not_before(self, visit: Visit) -> float:
        """Return when the host, the group and the server of a leased visit may all be visited."""
        back = self.hosts[visit.host_key]
        return max(back.clock.next_visit, *(gate.next_visit for gate in self._gates_of(back)), 0.0)

    @staticmethod
    def _gates_of(back: BackQueue) -> list[Gate]:
        return [gate for gate in (back.group, back.address) if gate is not None]

    def _wait_at_gate(self, back: BackQueue, at: float) -> bool:
        """Queue the host at a closed gate of its group or server, if there is one; returns whether it was queued."""
        for gate in self._gates_of(back):
            if not gate.is_open(at):
                gate.waiting.append(back.host)
                back.in_heap = True
                self._schedule_gate(gate)
                return True
        return False

    def _host_of_entry(self, host: int, order: int) -> BackQueue | None:
        """Return the host of an entry in the heap, or None if the entry is no longer valid."""
        back = self.hosts.get(host)
        return back if back is not None and back.entry == order else None

    def _next_host_in_line(self, gate: Gate) -> BackQueue | None:
        gate.in_heap = False
        back = self.hosts[gate.waiting.popleft()] if gate.waiting and gate.busy < gate.limit else None
        self._schedule_gate(gate)
        return back

    def _schedule_gate(self, gate: Gate) -> None:
        """Put a gate with waiting hosts into the heap for the time at which it opens."""
        if gate.waiting and not gate.in_heap and gate.busy < gate.limit:
            self._order += 1
            heapq.heappush(self._idle, (gate.next_visit, self._order, gate))
            gate.in_heap = True

    def _enter_gates(self, back: BackQueue) -> None:
        back.busy = True
        for gate in self._gates_of(back):
            gate.busy += 1

    def _leave_gates(self, back: BackQueue, visited: Visited | None = None, now: float = 0.0) -> None:
        """Mark a host as no longer busy; after a visit its group and its server rest."""
        back.busy = False
        gates = self._gates_of(back)
        for gate in gates:
            gate.busy -= 1
        if visited is not None and visited.fetched is not None and visited.fetched.was_sent:
            self._rest_gates(back, visited, visited.fetched.ended)
            self._set_address(back, visited.fetched.address, now)
        for gate in gates:
            self._schedule_gate(gate)

    def _rest_gates(self, back: BackQueue, visited: Visited, ended: float) -> None:
        if back.group is not None:
            rest = self.politeness.rest(back.name, back.clock, ended)
            # If the host is overloaded the whole group waits with it; if the host is dead the group is not concerned.
            until = back.clock.next_visit if visited.outcome is Outcome.BUSY else ended + rest
            back.group.rest = rest
            back.group.next_visit = max(back.group.next_visit, until)
        if back.address is not None:
            gap = self.politeness.gap_of(back.name)
            back.address.next_visit = max(back.address.next_visit, ended + gap)

    # ── scheduling ──

    def _apply_hold(self, back: BackQueue, now: float) -> None:
        """Clear the queue of a held host: it waits in the store, which returns its URLs again when the hold ends."""
        until = back.clock.held_until
        if until <= now:
            return
        back.queue.clear()
        back.drained = True
        while back.remote_robots:
            self._robots_visit_over(back.remote_robots.popleft())  # the store still has it, and knows the hold

    def _is_outside_visiting_hours(self, back: BackQueue, at: float, now: float) -> bool:
        """Whether the host is held, or its visiting hours are over; if so it waits in the store."""
        if back.clock.crawl_limits.visit_time is None and back.clock.held_until <= at:
            return False
        clock = self.politeness.hold_outside_hours(back.clock, at)
        if clock.held_until <= at:
            return False
        back.clock = clock
        self._held.append((back.host, clock.held_until))
        self._apply_hold(back, now)
        self._reschedule(back)
        return True

    def _apply_robots(self, rules: RobotsFile | None) -> dict[int, HostClock]:
        """Apply the limits of a robots.txt; if a host's origins differ, the strictest. Returns the changed clocks."""
        back = self.hosts.get(rules.host) if rules is not None else None
        if rules is None or back is None:
            return {}
        others = [known.crawl_limits for origin, known in back.rules.items() if origin != rules.origin]
        back.clock = clock = self.politeness.apply_crawl_limits(
            back.name, back.clock, _strictest([rules.crawl_limits, *others])
        )
        if back.group is not None and clock.last_end:
            rest = self.politeness.rest(back.name, clock, clock.last_end)
            back.group.next_visit = max(back.group.next_visit, clock.last_end + rest)
        return {back.host: clock}

    def _choose_visit(self, back: BackQueue, now: float) -> Visit | None:
        """Return the next visit of a host: another origin's robots.txt, its next URL, or the robots.txt for that."""
        if back.remote_robots:
            return back.remote_robots.popleft()
        for _ in range(len(back.queue)):
            visit = back.queue.popleft()
            origin = origin_of(visit.url)
            rules = back.rules.get(origin)
            if origin in back.robots_pending:
                back.queue.append(visit)
                continue
            if rules is not None and rules.held_until > now:
                self._postponed.append((visit, rules.held_until))
                continue
            if rules is not None and rules.expires > now and not rules.location:
                return _with_host_facts(visit, back)
            back.queue.appendleft(visit)
            back.robots_pending.add(origin)
            robots = self._robots_visit(back, origin, rules)
            if robots.host_key == back.host:
                return robots
            self.remote_robots.append(robots)
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

    def _robots_visit_over(self, visit: Visit) -> None:
        """Note that a robots.txt visit is over, whatever its result; if it failed, the next page starts a new one."""
        home = self.hosts.get(visit.key.host)
        if visit.kind is Kind.ROBOTS and home is not None:
            home.robots_pending.discard(visit.origin)
            self._reschedule(home)

    def _reschedule(self, back: BackQueue) -> None:
        """Put a host that is not busy into the heap, request a refill for it, or drop it."""
        if back.busy or back.in_heap or back.refilling or self.hosts.get(back.host) is not back:
            return
        if back.remote_robots or self._has_eligible_url(back):
            self._order += 1
            heapq.heappush(self._idle, (back.clock.next_visit, self._order, back.host))
            back.in_heap, back.entry = True, self._order
        elif back.queue:
            return  # all its URLs wait for a robots.txt
        elif not back.drained and not back.leaving and len(self.hosts) < self.window:
            back.refilling = True
            self._refills.append(back.host)
        elif not back.uncommitted and (not back.robots_pending or back.leaving):
            if not back.drained and not back.leaving:
                self._sent_back.append(back.host)  # the window is full, and other hosts may be waiting
            self._drop(back)

    def _drop(self, back: BackQueue) -> None:
        del self.hosts[back.host]
        self._has_dropped = True
        for gate in self._gates_of(back):
            self._gates.leave(gate)

    @staticmethod
    def _has_eligible_url(back: BackQueue) -> bool:
        if not back.robots_pending:
            return bool(back.queue)
        return any(origin_of(visit.url) not in back.robots_pending for visit in back.queue)

    def _lease_solo(self, now: float) -> list[Visit]:
        """Return a URL during whose visits several processes died, once nothing else is leased or in flight."""
        if self.in_flight or self._leasing or self.leased:
            return []
        visit = self._solo_queue.popleft()
        self._solo_key = visit.key
        self._leasing[visit.key] = max(now, self.hosts[visit.host_key].clock.next_visit)
        return [visit]


def _strictest(crawl_limits: Sequence[CrawlLimits]) -> CrawlLimits:
    """Combine limits: the longest delay, the lowest rate, the first visiting hours."""
    rates = [limits.request_rate for limits in crawl_limits if limits.request_rate is not None]
    return CrawlLimits(
        crawl_delay=max(
            (limits.crawl_delay for limits in crawl_limits if limits.crawl_delay is not None), default=None
        ),
        request_rate=max(rates, key=lambda rate: rate.seconds / max(rate.requests, 1), default=None),
        visit_time=next((limits.visit_time for limits in crawl_limits if limits.visit_time is not None), None),
    )


def _with_host_facts(visit: Visit, back: BackQueue) -> Visit:
    """Return the visit with the host's soft-404 sketch and template, which its examination needs."""
    if not back.soft404 and not back.template:
        return visit
    return replace(visit, soft404=back.soft404, template=back.template)
