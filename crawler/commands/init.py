"""scrapy init: make the directory of a crawl, with a file for its settings."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection
from pathlib import Path

from scrapy.exceptions import UsageError

from crawler.clock import steady_clock
from crawler.engine.command import OrbweaverCommand, as_called, exit_code_of, print_message
from crawler.engine.given_settings import CRAWL_FILE
from crawler.engine.seeds import seeds_of_argument
from crawler.errors import Misconfigured
from crawler.files import write_text_atomically
from crawler.monitor.text import in_directory, plural
from crawler.stores.open import open_store
from crawler.urls.scope import MODES
from crawler.worker.seeds import with_scheme
from crawler.worker.startup import prepare_directory, refuse_foreign_hosts

_INTERRUPTED = 130  # exit code, as a shell has it for Ctrl-C
_TEMPLATE = """\
# Settings of the crawl in this directory, for all commands with {place}
# What is given with -s counts more, what the project sets counts less. All settings: docs/settings.md

# Who you are: a URL or an e-mail address, sent to every site that is visited. Without it only OWN_HOSTS are crawled.
CONTACT = {contact}

# How far from the seeds links are followed: any, domains, hosts or prefixes.
SCOPE = {scope}

# More that crawls often need:
# POLITENESS_MIN_DELAY = 5.0     # seconds that a host rests after each answer
# CRAWL_MAX_DEPTH = 3            # links between a seed and a page
# URL_EXCLUDE = "exclude.txt"    # a file with patterns of URLs that are not visited
# OWN_HOSTS = ["*.example.org"]  # hosts that you run yourself: no delay, no CONTACT
# REVISIT_INTERVAL = 604800      # seconds until a page is visited again
"""


class InitCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options] DIR"

    def short_desc(self) -> str:
        return "Make the directory of a new crawl, with a file for its settings"

    def long_desc(self) -> str:
        return (
            "Make DIR, write its settings into DIR/crawl.toml, and add the seeds. What no option says is asked for on "
            "a terminal. The file is yours: it is read by all commands that are given this directory, and never "
            "written again. Example: scrapy init data/birds --contact https://example.org/bot --seeds "
            "https://birds.example/"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--contact", metavar="URL-or-ADDRESS", help="how site owners can reach you")
        parser.add_argument("--seeds", metavar="FILE-or-URLs", help="where the crawl begins; several URLs with commas")
        parser.add_argument("--scope", choices=MODES, help="how far from the seeds links are followed (domains)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name the directory of the new crawl", print_help=False)
        try:
            self.exitcode = exit_code_of(lambda: self._init(Path(args[0]), opts))
        except KeyboardInterrupt:  # at a question
            print(file=sys.stderr)
            print_message("stopped; nothing was changed.")
            self.exitcode = _INTERRUPTED

    def _init(self, directory: Path, opts: argparse.Namespace) -> int:
        assert self.settings is not None
        file = directory / CRAWL_FILE
        if file.exists():
            raise Misconfigured(
                f"{file}: exists already, and is yours. Nothing was changed; edit it, or name another DIR."
            )
        given = opts.contact if opts.contact is not None else self.settings.get("CONTACT") or None
        contact = _answer(given, "Contact, a URL or e-mail address that every site gets (CONTACT)", "")
        given_seeds = _answer(opts.seeds, "Seeds, a file or URLs with commas", "")
        scope = _answer(opts.scope, f"How far links are followed: {', '.join(MODES)}", "domains", MODES)
        self.settings.update({"CRAWL_DIR": str(directory), "CONTACT": contact, "SCOPE": scope}, priority="cmdline")
        options = self.options()
        seeds = list(seeds_of_argument(given_seeds, with_scheme(options.urls.new_policy().canonicalize)))
        refuse_foreign_hosts(options, [seed.url for seed in seeds], "--contact ")
        prepare_directory(options)
        store = open_store(
            options.store, budgets=options.budgets, group_of=options.politeness.group_of, order=options.order
        )
        try:
            store.urls.add_seeds(seeds, steady_clock()())
        finally:
            store.close()
        values = {"place": in_directory(directory), "contact": json.dumps(contact), "scope": json.dumps(scope)}
        write_text_atomically(file, _TEMPLATE.format(**values))
        more = "" if seeds else " -a seeds=FILE-or-URLs"
        print(f"{file} is written with {plural(len(seeds), 'seed')}. Next:")
        print(as_called(f"  scrapy crawl web {in_directory(directory)}{more}"))
        return 0


def _answer(given: str | None, question: str, default: str, choices: Collection[str] = ()) -> str:
    """Return what an option says; else ask, if somebody is there, until the answer is one of the choices."""
    if given is not None or not sys.stdin.isatty():
        return given or default
    shown = f" [{default}]" if default else ""
    while True:
        print(f"{question}{shown}: ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        answer = line.strip() or default
        if not choices or answer in choices or not line:  # at its end there is nothing more to ask
            return answer
        print_message(f"{answer}: choose one of {', '.join(choices)}.")
