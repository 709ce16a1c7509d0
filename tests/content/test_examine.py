"""Examining an answer finds its text, links and metadata, judges redirects, and makes its WARC records."""

from __future__ import annotations

import gzip
import hashlib
import io
from functools import partial
from typing import Any

import fastwarc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crawler.content.examine import MAX_HOPS, examine, with_text_if_kept
from crawler.fetch.answers import meaning_of
from crawler.items import Fetched, Kind, Outcome, Page, Reason, Refusal, Visit, Visited
from crawler.urls.keys import key_of
from tests.defaults import DEFAULTS, urls_with
from tests.parse.documents.files import core, docx, paragraph
from tests.samples import answer, visit_to, visited

# The same bytes in every run: they are part of the tests' names.
gzipped = partial(gzip.compress, mtime=0)

URL = "http://a.test/dir/page"
HELLO = b"<p>Hello"


SCOPE = urls_with(exclude=("exclude.txt", "http://out.test/")).new_scope()
OUT = Refusal(Reason.EXCLUDED, "exclude.txt:1 http://out.test/")


def fetched(body: bytes, *headers: str, status: int = 200, **facts: Any) -> Fetched:
    head = "\r\n".join([f"HTTP/1.1 {status} X", *headers, "", ""]).encode()
    return answer(URL, head=head, body=body, status=status, **facts)


def answered(visit: Visit, received: Fetched) -> Visited:
    """Return the result of a visit with this answer, not yet examined."""
    meaning = meaning_of(received)
    return visited(
        visit,
        page=None,
        fetched=received,
        outcome=meaning.outcome,
        reason=meaning.reason,
        redirect=meaning.location,
    )


def examined(result: Visited) -> Visited:
    return examine(result, SCOPE, DEFAULTS.reading, DEFAULTS.duplicates)


def examined_answer(body: bytes, *headers: str, kind: Kind = Kind.PAGE, hops: int = 0, **facts: Any) -> Visited:
    """Return the examined result of a visit with this answer."""
    return examined(answered(visit_to(URL, kind=kind, hops=hops), fetched(body, *headers, **facts)))


def page_of(body: bytes, *headers: str, **facts: Any) -> Page:
    page = examined_answer(body, *headers, **facts).page
    assert page is not None
    return page


HTML = "Content-Type: text/html; charset=utf-8"


# ── pages ──


def test_a_page_has_title_text_language_links_and_records() -> None:
    body = """<html lang=de><title> Größe
      </title><p>Text</p><a href=/x>eins</a><a href=http://out.test/>draußen</a>""".encode()
    result = examined_answer(body, HTML)
    page = result.page
    assert page is not None
    assert (page.title, page.language, page.encoding, page.content_type) == ("Größe", "de", "UTF-8", "text/html")
    assert "Text" in page.text
    assert page.body_digest == hashlib.sha256(body).digest()
    assert [(link.url, link.anchor, link.refused) for link in page.links] == [
        ("http://a.test/x", "eins", None),
        ("http://out.test/", "draußen", OUT),
    ]
    assert [link.key for link in page.links] == [key_of(link.url) for link in page.links]
    assert [record.type for record in result.records] == ["request", "response", "metadata"]
    assert (result.outcome, result.reason, result.location) == (Outcome.FETCHED, Reason.OK, None)


@pytest.mark.parametrize(
    ("body", "urls"),
    [
        (b"<a href=/a rel=nofollow>a</a><a href=/b rel='NoFollow ugc'>b</a><a href=/c>c</a>", ["http://a.test/c"]),
        (b"<meta name=robots content=nofollow><a href=/a>a</a>", []),
        (b"<meta name=robots content='noindex, NOFOLLOW'><a href=/a>a</a>", []),
        (b"<meta name=robots content=noindex><a href=/a>a</a>", ["http://a.test/a"]),
    ],
)
def test_links_that_must_not_be_followed_are_dropped(body: bytes, urls: list[str]) -> None:
    assert [link.url for link in page_of(body, HTML).links] == urls


WORDS = [f"word{number}" for number in range(30)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((f"<p>{' '.join(WORDS)}", HTML), ("<p>" + "\n\t ".join(WORDS) + "  ", HTML)),
        ((f"<p>{' '.join(WORDS)}", HTML), (f"<p>{' '.join(WORDS[:15])}<p>{' '.join(WORDS[15:])}", HTML)),
        ((f"<p>{' '.join(WORDS)}", HTML), ("\r\n\r\n".join(WORDS) + "\n", "Content-Type: text/plain")),
    ],
    ids=["space", "blocks", "plain text"],
)
def test_white_space_does_not_change_the_digest_of_the_text(first: tuple[str, str], second: tuple[str, str]) -> None:
    one, two = (page_of(body.encode(), header) for body, header in (first, second))
    assert one.text_digest == two.text_digest != b""
    assert one.body_digest != two.body_digest


