"""What does it cost to choose the next visit, by the number of hosts?

In memory: a whole visit in the frontier (chosen, leased, released, ended, acknowledged) with that many active hosts. In
the store: the same with that many hosts due and a window of 2,000, with activation, leases and commits.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from pathlib import Path

from benchmarks.measure import cores, pinned
from crawler import settings
from crawler.frontier.frontier import Frontier, HostLoad
from crawler.frontier.politeness import HostClock
from crawler.items import Fetched, Kind, Outcome, Page, Reason, RobotsFile, Visit, Visited
from crawler.options import Options
from crawler.simulation.driver import Simulation
from crawler.stores.contract.urls import NewUrl
from crawler.stores.open import open_store
from crawler.urls.keys import key_of

START = 1_800_000_000.0
FEW, MANY = 50_000, 500_000
NEXT, GROWTH = 50e-6, 2.0  # required: seconds with few hosts, and the factor allowed with many


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--visits", type=int, default=50_000)


def main(options: argparse.Namespace) -> int:
    pinned(cores()[1])
    costs = {hosts: _in_memory(hosts, options.visits) for hosts in (FEW, MANY)}
    for hosts, (cycle, following) in costs.items():
        print(f"in memory, {hosts:7,} hosts: next {following * 1e6:5.1f} µs; a whole visit {cycle * 1e6:5.1f} µs")
    for hosts in (FEW, MANY):
        print(
            f"in the store, {hosts:7,} hosts due: {_in_store(hosts, options.visits) * 1e6:5.0f} µs a visit, commit "
            "included"
        )
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB resident at most")
    (_, few), (_, many) = costs[FEW], costs[MANY]
    verdicts = [
        (f"next at {FEW:,} hosts: {few * 1e6:.1f} µs, at most {NEXT * 1e6:.0f}", few <= NEXT),
        (
            f"next at {MANY:,} hosts: {many / few:.1f} × that, at most {GROWTH:g} ×",
            many <= GROWTH * few,
        ),
    ]
    for what, holds in verdicts:
        print(f"{'pass' if holds else 'FAIL'}  {what}")
    return 0 if all(holds for _, holds in verdicts) else 1


def _in_memory(hosts: int, visits: int) -> tuple[float, float]:
    """Return the CPU-seconds per visit: of the whole visit, and of choosing and releasing it."""
    options = Options.of(vars(settings))
    frontier = Frontier(
        options.politeness,
        active_hosts=hosts + 1,
        in_flight=options.concurrent_requests,
        ahead=options.frontier.lease_ahead,
        most_hosts=hosts + 1,
        bandwidth=options.bandwidth_limit,
    )
    frontier.lease_end = float("inf")
    chance = random.Random(1)
    for number in range(hosts):
        frontier.activate(_load(number, START + chance.uniform(0, 100)), START)
    now, done, chosen = START + 100, 0, 0.0
    begun = time.process_time()
    while done < visits:
        now += 0.1
        before = time.process_time()
        requested = frontier.to_lease(now)
        frontier.leases_granted(requested, requested)
        released = []
        while (visit := frontier.next(now)) is not None:
            released.append(visit)
        chosen += time.process_time() - before
        for visit in released:
            visited = _answered(visit, now)
            frontier.visit_ended(visited, now)
            frontier.visit_committed(visited)
            frontier.wants_refill()
            frontier.refill(visit.host_key, [visit], now)
        done += len(released)
    return (time.process_time() - begun) / done, chosen / done


def _load(number: int, ready: float) -> HostLoad:
    name = f"h{number}.test"
    url = f"http://{name}/"
    key = key_of(url)
    rules = RobotsFile(
        host=key.host, origin=f"http://{name}", status=404, body=None, fetched=START, expires=START + 1e9
    )
    visit = Visit(key=key, url=url, kind=Kind.PAGE, epoch=1, host_key=key.host)
    clock = HostClock(next_visit=ready)
    return HostLoad(host=key.host, name=name, clock=clock, epoch=1, visits=[visit], rules=[rules], address=name)


def _answered(visit: Visit, now: float) -> Visited:
    fetched = Fetched(
        url=visit.url,
        reason=Reason.OK,
        started=now,
        ended=now,
        request=b"GET",
        status=200,
        address=f"h{visit.host_key}",
    )
    return Visited(visit=visit, outcome=Outcome.FETCHED, reason=Reason.OK, fetched=fetched, page=Page())


def _in_store(hosts: int, visits: int) -> float:
    """Return the CPU-seconds per visit of frontier, worker and store together."""
    options = Options.of(vars(settings))
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as directory:
        store = open_store(f"sqlite:{Path(directory) / 'crawl.db'}")
        store.urls.add((_new(number) for number in range(hosts)), START)
        count = 0

        def respond(visit: Visit, now: float) -> Visited:
            nonlocal count
            count += 1
            visited = _answered(visit, now)
            if visit.kind is not Kind.ROBOTS:
                return visited
            rules = RobotsFile(
                host=visit.key.host, origin=visit.origin, status=404, body=None, fetched=now, expires=now + 86_400
            )
            return Visited(
                visit=visit, outcome=visited.outcome, reason=visited.reason, fetched=visited.fetched, rules=rules
            )

        simulation = Simulation(
            store, options, respond, now=START, draw=lambda levels: levels[0], address_of=lambda host: host
        )
        begun = time.process_time()
        while count < visits and not simulation.worker.is_done:
            simulation.run(simulation.time + 1.0)
        spent = time.process_time() - begun
        store.close()
    return spent / count


def _new(number: int) -> NewUrl:
    url = f"http://h{number}.test/"
    return NewUrl(key=key_of(url), url=url, reason=Reason.SEED)
