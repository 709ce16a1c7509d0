"""The HTTP client against a real server that sends exact bytes: requests, answers, limits, connections, TLS."""

import datetime as dt
import gc
import logging
import os
import selectors
import socket
import ssl
import time
from dataclasses import replace

import pycurl
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from crawler.fetch.http import HttpClient
from crawler.fetch.types import SkippedTypes
from crawler.items import Reason
from tests.defaults import DEFAULTS
from tests.fetch.raw_server import Act, RawServer, Repeat, Wait

PATIENCE = 20.0  # seconds until a test that waits for something has failed
LIMITS = replace(  # times far above PATIENCE: a test lowers the one that it is about
    DEFAULTS.fetch.limits,
    connect_timeout=60,
    first_byte_timeout=60,
    min_bytes_per_second=1,
    min_rate_time=60,
    timeout=120,
    max_body=100_000,
    max_head=10_000,
    interim=3,
)
HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
CHUNKS = b"3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\n\r\n"
TAIL = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"


class Loop:
    """A minimal event loop that drives a client; it records sockets that were closed while still watched."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.due = None
        self.lost = []  # sockets that were closed before they were unregistered

    def watch(self, fd, readable, writable):
        try:
            os.fstat(fd)
        except OSError:
            self.lost.append(fd)
        if fd in self.selector.get_map():
            self.selector.unregister(fd)
        if readable or writable:
            events = (selectors.EVENT_READ if readable else 0) | (selectors.EVENT_WRITE if writable else 0)
            self.selector.register(fd, events)

    def wake(self, delay):
        self.due = None if delay is None else time.monotonic() + delay

    def run(self, client, until):
        limit = time.monotonic() + PATIENCE
        while not until():
            now = time.monotonic()
            assert now < limit, "the awaited condition did not occur"
            wait = min(0.05, (limit if self.due is None else self.due) - now)  # a server thread may fulfil it
            for key, events in self.selector.select(max(0.0, wait)):
                client.socket_ready(key.fd, bool(events & selectors.EVENT_READ), bool(events & selectors.EVENT_WRITE))
            if self.due is not None and self.due <= time.monotonic():
                self.due = None
                client.timeout()


class Browser:
    """A client on a loop that fetches one URL at a time."""

    def __init__(self, **options):
        self.loop = Loop()
        self.slept = 0.0  # seconds for which the process was suspended
        options = {
            "user_agent": "Tester/1.0 (+https://example.org/bot)",
            "limits": LIMITS,
            "verify_tls": False,
            **options,
        }
        self.client = HttpClient(
            watch=self.loop.watch, wake=self.loop.wake, now=lambda: time.monotonic() + self.slept, **options
        )

    def get(self, url, address="127.0.0.1", **options):
        results = []
        self.client.fetch(url, address=address, done=results.append, **options)
        assert not results, "done was called within fetch"
        self.loop.run(self.client, lambda: results)
        assert len(results) == 1
        return results[0]

    def close(self):
        self.client.close()
        assert not self.loop.lost
        assert not self.loop.selector.get_map(), "a socket is still watched"
        assert self.loop.due is None, "a wake-up is still pending"
        assert self.client.active == 0
        assert self.client.bytes_in_flight == 0
        self.loop.selector.close()


@pytest.fixture
def open_browser():
    opened = []

    def open_one(**options):
        opened.append(Browser(**options))
        return opened[-1]

    yield open_one
    for browser in opened:
        browser.close()


@pytest.fixture
def browser(open_browser):
    return open_browser()


@pytest.fixture
def serve():
    servers = []

    def start(*steps, **options):
        answers = {"/": steps} if steps else None
        servers.append(RawServer(**{"answers": answers, **options}))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A self-signed certificate for example.test, key and certificate in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "example.test")])
    builder = x509.CertificateBuilder(subject_name=name, issuer_name=name, public_key=key.public_key())
    builder = builder.serial_number(1).add_extension(
        x509.SubjectAlternativeName([x509.DNSName("example.test")]), critical=False
    )
    builder = builder.not_valid_before(dt.datetime(2020, 1, 1, tzinfo=dt.UTC))
    builder = builder.not_valid_after(dt.datetime(2120, 1, 1, tzinfo=dt.UTC))
    path = tmp_path_factory.mktemp("tls") / "example.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.fixture
def tls(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


# Requests


def test_the_request_recorded_is_the_request_the_server_saw(browser, serve):
    server = serve()
    fetched = browser.get(server.url("/page?q=1"), headers=[("If-None-Match", '"v1"'), ("X-Empty", "")])
    assert server.requests == [fetched.request]
    assert fetched.request.startswith(
        f"GET /page?q=1 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nUser-Agent: Tester/1.0 (+https".encode()
    )
    assert fetched.was_sent


def test_an_extra_header_replaces_the_default_one(browser, serve):
    server = serve()
    browser.get(server.url(), headers=[("accept", "text/plain")])
    (request,) = server.requests
    assert request.lower().count(b"\r\naccept:") == 1
    assert b"accept: text/plain" in request


def test_a_handle_forgets_the_headers_of_its_last_fetch(browser, serve):
    server = serve()
    browser.get(server.url("/a"), headers=[("X-Secret", "1")])
    browser.get(server.url("/b"))
    assert b"X-Secret" in server.requests[0]
    assert b"X-Secret" not in server.requests[1]


@pytest.mark.parametrize(
    ("spelled", "sent"),
    [
        ("/a/../b?x=|^[]{}%e9%2e%2e#frag", b"/a/../b?x=|^[]{}%e9%2e%2e"),
        ("/./%2F//x;y='\"<>`\\", b"/./%2F//x;y='\"<>`\\"),
        ("", b"/"),
        ("?q", b"/?q"),
        ("#frag", b"/"),
        ("/?", b"/?"),
        ("/http://other.test/", b"/http://other.test/"),
    ],
)
def test_the_target_is_sent_as_spelled(browser, serve, spelled, sent):
    server = serve()
    fetched = browser.get(server.url(spelled))
    assert fetched.url == server.url(spelled)
    assert server.requests[0].split(b"\r\n")[0] == b"GET " + sent + b" HTTP/1.1"


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("ftp://127.0.0.1/", {}),
        ("file:///etc/passwd", {}),
        ("//127.0.0.1/", {}),
        ("http\u017f://127.0.0.1/", {}),
        ("http://te\u017ft.test/", {}),
        ("http://user:secret@127.0.0.1/", {}),
        ("http://a.test\\@127.0.0.1/", {}),
        ("http:///path", {}),
        ("http://127.0.0.1:99999/", {}),
        ("http://127.0.0.1/a b", {}),
        ("http://127.0.0.1/a\r\nX: y", {}),
        ("http://127.0.0.1/é", {}),
        ("", {}),
        ("http://127.0.0.1/", {"method": "POST"}),
        ("http://127.0.0.1/", {"headers": [("X", "a\r\nY: b")]}),
        ("http://127.0.0.1/", {"headers": [("X Y", "a")]}),
        ("http://127.0.0.1/", {"headers": [("Host", "other.test")]}),
        ("http://127.0.0.1/", {"address": "localhost"}),
        ("http://127.0.0.1/", {"address": "::1%lo"}),
        ("http://127.0.0.1/", {"address": ""}),
    ],
)
def test_what_cannot_be_sent_is_not_sent(browser, url, options):
    fetched = browser.get(url, **options)
    assert fetched.reason == Reason.FETCH_ERROR
    assert fetched.detail
    assert not fetched.was_sent
    assert fetched.started == fetched.ended


def test_a_user_agent_that_cannot_be_sent_stops_the_start(open_browser):
    with pytest.raises(ValueError, match="User-Agent"):
        open_browser(user_agent="a\r\nX: y")


def test_head_has_no_body_and_the_handle_can_get_again(browser, serve):
    server = serve(answers={"/head": [HEAD + b"Content-Length: 2\r\n\r\n"]})
    headed = browser.get(server.url("/head"), method="HEAD")
    assert (headed.reason, headed.status, headed.body) == (Reason.OK, 200, b"")
    assert server.requests[0] == headed.request
    assert headed.request.startswith(b"HEAD /head HTTP/1.1\r\n")
    assert browser.get(server.url("/get")).body == b"ok"


def test_proxies_of_the_environment_are_ignored(open_browser, serve, monkeypatch):
    server, proxy = serve(), serve()
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    monkeypatch.delenv("no_proxy", raising=False)
    assert open_browser().get(server.url()).body == b"ok"
    assert not proxy.connections


# Answers


def test_an_answer_is_kept_as_it_came(browser, serve):
    head = b"HTTP/1.1 203 Sure  thing\r\nX-a:  1\r\nx-A:2\r\nContent-Length: 5\r\n\r\n"
    server = serve(head + b"a\0\xff\r\n")
    before = time.monotonic()
    fetched = browser.get(server.url())
    assert (fetched.reason, fetched.detail, fetched.status) == (Reason.OK, "", 203)
    assert (fetched.head, fetched.body) == (head, b"a\0\xff\r\n")
    assert (fetched.address, fetched.port, fetched.connected) == ("127.0.0.1", server.port, True)
    assert before <= fetched.started <= fetched.first_byte <= fetched.ended <= time.monotonic()


def test_header_lines_may_end_in_a_bare_line_feed(browser, serve):
    head = b"HTTP/1.1 200 OK\nContent-Length: 2\n\n"
    fetched = browser.get(serve(head + b"ok").url())
    assert (fetched.reason, fetched.head, fetched.body) == (Reason.OK, head, b"ok")


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (HEAD + b"Content-Length: 3\r\n\r\nabc", b"abc"),
        (CHUNKED + CHUNKS, CHUNKS),
        (CHUNKED + b"3\r\nabc\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n", b"3\r\nabc\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n"),
        (CHUNKED + b"3\nabc\n0\n\n", b"3\nabc\n0\n\n"),
        (HEAD + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08", b"\x1f\x8b\x08"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", b""),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno", b"no"),
        (b"HTTP/1.1 999 Denied\r\nContent-Length: 2\r\n\r\nno", b"no"),
    ],
)
def test_the_connection_is_used_again_after_a_whole_body(browser, serve, answer, body):
    server = serve(answer)
    first, second = browser.get(server.url()), browser.get(server.url("/other"))
    assert (first.reason, first.body) == (Reason.OK, body)
    assert first.status == int(answer[9:12])
    assert (second.reason, second.body) == (Reason.OK, b"ok")
    assert (first.connected, second.connected) == (True, False)
    assert second.address == "127.0.0.1"
    assert len(server.connections) == 1


def test_a_chunked_body_may_come_in_any_pieces(browser, serve):
    server = serve(CHUNKED, *(bytes([byte]) for byte in CHUNKS))
    assert browser.get(server.url()).body == CHUNKS
    assert browser.get(server.url("/other")).body == b"ok"
    assert len(server.connections) == 1


def test_a_body_without_length_ends_with_the_connection(browser, serve):
    fetched = browser.get(serve(HEAD + b"\r\nall of it", Act.CLOSE).url())
    assert (fetched.reason, fetched.body) == (Reason.OK, b"all of it")


def test_a_redirect_is_an_answer(browser, serve):
    server = serve(b"HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")
    fetched = browser.get(server.url())
    assert (fetched.reason, fetched.status) == (Reason.OK, 302)
    assert len(server.requests) == 1


def test_interim_answers_are_dropped(browser, serve):
    interim = b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    head = HEAD + b"Content-Length: 2\r\n\r\n"
    fetched = browser.get(serve(interim + head + b"ok").url())
    assert (fetched.reason, fetched.head, fetched.body) == (Reason.OK, head, b"ok")


def test_a_cookie_is_not_sent_back(browser, serve):
    server = serve(HEAD + b"Set-Cookie: a=b; Path=/\r\nContent-Length: 0\r\n\r\n")
    browser.get(server.url())
    browser.get(server.url())
    assert not any(b"cookie" in request.lower() for request in server.requests)


# Bytes after the end of an answer


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (HEAD + b"Content-Length: 2\r\n\r\nok" + TAIL, b"ok"),
        (HEAD + b"Content-Length: 2\r\n\r\nok" + TAIL + b"x" * 500_000, b"ok"),
        (CHUNKED + CHUNKS + TAIL, CHUNKS),
        (CHUNKED + b"0\r\nX: y\r\n\r\n" + TAIL, b"0\r\nX: y\r\n\r\n"),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n" + TAIL, b""),
        (HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS, CHUNKS),
        (HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNKS, CHUNKS),
    ],
)
def test_a_connection_with_doubtful_ends_is_not_used_again(browser, serve, answer, body):
    server = serve(answer)
    first, second = browser.get(server.url()), browser.get(server.url("/other"))
    assert (first.reason, first.body) == (Reason.OK, body)
    assert (second.body, second.connected) == (b"ok", True)


def test_a_kept_connection_with_unsolicited_data_is_not_used_again(browser, serve):
    answer = HEAD + b"Content-Length: 2\r\n\r\nok"
    server = serve(answer, Wait(0.1), TAIL)
    browser.get(server.url())
    browser.loop.run(browser.client, lambda: server.connections[0].sent == len(answer + TAIL))
    second = browser.get(server.url("/other"))
    assert (second.body, second.connected) == (b"ok", True)


def test_a_kept_connection_that_was_closed_is_sent_nothing(browser, serve):
    server = serve(HEAD + b"Content-Length: 2\r\n\r\nok", Act.CLOSE)
    assert browser.get(server.url()).connected
    server.connections[0].ended.wait(PATIENCE)
    second = browser.get(server.url("/other"))
    assert (second.reason, second.body, second.connected) == (Reason.OK, b"ok", True)
    assert [len(connection.requests) for connection in server.connections] == [1, 1]


def test_a_request_that_died_with_a_kept_connection_is_not_sent_twice(browser, serve):
    server = serve(Act.CLOSE)
    browser.get(server.url("/other"))
    fetched = browser.get(server.url())
    assert (fetched.reason, fetched.status) == (Reason.STALE_CONNECTION, 0)
    assert server.requests[1:] == [fetched.request]


# Answers that are not HTTP


@pytest.mark.parametrize(
    "answer",
    [
        b"<html><body>a page of 1991</body></html>",
        b"\x00\x01\x02\xff random bytes\r\n\r\n",
        b"HTTP/1.1 abc\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 1000 Much\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 099 Little\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nok",
        HEAD + b"Content-Length: -2\r\n\r\nok",
        HEAD + b"Content-Length: two\r\n\r\nok",
        HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nokk",
        HEAD + b"X: a\0b\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n" * (LIMITS.interim + 1) + HEAD + b"Content-Length: 2\r\n\r\nok",
        CHUNKED + b"3\r\nabc\r\nzz\r\n\r\n",
        CHUNKED + b"3\r\nabcdef\r\n0\r\n\r\n",
        CHUNKED + b"ffffffffffffffffffff\r\nabc\r\n",
    ],
)
def test_what_is_not_http_is_no_answer(browser, serve, answer):
    server = serve(answer, Act.CLOSE)
    fetched = browser.get(server.url())
    assert (fetched.reason, fetched.status) == (Reason.BAD_HTTP, 0)
    assert fetched.detail
    assert browser.get(server.url("/other")).connected


def test_equal_lengths_may_be_said_twice(browser, serve):
    fetched = browser.get(serve(HEAD + b"Content-Length: 2\r\n" * 2 + b"\r\nok").url())
    assert (fetched.reason, fetched.body) == (Reason.OK, b"ok")


# Size limits


@pytest.mark.parametrize(
    "answer",
    [
        [HEAD + b"X: " + b"a" * LIMITS.max_head + b"\r\n\r\n"],
        [HEAD + b"X: " + b"a" * 1_000_000 + b"\r\n\r\n"],
        [HEAD, Repeat(b"X: y\r\n" * 100)],
        [HEAD, Repeat(b"X" * 1000)],
        [HEAD + b"X: " + b"a" * 5000 + b"\r\nY: " + b"a" * 5000 + b"\r\n\r\n"],
        [b"HTTP/1.1 103 Early Hints\r\nX: " + b"a" * 9000 + b"\r\n\r\n" + HEAD + b"Y: " + b"a" * 2000 + b"\r\n\r\n"],
    ],
)
def test_big_headers_are_cut_off_at_once(browser, serve, answer):
    server = serve(*answer)
    fetched = browser.get(server.url())
    assert (fetched.reason, fetched.status, fetched.head) == (Reason.HEADERS_TOO_BIG, 0, b"")


def test_a_flood_of_interim_answers_is_cut_off(browser, serve):
    fetched = browser.get(serve(Repeat(b"HTTP/1.1 100 Continue\r\n\r\n")).url())
    assert fetched.reason == Reason.BAD_HTTP


@pytest.mark.parametrize(
    "head", [HEAD + b"\r\n", HEAD + b"Content-Length: 999999999\r\n\r\n", HEAD + b"Content-Length: 100001\r\n\r\n"]
)
def test_an_endless_body_is_cut_at_the_limit(browser, serve, head):
    server = serve(head, Repeat(b"0123456789" * 100))
    fetched = browser.get(server.url())
    assert (fetched.reason, fetched.status) == (Reason.CUT_LENGTH, 200)
    assert fetched.body == b"0123456789" * (LIMITS.max_body // 10)
    assert browser.get(server.url("/other")).connected


def test_endless_chunks_are_cut_at_the_limit(browser, serve):
    fetched = browser.get(serve(CHUNKED, Repeat(b"4\r\nabcd\r\n")).url())
    assert (fetched.reason, len(fetched.body)) == (Reason.CUT_LENGTH, LIMITS.max_body)


def test_a_body_of_the_limit_is_whole(browser, serve):
    server = serve(HEAD + b"Content-Length: %d\r\n\r\n" % LIMITS.max_body + b"x" * LIMITS.max_body)
    fetched = browser.get(server.url())
    assert (fetched.reason, len(fetched.body)) == (Reason.OK, LIMITS.max_body)


def test_a_format_that_is_useless_if_cut_may_be_longer(browser, serve):
    server = serve(HEAD + b"Content-Type: application/pdf\r\n\r\n", Repeat(b"0123456789" * 100))
    fetched = browser.get(server.url(), limits=replace(LIMITS, max_document=150_000))
    assert (fetched.reason, len(fetched.body)) == (Reason.CUT_LENGTH, 150_000)


def test_a_fetch_may_have_limits_of_its_own(browser, serve):
    server = serve(HEAD + b"Content-Length: 5\r\n\r\nabcde")
    fetched = browser.get(server.url(), limits=replace(LIMITS, max_body=3))
    assert (fetched.reason, fetched.body) == (Reason.CUT_LENGTH, b"abc")


# Unwanted types

NO_IMAGES = SkippedTypes(("image/",)).wants


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"Content-Type: image/png\r\nContent-Length: 999999999\r\n\r\n",
        HEAD + b"Content-Type: IMAGE/x; a=b\r\n\r\n",
        CHUNKED[:-2] + b"content-type:image/png\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\nContent-Type: text/html\r\n\r\n" + HEAD + b"Content-Type: image/png\r\n\r\n",
    ],
)
def test_a_body_that_is_not_wanted_is_closed_after_the_head(browser, serve, head):
    server = serve(head, Repeat(b"0123456789" * 100))
    fetched = browser.get(server.url(), wants=NO_IMAGES)
    assert (fetched.reason, fetched.status, fetched.body) == (Reason.UNWANTED_TYPE, 200, b"")
    assert fetched.head == head[head.rfind(b"HTTP/1.1") :]
    assert server.connections[0].ended.wait(PATIENCE)
    assert browser.get(server.url("/other"), wants=NO_IMAGES).connected


@pytest.mark.parametrize(
    "answer",
    [
        HEAD + b"Content-Type: text/html\r\nContent-Length: 2\r\n\r\nok",
        HEAD + b"Content-Length: 2\r\n\r\nok",
        b"HTTP/1.1 404 Not Found\r\nContent-Type: image/png\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Type: image/png\r\nContent-Length: 2\r\n\r\nok",
    ],
    ids=["wanted", "no type", "no document", "redirect"],
)
def test_other_bodies_are_read_and_their_connection_is_kept(browser, serve, answer):
    server = serve(answer)
    fetched = browser.get(server.url(), wants=NO_IMAGES)
    assert (fetched.reason, fetched.body) == (Reason.OK, b"ok")
    assert not browser.get(server.url("/other"), wants=NO_IMAGES).connected


def test_without_a_type_filter_every_body_is_read(browser, serve):
    server = serve(HEAD + b"Content-Type: image/png\r\nContent-Length: 2\r\n\r\nok")
    assert browser.get(server.url(), wants=NO_IMAGES).reason == Reason.UNWANTED_TYPE
    assert browser.get(server.url()).body == b"ok"


def test_the_answer_to_head_costs_no_connection_whatever_its_type(browser, serve):
    server = serve(HEAD + b"Content-Type: image/png\r\nContent-Length: 999999999\r\n\r\n")
    headed = browser.get(server.url(), method="HEAD", wants=NO_IMAGES)
    assert headed.request.startswith(b"HEAD / HTTP/1.1\r\n")
    assert (headed.reason, headed.status, headed.body) == (Reason.OK, 200, b"")
    assert headed.header("content-length") == "999999999"
    assert not browser.get(server.url("/other")).connected


def test_a_body_that_follows_the_answer_to_head_is_not_taken_for_the_next_answer(browser, serve):
    server = serve(HEAD + b"Content-Length: 4\r\n\r\n" + TAIL)
    assert browser.get(server.url(), method="HEAD").body == b""
    assert browser.get(server.url("/other")).body == b"ok"


# Connections that end early


@pytest.mark.parametrize("end", [Act.CLOSE, Act.RESET])
@pytest.mark.parametrize("begin", [[], [b"HTT"], [HEAD], [HEAD + b"Content-Length: 2\r\n"]])
def test_a_connection_that_ends_before_the_answer_is_disconnected(browser, serve, begin, end):
    fetched = browser.get(serve(*begin, end).url())
    assert (fetched.reason, fetched.status, fetched.head, fetched.body) == (Reason.DISCONNECTED, 0, b"", b"")
    assert fetched.was_sent
    assert fetched.detail


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (HEAD + b"Content-Length: 9\r\n\r\n", b"abc"),
        (HEAD + b"Content-Length: 9\r\n\r\n", b""),
        (CHUNKED, b"3\r\nabc\r\n9\r\nde"),
        (CHUNKED, b"3\r\nabc\r\n"),
        (CHUNKED, b"3\r\nabc\r\n0\r\n"),
    ],
)
def test_a_body_that_ends_early_is_kept_and_marked(browser, serve, head, body):
    fetched = browser.get(serve(head + body, Act.CLOSE).url())
    assert (fetched.reason, fetched.status) == (Reason.CUT_DISCONNECT, 200)
    assert (fetched.head, fetched.body) == (head, body)
    assert fetched.detail


def test_a_reset_within_the_body_is_a_cut(browser, serve):
    fetched = browser.get(serve(HEAD + b"Content-Length: 9\r\n\r\nabc", Wait(0.1), Act.RESET).url())
    assert (fetched.reason, fetched.body) == (Reason.CUT_DISCONNECT, b"abc")


def test_a_closed_port_is_no_connection(browser):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        fetched = browser.get(f"http://127.0.0.1:{bound.getsockname()[1]}/")
    assert fetched.reason == Reason.CONNECT_FAILED
    assert fetched.detail
    assert not fetched.was_sent
    assert (fetched.connected, fetched.address, fetched.port) == (False, "", 0)
    assert fetched.first_byte is None


# Time limits


def test_a_full_backlog_is_a_connect_timeout(browser):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        with socket.create_connection(listener.getsockname()):  # takes the only place
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
            fetched = browser.get(url, limits=replace(LIMITS, connect_timeout=0.2))
    assert fetched.reason == Reason.CONNECT_TIMEOUT
    assert not fetched.was_sent
    assert fetched.ended - fetched.started >= 0.2


def test_a_stalled_tls_handshake_is_a_connect_timeout(browser):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        fetched = browser.get(url, limits=replace(LIMITS, connect_timeout=0.2))
    assert (fetched.reason, fetched.request) == (Reason.CONNECT_TIMEOUT, b"")


@pytest.mark.parametrize("begin", [[], [b"HTTP/1.1"]])
def test_a_silent_server_is_a_first_byte_timeout(browser, serve, begin):
    server = serve(*begin, Act.SILENCE)
    fetched = browser.get(server.url(), limits=replace(LIMITS, first_byte_timeout=0.2))
    assert fetched.reason == Reason.FIRST_BYTE_TIMEOUT
    assert fetched.request == server.requests[0]
    assert fetched.ended - fetched.started >= 0.2
    assert fetched.first_byte is None


def test_a_silent_server_is_a_first_byte_timeout_on_a_kept_connection_too(browser, serve):
    server = serve(Act.SILENCE)
    browser.get(server.url("/other"))
    fetched = browser.get(server.url(), limits=replace(LIMITS, first_byte_timeout=0.2))
    assert (fetched.reason, fetched.connected) == (Reason.FIRST_BYTE_TIMEOUT, False)


def test_silence_within_the_headers_is_too_slow(browser, serve):
    fetched = browser.get(serve(HEAD, Act.SILENCE).url(), limits=replace(LIMITS, min_rate_time=0.2))
    assert (fetched.reason, fetched.status) == (Reason.TOO_SLOW, 0)


@pytest.mark.parametrize(
    ("answer", "body"), [([b""], b""), ([b"a" * 50], b"a" * 50), ([b"a" * 50, Repeat(b"b", pause=0.05)], None)]
)
def test_a_body_that_drips_is_cut(browser, serve, answer, body):
    server = serve(HEAD + b"Content-Length: 1000\r\n\r\n", *answer, Act.SILENCE)
    fetched = browser.get(server.url(), limits=replace(LIMITS, min_bytes_per_second=1000, min_rate_time=0.2))
    assert (fetched.reason, fetched.detail, fetched.status) == (Reason.CUT_TIME, "too slow", 200)
    assert body is None or fetched.body == body
    assert fetched.ended - fetched.first_byte >= 0.2


def test_a_body_that_is_fast_enough_may_take_many_spans(browser, serve):
    server = serve(HEAD + b"Content-Length: 20\r\n\r\n", *[b"ab", Wait(0.05)] * 10)
    fetched = browser.get(server.url(), limits=replace(LIMITS, min_bytes_per_second=1, min_rate_time=0.2))
    assert (fetched.reason, fetched.body) == (Reason.OK, b"ab" * 10)


def test_the_total_time_cuts_the_body(browser, serve):
    server = serve(HEAD + b"Content-Length: 1000\r\n\r\n", Repeat(b"ab", pause=0.02))
    fetched = browser.get(server.url(), limits=replace(LIMITS, timeout=0.3))
    assert (fetched.reason, fetched.status) == (Reason.CUT_TIME, 200)
    assert fetched.body.startswith(b"ab")
    assert fetched.ended - fetched.started >= 0.3


def test_the_total_time_ends_a_wait_without_answer(browser, serve):
    fetched = browser.get(serve(Act.SILENCE).url(), limits=replace(LIMITS, timeout=0.2))
    assert (fetched.reason, fetched.status) == (Reason.TIMEOUT, 0)


def test_time_limits_hold_while_other_transfers_run(browser, serve):
    server = serve(answers={"/slow": [Act.SILENCE]})
    results = []
    for first_byte in (0.4, 0.1, 0.2, 0.3):
        limits = replace(LIMITS, first_byte_timeout=first_byte)
        browser.client.fetch(server.url("/slow"), address="127.0.0.1", done=results.append, limits=limits)
    browser.loop.run(browser.client, lambda: len(results) == 4)
    assert {fetched.reason for fetched in results} == {Reason.FIRST_BYTE_TIMEOUT}
    taken = [fetched.ended - fetched.started for fetched in results]
    assert taken == sorted(taken)


# Pinned addresses


def test_only_the_pinned_address_is_asked(browser, serve):
    server = serve(address="127.0.0.2")
    fetched = browser.get(server.url("/", host="example.test"), address="127.0.0.2")
    assert (fetched.reason, fetched.address) == (Reason.OK, "127.0.0.2")
    assert f"\r\nHost: example.test:{server.port}\r\n".encode() in server.requests[0]


def test_a_host_that_is_an_address_is_not_asked_itself(browser, serve):
    server = serve(address="127.0.0.2")
    fetched = browser.get(server.url("/", host="127.0.0.9"), address="127.0.0.2")
    assert (fetched.reason, fetched.address) == (Reason.OK, "127.0.0.2")


def test_a_connection_belongs_to_its_address(browser, serve):
    first = serve(HEAD + b"Content-Length: 1\r\n\r\n1", address="127.0.0.2")
    second = serve(HEAD + b"Content-Length: 1\r\n\r\n2", address="127.0.0.3", port=first.port)
    url = first.url("/", host="example.test")
    bodies = [browser.get(url, address=address).body for address in ("127.0.0.2", "127.0.0.3", "127.0.0.2")]
    assert bodies == [b"1", b"2", b"1"]
    assert (len(first.connections), len(second.connections)) == (1, 1)


def test_a_connection_belongs_to_its_host(browser, serve):
    server = serve()
    assert browser.get(server.url("/", host="one.test")).connected
    assert browser.get(server.url("/", host="two.test")).connected


def test_an_ipv6_address_is_asked(browser, serve):
    try:
        server = serve(address="::1")
    except OSError:
        pytest.skip("this machine has no IPv6")
    fetched = browser.get(server.url("/", host="[::1]"), address="0:0:0:0:0:0:0:1")
    assert (fetched.reason, fetched.address) == (Reason.OK, "::1")


class Misled(pycurl.Curl):
    """Connects to 127.0.0.1 wherever it is sent."""

    def setopt(self, option, value):
        super().setopt(option, [b"::127.0.0.1:"] if option == pycurl.CONNECT_TO else value)


def test_an_address_other_than_the_pinned_one_is_sent_nothing(browser, serve, monkeypatch):
    server = serve()
    monkeypatch.setattr(pycurl, "Curl", Misled)
    fetched = browser.get(server.url("/", host="example.test"), address="127.0.0.2")
    assert (fetched.reason, fetched.request) == (Reason.ADDRESS_DENIED, b"")
    assert "127.0.0.1" in fetched.detail
    assert server.requests == []


# TLS


def test_a_self_signed_certificate_is_accepted_if_none_is_verified(browser, serve, tls):
    server = serve(tls=tls)
    url = server.url("/a", host="example.test", scheme="https")
    first, second = browser.get(url), browser.get(url)
    assert (first.reason, first.body) == (Reason.OK, b"ok")
    assert server.requests == [first.request, second.request]
    assert not second.connected
    assert server.connections[0].server_name == "example.test"


def test_a_self_signed_certificate_is_refused_if_verified(open_browser, serve, tls):
    server = serve(tls=tls)
    fetched = open_browser(verify_tls=True).get(server.url(host="example.test", scheme="https"))
    assert (fetched.reason, fetched.request) == (Reason.TLS_FAILED, b"")
    assert "certificate" in fetched.detail
    assert server.requests == []


@pytest.mark.parametrize(("host", "reason"), [("example.test", Reason.OK), ("other.test", Reason.TLS_FAILED)])
def test_a_verified_certificate_must_be_known_and_name_the_host(open_browser, serve, tls, certificate, host, reason):
    browser = open_browser(verify_tls=True, ca_file=str(certificate))
    assert browser.get(serve(tls=tls).url(host=host, scheme="https")).reason == reason


def test_plain_http_on_a_tls_port_is_a_tls_failure(browser, serve):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        results = []
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/"
        browser.client.fetch(url, address="127.0.0.1", done=results.append)
        browser.loop.run(browser.client, lambda: browser.loop.selector.get_map())
        accepted, _ = listener.accept()
        with accepted:
            accepted.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            browser.loop.run(browser.client, lambda: results)
    assert results[0].reason == Reason.TLS_FAILED
    assert results[0].detail


# Concurrency, abort and close


@pytest.mark.parametrize("secure", [False, True])
def test_idle_connections_are_bounded_and_leave_no_watched_socket(open_browser, serve, tls, secure):
    browser = open_browser(keep_idle=2)
    options = {"tls": tls} if secure else {}
    servers = [serve(**options) for _ in range(6)]
    urls = [server.url(scheme="https" if secure else "http") for server in servers]
    assert all(browser.get(url).body == b"ok" for url in urls)
    assert browser.get(urls[0]).connected
    assert not browser.get(urls[-1]).connected
    assert not browser.loop.lost


def test_no_connection_is_kept_if_none_may_be(open_browser, serve):
    browser, server = open_browser(keep_idle=0), serve()
    assert [browser.get(server.url()).connected for _ in range(2)] == [True, True]


def test_two_hundred_fetches_run_at_once(browser, serve):
    body = b"x" * 30_000
    server = serve(HEAD + b"Content-Length: 30000\r\n\r\n" + body)
    results = []
    for number in range(200):
        host = f"host{number}.test"
        browser.client.fetch(server.url("/", host=host), address="127.0.0.1", done=results.append)
    assert browser.client.active == 200
    browser.loop.run(browser.client, lambda: len(results) == 200)
    assert all((fetched.reason, fetched.body) == (Reason.OK, body) for fetched in results)
    assert len({fetched.url for fetched in results}) == 200
    assert (browser.client.active, browser.client.bytes_in_flight) == (0, 0)


def test_bytes_in_flight_are_those_of_running_transfers(browser, serve):
    server = serve(HEAD + b"Content-Length: 999\r\n\r\n" + b"x" * 500, Act.SILENCE)
    results = []
    for _ in range(2):
        browser.client.fetch(server.url(), address="127.0.0.1", done=results.append)
    browser.loop.run(browser.client, lambda: browser.client.bytes_in_flight == 1000)
    browser.client.abort_all()
    assert browser.client.bytes_in_flight == 0
    assert [len(fetched.body) for fetched in results] == [500, 500]


def test_abort_ends_all_with_the_given_reason(browser, serve):
    server = serve(Act.SILENCE)
    results = []
    for _ in range(3):
        browser.client.fetch(server.url(), address="127.0.0.1", done=results.append)
    browser.loop.run(browser.client, lambda: len(server.requests) == 3)
    browser.client.abort_all(Reason.TIMEOUT)
    assert [fetched.reason for fetched in results] == [Reason.TIMEOUT] * 3
    assert browser.client.active == 0
    assert browser.get(server.url("/other")).reason == Reason.OK
    assert len(results) == 3


def test_close_ends_what_runs_and_what_was_refused(open_browser, serve):
    browser, server, results = open_browser(), serve(Act.SILENCE), []
    browser.client.fetch(server.url(), address="127.0.0.1", done=results.append)
    browser.client.fetch("gopher://a.test/", address="127.0.0.1", done=results.append)
    browser.client.close()
    assert sorted(fetched.reason for fetched in results) == [Reason.STOPPED, Reason.FETCH_ERROR]
    browser.client.fetch(server.url(), address="127.0.0.1", done=results.append)
    browser.loop.run(browser.client, lambda: len(results) == 3)
    assert results[2].reason == Reason.STOPPED


def test_a_result_that_cannot_be_taken_harms_no_other(browser, serve, caplog):
    server, results = serve(), []

    def fail(fetched):
        raise RuntimeError("no room")

    browser.client.fetch(server.url("/bad", host="bad.test"), address="127.0.0.1", done=fail)
    browser.client.fetch(server.url("/good"), address="127.0.0.1", done=results.append)
    with caplog.at_level(logging.ERROR):
        browser.loop.run(browser.client, lambda: results and not browser.client.active)
    assert results[0].body == b"ok"
    assert [record.exc_info[1].args for record in caplog.records] == [("no room",)]
    assert "/bad" in caplog.text
    assert browser.get(server.url()).body == b"ok"


def test_a_result_may_start_the_next_fetch_or_end_all(browser, serve):
    server, results = serve(answers={"/silent": [Act.SILENCE]}), []

    def then_end(fetched):
        results.append(fetched)
        browser.client.abort_all()

    def then_next(fetched):
        results.append(fetched)
        browser.client.fetch(server.url("/2"), address="127.0.0.1", done=then_end)

    browser.client.fetch(server.url("/silent"), address="127.0.0.1", done=results.append)
    browser.client.fetch(server.url("/1"), address="127.0.0.1", done=then_next)
    browser.loop.run(browser.client, lambda: len(results) == 3)
    assert [fetched.reason for fetched in results] == [Reason.OK, Reason.OK, Reason.STOPPED]


def test_a_finished_body_is_not_held_by_the_client(browser, serve):
    fetched = browser.get(serve(HEAD + b"Content-Length: 3\r\n\r\nabc").url())
    assert [holder for holder in gc.get_referrers(fetched.body) if holder is not fetched] == []


def test_a_process_suspended_beyond_the_time_limit_sends_nothing(browser, serve):
    server, results = serve(), []
    browser.client.fetch(server.url(), address="127.0.0.1", done=results.append)
    browser.client.timeout()  # it begins to connect
    browser.slept = LIMITS.timeout + 1
    while not results:
        for key, _ in browser.loop.selector.select(5):
            browser.client.socket_ready(key.fd, readable=False, writable=True)
    assert not results[0].was_sent
    assert server.requests == []
