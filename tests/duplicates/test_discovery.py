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
MinHashes = NDArray[np.uint16]


def stored(minhashes: MinHashes, seed: int = 0) -> list[tuple[int, bytes]]:
    """The sketches as a store keeps them, under numbers that differ from their places."""
    rows = np.zeros(len(minhashes), dtype=SKETCH_DTYPE)
    rows["minhashes"] = minhashes
    rows["simhash"] = mix_bits(np.arange(len(minhashes), dtype=np.uint64) + np.uint64(1 + 1_000_000 * seed))
    return [(7 * place + 3, row.tobytes()) for place, row in enumerate(rows)]


def random_minhashes(count: int, seed: int) -> MinHashes:
    return np.random.default_rng(seed).integers(0, 1 << 16, size=(count, PERMUTATIONS), dtype=np.uint16)


def families(sizes: Sequence[int], changed: int, seed: int) -> MinHashes:
    """Families of similar documents, each with `changed` minhashes of its own, in random order."""
    chance = np.random.default_rng(seed)
    found = []
    for size in sizes:
        minhashes = np.repeat(chance.integers(0, 1 << 16, size=(1, PERMUTATIONS), dtype=np.uint16), size, axis=0)
        for own in minhashes:
            own[chance.choice(PERMUTATIONS, changed, replace=False)] = chance.integers(0, 1 << 16, size=changed)
        found.append(minhashes)
    return chance.permutation(np.concatenate(found))


def brute_force(minhashes: MinHashes, threshold: float) -> set[frozenset[int]]:
    """The clusters of documents connected by similar pairs, found by comparing all with all."""
    sets = {place: {place} for place in range(len(minhashes))}
    for one, other in combinations(range(len(minhashes)), 2):
        if (minhashes[one] == minhashes[other]).mean() >= threshold and sets[one] is not sets[other]:
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
    minhashes = families(sizes, changed, seed)
    found = find_duplicate_clusters(stored(minhashes), DuplicateRule(threshold=threshold), tmp_path)
    assert as_sets(found) == brute_force(minhashes, threshold)


def test_a_chain_is_one_cluster_though_its_ends_are_not_similar(tmp_path: Path) -> None:
    minhashes = np.repeat(random_minhashes(1, 1), 6, axis=0)
    for place in range(1, 6):
        minhashes[place:, 10 * place : 10 * place + 10] += 1  # 5 % further from those before
    (found,) = find_duplicate_clusters(stored(minhashes), RULE, tmp_path)
    assert found.numbers.tolist() == [number for number, _ in stored(minhashes)]
    assert found.similarities.tolist() == pytest.approx([1, 0.95, 0.9, 0.85, 0.8, 0.75])
    assert len(found.pairs) == 5
    assert all(pair.similarity >= 0.9 and not pair.is_counted for pair in found.pairs)


def test_several_clusters_may_share_a_key(tmp_path: Path) -> None:
    assert MAX_ROUNDS >= 10
    minhashes = np.repeat(random_minhashes(10, 4), 2, axis=0)
    minhashes[:, :9] = 5  # the first band, of all
    minhashes[1::2, 9:81:9] += 1  # and no other
    found = find_duplicate_clusters(stored(minhashes), RULE, tmp_path)
    assert as_sets(found) == brute_force(minhashes, 0.9)
    assert len(found) == 10


def test_the_largest_comes_first_and_in_each_the_first_of_the_stream(tmp_path: Path) -> None:
    minhashes = families([2, 5, 3, 1, 5], 2, 9)
    found = find_duplicate_clusters(stored(minhashes), RULE, tmp_path)
    assert [len(cluster.numbers) for cluster in found] == [5, 5, 3, 2]
    assert found[0].numbers[0] < found[1].numbers[0]
    for cluster in found:
        assert cluster.numbers.tolist() == sorted(cluster.numbers.tolist())
        assert cluster.similarities[0] == 1


