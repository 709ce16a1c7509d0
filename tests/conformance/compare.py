"""Compare another project's results with ours, and explain each difference.

A kind of difference is something that one side does and the other does not, written as code. A case is explained when
some kinds, applied one after the other, make the two results equal; each must have changed something. All other
differences are unexplained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

MOST_KINDS = 4  # that one case may need

Answer = str | bool | None


class Case(NamedTuple):
    """One row of another project's tests."""

    given: str
    ours: Answer
    theirs: Answer
    options: Mapping[str, object] = {}  # of the other project's function


class Incomparable(NamedTuple):
    """A row about something that we do not do."""

    given: str
    reason: str


class Kind(NamedTuple):
    """One thing that one side does and the other does not."""

    name: str
    why: str
    ours: Callable[[Answer, Case], Answer] | None = None  # applies their behaviour to our result
    theirs: Callable[[Answer, Case], Answer] | None = None  # applies our behaviour to their result


class Suite(NamedTuple):
    """The tests of one project, and the differences that are known."""

    name: str
    rows: Callable[[], Iterable[Case | Incomparable]]
    kinds: Sequence[Kind] = ()  # none: every case must agree


@dataclass
class Comparison:
    suite: Suite
    agreed: int = 0
    explained: int = 0
    by_kind: dict[Kind, list[Case]] = field(default_factory=dict)
    incomparable: Counter[str] = field(default_factory=Counter)
    unexplained: list[Case] = field(default_factory=list)

    @property
    def cases(self) -> int:
        return self.agreed + self.explained + len(self.unexplained) + self.incomparable.total()


def compare(suite: Suite) -> Comparison:
    """Compare every row of a suite."""
    found = Comparison(suite)
    for row in suite.rows():
        if isinstance(row, Incomparable):
            found.incomparable[row.reason] += 1
        elif row.ours == row.theirs:
            found.agreed += 1
        elif kinds := explanation(row, suite.kinds):
            found.explained += 1
            for kind in kinds:
                found.by_kind.setdefault(kind, []).append(row)
        else:
            found.unexplained.append(row)
    return found


def explanation(case: Case, kinds: Sequence[Kind]) -> tuple[Kind, ...]:
    """Return the fewest kinds that make both results equal; none if no kinds do.

    >>> upper = Kind("case", "they write capitals", ours=lambda answer, case: str(answer).upper())
    >>> explanation(Case("a", "a", "A"), [upper]) == (upper,), explanation(Case("a", "a", "B"), [upper])
    (True, ())
    """
    for count in range(1, MOST_KINDS + 1):
        for some in combinations(kinds, count):
            if _are_equal_after(case, some):
                return some
    return ()


def _are_equal_after(case: Case, kinds: Sequence[Kind]) -> bool:
    ours, theirs = case.ours, case.theirs
    for kind in kinds:
        before = ours, theirs
        ours = kind.ours(ours, case) if kind.ours else ours
        theirs = kind.theirs(theirs, case) if kind.theirs else theirs
        if (ours, theirs) == before:
            return False
    return ours == theirs
