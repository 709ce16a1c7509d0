"""A text as the numbers of its words: one 64-bit hash for each, in order, without an object for any.

A word is a run of letters, digits and underscores, in lower case, as `re` has it in `\\w+`. What its letters hash to is a
polynomial over them, so that all words of a text come out of one running sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

Hashes = NDArray[np.uint64]
Letters = NDArray[np.uint8] | NDArray[np.uint32]

LONGEST: Final = 500_000  # characters that are looked at: what is longer is judged by its beginning
_BASE: Final = 0x9E3779B97F4A7C15  # odd, so that it has an inverse
_MODULUS: Final = 1 << 64
_BEYOND: Final = 0x10000  # the first character that is not in the table
_IN_ASCII: Final = bytes(chr(letter).isalnum() or letter == ord("_") for letter in range(128)).ljust(256, b"\0")
_MULTIPLIERS: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # those of splitmix64
_SHIFTS: Final = (np.uint64(30), np.uint64(27), np.uint64(31))


def word_hashes(text: str) -> Hashes:
    """
    >>> first, second = word_hashes("Red, red rose"), word_hashes("RED/rose_")
    >>> [bool(word == second[0]) for word in first], len(second)
    ([True, True, False], 2)
    """
    letters, inside = _read(text[:LONGEST].lower())
    size = len(letters)
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = edges[::2], edges[1::2]
    powers, inverse = _powers(1 << max(size - 1, 1).bit_length())
    sums = np.zeros(size + 1, dtype=np.uint64)
    terms = letters * powers[:size]
    np.cumsum(terms, out=sums[1:])
    return mixed((sums[ends] - sums[starts]) * inverse[starts])


def token_hashes(tokens: Sequence[str]) -> Hashes:
    """Of words that somebody else has found, whatever they consist of."""
    hashes = {token: xxh3_64_intdigest(token.encode("utf-8", "surrogatepass")) for token in set(tokens)}
    return np.fromiter(map(hashes.__getitem__, tokens), dtype=np.uint64, count=len(tokens))


def mixed(numbers: Hashes) -> Hashes:
    """Numbers whose bits all depend on all bits. What was different stays different."""
    shifted = numbers >> _SHIFTS[0]
    found = numbers ^ shifted
    for shift, multiplier in zip(_SHIFTS[1:], _MULTIPLIERS, strict=True):
        found *= multiplier
        np.right_shift(found, shift, out=shifted)
        found ^= shifted
    return found


def _read(text: str) -> tuple[Letters, NDArray[np.uint8]]:
    """The numbers of its characters, and 1 for each that is part of a word, with a 0 before and after."""
    if text.isascii():
        octets = text.encode("ascii")
        inside = b"\0" + octets.translate(_IN_ASCII) + b"\0"
        return np.frombuffer(octets, dtype=np.uint8), np.frombuffer(inside, dtype=np.uint8)
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    marks = np.zeros(len(letters) + 2, dtype=np.uint8)
    marks[1:-1] = _are_in_words(letters)
    return letters, marks


def _are_in_words(letters: NDArray[np.uint32]) -> NDArray[np.bool]:
    table = _table()
    if letters.max() < _BEYOND:
        return table[letters]
    inside = np.take(table, letters, mode="clip")
    beyond = letters >= _BEYOND
    rare, where = np.unique(letters[beyond], return_inverse=True)
    inside[beyond] = np.array([chr(letter).isalnum() for letter in rare.tolist()])[where]
    return inside


@cache
def _table() -> NDArray[np.bool]:
    """Which characters words are made of."""
    return np.fromiter((chr(letter).isalnum() or letter == ord("_") for letter in range(_BEYOND)), np.bool, _BEYOND)


@cache
def _powers(size: int) -> tuple[Hashes, Hashes]:
    """Of the base and of its inverse, so that a word has one hash wherever in a text it stands."""
    return _progression(_BASE, size), _progression(pow(_BASE, -1, _MODULUS), size)


def _progression(base: int, size: int) -> Hashes:
    powers = np.full(size, base, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers, out=powers)