def test_other_words_have_another_digest_and_an_empty_text_has_none() -> None:
    text = " ".join(WORDS)
    digests = {page_of(f"<p>{each}".encode(), HTML).text_digest for each in (text, text + " more", text.upper())}
    assert len(digests) == 3
    assert b"" not in digests
    assert page_of(b"<p> \n </p>", HTML).text_digest == page_of(b"", HTML).text_digest == b""


def test_plain_text_is_read_as_text() -> None:
    page = page_of("größer <a href=/x>".encode("latin-1"), "Content-Type: TEXT/Plain; charset=ISO-8859-1")
    assert (page.content_type, page.text, page.links) == ("text/plain", "größer <a href=/x>", [])
    assert (page.format, page.encoding, page.encoding_source) == ("text", "windows-1252", "header")


def test_answers_of_other_types_are_archived_but_not_parsed() -> None:
    page = page_of(b"<a href=/x>x</a>", "Content-Type: image/png")
    assert (page.content_type, page.body_digest) == ("image/png", hashlib.sha256(b"<a href=/x>x</a>").digest())
    assert (page.text, page.title, page.encoding, page.text_digest, page.links) == ("", "", "", b"", ())
    assert (page.format, page.problem) == ("", "")


@pytest.mark.parametrize("kind", ["application/pdf", "application/octet-stream"])
def test_html_with_another_content_type_is_parsed_as_html(kind: str) -> None:
    page = page_of(b"<a href=/x>x</a>", f"Content-Type: {kind}")
    assert (page.format, page.content_type, [link.url for link in page.links]) == ("html", kind, ["http://a.test/x"])


def test_a_document_is_converted_by_its_real_format() -> None:
    mail = (
        b"From: Ann Lee <ann@a.test>\r\nTo: b@b.test\r\nDate: Fri, 02 Jan 2026 03:04:05 +0000\r\nSubject: Webs\r\n"
        b"MIME-Version: 1.0\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\n"
    )
    page = page_of(mail + "Паук. http://a.test/web.".encode("koi8-r"), "Content-Type: text/plain", ended=2e9)
    assert (page.format, page.title, page.published) == ("eml", "Webs", 1767323045.0)
    assert "Паук" in page.text
    assert [link.url for link in page.links] == ["http://a.test/web"]
    assert "Ann Lee" in page.metadata["author"]


@pytest.mark.parametrize(
    ("created", "published"),
    [
        ("2001-02-03T04:05:06Z", 981173106.0),
        ("9999-12-31T23:59:59-23:59", None),
        ("0001-01-01T00:00:00+23:59", None),
        ("2999-01-01", None),
        ("soon", None),
    ],
)
def test_implausible_dates_of_documents_are_dropped(created: str, published: float | None) -> None:
    document = docx(paragraph("words"), {"docProps/core.xml": core().replace("2026-01-02T03:04:05Z", created)})
    page = page_of(document, "Content-Type: application/octet-stream", ended=2e9)
    assert page.published == published
    assert ("published" in page.metadata) is (published is not None)


def test_the_first_anchor_of_a_link_in_a_document_counts() -> None:
    page = page_of(b"[The name](http://b.test/x#one) and http://b.test/x#two", "Content-Type: text/markdown")
    assert [(link.url, link.anchor) for link in page.links] == [("http://b.test/x", "The name")]


def test_a_document_that_cannot_be_converted_has_a_problem() -> None:
    page = page_of(b"%PDF-1.7\n1 0 obj\n<<", "Content-Type: application/pdf")
    assert (page.format, page.text) == ("pdf", "")
    assert page.problem in ("truncated", "corrupt")


def test_html_without_a_content_type_is_recognized_by_its_beginning() -> None:
    assert [link.url for link in page_of(b"<html><a href=/x>x</a>").links] == ["http://a.test/x"]
    assert page_of(b"\x89PNG\r\n\x1a\n <a href=/x>").links == ()


CHUNKED = b"3\r\n<p>\r\n5;x=y\r\nHello\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (HELLO, []),
        (CHUNKED, ["Transfer-Encoding: chunked"]),
        (gzipped(HELLO), ["Content-Encoding: gzip"]),
        (
            b"%x\r\n%s\r\n0\r\n\r\n" % (len(gzipped(HELLO)), gzipped(HELLO)),
            ["Transfer-Encoding: chunked", "content-ENCODING: GZIP"],
        ),
    ],
    ids=["plain", "chunked", "gzip", "both"],
)
def test_codings_are_undone_for_parsing_but_not_in_the_archive(body: bytes, headers: list[str]) -> None:
    result = examined_answer(body, HTML, *headers)
    assert result.page is not None
    assert (result.page.text, result.page.problem) == ("Hello", "")
    assert result.page.body_digest == hashlib.sha256(HELLO).digest()
    assert result.fetched is not None
    assert responses(result) == [result.fetched.head + body]


