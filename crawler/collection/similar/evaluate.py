"""Evaluate near-duplicate detection on files of labelled pairs."""

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
    """The quality of detection at each threshold, in ascending order."""

    rows: Sequence[EvaluationRow]
    chosen: float  # the rule's threshold, which is that of one of the rows
    pairs: int
    documents: int
    is_short: bool  # no document has enough words to be compared


def evaluate_pairs(
    path: Path,
    documents: Path | None,
    rule: DuplicateRule,
    progress: Callable[[str, int, int], None],
    *,
    with_datasketch: bool = False,
) -> Evaluation:
    """Evaluate at the usual thresholds and at the rule's; `BadInput` says what is wrong with a file."""
    pairs = read_pairs(_lines(path), str(path))
    texts = None
    if documents is not None:
        wanted = {name for pair in pairs for name in (pair.one, pair.other)}
        texts = read_texts(_lines(documents), str(documents), wanted)
    arranged, truth = arrange_pairs(pairs, texts, rule)
    evidence = PairEvidence(arranged, with_datasketch=with_datasketch)
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
        documents=len(arranged.words),
        is_short=all(len(words) < rule.fewest_words for words in arranged.words),
    )


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file, plain or gzipped; `BadInput` if it cannot be read."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            yield from file
    except UnicodeDecodeError:
        raise BadInput(f"{path}: is not UTF-8; write it as JSON lines.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}).") from error
