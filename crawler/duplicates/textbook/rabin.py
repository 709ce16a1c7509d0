"""A text is a polynomial, and its fingerprint the remainder by an irreducible one (Rabin 1981).

The bits of the text are coefficients in GF(2), where adding is XOR. Hence what other hashes do not promise: the chance
that two texts share a fingerprint is known (for a polynomial drawn at random about their length in bits / 2⁶⁴, at
most); the fingerprint of a difference is the difference of the fingerprints; and a byte enters or leaves a window in
one step with a table, however wide the window is. Who knows the polynomial can make collisions: against that there is
SHA-256.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

# Fingerprints are schema where they are kept, so this never changes: the first irreducible polynomial of degree 64 from
# the digits of π on. Sparse ones are known by heart, but leave the low bits of short texts almost as they were.
POLYNOMIAL = 1 << 64 | 0x243F_6A88_85A3_0907
_BITS_BELOW_THE_TOP_BYTE = (1 << 56) - 1

EMPTY = 1  # a one before every text, so that zeros at its beginning count


def _remainder(dividend: int) -> int:
    while (beyond := dividend.bit_length() - POLYNOMIAL.bit_length()) >= 0:
        dividend ^= POLYNOMIAL << beyond
    return dividend


_TABLE = tuple(_remainder(byte << 64) for byte in range(256))


def fingerprint(body: bytes, before: int = EMPTY) -> int:
    """A number of 64 bits; of a text that goes on if it is given the fingerprint of what came before.

    >>> fingerprint(b"fish", fingerprint(b"Tropical ")) == fingerprint(b"Tropical fish")
    True
    """
    value = before
    for byte in body:
        value = (value & _BITS_BELOW_THE_TOP_BYTE) << 8 ^ _TABLE[value >> 56 ^ byte]
    return value


def rolling(body: bytes, width: int) -> Iterator[int]:
    """The fingerprints of all windows of so many bytes, in order, in time that does not depend on their width.

    >>> list(rolling(b"fishes", 4)) == [fingerprint(b"fish"), fingerprint(b"ishe"), fingerprint(b"shes")]
    True
    """
    assert width >= 1, "a window has a width"
    if len(body) < width:
        return
    leaving = _leaving(width)
    value = fingerprint(body[:width])
    yield value
    for entered, left in zip(body[width:], body, strict=False):
        value = (value & _BITS_BELOW_THE_TOP_BYTE) << 8 ^ _TABLE[value >> 56 ^ entered] ^ leaving[left]
        yield value


@lru_cache(maxsize=16)
def _leaving(width: int) -> tuple[int, ...]:
    """What takes out the first byte of a window that has just become one too wide.

    What any byte leaves behind is the sum of what its bits leave; so it need be followed through the window for
    eight bytes only.
    """
    zeros = bytes(width)
    nothing = fingerprint(zeros)
    of_bits = {1 << bit: fingerprint(bytes([1 << bit]) + zeros) ^ nothing for bit in range(8)}
    table = [fingerprint(bytes([0]) + zeros) ^ nothing]
    for byte in range(1, 256):
        lowest = byte & -byte
        table.append(of_bits[lowest] ^ table[byte ^ lowest] ^ table[0])
    return tuple(table)
