"""All clusters of near-duplicates are found, whatever the size of the collection and of its clusters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from crawler.duplicates import discovery, sketch_file
from crawler.duplicates.bands import SKETCH_DTYPE, Bands, minhash_key_columns, simhash_key_columns
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.discovery import MAX_ROUNDS, DuplicateCluster, find_duplicate_clusters
from crawler.duplicates.minhash import PERMUTATIONS
from crawler.duplicates.sketch_file import SketchFile
from crawler.duplicates.words import mix_bits

RULE = DuplicateRule(threshold=0.9)
Marks = NDArray[np.uint16]


def stored(marks: Marks, seed: int = 0) -> list[tuple[int, bytes]]:
    """As a store keeps them, with numbers that are no places."""
    rows = np.zeros(len(marks), dtype=SKETCH_DTYPE)
    rows["minhashes"] = marks
    rows["simhash"] = mix_bits(np.arange(len(marks), dtype=np.uint64) + np.uint64(1 + 1_000_000 * seed))
    return [(7 * place + 3, row.tobytes()) for place, row in enumerate(rows)]


def random_marks(count: int, seed: int) -> Marks:
    return np.random.default_rng(seed).integers(0, 1 << 16, size=(count, PERMUTATIONS), dtype=np.uint16)


def families(sizes: Sequence[int], changed: int, seed: int) -> Marks:
    """Families of documents, each with so many marks of its own, shuffled."""
    chance = np.random.default_rng(seed)
    found = []
    for size in sizes:
        marks = np.repeat(chance.integers(0, 1 << 16, size=(1, PERMUTATIONS), dtype=np.uint16), size, axis=0)
        for own in marks:
            own[chance.choice(PERMUTATIONS, changed, replace=False)] = chance.integers(0, 1 << 16, size=changed)
        found.append(marks)
    return chance.permutation(np.concatenate(found))


def brute_force(marks: Marks, threshold: float) -> set[frozenset[int]]:
    """Connected by pairs that are alike: by comparing all."""
    sets = {place: {place} for place in range(len(marks))}
    for one, other in combinations(range(len(marks)), 2):
        if (marks[one] == marks[other]).mean() >= threshold and sets[one] is not sets[other]:
            sets[one] |= sets[other]
            for place in sets[other]:
                sets[place] = sets[one]
    return {frozenset(7 * place + 3 for place in places) for places in sets.values() if len(places) > 1}


def as_sets(clusters: Iterable[DuplicateCluster]) -> set[frozenset[int]]:
    return {frozenset(cluster.numbers.tolist()) for cluster in clusters}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=12),
    changed=st.integers(0, 6),
    seed=st.integers(0, 1_000),
    threshold=st.sampled_from([0.7, 0.8, 0.9]),
)
def test_clusters_are_those_of_comparing_all_with_all(
    tmp_path: Path, sizes: list[int], changed: int, seed: int, threshold: float
) -> None:
    marks = families(sizes, changed, seed)
    found = find_duplicate_clusters(stored(marks), DuplicateRule(threshold=threshold), tmp_path)
    assert as_sets(found) == brute_force(marks, threshold)


def test_a_chain_is_one_cluster_though_its_ends_are_not_alike(tmp_path: Path) -> None:
    marks = np.repeat(random_marks(1, 1), 6, axis=0)
    for place in range(1, 6):
        marks[place:, 10 * place : 10 * place + 10] += 1  # 5 % further from those before
    (found,) = find_duplicate_clusters(stored(marks), RULE, tmp_path)
    assert found.numbers.tolist() == [number for number, _ in stored(marks)]
    assert found.similarities.tolist() == pytest.approx([1, 0.95, 0.9, 0.85, 0.8, 0.75])
    assert len(found.pairs) == 5
    assert all(pair.similarity >= 0.9 and not pair.is_counted for pair in found.pairs)


def test_several_clusters_may_share_a_key(tmp_path: Path) -> None:
    assert MAX_ROUNDS >= 10
    marks = np.repeat(random_marks(10, 4), 2, axis=0)
    marks[:, :9] = 5  # the first band, of all
    marks[1::2, 9:81:9] += 1  # and no other
    found = find_duplicate_clusters(stored(marks), RULE, tmp_path)
    assert as_sets(found) == brute_force(marks, 0.9)
    assert len(found) == 10


def test_the_largest_comes_first_and_in_each_the_first_of_the_stream(tmp_path: Path) -> None:
    marks = families([2, 5, 3, 1, 5], 2, 9)
    found = find_duplicate_clusters(stored(marks), RULE, tmp_path)
    assert [len(cluster.numbers) for cluster in found] == [5, 5, 3, 2]
    assert found[0].numbers[0] < found[1].numbers[0]
    for cluster in found:
        assert cluster.numbers.tolist() == sorted(cluster.numbers.tolist())
        assert cluster.similarities[0] == 1


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many pairs were looked at, each time."""
    pairs: list[int] = []
    judge = discovery._ClusterSearch._join_similar
    monkeypatch.setattr(
        discovery._ClusterSearch,
        "_join_similar",
        lambda self, ones, others: (pairs.append(len(ones)), judge(self, ones, others)),
    )
    return pairs


