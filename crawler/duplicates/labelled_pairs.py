"""Read pairs of documents that are labelled as near-duplicates or not, from JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.evaluation import DocumentPairs, PairEvidence, Verdicts
from crawler.duplicates.page_sketch import words_shingles
from crawler.duplicates.words import word_hashes
from crawler.errors import BadInput

_MAX_NAMED: Final = 5  # bad lines that the error describes; the others are only counted
T = TypeVar("T")


class _BadLine(ValueError):
    """A line cannot be read; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """Two texts, or the ids of two documents, and their label or similarity."""

    one: str
    other: str
    is_duplicate: bool | None = None
    similarity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairLabels:
    """The ground truth of each pair: a label (1 = duplicate), or a Jaccard coefficient; nan where it is not given."""

    labels: NDArray[np.float64]
    similarities: NDArray[np.float64]

    def duplicates_at(self, threshold: float, evidence: PairEvidence) -> Verdicts:
        """Which pairs are duplicates: by label, else by the coefficient, which is computed if it is not given."""
        unknown = np.isnan(self.labels) & np.isnan(self.similarities)
        similarities = self.similarities.copy()
        similarities[unknown] = evidence.exact_similarities(unknown)
        return np.where(np.isnan(self.labels), similarities >= threshold, self.labels == 1)


def read_pairs(lines: Iterable[str], name: str) -> list[LabelledPair]:
    """All pairs of a file; `BadInput` names the lines that cannot be read."""
    pairs = _read_objects(lines, name, _parse_pair)
    if not pairs:
        raise BadInput(f'{name}: there is no pair in it; write one a line, as {{"a": …, "b": …, "duplicate": true}}.')
    return pairs


def read_texts(lines: Iterable[str], name: str, wanted: Collection[str]) -> dict[str, str]:
    """The texts with these ids from a file of documents; `BadInput` if some are missing."""
    texts = dict(document for document in _read_objects(lines, name, _parse_document) if document[0] in wanted)
    missing = sorted(set(wanted) - texts.keys())
    if missing:
        more = f" and {len(missing) - 1:,} others" if len(missing) > 1 else ""
        raise BadInput(
            f"{name}: {missing[0]!r}{more}, named in pairs, are not in it; is it the file that belongs to them?"
        )
    return texts


def arrange_pairs(
    pairs: Iterable[LabelledPair], texts: Mapping[str, str] | None, rule: DuplicateRule
) -> tuple[DocumentPairs, PairLabels]:
    """Arrange pairs for an evaluation. Without `texts`, the pairs contain the texts themselves instead of ids."""
    pairs = list(pairs)
    places: dict[str, int] = {}
    for pair in pairs:
        places.setdefault(pair.one, len(places))
        places.setdefault(pair.other, len(places))
    words = [word_hashes(texts[name] if texts is not None else name) for name in places]
    documents = DocumentPairs(
        words=words,
        sets=[words_shingles(own, b"", rule) for own in words],
        one=np.array([places[pair.one] for pair in pairs], dtype=np.intp),
        other=np.array([places[pair.other] for pair in pairs], dtype=np.intp),
    )
    return documents, PairLabels(
        labels=_float_array(pair.is_duplicate for pair in pairs),
        similarities=_float_array(pair.similarity for pair in pairs),
    )


def _float_array(values: Iterable[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else float(value) for value in values])


def _read_objects(lines: Iterable[str], name: str, parse: Callable[[dict[str, Any]], T]) -> list[T]:
    """Parse the JSON object on each line; `BadInput` lists the first bad lines."""
    values: list[T] = []
    bad: list[str] = []
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                values.append(parse(_parse_object(line)))
        except _BadLine as error:
            bad.append(f"line {number} {error}")
    if bad:
        more = f"; {len(bad) - _MAX_NAMED:,} more lines are bad, too" if len(bad) > _MAX_NAMED else ""
        raise BadInput(
            f"{name}: {'; '.join(bad[:_MAX_NAMED])}{more}. Nothing was evaluated; mend or remove these lines."
        )
    return values


def _parse_object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise _BadLine("is not JSON") from None
    if not isinstance(value, dict):
        raise _BadLine("is not a JSON object")
    return value


def _parse_document(facts: dict[str, Any]) -> tuple[str, str]:
    if not isinstance(facts.get("text"), str):
        raise _BadLine('has no text under "text"')
    return _parse_name(facts, "id"), facts["text"]


def _parse_pair(facts: dict[str, Any]) -> LabelledPair:
    label = facts.get("duplicate")
    if label is not None and not isinstance(label, bool):
        raise _BadLine('has something else than true or false under "duplicate"')
    return LabelledPair(
        one=_parse_name(facts, "a"),
        other=_parse_name(facts, "b"),
        is_duplicate=label,
        similarity=next(_coefficients(facts), None),
    )


def _parse_name(facts: dict[str, Any], key: str) -> str:
    value = facts.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise _BadLine(f'has neither a text nor a number under "{key}"')
    return str(value)


def _coefficients(facts: dict[str, Any]) -> Iterator[float]:
    """The values of all keys that begin with "jaccard"."""
    for name, value in facts.items():
        if name.startswith("jaccard"):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise _BadLine(f"has no number from 0 to 1 under {name[:40]!r}")
            yield float(value)
