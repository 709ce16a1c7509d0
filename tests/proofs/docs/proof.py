"""Crawls a documentation site and compares the server's log with the site's files."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.crawl.runner import rows, scrapy
from tests.proofs.docs.server import Request, Server, serving
from tests.proofs.docs.site import Site, is_page
from tests.proofs.docs.walk import Walked, walk

LONGEST = 1_800  # seconds that a crawl may take
_OUR_REFUSALS = (range(70, 80), range(90, 100))  # codes in the store's table of reasons


class Refusal(NamedTuple):
    """A URL of the site that the crawler knows and refuses to visit."""

    target: str
    reason: str
    is_wrong: bool  # it names a page, and the page was not fetched under another spelling either


@dataclass(slots=True, kw_only=True)
class Findings:
    """The results of one crawl. Files are named by their path in the site."""

    walked: Walked
    linked: int  # pages
    once: int  # of these, fetched once
    twice: dict[str, list[str]]  # files, whether pages or not, with the targets requested
    missing: list[str]  # linked pages that were not fetched
    unlinked: list[str]  # pages fetched although our walk knows no link to them: one of the two is mistaken
    refused: list[Refusal]
    not_found: list[str]  # targets that the site links to and does not have
    requests: int
    seconds: float
    trouble: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        """Every fault of the crawler, in one sentence each."""
        return [
            *self.trouble,
            *(f"{file} was not fetched" for file in self.missing),
            *(f"{file} was fetched {len(targets)} times: {', '.join(targets)}" for file, targets in self.twice.items()),
            *(f"{file} was fetched, but our walk knows no link to it" for file in self.unlinked),
            *(f"{refusal.target} was refused: {refusal.reason}" for refusal in self.refused if refusal.is_wrong),
        ]


def prove(site: Site, **settings: object) -> Findings:
    """Crawl the site from its home page until nothing is left to do."""
    with tempfile.TemporaryDirectory() as name, serving([site]) as server:
        directory = Path(name) / "crawl"
        hosts_file = server.write_hosts_file(Path(name) / "hosts")
        start = time.monotonic()
        done = scrapy(
            *("crawl", "web", "-a", f"seeds={server.home(site)}"),
            timeout=LONGEST,
            **_settings(directory, hosts_file) | settings,
        )
        seconds = time.monotonic() - start
        findings = _compare(site, server, directory, seconds)
    if done.returncode:
        last_words = done.stderr.strip().rpartition("\n")[2]
        findings.trouble.append(f"the crawl ended with {done.returncode}: {last_words}")
    return findings


def _settings(directory: Path, hosts_file: Path) -> dict[str, object]:
    """Return settings for a site of our own, which needs no rest between requests."""
    return {
        "CRAWL_DIR": directory,
        "SCOPE": "hosts",
        "OWN_HOSTS": "*.test",
        "INTRANET_HOSTS": "*.test",
        "INTRANET_NETWORKS": "127.0.0.0/8",
        "DNS_HOSTS": hosts_file,
        "POLITENESS_MIN_DELAY": 0,
        "SITEMAPS": False,  # only URLs that links lead to are requested
        "PROBE_AFTER": 0,
        "POLITENESS_LATENCY_FACTOR": 0,
        "CRAWL_HORIZON": 5,
        "LOG_LEVEL": "WARNING",
    }


def _compare(site: Site, server: Server, directory: Path, seconds: float) -> Findings:
    walked = walk(site)
    fetched = _fetched(site, server.log)
    return Findings(
        walked=walked,
        linked=len(walked.pages),
        once=sum(len(fetched.get(file, ())) == 1 for file in walked.pages),
        twice={site.name(file): targets for file, targets in fetched.items() if len(targets) > 1},
        missing=sorted(site.name(file) for file in walked.pages if file not in fetched),
        unlinked=sorted(site.name(file) for file in fetched if is_page(file) and file not in walked.pages),
        refused=_refused(site, server.home(site), directory, fetched),
        not_found=sorted({request.target for request in server.log if request.status == 404} - {"/robots.txt"}),
        requests=len(server.log),
        seconds=seconds,
    )


def _fetched(site: Site, log: list[Request]) -> dict[Path, list[str]]:
    """Return the files that were sent, with the targets requested; without robots.txt, which may be fetched again."""
    fetched: dict[Path, list[str]] = defaultdict(list)
    for request in log:
        file = site.find(request.target).file
        if request.status == 200 and file and request.target != "/robots.txt":
            fetched[file].append(request.target)
    return dict(fetched)


def _refused(site: Site, home: str, directory: Path, fetched: dict[Path, list[str]]) -> list[Refusal]:
    statement = """
        SELECT substr(url, ?), reason, name FROM urls JOIN reasons ON code = reason
        WHERE state = 2 AND kind = 0 AND substr(url, 1, ?) = ? ORDER BY url
    """
    parked = rows(directory, statement, (len(home), len(home), home))
    return [
        Refusal(str(target), str(name), is_wrong=_is_missing_page(site, str(target), fetched))
        for target, code, name in parked
        if any(code in codes for codes in _OUR_REFUSALS)
    ]


def _is_missing_page(site: Site, target: str, fetched: dict[Path, list[str]]) -> bool:
    file = site.find(target).file
    return file is not None and is_page(file) and file not in fetched