@pytest.fixture
def compared_in_groups(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of pairs in each comparison of documents that share keys."""
    pairs: list[int] = []
    join_similar = discovery.ClusterSearch.join_similar
    monkeypatch.setattr(
        discovery.ClusterSearch,
        "join_similar",
        lambda self, ones, others: (pairs.append(len(ones)), join_similar(self, ones, others)),
    )
    return pairs


def test_ten_thousand_copies_do_not_explode(
    tmp_path: Path, compared_in_groups: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []
    estimates = SketchFile.estimate_similarities
    monkeypatch.setattr(
        SketchFile,
        "estimate_similarities",
        lambda self, ones, others: (compared.append(len(ones)), estimates(self, ones, others))[1],
    )
    minhashes = np.concatenate([np.repeat(random_minhashes(1, 1), 10_000, axis=0), random_minhashes(50, 2)])
    (found,) = find_duplicate_clusters(stored(minhashes), RULE, tmp_path)
    assert len(found.numbers) == 10_000
    assert sum(compared_in_groups) < 10_100 * 9  # once in each band
    assert sum(compared) < 10_100 * 2  # once, and once to tell how similar they are to the first


def test_ten_thousand_that_share_a_key_and_are_not_similar_do_not_explode(
    tmp_path: Path, compared_in_groups: list[int]
) -> None:
    minhashes = random_minhashes(10_000, 3)
    minhashes[:, :9] = 5  # one band in common
    assert find_duplicate_clusters(stored(minhashes), RULE, tmp_path) == []
    assert sum(compared_in_groups) < 10_100 * MAX_ROUNDS


def test_ranges_of_keys_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketch_file, "_KEYS_PER_BLOCK", 50)
    minhashes = families([1] * 100 + [2, 3, 4, 30], 4, 5)
    whole = find_duplicate_clusters(stored(minhashes), RULE, tmp_path)
    in_parts = find_duplicate_clusters(stored(minhashes), RULE, tmp_path, memory=1_000)
    assert as_sets(whole) == as_sets(in_parts) == brute_force(minhashes, 0.9)


def test_each_key_is_in_one_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketch_file, "_KEYS_PER_BLOCK", 64)
    file = SketchFile(tmp_path, Bands(9, 9))
    file.fill(stored(random_minhashes(500, 1)), lambda done: None)
    parts = list(file.read_band(3, 7))
    assert len(parts) == 7
    assert sorted(place for part in parts for place in part.places.tolist()) == list(range(500))
    assert max(len(part.places) for part in parts) < 150
    assert sum(len(set(part.keys.tolist())) for part in parts) == len(
        {key for part in parts for key in part.keys.tolist()}
    )


def test_keys_are_equal_where_bands_are() -> None:
    minhashes = random_minhashes(3, 1)
    minhashes[1, :9] = minhashes[0, :9]
    minhashes[2, 1:9] = minhashes[0, 1:9]
    first, second = minhash_key_columns(minhashes, Bands(2, 9))
    assert first[0] == first[1] != first[2]
    assert len(set(second.tolist())) == 3
    swapped = minhashes.copy()
    swapped[0, [0, 1]] = minhashes[0, [1, 0]]
    assert next(minhash_key_columns(swapped, Bands(2, 9)))[0] != first[0]


def test_simhashes_that_differ_in_one_half_share_a_key(tmp_path: Path) -> None:
    simhashes = np.array([0x123456789ABCDEF0, 0x123456789ABCDEF0 ^ (1 << 33) ^ (1 << 60)], dtype=np.uint64)
    assert sum(bool(column[0] == column[1]) for column in simhash_key_columns(simhashes)) == 1
    # MinHashes that agree in nine of ten places, and yet in no band.
    minhashes = np.repeat(random_minhashes(1, 1), 2, axis=0)
    minhashes[1, 4:81:9] += 1
    rows = np.zeros(2, dtype=SKETCH_DTYPE)
    rows["minhashes"], rows["simhash"] = minhashes, simhashes
    (found,) = find_duplicate_clusters([(1, rows[0].tobytes()), (2, rows[1].tobytes())], RULE, tmp_path)
    assert found.numbers.tolist() == [1, 2]


class Texts:
    """A comparison of texts that always gives one similarity, and records its calls."""

    def __init__(self, similarity: float | None) -> None:
        self.similarity = similarity
        self.calls: list[tuple[int, int]] = []

    def __call__(self, one: int, other: int) -> float | None:
        self.calls.append((one, other))
        return self.similarity


@pytest.mark.parametrize(
    ("changed", "similarity", "is_compared", "is_found"),
    [
        (4, 0.1, False, True),  # estimate .98: above the margin
        (20, 0.95, True, True),  # .9: within the margin
        (20, 0.85, True, False),
        (26, 0.91, True, True),  # .87: within the margin, and the estimate alone would say no
        (26, None, True, False),  # the texts cannot be read: the estimate decides
        (14, None, True, True),
        (50, 0.99, False, False),
    ],
)
def test_texts_decide_where_estimates_are_near_the_threshold(
    tmp_path: Path, changed: int, similarity: float | None, is_compared: bool, is_found: bool
) -> None:
    minhashes = np.repeat(random_minhashes(1, 1), 2, axis=0)
    minhashes[1, PERMUTATIONS - changed :] += 1
    texts = Texts(similarity)
    found = find_duplicate_clusters(stored(minhashes), RULE, tmp_path, compare=texts)
    assert texts.calls == ([(3, 10)] if is_compared else [])
    assert as_sets(found) == ({frozenset([3, 10])} if is_found else set())
    if is_compared and is_found and similarity is not None:
        assert found[0].pairs == [(3, 10, similarity, True)]


def test_texts_of_documents_in_one_cluster_are_not_compared(tmp_path: Path) -> None:
    minhashes = np.repeat(random_minhashes(1, 1), 3, axis=0)
    minhashes[0, 0] += (
        1  # in the first band only the second and third share a key; their estimate, .94, is in the margin
    )
    minhashes[1, 180:186] += 1
    minhashes[2, 186:192] += 1  # in the other bands both share a key with the first: .965
    texts = Texts(0.0)
    (found,) = find_duplicate_clusters(stored(minhashes), RULE, tmp_path, compare=texts)
    assert len(found.numbers) == 3
    assert texts.calls == []


def test_empty_and_malformed_sketches_are_left_out(tmp_path: Path) -> None:
    copies = stored(np.repeat(random_minhashes(1, 1), 2, axis=0))
    (found,) = find_duplicate_clusters([(1, b""), *copies, (2, b"12345678")], RULE, tmp_path)
    assert found.numbers.tolist() == [3, 10]
    assert find_duplicate_clusters([], RULE, tmp_path) == []
    assert find_duplicate_clusters([(1, b"")], RULE, tmp_path, compare=Texts(1.0)) == []


def test_files_are_removed_also_on_errors(tmp_path: Path) -> None:
    def failing() -> Iterator[tuple[int, bytes]]:
        yield from stored(random_minhashes(10_000, 1))
        assert list(tmp_path.iterdir()) != []
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        find_duplicate_clusters(failing(), RULE, tmp_path)
    assert list(tmp_path.iterdir()) == []
    find_duplicate_clusters(stored(random_minhashes(10, 1)), RULE, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_progress_is_reported(tmp_path: Path) -> None:
    steps: list[tuple[str, int, int]] = []
    minhashes = np.repeat(random_minhashes(1, 1), 2, axis=0)
    minhashes[1, 180:] += 1
    find_duplicate_clusters(
        stored(minhashes), RULE, tmp_path, compare=Texts(1.0), progress=lambda *step: steps.append(step)
    )
    assert steps[0] == ("sketches", 2, 0)
    assert [step for step in steps if step[0] == "bands"] == [("bands", band, 11) for band in range(11)]
    assert steps[-1] == ("texts", 0, 1)
