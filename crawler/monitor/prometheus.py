"""Metrics of a run for Prometheus, computed when they are scraped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from crawler.monitor.record import RunRecord
from crawler.monitor.vitals import Vitals
from crawler.system import resident_memory

PREFIX = "orbweaver"
NO_LABELS: Mapping[str, str] = {}

_COUNTERS: Mapping[str, tuple[str, Callable[[RunRecord], float]]] = {
    "pages": ("Pages that were fetched", lambda record: record.pages),
    "new_urls": ("URLs that were not known before", lambda record: record.new_urls),
    "exact_duplicates": (
        "Pages that are exact copies of others",
        lambda record: record.duplicates - record.near_duplicates,
    ),
    "near_duplicates": ("Pages that are near-duplicates of others", lambda record: record.near_duplicates),
    "received_bytes": ("Bytes of headers and bodies of responses", lambda record: record.bytes_received),
    "archived_bytes": ("Bytes that were added to the archive", lambda record: record.bytes_archived),
    "unchanged_bytes": (
        "Bytes that were not fetched again because pages were unchanged",
        lambda record: record.spared.unchanged_bytes,
    ),
    "commits": ("Batches of visits that were committed", lambda record: record.commits),
    "connections_opened": ("Connections that were opened", lambda record: record.connections),
    "early_requests": (
        "Requests sent before the politeness delay of their host was over; must stay 0",
        lambda record: record.early,
    ),
    "late_visits": (
        "Visits whose commit was refused because another worker had taken them over",
        lambda record: record.late,
    ),
    "cpu_seconds": ("CPU time of the crawl process", lambda record: time.process_time()),
}
_GAUGES: Mapping[str, tuple[str, Callable[[RunRecord, Vitals], float]]] = {
    "queue_urls": ("URLs of active hosts that wait in memory", lambda record, now: now.hosts.queued),
    "hosts_active": ("Hosts with a queue in memory", lambda record, now: now.hosts.active),
    "hosts_asked": ("Active hosts that are being visited", lambda record, now: now.hosts.visiting),
    "hosts_ready": ("Active hosts that could be visited now", lambda record, now: now.hosts.ready),
    "hosts_resting": ("Active hosts whose politeness delay is not over", lambda record, now: now.hosts.resting),
    "hosts_waiting": ("Active hosts that wait for the store or a robots.txt", lambda record, now: now.hosts.waiting),
    "hosts_failing": ("Hosts whose last visit in this run failed", lambda record, now: record.failing),
    "connections": ("Requests in flight", lambda record, now: now.in_flight),
    "connections_limit": ("Largest number of requests in flight", lambda record, now: now.connections),
    "in_flight_bytes": ("Bytes of responses that are not complete yet", lambda record, now: now.bytes_in_flight),
    "uncommitted_visits": ("Visits that have ended and are not committed yet", lambda record, now: now.uncommitted),
    "content_pages_waiting": ("Pages that wait for a content process", lambda record, now: now.pages_waiting),
    "visits_per_second": ("Visits a second over the last seconds", lambda record, now: record.rate),
    "allowed_visits_per_second": (
        "Visits a second that the delays of active hosts allow",
        lambda record, now: now.allowed,
    ),
    "store_busy_ratio": ("Share of the time in which the store thread is busy", lambda record, now: record.store_share),
    "loop_lag_p99_seconds": ("Lag of the event loop, 99th percentile", lambda record, now: record.lag(0.99)),
    "resident_memory_bytes": ("Resident memory of the crawl process", lambda record, now: resident_memory()),
    "workers": ("Processes that share the crawl", lambda record, now: now.workers),
    "network_down": ("1 while our own network seems to be down", lambda record, now: now.is_network_down),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """How a run ended."""

    at: float
    exit_code: int
    seconds: float


class RunCollector(Collector):
    """The metrics of one run; they are computed in the thread that scrapes them, and cost nothing otherwise."""

    def __init__(
        self,
        record: RunRecord,
        vitals: Callable[[], Vitals],
        started: float,
        labels: Mapping[str, str] = NO_LABELS,
        ended: LastRun | None = None,
    ) -> None:
        self._record = record
        self._vitals = vitals
        self._started = started
        self._labels = labels
        self._ended = ended

    def collect(self) -> Iterator[Metric]:
        record, now = self._record, self._vitals()
        yield self._visits()
        yield self._library_messages()
        if record.judged.harvest.pages:
            yield from self._topic()
        for name, (meaning, total) in _COUNTERS.items():
            yield _counter(name, meaning, total(record), self._labels)
        for name, (meaning, value) in _GAUGES.items():
            yield _gauge(name, meaning, value(record, now), self._labels)
        if record.closest is not None:
            margin = record.closest.seconds - record.closest.required
            meaning = "Shortest time between two requests to a host, less the required delay"
            yield _gauge("shortest_gap_margin_seconds", meaning, margin, self._labels)
        yield _gauge("start_time_seconds", "Unix time at which the run began", self._started, self._labels)
        yield _gauge("running", "1 while the crawl runs", self._ended is None, self._labels)
        if self._ended is not None:
            yield from LastRunCollector(self._ended, self._labels).collect()

    def _visits(self) -> Metric:
        family = CounterMetricFamily(
            f"{PREFIX}_visits", "Visits by how they ended and why", labels=[*self._labels, "outcome", "reason"]
        )
        # Copied, because the crawl thread adds to it.
        for (outcome, reason), count in list(self._record.outcomes.items()):
            family.add_metric([*self._labels.values(), outcome.name.lower(), reason.name.lower()], count)
        return family

    def _topic(self) -> Iterator[Metric]:
        """Yield the metrics of a focused crawl."""
        judged, labels = self._record.judged, self._labels
        harvest = judged.harvest
        pages = CounterMetricFamily(
            f"{PREFIX}_topic_pages", "Pages judged by the topic of the crawl: on or off", labels=[*labels, "topic"]
        )
        for topic, count in (("on", harvest.on_topic), ("off", harvest.pages - harvest.on_topic)):
            pages.add_metric([*labels.values(), topic], count)
        yield pages
        meaning = "Share of the last 1,000 judged pages that are on topic"
        yield _gauge("topic_harvest_ratio", meaning, harvest.last_share, labels)
        relevance = HistogramMetricFamily(
            f"{PREFIX}_page_relevance", "Relevance of judged pages to the topic, from 0 to 1", labels=list(labels)
        )
        buckets = [(str(bound), count) for bound, count in judged.relevance_histogram()]
        buckets.append(("+Inf", buckets[-1][1]))
        relevance.add_metric(list(labels.values()), buckets, judged.relevance)
        yield relevance

    def _library_messages(self) -> Metric:
        family = CounterMetricFamily(
            f"{PREFIX}_library_messages",
            "Messages of libraries about the pages that they read; they are not shown",
            labels=[*self._labels, "library"],
        )
        for library, count in list(self._record.library_messages.items()):
            family.add_metric([*self._labels.values(), library], count)
        return family


class LastRunCollector(Collector):
    """The metrics that remain after a run has ended: when, with which exit code, how long it took."""

    def __init__(self, ended: LastRun, labels: Mapping[str, str] = NO_LABELS) -> None:
        self._ended = ended
        self._labels = labels

    def collect(self) -> Iterator[Metric]:
        ended, labels = self._ended, self._labels
        yield _gauge("last_run_timestamp_seconds", "Unix time at which the last run ended", ended.at, labels)
        yield _gauge("last_run_exit_code", "Exit code of the last run; 0 is success", ended.exit_code, labels)
        yield _gauge("last_run_seconds", "Duration of the last run", ended.seconds, labels)


def _counter(name: str, meaning: str, value: float, labels: Mapping[str, str]) -> Metric:
    family = CounterMetricFamily(f"{PREFIX}_{name}", meaning, labels=list(labels))
    family.add_metric(list(labels.values()), value)
    return family


def _gauge(name: str, meaning: str, value: float, labels: Mapping[str, str]) -> Metric:
    family = GaugeMetricFamily(f"{PREFIX}_{name}", meaning, labels=list(labels))
    family.add_metric(list(labels.values()), float(value))
    return family
