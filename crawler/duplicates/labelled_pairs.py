"""Pairs of documents of which somebody says whether they are near-duplicates, as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.evaluation import DocumentPairs, PairEvidence, Said
from crawler.duplicates.page_sketch import words_shingles
from crawler.duplicates.words import word_hashes
from crawler.errors import BadInput

_MOST_NAMED: Final = 5  # bad lines that are described; the others are counted
T = TypeVar("T")


class _Bad(ValueError):
    """What is wrong with a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """Two texts, or what they are called, and what is said of them."""

    one: str
    other: str
    is_duplicate: bool | None = None
    similarity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairLabels:
    """What is true of each pair: said, or given as a coefficient; nan where neither is."""

    said: NDArray[np.float64]
    similarities: NDArray[np.float64]

    def at(self, threshold: float, evidence: PairEvidence) -> Said:
        """Which pairs are duplicates; where nobody says so, by their coefficient, counted if it is not given."""
        unknown = np.isnan(self.said) & np.isnan(self.similarities)
        similarities = self.similarities.copy()
        similarities[unknown] = evidence.counted(unknown)
        return np.where(np.isnan(self.said), similarities >= threshold, self.said == 1)


def read_pairs(lines: Iterable[str], name: str) -> list[LabelledPair]:
    """All pairs of a file, or `BadInput` that names the lines that are none."""
    pairs = _read(lines, name, _pair)
    if not pairs:
        raise BadInput(f'{name}: there is no pair in it; write one a line, as {{"a": …, "b": …, "duplicate": true}}.')
    return pairs


def read_texts(lines: Iterable[str], name: str, wanted: Collection[str]) -> dict[str, str]:
    """Those texts of a file of documents that pairs name; all of them, or `BadInput`."""
    texts = dict(document for document in _read(lines, name, _document) if document[0] in wanted)
    missing = sorted(set(wanted) - texts.keys())
    if missing:
        more = f" and {len(missing) - 1:,} others" if len(missing) > 1 else ""
        raise BadInput(
            f"{name}: {missing[0]!r}{more}, named in pairs, are not in it; is it the file that belongs to them?"
        )
    return texts


def arranged(
    pairs: Iterable[LabelledPair], texts: Mapping[str, str] | None, rule: DuplicateRule
) -> tuple[DocumentPairs, PairLabels]:
    """As they are evaluated. Without texts of documents, pairs have their own."""
    pairs = list(pairs)
    places: dict[str, int] = {}
    for pair in pairs:
        places.setdefault(pair.one, len(places))
        places.setdefault(pair.other, len(places))
    words = [word_hashes(texts[name] if texts is not None else name) for name in places]
    found = DocumentPairs(
        words=words,
        sets=[words_shingles(own, b"", rule) for own in words],
        one=np.array([places[pair.one] for pair in pairs], dtype=np.intp),
        other=np.array([places[pair.other] for pair in pairs], dtype=np.intp),
    )
    return found, PairLabels(
        said=_numbers(pair.is_duplicate for pair in pairs),
        similarities=_numbers(pair.similarity for pair in pairs),
    )


def _numbers(values: Iterable[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else float(value) for value in values])


def _read(lines: Iterable[str], name: str, of: Callable[[dict[str, Any]], T]) -> list[T]:
    found: list[T] = []
    bad: list[str] = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                found.append(of(_object(line)))
        except _Bad as error:
            bad.append(f"line {number} {error}")
    if bad:
        more = f"; {len(bad) - _MOST_NAMED:,} more lines are bad, too" if len(bad) > _MOST_NAMED else ""
        raise BadInput(
            f"{name}: {'; '.join(bad[:_MOST_NAMED])}{more}. Nothing was evaluated; mend or remove these lines."
        )
    return found


def _object(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise _Bad("is not JSON") from None
    if not isinstance(found, dict):
        raise _Bad("is not a JSON object")
    return found


def _document(facts: dict[str, Any]) -> tuple[str, str]:
    if not isinstance(facts.get("text"), str):
        raise _Bad('has no text under "text"')
    return _name(facts, "id"), facts["text"]


def _pair(facts: dict[str, Any]) -> LabelledPair:
    said = facts.get("duplicate")
    if said is not None and not isinstance(said, bool):
        raise _Bad('has something else than true or false under "duplicate"')
    return LabelledPair(
        one=_name(facts, "a"),
        other=_name(facts, "b"),
        is_duplicate=said,
        similarity=next(_coefficients(facts), None),
    )


def _name(facts: dict[str, Any], key: str) -> str:
    value = facts.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise _Bad(f'has neither a text nor a number under "{key}"')
    return str(value)


def _coefficients(facts: dict[str, Any]) -> Iterator[float]:
    for name, value in facts.items():
        if name.startswith("jaccard"):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise _Bad(f"has no number from 0 to 1 under {name[:40]!r}")
            yield float(value)
