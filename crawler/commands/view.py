"""scrapy view: open an archived page in a browser."""

from __future__ import annotations

import argparse
import tempfile
import webbrowser
from pathlib import Path

from scrapy.exceptions import UsageError

from crawler.collection.archive_reader import newest_archived
from crawler.collection.cached_view import cached_view
from crawler.engine.command import OrbweaverCommand, exit_code_of
from crawler.options import Options


class ViewCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options] URL"

    def short_desc(self) -> str:
        return "Open an archived page in a browser"

    def long_desc(self) -> str:
        return (
            "Open the newest archived answer of a URL in a browser, be it a page, a PDF or an office file, as `scrapy "
            "show --html` prints it: nothing in it runs, and nothing is loaded from its host. The exit code is 1, with "
            "the reason, if nothing is archived. Example: scrapy view http://www.example.com/"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--no-browser", action="store_true", help="only write the page, and print where it is")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one URL", print_help=False)
        self.exitcode = exit_code_of(lambda: self._view(args[0], with_browser=not opts.no_browser))

    def _view(self, url: str, *, with_browser: bool) -> int:
        view(self.options_of_crawl(), url, with_browser=with_browser)
        return 0


def view(options: Options, url: str, *, with_browser: bool = True) -> None:
    """Write the newest archived answer of a URL into a file, open that in a browser, and say where it is."""
    text = cached_view(*newest_archived(options, url))
    with tempfile.NamedTemporaryFile("wb", prefix="orbweaver-", suffix=".html", delete=False) as file:
        file.write(text.encode("utf-8", "replace"))
    is_open = with_browser and webbrowser.open(Path(file.name).as_uri())
    missing = "There is no browser. " if with_browser and not is_open else ""
    print(f"{missing}The page is in {file.name}")
