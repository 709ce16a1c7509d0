"""Every HTTP answer, or its absence, has the right outcome and reason."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawler.fetch.answers import AnswerMeaning, meaning_of, retry_after
from crawler.items import Fetched, Outcome, Reason
from tests.samples import answer

URL = "http://a.test/"
ENDED = 1_445_412_420.0  # 2015-10-21 07:27:00 UTC


def answered(status: int, *headers: bytes, reason: Reason = Reason.OK) -> Fetched:
    head = b"\r\n".join([b"HTTP/1.1 %d X" % status, *headers, b"", b""])
    return answer(URL, status=status, head=head, reason=reason, started=ENDED - 1, ended=ENDED)


@pytest.mark.parametrize(
    ("status", "outcome", "reason"),
    [
        (200, Outcome.FETCHED, Reason.OK),
        (203, Outcome.FETCHED, Reason.OK),
        (204, Outcome.FETCHED, Reason.OK),
        (299, Outcome.FETCHED, Reason.OK),
        *((status, Outcome.REDIRECTED, Reason.REDIRECTED) for status in (301, 302, 303, 307, 308)),
        (404, Outcome.REFUSED, Reason.NOT_FOUND),
        (410, Outcome.REFUSED, Reason.GONE),
        *((status, Outcome.REFUSED, Reason.FORBIDDEN) for status in (401, 403, 407, 451)),
        *((status, Outcome.REFUSED, Reason.CLIENT_ERROR) for status in (400, 402, 405, 406, 408, 418, 499)),
        *((status, Outcome.FAILED, Reason.SERVER_ERROR) for status in (500, 501, 502, 504, 520, 599)),
        *((status, Outcome.BUSY, Reason.BUSY) for status in (429, 503)),
        *((status, Outcome.REFUSED, Reason.BAD_STATUS) for status in (199, 600, 999)),
        *((status, Outcome.REFUSED, Reason.BAD_STATUS) for status in (300, 305, 306)),  # no target of ours
        (304, Outcome.FAILED, Reason.BAD_STATUS),  # the request was not conditional
    ],
)
def test_statuses(status: int, outcome: Outcome, reason: Reason) -> None:
    meaning = meaning_of(answered(status, b"Location: /b"))
    assert (meaning.outcome, meaning.reason) == (outcome, reason)
    assert (meaning.location is not None) == (outcome is Outcome.REDIRECTED)


REQUEST = b"GET / HTTP/1.1\r\nHost: a.test\r\n"


@pytest.mark.parametrize(
    ("sent", "is_answer"),
    [
        (b'If-None-Match: "a"\r\n', True),
        (b"If-Modified-Since: Wed, 21 Oct 2015 07:28:00 GMT\r\n", True),
        (b'if-none-match: W/"a"\r\nif-modified-since: Wed, 21 Oct 2015 07:28:00 GMT\r\n', True),
        (b"", False),
        (b"If-Match: a\r\nIf-Range: a\r\n", False),
        (b"X-If-None-Match: a\r\n", False),
        (b"X-Note: If-None-Match: a\r\n", False),
    ],
)
def test_not_modified_counts_only_after_a_conditional_request(sent: bytes, is_answer: bool) -> None:
    meaning = meaning_of(replace(answered(304, b'ETag: "a"'), request=REQUEST + sent + b"\r\n"))
    expected = (Outcome.UNCHANGED, Reason.NOT_MODIFIED) if is_answer else (Outcome.FAILED, Reason.BAD_STATUS)
    assert (meaning.outcome, meaning.reason) == expected


def test_a_url_that_names_a_validator_has_not_sent_one() -> None:
    request = b"GET /?a=If-None-Match: HTTP/1.1\r\nHost: a.test\r\n\r\n"
    assert meaning_of(replace(answered(304), request=request)).outcome is Outcome.FAILED


@pytest.mark.parametrize("status", [200, 404, 412, 503])
def test_other_answers_to_a_conditional_request_mean_the_same(status: int) -> None:
    fetched = replace(answered(status), request=REQUEST + b'If-None-Match: "a"\r\n\r\n')
    assert meaning_of(fetched) == meaning_of(answered(status))


def test_a_type_that_is_not_read_is_refused() -> None:
    meaning = meaning_of(answered(200, reason=Reason.UNWANTED_TYPE))
    assert meaning == AnswerMeaning(outcome=Outcome.REFUSED, reason=Reason.UNWANTED_TYPE)


FAILURES = [
    *(Reason.DNS_FAILED, Reason.CONNECT_FAILED, Reason.CONNECT_TIMEOUT, Reason.TLS_FAILED, Reason.FIRST_BYTE_TIMEOUT),
    *(
        Reason.TOO_SLOW,
        Reason.TIMEOUT,
        Reason.DISCONNECTED,
        Reason.BAD_HTTP,
        Reason.HEADERS_TOO_BIG,
        Reason.FETCH_ERROR,
    ),
]


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        *((reason, Outcome.FAILED) for reason in FAILURES),
        (Reason.ADDRESS_DENIED, Outcome.DENIED),
        (Reason.STOPPED, Outcome.ABORTED),
        (Reason.STALE_CONNECTION, Outcome.ABORTED),
    ],
)
def test_why_there_is_no_answer(reason: Reason, outcome: Outcome) -> None:
    silent = answer(URL, status=0, head=b"", body=b"", reason=reason)
    assert meaning_of(silent) == AnswerMeaning(outcome=outcome, reason=reason)


@pytest.mark.parametrize(
    ("status", "reason", "outcome", "expected"),
    [
        # a document cut at the size limit is used, one cut by the network is not
        (200, Reason.CUT_LENGTH, Outcome.FETCHED, Reason.CUT_LENGTH),
        (200, Reason.CUT_DISCONNECT, Outcome.FAILED, Reason.CUT_DISCONNECT),
        (200, Reason.CUT_TIME, Outcome.FAILED, Reason.CUT_TIME),
        # the rest of an error page does not matter
        (404, Reason.CUT_LENGTH, Outcome.REFUSED, Reason.NOT_FOUND),
        (301, Reason.CUT_LENGTH, Outcome.REDIRECTED, Reason.REDIRECTED),
        # we aborted the fetch, whatever had arrived
        (200, Reason.STOPPED, Outcome.ABORTED, Reason.STOPPED),
    ],
)
def test_answers_that_were_cut(status: int, reason: Reason, outcome: Outcome, expected: Reason) -> None:
    meaning = meaning_of(answered(status, b"Location: /b", reason=reason))
    assert (meaning.outcome, meaning.reason) == (outcome, expected)


@pytest.mark.parametrize(
    ("header", "location"),
    [
        (b"Location: /b", "/b"),
        (b"LOCATION:  /b c \t", "/b c"),
        ("Location: /größe".encode(), "/größe"),
        ("Location: /größe".encode("latin-1"), "/gr\ufffd\ufffde"),
        (b"Location: http://[nonsense", "http://[nonsense"),
    ],
)
def test_a_location_is_as_the_server_wrote_it(header: bytes, location: str) -> None:
    assert meaning_of(answered(302, header)).location == location


def test_the_first_location_counts() -> None:
    assert meaning_of(answered(302, b"Location: /a", b"Location: /b")).location == "/a"


@pytest.mark.parametrize("headers", [[], [b"Location:"], [b"Location:   "], [b"X-Location: /b"]])
def test_a_redirect_to_nowhere_is_refused(headers: list[bytes]) -> None:
    assert meaning_of(answered(301, *headers)) == AnswerMeaning(outcome=Outcome.REFUSED, reason=Reason.BAD_LOCATION)


RETRY_AFTER = [
    # seconds
    (b"120", 120.0),
    (b" 120 ", 120.0),
    (b"0", 0.0),
    (b"0000000000000120", 120.0),
    # a date, in all three forms of RFC 9110 §5.6.7
    (b"Wed, 21 Oct 2015 07:28:00 GMT", 60.0),
    (b"Wednesday, 21-Oct-15 07:28:00 GMT", 60.0),
    (b"Wed Oct 21 07:28:00 2015", 60.0),
    (b"Wed, 21 Oct 2015 09:28:00 +0200", 60.0),
    (b"Wed, 21 Oct 2015 07:20:00 GMT", 0.0),
    (b"Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
    # invalid
    (b"", None),
    (b"-5", None),
    (b"soon", None),
    (b"1.5", None),
    (b"1e3", None),
    (b"\xb2", None),
    (b"Wed, 99 Oct 2015 07:28:00 GMT", None),
    (b"Wed, 21 Oct 99999 07:28:00 GMT", None),
    (b"\xff\xfe\0", None),
]


@pytest.fixture(params=["UTC0", "EST5", "JST-9"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The time zone of the machine."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


@pytest.mark.parametrize(("value", "seconds"), RETRY_AFTER)
def test_retry_after_is_the_same_everywhere(value: bytes, seconds: float | None, zone: str) -> None:
    meaning = meaning_of(answered(503, b"Retry-After: " + value))
    assert (meaning.outcome, meaning.retry_after) == (Outcome.BUSY, seconds)


def test_an_absurd_retry_after_is_still_a_number() -> None:
    seconds = retry_after(answered(429, b"Retry-After: " + b"9" * 5_000))
    assert seconds is not None
    assert 1e9 < seconds < float("inf")


def test_only_a_busy_site_asks_for_patience() -> None:
    assert meaning_of(answered(503)).retry_after is None
    assert meaning_of(answered(200, b"Retry-After: 120")).retry_after is None
    assert meaning_of(answered(404, b"Retry-After: 120")).retry_after is None


dates = st.text("0123456789 ,:-+GMTWedOctSunJan", max_size=40)


@given(value=st.one_of(dates, st.binary(max_size=30).map(lambda data: data.decode("latin-1"))))
def test_any_retry_after_has_a_meaning(value: str) -> None:
    seconds = retry_after(answered(503, b"Retry-After: " + value.encode("latin-1")))
    assert seconds is None or 0 <= seconds < float("inf")


@given(status=st.integers(0, 999), location=st.binary(max_size=30), reason=st.sampled_from(list(Reason)))
def test_any_answer_has_a_meaning(status: int, location: bytes, reason: Reason) -> None:
    meaning = meaning_of(answered(status, b"Location: " + location, reason=reason))
    assert (meaning.outcome is Outcome.REDIRECTED) == bool(meaning.location)
