"""How well does a topic tell pages on topic from others, and what does a score cost?

Average precision over all pages of two webs, after a crawl has fetched 300 of them: breadth first, and best first by
the score of the page that a link is on. Then the threshold of .5, ten reviewed pages, pages of other sites, the cost.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from statistics import fmean
from typing import NamedTuple

from benchmarks.focus_webs import (
    DATA,
    WEBS,
    FocusMode,
    FocusPage,
    FocusTask,
    best_first,
    breadth_first,
    ebola_pages,
    pages_of_web,
    tasks_of_web,
)
from benchmarks.report import Verdict
from crawler.focus.evaluation import average_precision, threshold_quality
from crawler.focus.topic import Topic
from crawler.monitor.progress_bar import showing_progress

OBSERVED = 300  # pages that are fetched before the topic is measured
REVIEWED = 10  # pages that are labelled by hand, the most doubtful of those fetched
REQUIRED = {FocusMode.FEW: 0.60, FocusMode.MANY: 0.72}  # mean average precision, after a breadth-first crawl
MOST_COST = 0.3  # CPU-milliseconds to score a page of 2,400 characters
ORDERS = ("breadth first", "parent score")
_THRESHOLD = 0.5


class TopicQuality(NamedTuple):
    """How well the scores of pages agree with their labels."""

    average_precision: float
    precision: float  # of the pages that score .5 or more
    recall: float
    brier: float  # mean squared difference between score and label


class TaskResult(NamedTuple):
    """What was measured for a topic in one mode and order."""

    task: FocusTask
    mode: FocusMode
    order: str
    all_pages: TopicQuality
    fetched: TopicQuality  # of the pages fetched
    before: TopicQuality  # of all pages but the reviewed ones, before the review
    after: TopicQuality  # the same, after it


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=7, help="rounds in which the cost is measured; the best counts")


def main(options: argparse.Namespace) -> int:
    if not DATA.is_dir():
        print(f"The webs are not at {DATA}: nothing to measure")
        return 0
    results = [*measure_tasks()]
    print(*quality_lines(results), "", *threshold_lines(results), "", *review_lines(results), "", sep="\n")
    print(*ebola_lines(), "", sep="\n")
    found = verdicts(results, score_cost(options.rounds))
    print(*found, sep="\n")
    return 0 if all(verdict.holds for verdict in found) else 1


def measure_tasks() -> Iterator[TaskResult]:
    """Measure all topics in all modes."""
    runs = [(task, mode, order) for web in WEBS for task in tasks_of_web(web) for mode in FocusMode for order in ORDERS]
    with showing_progress() as show:
        for done, (task, mode, order) in enumerate(runs):
            show("topics", done, len(runs))
            yield measure_task(task, mode, order, pages_of_web(task.web))


def measure_task(task: FocusTask, mode: FocusMode, order: str, pages: Sequence[FocusPage]) -> TaskResult:
    """Let a topic observe the first pages of a crawl, and measure how it scores all pages, before and after a review."""
    topic = task.learn(mode, pages)
    fetched = observe_crawl(topic, task.starts(mode), order, pages)
    scores = [topic.score(page.topic_text) for page in pages]
    counted = [number for number in range(len(pages)) if number not in task.uncounted]
    candidates = [number for number in fetched if number not in task.uncounted]
    reviewed = sorted(candidates, key=lambda number: abs(scores[number] - _THRESHOLD))[:REVIEWED]
    told = topic.with_examples(*(
        [pages[number].topic_text for number in reviewed if (number in task.relevant) is label] for label in (True, False)
    ))  # fmt: skip
    rest = [number for number in counted if number not in reviewed]
    new_scores = {number: told.score(pages[number].topic_text) for number in rest}
    return TaskResult(
        task,
        mode,
        order,
        quality_of(counted, scores, task),
        quality_of(candidates, scores, task),
        quality_of(rest, scores, task),
        quality_of(rest, new_scores, task),
    )


def observe_crawl(topic: Topic, starts: Sequence[int], order: str, pages: Sequence[FocusPage]) -> list[int]:
    """Let a topic observe the pages that a crawl fetches first; return their numbers."""

    def fetch(number: int) -> float:
        topic.observe(pages[number].topic_text)
        return topic.score(pages[number].topic_text)

    if order == ORDERS[1]:
        return best_first(pages, starts, OBSERVED, fetch)
    fetched = breadth_first(pages, starts, OBSERVED)
    for number in fetched:
        topic.observe(pages[number].topic_text)
    return fetched


def quality_of(numbers: Iterable[int], scores: Sequence[float] | Mapping[int, float], task: FocusTask) -> TopicQuality:
    rows = [(scores[number], number in task.relevant) for number in numbers]
    return quality([score for score, _ in rows], [label for _, label in rows])


def quality(scores: Sequence[float], labels: Sequence[bool]) -> TopicQuality:
    """Compare scores with labels.

    >>> quality([0.9, 0.6, 0.2], [True, False, True])
    TopicQuality(average_precision=0.8333333333333333, precision=0.5, recall=0.5, brier=0.33666666666666667)
    """
    kept = threshold_quality(scores, labels, _THRESHOLD)
    return TopicQuality(
        average_precision(scores, labels),
        kept.precision,
        kept.recall,
        fmean([(score - label) ** 2 for score, label in zip(scores, labels, strict=True)] or [0.0]),
    )


# ── Cost ──


def score_cost(rounds: int) -> float:
    """Return the CPU-milliseconds to score a page of 2,400 characters, in the best of some rounds."""
    [task, *_] = tasks_of_web(WEBS[0])
    pages = pages_of_web(task.web)
    topic = task.learn(FocusMode.MANY, pages)
    observe_crawl(topic, task.seeds, ORDERS[0], pages)
    texts = [page.topic_text for page in Random(1).sample(pages, 1_000) if len(page.text) >= 2_400]
    return min(_seconds_to_score(topic, texts) for _ in range(rounds)) / len(texts) * 1_000


def _seconds_to_score(topic: Topic, texts: Sequence[str]) -> float:
    started = time.process_time()
    for text in texts:
        topic.score(text)
    return time.process_time() - started


# ── Tables ──


def _mean(results: Iterable[TaskResult], part: str, figure: str) -> float:
    return fmean(getattr(getattr(result, part), figure) for result in results)


def _table(results: Sequence[TaskResult], title: str, cell: str, figures: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a row for each topic and a column for each mode and order, and the means below."""
    columns = [(mode, order) for mode in FocusMode for order in ORDERS]
    yield f"{title:18}" + "".join(f"{mode + ', ' + order:>22}" for mode, order in columns)
    rows: dict[str, list[TaskResult]] = {}
    for result in results:
        rows.setdefault(result.task.name, []).append(result)
    for name, of_row in [*rows.items(), ("mean", list(results))]:
        cells = [[result for result in of_row if (result.mode, result.order) == column] for column in columns]
        shown = (cell.format(*(_mean(of_cell, *figure) for figure in figures)) for of_cell in cells)
        yield f"{name:18}" + "".join(f"{text:>22}" for text in shown)


