"""The server sends a real client what the web defines, and logs it."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from http.client import HTTPConnection, HTTPResponse, IncompleteRead
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import pytest

from tests.webgraph.generate import ROBOTS, Web
from tests.webgraph.log import Entry
from tests.webgraph.server import Served, listeners

KWARGS = {
    "seed": 5,
    "hosts": 12,
    "pages": 200,
    "shared_addresses": 2,
    "latency": 0.004,
    "slow": 0.06,
    "error_share": 0.2,
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served({**KWARGS, "slow_share": 0.1}, tmp_path_factory.mktemp("web")) as running:
        yield running


@pytest.fixture
def client(served: Served) -> Iterator[Client]:
    with Client(served.web) as asking:
        yield asking


class Client:
    """A client that keeps one connection per host."""

    def __init__(self, web: Web):
        self._web = web
        self._connections: dict[str, HTTPConnection] = {}

    def get(self, url: str, method: str = "GET") -> tuple[HTTPResponse, bytes]:
        response = self.begin(url, method)
        return response, response.read()

    def begin(self, url: str, method: str = "GET") -> HTTPResponse:
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection = self.connection(parts.hostname or "")
        connection.request(method, target, headers={"Host": parts.netloc, "User-Agent": "tester"})
        return connection.getresponse()

    def connection(self, host: str) -> HTTPConnection:
        address = self._web.addresses()[host]
        return self._connections.setdefault(host, HTTPConnection(address, self._web.port, timeout=20))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections.values():
            connection.close()


def raw(web: Web, url: str) -> socket.socket:
    """Return a connection on which the URL has been requested."""
    host, target = host_and_target(url)
    connection = socket.create_connection((web.addresses()[host], web.port), timeout=20)
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}:{web.port}\r\n\r\n".encode())
    return connection


def host_and_target(url: str) -> tuple[str, str]:
    netloc, _, target = url.removeprefix("http://").partition("/")
    return netloc.partition(":")[0], f"/{target}"


def pages(served: Served, wanted: Callable[[str], bool]) -> list[str]:
    found = [url for url in served.web.urls() if wanted(url)]
    assert found, "the web is too small to have such a page"
    return found


def behaves(served: Served, behaviour: str) -> str:
    """Return a page that has this behaviour and never fails."""

    def wanted(url: str) -> bool:
        return not served.web.flaky(url)[1] and served.web.answer(*host_and_target(url), 1).behaviour == behaviour

    return pages(served, wanted)[0]


def entries(served: Served, url: str) -> list[Entry]:
    return [entry for entry in served.log() if entry.url == url]


def decoded(response: HTTPResponse, body: bytes) -> bytes:
    return gzip.decompress(body) if response.headers["Content-Encoding"] == "gzip" else body


def test_every_page_arrives_with_its_digest_once_its_failures_are_over(tmp_path: Path) -> None:
    with Served({**KWARGS, "slow_share": 0.0, "latency": 0.0}, tmp_path) as own, Client(own.web) as client:
        for url in own.web.urls():
            for _ in range(own.web.flaky(url)[1]):
                fail(client, url)
            response, body = client.get(url)
            assert response.status == 200
            assert sha256(decoded(response, body)).hexdigest() == own.web.digest(url)
        whole = [entry for entry in own.log() if entry.status == 200 and entry.behaviour != "short"]
        assert {entry.url: entry.attempt for entry in whole} == {
            url: own.web.flaky(url)[1] + 1 for url in own.web.urls()
        }


def fail(client: Client, url: str) -> None:
    try:
        response, _ = client.get(url)
    except (ConnectionResetError, IncompleteRead):
        client.connection(urlsplit(url).hostname or "").close()
    else:
        assert response.status in (500, 503)


def test_encoded_pages_name_their_encoding(served: Served, client: Client) -> None:
    assert client.get(behaves(served, "gzip"))[0].headers["Content-Encoding"] == "gzip"
    chunked, body = client.get(behaves(served, "chunked"))
    assert chunked.headers["Transfer-Encoding"] == "chunked"
    assert chunked.headers["Content-Length"] is None
    assert body == served.web.body(behaves(served, "chunked"))


def test_a_reset_breaks_the_connection_before_the_first_byte(served: Served) -> None:
    url = pages(served, lambda url: served.web.flaky(url)[0] == "reset")[0]
    with raw(served.web, url) as connection, pytest.raises(ConnectionResetError):
        connection.recv(1)
    [entry] = entries(served, url)
    assert (entry.status, entry.behaviour, entry.bytes) == (0, "reset", 0)


def test_a_short_answer_ends_before_its_length(served: Served, client: Client) -> None:
    url = pages(served, lambda url: served.web.flaky(url)[0] == "short")[0]
    with pytest.raises(IncompleteRead) as caught:
        client.get(url)
    promised = served.web.answer(*host_and_target(url), 1).body
    assert caught.value.partial == promised[: len(promised) // 2]
    assert not entries(served, url)[0].is_complete


def test_a_slow_answer_takes_the_configured_time(served: Served, client: Client) -> None:
    url = behaves(served, "slow")
    assert client.get(url)[1] == decoded_body(served, url)
    [entry] = entries(served, url)
    assert entry.t1 - entry.t0 >= served.web.slow * 0.99


def decoded_body(served: Served, url: str) -> bytes:
    return served.web.answer(*host_and_target(url), 9).body


def test_the_retry_after_of_a_503_is_sent_and_logged(served: Served, client: Client) -> None:
    url = pages(served, lambda url: served.web.flaky(url)[0] == "503")[0]
    response, _ = client.get(url)
    assert (response.status, response.headers["Retry-After"]) == (503, "1")
    assert entries(served, url)[0].retry_after == 1.0


def test_redirects_and_missing_pages_have_their_statuses(served: Served, client: Client) -> None:
    for url in served.web.redirects():
        response, _ = client.get(url)
        assert response.status in (301, 302, 307)
        assert response.headers["Location"] is not None
    for url, status in served.web.missing().items():
        assert client.get(url)[0].status == status


def test_a_busy_robots_file_is_served_after_some_503s(served: Served, client: Client) -> None:
    urls = [front.rstrip("/") + ROBOTS for front in served.web.seeds()]
    statuses = [[client.get(url)[0].status for _ in range(3)] for url in urls]
    assert [503, 200, 200] in statuses or [503, 503, 200] in statuses
    assert [404, 404, 404] in statuses
    assert [301, 301, 301] in statuses


def test_head_sends_no_body(served: Served, client: Client) -> None:
    url = behaves(served, "normal")
    response, body = client.get(url, "HEAD")
    assert body == b""
    assert int(response.headers["Content-Length"]) == len(served.web.body(url))
    assert entries(served, url)[-1].method == "HEAD"


def test_a_connection_serves_many_requests(served: Served, client: Client) -> None:
    front = served.web.seeds()[0]
    for _ in range(3):
        client.get(front)
    last = entries(served, front)[-3:]
    assert len({entry.connection for entry in last}) == 1
    assert {entry.agent for entry in last} == {"tester"}
    assert [entry.attempt for entry in last] == list(range(last[0].attempt, last[0].attempt + 3))


def test_the_server_closes_a_connection_when_the_client_requests_it(served: Served) -> None:
    host, _ = host_and_target(served.web.seeds()[0])
    request = f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    assert exchange(served, host, request.encode()).endswith(b"</html>\n")


def exchange(served: Served, host: str, request: bytes) -> bytes:
    """Send a request; return all bytes until the server closes the connection."""
    with socket.create_connection((served.web.addresses()[host], served.web.port), timeout=20) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_pipelined_requests_are_logged_as_overlapping(served: Served) -> None:
    host, _ = host_and_target(served.web.seeds()[0])
    request = f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\nGET /p/999 HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    assert exchange(served, host, request.encode()).count(b"HTTP/1.1 ") == 2
    first, second = served.log()[-2:]
    assert (first.target, second.target) == ("/", "/p/999")
    assert second.t0 < first.t1


@pytest.mark.parametrize("name", ["elsewhere.invalid", "h011.site1.test", ""])
def test_a_host_of_another_address_is_answered_with_421(served: Served, name: str) -> None:
    request = f"GET / HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n"
    assert exchange(served, "h000.site0.test", request.encode()).startswith(b"HTTP/1.1 421 ")


@pytest.mark.parametrize(
    "line",
    ["POST / HTTP/1.1", "GET http://h000.site0.test/ HTTP/1.1", "nonsense", "GET / HTTP/1.1\r\nContent-Length: 3"],
)
def test_a_request_that_is_no_plain_get_is_refused(served: Served, line: str) -> None:
    request = f"{line}\r\nHost: h000.site0.test\r\n\r\n"
    assert exchange(served, "h000.site0.test", request.encode()).startswith(b"HTTP/1.1 400 ")


def test_every_address_serves_its_hosts_on_the_one_port(served: Served, client: Client) -> None:
    addresses = served.web.addresses()
    assert len(set(addresses.values())) == 6
    for front in served.web.seeds():
        assert client.get(front)[0].status == 200
        assert entries(served, front)[-1].address == addresses[urlsplit(front).hostname or ""]
    lines = [line.split() for line in served.hosts_file.read_text().splitlines()]
    assert {host: address for address, host in lines} == addresses


def test_logged_times_are_within_those_of_the_client(served: Served, client: Client) -> None:
    for front in served.web.seeds():
        before = time.monotonic()
        client.get(front)
        after = time.monotonic()
        entry = entries(served, front)[-1]  # already there: the line comes before the end of the answer
        assert before <= entry.t0 <= entry.t1 <= after
        latency = served.web.answer(*host_and_target(front), 1).delay
        assert entry.t1 - entry.t0 >= latency - 0.002  # a timer may fire a moment early


def test_lines_are_numbered_without_a_gap(served: Served, client: Client) -> None:
    client.get(served.web.seeds()[0])
    assert [entry.n for entry in served.log()] == list(range(1, len(served.log()) + 1))


def test_a_connection_without_a_request_leaves_no_line(served: Served, client: Client) -> None:
    host, _ = host_and_target(served.web.seeds()[0])
    lines = len(served.log())
    with socket.create_connection((served.web.addresses()[host], served.web.port)):
        pass
    client.get(served.web.seeds()[0])
    assert len(served.log()) == lines + 1


def test_a_client_that_disconnects_during_the_answer_is_logged_as_aborted(tmp_path: Path) -> None:
    with Served(
        {"seed": 1, "hosts": 1, "pages": 1, "coded_share": 0.0, "slow_share": 1.0, "slow": 3.0}, tmp_path
    ) as own:
        with raw(own.web, own.web.seeds()[0]) as connection:
            assert connection.recv(16)
        entry = first_entry(own)
        assert entry.aborted
        assert entry.status == 200
        assert 0 < entry.t1 - entry.t0 < 3.0


def test_a_client_that_does_not_read_to_the_end_is_logged_as_aborted(tmp_path: Path) -> None:
    # More than the system's buffers hold, so that the server notices that the end is not read.
    with Served(
        {"seed": 1, "hosts": 1, "pages": 1, "coded_share": 0.0, "slow_share": 0.0, "page_bytes": 24_000_000}, tmp_path
    ) as own:
        with raw(own.web, own.web.seeds()[0]) as connection:
            assert connection.recv(16)
        assert first_entry(own).aborted


def test_a_large_answer_arrives_whole(tmp_path: Path) -> None:
    with Served({"seed": 1, "hosts": 1, "pages": 1, "coded_share": 0.0, "page_bytes": 3_000_000}, tmp_path) as own:
        with Client(own.web) as client:
            assert client.get(own.web.seeds()[0])[1] == own.web.body(own.web.seeds()[0])
        assert first_entry(own).is_complete


def first_entry(served: Served) -> Entry:
    """Wait for the first line of the log, and return it."""
    while not served.log():
        time.sleep(0.01)
    return served.log()[0]


def test_after_the_end_neither_process_nor_listener_remains(tmp_path: Path) -> None:
    with Served({"seed": 1, "hosts": 2, "pages": 4}, tmp_path) as own:
        pid, web = own.pid, own.web
        socket.create_connection((web.addresses()["h000.site0.test"], web.port)).close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((web.addresses()["h000.site0.test"], web.port))
    own.stop()


def test_a_restarted_server_has_the_same_port_and_appends_to_the_log(tmp_path: Path) -> None:
    own = Served({"seed": 1, "hosts": 2, "pages": 4}, tmp_path)
    ports = []
    for _ in range(2):
        with own, Client(own.web) as client:
            client.get(own.web.seeds()[0])
            ports.append(own.web.port)
    assert ports[0] == ports[1]
    assert len(own.log()) == 2


@pytest.mark.parametrize("how", ["SIGTERM", "end of input"])
def test_the_server_ends_on_sigterm_and_at_the_end_of_its_input(tmp_path: Path, how: str) -> None:
    with start(tmp_path) as process:
        assert process.stdin
        assert process.stdout
        assert json.loads(process.stdout.readline())["pid"] == process.pid
        if how == "SIGTERM":
            process.send_signal(signal.SIGTERM)
        else:
            process.stdin.close()
        assert process.wait(20) == 0


def start(directory: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.webgraph", "--seed=1", "--hosts=2", "--pages=4", "--port=0", *options]
    pipe = subprocess.PIPE
    root = Path(__file__).parents[2]
    command.append(f"--log={directory / 'log'}")
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=root)


def test_a_taken_port_is_refused() -> None:
    [taken] = listeners(["127.10.0.1"], 0)
    with taken, pytest.raises(OSError, match="in use"):
        listeners(["127.10.0.2", "127.10.0.1"], taken.getsockname()[1])


def test_a_free_port_is_free_on_all_addresses() -> None:
    opened = listeners([f"127.10.7.{place}" for place in range(1, 20)], 0)
    assert len({one.getsockname()[1] for one in opened}) == 1
    for one in opened:
        one.close()


def test_a_web_that_cannot_be_served_raises_an_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    [taken] = listeners(["127.10.0.1"], 0)
    with taken, pytest.raises(RuntimeError, match="did not start"):
        Served({"seed": 1, "hosts": 1, "pages": 1, "port": taken.getsockname()[1]}, tmp_path).start()
    assert "in use" in capfd.readouterr().err


def test_an_option_that_is_neither_true_nor_false_is_refused(tmp_path: Path) -> None:
    with start(tmp_path, "--robots=perhaps") as process:
        assert process.stderr
        assert "True or False" in process.stderr.read()
        assert process.wait(20) == 2
