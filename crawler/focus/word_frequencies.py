"""How many of the pages seen so far contain a word: inverse document frequencies that need no corpus to begin with.

They begin with the lengths of the words of query and examples: in running text, short words are on most pages. Each
observed page then counts as one, and each example, until there are many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawler.focus.words import WordCounts, word_number

MAX_COUNTED: Final = 1 << 17  # words that are counted, before those of a single page are forgotten
MAX_KNOWN: Final = 1 << 15  # words whose frequency is known to a scorer, the most frequent ones
_PRIOR_PAGES: Final = 20.0  # pages that the lengths of words count as
_EXAMPLE_PAGES: Final = 30.0  # pages that the examples of a kind count as, at most
_FIRST_WITHOUT_SPACES: Final = "\u0e00"  # words from here on are character bigrams, as short as they are rare
_LOG_COUNT: Final = (1.0 + np.log(np.maximum(np.arange(16), 1.0))).astype(np.float32)


class WordTable(NamedTuple):
    """The weight of each word of which more is known than that it is rare, in the order of their numbers."""

    numbers: NDArray[np.uint32]
    values: NDArray[np.float32]
    other: float  # the value of all other words

    def look_up(self, numbers: NDArray[np.uint32]) -> NDArray[np.float32]:
        """Return the value of each word."""
        if not len(self.numbers):
            return np.full(len(numbers), self.other, np.float32)
        places = np.searchsorted(self.numbers, numbers)
        places[places == len(self.numbers)] = 0
        return np.where(self.numbers[places] == numbers, self.values[places], np.float32(self.other))

    @classmethod
    def of(cls, values: Mapping[int, float], other: float = 0.0) -> WordTable:
        numbers = np.fromiter(values, np.uint32, len(values))
        order = np.argsort(numbers)
        return cls(numbers[order], np.fromiter(values.values(), np.float32, len(values))[order], other)


def page_vector(words: WordCounts, idf: WordTable) -> NDArray[np.float32]:
    """Return the tf·idf value of each word of a page, in a vector of length 1.

    It has the square root of the idf, so that a word's idf counts once where a page is compared with a page. Counted
    twice, average precision was .66 for .67, and .75 for .80 on topics that were not looked at before.
    """
    values = _LOG_COUNT[words.counts] * idf.look_up(words.numbers)
    length = float(np.sqrt(values @ values))
    return values / np.float32(length) if length else values


class WordFrequencies:
    """Counts the pages that contain each word, in bounded memory."""

    def __init__(self, pages: int = 0, counts: Mapping[int, int] | None = None) -> None:
        self.pages = pages
        self.counts = Counter(counts or {})

    def observe(self, numbers: Iterable[int]) -> None:
        """Count a page by its distinct words."""
        self.counts.update(numbers)
        self.pages += 1
        if len(self.counts) > MAX_COUNTED:
            self._forget_rare_words()

    def _forget_rare_words(self) -> None:
        least = 2
        while len(self.counts) > MAX_COUNTED // 2:
            self.counts = Counter({number: count for number, count in self.counts.items() if count >= least})
            least *= 2

    def idf(self, examples: Sequence[Sequence[WordCounts]], names: Iterable[str]) -> WordTable:
        """Return the square root of each word's idf; `examples` are those of each kind, `names` their words."""
        counts: dict[int, float] = {word_number(name): _PRIOR_PAGES * _usual_share(name) for name in names}
        pages = _PRIOR_PAGES + self.pages
        for kind in examples:
            weight = min(1.0, _EXAMPLE_PAGES / max(len(kind), 1))
            pages += weight * len(kind)
            for words in kind:
                for number in words.numbers.tolist():
                    counts[number] = counts.get(number, 0.0) + weight
        for number, count in self.counts.items():
            counts[number] = counts.get(number, 0.0) + count
        if len(counts) > MAX_KNOWN:
            counts = dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_KNOWN])
        table = WordTable.of(counts)
        values = np.sqrt(np.log((pages + 2.0) / (table.values + 1.0)))
        return WordTable(table.numbers, values.astype(np.float32), float(np.sqrt(np.log(pages + 2.0))))


def _usual_share(word: str) -> float:
    """Return the share of pages that usually contain a word of this length: .6, .3, .15 … for two, three, four letters."""
    return 0.02 if word[:1] >= _FIRST_WITHOUT_SPACES else max(1.2 * 0.5 ** (max(len(word), 2) - 1), 0.02)
