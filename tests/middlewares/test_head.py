"""When HEAD is sent, and what its answer means."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from scrapy import Request
from scrapy.http import Response

from crawler.engine.meta import FETCHED, MEANING, METHOD, TRUST, VISIT
from crawler.fetch.answers import AnswerMeaning, meaning_of
from crawler.fetch.types import SkippedTypes
from crawler.frontier.trust import Source, Trust
from crawler.items import NO_VALIDATORS, Fetched, Kind, Outcome, Reason, Validators, Visit
from crawler.middlewares.head import HeadMiddleware
from tests.samples import NOW, answer, visit_to

PAGE, FILE = "http://a.test/page", "http://a.test/files/data.bin"
DATE = "Wed, 21 Oct 2015 07:28:00 GMT"
FULL_EVERY = 10
BIG = 65_536
TYPES = SkippedTypes(("image/", "application/octet-stream"))
SENT = b"HEAD / HTTP/1.1\r\n\r\n"
PROMISING = AnswerMeaning(outcome=Outcome.PROMISING, reason=Reason.HEAD_SEEN)
UNWANTED = AnswerMeaning(outcome=Outcome.REFUSED, reason=Reason.UNWANTED_TYPE)
SAME = AnswerMeaning(outcome=Outcome.UNCHANGED, reason=Reason.SAME_HEAD)


def middleware(policy: str = "auto") -> HeadMiddleware:
    return HeadMiddleware(policy, TYPES, FULL_EVERY)


def method_for(head: HeadMiddleware, visit: Visit, trust: dict[Source, Trust] | None = None) -> str:
    request = Request(visit.url, meta={VISIT: visit, TRUST: trust or {}})
    assert head.process_request(request) is None
    return str(request.meta.get(METHOD, "GET"))


def answered(url: str, *headers: str, status: int = 200, **facts: Any) -> Fetched:
    head = "\r\n".join([f"HTTP/1.1 {status} X", *headers, "", ""]).encode()
    return answer(url, status=status, head=head, **{"body": b"", "request": SENT} | facts)


def meaning_by(
    head: HeadMiddleware, visit: Visit, fetched: Fetched | None, method: str = "HEAD"
) -> AnswerMeaning | None:
    """Return the meaning that the middleware gives to an answer."""
    meta = {VISIT: visit, TRUST: {}} | ({METHOD: "HEAD"} if method == "HEAD" else {})
    meta |= {FETCHED: fetched, MEANING: meaning_of(fetched)} if fetched is not None else {}
    request = Request(visit.url, meta=meta)
    response = Response(visit.url)
    assert head.process_response(request, response) is response
    meaning: AnswerMeaning | None = request.meta.get(MEANING)
    return meaning


# ── when HEAD is sent ──

FIRST = [
    # a URL with an extension that is not read is visited by HEAD first
    ("http://a.test/files/data.bin", "HEAD"),
    ("http://a.test/data.BIN?x=1", "HEAD"),
    ("http://a.test/report.pdf", "GET"),
    ("http://a.test/index.html", "GET"),
    ("http://a.test/page", "GET"),
    ("http://a.test/", "GET"),
    ("http://a.test", "GET"),
]


@pytest.mark.parametrize(("url", "method"), FIRST)
def test_before_the_first_visit_the_extension_decides(url: str, method: str) -> None:
    assert method_for(middleware(), visit_to(url)) == method


@pytest.mark.parametrize(
    ("known", "method"),
    [
        (Validators(length=BIG), "HEAD"),
        (Validators(length=BIG - 1), "GET"),  # not worth a request of its own
        (Validators('"a"', length=BIG), "GET"),  # a conditional GET does it
        (Validators("", DATE, BIG), "GET"),
        (Validators(length=BIG, reused=FULL_EVERY - 2), "HEAD"),
        (Validators(length=BIG, reused=FULL_EVERY - 1), "GET"),  # every so often in full
        (NO_VALIDATORS, "GET"),
    ],
)
def test_on_revisits_the_size_of_the_document_decides(known: Validators, method: str) -> None:
    assert method_for(middleware(), visit_to(FILE, visited=NOW, validators=known)) == method


@pytest.mark.parametrize(("policy", "method"), [("never", "GET"), ("auto", "GET"), ("always", "HEAD")])
def test_the_policy_may_decide(policy: str, method: str) -> None:
    assert method_for(middleware(policy), visit_to(PAGE)) == method
    assert method_for(middleware(policy), visit_to(PAGE, visited=NOW, validators=Validators('"a"', DATE, 5))) == method
    full = visit_to(PAGE, visited=NOW, validators=Validators('"a"', DATE, 5, FULL_EVERY - 1))
    assert method_for(middleware(policy), full) == "GET"


def test_the_policy_never_sends_no_head() -> None:
    assert method_for(middleware("never"), visit_to(FILE)) == "GET"


@pytest.mark.parametrize("policy", ["auto", "always"])
def test_after_head_comes_get(policy: str) -> None:
    assert method_for(middleware(policy), visit_to(FILE, head_status=200)) == "GET"


@pytest.mark.parametrize(
    ("kind", "method"),
    [(Kind.PAGE, "HEAD"), (Kind.FEED, "HEAD"), (Kind.SITEMAP, "GET"), (Kind.ROBOTS, "GET"), (Kind.PROBE, "GET")],
)
def test_only_pages_and_feeds_are_visited_by_head(kind: Kind, method: str) -> None:
    assert method_for(middleware("always"), visit_to(FILE, kind=kind)) == method


def test_a_new_feed_is_not_visited_by_head() -> None:
    """Its type does not matter, and we have no document yet to compare it with."""
    feed = visit_to("http://a.test/news.rss", kind=Kind.FEED)
    assert method_for(middleware(), feed) == "GET"
    assert method_for(middleware(), replace(feed, visited=NOW, validators=Validators(length=BIG))) == "HEAD"


@pytest.mark.parametrize(
    ("trust", "method"),
    [
        ({Source.HEAD: Trust(same_wrong=1)}, "HEAD"),
        ({Source.HEAD: Trust(same_wrong=2)}, "GET"),
        ({Source.HEAD: Trust(changed_wrong=60)}, "HEAD"),
        ({Source.VALIDATORS: Trust(same_wrong=60)}, "HEAD"),
    ],
)
@pytest.mark.parametrize("policy", ["auto", "always"])
def test_a_host_whose_answers_to_head_were_wrong_gets_no_head(
    policy: str, trust: dict[Source, Trust], method: str
) -> None:
    assert method_for(middleware(policy), visit_to(FILE), trust) == method


# ── the meaning of an answer to HEAD ──

KNOWN = Validators(length=BIG)
TAGGED = Validators('"a"', DATE, BIG)
HTML, LENGTH = "Content-Type: text/html", f"Content-Length: {BIG}"


@pytest.mark.parametrize(
    ("known", "headers", "meaning"),
    [
        # the type
        (NO_VALIDATORS, [HTML], PROMISING),
        (NO_VALIDATORS, [], PROMISING),
        (NO_VALIDATORS, ["Content-Type: image/png"], UNWANTED),
        (KNOWN, ["Content-Type: image/png", LENGTH], UNWANTED),  # whatever it was before
        # the validators
        (TAGGED, [HTML, 'ETag: "a"'], SAME),
        (TAGGED, [HTML, 'ETag: "b"', f"Last-Modified: {DATE}", LENGTH], PROMISING),
        (TAGGED, [HTML, f"Last-Modified: {DATE}"], SAME),
        (TAGGED, [HTML, "Last-Modified: Wed, 21 Oct 2015 07:28:01 GMT", LENGTH], PROMISING),
        (Validators("", DATE, BIG), [HTML, 'ETag: "a"', f"Last-Modified: {DATE}"], SAME),
        # the length, where there is nothing better
        (KNOWN, [HTML, LENGTH], SAME),
        (TAGGED, [HTML, LENGTH], SAME),
        (KNOWN, [HTML, f"Content-Length: {BIG + 1}"], PROMISING),
        (KNOWN, [HTML, LENGTH, 'ETag: "a"'], PROMISING),  # the ETag is new, so nothing can be concluded
        (KNOWN, [HTML], PROMISING),
        (KNOWN, [LENGTH], PROMISING),  # a head without a type is not taken for that of a document
        (Validators('"a"', DATE), [HTML, 'ETag: "a"'], PROMISING),  # we have no document
    ],
)
def test_a_document(known: Validators, headers: list[str], meaning: AnswerMeaning) -> None:
    assert meaning_by(middleware(), visit_to(PAGE, visited=NOW, validators=known), answered(PAGE, *headers)) == meaning


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 500, 501, 502, 999])
def test_after_a_refused_head_get_is_sent(status: int) -> None:
    visit = visit_to(PAGE, visited=NOW, validators=KNOWN)
    assert meaning_by(middleware(), visit, answered(PAGE, HTML, LENGTH, status=status)) == PROMISING


@pytest.mark.parametrize("reason", [Reason.DISCONNECTED, Reason.FIRST_BYTE_TIMEOUT, Reason.BAD_HTTP])
def test_silence_is_a_failure_after_which_get_is_tried(reason: Reason) -> None:
    silent = answer(PAGE, status=0, head=b"", body=b"", request=SENT, reason=reason)
    head = middleware("always")
    assert meaning_by(head, visit_to(PAGE), silent) == AnswerMeaning(outcome=Outcome.FAILED, reason=reason)
    assert method_for(head, visit_to(FILE)) == "GET"


FINAL_ANSWERS = [
    (
        answered(PAGE, "Location: /b", status=301),
        AnswerMeaning(outcome=Outcome.REDIRECTED, reason=Reason.REDIRECTED, location="/b"),
    ),
    (
        answered(PAGE, "Retry-After: 5", status=429),
        AnswerMeaning(outcome=Outcome.BUSY, reason=Reason.BUSY, retry_after=5.0),
    ),
    (answered(PAGE, status=503), AnswerMeaning(outcome=Outcome.BUSY, reason=Reason.BUSY)),
    (
        answer(PAGE, status=0, head=b"", reason=Reason.STOPPED, request=SENT),
        AnswerMeaning(outcome=Outcome.ABORTED, reason=Reason.STOPPED),
    ),
    (
        answer(PAGE, status=0, head=b"", reason=Reason.ADDRESS_DENIED, request=b""),
        AnswerMeaning(outcome=Outcome.DENIED, reason=Reason.ADDRESS_DENIED),
    ),
    (
        answer(PAGE, status=0, head=b"", reason=Reason.DNS_FAILED, request=b""),
        AnswerMeaning(outcome=Outcome.FAILED, reason=Reason.DNS_FAILED),
    ),
]


@pytest.mark.parametrize(("fetched", "meaning"), FINAL_ANSWERS)
def test_answers_that_get_would_receive_too_are_final(fetched: Fetched, meaning: AnswerMeaning) -> None:
    head = middleware("always")
    assert meaning_by(head, visit_to(PAGE), fetched) == meaning
    # A busy host may be busy for HEAD alone; the other answers do not refuse HEAD.
    assert method_for(head, visit_to(FILE)) == ("GET" if meaning.outcome is Outcome.BUSY else "HEAD")


def test_not_modified_counts_after_a_conditional_head() -> None:
    sent = b'HEAD / HTTP/1.1\r\nIf-None-Match: "a"\r\n\r\n'
    meaning = meaning_by(
        middleware("always"), visit_to(PAGE, validators=TAGGED), answered(PAGE, status=304, request=sent)
    )
    assert meaning == AnswerMeaning(outcome=Outcome.UNCHANGED, reason=Reason.NOT_MODIFIED)


def test_not_modified_after_an_unconditional_head_is_followed_by_get() -> None:
    assert meaning_by(middleware(), visit_to(PAGE, validators=KNOWN), answered(PAGE, status=304)) == PROMISING


def test_a_feed_may_be_of_any_type() -> None:
    feed = visit_to(PAGE, kind=Kind.FEED, visited=NOW, validators=KNOWN)
    octets = "Content-Type: application/octet-stream"
    assert meaning_by(middleware(), feed, answered(PAGE, octets)) == PROMISING
    assert meaning_by(middleware(), feed, answered(PAGE, octets, LENGTH)) == SAME


@pytest.mark.parametrize("policy", ["never", "auto", "always"])
def test_answers_to_get_are_left_alone(policy: str) -> None:
    images = answered(PAGE, "Content-Type: image/png", request=b"GET / HTTP/1.1\r\n\r\n")
    assert meaning_by(middleware(policy), visit_to(PAGE), images, method="GET") == meaning_of(images)


def test_a_visit_without_an_answer_gets_no_meaning() -> None:
    assert meaning_by(middleware(), visit_to(PAGE), None) is None


# ── what is remembered ──


@pytest.mark.parametrize("status", [405, 501, 0])
def test_a_host_that_refused_head_gets_no_more_head(status: int) -> None:
    head = middleware("always")
    silent = answer(FILE, status=0, head=b"", request=SENT, reason=Reason.DISCONNECTED)
    refused = answered(FILE, status=status) if status else silent
    meaning_by(head, visit_to(FILE), refused)
    assert method_for(head, visit_to(FILE)) == method_for(head, visit_to(PAGE)) == "GET"
    assert method_for(head, visit_to("http://b.test/files/data.bin")) == "HEAD"


@pytest.mark.parametrize("status", [200, 301, 404, 500])
def test_a_host_that_answered_head_gets_head_again(status: int) -> None:
    head = middleware("always")
    meaning_by(head, visit_to(FILE), answered(FILE, HTML, "Location: /b", status=status))
    assert method_for(head, visit_to(PAGE)) == "HEAD"


def middleware_after(*answers: tuple[str, str], method: str = "GET") -> HeadMiddleware:
    """Return a middleware that has received documents of these types at these URLs."""
    head = middleware()
    for url, kind in answers:
        # For a GET the HTTP client refuses the body of such a type.
        is_cut = method == "GET" and kind.startswith("image/")
        facts = {"reason": Reason.UNWANTED_TYPE} if is_cut else {}
        meaning_by(head, visit_to(url), answered(url, f"Content-Type: {kind}", **facts), method)
    return head


IMAGE = ("http://a.test/files/1", "image/png")
TEXT = ("http://a.test/files/2", "text/html")


@pytest.mark.parametrize(
    ("answers", "url", "method"),
    [
        ([IMAGE], "http://a.test/files/3", "HEAD"),
        ([IMAGE], "http://a.test/files/deeper/3", "HEAD"),
        ([IMAGE], "http://a.test/files/3.html", "GET"),  # another extension
        ([IMAGE], "http://a.test/texts/3", "GET"),  # another directory
        ([IMAGE], "http://a.test/files", "GET"),  # not in it
        ([IMAGE], "http://b.test/files/3", "GET"),  # another host
        ([TEXT], "http://a.test/files/3", "GET"),
        ([TEXT, IMAGE], "http://a.test/files/3", "HEAD"),
        ([TEXT, TEXT, IMAGE], "http://a.test/files/3", "GET"),
        # types received count for more than the extension
        ([("http://a.test/x/1.bin", "text/html")], "http://a.test/x/2.bin", "GET"),
        ([("http://a.test/x/1.html", "image/png")], "http://a.test/x/2.html", "HEAD"),
        ([("http://a.test/1.html", "image/png")], "http://a.test/2.html?x=/y/", "HEAD"),
    ],
)
def test_types_are_learned_by_directory_and_extension(answers: list[tuple[str, str]], url: str, method: str) -> None:
    assert method_for(middleware_after(*answers), visit_to(url)) == method
    assert method_for(middleware_after(*answers, method="HEAD"), visit_to(url)) == method


def test_only_documents_count_for_the_types_of_a_directory() -> None:
    head = middleware()
    for status in (301, 404, 500, 0):
        fetched = answered("http://a.test/files/1", "Content-Type: image/png", status=status)
        meaning_by(head, visit_to("http://a.test/files/1"), fetched, method="GET")
    assert method_for(head, visit_to("http://a.test/files/2")) == "GET"


def test_types_of_lists_and_robots_txt_do_not_count_for_pages() -> None:
    head = middleware()
    for kind in (Kind.SITEMAP, Kind.ROBOTS, Kind.PROBE):
        url = "http://a.test/files/1"
        meaning_by(head, visit_to(url, kind=kind), answered(url, "Content-Type: image/png"), method="GET")
    assert method_for(head, visit_to("http://a.test/files/2")) == "GET"
