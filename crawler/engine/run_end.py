"""How a run ends: its record is stored for reports, and its exit code says how it went."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from crawler.engine.command import exit_with, print_message
from crawler.errors import FINISHED_BADLY, BadInput, CrawlError
from crawler.items import Outcome
from crawler.monitor.summary import summary_data
from crawler.monitor.text import account_data, in_directory
from crawler.monitor.unreachable import unreachable_lines, unreachable_seeds
from crawler.options import Options
from crawler.stores.contract.crawl import CrawlAccount
from crawler.stores.open import open_store
from crawler.worker.session import Session

logger = logging.getLogger(__name__)

ERROR_BUDGET = 0.01  # share of visits on which our own code may fail


def summary_of(session: Session) -> dict[str, Any]:
    return summary_data(session.record.finished, session.now() - session.started, session.record)


class EndedRun(NamedTuple):
    """What is left to say of a run that has ended without a fatal error."""

    account: CrawlAccount  # of the crawl
    exit_code: int
    complaint: str  # what went wrong, or nothing


def store_run(options: Options, data: dict[str, Any], spider: str, now: float) -> EndedRun:
    """Store the summary of a run, with the account of its crawl; raises `BadInput` if there was nothing to crawl."""
    store = open_store(options.store)
    try:
        account, segments = store.crawl.account(), store.archive.segments()
        if not account.known:
            raise BadInput(
                f"{options.crawl.dir}: this crawl has no URLs, because it never had a seed. Nothing was visited; give "
                f"it seeds with `scrapy crawl {spider} {in_directory(options.crawl.dir)} -a seeds=FILE-or-URLs`, or with "
                f"`scrapy seed {in_directory(options.crawl.dir)} FILE`."
            )
        data["crawl"] = account_data(account, segments)
        store.crawl.add_run(data, now)
        unreachable = unreachable_seeds(store) if data["visits"] and not account.pages else []
    finally:
        store.close()
    broken = sum(row["visits"] for row in data["outcomes"] if row["outcome"] == Outcome.BROKEN.name.lower())
    if unreachable:
        has_proxy = bool(options.fetch.proxy)
        complaint = "\n".join(unreachable_lines(unreachable, options.crawl.dir, has_proxy=has_proxy))
        return EndedRun(account, FINISHED_BADLY, complaint)
    if broken > ERROR_BUDGET * data["visits"]:
        complaint = f"our own code failed on {broken} of {data['visits']} visits; see the log."
        return EndedRun(account, FINISHED_BADLY, complaint)
    return EndedRun(account, 0, "")


class ForeignRun:
    """A run that another command than ours has started, such as Scrapy's own `crawl`."""

    def __init__(self, session: Session, spider: str) -> None:
        self._session = session
        self._spider = spider

    def end(self) -> None:
        """Store and log how the run ended; if it ended badly, the program ends with its exit code."""
        session = self._session
        if session.fatal is not None:
            exit_with(session.fatal)
        try:
            ended = store_run(session.options, summary_of(session), self._spider, session.now())
        except CrawlError as error:
            exit_with(error)
        logger.info(
            "%d pages in %d visits; `orbweaver status` shows the crawl",
            session.record.pages,
            session.record.visits,
        )
        if ended.complaint:
            print_message(ended.complaint)
        if ended.exit_code:
            raise SystemExit(ended.exit_code)
