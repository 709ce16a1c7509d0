"""How good is the main text that each method extracts, and how many pages does it read per CPU-second?

From decoded HTML to text, parsing included, on eight sets of labelled pages. Our trees were learned from six of them,
so their quality here is that of trees which were not learned from a page's site (learn-main-text --folds); their speed
is that of the trees in the package. Other libraries run as they come. Then the goals: better than trafilatura where that
is possible, and in no kind of pages worse.
"""

from __future__ import annotations

import argparse
import logging
import signal
import socket
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import pairwise
from multiprocessing import get_context
from statistics import fmean
from typing import NamedTuple, NoReturn

import turbohtml

from benchmarks.extraction_sets import BY_KIND, DATA, SETS, Counts, MarkedPage, counts, f1_by_set, pages_of
from benchmarks.learn_main_text import examples_of, name_of, texts_of_folds
from benchmarks.report import Verdict
from crawler.monitor.progress_bar import showing_progress
from crawler.parse.main_text.extractors import EXTRACTORS, extract
from crawler.parse.main_text.result import MIN_CONFIDENCE, NO_TEXT, MainText, ParsedPage

Method = Callable[[str], str]
OURS = "trees"
FOLDS = 5
PEER = "trafilatura"
# What ours must reach, as a difference to trafilatura's F1, or by itself.
GAINS = {
    "article_benchmark": -0.01,
    "trafilatura_eval": 0.0,
    "readability": 0.0,
    "wcxb": 0.04,
    "trafilatura_more": 0.01,
    "magic_html": 0.02,
    "cleaneval": 0.03,
    "daniel": 0.03,
}
# What it reached by three seeds of folds, less about .01: below it something has broken.
FLOORS = {
    "article_benchmark": 0.945,
    "trafilatura_eval": 0.93,
    "readability": 0.92,
    "wcxb": 0.755,
    "trafilatura_more": 0.93,
    "magic_html": 0.835,
    "cleaneval": 0.91,
    "daniel": 0.86,
}
KIND_LOSS = 0.01  # that a kind may be worse than trafilatura
OTHER_LOSS = 0.005  # that a set may be worse than the other libraries
SHOWN_ONLY = ("readability-lxml",)  # the labels of the set `readability` are its own kind's output
SPEED = 4.0  # times trafilatura's
LONGEST = 60  # seconds that a library may take for a page; then it has found nothing there
CONFIDENCES = (0.0, 0.5, 0.7, 0.8, 0.9, MIN_CONFIDENCE, 0.97, 1.01)
LIMITS = (0.0, 0.8, 0.9, MIN_CONFIDENCE, 0.95, 0.97, 1.01)  # confidence below which a page is given to a second method


class Measured(NamedTuple):
    """Quality and speed of a method on all pages."""

    f1: Mapping[str, float]  # by set, and by kind
    rate: float  # pages a CPU-second

    @property
    def mean(self) -> float:
        return fmean(self.f1[name] for name in SETS)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seeds", default="1,2,3", help="seeds of the folds, with commas; the F1 is the mean")
    parser.add_argument("--worst", type=int, default=0, help="print the pages on which ours does worst")
    parser.add_argument(
        "--second", default="", help="measure the gain of using this method where ours is not confident"
    )


def main(options: argparse.Namespace) -> int:
    if not DATA.is_dir():
        print(f"The labelled pages are not at {DATA}: nothing to measure")
        return 0
    pages = [page for name in SETS for page in pages_of(name)]
    seeds = options.seeds.split(",")
    print(f"{len(pages):,} pages of {len(SETS)} sets; folds of sites with seeds {', '.join(seeds)}", flush=True)
    examples = examples_of(SETS)
    texts = []
    with showing_progress() as show:
        for seed in seeds:
            texts.append(texts_of_folds(examples, FOLDS, seed))
            show("seeds of folds", len(texts), len(seeds))
    found = [[of_seed.get(name_of(page), NO_TEXT) for page in pages] for of_seed in texts]
    judged = [_counts(pages, of_seed) for of_seed in found]
    if options.second:
        return _measure_second_method(pages, found[0], judged[0], options.second)
    measured = {"ours, unseen sites": Measured(_mean(pages, judged), _speed(pages))} | _measure_others(pages)
    print(_table(measured))
    print(_confidence_table(pages, found[0], judged[0]))
    if options.worst:
        print(*_worst(pages, judged[0], options.worst), sep="\n")
    verdicts = _verdicts(measured)
    print(*verdicts, sep="\n")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def _counts(pages: Sequence[MarkedPage], found: Sequence[MainText]) -> list[Counts]:
    return [counts(page, text.text) for page, text in zip(pages, found, strict=True)]