def responses(result: Visited) -> list[bytes]:
    data = io.BytesIO(b"".join(record.data for record in result.records))
    kind = fastwarc.WarcRecordType.response
    return [record.reader.read() for record in fastwarc.ArchiveIterator(data, record_types=kind, parse_http=False)]


def test_a_coding_that_cannot_be_undone_is_a_problem() -> None:
    assert page_of(HELLO, HTML, "Content-Encoding: gzip").problem == "not gzip"
    assert page_of(CHUNKED[:10], HTML, "Transfer-Encoding: chunked").problem == "truncated chunk"


# ── other answers ──


@pytest.mark.parametrize("status", [404, 410, 403, 500, 503, 301])
def test_an_error_page_is_archived_without_its_links(status: int) -> None:
    result = examined_answer(b"<title>Sorry</title><a href=/x>x</a>", HTML, "Location: /y", status=status)
    assert result.page is not None
    assert (result.page.links, result.page.title, result.page.text) == ((), "", "")
    assert result.page.content_type == "text/html"
    assert len(result.records) == 3


def test_a_page_cut_by_a_disconnection_is_archived_without_its_links() -> None:
    result = examined_answer(b"<a href=/x>x</a><a hre", HTML, reason=Reason.CUT_DISCONNECT)
    assert result.page is not None
    assert (result.outcome, result.page.links, len(result.records)) == (Outcome.FAILED, (), 3)


def test_a_page_cut_at_the_size_limit_is_parsed() -> None:
    assert len(page_of(b"<a href=/x>x</a><a hre", HTML, reason=Reason.CUT_LENGTH).links) == 1


def test_a_robots_file_is_archived_and_not_parsed_as_a_page() -> None:
    result = examined_answer(b"<a href=/x>x</a>", HTML, kind=Kind.ROBOTS)
    assert result.page is not None
    assert (result.page.links, result.page.text, len(result.records)) == ((), "", 3)


def test_a_redirect_of_a_robots_file_is_not_followed_like_that_of_a_page() -> None:
    result = examined_answer(b"", "Location: /elsewhere", kind=Kind.ROBOTS, status=301)
    assert (result.outcome, result.location) == (Outcome.REDIRECTED, None)


def test_a_visit_without_an_answer_stays_as_it_is() -> None:
    denied = visited(visit_to(URL), page=None, fetched=None, outcome=Outcome.DENIED, reason=Reason.ROBOTS_DENIED)
    assert examined(denied) == denied
    unanswered = answer(URL, head=b"", body=b"", status=0, reason=Reason.TIMEOUT)
    failed = visited(visit_to(URL), page=None, fetched=unanswered, outcome=Outcome.FAILED, reason=Reason.TIMEOUT)
    assert examined(failed) == failed


# ── redirects ──


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/b", "http://a.test/b"),
        ("b?c#d", "http://a.test/dir/b?c"),
        ("//b.test", "http://b.test/"),
        ("https://a.test/dir/page", "https://a.test/dir/page"),
        ("/größe", "http://a.test/gr%C3%B6%C3%9Fe"),
    ],
)
def test_the_target_of_a_redirect_becomes_a_url_of_its_own(location: str, target: str) -> None:
    result = examined_answer(b"", f"Location: {location}", status=302)
    assert (result.outcome, result.reason, result.detail) == (Outcome.REDIRECTED, Reason.REDIRECTED, target)
    assert result.location is not None
    assert (result.location.url, result.location.key, result.location.refused) == (target, key_of(target), None)


def test_a_refused_target_of_a_redirect_has_its_reason() -> None:
    result = examined_answer(b"", "Location: http://out.test/", status=301)
    assert result.outcome is Outcome.REDIRECTED
    assert result.location is not None
    assert result.location.refused == OUT


