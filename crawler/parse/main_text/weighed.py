"""Every element of a page is outside of its content, on the way to it, or inside: how likely is each?

A page is a tree, and its content is a few subtrees less what was put between: so what is said of a container holds for
what is in it, unless that looks otherwise. Each part has a weight for being on the way ("through": it holds content and
other things), for being where content begins ("enter": inside, in an element that is not) and for belonging to what is
around it ("stay"), each the sum of the weights of what is seen of it (features.py, weights.py). Outside weighs nothing,
and all in it is outside. What is on the way has at least one child that is not outside, and the root is on the way: each
page has something to say.

The probability of a tree of such choices is proportional to the exponential of its weight. In a tree the probabilities
of all parts are had exactly by one pass up and one down, so the cost is linear in the size of the page.
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

Weight = tuple[float, float, float]  # for being on the way, for entering, for staying
_NEARLY_ALL: Final = 0.75
_CACHE_SIZE: Final = 32_768  # facets of a kind that are remembered
_NO_WEIGHT: Final = (0.0, 0.0, 0.0)
_EPSILON: Final = 1e-12  # keeps logarithms finite where all children are surely outside


class PartWeights(NamedTuple):
    """Of all parts, by number."""

    through: list[float]
    enter: list[float]
    stay: list[float]


def weighed(source: ParsedPage) -> MainText:
    parts = source.parts
    return weighed_text(parts, sum_weights(features(parts, source.title.lower(), _FACET_WEIGHTS)))


def weighed_text(parts: Outline, weights: PartWeights) -> MainText:
    if not parts:
        return NO_TEXT
    inside = _without_hidden(parts, probabilities(parts, weights))
    return main_text(parts, _with_some_text(parts, inside), _expected_f1(parts, inside))


def weight_of(names: Iterable[str], table: Mapping[str, Weight] = WEIGHTS) -> Weight:
    """Of things that are seen together; what was never learned weighs nothing."""
    through = enter = stay = 0.0
    for name in names:
        weight = table.get(name, _NO_WEIGHT)
        through += weight[0]
        enter += weight[1]
        stay += weight[2]
    return through, enter, stay


def _cached_weight(name: Callable[..., Facet]) -> Callable[..., Weight]:
    """What facets of a kind weigh: most have been seen on other pages."""
    return lru_cache(maxsize=_CACHE_SIZE)(lambda *seen: weight_of(name(*seen)))


_FACET_WEIGHTS: Final = Facets(
    shape=_cached_weight(NAMES.shape),
    neighbours=_cached_weight(NAMES.neighbours),
    container=_cached_weight(NAMES.container),
    holding=_cached_weight(NAMES.holding),
    standing=_cached_weight(NAMES.standing),
    names=_cached_weight(NAMES.names),
)


def sum_weights(seen: Iterable[Iterable[Weight]]) -> PartWeights:
    """Of each part, what its facets weigh together."""
    weights = PartWeights([], [], [])
    for facets in seen:
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
    """That each part is inside.

    Up: how much more than outside does each part weigh, with all that is in it? A child adds to a parent that is on the
    way the logarithm of one (outside) + enter + through, to one that is inside that of one + stay. Down: given what the
    parent is, what is the child?
    """
    count = len(parts)
    if count == 1:
        return [1.0]
    to_pass, to_enter, to_stay = weights
    on_way, within = [0.0] * count, [0.0] * count  # what the children add to a part that is on the way, inside
    through, enter, stay = [0.0] * count, [0.0] * count, [0.0] * count  # the chances of each, the parent given
    for number in range(count - 1, 0, -1):
        part = parts[number]
        entering = to_enter[number] + within[number]
        staying = to_stay[number] + within[number]
        if part.text:  # it leads nowhere
            most = max(0.0, entering)
            added = most + log(exp(-most) + exp(entering - most))
        else:
            passing = to_pass[number] + _log_expm1(on_way[number])
            most = max(0.0, entering, passing)
            added = most + log(exp(-most) + exp(entering - most) + exp(passing - most))
            through[number] = exp(passing - added)
        enter[number] = exp(entering - added)
        kept = staying + log1p(exp(-staying)) if staying > 0 else log1p(exp(staying))
        stay[number] = exp(staying - kept)
        on_way[part.parent] += added
        within[part.parent] += kept
    inside, passed = [0.0] * count, [0.0] * count
    passed[0] = 1.0
    for number in range(1, count):
        parent = parts[number].parent
        some = passed[parent] / -expm1(-max(on_way[parent], _EPSILON))  # at least one child is not outside
        passed[number] = some * through[number]
        inside[number] = min(some * enter[number] + inside[parent] * stay[number], 1.0)
    return inside


def _without_hidden(parts: Outline, inside: list[float]) -> list[float]:
    """What is not shown is not content, unless it is nearly all there is: some pages show their text by a script."""
    if not any(part.names.startswith(HIDDEN) for part in parts):
        return inside
    is_hidden: list[bool] = []
    sizes = [0, 0]  # of what is chosen, shown and hidden
    for number, part in enumerate(parts):
        is_hidden.append(part.names.startswith(HIDDEN) or (number > 0 and is_hidden[part.parent]))
        if inside[number] >= 0.5:
            sizes[is_hidden[number]] += part.size
    if sizes[True] > _NEARLY_ALL * sum(sizes):
        return inside
    return [0.0 if hidden else chance for hidden, chance in zip(is_hidden, inside, strict=True)]


def _with_some_text(parts: Outline, inside: list[float]) -> list[float]:
    """Where no block is likely content, the likeliest ones are it: a page without main text would be lost to a search."""
    most = max(chance for part, chance in zip(parts, inside, strict=True) if part.text)
    if most >= 0.5:
        return inside
    return [chance / most for chance in inside] if most > 0 else [1.0] * len(parts)


def _log_expm1(value: float) -> float:
    value = max(value, _EPSILON)
    return value + log(-expm1(-value))


def _expected_f1(parts: Outline, inside: Sequence[float]) -> float:
    """What the chosen blocks would score if the probabilities are right, by characters."""
    chosen = right = expected = 0.0
    for part, chance in zip(parts, inside, strict=True):
        expected += chance * part.size
        if chance >= 0.5:
            chosen += part.size
            right += chance * part.size
    return 2 * right / (chosen + expected) if chosen else 0.0
