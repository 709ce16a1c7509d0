"""Rabin fingerprints: a text is a polynomial, and its fingerprint the remainder by an irreducible one (Rabin 1981).

The bits of the text are coefficients in GF(2), where addition is XOR. Hence guarantees that other hashes do not give:
the probability that two texts share a fingerprint is known (for a polynomial drawn at random about their length in bits
/ 2⁶⁴, at most); the fingerprint of a difference is the difference of the fingerprints; and a byte enters or leaves a
window in one table lookup, however wide the window is. Somebody who knows the polynomial can construct collisions;
SHA-256 protects against that.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

# Stored fingerprints depend on this polynomial, so it never changes: the first irreducible one of degree 64 counted
# from the digits of π. Sparse polynomials are better known, but leave the low bits of short texts almost as they were.
POLYNOMIAL = 1 << 64 | 0x243F_6A88_85A3_0907
_BITS_BELOW_THE_TOP_BYTE = (1 << 56) - 1

EMPTY = 1  # a one is put before every text, so that leading zeros count


def _remainder(dividend: int) -> int:
    while (beyond := dividend.bit_length() - POLYNOMIAL.bit_length()) >= 0:
        dividend ^= POLYNOMIAL << beyond
    return dividend


_TABLE = tuple(_remainder(byte << 64) for byte in range(256))


def fingerprint(body: bytes, before: int = EMPTY) -> int:
    """The 64-bit fingerprint of a text; `before` is the fingerprint of what precedes the text, if it is a continuation.

    >>> fingerprint(b"fish", fingerprint(b"Tropical ")) == fingerprint(b"Tropical fish")
    True
    """
    value = before
    for byte in body:
        value = (value & _BITS_BELOW_THE_TOP_BYTE) << 8 ^ _TABLE[value >> 56 ^ byte]
    return value


def rolling(body: bytes, width: int) -> Iterator[int]:
    """The fingerprints of all windows of `width` bytes, in order; the time per window does not depend on the width.

    >>> list(rolling(b"fishes", 4)) == [fingerprint(b"fish"), fingerprint(b"ishe"), fingerprint(b"shes")]
    True
    """
    assert width >= 1, "a window has a width"
    if len(body) < width:
        return
    leaving = _leaving_byte_table(width)
    value = fingerprint(body[:width])
    yield value
    for entered, left in zip(body[width:], body, strict=False):
        value = (value & _BITS_BELOW_THE_TOP_BYTE) << 8 ^ _TABLE[value >> 56 ^ entered] ^ leaving[left]
        yield value


@lru_cache(maxsize=16)
def _leaving_byte_table(width: int) -> tuple[int, ...]:
    """For each byte value, the term that removes it from the fingerprint when it leaves the window.

    The term of a byte is the sum of the terms of its bits, so only eight bytes have to be shifted through the window.
    """
    zeros = bytes(width)
    nothing = fingerprint(zeros)
    of_bits = {1 << bit: fingerprint(bytes([1 << bit]) + zeros) ^ nothing for bit in range(8)}
    table = [fingerprint(bytes([0]) + zeros) ^ nothing]
    for byte in range(1, 256):
        lowest = byte & -byte
        table.append(of_bits[lowest] ^ table[byte ^ lowest] ^ table[0])
    return tuple(table)
