"""What people and programs are told of duplicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from crawler.duplicates.differences import Differences
from crawler.duplicates.evaluation import Quality, Row
from crawler.export.documents import safe_json
from crawler.likest import Like, Likest
from crawler.parse.plain import phrase

MOST_LISTED = 10  # documents of a cluster that people see


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A document of a cluster."""

    name: str
    similarity: float  # to the first
    is_counted: bool = False
    differences: Differences | None = None


# ── find ──


def find_lines(name: str, found: Likest, threshold: float, fewest_words: int) -> Iterator[str]:
    if found.is_short:
        yield f"{phrase(name)} has fewer than {fewest_words} words: only exact copies were looked for."
    if not found.found:
        yield f"Nothing in the collection is {threshold:.0%} or more like {phrase(name)}."
        return
    for like in found.found:
        yield f"{like.similarity:7.1%}  {like.document.url}"
        yield f"{'':9}{like.tier.meaning}; {_mark(like)}"
        if differing := _differing(like.differences):
            yield f"{'':9}{differing}"
    if found.more:
        yield f"and about {found.more:,} more: --most"


def find_json(found: Likest) -> Iterator[str]:
    for like in found.found:
        yield safe_json(
            {
                "url": like.document.url,
                "similarity": round(like.similarity, 4),
                "tier": like.tier.name.lower(),
                "duplicate_of": like.original,
                **_differences_data(like.differences),
            }
        )


def _mark(like: Like) -> str:
    if like.original is None:
        return "in the crawl no duplicate"
    share = f" ({like.document.similarity:.1%})" if like.document.similarity is not None else ""
    return f"in the crawl a duplicate of {like.original}{share}"


# ── clusters ──


def cluster_lines(number: int, size: int, members: Sequence[Member]) -> Iterator[str]:
    yield f"{number:>4}  {size:,} documents"
    for place, member in enumerate(members):
        share = "" if not place else f"{'' if member.is_counted else '~'}{member.similarity:.1%}"
        yield f"{share:>12}  {phrase(member.name)}"
        if differing := _differing(member.differences):
            yield f"{'':14}{differing}"
    if size > len(members):
        yield f"{'':14}and {size - len(members):,} more: --json lists all"


def cluster_json(number: int, size: int, members: Sequence[Member]) -> str:
    documents = [
        {
            "url": member.name,
            "similarity": round(member.similarity, 4),
            "counted": member.is_counted,
            **_differences_data(member.differences),
        }
        for member in members
    ]
    return safe_json({"cluster": number, "size": size, "documents": documents})


# ── evaluate ──


def evaluation_lines(rows: Sequence[Row], chosen: float, pairs: int, documents: int) -> Iterator[str]:
    row = next(row for row in rows if row.threshold == chosen)
    yield f"{pairs:,} pairs of {documents:,} documents; at {chosen:g}, {row.duplicates:,} are near-duplicates"
    yield ""
    yield f"{'':14}{'precision':>10}{'recall':>8}{'F1':>8}"
    for name, found in (("sketch alone", row.sketch), ("cascade", row.cascade)):
        yield f"{name:14}{found.precision:>10.4f}{found.recall:>8.4f}{found.f1:>8.4f}"
    yield f"The cascade compared {row.met:.1%} of the pairs, and read the texts of {row.needed_texts:.1%}."
    yield ""
    yield f"{'':21}{'sketch alone':^24}  {'cascade':^24}"
    yield f"threshold  duplicates{'P':>8}{'R':>8}{'F1':>8}  {'P':>8}{'R':>8}{'F1':>8}   texts read"
    for row in rows:
        cells = "  ".join(_cells(found) for found in (row.sketch, row.cascade))
        yield f"{row.threshold:>9g}{row.duplicates:>12,}{cells}{row.needed_texts:>13.1%}"


def evaluation_json(row: Row, chosen: float) -> str:
    data: dict[str, Any] = {
        "threshold": row.threshold,
        "chosen": row.threshold == chosen,
        "duplicates": row.duplicates,
        "met": row.met,
        "needed_texts": row.needed_texts,
    }
    return safe_json(data | {"sketch": row.sketch._asdict(), "cascade": row.cascade._asdict()})


def _cells(found: Quality) -> str:
    return f"{found.precision:>8.4f}{found.recall:>8.4f}{found.f1:>8.4f}"


# ── differing words ──


def _differing(found: Differences | None) -> str:
    return f"words: {found}" if found else ""


def _differences_data(found: Differences | None) -> dict[str, object]:
    return {"added": found.added, "removed": found.removed} if found is not None else {}
