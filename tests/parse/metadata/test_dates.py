"""Dates are parsed as sites write them, and what is not a date is ignored."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parse.metadata import dates
from crawler.parse.metadata.dates import date_of, dates_in, seconds_of

DATE_LIKE = st.text() | st.from_regex(r"[0-9]{1,5}[-./ ][0-9]{1,3}[-./ ][0-9]{1,4}[T ]?[0-9:+-]*", fullmatch=True)


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


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2019", "2019"),
        ("2019-10", "2019-10"),
        ("20191018", "2019-10-18"),
        ("20191018123000", "2019-10-18T12:30:00"),
        ("2019-10-18T12:30:00.000Z", "2019-10-18T12:30:00+00:00"),
        ("2019-10-18T12:30:00+0200", "2019-10-18T12:30:00+02:00"),
        ("Fri, 18 Oct 2019 12:30:00 +0200", "2019-10-18T12:30:00+02:00"),
        ("1571394600", "2019-10-18T10:30:00+00:00"),
        ("1571394600000", "2019-10-18T10:30:00+00:00"),
        ("2019/10/18 12:30:00", "2019-10-18"),
        ("2019-10-18T", "2019-10-18"),
        ("99999-01-01", ""),
        ("2019-02-30", ""),
        ("NaN", ""),
        ("1" * 400, ""),
        ("version 1.2.3", ""),
    ],
)
def test_a_date_in_a_standard_format_is_as_exact_as_written(text: str, iso: str) -> None:
    found = date_of(text)
    assert (found.iso if found is not None else "") == iso


@pytest.mark.parametrize(
    "text",
    [
        "18 October 2019",
        "October 18th, 2019",
        "Fri 18-Oct-2019",
        "18. Oktober 2019",
        "le 18 octobre 2019",
        "18 de octubre de 2019",
        "18 ottobre 2019",
        "18 de outubro de 2019",
        "18 października 2019",
        "18 октября 2019 г.",
        "18 Οκτωβρίου 2019",
        "18 Ekim 2019",
        "18.10.2019",
        "18. 10. 2019",
        "18/10/2019",
        "10/18/2019",
        "2019/10/18",
        "2019. 10. 18.",
        "2019年10月18日",
        "2019년 10월 18일",
    ],
)
def test_a_day_is_found_in_many_languages(text: str) -> None:
    assert [found.iso for found in dates_in(f"({text}) 12:30")] == ["2019-10-18"]


@pytest.mark.parametrize(("month_first", "days"), [(None, []), (True, ["2019-03-04"]), (False, ["2019-04-03"])])
def test_an_ambiguous_day_counts_only_if_the_order_is_known(month_first: bool | None, days: list[str]) -> None:
    assert [found.iso for found in dates_in("3/4/2019", month_first=month_first)] == days


@pytest.mark.parametrize(
    "text", ["31 February 2019", "12.13.14", "99.10.2019", "18 Tolkien 2019", "2019", "ISBN 3-16-14841"]
)
def test_what_only_looks_like_a_day_is_not_found(text: str) -> None:
    assert list(dates_in(text)) == []


def test_no_month_name_stands_for_two_months() -> None:
    named = [(name, line.split()[0]) for line in dates.MONTHS.split("\n") for name in line.split()[1:]]
    assert len(dict(named)) == len(set(named))


@given(DATE_LIKE, st.sampled_from([None, True, False]))
def test_days_found_in_any_text_are_valid(text: str, month_first: bool | None) -> None:
    alone = date_of(text, month_first=month_first)
    for found in [*dates_in(text, month_first=month_first), *([alone] if alone is not None else [])]:
        assert -1e12 < found.seconds < 1e12
        assert len(found.iso) >= 4


def test_the_examples_are_true() -> None:
    assert doctest.testmod(dates).failed == 0


def test_a_time_with_am_or_pm_is_dropped():
    found = date_of("Oct 18, 2019 10:30 PM")
    assert found is not None
    assert found.iso == "2019-10-18"
