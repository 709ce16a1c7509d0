"""Hash the words of a text: one 64-bit number per word, in order, computed by numpy without a Python object per word.

A word is a lower-case run of letters, digits and underscores, as `\\w+` matches it in `re`. Its hash is a polynomial
over its characters, so that the hashes of all words of a text come out of one cumulative sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

Hashes = NDArray[np.uint64]
CodePoints = NDArray[np.uint8] | NDArray[np.uint32]

MAX_CHARACTERS: Final = 500_000  # of a text that are hashed: a longer text is represented by its beginning
_BASE: Final = 0x9E3779B97F4A7C15  # odd, so that it has an inverse
_MODULUS: Final = 1 << 64
_TABLE_SIZE: Final = 0x10000  # code points below this one are looked up in a table
_ASCII_WORD_BYTES: Final = bytes(chr(letter).isalnum() or letter == ord("_") for letter in range(128)).ljust(256, b"\0")
_MULTIPLIERS: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # of splitmix64
_SHIFTS: Final = (np.uint64(30), np.uint64(27), np.uint64(31))


def word_hashes(text: str) -> Hashes:
    """The hashes of a text's words, in order.

    >>> first, second = word_hashes("Red, red rose"), word_hashes("RED/rose_")
    >>> [bool(word == second[0]) for word in first], len(second)
    ([True, True, False], 2)
    """
    letters, inside = _code_points_and_mask(text[:MAX_CHARACTERS].lower())
    size = len(letters)
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = edges[::2], edges[1::2]
    powers, inverse = _powers(1 << max(size - 1, 1).bit_length())
    sums = np.zeros(size + 1, dtype=np.uint64)
    terms = letters * powers[:size]
    np.cumsum(terms, out=sums[1:])
    return mix_bits((sums[ends] - sums[starts]) * inverse[starts])


def token_hashes(tokens: Sequence[str]) -> Hashes:
    """The hashes of tokens that were split by the caller; a token may be any string."""
    hashes = {token: xxh3_64_intdigest(token.encode("utf-8", "surrogatepass")) for token in set(tokens)}
    return np.fromiter(map(hashes.__getitem__, tokens), dtype=np.uint64, count=len(tokens))


def mix_bits(numbers: Hashes) -> Hashes:
    """Mix each number so that every output bit depends on every input bit; different numbers stay different."""
    shifted = numbers >> _SHIFTS[0]
    mixed = numbers ^ shifted
    for shift, multiplier in zip(_SHIFTS[1:], _MULTIPLIERS, strict=True):
        mixed *= multiplier
        np.right_shift(mixed, shift, out=shifted)
        mixed ^= shifted
    return mixed


def _code_points_and_mask(text: str) -> tuple[CodePoints, NDArray[np.uint8]]:
    """The code points of a text, and a mask: 1 for each character of a word, with one 0 added at both ends."""
    if text.isascii():
        octets = text.encode("ascii")
        inside = b"\0" + octets.translate(_ASCII_WORD_BYTES) + b"\0"
        return np.frombuffer(octets, dtype=np.uint8), np.frombuffer(inside, dtype=np.uint8)
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    mask = np.zeros(len(letters) + 2, dtype=np.uint8)
    mask[1:-1] = _are_word_characters(letters)
    return letters, mask


def _are_word_characters(letters: NDArray[np.uint32]) -> NDArray[np.bool]:
    table = _word_character_table()
    if letters.max() < _TABLE_SIZE:
        return table[letters]
    inside = np.take(table, letters, mode="clip")
    beyond = letters >= _TABLE_SIZE
    rare, where = np.unique(letters[beyond], return_inverse=True)
    inside[beyond] = np.array([chr(letter).isalnum() for letter in rare.tolist()])[where]
    return inside


@cache
def _word_character_table() -> NDArray[np.bool]:
    """For each code point of the Basic Multilingual Plane: whether it is part of a word."""
    is_word = (chr(letter).isalnum() or letter == ord("_") for letter in range(_TABLE_SIZE))
    return np.fromiter(is_word, np.bool, _TABLE_SIZE)


@cache
def _powers(size: int) -> tuple[Hashes, Hashes]:
    """The powers of the base and of its inverse; the latter make a word's hash independent of its position."""
    return _powers_of(_BASE, size), _powers_of(pow(_BASE, -1, _MODULUS), size)


def _powers_of(base: int, size: int) -> Hashes:
    powers = np.full(size, base, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers, out=powers)
