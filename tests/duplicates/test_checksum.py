"""Which changes of a body each checksum detects."""

from __future__ import annotations

import doctest
import random
import shutil
import subprocess
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates import checksum
from crawler.duplicates.checksum import byte_sum, crc, digest, posix_cksum

CKSUM = shutil.which("cksum")


def test_the_sum_of_the_textbook() -> None:
    assert byte_sum(b"Tropical fish") == 0x508


@given(st.binary(), st.randoms(use_true_random=False))
def test_a_byte_sum_does_not_depend_on_the_order(body: bytes, random: random.Random) -> None:
    others = bytearray(body)
    random.shuffle(others)
    assert byte_sum(bytes(others)) == byte_sum(body)


@pytest.mark.parametrize("checksum_of", [crc, posix_cksum, digest])
def test_all_other_checksums_depend_on_the_order(checksum_of: Callable[[bytes], object]) -> None:
    assert checksum_of(b"Tropical fish") != checksum_of(b"fish Tropical")


# The check values of CRC catalogues: the checksum of the digits from 1 to 9.
@pytest.mark.parametrize(("checksum_of", "expected"), [(crc, 0xCBF4_3926), (posix_cksum, 0x377A_6011)])
def test_check_values(checksum_of: Callable[[bytes], int], expected: int) -> None:
    assert checksum_of(b"123456789") == expected


@given(st.binary(), st.binary(min_size=4, max_size=4), st.binary(min_size=4, max_size=4), st.binary())
def test_a_crc_detects_every_change_of_four_consecutive_bytes(
    before: bytes, one: bytes, other: bytes, after: bytes
) -> None:
    for checksum_of in (crc, posix_cksum):
        same = checksum_of(before + one + after) == checksum_of(before + other + after)
        assert same is (one == other)


@pytest.mark.skipif(CKSUM is None, reason="needs the program cksum")
@pytest.mark.parametrize("length", [0, 1, 2, 13, 255, 256, 257, 65_535, 65_536, 200_000])
def test_what_the_program_cksum_prints(length: int) -> None:
    assert CKSUM is not None
    body = random.Random(length).randbytes(length)
    printed = subprocess.run([CKSUM], input=body, capture_output=True, check=True).stdout.split()
    assert printed == [b"%d" % posix_cksum(body), b"%d" % length]


def test_a_digest_is_sha_256() -> None:
    assert digest(b"abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_the_examples_are_true() -> None:
    assert doctest.testmod(checksum).failed == 0
