"""How well are near-duplicates found? On pairs that somebody has marked, in files."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.evaluation import THRESHOLDS, EvaluationRow, PairEvidence, sweep_thresholds
from crawler.duplicates.labelled_pairs import arrange_pairs, read_pairs, read_texts
from crawler.errors import BadInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """By threshold, in their order."""

    rows: Sequence[EvaluationRow]
    chosen: float  # one of the thresholds
    pairs: int
    documents: int
    is_short: bool  # none of them has words enough to be compared


def evaluated(
    path: Path, documents: Path | None, rule: DuplicateRule, progress: Callable[[str, int, int], None]
) -> Evaluation:
    """At the usual thresholds and at the rule's; or `BadInput` that says what is wrong with a file."""
    pairs = read_pairs(_lines(path), str(path))
    texts = None
    if documents is not None:
        wanted = {name for pair in pairs for name in (pair.one, pair.other)}
        texts = read_texts(_lines(documents), str(documents), wanted)
    found, truth = arrange_pairs(pairs, texts, rule)
    evidence = PairEvidence(found)
    thresholds, rows = sorted({*THRESHOLDS, rule.threshold}), []
    for row in sweep_thresholds(
        evidence, lambda at: truth.duplicates_at(at, evidence), lambda at: replace(rule, threshold=at), thresholds
    ):
        rows.append(row)
        progress("evaluating", len(rows), len(thresholds))
    return Evaluation(
        rows=rows,
        chosen=rule.threshold,
        pairs=len(pairs),
        documents=len(found.words),
        is_short=all(len(words) < rule.fewest_words for words in found.words),
    )


def _lines(path: Path) -> Iterator[str]:
    """Of a file, plain or packed, or `BadInput`."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            yield from file
    except UnicodeDecodeError:
        raise BadInput(f"{path}: is not UTF-8; write it as JSON lines.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}).") from error
