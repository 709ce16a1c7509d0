"""Train the weights of crawler/parse/main_text/weights.py on the labelled pages beside the checkout.

The model is that of weighed.py, computed for all pages at once: their trees form one forest, processed level by level.
Training maximizes the likelihood of the labels: the gradient is the expected count of a feature under the model, less
its expected count given the labels. Labels that are missing on pages with a few labelled segments are filled in by a
first round (which elements hold content), and then used like the others.

With --folds the weights are tested on sites that they were not trained on; otherwise they are written.
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean

import numpy as np
import turbohtml
from numpy.typing import NDArray

from benchmarks.extraction_sets import SETS, MarkedPage, counts, pages_of, quality
from crawler.parse.main_text import weights
from crawler.parse.main_text.features import NAMES, Facet, features
from crawler.parse.main_text.outline import Outline
from crawler.parse.main_text.result import ParsedPage
from crawler.parse.main_text.weighed import sum_weights, weighed_text, weight_of

Array = NDArray[np.float64]
OUTSIDE, INSIDE, ON_WAY, UNKNOWN = 0, 1, 2, -1
FIRST_STEPS, STEPS, RATE = 80, 120, 0.1
RESTRAINT = 1.0  # strength of the regularization, which draws weights to 0
# Other values to which weights are drawn: few of the labelled pages hide anything or end in a single line.
BELIEFS = {"hidden": -6.0, "<footer> block": -3.0}
LEAST_PAGES = 3  # pages on which a feature must occur
MOSTLY, HARDLY = (
    0.8,
    0.5,
)  # least share of content in an element that is INSIDE, and largest share in one that is ON_WAY
_FORCED, _FORBIDDEN = 60.0, 1200.0  # weights that override all others
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class TrainingExample:
    """A labelled page: the features and the label of each part of its outline."""

    page: MarkedPage
    parts: Outline
    facets: list[list[Facet]]
    marks: list[int]

    @cached_property
    def feature_names(self) -> list[list[str]]:
        return [[name for facet in facets for name in facet] for facets in self.facets]

    @property
    def has_content(self) -> bool:
        return any(mark == INSIDE for part, mark in zip(self.parts, self.marks, strict=True) if part.text)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folds", type=int, default=0, help="cross-validate with this many folds of sites")
    parser.add_argument("--seed", default="", help="seed of the assignment of sites to folds")


def main(options: argparse.Namespace) -> int:
    examples = [example for name in SETS for page in pages_of(name) if (example := _example(page)).parts]
    if not options.folds:
        learned = train(examples)
        _write(learned)
        print(f"{len(learned)} weights trained on {len(examples)} pages")
        return 0
    texts: dict[str, str] = {}
    for fold in range(options.folds):
        learned = train([example for example in examples if _fold(example, options) != fold])
        for example in examples:
            if _fold(example, options) == fold:
                texts[example.page.name] = _text(example, learned)
    found = {name: quality(name, [counts(page, texts.get(page.name, "")) for page in pages_of(name)]) for name in SETS}
    for name, one in found.items():
        print(f"{name:20} P {one.precision:.3f}  R {one.recall:.3f}  F1 {one.f1:.3f}")
    print(f"mean F1 {fmean(one.f1 for one in found.values()):.4f}")
    return 0


def train(examples: Sequence[TrainingExample]) -> dict[str, tuple[float, float, float]]:
    examples = [example for example in examples if example.has_content]
    names = _names(examples)
    first = _Forest(examples, names).train(FIRST_STEPS)
    filled = _Forest(examples, names).fill_labels(first)
    learned = _Forest(filled, names).train(STEPS)
    return {name: (float(row[0]), float(row[1]), float(row[2])) for name, row in zip(names, learned, strict=True)}


def _names(examples: Sequence[TrainingExample]) -> list[str]:
    pages = Counter(
        name
        for example in examples
        for name in {name for feature_names in example.feature_names for name in feature_names}
    )
    return sorted(name for name, number in pages.items() if number >= LEAST_PAGES)


class _Forest:
    """All pages as arrays, indexed by part. A level has all parts of one depth; children of one parent are adjacent."""

    def __init__(self, examples: Sequence[TrainingExample], names: Sequence[str]) -> None:
        self.examples = examples
        numbers = {name: number for number, name in enumerate(names)}
        self.features = len(names)
        self.beliefs = np.array([[1.0, 1.0, 0.0]]) * np.array([[BELIEFS.get(name, 0.0)] for name in names])
        self.first = np.cumsum([0, *(len(example.parts) for example in examples)])
        parents, depths, self.marks, self.is_block, self.weight = [], [], [], [], []
        rows, columns = [], []
        for first, example in zip(self.first, examples, strict=False):
            blocks = [bool(part.text) for part in example.parts]
            known = sum(mark != UNKNOWN for mark, block in zip(example.marks, blocks, strict=True) if block)
            for number, (part, feature_names) in enumerate(zip(example.parts, example.feature_names, strict=True)):
                parents.append(first + part.parent if number else -1)
                depths.append(depths[parents[-1]] + 1 if number else 0)
                known_names = [numbers[name] for name in feature_names if name in numbers]
                rows.extend([first + number] * len(known_names))
                columns.extend(known_names)
            self.marks.extend(example.marks)
            self.is_block.extend(blocks)
            self.weight.extend([120.0 / max(known, 6)] * len(blocks))  # so that each page has the same weight
        self.parents, depths = np.array(parents), np.array(depths)
        self.marks, self.is_block, self.weight = map(np.array, (self.marks, self.is_block, self.weight))
        self.rows, self.columns = np.array(rows), np.array(columns)
        self.levels = [np.nonzero(depths == depth)[0] for depth in range(depths.max() + 1)]
        self.families = [self._family(level) for level in self.levels]

    def train(self, steps: int) -> Array:
        """Return a row per feature: through, enter, stay; the last two are trained as mean and difference."""
        values = self.beliefs.copy()
        mean, spread = np.zeros_like(values), np.zeros_like(values)
        for step in range(1, steps + 1):
            gradient = self._gradient(_rows(values)) @ _TO_VALUES + RESTRAINT * (values - self.beliefs)
            mean = 0.9 * mean + 0.1 * gradient
            spread = 0.99 * spread + 0.01 * gradient**2
            rate = RATE if step < 0.6 * steps else 0.3 * RATE
            values -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
        return _rows(values)

    def fill_labels(self, rows: Array) -> list[TrainingExample]:
        """Return the examples with labels of elements filled in where only segments of text were labelled."""
        _, enter, stay = self._chances(*self._forced_to_labels(*self._weights(rows)))
        inside = enter + stay
        examples = []
        for first, example in zip(self.first, self.examples, strict=False):
            if not example.page.has_whole_text:
                guess = [INSIDE if inside[first + number] >= 0.5 else OUTSIDE for number in range(len(example.parts))]
                elements = _element_marks(example.parts, guess)
                marks = [
                    mark if part.text else element
                    for part, mark, element in zip(example.parts, example.marks, elements, strict=True)
                ]
                example = replace(example, marks=marks)
            examples.append(example)
        return examples

    def _family(self, level: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where in a level the children of each parent begin, and the parents."""
        parents = self.parents[level]
        starts = np.nonzero(np.concatenate(([True], parents[1:] != parents[:-1])))[0]
        return starts, parents[starts]

    def _weights(self, rows: Array) -> list[Array]:
        count = len(self.parents)
        return [np.bincount(self.rows, weights=rows[self.columns, kind], minlength=count) for kind in range(3)]

    def _forced_to_labels(self, through: Array, enter: Array, stay: Array) -> tuple[Array, Array, Array]:
        """Return weights that force each part to its label."""
        marks, block = self.marks, self.is_block
        forced = _FORCED * ((marks == INSIDE) & block)
        never_inside = _FORBIDDEN * ((marks == OUTSIDE) | (marks == ON_WAY))
        never_on_way = _FORBIDDEN * ((marks == OUTSIDE) | ((marks == INSIDE) & ~block))
        return through - never_on_way, enter + forced - never_inside, stay + forced - never_inside

    def _gradient(self, rows: Array) -> Array:
        plain = self._weights(rows)
        free, obedient = self._chances(*plain), self._chances(*self._forced_to_labels(*plain))
        surplus = [(one - other) * self.weight for one, other in zip(free, obedient, strict=True)]
        return np.stack(
            [np.bincount(self.columns, weights=one[self.rows], minlength=self.features) for one in surplus], 1
        )

    def _chances(self, through: Array, enter: Array, stay: Array) -> tuple[Array, Array, Array]:
        """Return the probabilities that a part is on the way, enters, stays: as in weighed.py, a level at a time."""
        count = len(self.parents)
        on_way, within = np.zeros(count), np.zeros(count)
        passing, entering, staying = np.full(count, -np.inf), np.zeros(count), np.zeros(count)
        added = np.zeros(count)
        for level, (starts, parents) in zip(self.levels[:0:-1], self.families[:0:-1], strict=True):
            inner = level[~self.is_block[level]]
            rise = np.maximum(on_way[inner], 1e-12)
            passing[inner] = through[inner] + rise + np.log(-np.expm1(-rise))
            entering[level] = enter[level] + within[level]
            staying[level] = stay[level] + within[level]
            added[level] = np.logaddexp(np.logaddexp(0, entering[level]), passing[level])
            on_way[parents] += np.add.reduceat(added[level], starts)
            within[parents] += np.add.reduceat(np.logaddexp(0, staying[level]), starts)
        passed, entered, stayed = np.zeros(count), np.zeros(count), np.zeros(count)
        passed[self.levels[0]] = 1.0
        for level in self.levels[1:]:
            parents = self.parents[level]
            some = passed[parents] / -np.expm1(-np.maximum(on_way[parents], 1e-12))
            passed[level] = some * np.exp(passing[level] - added[level])
            entered[level] = some * np.exp(entering[level] - added[level])
            stayed[level] = (entered[parents] + stayed[parents]) * np.exp(-np.logaddexp(0, -staying[level]))
        return passed, entered, stayed


