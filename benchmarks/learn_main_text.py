"""Learn the trees of crawler/parse/main_text from the labelled pages beside the checkout.

Each block of a page is an example: its features, whether it is content, and its share of the page's text as weight. So
all pages count the same; those of which only segments are labelled count half, and those that are known to be no
articles, twice. Pages that we make (made_pages.py) are added for what the labels show too seldom. The trees of the
second pass are learned from what the first makes of pages that it has not seen.

With --folds the trees are tested on sites that they were not learned from: folds are of registered domains, over all
sets together. Without it they are written.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import turbohtml
from numpy.typing import NDArray

from benchmarks.extraction_sets import LEARNED_FROM, SETS, MarkedPage, counts, f1_by_set, pages_of
from benchmarks.made_pages import PageMaker, put_into
from benchmarks.main_text_labels import CONTENT, NOTHING_MADE, OTHER, UNKNOWN, labels_of
from crawler.parse.main_text.block_features import block_columns
from crawler.parse.main_text.learned import FILES, Passes, text_of_blocks
from crawler.parse.main_text.outline import Outline
from crawler.parse.main_text.outline_arrays import Column, OutlineArrays
from crawler.parse.main_text.result import NO_TEXT, MainText, ParsedPage
from crawler.parse.main_text.score_features import score_columns
from crawler.parse.main_text.trees import Trees

T = TypeVar("T")
R = TypeVar("R")
Columns = Mapping[str, NDArray[np.float64]]
FOLDS = 5  # of the pages whose first scores the second pass is learned from
TREES = 140
DEPTH = 6
LONGEST = 3_000  # characters of a block that count
LEAST = 20  # characters that every block counts more than it has: short ones are many
MADE = "made"  # the set of the pages that we make
MADE_PAGES = 1_000
MADE_COUNTS = 0.3  # what a made page counts, or one that parts were put into
SEGMENTS = 0.5  # what a page counts of which only segments are labelled
OTHER_KINDS = 2.0  # what a page counts that is known to be no article: these are few
PARAMETERS: Mapping[str, Any] = {
    "objective": "binary",
    "learning_rate": 0.09,
    "num_leaves": 40,
    "max_depth": DEPTH,
    "min_data_in_leaf": 60,
    "min_sum_hessian_in_leaf": 1e-3,
    "lambda_l2": 5.0,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "max_bin": 127,
    "seed": 1,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}


@dataclass(frozen=True, kw_only=True)
class Example:
    """A labelled page with the features of its blocks."""

    page: MarkedPage
    parts: Outline
    outline: OutlineArrays
    columns: Columns
    labels: NDArray[np.int8]

    @property
    def weights(self) -> NDArray[np.float64]:
        weights = np.where(self.labels == UNKNOWN, 0.0, np.minimum(self.outline.size, LONGEST) + LEAST)
        return weights / weights.sum() * self._counts

    @property
    def _counts(self) -> float:
        if self.page.set == MADE:
            return MADE_COUNTS
        if self.page.kind not in ("", "article"):
            return OTHER_KINDS
        return 1.0 if self.page.has_whole_text else SEGMENTS


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folds", type=int, default=0, help="cross-validate with this many folds of sites")
    parser.add_argument("--seeds", default="1", help="seeds of the assignment of sites to folds, with commas")


def main(options: argparse.Namespace) -> int:
    begun = time.monotonic()
    if options.folds:
        examples = examples_of(SETS)
        for seed in options.seeds.split(","):
            texts = texts_of_folds(examples, options.folds, seed)
            pages = [page for name in SETS for page in pages_of(name)]
            found = f1_by_set(pages, [counts(page, texts.get(name_of(page), NO_TEXT).text) for page in pages])
            print(f"seed {seed}, {time.monotonic() - begun:.0f} s", *_rows(found), sep="\n", flush=True)
        return 0
    passes = learn(examples_of(LEARNED_FROM))
    for name, trees in zip(FILES, passes, strict=True):
        path = Path(str(files("crawler.parse.main_text"))) / name
        path.write_bytes(trees.to_bytes())
        print(f"{path.name}: {len(trees.values)} trees, {len(trees.names)} features, {path.stat().st_size:,} bytes")
    print(f"learned in {time.monotonic() - begun:.0f} s")
    return 0


def _rows(found: Mapping[str, float]) -> Iterator[str]:
    for name, f1 in found.items():
        yield f"  {name:20} {f1:.4f}"


# ── Examples ──


def examples_of(sets: Iterable[str]) -> list[Example]:
    """Return the pages of the sets that have text, and those that are made for learning."""
    found = [example for name in sets for page in pages_of(name) if (example := _example(page)) is not None]
    return found + made_examples(example.page for example in found if example.page.set in LEARNED_FROM)


def made_examples(pages: Iterable[MarkedPage]) -> list[Example]:
    """Return pages that we make, and the given ones with parts put into them."""
    made = [(f"{number}", None, PageMaker(f"{number}").whole_page()) for number in range(MADE_PAGES)]
    made += [
        (name_of(page), page, put_into(page.html, page.text, is_product=page.kind == "product", seed=name_of(page)))
        for page in pages
        if page.has_whole_text and page.kind in ("", "article", "product")
    ]
    found = []
    for name, page, its in made:
        domain, text = (page.domain, page.text) if page is not None else (f"{MADE}-{name}", "")
        marked = MarkedPage(set=MADE, name=name, kind="", domain=domain, html=its.html, text=text)
        found.append(_example(marked, dict.fromkeys(its.other, OTHER) | dict.fromkeys(its.content, CONTENT)))
    return [example for example in found if example is not None]


def _example(page: MarkedPage, made: Mapping[str, int] = NOTHING_MADE) -> Example | None:
    source = ParsedPage(html=page.html, document=turbohtml.parse(page.html, positions=False))
    if not source.parts:
        return None
    outline = OutlineArrays(source.parts)
    columns = block_columns(outline, source.title)
    return Example(
        page=page,
        parts=source.parts,
        outline=outline,
        columns={name: column.astype(np.float32) for name, column in columns.items()},
        labels=np.array(labels_of(page, source.parts, made), np.int8),
    )


def _teaches(example: Example) -> bool:
    return example.page.set in (*LEARNED_FROM, MADE) and bool((example.labels == CONTENT).any())


def _fold(example: Example, seed: str, folds: int) -> int:
    return int(hashlib.md5((seed + example.page.domain).encode()).hexdigest(), 16) % folds


# ── Learning ──


def learn(examples: Sequence[Example]) -> Passes:
    """Learn both passes from all examples, the second from first scores of folds."""
    examples = [example for example in examples if _teaches(example)]
    scores: dict[int, Column] = {}
    for fold in range(FOLDS):
        first = _learn_first([example for example in examples if _fold(example, "", FOLDS) != fold])
        for at, example in enumerate(examples):
            if _fold(example, "", FOLDS) == fold:
                scores[at] = first.probabilities(example.columns)
    return Passes(_learn_first(examples), _learn_second(examples, [scores[at] for at in range(len(examples))]))


def texts_of_folds(examples: Sequence[Example], folds: int, seed: str) -> dict[str, MainText]:
    """Return the main texts, by page, that trees give which were not learned from the pages' sites.

    Trees that were learned without two of the folds serve twice: each of the two has its scores, from which the second
    pass is learned for the other.
    """
    learning = _FoldsLearning(
        [[each for each in examples if _fold(each, seed, folds) == fold] for fold in range(folds)]
    )
    pairs = [(one, other) for one in range(folds) for other in range(one, folds)]
    learning.first = dict(zip(pairs, _in_processes(learning.learn_first, pairs), strict=True))
    texts = _in_processes(learning.texts, range(folds))
    return {name: text for found in texts for name, text in found}


class _FoldsLearning:
    """Learns and judges folds, in processes that share the examples."""

    def __init__(self, examples: Sequence[Sequence[Example]]) -> None:
        self._examples = examples  # by fold
        self.first: Mapping[tuple[int, int], Trees] = {}  # by the folds from which they were not learned

    def learn_first(self, without: tuple[int, int]) -> Trees:
        return _learn_first([each for at, fold in enumerate(self._examples) if at not in without for each in fold])

    def texts(self, fold: int) -> list[tuple[str, MainText]]:
        others = [(at, each) for at, of in enumerate(self._examples) if at != fold for each in of if _teaches(each)]
        scores = [self.first[min(at, fold), max(at, fold)].probabilities(each.columns) for at, each in others]
        passes = Passes(self.first[fold, fold], _learn_second([each for _, each in others], scores))
        return [(name_of(each.page), _text(each, passes)) for each in self._examples[fold] if each.page.set != MADE]


def name_of(page: MarkedPage) -> str:
    return f"{page.set}/{page.name}"


def _in_processes(function: Callable[[T], R], values: Iterable[T]) -> list[R]:
    """Call a function in forked processes, which inherit what it needs."""
    global _forked
    _forked = function
    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool:
        return list(pool.map(_call_forked, values))


_forked: Callable[[Any], Any]


def _call_forked(value: Any) -> Any:
    return _forked(value)


def _text(example: Example, passes: Passes) -> MainText:
    first = passes.first.probabilities(example.columns)
    found = passes.second.probabilities({**example.columns, **score_columns(example.outline, first)})
    return text_of_blocks(example.parts, example.outline, found)


def _learn_first(examples: Sequence[Example]) -> Trees:
    examples = [example for example in examples if _teaches(example)]
    return _learn(examples, [example.columns for example in examples])


def _learn_second(examples: Sequence[Example], scores: Sequence[Column]) -> Trees:
    columns = [
        {**example.columns, **score_columns(example.outline, score)}
        for example, score in zip(examples, scores, strict=True)
    ]
    return _learn(examples, columns)


def _learn(examples: Sequence[Example], columns: Sequence[Columns]) -> Trees:
    import lightgbm  # in the extra "learn"

    names = list(columns[0])
    matrix = np.concatenate([np.array([one[name] for name in names], np.float32).T for one in columns])
    labels = np.concatenate([example.labels for example in examples])
    weights = np.concatenate([example.weights for example in examples])
    known = weights > 0
    weights *= known.sum() / weights.sum()
    data = lightgbm.Dataset(matrix[known], labels[known], weight=weights[known])
    return trees_of(lightgbm.train(dict(PARAMETERS), data, TREES).dump_model(), names)


def trees_of(model: Mapping[str, Any], names: Sequence[str]) -> Trees:
    """Turn LightGBM's trees into complete ones; only features that are asked for are kept."""
    roots = [tree["tree_structure"] for tree in model["tree_info"]]
    features = [np.zeros((len(roots), 2**level), int) for level in range(DEPTH)]
    limits = [np.full((len(roots), 2**level), np.inf, np.float32) for level in range(DEPTH)]
    values = np.zeros((len(roots), 2**DEPTH), np.float32)

    def fill(tree: int, node: Mapping[str, Any], level: int, place: int) -> None:
        if level == DEPTH:
            values[tree, place] = node["leaf_value"]
            return
        is_leaf = "leaf_value" in node
        if not is_leaf:
            features[level][tree, place] = node["split_feature"]
            limits[level][tree, place] = node["threshold"]
        fill(tree, node if is_leaf else node["left_child"], level + 1, 2 * place)
        fill(tree, node if is_leaf else node["right_child"], level + 1, 2 * place + 1)

    for tree, root in enumerate(roots):
        fill(tree, root, 0, 0)
    asked = [np.isfinite(limit) for limit in limits]
    used = sorted({int(feature) for one, is_asked in zip(features, asked, strict=True) for feature in one[is_asked]})
    numbers = np.zeros(len(names), np.uint8)
    numbers[used] = np.arange(len(used))
    return Trees(
        names=[names[feature] for feature in used],
        features=[numbers[one] * is_asked for one, is_asked in zip(features, asked, strict=True)],
        limits=limits,
        values=values,
        start=0.0,
    )
