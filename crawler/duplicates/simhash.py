"""Simhash: a fingerprint of a document's words; documents with similar words get fingerprints that differ in few bits.

Each feature has a hash and a weight. For each bit, the weights of all features whose hash has a one there are added,
and those of the others subtracted; the sign of the sum is the bit of the fingerprint (Charikar 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from crawler.duplicates.words import Hashes, mix_bits, word_hashes

BITS: Final = 64
MOST_BITS: Final = 384
_MAX_BYTE: Final = 255  # the largest count that fits into a byte
_LOWEST_BITS: Final = np.uint64(0x0101010101010101)  # the lowest bit of each of eight bytes


def simhash(text: str, bits: int = BITS) -> int:
    """The simhash of a text's words, each weighted by how often it occurs; 0 if there are none.

    >>> a = simhash("the quick brown fox jumps over the lazy dog")
    >>> b = simhash("the quick brown fox jumps over a lazy dog")
    >>> agreeing_bits(a, a, 64), agreeing_bits(a, b, 64) > 45
    (64, True)
    """
    return simhash_of_words(word_hashes(text), bits)


def simhash_of_words(words: Hashes, bits: int = BITS) -> int:
    """The simhash of words that are hashed already."""
    if not len(words):
        return 0
    ones = np.concatenate([_count_ones(part) for part in _hashes_per_64_bits(words, bits)])[:bits]
    return _bits_to_int(2 * ones > len(words))


def simhash_of(
    weights: Mapping[str, float],
    bits: int = BITS,
    hashed: Callable[[str], int] = lambda feature: xxh3_64_intdigest(feature.encode("utf-8", "surrogatepass")),
) -> int:
    """The simhash of weighted features. A hash function given by the caller must return `bits` bits, at most 64."""
    if not weights:
        return 0
    hashes = np.array([hashed(feature) for feature in weights], dtype=np.uint64)
    values = np.array(list(weights.values()), dtype=np.float64)
    sums = np.concatenate([_sign_matrix(part) @ values for part in _hashes_per_64_bits(hashes, bits)])[:bits]
    return _bits_to_int(sums > 0)


def agreeing_bits(one: int, other: int, bits: int = BITS) -> int:
    """The number of bits in which two simhashes agree.

    >>> agreeing_bits(0b1011, 0b1001, 4)
    3
    """
    return bits - ((one ^ other) & ((1 << bits) - 1)).bit_count()


def _hashes_per_64_bits(hashes: Hashes, bits: int) -> list[Hashes]:
    """As many hashes of each feature as a simhash of `bits` bits needs; the first is the given one."""
    if not 1 <= bits <= MOST_BITS:
        raise ValueError(f"a simhash has 1 to {MOST_BITS} bits, not {bits}")
    return [mix_bits(hashes + np.uint64(part)) if part else hashes for part in range((bits + 63) // 64)]


def _bit_matrix(hashes: Hashes) -> NDArray[np.uint8]:
    """One row per hash, with its bits in columns, the lowest bit first."""
    octets = hashes.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(octets, axis=1, bitorder="little")


def _count_ones(hashes: Hashes) -> NDArray[np.int64]:
    """Count for each bit the hashes that have it set.

    Eight counters fit into a 64-bit sum, one per byte, as long as no more than 255 hashes are added.
    """
    if len(hashes) <= _MAX_BYTE:
        counts: NDArray[np.uint8] = _bit_matrix(hashes).sum(axis=0, dtype=np.uint8)
        return counts.astype(np.int64)
    parts = -(-len(hashes) // _MAX_BYTE)
    padded = np.zeros(parts * _MAX_BYTE, dtype="<u8")
    padded[: len(hashes)] = hashes
    rows = padded.reshape(parts, _MAX_BYTE)
    sums, lowest = np.empty((8, 8), dtype=np.int64), np.empty_like(rows)
    for bit in range(8):
        np.right_shift(rows, np.uint64(bit), out=lowest)
        np.bitwise_and(lowest, _LOWEST_BITS, out=lowest)
        counts = np.add.reduce(lowest, axis=1)
        sums[:, bit] = counts.view(np.uint8).reshape(parts, 8).sum(axis=0)
    return sums.ravel()


def _sign_matrix(hashes: Hashes) -> NDArray[np.float64]:
    """One row per bit, with 1 for each hash that has it set and -1 for the others."""
    return _bit_matrix(hashes).T.astype(np.float64) * 2.0 - 1.0


def _bits_to_int(bits: NDArray[np.bool]) -> int:
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")
