"""Checksums of response bodies, from the cheapest to a cryptographic digest that cannot be forged."""

from __future__ import annotations

import hashlib
import zlib

_ALL_ONES = 0xFFFF_FFFF
_MIRRORED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))  # each byte with its bits in the other order


def byte_sum(body: bytes) -> int:
    """The sum of the bytes, which does not depend on their order.

    >>> f"{byte_sum(b'Tropical fish'):x}", byte_sum(b"Tropical fish") == byte_sum(b"fish Tropical")
    ('508', True)
    """
    return sum(body)


def crc(body: bytes) -> int:
    """CRC-32 as in gzip and PNG: detects every change of up to four consecutive bytes, but can be forged."""
    return zlib.crc32(body)


def posix_cksum(body: bytes) -> int:
    """What cksum(1) prints: a CRC-32 of the body and its length, whose bits run the other way than those of zlib.

    >>> posix_cksum(b"123456789"), posix_cksum(b"")
    (930766865, 4294967295)
    """
    # POSIX appends the length, the least byte first, without leading zeros. zlib starts from all ones, which the
    # initial checksum given here undoes; the final complement is common to both.
    length = len(body).to_bytes((len(body).bit_length() + 7) // 8, "little")
    mirrored = zlib.crc32((body + length).translate(_MIRRORED), _ALL_ONES)
    return int(f"{mirrored:032b}"[::-1], 2)


def digest(body: bytes) -> bytes:
    """SHA-256: bodies with the same digest are the same; a forgery is not feasible."""
    return hashlib.sha256(body).digest()
