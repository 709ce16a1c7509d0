"""What does a text look like that somebody has copied and edited?

Five ways to edit, each told how similar the copy should be: the Jaccard coefficient of shingles that it aims at. What
comes out is near that, and is measured afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from crawler.duplicates.shingles import SIZE

WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r".+?(?:[.!?:;](?=\s)|$)\s*", re.DOTALL | re.MULTILINE)
_SEAMS = 3  # where a paragraph was taken out, and before and after its new place
_LINE = 12  # words of a line in a page's head
LEAST = 0.55  # that copies have in common with their originals, or nearly
_CENTRES = ((0.9, 0.03), (0.9, 0.05), (0.8, 0.03), (0.8, 0.05))  # and how far around them


@dataclass(frozen=True, slots=True)
class Editor:
    """Somebody who edits by chance; words that are new to a text come from the vocabulary."""

    chance: Random
    vocabulary: Sequence[str]

    def copies(self, text: str) -> list[str]:
        """One for each way to edit, each as similar as chance has it."""
        edits = (self.replaced, self.deleted, self.moved, self.headed, self.truncated)
        return [edit(text, self.aim()) for edit in edits]

    def aim(self) -> float:
        """Some similarity, most often one near .8 or .9, where it is hard to tell."""
        if self.chance.random() < 0.2:
            return self.chance.uniform(LEAST, 1.0)
        return min(max(self.chance.gauss(*self.chance.choice(_CENTRES)), LEAST), 1.0)

    def replaced(self, text: str, aim: float) -> str:
        """Single words are others."""
        words = list(WORD.finditer(text))
        kept = 2 * aim / (1 + aim)  # share of the shingles
        number = round(len(words) * (1 - kept ** (1 / SIZE)))
        for word in sorted(self.chance.sample(words, number), key=re.Match.start, reverse=True):
            text = text[: word.start()] + self.chance.choice(self.vocabulary) + text[word.end() :]
        return text

    def deleted(self, text: str, aim: float) -> str:
        """Sentences are missing."""
        sentences = _SENTENCE.findall(text)
        sizes = [len(WORD.findall(sentence)) for sentence in sentences]
        order = self.chance.sample(range(len(sentences)), len(sentences))
        # What is left beside a gap makes new shingles as well.
        gone = accumulate(sizes[number] + 2 * (SIZE - 1) * aim for number in order)
        most = (1 - aim) * sum(sizes)
        missing = {number for number, words in zip(order, gone, strict=True) if words <= most}
        return "".join(sentence for number, sentence in enumerate(sentences) if number not in missing)

    def moved(self, text: str, aim: float) -> str:
        """Paragraphs stand elsewhere."""
        paragraphs = text.splitlines()
        broken = len(WORD.findall(text)) * (1 - aim) / (1 + aim)
        for _ in range(max(round(broken / (_SEAMS * (SIZE - 1))), 1)):
            paragraph = paragraphs.pop(self.chance.randrange(len(paragraphs)))
            paragraphs.insert(self.chance.randrange(len(paragraphs) + 1), paragraph)
        return "\n".join(paragraphs)

    def headed(self, text: str, aim: float) -> str:
        """The first lines are others: a date, the entries of a menu."""
        words = list(WORD.finditer(text))
        number = round(len(words) * (1 - aim) / (1 + aim))
        date = f"{self.chance.randrange(1, 29)}.{self.chance.randrange(1, 13)}.{self.chance.randrange(1995, 2030)}"
        entries = self.chance.choices(self.vocabulary, k=max(number - 3, 0))
        lines = [" ".join(entries[at : at + _LINE]) for at in range(0, len(entries), _LINE)]
        return "\n".join([date, *lines, text[words[number].start() :]])

    def truncated(self, text: str, aim: float) -> str:
        """The end is missing."""
        words = list(WORD.finditer(text))
        return text[: words[max(round(len(words) * aim), 1) - 1].end()]
