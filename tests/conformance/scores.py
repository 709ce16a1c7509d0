"""Score how often we agree with another project's tests, how often we must, and why not always."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Difference(NamedTuple):
    """Cases of one test that differ for one reason."""

    test: str
    cases: int
    why: str  # "" if unexplained


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The cases of one suite, and how many of them agree."""

    name: str
    cases: int
    agreed: float  # cases may agree in part
    needed: float  # share of the cases
    differences: tuple[Difference, ...] = ()
    set_aside: tuple[Difference, ...] = ()  # not counted: we do not do this, or a better authority differs

    @property
    def holds(self) -> bool:
        return self.cases > 0 and self.agreed >= self.needed * self.cases

    @property
    def unexplained(self) -> list[Difference]:
        return [difference for difference in self.differences if not difference.why]


Known = Mapping[str, tuple[int, str]]  # test → (cases that differ, why)


def score(
    name: str,
    needed: float,
    results: Iterable[tuple[str, bool]],
    known: Known | None = None,
    aside: Known | None = None,
) -> Score:
    """Make a score from (test, whether it agrees) for each case. More differences than stated are unexplained.

    >>> score("two", 0.5, [("a", True), ("b", False)], {"b": (1, "their error")}).differences
    (Difference(test='b', cases=1, why='their error'),)
    """
    results, known, aside = list(results), known or {}, aside or {}
    differing = Counter(test for test, agrees in results if not agrees)
    set_aside = tuple(
        Difference(test, differing.pop(test), why) for test, (count, why) in aside.items() if differing[test] == count
    )
    differences = tuple(
        Difference(test, count, known[test][1] if test in known and count <= known[test][0] else "")
        for test, count in differing.items()
        if count
    )
    cases = len(results) - sum(difference.cases for difference in set_aside)
    agreed = cases - sum(difference.cases for difference in differences)
    return Score(name=name, cases=cases, agreed=agreed, needed=needed, differences=differences, set_aside=set_aside)


def graded(name: str, needed: float, cases: int, grade: float) -> Score:
    """Make a score of cases that agree in part: `grade`, from 0 to 1, is that of all together.

    >>> graded("texts", 0.9, 50, 0.914).agreed
    45.7
    """
    return Score(name=name, cases=cases, agreed=round(grade * cases, 2), needed=needed)