_TO_VALUES = np.array([[1.0, 0, 0], [0, 1, -1], [0, 1, 1]])


def _rows(values: Array) -> Array:
    return values @ _TO_VALUES.T


def _example(page: MarkedPage) -> TrainingExample:
    source = ParsedPage(html=page.html, document=turbohtml.parse(page.html, positions=False))
    parts = source.parts
    marks = _whole_marks(page, parts) if page.has_whole_text else _piece_marks(page, parts)
    return TrainingExample(page=page, parts=parts, facets=features(parts, source.title.lower(), NAMES), marks=marks)


def _piece_marks(page: MarkedPage, parts: Outline) -> list[int]:
    marks = []
    for part in parts:
        wanted = any(piece in part.text for piece in page.wanted)
        unwanted = any(piece in part.text for piece in page.unwanted)
        marks.append(UNKNOWN if wanted == unwanted else INSIDE if wanted else OUTSIDE)
    return marks


def _whole_marks(page: MarkedPage, parts: Outline) -> list[int]:
    """Label a block as content if its shingles, for a short one with its neighbours', are in the labelled text."""
    marked = _WORD.findall(page.text)
    known = {size: {tuple(marked[at : at + size]) for at in range(len(marked) - size + 1)} for size in (2, 3, 4)}
    lines = {" ".join(_WORD.findall(line)) for line in page.text.split("\n")}
    words = [_WORD.findall(part.text) for part in parts]
    marks = [_long_mark(one, known[4]) if len(one) >= 4 else UNKNOWN for one in words]
    is_long = [mark == INSIDE for mark in marks]
    before: list[str] = []
    for number, one in enumerate(words):
        if 0 < len(one) < 4:
            after = next((words[at] for at in range(number + 1, len(words)) if is_long[at]), [])
            runs = (before[-3:] + one, one + after[:3])
            fits = any(len(run) > max(len(one), 2) and _all_known(run, known) for run in runs)
            marks[number] = INSIDE if fits or " ".join(one) in lines else OUTSIDE
        if marks[number] == INSIDE and one:
            before = one
    return _element_marks(parts, _without_strays(parts, words, marks))


