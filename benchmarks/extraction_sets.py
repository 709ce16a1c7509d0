"""Eight sets of pages with labelled main text, and how well a text agrees with the labels.

Whole texts are compared as bags of 4-word shingles, page by page; article_benchmark's F1 is computed from the mean
precision and the mean recall, as its authors do. Of pages of which only segments are labelled (those that must be found
and those that must not), segments are counted over all pages of a set. wcxb is of seven kinds, each of which counts the
same.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from crawler.parse.charset import decode
from crawler.urls.hosts import host_of, registered_domain

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "extraction"
LEARNED_FROM = ("article_benchmark", "trafilatura_eval", "readability", "wcxb", "trafilatura_more", "magic_html")
ONLY_MEASURED = ("cleaneval", "daniel")
SETS = (*LEARNED_FROM, *ONLY_MEASURED)
BY_KIND = "wcxb"  # the set whose kinds of pages count the same
_RUN = 4
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPage:
    """A page with its labels: the whole main text, or segments that belong to it and segments that do not."""

    set: str
    name: str
    kind: str  # such as article or forum, if the set tells
    domain: str  # registered domain of its site
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


@cache
def pages_of(name: str) -> tuple[MarkedPage, ...]:
    folder = DATA / name
    if (folder / "cases.jsonl").exists():
        rows = [json.loads(line) for line in (folder / "cases.jsonl").read_text("utf-8").splitlines()]
        return tuple(
            _page(name, row, decode(gzip.decompress((folder / row["file"]).read_bytes())).text) for row in rows
        )
    return tuple(
        _page(name, row, row["html"]) for path in sorted(folder.glob("cases-*.jsonl.gz")) for row in _rows(path)
    )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def counts(page: MarkedPage, text: str) -> Counts:
    """Compare an extracted text with the labels of a page."""
    if page.has_whole_text:
        marked, given = _runs(page.text), _runs(text)
        found = (marked & given).total()
        return Counts(found, given.total() - found, marked.total() - found)
    text = _folded(text)
    found = sum(piece in text for piece in page.wanted)
    return Counts(found, sum(piece in text for piece in page.unwanted), len(page.wanted) - found)


def f1_by_set(pages: Sequence[MarkedPage], found: Sequence[Counts]) -> dict[str, float]:
    """Return the F1 of each set, and of each kind in the set whose kinds count the same."""
    of_sets: dict[str, list[tuple[MarkedPage, Counts]]] = {}
    for page, one in zip(pages, found, strict=True):
        of_sets.setdefault(page.set, []).append((page, one))
    result: dict[str, float] = {}
    for name in SETS:
        rows = of_sets.get(name)
        if rows is None:
            continue
        if name == BY_KIND:
            kinds = f1_by_kind(rows)
            result[name] = fmean(kinds.values())
            result |= {f"  {kind}": f1 for kind, f1 in kinds.items()}
        else:
            result[name] = _f1(rows)
    return result


def f1_by_kind(rows: Iterable[tuple[MarkedPage, Counts]]) -> Mapping[str, float]:
    kinds: dict[str, list[float]] = {}
    for page, one in rows:
        kinds.setdefault(page.kind, []).append(one.f1)
    return {kind: fmean(kinds[kind]) for kind in sorted(kinds)}


def _f1(rows: Sequence[tuple[MarkedPage, Counts]]) -> float:
    page, counted = rows[0][0], [one for _, one in rows]
    if not page.has_whole_text:
        return Counts(*map(sum, zip(*counted, strict=True))).f1
    if page.set == "article_benchmark":
        return harmonic_mean(fmean(one.precision for one in counted), fmean(one.recall for one in counted))
    return fmean(one.f1 for one in counted)


def harmonic_mean(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _page(name: str, row: Mapping[str, Any], html: str) -> MarkedPage:
    text = str(row.get("articleBody") or row.get("expected_text") or "")
    site = str(row.get("site") or urlsplit(str(row.get("url", ""))).netloc or row["file"])
    host = host_of(f"http://{site}/") or site
    return MarkedPage(
        set=name,
        name=str(row["file"]).removesuffix(".html.gz"),
        kind=str(row.get("type") or ""),
        domain=registered_domain(host) or host,
        html=html,
        text=text,
        wanted=() if text else _pieces(row.get("with")),
        unwanted=() if text else _pieces(row.get("without")),
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
