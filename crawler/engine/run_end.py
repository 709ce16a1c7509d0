"""How a run ends: its record is stored for reports, and its exit code says how it went."""

from __future__ import annotations

import logging
import sys
from typing import Any

from crawler.engine.command import exit_with
from crawler.errors import FINISHED_BADLY
from crawler.items import Outcome
from crawler.monitor.summary import summary_data
from crawler.monitor.text import account_data
from crawler.options import Options
from crawler.stores.contract.crawl import CrawlAccount
from crawler.stores.open import open_store
from crawler.worker.session import Session

logger = logging.getLogger(__name__)

ERROR_BUDGET = 0.01  # share of visits on which our own code may fail


def summary_of(session: Session) -> dict[str, Any]:
    return summary_data(session.record.finished, session.now() - session.started, session.record)


def store_run(options: Options, data: dict[str, Any], now: float) -> CrawlAccount:
    """Store the summary of a run, with the account of its crawl, which is returned."""
    store = open_store(options.store)
    try:
        account, segments = store.crawl.account(), store.archive.segments()
        data["crawl"] = account_data(account, segments)
        store.crawl.add_run(data, now)
    finally:
        store.close()
    return account


def exit_code_of_run(session: Session) -> int:
    """Return the exit code of a run without a fatal error."""
    record = session.record
    broken = sum(count for (outcome, _), count in record.outcomes.items() if outcome is Outcome.BROKEN)
    if broken > ERROR_BUDGET * record.visits:
        print(f"orbweaver: our own code failed on {broken} of {record.visits} visits; see the log.", file=sys.stderr)
        return FINISHED_BADLY
    return 0


class ForeignRun:
    """A run that another command than ours has started, such as Scrapy's own `crawl`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def end(self) -> None:
        """Store and log how the run ended; if it ended badly, the program ends with its exit code."""
        session = self._session
        if session.fatal is not None:
            exit_with(session.fatal)
        data = summary_of(session)
        store_run(session.options, data, session.now())
        logger.info(
            "%d pages in %d visits; `orbweaver status` shows the crawl",
            session.record.pages,
            session.record.visits,
        )
        if code := exit_code_of_run(session):
            raise SystemExit(code)
