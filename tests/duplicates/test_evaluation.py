"""Precision and recall of near-duplicate detection are measured on labelled pairs."""

from __future__ import annotations

import doctest
import json
import random
from typing import Any

import numpy as np
import pytest

from crawler.duplicates import evaluation
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.evaluation import PairEvidence, Quality, cascade, quality, sweep_thresholds
from crawler.duplicates.labelled_pairs import LabelledPair, PairLabels, arrange_pairs, read_pairs, read_texts
from crawler.errors import BadInput

RULE = DuplicateRule(threshold=0.9)


def text(seed: int) -> str:
    return " ".join(random.Random(seed).choices([f"word{number}" for number in range(900)], k=400))


TEXT, OTHER = text(1), text(2)


def edited(changes: int, original: str = TEXT) -> str:
    """The text with some words replaced, far from each other: each replacement changes five shingles."""
    words = original.split()
    for number in range(changes):
        words[(number + 1) * len(words) // (changes + 1)] = f"edited{number}"
    return " ".join(words)


PAIRS = [
    LabelledPair(one=TEXT, other=TEXT),
    LabelledPair(one=TEXT, other=edited(1)),  # .98
    LabelledPair(one=TEXT, other=edited(4)),  # .90
    LabelledPair(one=TEXT, other=edited(20)),  # .60
    LabelledPair(one=TEXT, other=OTHER),
    LabelledPair(one="too short", other="too short for that"),
    LabelledPair(one="too short", other="Too short!"),
    LabelledPair(one="", other="…"),
]


def test_the_examples() -> None:
    assert doctest.testmod(evaluation).failed == 0


@pytest.mark.parametrize(
    ("verdicts", "truth", "expected"),
    [
        ([1, 1, 0, 0], [1, 1, 0, 0], (1.0, 1.0, 1.0)),
        ([1, 1, 1, 1], [1, 1, 0, 0], (0.5, 1.0, 2 / 3)),
        ([1, 0, 0, 0], [1, 1, 1, 1], (1.0, 0.25, 0.4)),
        ([0, 0, 0, 0], [1, 1, 0, 0], (1.0, 0.0, 0.0)),
        ([1, 1, 0, 0], [0, 0, 0, 0], (0.0, 1.0, 0.0)),
    ],
)
def test_quality(verdicts: list[int], truth: list[int], expected: tuple[float, ...]) -> None:
    assert quality(np.array(verdicts, dtype=bool), np.array(truth, dtype=bool)) == pytest.approx(expected)


def test_the_cascade_decides_as_a_crawl_does() -> None:
    pairs, truth = arrange_pairs(PAIRS, None, RULE)
    evidence = PairEvidence(pairs)
    found = cascade(evidence, RULE)
    assert truth.duplicates_at(0.9, evidence).tolist() == [True, True, True, False, False, False, True, False]
    assert found.is_duplicate.tolist() == [True, True, True, False, False, False, True, False]
    assert found.is_candidate.tolist()[4:] == [False, False, True, False]
    assert found.needed_texts.tolist() == [False, False, True, *[False] * 5]


def test_texts_decide_where_estimates_would_be_wrong() -> None:
    pairs, truth = arrange_pairs(
        [LabelledPair(one=text(seed), other=edited(changes, text(seed))) for changes in (4, 5) for seed in range(30)],
        None,
        RULE,
    )
    evidence = PairEvidence(pairs)
    true = truth.duplicates_at(0.9, evidence)
    assert ((evidence.estimates >= 0.9) != true).any()
    found = cascade(evidence, RULE)
    assert found.is_duplicate.tolist() == true.tolist()
    assert found.needed_texts.any()


def test_texts_without_words_are_similar_to_nothing() -> None:
    pairs, _ = arrange_pairs([LabelledPair(one="", other="…"), LabelledPair(one="", other=TEXT)], None, RULE)
    assert PairEvidence(pairs).estimates.tolist() == [0.0, 0.0]


def test_texts_are_compared_only_near_the_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[float] = []
    count = evaluation.jaccard
    monkeypatch.setattr(evaluation, "jaccard", lambda one, other: counted.append(1) or count(one, other))
    pairs, _ = arrange_pairs(PAIRS, None, RULE)
    evidence = PairEvidence(pairs)
    for _ in range(3):
        cascade(evidence, RULE)
    assert len(counted) == 1


def test_the_sweep_evaluates_each_threshold() -> None:
    pairs, truth = arrange_pairs(PAIRS, None, RULE)
    evidence = PairEvidence(pairs)
    rows = list(
        sweep_thresholds(
            evidence,
            lambda at: truth.duplicates_at(at, evidence),
            lambda at: DuplicateRule(threshold=at),
            (0.5, 0.9, 0.95, 1.0),
        )
    )
    assert [row.duplicates for row in rows] == [5, 4, 3, 2]
    assert all(row.cascade == Quality(1.0, 1.0, 1.0) for row in rows)
    assert rows[0].met > rows[3].met


def test_a_label_takes_precedence_over_the_similarity() -> None:
    pairs, truth = arrange_pairs(
        [
            LabelledPair(one=TEXT, other=TEXT, is_duplicate=False, similarity=1.0),
            LabelledPair(one=TEXT, other=OTHER, is_duplicate=True),
            LabelledPair(one=TEXT, other=OTHER, similarity=0.95),
        ],
        None,
        RULE,
    )
    evidence = PairEvidence(pairs)
    assert isinstance(truth, PairLabels)
    assert truth.duplicates_at(0.9, evidence).tolist() == [False, True, True]
    assert truth.duplicates_at(0.96, evidence).tolist() == [False, True, False]


def lines(*facts: Any) -> list[str]:
    return [fact if isinstance(fact, str) else json.dumps(fact) for fact in facts]


def test_pairs_are_read_in_all_documented_forms() -> None:
    found = read_pairs(
        lines(
            {"a": "x", "b": "y", "duplicate": True},
            "",
            {"a": 1, "b": 2, "jaccard5": 0.25, "other": [1]},
            {"a": "x", "b": "y", "jaccard": 1},
            {"a": "x", "b": "y", "duplicate": None},
        ),
        "pairs",
    )
    assert found == [
        LabelledPair(one="x", other="y", is_duplicate=True),
        LabelledPair(one="1", other="2", similarity=0.25),
        LabelledPair(one="x", other="y", similarity=1.0),
        LabelledPair(one="x", other="y"),
    ]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 2 is not JSON"),
        ("[" * 100_000, "line 2 is not JSON"),
        ("[]", "line 2 is not a JSON object"),
        ({"a": "x"}, 'line 2 has neither a text nor a number under "b"'),
        ({"a": "x", "b": None}, 'line 2 has neither a text nor a number under "b"'),
        ({"a": "x", "b": "y", "duplicate": "yes"}, 'line 2 has something else than true or false under "duplicate"'),
        ({"a": "x", "b": "y", "jaccard5": 2}, "line 2 has no number from 0 to 1 under 'jaccard5'"),
        ({"a": "x", "b": "y", "jaccard": "high"}, "line 2 has no number from 0 to 1 under 'jaccard'"),
    ],
)
def test_bad_lines_are_named_by_number(line: Any, complaint: str) -> None:
    with pytest.raises(BadInput, match=r"^pairs\.jsonl: ") as caught:
        read_pairs(lines({"a": "x", "b": "y"}, line), "pairs.jsonl")
    assert complaint in str(caught.value)


def test_of_many_bad_lines_some_are_named() -> None:
    with pytest.raises(BadInput) as caught:
        read_pairs(["no"] * 100, "pairs")
    assert "line 5 is not JSON; 95 more lines are bad, too." in str(caught.value)


def test_nothing_to_evaluate_is_an_error() -> None:
    with pytest.raises(BadInput, match="no pair in it"):
        read_pairs(["", " \n"], "pairs")


def test_texts_are_those_that_pairs_name() -> None:
    documents = lines({"id": "x", "text": "one"}, {"id": 7, "text": "two"}, {"id": "z", "text": "three"})
    assert read_texts(documents, "documents", {"x", "7"}) == {"x": "one", "7": "two"}
    with pytest.raises(BadInput, match="documents: 'q'"):
        read_texts(documents, "documents", {"x", "q"})
    with pytest.raises(BadInput, match='line 1 has no text under "text"'):
        read_texts(lines({"id": "x"}), "documents", {"x"})
