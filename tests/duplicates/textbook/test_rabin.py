"""Rabin fingerprints obey the algebra of GF(2), and rolling windows cost one step each."""

from __future__ import annotations

import doctest
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates.textbook import rabin
from crawler.duplicates.textbook.rabin import EMPTY, POLYNOMIAL, fingerprint, rolling

X = 0b10
DIGITS_OF_PI = 0x243F_6A88_85A3_08D3


def remainder(dividend: int, divisor: int) -> int:
    while (beyond := dividend.bit_length() - divisor.bit_length()) >= 0:
        dividend ^= divisor << beyond
    return dividend


def common_divisor(one: int, other: int) -> int:
    while other:
        one, other = other, remainder(one, other)
    return one


def square(polynomial: int) -> int:
    """In GF(2) the mixed terms of a square vanish: zeros are inserted between the coefficients."""
    return int(f"{polynomial:b}", 4)


def prime_divisors(number: int) -> set[int]:
    return {n for n in range(2, number + 1) if number % n == 0 and all(n % m for m in range(2, n))}


def is_irreducible(polynomial: int) -> bool:
    """Rabin's test: x^(2^degree) is x again, and no earlier power x^(2^(degree/prime)) - x has a divisor in common."""
    degree = polynomial.bit_length() - 1
    powers = [X]
    for _ in range(degree):
        powers.append(remainder(square(powers[-1]), polynomial))
    return powers[degree] == remainder(X, polynomial) and all(
        common_divisor(polynomial, powers[degree // prime] ^ X) == 1 for prime in prime_divisors(degree)
    )


def test_the_test_for_irreducible_polynomials_agrees_with_trial_division() -> None:
    for polynomial in range(0b100, 1 << 11):
        divided = any(
            remainder(polynomial, small) == 0
            for small in range(2, 1 << polynomial.bit_length() // 2 + 1)
            if small.bit_length() < polynomial.bit_length()
        )
        assert is_irreducible(polynomial) is not divided, bin(polynomial)


def test_the_polynomial_is_the_first_irreducible_one_from_the_digits_of_pi_on() -> None:
    assert POLYNOMIAL.bit_length() == 65
    earlier = range(1 << 64 | DIGITS_OF_PI, POLYNOMIAL)
    assert not any(map(is_irreducible, earlier))
    assert is_irreducible(POLYNOMIAL)


@given(st.binary(max_size=100))
def test_a_fingerprint_is_the_remainder_of_the_text(body: bytes) -> None:
    shifted = int.from_bytes(body) << 64 ^ EMPTY << 8 * len(body)
    assert fingerprint(body) == remainder(shifted, POLYNOMIAL)


@given(st.binary(max_size=300), st.integers(1, 40))
def test_windows_have_the_fingerprints_that_they_have_alone(body: bytes, width: int) -> None:
    alone = [fingerprint(body[at : at + width]) for at in range(len(body) - width + 1)]
    assert list(rolling(body, width)) == alone


def test_wide_windows_take_one_step_each() -> None:
    body = random.Random(3).randbytes(200_000)  # 10¹⁰ steps if each window were read
    last = list(rolling(body, 100_000))[-1]
    assert last == fingerprint(body[-100_000:])


def test_a_text_shorter_than_the_window_has_none() -> None:
    assert list(rolling(b"fish", 5)) == []
    assert list(rolling(b"", 1)) == []


@given(st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255))))
def test_the_fingerprint_of_a_difference_is_the_difference_of_the_fingerprints(pairs: list[tuple[int, int]]) -> None:
    one, other = (bytes(side) for side in zip(*pairs, strict=True)) if pairs else (b"", b"")
    difference = bytes(mine ^ yours for mine, yours in pairs)
    assert fingerprint(difference) == fingerprint(one) ^ fingerprint(other) ^ fingerprint(bytes(len(pairs)))
    assert fingerprint(difference, 0) == fingerprint(one, 0) ^ fingerprint(other, 0)  # without the one before


@given(st.binary(), st.binary())
def test_a_text_may_come_in_pieces(one: bytes, other: bytes) -> None:
    assert fingerprint(other, fingerprint(one)) == fingerprint(one + other)


def test_zeros_at_the_beginning_count() -> None:
    assert len({fingerprint(bytes(length)) for length in range(1000)}) == 1000


@given(st.sets(st.binary(min_size=8, max_size=8), min_size=2, max_size=2))
def test_texts_of_one_length_up_to_64_bits_never_collide(texts: set[bytes]) -> None:
    assert len(set(map(fingerprint, texts))) == 2


@pytest.mark.parametrize("modulus", [4, 16, 25])
def test_short_words_are_spread_evenly(modulus: int) -> None:
    words = [f"word {number}".encode() for number in range(10_000)]
    chosen = sum(fingerprint(word) % modulus == 0 for word in words)
    assert 0.8 * len(words) < chosen * modulus < 1.2 * len(words)


def test_the_examples_are_true() -> None:
    assert doctest.testmod(rabin).failed == 0
