"""Generate a few texts that a regular expression matches: every alternative, the shortest repetitions."""

from __future__ import annotations

import re
from itertools import islice, product
from re import _constants as codes
from re import _parser as parser
from typing import Any

MOST = 64

_CLASSES = {codes.CATEGORY_DIGIT: "0", codes.CATEGORY_WORD: "w", codes.CATEGORY_SPACE: " "}


def samples(expression: str) -> list[str]:
    """
    >>> samples("fb_(?:source|ref)"), samples("npv[0-9]+"), samples("x?mc")
    (['fb_source', 'fb_ref'], ['npv0'], ['xmc', 'mc'])
    """
    found = list(dict.fromkeys(islice(_of_all(parser.parse(expression)), MOST)))
    assert all(re.search(expression, sample) for sample in found), f"{expression}: {found}"
    return found


def _of_all(tree: Any) -> Any:
    return map("".join, product(*(_of_one(code, value) for code, value in tree)))


def _of_one(code: Any, value: Any) -> list[str]:
    if code is codes.LITERAL:
        return [chr(value)]
    if code is codes.ANY:
        return ["x"]
    if code is codes.AT:
        return [""]
    if code is codes.IN:
        return [_of_class(value)]
    if code is codes.SUBPATTERN:
        return list(islice(_of_all(value[-1]), MOST))
    if code is codes.BRANCH:
        return [sample for branch in value[1] for sample in islice(_of_all(branch), MOST)]
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
        least, _, repeated = value
        once = list(islice(_of_all(repeated), MOST))
        return [sample * least for sample in once] if least else [*once, ""]
    raise ValueError(f"{code} in a regular expression")


def _of_class(members: Any) -> str:
    code, value = members[0]
    if code is codes.RANGE:
        return chr(value[0])
    return _CLASSES[value] if code is codes.CATEGORY else chr(value)
