"""scrapy shell: Scrapy's console on an archived answer."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import wraps
from typing import Any

from scrapy.commands.shell import Command as ScrapyShell

from crawler.collection.archive_reader import newest_archived
from crawler.commands.view import view
from crawler.engine.command import ReadableHelp, exit_code_of, print_error
from crawler.engine.logs import hide_startup_lines
from crawler.engine.offline import go_offline
from crawler.errors import CrawlError
from crawler.urls.schemes import WEB_SCHEMES


class ShellCommand(ReadableHelp, ScrapyShell):
    requires_project = True

    def syntax(self) -> str:
        return "[options] [URL|FILE]"

    def short_desc(self) -> str:
        return "Try selectors on an archived page, in Scrapy's console"

    def long_desc(self) -> str:
        return (
            "Open Scrapy's interactive console with the newest archived answer of a URL as `response`, or with a local "
            "file (./page.html). `fetch(URL)` in it reads the archive, too: no host is contacted, and the crawl is "
            "not changed. The exit code is 1, with the reason, if nothing is archived. Example: scrapy shell "
            "http://www.example.com/ -c 'response.css(\"title::text\").get()'"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        assert self.settings is not None
        hide_startup_lines(self.settings)
        self.exitcode = exit_code_of(lambda: self._prepare(args))
        if self.exitcode:
            raise SystemExit(self.exitcode)

    def _prepare(self, args: list[str]) -> int:
        """Check that the answer is there before the console starts."""
        assert self.settings is not None
        options = go_offline(self.settings)
        if args and args[0].partition(":")[0] in WEB_SCHEMES:
            newest_archived(options, args[0])
        self._options = options
        return 0

    def update_vars(self, vars: dict[str, Any]) -> None:  # noqa: A002
        """Let `view(response)` show the archived answer; Scrapy's own would have a browser load from the host."""
        vars["view"] = lambda response: view(self._options, response.url)
        if "fetch" in vars:
            vars["fetch"] = _fetch_or_tell(vars["fetch"])


def _fetch_or_tell(fetch: Callable[..., None]) -> Callable[..., None]:
    """Return `fetch` of the console; what is not archived is told in a sentence, and `response` stays what it is."""

    @wraps(fetch)
    def fetch_archived(*args: Any, **kwargs: Any) -> None:
        try:
            fetch(*args, **kwargs)
        except CrawlError as error:
            print_error(error)

    return fetch_archived
