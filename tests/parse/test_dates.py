"""Dates as sites write them, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parse.dates import seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970", 0.0),
        (" 1970-02 ", 31 * 86_400.0),
        ("1970-01-02T00:00:00Z", 86_400.0),
        ("1970-01-02T00:00:00.5+01:00", 82_800.5),
        ("Friday, 02-Jan-70 00:00:00 GMT", 86_400.0),
        ("", None),
        ("9999999999999999", None),
        ("2020-13-45", None),
        ("10000-01-01", None),
        ("yesterday", None),
    ],
)
def test_dates(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == seconds


@given(st.text() | st.from_regex(r"[0-9]{1,5}-[0-9]{1,3}-[0-9]{1,3}[T ]?[0-9:+-]*", fullmatch=True))
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = seconds_of(text)
    assert found is None or -1e12 < found < 1e12
