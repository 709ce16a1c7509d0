"""Three sets of pages with labelled main text, each with the measure that its authors use.

article_benchmark: the whole text is given. Bags of 4-word shingles are compared; F1 is computed from mean precision and
mean recall over the pages. trafilatura_eval: segments that must be found and segments that must not, counted over all
pages. readability: as the first, but F1 is the mean of the F1 of each page.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import NamedTuple
from urllib.parse import urlsplit

from crawler.parse.charset import decode

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "extraction"
SETS = ("article_benchmark", "trafilatura_eval", "readability")
_RUN = 4
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPage:
    """A page with its labels: the whole main text, or segments that belong to it and segments that do not."""

    set: str
    name: str
    site: str
    html: str
    text: str = ""
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()

    @property
    def has_whole_text(self) -> bool:
        return not self.wanted


class Counts(NamedTuple):
    """True positives, false positives and false negatives on one page."""

    found: int
    extra: int
    missed: int

    @property
    def precision(self) -> float:
        return _share(self.found, self.extra, self.missed)

    @property
    def recall(self) -> float:
        return _share(self.found, self.missed, self.extra)

    @property
    def f1(self) -> float:
        return harmonic_mean(self.precision, self.recall)


class Quality(NamedTuple):
    """Precision, recall and F1 of a method on a set."""

    precision: float
    recall: float
    f1: float


@cache
def pages_of(name: str) -> tuple[MarkedPage, ...]:
    rows = [json.loads(line) for line in (DATA / name / "cases.jsonl").read_text("utf-8").splitlines()]
    return tuple(_page(name, row) for row in rows)


def counts(page: MarkedPage, text: str) -> Counts:
    """Compare an extracted text with the labels of a page."""
    if page.has_whole_text:
        marked, given = _runs(page.text), _runs(text)
        found = (marked & given).total()
        return Counts(found, given.total() - found, marked.total() - found)
    text = _folded(text)
    found = sum(piece in text for piece in page.wanted)
    return Counts(found, sum(piece in text for piece in page.unwanted), len(page.wanted) - found)


def quality(name: str, of_pages: Iterable[Counts]) -> Quality:
    of_pages = list(of_pages)
    if name == "trafilatura_eval":
        total = Counts(*map(sum, zip(*of_pages, strict=True)))
        return Quality(total.precision, total.recall, total.f1)
    precision, recall = (
        fmean(values) for values in zip(*((one.precision, one.recall) for one in of_pages), strict=True)
    )
    mean = fmean(one.f1 for one in of_pages)
    return Quality(precision, recall, harmonic_mean(precision, recall) if name == "article_benchmark" else mean)


def harmonic_mean(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _page(name: str, row: dict[str, object]) -> MarkedPage:
    file = str(row["file"])
    return MarkedPage(
        set=name,
        name=file.removesuffix(".html.gz"),
        site=urlsplit(str(row.get("url", ""))).netloc or file,
        html=decode(gzip.decompress((DATA / name / file).read_bytes())).text,
        text=str(row.get("articleBody", row.get("expected_text", ""))),
        wanted=_pieces(row.get("with")),
        unwanted=_pieces(row.get("without")),
    )


def _pieces(value: object) -> tuple[str, ...]:
    return tuple(_folded(str(piece)) for piece in value) if isinstance(value, list) else ()


def _share(right: int, wrong: int, other_wrong: int) -> float:
    if wrong == other_wrong == 0:
        return 1.0
    return right / (right + wrong) if right else 0.0


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    return Counter(tuple(words[start : start + _RUN]) for start in range(max(len(words) - _RUN + 1, 1)))


def _folded(text: str) -> str:
    return " ".join(text.split())
