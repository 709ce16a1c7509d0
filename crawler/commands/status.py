"""scrapy status: print the counts of a crawl, also while it runs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from scrapy.exceptions import UsageError

from crawler.clock import steady_clock
from crawler.engine.command import OrbweaverCommand, as_called, exit_code_of, lines_on_settings
from crawler.items import State
from crawler.monitor.host import print_host
from crawler.monitor.run_settings import settings_of_last_run
from crawler.monitor.text import account_data, next_due, span_of
from crawler.stores.contract.archive import SegmentState
from crawler.stores.contract.crawl import CrawlAccount
from crawler.stores.contract.partitions import WorkerStatus
from crawler.stores.open import open_store
from crawler.worker.startup import last_politeness
from crawler.worker.supervisor import line_of


class StatusCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options]"

    def short_desc(self) -> str:
        return "Show the counts of a crawl: URLs by state, pages, workers"

    def long_desc(self) -> str:
        return (
            "Print the workers that crawl in CRAWL_DIR, what each has done and what limits its speed; how many URLs "
            "are waiting, leased (being fetched) or parked, and for which reasons; what is archived; and when the next "
            "URL is due. The command only reads; a running crawl is not disturbed. Example: scrapy status -s "
            "CRAWL_DIR=data/crawl"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.add_argument(
            "--host",
            metavar="NAME",
            help="show one host instead, with its counts, its delay in the last crawl, and how often its hints were right",
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
            account, segments, workers, size = (
                store.crawl.account(),
                store.archive.segments(),
                store.partitions.workers(),
                store.crawl.size(),
            )
        finally:
            store.close()
        now = steady_clock()()
        if as_json:
            used = settings_of_last_run(facts)
            print(json.dumps(_as_data(account, segments, workers, size, now) | {"settings": used}))
        else:
            lines = _lines(str(options.crawl.dir), account, segments, workers, size, now)
            print(as_called("\n".join([*lines, *(f"  {line}" for line in lines_on_settings(self.settings, facts))])))
        return 0


def _lines(
    where: str, account: CrawlAccount, segments: list[SegmentState], workers: list[WorkerStatus], size: int, now: float
) -> Iterator[str]:
    yield f"Crawl in {where}"
    for worker in workers:
        overdue = now - worker.lease_end
        yield f"  {line_of(worker)}" + (f"; its lease ended {span_of(overdue)} ago" if overdue > 0 else "")
    yield (
        f"  {account.known} URLs of {account.hosts} hosts known = {account.waiting} waiting + {account.leased} leased "
        f"+ {account.parked} parked"
    )
    if account.collisions:
        yield (
            f"  {account.collisions} more could not be kept, because another URL has the same key; see `scrapy why URL`"
        )
    yield (
        f"  {account.pages} pages among {account.documents} responses archived in {len(segments)} files, "
        f"{sum(segment.length for segment in segments) / 1e6:.1f} MB"
    )
    if account.known:
        yield f"  the store takes {size / 1e6:.1f} MB, {size / account.known:.0f} bytes for each URL"
    for state in State:
        for of, reason, count in account.by_reason:
            if of is state:
                yield f"  {state.name.lower():8} {count:9}  {reason.name.lower():20} {reason.meaning}"
    yield f"  {next_due(account, now)}"


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