@pytest.mark.parametrize(
    ("location", "hops", "reason", "detail"),
    [
        (URL, 0, Reason.REDIRECT_LOOP, URL),
        ("page#top", 0, Reason.REDIRECT_LOOP, URL),
        ("mailto:a@a.test", 0, Reason.BAD_LOCATION, "mailto:a@a.test"),
        ("http://[nonsense", 0, Reason.BAD_LOCATION, "http://[nonsense"),
        ("/b", MAX_HOPS, Reason.TOO_MANY_REDIRECTS, "http://a.test/b"),
    ],
)
def test_a_redirect_to_itself_to_no_url_or_after_too_many_is_refused(
    location: str, hops: int, reason: Reason, detail: str
) -> None:
    result = examined_answer(b"", f"Location: {location}", status=301, hops=hops)
    assert (result.outcome, result.reason, result.detail) == (Outcome.REFUSED, reason, detail)
    assert result.location is None
    assert len(result.records) == 3


def test_the_last_allowed_redirect_is_followed() -> None:
    assert examined_answer(b"", "Location: /b", status=301, hops=MAX_HOPS - 1).location is not None


# ── no answer raises an exception ──

names = st.sampled_from(["Content-Type", "Content-Encoding", "Transfer-Encoding", "Location", "X"])
values = st.one_of(
    st.sampled_from(["text/html", "text/plain; charset=utf-7", "text/html; charset=\0", "gzip", "chunked", "deflate"]),
    st.binary(max_size=20).map(lambda data: data.decode("latin-1")),
)
bodies = st.one_of(
    st.binary(max_size=200),
    st.text(st.one_of(st.sampled_from("<>/='\" &;#ahrefmtl\0\ud800"), st.characters()), max_size=100).map(
        lambda text: text.encode("utf-8", "surrogatepass")
    ),
    st.binary(max_size=50).map(lambda path: b"<base href='" + path + b"'><a href='" + path + b"'>" + path + b"</a>"),
    st.binary(max_size=100).map(gzip.compress),
)


@given(
    headers=st.lists(st.tuples(names, values), max_size=5),
    body=bodies,
    status=st.sampled_from([200, 301, 404, 503, 999]),
    kind=st.sampled_from(list(Kind)),
)
def test_any_bytes_can_be_examined(headers: list[tuple[str, str]], body: bytes, status: int, kind: Kind) -> None:
    head = b"".join(b"%s: %s\r\n" % (name.encode(), value.encode("latin-1")) for name, value in headers)
    received = answer(URL, head=b"HTTP/1.1 200 OK\r\n" + head + b"\r\n", body=body, status=status)
    result = examined(answered(visit_to(URL, kind=kind), received))
    assert result.page is not None
    assert responses(result) == [received.head + body]


@pytest.mark.parametrize("start", [b"<!---->", b"<?a?>", b"<!-- a --> ", b"<?xml?><!-- <?a?> -->"])
def test_many_comments_do_not_slow_the_detection_of_sitemaps(start: bytes) -> None:
    body = start * 200 + b"<other>"
    result = examined_answer(body, "Content-Type: text/xml")
    assert result.page is not None
    assert result.page.kind is Kind.PAGE


def test_html_at_the_url_of_a_feed_is_visited_again_as_a_page() -> None:
    result = examined_answer(b"<html><p>words", HTML, kind=Kind.FEED)
    assert (result.outcome, result.reason) == (Outcome.REFUSED, Reason.NOT_A_LIST)
    assert result.page is not None
    assert result.page.kind is Kind.PAGE


@pytest.mark.parametrize(("path", "kind"), [("sitemap.xml", Kind.SITEMAP), ("other", Kind.PAGE), ("out", Kind.SITEMAP)])
def test_html_at_a_guessed_sitemap_or_out_of_scope_is_not_visited_as_a_page(path: str, kind: Kind) -> None:
    url = f"http://{'out' if path == 'out' else 'a'}.test/{path}"
    visit = visit_to(url, kind=Kind.SITEMAP)
    received = answer(url, head=f"HTTP/1.1 200 X\r\n{HTML}\r\n\r\n".encode(), body=b"<html><p>words")
    result = examined(visited(visit, page=None, fetched=received))
    assert (result.outcome, result.reason) == (Outcome.REFUSED, Reason.NOT_A_LIST)
    assert result.page is not None
    assert result.page.kind is kind


def test_the_text_is_passed_on_only_if_it_is_wanted_and_never_has_half_a_character() -> None:
    found = examined_answer(b"<p>Herons stand in the reeds.</p>", "Content-Type: text/html")
    assert found.page is not None
    dropped, kept = (with_text_if_kept(replace(found, keeps_text=wanted)) for wanted in (False, True))
    assert dropped == replace(found, page=replace(found.page, text=""))
    assert kept == replace(found, keeps_text=True)
    torn = replace(found, keeps_text=True, page=replace(found.page, text="a\ud800b"))
    assert with_text_if_kept(torn) == replace(torn, page=replace(found.page, text="a\ufffdb"))
    failed = replace(found, page=None)
    assert with_text_if_kept(failed) is failed