def _long_mark(words: list[str], known: set[tuple[str, ...]]) -> int:
    runs = [tuple(words[at : at + 4]) for at in range(len(words) - 3)]
    share = fmean(run in known for run in runs)
    if share > 0.6 or (share >= 0.25 and len(words) < 7):
        return INSIDE
    return OUTSIDE if share < 0.25 else UNKNOWN


def _all_known(run: list[str], known: dict[int, set[tuple[str, ...]]]) -> bool:
    size = min(len(run), 4)
    return all(tuple(run[at : at + size]) in known[size] for at in range(len(run) - size + 1))


def _without_strays(parts: Outline, words: list[list[str]], marks: list[int]) -> list[int]:
    """Unlabel short blocks far from the text: the words of a heading may stand in a menu, too."""
    blocks = [number for number, part in enumerate(parts) if part.text]
    long = [at for at, number in enumerate(blocks) if marks[number] == INSIDE and len(words[number]) >= 12]
    for at, number in enumerate(blocks):
        if long and marks[number] == INSIDE and len(words[number]) < 12 and not long[0] - 3 <= at <= long[-1] + 3:
            marks[number] = UNKNOWN if len(words[number]) >= 4 else OUTSIDE
    return marks


def _element_marks(parts: Outline, marks: list[int]) -> list[int]:
    """Add labels of elements to those of blocks, by the share of their text that is content."""
    marks = list(marks)
    content, known, may_hold = [0] * len(parts), [0] * len(parts), [False] * len(parts)
    for number in range(len(parts) - 1, 0, -1):
        part = parts[number]
        if part.text:
            known[number] = part.size if marks[number] != UNKNOWN else 0
            content[number] = part.size if marks[number] == INSIDE else 0
            may_hold[number] = marks[number] != OUTSIDE
        content[part.parent] += content[number]
        known[part.parent] += known[number]
        may_hold[part.parent] = may_hold[part.parent] or may_hold[number]
    is_within = [False] * len(parts)
    for number, part in enumerate(parts):
        if number:
            is_within[number] = is_within[part.parent] or (marks[part.parent] == INSIDE and not parts[part.parent].text)
        if not part.text:
            share = content[number] / known[number] if known[number] else (HARDLY + MOSTLY) / 2
            on_way = UNKNOWN if is_within[number] else ON_WAY
            marks[number] = INSIDE if share >= MOSTLY else on_way if share < HARDLY else UNKNOWN
            marks[number] = marks[number] if may_hold[number] else OUTSIDE
    return marks


def _fold(example: TrainingExample, options: argparse.Namespace) -> int:
    return int(hashlib.md5((options.seed + example.page.site).encode()).hexdigest(), 16) % int(options.folds)


def _text(example: TrainingExample, learned: dict[str, tuple[float, float, float]]) -> str:
    return weighed_text(
        example.parts, sum_weights([[weight_of(facet, learned) for facet in facets] for facets in example.facets])
    ).text


def _write(learned: dict[str, tuple[float, float, float]]) -> None:
    opening, _, _ = Path(weights.__file__).read_text("utf-8").partition("WEIGHTS: Final")
    rows = [f'    "{name}": ({one[0]:.2f}, {one[1]:.2f}, {one[2]:.2f}),' for name, one in sorted(learned.items())]
    body = "\n".join(["WEIGHTS: Final[Mapping[str, tuple[float, float, float]]] = {", *rows, "}\n"])
    Path(weights.__file__).write_text(opening + body, "utf-8")
