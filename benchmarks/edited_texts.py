"""Make edited copies of texts for the evaluation of near-duplicate detection.

There are five kinds of edits. Each is given the Jaccard coefficient of shingles at which it aims; the result is near
that, and is measured afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from crawler.duplicates.shingles import SHINGLE_WORDS

WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r".+?(?:[.!?:;](?=\s)|$)\s*", re.DOTALL | re.MULTILINE)
_SEAMS = 3  # places where moving a paragraph breaks shingles: its old place, before and after its new one
_LINE = 12  # words of a line in a page's head
LEAST = 0.55  # least similarity of copies to their originals, approximately
_CENTRES = ((0.9, 0.03), (0.9, 0.05), (0.8, 0.03), (0.8, 0.05))  # mean and deviation of similarities


@dataclass(frozen=True, slots=True)
class Editor:
    """Edits texts at random; words that are new to a text come from the vocabulary."""

    chance: Random
    vocabulary: Sequence[str]

    def copies(self, text: str) -> list[str]:
        """Make one copy for each kind of edit, each with a random similarity."""
        edits = (self.replaced, self.deleted, self.moved, self.headed, self.truncated)
        return [edit(text, self.aim()) for edit in edits]

    def aim(self) -> float:
        """Draw a similarity, most often one near .8 or .9, where decisions are hard."""
        if self.chance.random() < 0.2:
            return self.chance.uniform(LEAST, 1.0)
        return min(max(self.chance.gauss(*self.chance.choice(_CENTRES)), LEAST), 1.0)

    def replaced(self, text: str, aim: float) -> str:
        """Replace single words."""
        words = list(WORD.finditer(text))
        kept = 2 * aim / (1 + aim)  # share of the shingles
        number = round(len(words) * (1 - kept ** (1 / SHINGLE_WORDS)))
        for word in sorted(self.chance.sample(words, number), key=re.Match.start, reverse=True):
            text = text[: word.start()] + self.chance.choice(self.vocabulary) + text[word.end() :]
        return text

    def deleted(self, text: str, aim: float) -> str:
        """Delete sentences."""
        sentences = _SENTENCE.findall(text)
        sizes = [len(WORD.findall(sentence)) for sentence in sentences]
        order = self.chance.sample(range(len(sentences)), len(sentences))
        # The words beside a gap form new shingles as well.
        gone = accumulate(sizes[number] + 2 * (SHINGLE_WORDS - 1) * aim for number in order)
        most = (1 - aim) * sum(sizes)
        missing = {number for number, words in zip(order, gone, strict=True) if words <= most}
        return "".join(sentence for number, sentence in enumerate(sentences) if number not in missing)

    def moved(self, text: str, aim: float) -> str:
        """Move paragraphs."""
        paragraphs = text.splitlines()
        broken = len(WORD.findall(text)) * (1 - aim) / (1 + aim)
        for _ in range(max(round(broken / (_SEAMS * (SHINGLE_WORDS - 1))), 1)):
            paragraph = paragraphs.pop(self.chance.randrange(len(paragraphs)))
            paragraphs.insert(self.chance.randrange(len(paragraphs) + 1), paragraph)
        return "\n".join(paragraphs)

    def headed(self, text: str, aim: float) -> str:
        """Replace the first lines by a date and the entries of a menu."""
        words = list(WORD.finditer(text))
        number = round(len(words) * (1 - aim) / (1 + aim))
        date = f"{self.chance.randrange(1, 29)}.{self.chance.randrange(1, 13)}.{self.chance.randrange(1995, 2030)}"
        entries = self.chance.choices(self.vocabulary, k=max(number - 3, 0))
        lines = [" ".join(entries[at : at + _LINE]) for at in range(0, len(entries), _LINE)]
        return "\n".join([date, *lines, text[words[number].start() :]])

    def truncated(self, text: str, aim: float) -> str:
        """Cut off the end."""
        words = list(WORD.finditer(text))
        return text[: words[max(round(len(words) * aim), 1) - 1].end()]
