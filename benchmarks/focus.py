"""Focused crawls of two webs with ten topics: how soon relevant pages are found, against simple ways to score links.

Every policy crawls every topic in three modes. What each part of the link score adds, and what a coarser order costs,
are measured by crawls without it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import inf, log
from multiprocessing import get_context
from statistics import fmean
from typing import NamedTuple

from benchmarks.focus_crawls import (
    BreadthFirst,
    CrawlMeasures,
    CrawlTask,
    LinkPolicy,
    LinkTextPolicy,
    OraclePolicy,
    OurLinksPolicy,
    ParentScorePolicy,
    QueryWordsPolicy,
    WaitingUrls,
    crawl,
    link_cost,
    measure_crawl,
    reachable,
)
from benchmarks.focus_webs import DATA, WEBS, FocusMode, tasks_of_web
from benchmarks.report import Verdict
from crawler.focus.link_facts import FACTS

PLACES = 64
_LOWEST, _STEP = -6.0, 10 / PLACES  # log-odds of the last place, and of a step
RATIOS = {FocusMode.FEW: 0.96, FocusMode.MANY: 1.03, FocusMode.QUERY: 1.0}  # to the best simple policy of each task
WEB_RATIO = 0.88  # the same on each web
BREADTH_RATIO = 1.4  # times breadth first, mean of all tasks

COST_LINKS, MOST_COST, COST_ROUNDS = 44, 0.3e-3, 3  # links of a page, CPU-seconds for it


def place_of(score: float) -> float:
    """Return the place of a score, from 0 to 63; the best is the last."""
    inside = min(max(score, 1e-9), 1 - 1e-9)
    return min(max((log(inside / (1 - inside)) - _LOWEST) // _STEP, 0.0), PLACES - 1.0)


class PolicyRun(NamedTuple):
    """A way to score links, and to order those that wait."""

    policy: Callable[[CrawlTask], LinkPolicy]
    place: Callable[[float], float] = float


SIMPLE: Mapping[str, PolicyRun] = {
    "query words": PolicyRun(QueryWordsPolicy),
    "parent score": PolicyRun(ParentScorePolicy),
    "link text": PolicyRun(LinkTextPolicy),
}
OURS = "ours"
POLICIES: Mapping[str, PolicyRun] = {
    "breadth first": PolicyRun(lambda task: BreadthFirst()),
    **SIMPLE,
    OURS: PolicyRun(partial(OurLinksPolicy, step=place_of), place_of),
    "oracle": PolicyRun(OraclePolicy),
}
PARTS: Mapping[str, Sequence[str]] = {
    "words of anchor and URL": ("anchor", "URL"),
    "words of the query": ("query in anchor", "query in URL"),
    "words around": ("around",),
    "relevance of pages": ("best page", "all pages", "links"),
    "yield of sources": ("sources",),
    "yield of sections": ("section",),
    "yield of hosts": ("host",),
    "words learned": ("words",),
    "all yields": ("sources", "section", "host", "words"),
}
VARIANTS: Mapping[str, PolicyRun] = {
    **{
        f"without {part}": PolicyRun(partial(OurLinksPolicy, step=place_of, ignored=names), place_of)
        for part, names in PARTS.items()
    },
    "exact order": PolicyRun(partial(OurLinksPolicy, step=place_of)),
    "8 places": PolicyRun(partial(OurLinksPolicy, step=place_of), lambda score: place_of(score) // 8),
    "all links merged": PolicyRun(partial(OurLinksPolicy, step=float), place_of),
    "scored again: 5 URLs a page": PolicyRun(partial(OurLinksPolicy, step=place_of, every=100), place_of),
    "never scored again": PolicyRun(partial(OurLinksPolicy, step=place_of, every=10**9), place_of),
    "all scored again, every 10 pages": PolicyRun(
        partial(OurLinksPolicy, step=place_of, every=10, most=None), place_of
    ),
}

assert {name for names in PARTS.values() for name in names} <= {*FACTS}

Results = dict[CrawlTask, dict[str, CrawlMeasures]]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--parts", action="store_true", help="measure also what each part of the link score adds")
    parser.add_argument("--processes", type=int, default=2)


def main(options: argparse.Namespace) -> int:
    if not DATA.is_dir():
        print(f"The webs with topics are not at {DATA}: nothing to measure")
        return 0
    tasks = [CrawlTask(web, task.name, mode) for web in WEBS for task in tasks_of_web(web) for mode in FocusMode]
    runs = {**POLICIES, **(VARIANTS if options.parts else {})}
    results: Results = {task: {} for task in tasks}
    with ProcessPoolExecutor(options.processes, mp_context=get_context("fork")) as pool:
        jobs = [(task, name) for name in runs for task in tasks]
        for (task, name), measured in zip(jobs, pool.map(_run, *zip(*jobs, strict=True)), strict=True):
            results[task][name] = measured
    print(_table(results))
    if options.parts:
        print(_parts_table(results))
    verdicts = _verdicts(results)
    print(*verdicts, sep="\n")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def _run(task: CrawlTask, name: str) -> CrawlMeasures:
    run = {**POLICIES, **VARIANTS}[name]
    reached = reachable(task)
    most = len(reached - task.task.uncounted) // (2 if name in POLICIES else 4)
    order = crawl(task, run.policy(task), WaitingUrls(len(task.pages), run.place), most)
    return measure_crawl(task, order, reached)


def ratio_to_best(results: Results, web: str | None = None, mode: FocusMode | None = None) -> float:
    """Return our mean auc relative to that of the best simple policy of each task."""
    chosen = [one for task, one in results.items() if web in (None, task.web) and mode in (None, task.mode)]
    best = fmean(max(one[name].auc for name in SIMPLE) for one in chosen)
    return fmean(one[OURS].auc for one in chosen) / best if best else inf


def _table(results: Results) -> str:
    lines = [f"{'web':13}{'topic':17}{'mode':7}{'policy':15}{'harvest':>8}{'r10':>7}{'r25':>7}{'r50':>7}{'auc':>7}"]
    for task, measured in results.items():
        for name in POLICIES:
            start = f"{task.web:13}{task.name:17}{task.mode:7}{name:15}"
            lines.append(start + _row(measured[name]))
    lines.append("")
    for mode in FocusMode:
        for name in POLICIES:
            ours = [measured[name] for task, measured in results.items() if task.mode is mode]
            lines.append(f"{'mean':30}{mode:7}{name:15}" + _row(CrawlMeasures(*map(fmean, zip(*ours, strict=True)))))
    return "\n".join(lines)


def _row(measured: CrawlMeasures) -> str:
    return f"{measured.harvest:8.3f}" + "".join(f"{value:7.3f}" for value in measured[1:])


def _parts_table(results: Results) -> str:
    lines = ["", f"{'mean auc':35}" + "".join(f"{mode:>8}" for mode in FocusMode) + f"{'all':>8}{'gain':>8}"]
    ours = fmean(one[OURS].auc for one in results.values())
    for name in (OURS, *VARIANTS):
        by_mode = [fmean(one[name].auc for task, one in results.items() if task.mode is mode) for mode in FocusMode]
        cells = "".join(f"{value:8.3f}" for value in (*by_mode, fmean(by_mode)))
        lines.append(f"{name:35}{cells}{ours - fmean(by_mode):+8.3f}")
    return "\n".join([*lines, ""])


def _verdicts(results: Results) -> list[Verdict]:
    verdicts = [
        _at_least(
            f"{mode}: mean auc, times that of the best simple policy of each task",
            ratio_to_best(results, None, mode),
            least,
        )
        for mode, least in RATIOS.items()
    ]
    verdicts += [
        _at_least(f"{mode}, {web}: the same", ratio_to_best(results, web, mode), WEB_RATIO)
        for mode in FocusMode
        for web in WEBS
    ]
    ours, breadth = (fmean(one[name].auc for one in results.values()) for name in (OURS, "breadth first"))
    verdicts.append(_at_least("all modes: mean auc, times that of breadth first", ours / breadth, BREADTH_RATIO))
    return [*verdicts, _cost_verdict()]


def _cost_verdict() -> Verdict:
    """Measure the CPU time to score the links of a page and to learn from it, by many pages from the first one on."""
    task = CrawlTask(WEBS[0], tasks_of_web(WEBS[0])[0].name, FocusMode.FEW)
    cost = min(link_cost(task) for _ in range(COST_ROUNDS))
    what = f"scoring and learning a page of {COST_LINKS} links: {cost * 1e3:.2f} CPU-ms, at most {MOST_COST * 1e3}"
    return Verdict(what=what, holds=cost <= MOST_COST)


def _at_least(what: str, value: float, least: float) -> Verdict:
    return Verdict(what=f"{what}: {value:.2f}, at least {least}", holds=value >= least)