def test_ten_thousand_copies_do_not_explode(tmp_path: Path, judged: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    estimates = SketchFile.estimate_similarities
    monkeypatch.setattr(
        SketchFile,
        "estimate_similarities",
        lambda self, ones, others: (compared.append(len(ones)), estimates(self, ones, others))[1],
    )
    marks = np.concatenate([np.repeat(random_marks(1, 1), 10_000, axis=0), random_marks(50, 2)])
    (found,) = find_duplicate_clusters(stored(marks), RULE, tmp_path)
    assert len(found.numbers) == 10_000
    assert sum(judged) < 10_100 * 9  # once in each band
    assert sum(compared) < 10_100 * 2  # once, and once to tell how similar they are to the first


def test_ten_thousand_that_share_a_key_and_are_not_alike_do_not_explode(tmp_path: Path, judged: list[int]) -> None:
    marks = random_marks(10_000, 3)
    marks[:, :9] = 5  # one band in common
    assert find_duplicate_clusters(stored(marks), RULE, tmp_path) == []
    assert sum(judged) < 10_100 * MAX_ROUNDS


def test_ranges_of_keys_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketch_file, "_KEYS_PER_BLOCK", 50)
    marks = families([1] * 100 + [2, 3, 4, 30], 4, 5)
    whole = find_duplicate_clusters(stored(marks), RULE, tmp_path)
    in_parts = find_duplicate_clusters(stored(marks), RULE, tmp_path, memory=1_000)
    assert as_sets(whole) == as_sets(in_parts) == brute_force(marks, 0.9)


def test_each_key_is_in_one_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketch_file, "_KEYS_PER_BLOCK", 64)
    file = SketchFile(tmp_path, Bands(9, 9))
    file.fill(stored(random_marks(500, 1)), lambda done: None)
    parts = list(file.read_band(3, 7))
    assert len(parts) == 7
    assert sorted(place for part in parts for place in part.places.tolist()) == list(range(500))
    assert max(len(part.places) for part in parts) < 150
    assert sum(len(set(part.keys.tolist())) for part in parts) == len(
        {key for part in parts for key in part.keys.tolist()}
    )


def test_keys_are_equal_where_bands_are() -> None:
    marks = random_marks(3, 1)
    marks[1, :9] = marks[0, :9]
    marks[2, 1:9] = marks[0, 1:9]
    first, second = minhash_key_columns(marks, Bands(2, 9))
    assert first[0] == first[1] != first[2]
    assert len(set(second.tolist())) == 3
    swapped = marks.copy()
    swapped[0, [0, 1]] = marks[0, [1, 0]]
    assert next(minhash_key_columns(swapped, Bands(2, 9)))[0] != first[0]


