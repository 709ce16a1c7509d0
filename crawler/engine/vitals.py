"""Measure a running worker: what it is doing at the moment, and what keeps it from being faster."""

from __future__ import annotations

import time

from crawler.engine.client import FetchClient
from crawler.frontier.census import Census, census
from crawler.frontier.frontier import Frontier
from crawler.monitor.bottleneck import ProcessLoad, bottleneck
from crawler.monitor.vitals import Vitals
from crawler.worker.session import Session
from crawler.worker.worker import Worker

CENSUS_EVERY = 1.0  # seconds between two counts of the hosts by state, at least
CENSUS_SHARE = 0.005  # of the time that counting them may take


class VitalsReader:
    """Reads the gauges of one worker."""

    def __init__(self, session: Session, client: FetchClient, frontier: Frontier, worker: Worker) -> None:
        self._session = session
        self._client = client
        self._frontier = frontier
        self._worker = worker
        self._census = Census()
        self._next_census = 0.0
        # At the last look for the bottleneck: the time, CPU seconds of the main thread and of the store's, visits.
        self._measured = (0.0, 0.0, 0.0, 0)

    def read(self) -> Vitals:
        """Return what is going on right now. May be called in any thread."""
        frontier, worker = self._frontier, self._worker
        return Vitals(
            hosts=self._hosts_by_state(),
            in_flight=len(frontier.in_flight),
            connections=frontier.connections,
            bytes_in_flight=self._client.bytes_in_flight,
            pages_waiting=self._session.pages_waiting(),
            uncommitted=worker.uncommitted,
            allowed=frontier.supply.rate if frontier.supply.visits else 0.0,
            workers=worker.workers,
            pages_of_others=worker.pages_of_others,
            is_network_down=frontier.network.is_down,
        )

    def _hosts_by_state(self) -> Census:
        """Count the hosts, but only now and then: the more there are, the longer it takes."""
        started = time.monotonic()
        if started >= self._next_census:
            self._census = census(self._frontier, self._session.now())
            ended = time.monotonic()
            self._next_census = ended + max(CENSUS_EVERY, (ended - started) / CENSUS_SHARE)
        return self._census

    def find_bottleneck(self) -> None:
        """Record what has limited the speed of this process since the last call."""
        frontier, session, now = self._frontier, self._session, time.monotonic()
        last, main_thread, store_thread, visits = self._measured
        self._measured = (now, time.thread_time(), session.store_seconds, session.record.visits)
        if not last or now <= last:
            return
        span, record, options = now - last, session.record, session.options
        record.rate, record.store_share = (record.visits - visits) / span, (session.store_seconds - store_thread) / span
        record.limited_by = bottleneck(
            ProcessLoad(
                main_thread=(self._measured[1] - main_thread) / span,
                store_thread=record.store_share,
                is_network_down=frontier.network.is_down,
                is_bandwidth_spent=frontier.is_bandwidth_spent(session.now()),
                is_buffer_full=self._client.is_buffer_full,
                pages_waiting=session.pages_waiting(),
                content_processes=options.content.processes,
                connections_free=frontier.free_connections,
                hosts=len(frontier.hosts),
                allowed=frontier.supply.rate if frontier.supply.visits else 0.0,
                rate=record.rate,
            )
        )
