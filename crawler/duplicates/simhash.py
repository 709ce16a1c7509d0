"""A document's words as one number, such that documents with like words have numbers that differ in few bits.

Each feature has a hash and a weight. Bit by bit, the weights of all features whose hash has a one are added, those of the
others subtracted; the sign of the sum is the document's bit (Charikar 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from crawler.duplicates.words import Hashes, mixed, word_hashes

BITS: Final = 64
MOST_BITS: Final = 384
_ROWS: Final = 255  # ones that a byte can count
_LOWEST: Final = np.uint64(0x0101010101010101)  # bit of each byte


def simhash(text: str, bits: int = BITS) -> int:
    """Of a text, each word weighing as often as it occurs; 0 if there is none.

    >>> a, b = simhash("the quick brown fox jumps over the lazy dog"), simhash("the quick brown fox jumps over a lazy dog")
    >>> agreeing_bits(a, a, 64), agreeing_bits(a, b, 64) > 45
    (64, True)
    """
    return simhash_of_words(word_hashes(text), bits)


def simhash_of_words(words: Hashes, bits: int = BITS) -> int:
    """The same of words that are hashed already."""
    if not len(words):
        return 0
    ones = np.concatenate([_ones(part) for part in _widened(words, bits)])[:bits]
    return _number(2 * ones > len(words))


def simhash_of(
    weights: Mapping[str, float],
    bits: int = BITS,
    hashed: Callable[[str], int] = lambda feature: xxh3_64_intdigest(feature.encode("utf-8", "surrogatepass")),
) -> int:
    """Of any features with any weights. A hash of one's own has as many bits as are asked for, up to 64."""
    if not weights:
        return 0
    hashes = np.array([hashed(feature) for feature in weights], dtype=np.uint64)
    values = np.array(list(weights.values()), dtype=np.float64)
    sums = np.concatenate([_signs(part) @ values for part in _widened(hashes, bits)])[:bits]
    return _number(sums > 0)


def agreeing_bits(one: int, other: int, bits: int = BITS) -> int:
    """
    >>> agreeing_bits(0b1011, 0b1001, 4)
    3
    """
    return bits - ((one ^ other) & ((1 << bits) - 1)).bit_count()


def _widened(hashes: Hashes, bits: int) -> list[Hashes]:
    """As many hashes of each feature as are needed; the first is the one that is given."""
    if not 1 <= bits <= MOST_BITS:
        raise ValueError(f"a simhash has 1 to {MOST_BITS} bits, not {bits}")
    return [mixed(hashes + np.uint64(part)) if part else hashes for part in range((bits + 63) // 64)]


def _bits(hashes: Hashes) -> NDArray[np.uint8]:
    """A row for each hash, the lowest bit first."""
    octets = hashes.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(octets, axis=1, bitorder="little")


def _ones(hashes: Hashes) -> NDArray[np.int64]:
    """How many hashes have each bit, eight bits at a time: each byte of a sum counts one of them, while it cannot overflow."""
    if len(hashes) <= _ROWS:
        counts: NDArray[np.uint8] = _bits(hashes).sum(axis=0, dtype=np.uint8)
        return counts.astype(np.int64)
    parts = -(-len(hashes) // _ROWS)
    padded = np.zeros(parts * _ROWS, dtype="<u8")
    padded[: len(hashes)] = hashes
    rows = padded.reshape(parts, _ROWS)
    sums, lowest = np.empty((8, 8), dtype=np.int64), np.empty_like(rows)
    for bit in range(8):
        np.right_shift(rows, np.uint64(bit), out=lowest)
        np.bitwise_and(lowest, _LOWEST, out=lowest)
        counts = np.add.reduce(lowest, axis=1)
        sums[:, bit] = counts.view(np.uint8).reshape(parts, 8).sum(axis=0)
    return sums.ravel()


def _signs(hashes: Hashes) -> NDArray[np.float64]:
    """A row for each bit, with 1 or -1 for each hash."""
    return _bits(hashes).T.astype(np.float64) * 2.0 - 1.0


def _number(bits: NDArray[np.bool]) -> int:
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")
