"""scrapy status: print the counts of a crawl, also while it runs."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from typing import NamedTuple

from scrapy.exceptions import UsageError

from crawler.clock import steady_clock
from crawler.collection.topics import TOPIC_FACT
from crawler.engine.command import OrbweaverCommand, as_called, exit_code_of, lines_on_settings
from crawler.items import State
from crawler.monitor.host import print_host
from crawler.monitor.run_settings import settings_of_last_run
from crawler.monitor.terminal import escape_controls
from crawler.monitor.text import account_data, in_directory, next_due, plural, span_of
from crawler.monitor.topic import topic_data, topic_lines
from crawler.stores.contract.archive import SegmentState
from crawler.stores.contract.crawl import CrawlAccount
from crawler.stores.contract.log import LARGEST_LOG
from crawler.stores.contract.partitions import WorkerStatus
from crawler.stores.open import open_store, read_log
from crawler.system import command_of
from crawler.urls.credentials import without_credentials
from crawler.worker.startup import last_politeness, spider_of
from crawler.worker.supervisor import line_of

_LOOKS, _LOOK_EVERY = 3, 0.2  # further looks at who reads the store, and seconds before each
_POINTS, _BEST = 32, 3  # points of the harvest curve; sources and sections that are listed
_LONGEST_COMMAND = 100  # characters of the command line of a process that are shown


class StatusCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options]"

    def short_desc(self) -> str:
        return "Show the counts of a crawl: URLs by state, pages, workers"

    def long_desc(self) -> str:
        return (
            "Print the workers that crawl in CRAWL_DIR, what each has done and what limits its speed; how many URLs "
            "are waiting, leased (being fetched) or parked, and for which reasons; what is archived; when the next URL "
            "is due; and in a focused crawl how many pages are on topic, and where they were found. The command only reads; a running crawl is not disturbed. Example: scrapy status -s "
            "CRAWL_DIR=data/crawl"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--host",
            metavar="NAME",
            help=(
                "show one host instead, with its counts, its delay in the last crawl, and how often its hints were "
                "right"
            ),
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise UsageError(f"{args[0]}: no arguments are known; --host NAME shows one host", print_help=False)
        self.exitcode = exit_code_of(lambda: self._status(opts.host, as_json=opts.json))

    def _status(self, host: str | None, *, as_json: bool) -> int:
        options = self.options()
        assert self.settings is not None
        store = open_store(options.store, read_only=True)
        try:
            if host is not None:
                return print_host(store, last_politeness(store, options.politeness), host, as_json=as_json)
            facts = store.crawl.facts()
            with store.survey() as survey:
                topic = topic_data(survey, facts.get(TOPIC_FACT, ""), _POINTS, _BEST)
            account, segments, workers, size = (
                store.crawl.account(),
                store.archive.segments(),
                store.partitions.workers(),
                store.crawl.size(),
            )
        finally:
            store.close()
        log = _log_of(options.store)
        now = steady_clock()()
        if as_json:
            used = settings_of_last_run(facts)
            data = _as_data(account, segments, workers, size, now) | {"topic": topic, "settings": used}
            print(json.dumps(data | log.as_data()))
        else:
            where, spider = str(options.crawl.dir), spider_of(facts)
            lines = [*_lines(where, spider, account, segments, workers, size, now), *_log_lines(log)]
            lines += [f"  {line}" for line in topic_lines(topic)] if topic is not None else []
            print(as_called("\n".join([*lines, *(f"  {line}" for line in lines_on_settings(self.settings, facts))])))
        return 0


class _Log(NamedTuple):
    """The size of the store's log, and the processes that keep it from being cut; 0 = one that cannot be seen."""

    size: int
    readers: list[int]

    def as_data(self) -> dict[str, object]:
        return {
            "log_bytes": self.size,
            "old_readers": [{"pid": pid, "command": _command_of(pid)} for pid in self.readers],
        }


def _log_of(address: str) -> _Log:
    """Look at the log several times: some processes read for a moment only."""
    log = read_log(address)
    found = set(log.old_readers)
    for _ in range(_LOOKS if log.size > LARGEST_LOG else 0):
        time.sleep(_LOOK_EVERY)
        found &= read_log(address).old_readers
    return _Log(log.size, sorted({pid for _, _, pid in found}))


def _log_lines(log: _Log) -> Iterator[str]:
    if log.size <= LARGEST_LOG:
        return
    grown = f"  its log has grown to {log.size / 1e6:.0f} MB"
    if log.readers:
        verb = "reads" if len(log.readers) == 1 else "read"
        who = " and ".join(map(_process, log.readers))
        yield f"{grown}, because {who} {verb} an old state of the store; it is cut when that ends"
    else:
        yield f"{grown}; no process needs it any more, and the next commits cut it"


def _process(pid: int) -> str:
    command = _command_of(pid) if pid else ""
    shown = f" ({_cut(command)})" if command else ""
    return f"process {pid}{shown}" if pid else "a process outside of this container"


def _command_of(pid: int) -> str:
    """Return the command line of a process, which may contain the password of a proxy, without passwords."""
    return without_credentials(command_of(pid))


def _cut(command: str) -> str:
    command = escape_controls(command)
    return command if len(command) <= _LONGEST_COMMAND else command[:_LONGEST_COMMAND] + "…"


def _lines(
    where: str,
    spider: str,
    account: CrawlAccount,
    segments: list[SegmentState],
    workers: list[WorkerStatus],
    size: int,
    now: float,
) -> Iterator[str]:
    yield f"Crawl in {where}"
    for worker in workers:
        overdue = now - worker.lease_end
        yield f"  {line_of(worker)}" + (f"; its lease ended {span_of(overdue)} ago" if overdue > 0 else "")
    yield (
        f"  {plural(account.known, 'URL')} of {plural(account.hosts, 'host')} known = {account.waiting:,} waiting + "
        f"{account.leased:,} leased + {account.parked:,} parked"
    )
    if account.collisions:
        yield (
            f"  {account.collisions:,} more could not be kept, because another URL has the same key; see `scrapy why URL`"
        )
    yield (
        f"  {plural(account.pages, 'page')} among {plural(account.documents, 'response')} archived in "
        f"{plural(len(segments), 'file')}, "
        f"{sum(segment.length for segment in segments) / 1e6:.1f} MB"
    )
    if account.known:
        yield f"  the store takes {size / 1e6:.1f} MB, {size / account.known:.0f} bytes for each URL"
    for state in State:
        for of, reason, count in account.by_reason:
            if of is state:
                yield f"  {state.name.lower():8} {count:9,}  {reason.name.lower():20} {reason.meaning}"
    yield f"  {next_due(account, now, f'scrapy crawl {spider} {in_directory(where)}')}"


def _as_data(
    account: CrawlAccount, segments: list[SegmentState], workers: list[WorkerStatus], size: int, now: float
) -> dict[str, object]:
    return account_data(account, segments) | {
        "store_bytes": size,
        "workers": [
            {
                "slot": worker.slot,
                "pid": worker.pid,
                "since": worker.since,
                "is_alive": worker.lease_end > now,
                "partitions": worker.partitions,
                "visits": worker.visits,
                "pages": worker.pages,
                "new_urls": worker.new_urls,
                "late_visits": worker.late,
                "visits_per_second": round(worker.rate, 3),
                "store_share": round(worker.store_share, 3),
                "limited_by": worker.limited_by,
            }
            for worker in workers
        ],
        "reasons": [
            {"state": state.name.lower(), "reason": reason.name.lower(), "urls": count}
            for state, reason, count in account.by_reason
        ],
    }