def _mean(pages: Sequence[MarkedPage], judged: Sequence[Sequence[Counts]]) -> dict[str, float]:
    f1 = [f1_by_set(pages, of_seed) for of_seed in judged]
    return {name: fmean(one[name] for one in f1) for name in f1[0]}


# ── Methods ──


@cache
def _libraries() -> dict[str, Method]:
    """Return the other libraries as they come; `make bench-extract` installs those that are only measured."""
    import justext
    import trafilatura
    from boilerpy3.extractors import ArticleExtractor
    from goose3 import Goose
    from newspaper import Article
    from resiliparse.extract.html2text import extract_plain_text

    goose = Goose({"enable_image_fetching": False})
    boilerpy = ArticleExtractor(raise_on_failure=False)
    stop_words = frozenset().union(
        *(
            justext.get_stoplist(name)
            for name in ("English", "German", "French", "Spanish", "Polish", "Russian", "Greek")
        )
    )

    def newspaper(html: str) -> str:
        article = Article("http://page.example/", fetch_images=False)
        article.download(input_html=html)
        article.parse()
        return str(article.text)

    def paragraphs(html: str) -> str:
        return "\n".join(one.text for one in justext.justext(html, stop_words) if not one.is_boilerplate)

    return {
        PEER: lambda html: trafilatura.extract(html, include_comments=False) or "",
        "resiliparse": lambda html: extract_plain_text(html, main_content=True, alt_texts=False),
        "newspaper4k": newspaper,
        "goose3": lambda html: goose.extract(raw_html=html).cleaned_text,
        "jusText": paragraphs,
        "boilerpy3": boilerpy.get_content,
        "turbohtml": partial(_ours, "turbohtml"),
        "readability-lxml": _readability,
    } | {f"our {name}": partial(_ours, name) for name in ("weighed", "slope", "filters", "windows")}


def _ours(name: str, html: str) -> str:
    return extract(ParsedPage(html=html, document=turbohtml.parse(html, positions=False)), name).text


def _readability(html: str) -> str:
    import readability
    from html_text import extract_text

    return str(extract_text(readability.Document(html).summary()))


def _speed(pages: Sequence[MarkedPage]) -> float:
    started = time.process_time()
    for page in pages:
        _ours(OURS, page.html)
    return len(pages) / (time.process_time() - started)


def _measure_others(pages: Sequence[MarkedPage]) -> dict[str, Measured]:
    names = list(_libraries())
    rows = []
    context = get_context("fork")
    with ProcessPoolExecutor(mp_context=context, initializer=_prepare) as pool, showing_progress() as show:
        for row in pool.map(_measure_page, pages, chunksize=10):
            rows.append(row)
            show("pages given to other libraries", len(rows), len(pages))
    return {
        name: Measured(f1_by_set(pages, [row[name][0] for row in rows]), len(pages) / sum(row[name][1] for row in rows))
        for name in names
    }


def _measure_page(page: MarkedPage) -> dict[str, tuple[Counts, float]]:
    found = {}
    for name, method in _libraries().items():
        started = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        try:
            text = method(page.html)
        except Exception:  # a library that fails on a page has found nothing
            text = ""
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        found[name] = counts(page, text), time.process_time() - started
    return found


def _prepare() -> None:
    """Keep libraries from the network, which some of them ask for more, and from logging every odd page."""
    socket.getaddrinfo = _refuse
    socket.socket.connect = _refuse  # type: ignore[method-assign]
    signal.signal(signal.SIGPROF, _stop)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")


def _refuse(*_: object, **__: object) -> NoReturn:
    raise OSError("no network here")


def _stop(*_: object) -> None:
    raise TimeoutError(f"more than {LONGEST} seconds")


# ── Tables ──


def _table(measured: Mapping[str, Measured]) -> str:
    rows = list(next(iter(measured.values())).f1)
    lines = [f"{'':20}" + "".join(f"{name:>20}" for name in measured)]
    lines += [f"{row:20}" + "".join(f"{one.f1[row]:>20.3f}" for one in measured.values()) for row in rows]
    lines.append(f"{'mean of the sets':20}" + "".join(f"{one.mean:>20.3f}" for one in measured.values()))
    lines.append(f"{'pages a CPU-second':20}" + "".join(f"{one.rate:>20.0f}" for one in measured.values()))
    return "\n".join(lines)


