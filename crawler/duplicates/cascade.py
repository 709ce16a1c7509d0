"""When is a document a near-duplicate? First by what the sketches say; where they leave it in doubt, by the texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from crawler.duplicates.shingles import SIZE

THRESHOLD: Final = 0.9
MARGIN: Final = 0.05
FEWEST_WORDS: Final = 40  # of a page that may be a near-duplicate


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateRule:
    """Documents are near-duplicates whose shingles have a Jaccard coefficient from the threshold on.

    A document with few words is only ever an exact copy: in a short text one word makes the difference, and each word is
    in so many of its few shingles that their number tells nothing.
    """

    threshold: float = THRESHOLD  # 0 = near-duplicates are not looked for
    margin: float = MARGIN  # of doubt about an estimate, on both sides of the threshold
    fewest_words: int = FEWEST_WORDS
    shingle: int = SIZE  # words
    links: bool = True  # links of duplicates are followed

    def is_duplicate(self, estimate: float) -> bool | None:
        """What an estimate of the coefficient says; None if it leaves that in doubt.

        >>> rule = DuplicateRule(threshold=0.9)
        >>> rule.is_duplicate(0.97), rule.is_duplicate(0.9), rule.is_duplicate(0.8)
        (True, None, False)
        """
        if abs(estimate - self.threshold) <= self.margin:
            return None
        return estimate > self.threshold
