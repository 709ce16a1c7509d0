"""scrapy crawl: run a crawl, print a summary, and return an exit code that says how it ended."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from scrapy.commands import BaseRunSpiderCommand
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from crawler.addon import add_components, is_used_in
from crawler.engine.command import ReadableHelp, as_called, exit_code_of, exit_with, prepare_settings, print_message
from crawler.engine.feeds import failed_feeds, feed_uris, refuse_shared_feeds
from crawler.engine.given_settings import apply_crawl_file, crawl_file, warn_of_ignored_proxies
from crawler.engine.logs import hide_startup_lines
from crawler.engine.run_end import store_run, summary_of
from crawler.engine.scheduler import FrontierScheduler
from crawler.engine.seeds import add_seeds, seeds_of_argument
from crawler.engine.session import Components, attach
from crawler.engine.signals import QuickSignals
from crawler.engine.spiders import check_arguments, topic_of
from crawler.engine.wiring import crawl_options
from crawler.errors import CrawlError, DiskTrouble, Misconfigured
from crawler.extensions.metrics import MetricsPublication, write_last_run
from crawler.files import write_text_atomically
from crawler.monitor.prometheus import LastRun
from crawler.monitor.summary import merge_summaries, summary_lines
from crawler.monitor.terminal import restore_cursor
from crawler.options import Options
from crawler.worker.seeds import with_scheme
from crawler.worker.session import Session
from crawler.worker.supervisor import Supervisor, end_with_supervisor, is_supervised

logger = logging.getLogger(__name__)

STOP_WITHIN = 19.0  # seconds after the first signal


class CrawlCommand(ReadableHelp, BaseRunSpiderCommand):
    requires_project = True

    def syntax(self) -> str:
        return "[options] SPIDER"

    def short_desc(self) -> str:
        return "Crawl, or continue the last crawl where it stopped"

    def long_desc(self) -> str:
        return (
            "Visit the URLs that are due, with a polite delay between two requests to a host, and store the pages in "
            "CRAWL_DIR. Run it again, by hand or from cron: it continues where it stopped, whatever stopped it. The "
            "first SIGINT or SIGTERM stops it within 20 s; a second one stops it at once; neither loses what was "
            "committed. With --workers N several processes share the crawl: each visits a part of the hosts, and one "
            "that dies is replaced. -O pages.jsonl also writes each page to a feed, with the fields of `scrapy "
            "export`, when it is stored. Exit codes: 0 done or limit reached, 1 start-up failure, 2 usage, 3 finished, "
            "but no seed could be reached or our own code failed on more than one visit in a hundred, 65 bad seeds or "
            "none at all, 69 store unreachable, 74 disk, 75 already running, 78 configuration. Example: scrapy crawl web -a seeds=data/seeds/example.txt -s "
            "CONTACT=https://example.org/bot -s CRAWL_MAX_PAGES=1000"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--workers", type=int, metavar="N", default=1, help="crawl with N worker processes (default 1)"
        )
        parser.add_argument(
            "--join", action="store_true", help="start one more worker for a crawl that is running in this CRAWL_DIR"
        )
        parser.add_argument(
            "--guess-scheme", action="store_true", help="take seeds without a scheme, such as example.org, as https"
        )
        parser.add_argument(
            "--summary", metavar="FILE", default="", help="also write the summary to FILE, as one line of JSON"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        assert self.settings is not None
        try:
            prepare_settings(self.settings)
        except CrawlError as error:
            exit_with(error)
        hide_startup_lines(self.settings)
        self._summary_file: str = opts.summary
        self._workers: int = opts.workers
        self._join: bool = opts.join
        self._guesses_scheme: bool = opts.guess_scheme
        if self._workers < 1:
            raise UsageError(f"--workers {self._workers}: at least one is needed", print_help=False)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one spider, such as web", print_help=False)
        self.exitcode = exit_code_of(lambda: self._crawl(args[0], opts.spargs))

    def _crawl(self, name: str, arguments: dict[str, str]) -> int:
        assert self.settings is not None
        assert self.crawler_process is not None
        if name not in self.crawler_process.spider_loader.list():
            raise Misconfigured(f"There is no spider {name!r}; `scrapy list` shows which there are.")
        end_with_supervisor()
        warn_of_ignored_proxies(self.settings)
        crawler = self._create_crawler(name)
        check_arguments(crawler.spidercls, arguments)
        self._apply_file_of_spider(crawler.settings)
        if is_used_in(crawler.settings):
            add_components(crawler.settings)
        crawler.signals = QuickSignals(crawler)
        options = crawl_options(crawler.settings)
        feeds = feed_uris(crawler.settings)
        if self._workers > 1 or self._join:
            refuse_shared_feeds(feeds)
        self._is_stdout_taken = any(uri.startswith("stdout:") for uri in feeds)
        argument, canonicalize = arguments.get("seeds", ""), options.urls.new_policy().canonicalize
        seeds = list(seeds_of_argument(argument, with_scheme(canonicalize) if self._guesses_scheme else canonicalize))
        topic = topic_of(crawler.spidercls, arguments)
        session = Session.open(options, join=self._join, expected=self._workers, topic=topic)
        try:
            add_seeds(session, seeds)
            session.seeds_argument = argument
        except BaseException:
            session.close()
            raise
        if self._workers > 1 and not self._join:
            session.close()  # it has recovered the store and added the seeds; the workers open their own
            if session.fatal is not None:
                raise session.fatal
            return self._supervise(options, name)
        publication = _open_publication(attach(crawler, session))
        self.crawler_process.crawl(crawler, **arguments)
        self._handle_signals(crawler)
        # What is loaded by now stays: the garbage collector need not scan it again and again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        code = 1
        try:
            self.crawler_process.start(install_signal_handlers=False)
            code = self._finish(session, crawler)
        except CrawlError as error:
            code = error.exit_code
            raise
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            raise
        finally:
            publication.end(code)
        return code

    def _apply_file_of_spider(self, settings: Settings) -> None:
        """Set what the crawl's file has, if the spider's `custom_settings` name another directory."""
        assert self.settings is not None
        first, file = crawl_file(self.settings), crawl_file(settings)
        if first != file and first.exists():
            raise Misconfigured(
                f"CRAWL_DIR is {file.parent} by the spider's custom_settings, and settings were read from {first}. "
                f"Nothing was crawled; add -s CRAWL_DIR={file.parent}."
            )
        if first != file:
            apply_crawl_file(settings)

    def _finish(self, session: Session, crawler: Crawler) -> int:
        assert self.crawler_process is not None
        if session.fatal is not None:
            raise session.fatal
        if self.crawler_process.bootstrap_failed:
            session.close()
            return 1
        data = summary_of(session)
        if is_supervised():
            self._write_summary(data)
            code = 0
        else:
            code = self._print_summary(session.options, data, crawler.spidercls.name, session.now())
        if count := failed_feeds(crawler.stats):
            raise DiskTrouble(f"{count} feeds could not be stored; the log says why. The pages are in the collection.")
        return code

    def _supervise(self, options: Options, spider: str) -> int:
        begun = time.monotonic()
        code = 1
        try:
            ended = Supervisor(sys.argv, self._workers, options).run()
            data = merge_summaries(ended.summaries, ended.lost, time.monotonic() - begun)
            code = self._print_summary(options, data, spider, time.time()) or ended.code
            if ended.error is not None:
                raise ended.error
        except CrawlError as error:
            code = error.exit_code
            raise
        finally:
            write_last_run(options, LastRun(at=time.time(), exit_code=code, seconds=time.monotonic() - begun))
        return code

    def _print_summary(self, options: Options, data: dict[str, Any], spider: str, now: float) -> int:
        """Store and print how a run has ended, and return its exit code."""
        ended = store_run(options, data, spider, now)
        text = "\n".join(summary_lines(data, ended.account, str(options.crawl.dir), now, as_called))
        print(text, file=sys.stderr if self._is_stdout_taken else sys.stdout)
        self._write_summary(data)
        if ended.complaint:
            print_message(ended.complaint)
        return ended.exit_code

    def _write_summary(self, data: dict[str, Any]) -> None:
        if self._summary_file:
            write_text_atomically(Path(self._summary_file), json.dumps(data) + "\n")

    def _handle_signals(self, crawler: Crawler) -> None:
        loop = asyncio.get_event_loop()
        received: list[int] = []

        def on_signal(number: int) -> None:
            received.append(number)
            if len(received) > 1:
                _exit_at_once(128 + number)
            logger.info("Stopping: what is in flight may finish; a second signal stops at once")
            loop.call_later(STOP_WITHIN, _exit_at_once, 1)
            stop()

        def stop() -> None:
            engine = crawler._engine
            if engine is None or not engine.running:
                loop.call_later(0.02, stop)  # a crawl that is still starting is stopped once it has started
                return
            if isinstance(engine.scheduler, FrontierScheduler):
                engine.scheduler.stop()
            self._stopping = loop.create_task(self.crawler_process.stop())  # type: ignore[union-attr]

        # Not `loop.add_signal_handler`: its handlers are not called before the loop runs.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: loop.call_soon_threadsafe(on_signal, number))


def _open_publication(components: Components) -> MetricsPublication:
    try:
        return components.get(MetricsPublication.of)
    except BaseException:
        components.session.close()
        raise


def _exit_at_once(code: int) -> None:
    """Exit without cleaning up, which loses no more than a kill, but restore the terminal."""
    restore_cursor(sys.stderr)
    os._exit(code)
