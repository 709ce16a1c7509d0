"""Main-text extraction by a learned model on the tree of the page: the probability that each element is content.

Every element is outside of the content, on the way to it (it contains content and other things), or inside. The content
of a page is a few subtrees minus what was inserted into them, so the state of a container carries over to its children
unless their features say otherwise. Each part has a weight for being on the way ("through"), for being inside while its
parent is on the way ("enter"), and for being inside like its parent ("stay"); each is the sum of the weights of its
features (features.py, weights.py). Outside has weight 0, and everything in it is outside. A part that is on the way has
at least one child that is not outside, and the root is on the way, so that every page has content.

The probability of an assignment of states is proportional to the exponential of its weight. On a tree the probabilities
of all parts are computed exactly in one pass up and one pass down, so the cost is linear in the size of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from math import exp, expm1, log, log1p
from typing import Final, NamedTuple

from crawler.parse.main_text.features import NAMES, Facet, Facets, features
from crawler.parse.main_text.outline import HIDDEN, Outline
from crawler.parse.main_text.result import NO_TEXT, MainText, ParsedPage, main_text
from crawler.parse.main_text.weights import WEIGHTS

Weight = tuple[float, float, float]  # through, enter, stay
_NEARLY_ALL: Final = 0.75
_CACHE_SIZE: Final = 32_768  # results cached per kind of facet
_NO_WEIGHT: Final = (0.0, 0.0, 0.0)
_EPSILON: Final = 1e-12  # keeps logarithms finite where all children are certainly outside


class PartWeights(NamedTuple):
    """The weights of all parts, by index."""

    through: list[float]
    enter: list[float]
    stay: list[float]


def weighed(source: ParsedPage) -> MainText:
    """Extract the main text with the learned weights."""
    parts = source.parts
    return weighed_text(parts, sum_weights(features(parts, source.title.lower(), _FACET_WEIGHTS)))


def weighed_text(parts: Outline, weights: PartWeights) -> MainText:
    """Extract the main text with given weights of the parts."""
    if not parts:
        return NO_TEXT
    inside = _without_hidden(parts, probabilities(parts, weights))
    return main_text(parts, _with_some_text(parts, inside), _expected_f1(parts, inside))


def weight_of(names: Iterable[str], table: Mapping[str, Weight] = WEIGHTS) -> Weight:
    """The sum of the weights of features; features that were not learned have weight 0."""
    through = enter = stay = 0.0
    for name in names:
        weight = table.get(name, _NO_WEIGHT)
        through += weight[0]
        enter += weight[1]
        stay += weight[2]
    return through, enter, stay


def _cached_weight(name: Callable[..., Facet]) -> Callable[..., Weight]:
    """Cache the weights of one kind of facet: most occur on other pages, too."""
    return lru_cache(maxsize=_CACHE_SIZE)(lambda *facet_weights: weight_of(name(*facet_weights)))


_FACET_WEIGHTS: Final = Facets(
    shape=_cached_weight(NAMES.shape),
    neighbours=_cached_weight(NAMES.neighbours),
    container=_cached_weight(NAMES.container),
    prose_share=_cached_weight(NAMES.prose_share),
    position=_cached_weight(NAMES.position),
    names=_cached_weight(NAMES.names),
)


def sum_weights(facet_weights: Iterable[Iterable[Weight]]) -> PartWeights:
    """The weights of each part: the sum over its facets."""
    weights = PartWeights([], [], [])
    for facets in facet_weights:
        through = enter = stay = 0.0
        for one, other, third in facets:
            through += one
            enter += other
            stay += third
        weights.through.append(through)
        weights.enter.append(enter)
        weights.stay.append(stay)
    return weights


def probabilities(parts: Outline, weights: PartWeights) -> list[float]:
    """The probability of each part to be inside the content.

    The pass up computes the log-weight of each part with its subtree, relative to outside: a child adds
    log(1 + enter + through) to a parent that is on the way, and log(1 + stay) to one that is inside, where 1 stands for
    outside. The pass down computes the state of a child from that of its parent.
    """
    count = len(parts)
    if count == 1:
        return [1.0]
    to_pass, to_enter, to_stay = weights
    on_way, within = [0.0] * count, [0.0] * count  # log-weight that the children add to a part on the way, inside
    through, enter, stay = [0.0] * count, [0.0] * count, [0.0] * count  # probabilities, given the parent's state
    for number in range(count - 1, 0, -1):
        part = parts[number]
        entering = to_enter[number] + within[number]
        staying = to_stay[number] + within[number]
        if part.text:  # a block cannot be on the way
            most = max(0.0, entering)
            added = most + log(exp(-most) + exp(entering - most))
        else:
            passing = to_pass[number] + _log_expm1(on_way[number])
            most = max(0.0, entering, passing)
            added = most + log(exp(-most) + exp(entering - most) + exp(passing - most))
            through[number] = exp(passing - added)
        enter[number] = exp(entering - added)
        added_inside = staying + log1p(exp(-staying)) if staying > 0 else log1p(exp(staying))
        stay[number] = exp(staying - added_inside)
        on_way[part.parent] += added
        within[part.parent] += added_inside
    inside, passed = [0.0] * count, [0.0] * count
    passed[0] = 1.0
    for number in range(1, count):
        parent = parts[number].parent
        some = passed[parent] / -expm1(-max(on_way[parent], _EPSILON))  # at least one child is not outside
        passed[number] = some * through[number]
        inside[number] = min(some * enter[number] + inside[parent] * stay[number], 1.0)
    return inside


def _without_hidden(parts: Outline, inside: list[float]) -> list[float]:
    """Exclude hidden parts, unless they are nearly all of the content: some pages show their text by a script."""
    if not any(part.names.startswith(HIDDEN) for part in parts):
        return inside
    is_hidden: list[bool] = []
    sizes = [0, 0]  # characters of content, visible and hidden
    for number, part in enumerate(parts):
        is_hidden.append(part.names.startswith(HIDDEN) or (number > 0 and is_hidden[part.parent]))
        if inside[number] >= 0.5:
            sizes[is_hidden[number]] += part.size
    if sizes[True] > _NEARLY_ALL * sum(sizes):
        return inside
    return [0.0 if hidden else chance for hidden, chance in zip(is_hidden, inside, strict=True)]


def _with_some_text(parts: Outline, inside: list[float]) -> list[float]:
    """Where no block is likely content, take the most likely ones: search could not find a page without main text."""
    most = max(chance for part, chance in zip(parts, inside, strict=True) if part.text)
    if most >= 0.5:
        return inside
    return [chance / most for chance in inside] if most > 0 else [1.0] * len(parts)


def _log_expm1(value: float) -> float:
    value = max(value, _EPSILON)
    return value + log(-expm1(-value))


def _expected_f1(parts: Outline, inside: Sequence[float]) -> float:
    """The expected F1 of the chosen blocks by characters, if the probabilities are right."""
    chosen = right = expected = 0.0
    for part, chance in zip(parts, inside, strict=True):
        expected += chance * part.size
        if chance >= 0.5:
            chosen += part.size
            right += chance * part.size
    return 2 * right / (chosen + expected) if chosen else 0.0
