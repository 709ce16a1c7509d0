"""How good is the main text that each method extracts, and how many pages does it read per CPU-second?

From decoded HTML to text, parsing included. All methods take turns on each page, libraries through our interface and on
their own. A method is on the Pareto front if none is both better (mean F1 on the three sets) and faster.

The default was trained on these very pages; learn-main-text --folds measures it on unseen sites.
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import fmean
from typing import NamedTuple

import turbohtml

from benchmarks.extraction_sets import DATA, SETS, Counts, MarkedPage, Quality, counts, pages_of, quality
from benchmarks.report import Verdict
from crawler.parse.main_text.extractors import DEFAULT, EXTRACTORS, extract
from crawler.parse.main_text.result import MIN_CONFIDENCE, ParsedPage

Method = Callable[[str], str]
LIMITS = (
    0.0,
    0.8,
    0.9,
    MIN_CONFIDENCE,
    0.95,
    0.97,
    1.01,
)  # confidence below which a page is given to the second method


class Measured(NamedTuple):
    """Quality and speed of a method on all pages of the chosen sets."""

    name: str
    qualities: dict[str, Quality]
    rate: float  # pages a CPU-second

    @property
    def f1(self) -> float:
        return fmean(found.f1 for found in self.qualities.values())


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--method", action="append", help="measure only this method, and the default")
    parser.add_argument("--set", action="append", choices=SETS, help="measure only on this set")
    parser.add_argument("--worst", type=int, default=0, help="print the pages on which a method does worst")
    parser.add_argument(
        "--second", default="", help="measure the gain of using this method where the default is not confident"
    )


def main(options: argparse.Namespace) -> int:
    if not DATA.is_dir():
        print(f"The marked pages are not at {DATA}: nothing to measure")
        return 0
    logging.disable(logging.CRITICAL)  # libraries log every odd page
    pages = [page for name in options.set or SETS for page in pages_of(name)]
    if options.second:
        return _measure_second_method(pages, options.second)
    methods = {name: method for name, method in _methods() if name in (options.method or [name]) or name == DEFAULT}
    found, seconds = _run(methods, pages)
    measured = [Measured(name, _qualities(pages, found[name]), len(pages) / seconds[name]) for name in methods]
    print(_table(measured))
    if options.worst:
        for name in options.method or [DEFAULT]:
            print(f"\n{name}", *_worst(pages, found[name], options.worst), sep="\n")
    default = next(one for one in measured if one.name == DEFAULT)
    verdict = Verdict(what=f"{DEFAULT} is on the front", holds=_is_on_front(default, measured))
    print(f"\n{DEFAULT} was trained on these pages; for unseen sites: python -m benchmarks learn-main-text --folds 5")
    print(verdict)
    return 0 if verdict.holds else 1


def _methods() -> Iterator[tuple[str, Method]]:
    for name in EXTRACTORS:
        yield name, partial(_ours, name)
    # Needed by this benchmark only: make bench-extract installs them.
    import trafilatura
    from resiliparse.extract.html2text import extract_plain_text

    yield "as it comes: trafilatura", lambda html: trafilatura.extract(html, include_comments=False) or ""
    yield (
        "as it comes: trafilatura fast",
        lambda html: trafilatura.extract(html, include_comments=False, fast=True) or "",
    )
    yield "as it comes: readability-lxml", _readability
    yield "as it comes: resiliparse", lambda html: extract_plain_text(html, main_content=True, alt_texts=False)


def _ours(name: str, html: str) -> str:
    return extract(ParsedPage(html=html, document=turbohtml.parse(html, positions=False)), name).text


def _readability(html: str) -> str:
    import readability
    from html_text import extract_text

    try:
        return str(extract_text(readability.Document(html).summary()))
    except readability.readability.Unparseable:
        return ""


def _run(methods: dict[str, Method], pages: list[MarkedPage]) -> tuple[dict[str, list[Counts]], dict[str, float]]:
    found: dict[str, list[Counts]] = {name: [] for name in methods}
    seconds = dict.fromkeys(methods, 0.0)
    names = list(methods)
    for number, page in enumerate(pages):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            started = time.process_time()
            text = methods[name](page.html)
            seconds[name] += time.process_time() - started
            found[name].append(counts(page, text))
    return found, seconds


def _qualities(pages: list[MarkedPage], found: list[Counts]) -> dict[str, Quality]:
    names = dict.fromkeys(page.set for page in pages)
    return {
        name: quality(name, [one for page, one in zip(pages, found, strict=True) if page.set == name]) for name in names
    }


def _is_on_front(one: Measured, all_of_them: list[Measured]) -> bool:
    return not any(other.f1 >= one.f1 and other.rate >= one.rate for other in all_of_them if other is not one)


def _table(measured: list[Measured]) -> str:
    names = list(measured[0].qualities)
    lines = [f"{'':32}" + "".join(f"{name:>24}" for name in names) + f"{'mean F1':>10}{'pages/CPU-s':>13}"]
    lines.append(f"{'':32}" + f"{'P':>12}{'R':>6}{'F1':>6}" * len(names))
    for one in sorted(measured, key=lambda one: -one.f1):
        cells = "".join(f"{p:>12.3f}{r:>6.3f}{f1:>6.3f}" for p, r, f1 in one.qualities.values())
        front = "  on the front" if _is_on_front(one, measured) else ""
        lines.append(f"{one.name:32}{cells}{one.f1:>10.3f}{one.rate:>13.0f}{front}")
    return "\n".join(lines)


def _worst(pages: list[MarkedPage], found: list[Counts], number: int) -> list[str]:
    worst = sorted(zip(pages, found, strict=True), key=lambda pair: pair[1].f1)
    return [f"  {one.f1:.3f}  found {one.found}, extra {one.extra}, missed {one.missed}  {page.set}/{page.name}"
            for page, one in worst[:number]]  # fmt: skip


def _measure_second_method(pages: list[MarkedPage], second: str) -> int:
    """Print for each limit of confidence the share of pages for the second method, the resulting F1, and the cost."""
    firsts, seconds, confidences, costs = [], [], [], [0.0, 0.0]
    for page in pages:
        started = time.process_time()
        source = ParsedPage(html=page.html, document=turbohtml.parse(page.html, positions=False))
        first = extract(source)
        middle = time.process_time()
        firsts.append(counts(page, first.text))
        confidences.append(first.confidence)
        between = time.process_time()
        other = extract(source, second)
        costs[0] += middle - started
        costs[1] += time.process_time() - between
        seconds.append(counts(page, other.text))
    names = list(dict.fromkeys(page.set for page in pages))
    print(
        f"{'second below':>14}{'share':>8}{'ms/page':>9}" + "".join(f"{name:>20}" for name in names) + f"{'mean F1':>9}"
    )
    for limit in LIMITS:
        sent = [confidence < limit for confidence in confidences]
        mixed = [two if go else one for one, two, go in zip(firsts, seconds, sent, strict=True)]
        share = fmean(sent)
        found = _qualities(pages, mixed)
        cost = (costs[0] + share * costs[1]) / len(pages) * 1000
        cells = "".join(f"{found[name].f1:>20.3f}" for name in names)
        print(f"{limit:>14.2f}{share:>8.1%}{cost:>9.2f}{cells}{fmean(one.f1 for one in found.values()):>9.3f}")
    return 0
