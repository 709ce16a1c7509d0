"""Publish metrics: at an HTTP endpoint for Prometheus, and in a file for node_exporter."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Self
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.registry import Collector
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.engine.runtime import ScrapyRuntime
from crawler.engine.session import Components, components_of
from crawler.errors import DiskTrouble, Misconfigured
from crawler.files import write_text_atomically
from crawler.monitor.prometheus import LastRun, LastRunCollector, RunCollector
from crawler.monitor.vitals import Vitals
from crawler.options import LAST_PORT, Options
from crawler.worker.session import Session

logger = logging.getLogger(__name__)

ADDRESS = "127.0.0.1"  # only programs of this machine may read the metrics
FILE_EVERY = 15.0  # seconds between two writes of the file


class MetricsPublication:
    """Publishes the metrics of one run, from before it begins until after it has ended."""

    def __init__(self, session: Session) -> None:
        options = session.options
        self.path = file_of(options.metrics.file, session.slot, several=session.expected > 1)
        self._session = session
        self._vitals: Callable[[], Vitals] = Vitals
        self._labels = labels_of(options) | {"worker": str(session.slot)}
        self._is_failing = False
        if self.path is not None:
            self._check_writable(self.path)
        self._server = self._listen(options.metrics.port, session.slot) if options.metrics.port else None

    @classmethod
    def of(cls, components: Components) -> Self:
        return cls(components.session)

    def watch(self, vitals: Callable[[], Vitals]) -> None:
        """Read gauges from this function from now on: the crawl has begun."""
        self._vitals = vitals

    def now(self) -> Vitals:
        return self._vitals()

    def write(self, ended: LastRun | None = None) -> None:
        """Write the metrics file. If that fails, a warning is logged and the crawl goes on."""
        if self.path is None:
            return
        collector = RunCollector(self._session.record, self.now, self._session.started, self._labels, ended)
        try:
            write_text_atomically(self.path, exposition(collector))
            self._is_failing = False
        except DiskTrouble as error:
            if not self._is_failing:
                logger.warning("METRICS_FILE: %s The crawl goes on; it is tried again every %.0f s", error, FILE_EVERY)
            self._is_failing = True

    def end(self, exit_code: int) -> None:
        """Write the metrics file for the last time, with the exit code of the run."""
        now = self._session.now()
        self.write(LastRun(at=now, exit_code=exit_code, seconds=now - self._session.started))

    def close(self) -> None:
        """Close the HTTP endpoint. Takes half a second at most."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def _listen(self, first: int, slot: int) -> WSGIServer:
        port = first + slot
        registry = CollectorRegistry()
        registry.register(RunCollector(self._session.record, self.now, self._session.started))
        try:
            if port > LAST_PORT:
                raise OSError(errno.EADDRNOTAVAIL, "there is no such port")
            server, _ = start_http_server(port, ADDRESS, registry)
        except OSError as error:
            taken = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
            raise Misconfigured(
                f"METRICS_PORT={first}: port {port}, that of worker {slot}, {taken} on {ADDRESS}. Nothing was crawled; "
                "name another port, or 0 for none."
            ) from error
        return server

    def _check_writable(self, path: Path) -> None:
        """Write the file once before the first request, so that a wrong path stops the crawl at the start."""
        try:
            write_text_atomically(
                path, exposition(RunCollector(self._session.record, Vitals, self._session.started, self._labels))
            )
        except DiskTrouble as error:
            raise Misconfigured(
                f"METRICS_FILE: {error} Nothing was crawled; create its directory, or name another file."
            ) from error


class Metrics:
    """The Scrapy extension that publishes metrics while the crawl runs."""

    def __init__(self, publication: MetricsPublication, vitals: Callable[[], Vitals]) -> None:
        self._publication = publication
        self._vitals = vitals
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        components = components_of(crawler)
        session = components.session
        if not session.options.metrics.port and session.options.metrics.file is None:
            raise NotConfigured
        metrics = cls(components.get(MetricsPublication.of), components.get(ScrapyRuntime.of).vitals.read)
        crawler.signals.connect(metrics.open, signal=signals.spider_opened)
        crawler.signals.connect(metrics.close, signal=signals.spider_closed)
        return metrics

    def open(self) -> None:
        self._publication.watch(self._vitals)
        if self._publication.path is not None:
            self._write()

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._publication.write)
        await loop.run_in_executor(None, self._publication.close)

    def _write(self) -> None:
        """Write the file in another thread, because disks may be slow, and again after FILE_EVERY."""
        loop = asyncio.get_running_loop()
        loop.run_in_executor(None, self._publication.write)
        self._timer = loop.call_later(FILE_EVERY, self._write)


def exposition(collector: Collector) -> str:
    """Format metrics in the text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry).decode()


def labels_of(options: Options) -> dict[str, str]:
    """Return the labels of metrics in files: node_exporter merges files and refuses samples with equal labels."""
    return {"crawl": str(options.crawl.dir)}


def file_of(path: Path | None, slot: int, *, several: bool) -> Path | None:
    """Return the metrics file of a worker: each of several has its own.

    >>> file_of(Path("orbweaver.prom"), 0, several=False)
    PosixPath('orbweaver.prom')
    >>> file_of(Path("orbweaver.prom"), 3, several=True)
    PosixPath('orbweaver.3.prom')
    """
    if path is None or not (several or slot):
        return path
    return path.with_name(f"{path.stem}.{slot}{path.suffix}")


def write_last_run(options: Options, ended: LastRun) -> None:
    """Write how a run of several workers ended; the other metrics are in the files of the workers."""
    if options.metrics.file is None:
        return
    try:
        write_text_atomically(options.metrics.file, exposition(LastRunCollector(ended, labels_of(options))))
    except DiskTrouble as error:
        logger.warning("METRICS_FILE: %s", error)
