"""Do two bodies have the same bytes? Numbers that tell, from the cheapest to the one that cannot be deceived."""

from __future__ import annotations

import hashlib
import zlib

_ALL_ONES = 0xFFFF_FFFF
_MIRRORED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))  # each byte with its bits in the other order


def byte_sum(body: bytes) -> int:
    """The sum of the bytes, which does not notice their order.

    >>> f"{byte_sum(b'Tropical fish'):x}", byte_sum(b"Tropical fish") == byte_sum(b"fish Tropical")
    ('508', True)
    """
    return sum(body)


def crc(body: bytes) -> int:
    """CRC-32 as in gzip and PNG: notices every change of up to four bytes in a row, but anyone can forge it."""
    return zlib.crc32(body)


def posix_cksum(body: bytes) -> int:
    """What cksum(1) prints: a CRC-32 of the body and its length, whose bits run the other way than those of zlib.

    >>> posix_cksum(b"123456789"), posix_cksum(b"")
    (930766865, 4294967295)
    """
    # POSIX appends the length, the least byte first, without leading zeros. zlib starts from all ones unless it is told
    # of a checksum so far that undoes this; the last complement both have in common.
    length = len(body).to_bytes((len(body).bit_length() + 7) // 8, "little")
    mirrored = zlib.crc32((body + length).translate(_MIRRORED), _ALL_ONES)
    return int(f"{mirrored:032b}"[::-1], 2)


def digest(body: bytes) -> bytes:
    """SHA-256: bodies of one digest are the same, even if somebody would like others to be."""
    return hashlib.sha256(body).digest()
