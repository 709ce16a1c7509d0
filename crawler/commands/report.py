"""scrapy report: write an HTML report of a crawl, or of one host for its webmaster."""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError

from crawler.clock import steady_clock
from crawler.engine.command import OrbweaverCommand, exit_code_of, lines_on_settings
from crawler.files import write_text_atomically
from crawler.monitor.host import host_key_of, unknown_host_message
from crawler.monitor.library_output import quiet_libraries
from crawler.monitor.run_settings import settings_of_last_run
from crawler.options import Options
from crawler.report.data import crawl_data
from crawler.report.host_data import host_data
from crawler.report.host_page import host_page
from crawler.report.page import crawl_page
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.worker.startup import last_politeness


class ReportCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options]"

    def short_desc(self) -> str:
        return "Write an HTML report of a crawl, or of one host for its webmaster"

    def long_desc(self) -> str:
        return (
            "Write one HTML file about the crawl in CRAWL_DIR: URLs discovered and pages fetched over time, outcomes "
            "of visits, delays between requests to each host, duplicates, sizes, traps, and an estimate of how many "
            "pages were not discovered. The file is self-contained: it runs no scripts and loads nothing. --host "
            "writes a report of one host that can be sent to its webmaster: what its robots.txt requires, and what was "
            "requested. The command only reads, one consistent state of the store; a running crawl is not disturbed. "
            "Example: scrapy report -s CRAWL_DIR=data/crawl -o report.html"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="FILE",
            help="file to write (default CRAWL_DIR/report.html, or report-NAME.html for a host)",
        )
        parser.add_argument(
            "--json", action="store_true", help="write the numbers as one JSON object; print it if no FILE is named"
        )
        parser.add_argument(
            "--host", metavar="NAME", help="report on one host, named without scheme and port, as www.example.com"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise UsageError(f"{args[0]}: takes no arguments; name a host with --host NAME", print_help=False)
        self.exitcode = exit_code_of(lambda: self._report(opts.host, opts.output, as_json=opts.json))

    @quiet_libraries()
    def _report(self, host: str | None, output: Path | None, *, as_json: bool) -> int:
        options = self.options_of_crawl()
        store = open_store(options.store, read_only=True)
        assert self.settings is not None
        try:
            data = _data(store, replace(options, politeness=last_politeness(store, options.politeness)), host)
            if data is not None and host is None:
                facts = store.crawl.facts()
                data["settings"] = settings_of_last_run(facts)
                data["on_settings"] = [*lines_on_settings(self.settings, facts)]
        finally:
            store.close()
        if data is None:
            print(unknown_host_message(host or ""))
            return 1
        if as_json and output is None:
            print(json.dumps(data))
            return 0
        path = output or options.crawl.dir / _file_name(data.get("host"))
        draw = host_page if host is not None else crawl_page
        write_text_atomically(path, json.dumps(data, indent=1) + "\n" if as_json else draw(data))
        print(f"The report is in {path}")
        return 0


def _data(store: Store, options: Options, host: str | None) -> dict[str, Any] | None:
    now = steady_clock()()
    return crawl_data(store, options, now) if host is None else host_data(store, options, host_key_of(host), now)


def _file_name(host: str | None) -> str:
    """
    >>> _file_name(None), _file_name("www.example.com"), _file_name("[::1]")
    ('report.html', 'report-www.example.com.html', 'report-___1_.html')
    """
    return f"report-{re.sub('[^a-z0-9.-]', '_', host)}.html" if host else "report.html"
