"""In which words do two texts differ that are almost the same?

Words are counted, not aligned: that takes one pass whatever the texts are, where aligning them can take their lengths
multiplied. What has only moved is no difference.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from crawler.duplicates.words import LONGEST

MOST: Final = 6  # words of each kind that are shown
LONGEST_WORD: Final = 30  # characters of one; some scripts do not part their words
_WORD: Final = re.compile(r"\w+")  # nothing that could steer a terminal


class Differences(NamedTuple):
    """Words of the second text that the first has not, or not so often; and the other way round. In their order."""

    added: list[str]
    removed: list[str]
    more_added: int = 0  # than are named
    more_removed: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)

    def __str__(self) -> str:
        """
        >>> print(differences("the old dog barks", "the young dog barks loudly"))
        + young loudly  − old
        """
        sides = (("+", self.added, self.more_added), ("−", self.removed, self.more_removed))
        return "  ".join(f"{sign} {_listed(words, more)}" for sign, words, more in sides if words)


def differences(one: str, other: str, most: int = MOST) -> Differences:
    """Of the beginnings of very long texts; words in whatever case are the same, as when texts are compared.

    >>> differences("To be, or not to be", "to be or NOT, or 2 bee")
    Differences(added=['or', '2', 'bee'], removed=['to', 'be'], more_added=0, more_removed=0)
    """
    words, others = (_WORD.findall(text[:LONGEST].lower()) for text in (one, other))
    counts, their_counts = Counter(words), Counter(others)
    added, removed = their_counts - counts, counts - their_counts
    return Differences(
        [_short(word) for word in list(added)[:most]],
        [_short(word) for word in list(removed)[:most]],
        max(len(added) - most, 0),
        max(len(removed) - most, 0),
    )


def _short(word: str) -> str:
    return word if len(word) <= LONGEST_WORD else f"{word[: LONGEST_WORD - 1]}…"


def _listed(words: list[str], more: int) -> str:
    return " ".join(words) + (f" and {more:,} more" if more else "")
