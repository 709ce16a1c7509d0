"""Trees give the same answers whether they are asked as arrays or walked one by one, and survive their file."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parse.main_text.learned import FILES, learned_trees
from crawler.parse.main_text.trees import Trees

NAMES = ["size", "links", "depth"]


def made(seed: int, *, trees: int = 4, depth: int = 3) -> Trees:
    chance = np.random.default_rng(seed)
    return Trees(
        names=NAMES,
        features=[chance.integers(0, len(NAMES), (trees, 2**level)).astype(np.uint8) for level in range(depth)],
        limits=[chance.normal(size=(trees, 2**level)).astype(np.float32) for level in range(depth)],
        values=chance.normal(size=(trees, 2**depth)).astype(np.float32),
        start=0.25,
    )


def walked(trees: Trees, block: dict[str, float]) -> float:
    """The probability by walking each tree from its root."""
    score = trees.start
    for tree in range(len(trees.values)):
        node = 0
        for features, limits in zip(trees.features, trees.limits, strict=True):
            goes_right = np.float32(block[trees.names[features[tree, node]]]) > limits[tree, node]
            node = 2 * node + int(goes_right)
        score += float(trees.values[tree, node])
    return float(1 / (1 + np.exp(-score)))


@given(seed=st.integers(0, 1_000), rows=st.lists(st.tuples(*[st.floats(-3, 3, width=32)] * 3), min_size=1, max_size=20))
def test_all_blocks_at_once_get_what_each_gets_alone(seed: int, rows: list[tuple[float, float, float]]) -> None:
    trees = made(seed)
    columns = {name: np.array([row[at] for row in rows]) for at, name in enumerate(NAMES)}
    expected = [walked(trees, dict(zip(NAMES, row, strict=True))) for row in rows]
    assert np.allclose(trees.probabilities(columns), expected, atol=1e-6)


def test_very_many_blocks_get_what_few_get() -> None:
    trees = made(3)
    columns = {name: np.linspace(-2, 2, 10_000) for name in NAMES}
    few = trees.probabilities({name: column[5_000:5_010] for name, column in columns.items()})
    assert np.array_equal(trees.probabilities(columns)[5_000:5_010], few)


def test_trees_survive_their_file() -> None:
    trees = made(7)
    data = trees.to_bytes()
    again = Trees.from_bytes(data)
    assert again.to_bytes() == data
    columns = {name: np.linspace(-2, 2, 50) for name in NAMES}
    assert np.array_equal(again.probabilities(columns), trees.probabilities(columns))


@pytest.mark.parametrize("data", [b"", b"{}", b"[]\n", made(1).to_bytes()[:-1], made(1).to_bytes() + b"x"])
def test_a_file_of_something_else_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Trees.from_bytes(data)


def test_the_trees_of_the_package_are_small_and_ask_for_what_is_known() -> None:
    from importlib.resources import files

    from crawler.parse.main_text.block_features import block_columns
    from crawler.parse.main_text.outline_arrays import OutlineArrays
    from crawler.parse.main_text.score_features import score_columns
    from tests.parse.main_text.pages import ARTICLE, source_of

    source = source_of(ARTICLE)
    outline = OutlineArrays(source.parts)
    columns = block_columns(outline, source.title)
    passes = learned_trees()
    assert set(passes.first.names) <= set(columns)
    assert set(passes.second.names) <= set(columns) | set(score_columns(outline, np.ones(len(outline.blocks))))
    sizes = [len((files("crawler.parse.main_text") / name).read_bytes()) for name in FILES]
    assert sum(sizes) <= 300_000


def test_lightgbm_gives_the_same_answers() -> None:
    import lightgbm

    from benchmarks.learn_main_text import DEPTH, PARAMETERS, trees_of

    chance = np.random.default_rng(3)
    matrix = chance.normal(size=(3_000, 5)).astype(np.float32)
    labels = (matrix[:, 0] * matrix[:, 1] + matrix[:, 2] > 0).astype(int)
    booster = lightgbm.train(dict(PARAMETERS), lightgbm.Dataset(matrix, labels), 20)
    names = [f"feature {number}" for number in range(5)]
    trees = trees_of(booster.dump_model(), names)
    assert len(trees.limits) == DEPTH
    columns = {name: matrix[:, at] for at, name in enumerate(names)}
    assert np.allclose(trees.probabilities(columns), booster.predict(matrix), atol=1e-6)
    assert json.loads(trees.to_bytes().partition(b"\n")[0])["names"] == trees.names
