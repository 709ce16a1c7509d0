"""Generated text: pages of made-up words, no two alike."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import shake_128
from html import escape
from itertools import product, zip_longest
from struct import unpack

# 4,096 words. The accented letters exist in Latin-1 too, so that a page can be sent in either encoding.
_ONSETS = ("b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z")
_VOWELS = ("a", "e", "i", "o", "u", "é", "ö", "ai")
_ENDS = ("l", "n", "r", "s")
_WORDS = tuple(
    f"{a}{b}{c}{d}" for a, b, c, d in product(_ONSETS, _VOWELS, _ENDS, ("a", "em", "ist", "o", "u", "y", "ó", ""))
)

_SENTENCE = 11  # words


def words(count: int, *names: int | str) -> list[str]:
    """Return that many words; the same names give the same words."""
    numbers = unpack(f"<{count}H", shake_128(repr(names).encode()).digest(2 * count))
    return [_WORDS[number % 4096] for number in numbers]


def text(size: int, *names: int | str) -> str:
    """Return about that many characters of sentences, at least one sentence."""
    return " ".join(_sentences(size, *names))


def document(title: str, links: Sequence[str], size: int, *names: int | str) -> str:
    """Return an HTML page of about that many characters, with the links between paragraphs of text."""
    anchors = [_anchor(link, number, *names) for number, link in enumerate(links)]
    sentences = _sentences(size - sum(map(len, anchors)) - 200, *names)
    step = len(sentences) // (len(anchors) + 1) + 1
    paragraphs = [f"<p>{' '.join(sentences[start : start + step])}</p>" for start in range(0, len(sentences), step)]
    body = "\n".join(line for pair in zip_longest(paragraphs, anchors, fillvalue="") for line in pair if line)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><title>{escape(title)}</title></head>\n'
        f"<body>\n<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def _sentences(size: int, *names: int | str) -> list[str]:
    pool = words(max(_SENTENCE, size // 6), *names)
    return [" ".join(pool[start : start + _SENTENCE]).capitalize() + "." for start in range(0, len(pool), _SENTENCE)]


def _anchor(link: str, number: int, *names: int | str) -> str:
    return f'<a href="{escape(link)}">{" ".join(words(2, "anchor", number, *names))}</a>'
