"""scrapy urls: canonicalize URLs, and say whether a crawl would visit them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from scrapy.exceptions import UsageError

from crawler.engine.command import OrbweaverCommand, exit_code_of
from crawler.errors import NoCrawl
from crawler.options import Options
from crawler.stores.open import open_store
from crawler.urls.canonical import resolve
from crawler.urls.hosts import host_of, registered_domain
from crawler.urls.rules import RULES
from crawler.urls.scope import Scope


class UrlsCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options] URL..."

    def short_desc(self) -> str:
        return "Canonicalize URLs, and say whether they would be visited"

    def long_desc(self) -> str:
        return (
            "Print the canonical form of URLs, what each canonicalization rule did to them, and whether a crawl with "
            "these settings and the seeds in CRAWL_DIR would visit them. With - the URLs are read from the standard "
            "input, one per line. --rules prints the table of rules and how each is switched. Nothing is fetched and "
            "nothing is changed. Example: scrapy urls 'HTTP://Example.com:80/a/../b/?utm_source=x#top'"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--rules", action="store_true", help="print the canonicalization rules and how each is switched"
        )
        parser.add_argument(
            "--base", metavar="URL", help="the URL of the page on which the URLs were found, to resolve relative ones"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object per line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if bool(args) == opts.rules:
            raise UsageError("give URLs, or --rules", print_help=False)
        self.exitcode = exit_code_of(lambda: self._urls(args, opts))

    def _urls(self, args: list[str], opts: argparse.Namespace) -> int:
        options = self.options()
        if opts.rules:
            for line in _rules(options, as_json=opts.json):
                print(line)
            return 0
        if opts.base is not None and resolve(opts.base) is None:
            raise UsageError(f"--base {opts.base}: not a URL", print_help=False)
        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        scope, seeds = _scope(options)
        texts: Iterable[str] = (line.rstrip("\n") for line in sys.stdin) if args == ["-"] else args
        for text in texts:
            data = _url_data(scope, seeds, text, opts.base)
            print(json.dumps(data) if opts.json else "\n".join(_lines(data)))
        return 0


def _scope(options: Options) -> tuple[Scope, set[str]]:
    """Return the scope of the crawl and its seeds; without seeds, a scope that contains every site."""
    if not options.contact:
        print(
            "CONTACT is not set: a crawl would visit OWN_HOSTS only. The answers below are as if it were set.",
            file=sys.stderr,
        )
    urls = replace(options.urls, contact=True)
    try:
        store = open_store(options.store, read_only=True)
    except NoCrawl:
        seeds = []
    else:
        try:
            seeds = [seed for _, seed in store.urls.seeds()]
        finally:
            store.close()
    return (urls if seeds else replace(urls, mode="any")).new_scope(seeds), set(seeds)


def _url_data(scope: Scope, seeds: set[str], text: str, base: str | None) -> dict[str, Any]:
    url = scope.policy.canonicalize(text, base)
    data: dict[str, Any] = {"given": text, "url": url}
    if url is None:
        resolved = resolve(text, base)
        data["refused"] = {
            "reason": "not_crawled",
            "meaning": "not a URL by the URL Standard" if resolved is None else "no http or https URL of a host",
            "detail": resolved or "",
        }
        return data
    refusal = None if url in seeds else scope.rejection(url)
    data |= {
        "host": host_of(url),
        "domain": registered_domain(host_of(url)),
        "steps": [{"rule": step.rule, "after": step.after} for step in scope.policy.trace(text, base)],
        "refused": None,
    }
    if refusal is not None:
        data["refused"] = {
            "reason": refusal.reason.name.lower(),
            "meaning": refusal.reason.meaning,
            "detail": refusal.detail,
        }
    return data


def _lines(data: dict[str, Any]) -> Iterator[str]:
    refused = data["refused"]
    yield data["url"] or data["given"]
    if data["url"] is not None:
        if data["steps"]:
            yield f"  given as            {data['given']}"
        for step in data["steps"]:
            yield f"  {step['rule']:18}→ {step['after']}"
        yield f"  host {data['host']}, registered domain {data['domain'] or 'none'}"
    if refused is None:
        yield "  would be visited"
    else:
        detail = f": {refused['detail']}" if refused["detail"] else ""
        yield f"  would not be visited: {refused['meaning']}{detail} ({refused['reason']})"


def _rules(options: Options, *, as_json: bool) -> Iterator[str]:
    """Yield the table of rules, switched as the settings say."""
    for order, rule in enumerate(RULES, 1):
        is_on = options.urls.switches.get(rule.name, True)
        if as_json:
            fields = rule._asdict() | {"order": order, "grade": rule.grade.value, "on": is_on}
            yield json.dumps(fields)
            continue
        switch = f"{rule.setting}={is_on}" if rule.setting else f"cannot be switched: {rule.why_fixed}"
        default = "" if is_on == rule.default else f", by default {rule.default}"
        yield f"{order:2}  {rule.name:18} {rule.grade:10} {'on ' if is_on else 'off'}  {switch}{default}"
        yield f"    {rule.does}: {rule.before} → {rule.after}"
    if not as_json:
        yield "Rules for single sites can be given in the file URL_RULES; docs/urls.md shows how."
