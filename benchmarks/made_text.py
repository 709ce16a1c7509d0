"""Words, sentences and paragraphs of nonsense, of which pages are made (made_pages.py)."""

from __future__ import annotations

from random import Random
from typing import Final

_CONSONANTS: Final = (*"bcdfghklmnprstvw", "st", "tr", "ch")
_VOWELS: Final = (*"aeiou", "ea", "ou")
_FIRST_HAN, _LAST_HAN = 0x4E00, 0x9FA5


def is_han(text: str) -> bool:
    """Whether a quarter of a text, or more, are Chinese characters."""
    return sum(chr(_FIRST_HAN) <= letter <= chr(_LAST_HAN) for letter in text) > len(text) / 4


class MadeText:
    """Makes text in Latin letters or Chinese characters."""

    def __init__(self, random: Random, *, is_han: bool) -> None:
        self._random = random
        self._is_han = is_han

    def paragraph(self) -> str:
        return ("" if self._is_han else " ").join(self.sentence() for _ in range(self._random.choice((1, 1, 2, 3, 5))))

    def sentence(self) -> str:
        words = self.words(self._random.randint(6, 24))
        if self._is_han:
            return words.replace(" ", "，") + self._random.choice("。。。！？")
        commas = words.split(" ")
        for place in range(5, len(commas) - 2, 7):
            commas[place] += self._random.choice((",", ""))
        return " ".join(commas).capitalize() + self._random.choice("....!?")

    def title(self) -> str:
        return self.words(self._random.randint(2, 7)).capitalize()

    def name(self) -> str:
        return self.words(self._random.randint(1, 2)).title()

    def date(self) -> str:
        year, month, day = self._random.randint(2005, 2025), self._random.randint(1, 12), self._random.randint(1, 28)
        return self._random.choice((f"{year}-{month:02}-{day:02}", f"{day}.{month}.{year}", f"{day}/{month}/{year}"))

    def price(self) -> str:
        return f"{self._random.randint(1, 999)} {self._random.choice('€$£')}"

    def words(self, count: int) -> str:
        if self._is_han:
            clauses = [
                "".join(chr(self._random.randint(_FIRST_HAN, _LAST_HAN)) for _ in range(self._random.randint(4, 9)))
                for _ in range(max(count // 4, 1))
            ]
            return " ".join(clauses)
        return " ".join(
            "".join(
                self._random.choice(_CONSONANTS) + self._random.choice(_VOWELS)
                for _ in range(self._random.choice((1, 2, 2, 3)))
            )
            for _ in range(count)
        )

    def letter(self) -> str:
        return self._random.choice(_CONSONANTS)
