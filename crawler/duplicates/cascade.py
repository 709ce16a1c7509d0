"""The rule for near-duplicates: the sketches' estimate decides; near the threshold, the texts are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from crawler.duplicates.shingles import SHINGLE_WORDS

THRESHOLD: Final = 0.9
MARGIN: Final = 0.05
FEWEST_WORDS: Final = 40  # a page with fewer can only be an exact copy


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateRule:
    """Two documents are near-duplicates if the Jaccard coefficient of their shingles reaches the threshold.

    A document with few words is only checked for exact copies: in a short text a single word can change the meaning,
    and each word is part of so many of its few shingles that the coefficient says little.
    """

    threshold: float = THRESHOLD  # 0 = near-duplicates are not detected
    margin: float = MARGIN  # estimates this close to the threshold, on either side, do not decide
    fewest_words: int = FEWEST_WORDS
    shingle: int = SHINGLE_WORDS  # words
    links: bool = True  # links of duplicates are followed

    def is_duplicate(self, estimate: float) -> bool | None:
        """Whether an estimated coefficient makes two documents near-duplicates; None if it is too close to decide.

        >>> rule = DuplicateRule(threshold=0.9)
        >>> rule.is_duplicate(0.97), rule.is_duplicate(0.9), rule.is_duplicate(0.8)
        (True, None, False)
        """
        if abs(estimate - self.threshold) <= self.margin:
            return None
        return estimate > self.threshold
