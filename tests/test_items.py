"""Codes of reasons, states and kinds never change, and headers are read from a response's head."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.items import Kind, Reason, State
from tests.samples import answer

# Stores and archives contain these numbers: a line may be added, none may be changed.
CODES = {
    "SEED": 1,
    "LINK": 2,
    "REDIRECT_TARGET": 3,
    "ROBOTS_FILE": 4,
    "REVISIT": 5,
    "RETURNED": 6,
    "STOPPED": 7,
    "REQUESTED": 8,
    "LISTED": 9,
    "IN_SITEMAP": 10,
    "IN_FEED": 11,
    "SITEMAP_FILE": 12,
    "FEED_FILE": 13,
    "PROBE_FILE": 14,
    "HEAD_SEEN": 15,
    "OK": 20,
    "CUT_LENGTH": 21,
    "CUT_DISCONNECT": 22,
    "CUT_TIME": 23,
    "NOINDEX": 24,
    "NOT_MODIFIED": 25,
    "SAME_HEAD": 26,
    "REDIRECTED": 30,
    "REDIRECT_LOOP": 31,
    "TOO_MANY_REDIRECTS": 32,
    "BAD_LOCATION": 33,
    "NOT_FOUND": 34,
    "GONE": 35,
    "FORBIDDEN": 36,
    "CLIENT_ERROR": 37,
    "SERVER_ERROR": 38,
    "BUSY": 39,
    "BAD_STATUS": 40,
    "LOGIN_WALL": 41,
    "SOFT_404": 42,
    "UNWANTED_TYPE": 43,
    "NOT_A_LIST": 44,
    "CAME_EMPTY": 45,
    "NOT_A_PAGE": 46,
    "DNS_FAILED": 50,
    "CONNECT_FAILED": 51,
    "CONNECT_TIMEOUT": 52,
    "TLS_FAILED": 53,
    "FIRST_BYTE_TIMEOUT": 54,
    "TOO_SLOW": 55,
    "TIMEOUT": 56,
    "DISCONNECTED": 57,
    "BAD_HTTP": 58,
    "HEADERS_TOO_BIG": 59,
    "FETCH_ERROR": 60,
    "STALE_CONNECTION": 61,
    "ROBOTS_DENIED": 70,
    "ROBOTS_UNAVAILABLE": 71,
    "OUT_OF_SCOPE": 72,
    "NO_CONTACT": 73,
    "ADDRESS_DENIED": 74,
    "URL_TOO_LONG": 75,
    "PORT_DENIED": 76,
    "EXCLUDED": 77,
    "NOT_INCLUDED": 78,
    "FILE_TYPE": 79,
    "QUARANTINED": 80,
    "CRASHED": 81,
    "INTERNAL_ERROR": 82,
    "CONTENT_DIED": 83,
    "CONTENT_HUNG": 84,
    "ACTION": 90,
    "API_CALL": 91,
    "PATH_TOO_DEEP": 92,
    "REPEATED_SEGMENT": 93,
    "TOO_MANY_PARAMETERS": 94,
    "TOO_FAR": 95,
    "FILTER_FAILED": 96,
    "SAME_PAGE": 97,
    "OVER_BUDGET": 98,
    "PREFERRED_HOST": 99,
    "UNFILLED": 100,
    "MIDDLEWARE_REFUSED": 101,
    "OFF_TOPIC": 102,
}


def test_the_codes_of_reasons_never_change() -> None:
    assert {name: reason.value for name, reason in Reason.__members__.items()} == CODES


def test_no_two_reasons_share_a_code_or_a_meaning() -> None:
    assert len(Reason) == len(Reason.__members__)  # a second name for a code would be an alias
    assert len({reason.meaning for reason in Reason}) == len(Reason)


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_meaning_and_is_found_by_its_code(reason: Reason) -> None:
    assert reason.meaning
    assert Reason(int(reason)) is reason


def test_the_codes_of_states_and_kinds_never_change() -> None:
    assert {state.name: state.value for state in State} == {"WAITING": 0, "LEASED": 1, "PARKED": 2}
    assert {kind.name: kind.value for kind in Kind} == {
        "PAGE": 0,
        "ROBOTS": 1,
        "SITEMAP": 2,
        "FEED": 3,
        "PROBE": 4,
    }


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-A:  one: two \t\r\nx-a: three\r\nno colon\r\nEmpty:\r\n\r\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("content-type", "text/html"),
        ("Content-Type", "text/html"),
        ("CONTENT-TYPE", "text/html"),
        ("x-a", "one: two"),
        ("empty", ""),
        ("no colon", None),
        ("http/1.1 200 ok", None),
        ("missing", None),
    ],
)
@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_a_header_is_found_by_its_name_in_any_case(name: str, value: str | None, end: bytes) -> None:
    assert answer("http://a.test/", head=HEAD.replace(b"\r\n", end)).header(name) == value


def test_headers_are_listed_in_their_order() -> None:
    assert answer("http://a.test/", head=HEAD).headers == [
        ("content-type", "text/html"),
        ("x-a", "one: two"),
        ("x-a", "three"),
        ("empty", ""),
    ]


def test_lines_may_end_in_different_ways() -> None:
    mixed = answer("http://a.test/", head=b"HTTP/1.1 301 Moved\r\nX: y\nLocation: /b\nZ: z\r\n\r\n")
    assert mixed.headers == [("x", "y"), ("location", "/b"), ("z", "z")]


def test_no_byte_of_a_header_is_lost() -> None:
    value = bytes(set(range(256)) - {10, 13})
    found = answer("http://a.test/", head=b"HTTP/1.1 200 OK\r\nX: a" + value + b"z\r\n\r\n").header("x")
    assert found is not None
    assert found.encode("latin-1") == b"a" + value + b"z"


@given(st.binary(max_size=100))
def test_any_bytes_can_be_parsed_as_headers(head: bytes) -> None:
    for name, value in answer("http://a.test/", head=head).headers:
        assert name == name.lower()
        assert value == value.strip(" \t\r\n")


def test_an_answer_without_a_head_has_no_headers() -> None:
    silent = answer("http://a.test/", head=b"", request=b"")
    assert (silent.headers, silent.header("x"), silent.was_sent) == ([], None, False)
    assert answer("http://a.test/").was_sent