def _confidence_table(pages: Sequence[MarkedPage], found: Sequence[MainText], judged: Sequence[Counts]) -> str:
    """Show the mean F1 of the pages of each kind by the confidence in their texts."""
    rows = [row for row in zip(pages, found, judged, strict=True) if row[0].has_whole_text]
    kinds = sorted({page.kind for page, _, _ in rows if page.set == BY_KIND})
    lines = ["", "confidence: mean F1 (pages)" + "".join(f"{kind:>18}" for kind in ["all", *kinds])]
    for low, high in pairwise(CONFIDENCES):
        of_bin = [(page, one) for page, text, one in rows if low <= text.confidence < high]
        cells = [[one.f1 for page, one in of_bin if kind in ("all", page.kind)] for kind in ["all", *kinds]]
        lines.append(
            f"{low:.2f} to {min(high, 1):.2f}{'':15}"
            + "".join(f"{fmean(cell):>10.3f} ({len(cell):5})" if cell else f"{'–':>18}" for cell in cells)
        )
    return "\n".join([*lines, ""])


def _worst(pages: Sequence[MarkedPage], judged: Sequence[Counts], number: int) -> list[str]:
    worst = sorted(zip(pages, judged, strict=True), key=lambda pair: pair[1].f1)
    return [
        f"  {one.f1:.3f}  found {one.found}, extra {one.extra}, missed {one.missed}  {page.kind} {name_of(page)}"
        for page, one in worst[:number]
    ]


def _verdicts(measured: Mapping[str, Measured]) -> list[Verdict]:
    ours, peer = measured["ours, unseen sites"], measured[PEER]
    verdicts = [
        Verdict(
            what=f"{name}: {ours.f1[name]:.3f}, at least {PEER}'s {peer.f1[name]:.3f} {gain:+.3f}",
            holds=ours.f1[name] >= peer.f1[name] + gain,
        )
        for name, gain in GAINS.items()
    ]
    verdicts += [
        Verdict(what=f"{name}: {ours.f1[name]:.3f}, at least {floor:.3f}", holds=ours.f1[name] >= floor)
        for name, floor in FLOORS.items()
    ]
    losses = {name: peer.f1[name] - ours.f1[name] for name in ours.f1 if name.startswith(" ")}
    worst = max(losses, key=lambda name: losses[name])
    verdicts.append(
        Verdict(
            what=f"no kind of {BY_KIND} is more than {KIND_LOSS} worse: the worst is {worst.strip()}, {-losses[worst]:+.3f}",
            holds=losses[worst] <= KIND_LOSS,
        )
    )
    for name, one in measured.items():
        if one is not ours and name != PEER and name not in SHOWN_ONLY and not name.startswith("our"):
            losses = {row: one.f1[row] - ours.f1[row] for row in SETS}
            worst = max(losses, key=lambda row: losses[row])
            verdicts.append(
                Verdict(
                    what=f"no set is more than {OTHER_LOSS} worse than {name}: at worst {worst}, {-losses[worst]:+.3f}",
                    holds=losses[worst] <= OTHER_LOSS,
                )
            )
    ratio = ours.rate / peer.rate
    verdicts.append(Verdict(what=f"{ratio:.1f} × {PEER}'s speed, at least {SPEED:.0f}", holds=ratio >= SPEED))
    return verdicts


# ── A second method ──


def _measure_second_method(
    pages: Sequence[MarkedPage], found: Sequence[MainText], firsts: Sequence[Counts], second: str
) -> int:
    """Print for each limit of confidence the share of pages for the second method, the resulting F1, and the cost."""
    if second not in EXTRACTORS:
        print(f"{second}: no method of ours; there are {', '.join(EXTRACTORS)}")
        return 2
    started = time.process_time()
    seconds = [counts(page, _ours(second, page.html)) for page in pages]
    cost = (time.process_time() - started) / len(pages)
    print(
        f"{'second below':>14}{'share':>8}{'ms/page':>9}" + "".join(f"{name:>20}" for name in SETS) + f"{'mean F1':>9}"
    )
    for limit in LIMITS:
        sent = [text.confidence < limit for text in found]
        mixed = [two if go else one for one, two, go in zip(firsts, seconds, sent, strict=True)]
        f1 = f1_by_set(pages, mixed)
        cells = "".join(f"{f1[name]:>20.3f}" for name in SETS)
        print(
            f"{limit:>14.2f}{fmean(sent):>8.1%}{fmean(sent) * cost * 1000:>9.2f}{cells}"
            f"{fmean(f1[name] for name in SETS):>9.3f}"
        )
    return 0