def quality_lines(results: Sequence[TaskResult]) -> Iterator[str]:
    yield from _table(results, "average precision", "{:.3f}", [("all_pages", "average_precision")])


def threshold_lines(results: Sequence[TaskResult]) -> Iterator[str]:
    figures = [("all_pages", "precision"), ("all_pages", "recall"), ("all_pages", "brier")]
    yield "Scores of .5 and more: precision, recall; Brier score. First of all pages, then of those fetched"
    yield from _table(results, "all pages", "{:.2f} {:.2f} {:.4f}", figures)
    figures = [("fetched", "precision"), ("fetched", "recall"), ("fetched", "brier")]
    yield from _table(results, "pages fetched", "{:.2f} {:.2f} {:.4f}", figures)


def review_lines(results: Sequence[TaskResult]) -> Iterator[str]:
    yield f"Average precision before and after {REVIEWED} reviewed pages, the most doubtful of those fetched"
    figures = [("before", "average_precision"), ("after", "average_precision")]
    yield from _table(results, "review", "{:.3f} {:.3f}", figures)


def ebola_lines() -> Iterator[str]:
    """Measure pages of many sites that were not looked at before: learned from a tenth of them, or from a query."""
    pages = list(ebola_pages())
    Random(1).shuffle(pages)
    yield "An outbreak of Ebola among other diseases, 150 pages of as many sites: average precision, precision, recall"
    for name, count, query in (
        ("query", 0, "ebola outbreak virus"),
        ("few", 5, "ebola outbreak virus"),
        ("many", 25, ""),
    ):
        kinds = [[page for page in pages if page.is_relevant is label][:count] for label in (True, False)]
        examples = [page.text for page in kinds[0]], [page.text for page in kinds[1] if count >= 20]
        topic = Topic.learn(*examples, query)
        for page in pages:
            topic.observe(page.text)
        rest = [page for page in pages if page not in kinds[0] and page not in kinds[1]]
        found = quality([topic.score(page.text) for page in rest], [page.is_relevant for page in rest])
        yield f"{name:18}{found.average_precision:.3f} {found.precision:.2f} {found.recall:.2f}"


def verdicts(results: Sequence[TaskResult], cost: float) -> list[Verdict]:
    """Judge the measurements by what they must reach."""
    found = []
    for mode, least in REQUIRED.items():
        value = _mean(
            [one for one in results if (one.mode, one.order) == (mode, ORDERS[0])], "all_pages", "average_precision"
        )
        found.append(
            Verdict(what=f"average precision, {mode}: {value:.3f}, at least {least:.2f}", holds=value >= least)
        )
    few = [one for one in results if one.mode is FocusMode.FEW]
    before, after = (_mean(few, part, "average_precision") for part in ("before", "after"))
    found.append(Verdict(what=f"{REVIEWED} reviewed pages, few: {before:.3f} -> {after:.3f}", holds=after > before))
    found.append(Verdict(what=f"a score costs {cost:.3f} ms, at most {MOST_COST}", holds=cost <= MOST_COST))
    return found
