"""Run the two crawlers that are compared, each as its users would."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from benchmarks.measure import Cost, run
from benchmarks.server import ROOT, RequestLog, Served

BESIDES = 100  # new pages of an open web fetched besides the seeds: hosts do not finish at the same time
NO_SEEDS = 65  # exit code of a crawl that has nothing to fetch
_LIMIT = 600.0  # seconds that one run may take


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One crawl: its cost, the requests that the server got, its statistics and its summary."""

    cost: Cost
    requests: RequestLog
    stats: dict[str, float]
    summary: dict[str, Any] = field(default_factory=dict)
    archive: int = 0  # bytes
    store: int = 0  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The server, the directory and the core of one round."""

    served: Served
    directory: Path
    core: int | None

    def seeds(self) -> Path:
        path = self.directory / "seeds.txt"
        path.write_text("\n".join(self.served.web.seeds()) + "\n", encoding="ascii")
        return path


class Side(Protocol):
    """A crawler that can be measured."""

    @property
    def name(self) -> str: ...

    def start_up(self, scene: Scene) -> Cost:
        """Run the crawler without fetching anything, to measure the cost of its start."""

    def crawl(self, scene: Scene) -> Run: ...


class Stock:
    """Stock Scrapy."""

    name = "stock"

    def start_up(self, scene: Scene) -> Cost:
        nothing = scene.directory / "nothing.txt"
        nothing.touch()
        return self._run(scene, nothing, scene.directory / "stock-start.log")

    def crawl(self, scene: Scene) -> Run:
        log = scene.directory / "stock.log"
        cost = self._run(scene, scene.seeds(), log)
        return Run(cost=cost, requests=scene.served.take(), stats=_stats(log))

    def _run(self, scene: Scene, seeds: Path, log: Path) -> Cost:
        words = ["runspider", str(ROOT / "benchmarks" / "stock_spider.py"), "-a", f"seeds={seeds}"]
        if scene.served.web.is_open:
            words += ["-a", "stop=seeds"]
        return scrapy(words, {}, cwd=scene.directory, log=log, core=scene.core)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """Our crawler with everything switched on: robots.txt, archive, commits."""

    processes: int | None = None  # content processes; None = the number in the settings
    known: Path | None = None  # a store to begin with
    settings: Mapping[str, object] = field(default_factory=dict)  # besides the usual ones
    name: str = "ours"
    topic: Path | None = None  # the file of a topic, for a focused crawl

    @property
    def _spider(self) -> str:
        return "focused" if self.topic is not None else "web"

    def start_up(self, scene: Scene) -> Cost:
        directory = scene.directory / "crawl"
        directory.mkdir()
        if self.topic is not None:
            (directory / "topics").mkdir()
            shutil.copy(self.topic, directory / "topics")
        if self.known is not None:
            shutil.copy(self.known, directory / "crawl.db")
        return self.start_again(scene)

    def start_again(self, scene: Scene) -> Cost:
        """Run the crawler once more without fetching anything."""
        log = scene.directory / "ours-start.log"
        return scrapy(
            ["crawl", self._spider], self._settings(scene), cwd=ROOT, log=log, core=scene.core, codes=(0, NO_SEEDS)
        )

    def crawl(self, scene: Scene, *, under: Sequence[str] = ("scrapy",)) -> Run:
        """Crawl in the directory of `start_up`."""
        log, summary = scene.directory / "ours.log", scene.directory / "summary.json"
        words = ["crawl", self._spider, "-a", f"seeds={scene.seeds()}"]
        if "--summary" in _help():
            words += ["--summary", str(summary)]
        cost = scrapy(words, self._settings(scene), cwd=ROOT, log=log, core=scene.core, under=under)
        directory = scene.directory / "crawl"
        return Run(
            cost=cost,
            requests=scene.served.take(),
            stats=_stats(log),
            summary=json.loads(summary.read_text()) if summary.exists() else {},
            archive=sum(path.stat().st_size for path in (directory / "warc").iterdir()),
            store=sum(path.stat().st_size for path in directory.glob("crawl.db*")),
        )

    def _settings(self, scene: Scene) -> dict[str, object]:
        settings: dict[str, object] = {
            "CRAWL_DIR": scene.directory / "crawl",
            "SCOPE": "any",
            # Else the start checks the scope of all known URLs again, which is no cost of a page.
            "URL_PORTS": scene.served.web.port,
            "OWN_HOSTS": "127.30.0.*",
            "INTRANET_HOSTS": "127.30.0.*",
            "INTRANET_NETWORKS": "127.30.0.0/16",
            "POLITENESS_MIN_DELAY": 0,
            "SITEMAPS": False,  # only linked URLs are requested
            "PROBE_AFTER": 0,
            "POLITENESS_LATENCY_FACTOR": 0,
            "CRAWL_MAX_PAGES": scene.served.web.pages + BESIDES if scene.served.web.is_open else 0,
            "STATS_DUMP": True,
        }
        processes = {} if self.processes is None else {"CONTENT_PROCESSES": self.processes}
        return settings | processes | dict(self.settings)


def scrapy(
    words: Sequence[str],
    settings: Mapping[str, object],
    *,
    cwd: Path,
    log: Path,
    core: int | None,
    under: Sequence[str] = ("scrapy",),
    codes: Sequence[int] = (0,),
) -> Cost:
    given = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    cost = run(
        [sys.executable, "-m", *under, *words, *given],
        cwd=cwd,
        output=log,
        core=core,
        environment=_environment(),
        limit=_LIMIT,
    )
    if cost.code not in codes:
        raise SystemExit(f"{' '.join(words)} ended with code {cost.code}; the end of its output:\n{_tail(log)}")
    return cost


def _environment() -> dict[str, str]:
    """Return the environment without variables that would choose other settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SCRAPY")}


def _help() -> str:
    """Return the help text of our crawl command."""
    command = [sys.executable, "-m", "scrapy", "crawl", "--help"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def _stats(log: Path) -> dict[str, float]:
    """Read the numbers among the statistics that Scrapy prints at the end."""
    return {name: float(value) for name, value in re.findall(r"'([\w/]+)': ([\d.]+)", log.read_text(errors="replace"))}


def _tail(log: Path, lines: int = 25) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
