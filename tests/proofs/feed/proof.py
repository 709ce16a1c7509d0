"""Crawl a changing web again and again, feed consumers by an exporter that is killed, and compare what they have."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from tests.crawl.pages import pages_served, seeds_of
from tests.crawl.runner import ROOT, command, crawling, scrapy
from tests.proofs.feed.consumers import Consumer, Documents, snapshot
from tests.proofs.feed.web import ChangingWeb


@dataclass
class Findings:
    """What came of it."""

    crawls: int = 0
    exports: int = 0
    kills: int = 0
    documents: int = 0  # in the last snapshot
    wrong: list[str] = field(default_factory=list)


def prove(
    web: ChangingWeb, consumers: Sequence[Consumer], directory: Path, *, crawls: int, kills: int, seed: int
) -> Findings:
    findings, chance = Findings(), random.Random(seed)
    with pages_served(web.pages, directory) as (settings, _):
        port = settings.pop("port")
        for number in range(crawls):
            if number:
                web.change()
                _make_due(directory / "crawl")
            web.on(port)
            words = ("crawl", "web", "-a", f"seeds={seeds_of(web.pages, port)}")
            if number % 2:
                _crawl_and_kill(words, settings, directory, chance)
            result = scrapy(*words, timeout=300, **settings)
            assert result.returncode == 0, result.stderr
            findings.crawls += 1
            for place, consumer in enumerate(consumers):
                planned = kills * (number * len(consumers) + place + 1) // (crawls * len(consumers))
                _feed(consumer, directory, findings, chance, planned)
            _compare(consumers, directory, findings, number)
    return findings


def _crawl_and_kill(
    words: tuple[str, ...], settings: dict[str, object], directory: Path, chance: random.Random
) -> None:
    """What it had committed stays, and what it had yet to tell is told by whoever comes next."""
    with crawling(*words, output=directory / "killed.txt", **settings) as process:
        time.sleep(chance.uniform(1.0, 4.0))
        process.kill()


def _feed(consumer: Consumer, directory: Path, findings: Findings, chance: random.Random, planned: int) -> None:
    """Until an export has come to its end; as long as fewer kills than planned have been, it is killed."""
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
            _, said = process.communicate(timeout=300)
        if process.returncode == 0:
            return
        assert process.returncode in (69, 75), said  # the engine has lost patience, which another export has again
    raise AssertionError(f"{consumer.to} is never done")


def _compare(consumers: Sequence[Consumer], directory: Path, findings: Findings, number: int) -> None:
    for folds in (False, True):
        path = directory / f"snapshot-{folds}.jsonl"
        words = ("export", "--to", f"jsonl:{path}", "--duplicates", "fold" if folds else "keep")
        result = scrapy(*words, CRAWL_DIR=directory / "crawl")
        assert result.returncode == 0, result.stderr
        there = snapshot(path)
        findings.documents = len(there)
        for consumer in consumers:
            if consumer.folds is folds:
                findings.wrong += [
                    f"crawl {number + 1}, {consumer.to}: {what}"
                    for what in _differences(consumer.has(), consumer.alike(there))
                ]


def _differences(has: Documents, should: Documents) -> list[str]:
    return [
        *(f"missing: {should[name]['url']}" for name in should.keys() - has.keys()),
        *(f"should be gone: {has[name]['url']}" for name in has.keys() - should.keys()),
        *(
            f"stale: {should[name]['url']}: "
            + ", ".join(
                f"{field} {has[name].get(field)!r:.60}, not {value!r:.60}"
                for field, value in should[name].items()
                if has[name].get(field) != value
            )
            for name in should.keys() & has.keys()
            if has[name] != should[name]
        ),
    ]


def _make_due(directory: Path) -> None:
    """As if the time of every URL that waits had come."""
    connection = apsw.Connection(str(directory / "crawl.db"))
    connection.execute("UPDATE urls SET due = 1 WHERE state = 0; UPDATE hosts SET due = 1 WHERE due IS NOT NULL")
    connection.close()
