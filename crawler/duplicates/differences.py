"""List the words in which two near-duplicates differ.

Words are counted, not aligned: that takes one pass, while aligning two texts can take time proportional to the product
of their lengths. Words that have only moved do not count as a difference.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from crawler.duplicates.words import MAX_CHARACTERS

MAX_WORDS: Final = 6  # added and removed words that are shown, of each
MAX_WORD_LENGTH: Final = 30  # characters; some scripts put no spaces between words
_WORD: Final = re.compile(r"\w+")  # matches no control characters, so words can be printed to a terminal


class Differences(NamedTuple):
    """Words that the second text has and the first has not, or fewer times; and the other way round. In text order."""

    added: list[str]
    removed: list[str]
    more_added: int = 0  # words that are not listed
    more_removed: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)

    def __str__(self) -> str:
        """The differences on one line.

        >>> print(differences("the old dog barks", "the young dog barks loudly"))
        + young loudly  − old
        """
        sides = (("+", self.added, self.more_added), ("−", self.removed, self.more_removed))
        return "  ".join(f"{sign} {_word_list(words, more)}" for sign, words, more in sides if words)


def differences(one: str, other: str, most: int = MAX_WORDS) -> Differences:
    """Compare two texts word by word, ignoring case; of very long texts only the beginnings.

    >>> differences("To be, or not to be", "to be or NOT, or 2 bee")
    Differences(added=['or', '2', 'bee'], removed=['to', 'be'], more_added=0, more_removed=0)
    """
    words, others = (_WORD.findall(text[:MAX_CHARACTERS].lower()) for text in (one, other))
    counts, other_counts = Counter(words), Counter(others)
    added, removed = other_counts - counts, counts - other_counts
    return Differences(
        [_shorten(word) for word in list(added)[:most]],
        [_shorten(word) for word in list(removed)[:most]],
        max(len(added) - most, 0),
        max(len(removed) - most, 0),
    )


def _shorten(word: str) -> str:
    return word if len(word) <= MAX_WORD_LENGTH else f"{word[: MAX_WORD_LENGTH - 1]}…"


def _word_list(words: list[str], more: int) -> str:
    return " ".join(words) + (f" and {more:,} more" if more else "")
