"""Crawl a changing web several times, export to consumers with kills, and compare their documents with a snapshot."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crawler.settings import CONTENT_PROCESSES
from tests.crawl.pages import pages_served, seeds_of
from tests.crawl.runner import ROOT, command, crawling, make_due, scrapy
from tests.proofs.feed.consumers import Consumer, Documents, snapshot
from tests.proofs.feed.web import ChangingWeb


@dataclass
class Findings:
    """The counts of the proof, and all differences that were found."""

    crawls: int = 0
    exports: int = 0
    kills: int = 0
    documents: int = 0  # in the last snapshot
    wrong: list[str] = field(default_factory=list)


def prove(
    web: ChangingWeb,
    consumers: Sequence[Consumer],
    directory: Path,
    *,
    crawls: int,
    kills: int,
    seed: int,
    content_processes: int = CONTENT_PROCESSES,
) -> Findings:
    """Crawl and export `crawls` times, with `kills` kills of exports in total."""
    findings, chance = Findings(), random.Random(seed)
    with pages_served(web.pages, directory) as (settings, _):
        port = settings.pop("port")
        settings["CONTENT_PROCESSES"] = content_processes
        for number in range(crawls):
            if number:
                web.change()
                make_due(directory / "crawl")
            web.on(port)
            words = ("crawl", "web", "-a", f"seeds={seeds_of(web.pages, port)}")
            if number % 2:
                _crawl_and_kill(words, settings, directory, chance)
            result = scrapy(*words, timeout=300, **settings)
            assert result.returncode == 0, result.stderr
            findings.crawls += 1
            for place, consumer in enumerate(consumers):
                planned = kills * (number * len(consumers) + place + 1) // (crawls * len(consumers))
                _export(consumer, directory, findings, chance, planned)
            _compare(consumers, directory, findings, number)
    return findings


def _crawl_and_kill(
    words: tuple[str, ...], settings: dict[str, object], directory: Path, chance: random.Random
) -> None:
    """Kill a crawl; what it committed stays, and the next crawl or export publishes its pending changes."""
    with crawling(*words, output=directory / "killed.txt", **settings) as process:
        time.sleep(chance.uniform(1.0, 4.0))
        process.kill()


def _export(consumer: Consumer, directory: Path, findings: Findings, chance: random.Random, planned: int) -> None:
    """Export until an export ends by itself; kill exports while fewer kills than planned have happened."""
    words = command("export", "--to", consumer.to, "--every", str(consumer.every), CRAWL_DIR=directory / "crawl")
    for _ in range(1_000):
        findings.exports += 1
        with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            if findings.kills < planned:
                time.sleep(chance.uniform(0.5, 2.5))
                if process.poll() is None:
                    process.kill()
                    process.wait()
                    findings.kills += 1
                    continue
            _, errors = process.communicate(timeout=300)
        if process.returncode == 0:
            return
        assert process.returncode in (69, 75), errors  # the sink used up its attempts; the next export continues
    raise AssertionError(f"{consumer.to} is never done")


def _compare(consumers: Sequence[Consumer], directory: Path, findings: Findings, number: int) -> None:
    for folds in (False, True):
        path = directory / f"snapshot-{folds}.jsonl"
        words = ("export", "--to", f"jsonl:{path}", "--duplicates", "fold" if folds else "keep")
        result = scrapy(*words, CRAWL_DIR=directory / "crawl")
        assert result.returncode == 0, result.stderr
        current = snapshot(path)
        findings.documents = len(current)
        for consumer in consumers:
            if consumer.folds is folds:
                findings.wrong += [
                    f"crawl {number + 1}, {consumer.to}: {what}"
                    for what in _differences(consumer.read_documents(), consumer.expected(current))
                ]


def _differences(actual: Documents, expected: Documents) -> list[str]:
    return [
        *(f"missing: {expected[name]['url']}" for name in expected.keys() - actual.keys()),
        *(f"should be gone: {actual[name]['url']}" for name in actual.keys() - expected.keys()),
        *(
            f"stale: {expected[name]['url']}: "
            + ", ".join(
                f"{field} {actual[name].get(field)!r:.60}, not {value!r:.60}"
                for field, value in expected[name].items()
                if actual[name].get(field) != value
            )
            for name in expected.keys() & actual.keys()
            if actual[name] != expected[name]
        ),
    ]