def test_simhashes_that_differ_in_one_half_share_a_key(tmp_path: Path) -> None:
    simhashes = np.array([0x123456789ABCDEF0, 0x123456789ABCDEF0 ^ (1 << 33) ^ (1 << 60)], dtype=np.uint64)
    assert sum(bool(column[0] == column[1]) for column in simhash_key_columns(simhashes)) == 1
    # Marks that agree in nine of ten places, and yet in no band.
    marks = np.repeat(random_marks(1, 1), 2, axis=0)
    marks[1, 4:81:9] += 1
    rows = np.zeros(2, dtype=SKETCH_DTYPE)
    rows["minhashes"], rows["simhash"] = marks, simhashes
    (found,) = find_duplicate_clusters([(1, rows[0].tobytes()), (2, rows[1].tobytes())], RULE, tmp_path)
    assert found.numbers.tolist() == [1, 2]


class Texts:
    """What a comparison of texts would say, and what was asked."""

    def __init__(self, said: float | None) -> None:
        self.said = said
        self.asked: list[tuple[int, int]] = []

    def __call__(self, one: int, other: int) -> float | None:
        self.asked.append((one, other))
        return self.said


@pytest.mark.parametrize(
    ("changed", "said", "is_asked", "is_found"),
    [
        (4, 0.1, False, True),  # .98: surely
        (20, 0.95, True, True),  # .9: in doubt
        (20, 0.85, True, False),
        (26, 0.91, True, True),  # .87: in doubt, and the estimate would say no
        (26, None, True, False),  # the texts cannot be read: the estimate decides
        (14, None, True, True),
        (50, 0.99, False, False),
    ],
)
def test_texts_decide_where_estimates_are_in_doubt(
    tmp_path: Path, changed: int, said: float | None, is_asked: bool, is_found: bool
) -> None:
    marks = np.repeat(random_marks(1, 1), 2, axis=0)
    marks[1, PERMUTATIONS - changed :] += 1
    texts = Texts(said)
    found = find_duplicate_clusters(stored(marks), RULE, tmp_path, compare=texts)
    assert texts.asked == ([(3, 10)] if is_asked else [])
    assert as_sets(found) == ({frozenset([3, 10])} if is_found else set())
    if is_asked and is_found and said is not None:
        assert found[0].pairs == [(3, 10, said, True)]


def test_texts_are_not_compared_of_who_came_together_by_others(tmp_path: Path) -> None:
    marks = np.repeat(random_marks(1, 1), 3, axis=0)
    marks[0, 0] += 1  # in the first band only the second and the third meet, which are .94 alike: in doubt
    marks[1, 180:186] += 1
    marks[2, 186:192] += 1  # in the others both meet the first: .965
    texts = Texts(0.0)
    (found,) = find_duplicate_clusters(stored(marks), RULE, tmp_path, compare=texts)
    assert len(found.numbers) == 3
    assert texts.asked == []


def test_what_is_no_sketch_is_left_out(tmp_path: Path) -> None:
    copies = stored(np.repeat(random_marks(1, 1), 2, axis=0))
    (found,) = find_duplicate_clusters([(1, b""), *copies, (2, b"12345678")], RULE, tmp_path)
    assert found.numbers.tolist() == [3, 10]
    assert find_duplicate_clusters([], RULE, tmp_path) == []
    assert find_duplicate_clusters([(1, b"")], RULE, tmp_path, compare=Texts(1.0)) == []


def test_files_are_removed_also_on_errors(tmp_path: Path) -> None:
    def failing() -> Iterator[tuple[int, bytes]]:
        yield from stored(random_marks(10_000, 1))
        assert list(tmp_path.iterdir()) != []
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        find_duplicate_clusters(failing(), RULE, tmp_path)
    assert list(tmp_path.iterdir()) == []
    find_duplicate_clusters(stored(random_marks(10, 1)), RULE, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    marks = np.repeat(random_marks(1, 1), 2, axis=0)
    marks[1, 180:] += 1
    find_duplicate_clusters(stored(marks), RULE, tmp_path, compare=Texts(1.0), progress=lambda *step: told.append(step))
    assert told[0] == ("sketches", 2, 0)
    assert [step for step in told if step[0] == "bands"] == [("bands", band, 11) for band in range(11)]
    assert told[-1] == ("texts", 0, 1)
