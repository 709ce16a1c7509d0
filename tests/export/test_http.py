"""The HTTP client retries, waits or gives up when an engine does not answer as it should."""

from __future__ import annotations

import socket
import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from crawler.errors import BadInput
from crawler.export.http import AUTHORIZATION, EngineClient, HttpOptions, excerpt, parse_address, without_password
from crawler.export.sink import SinkDown
from tests.export.engines import Fault, Faults, OpenSearchServer

EXAMPLE = "http://127.0.0.1:9200/pages"
WITHOUT_JITTER = HttpOptions(jitter=lambda: 1.0)


@pytest.fixture(autouse=True)
def no_credentials_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(AUTHORIZATION, raising=False)


@contextmanager
def connected(
    faults: Faults, options: HttpOptions = WITHOUT_JITTER, where: Callable[[str], str] = str
) -> Iterator[tuple[EngineClient, OpenSearchServer, list[float]]]:
    """A client, its server, and the waits of the client in seconds."""
    waits: list[float] = []
    server = OpenSearchServer(faults)
    with (
        server.running(),
        closing(
            EngineClient(parse_address(where(server.where), "opensearch", EXAMPLE), waits.append, options)
        ) as client,
    ):
        yield client, server, waits


def test_waits_double_after_each_failure() -> None:
    with connected(Faults(next=[Fault.AWAY] * 5)) as (client, server, waits):
        assert client.send("HEAD", "/pages", expected=(404,)).status == 404
        assert len(server.requests) == 6
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0]


def test_jitter_takes_up_to_half_of_a_wait() -> None:
    with connected(Faults(next=[Fault.AWAY] * 3), HttpOptions(jitter=lambda: 0.0)) as (client, _, waits):
        client.send("HEAD", "/pages", expected=(404,))
    assert waits == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("status", [429, 502, 503, 504, 507])
def test_after_the_last_attempt_the_error_says_what_where_and_what_to_do(status: int) -> None:
    with (
        connected(Faults(next=[Fault.AWAY] * 99, status=status)) as (client, server, waits),
        pytest.raises(
            SinkDown, match=rf"^{server.where}: it answers {status}; tried 8 times\. All that .* export again\.$"
        ),
    ):
        client.send("HEAD", "/pages")
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]


@pytest.mark.parametrize(
    ("retry_after", "waited"), [("30", 30.0), ("0", 1.0), ("soon", 1.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 1.0)]
)
def test_retry_after_can_lengthen_a_wait(retry_after: str, waited: float) -> None:
    with connected(Faults(next=[Fault.AWAY], retry_after=retry_after)) as (client, _, waits):
        client.send("HEAD", "/pages", expected=(404,))
    assert waits == [waited]


def test_a_very_long_retry_after_is_not_waited_for() -> None:
    with (
        connected(Faults(next=[Fault.AWAY], retry_after="3600")) as (client, _, waits),
        pytest.raises(SinkDown, match="come back in 3600 seconds"),
    ):
        client.send("HEAD", "/pages")
    assert waits == []


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.CUT, Fault.HELD])
def test_a_request_whose_answer_was_lost_is_sent_again(fault: Fault) -> None:
    options = HttpOptions(jitter=lambda: 1.0, read=0.2)
    with connected(Faults(next=[fault]), options) as (client, server, waits):
        answer = client.send("PUT", "/pages", b'{"mappings": {"properties": {}}}')
        assert (answer.status, b"already_exists" in answer.body) == (400, True)
        assert len(server.requests) == 2
    assert waits == [1.0]


def test_a_refused_connection_is_an_error_after_all_attempts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    waits: list[float] = []
    place = parse_address(f"http://127.0.0.1:{port}/pages", "opensearch", EXAMPLE)
    with (
        closing(EngineClient(place, waits.append, HttpOptions(attempts=3))) as client,
        pytest.raises(SinkDown, match="no connection \\(Connection refused\\); tried 3 times"),
    ):
        client.send("HEAD", "/pages")
    assert len(waits) == 2


@pytest.mark.parametrize(
    ("method", "path", "faults", "why"),
    [
        (
            "GET",
            "/pages/_bulk",
            Faults(authorization="Bearer x"),
            "authentication is required .401.*ORBWEAVER_EXPORT_AUTH",
        ),
        ("HEAD", "/pages", Faults(), "nothing by this name .404"),
        ("HEAD", "/pages", Faults(next=[Fault.AWAY], status=403), "lacks permission"),
        ("HEAD", "/pages", Faults(next=[Fault.AWAY], status=302), "redirects .302"),
    ],
)
def test_permanent_errors_are_not_retried(method: str, path: str, faults: Faults, why: str) -> None:
    with connected(faults) as (client, server, waits), pytest.raises(SinkDown, match=why):
        client.send(method, path)
    assert waits == []
    assert len(server.requests) == 1


def test_one_connection_serves_many_requests() -> None:
    with connected(Faults()) as (client, server, _):
        for _ in range(5):
            client.send("HEAD", "/pages", expected=(404,))
            client.send("GET", "/_all")
        assert len({request.port for request in server.requests}) == 1


def test_bodies_are_compressed_on_request() -> None:
    body = b'{"mappings": {"properties": {}}}'
    with connected(Faults(), HttpOptions(compress=True)) as (client, server, _):
        assert client.send("PUT", "/pages", body).status == 200
        assert server.requests[0].headers["Content-Encoding"] == "gzip"
        assert server.requests[0].body == body


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1; key and certificate in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "engine")])
    builder = x509.CertificateBuilder(subject_name=name, issuer_name=name, public_key=key.public_key())
    addresses = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    builder = builder.serial_number(1).add_extension(addresses, critical=False)
    builder = builder.not_valid_before(datetime(2020, 1, 1, tzinfo=UTC)).not_valid_after(
        datetime(2120, 1, 1, tzinfo=UTC)
    )
    path = tmp_path_factory.mktemp("tls") / "engine.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.mark.parametrize("is_trusted", [True, False])
def test_nothing_is_sent_to_an_engine_without_a_trusted_certificate(
    is_trusted: bool, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server, waits = OpenSearchServer(), list[float]()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    place = parse_address(server.where.replace("http:", "https:"), "opensearch", EXAMPLE)
    with server.running(), closing(EngineClient(place, waits.append, HttpOptions())) as client:
        if is_trusted:
            assert client.send("GET", "/_all").status == 200
        else:
            with pytest.raises(SinkDown, match=r"its certificate is not trusted \(self.signed certificate\)"):
                client.send("GET", "/_all")
    assert len(server.requests) == is_trusted
    assert waits == []


def basic(user_and_password: str) -> str:
    return "Basic " + b64encode(user_and_password.encode()).decode()


@pytest.mark.parametrize(
    ("in_url", "in_environment", "header"),
    [
        ("me:p%40ss@", "", basic("me:p@ss")),
        ("", "me:p:ss", basic("me:p:ss")),
        ("me:other@", "me:pass", basic("me:pass")),
        ("", "Bearer abc", "Bearer abc"),
        ("", "ApiKey abc==\n", "ApiKey abc=="),
    ],
)
def test_credentials_are_sent_to_the_engine_and_never_shown(
    in_url: str, in_environment: str, header: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(AUTHORIZATION, in_environment)
    faults = Faults(authorization=header)
    with connected(faults, where=lambda where: where.replace("//", f"//{in_url}")) as (client, server, _):
        with pytest.raises(SinkDown, match="404") as raised:
            client.send("HEAD", "/pages")
        assert server.requests[0].headers["Authorization"] == header
    for secret in ("me:", "p@ss", "p%40ss", "p:ss", "abc", header):
        assert secret not in str(raised.value)
    assert header not in repr(parse_address(f"http://{in_url}a.example/b", "opensearch", EXAMPLE))


@pytest.mark.parametrize(
    "where",
    [
        *(
            "",
            "pages",
            "127.0.0.1:9200/pages",
            "ftp://a.example/pages",
            "http:///pages",
            "http://a.example",
            "http://a.example/",
        ),
        *(
            "http://a.example:99999/pages",
            "http://[::1/pages",
            "http://a b/pages",
            "http://a.example/pages?x",
            "http://me:secret@/x",
            "http://me:/secret@a.example/x",
        ),
    ],
)
def test_the_error_for_a_bad_place_gives_an_example(where: str) -> None:
    with pytest.raises(BadInput, match=r"no place for opensearch\. .* such as opensearch:http://127") as raised:
        parse_address(where, "opensearch", EXAMPLE)
    assert "secret" not in str(raised.value)


def test_a_bad_authorization_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(AUTHORIZATION, "secret")
    with pytest.raises(BadInput, match=f"^{AUTHORIZATION}: neither") as raised:
        parse_address(EXAMPLE, "opensearch", EXAMPLE)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("where", "shown"),
    [
        ("opensearch:http://me:secret@a.example/b", "opensearch:http://a.example/b"),
        ("http://me:s/e?c#r@e:t@a.example/b", "http://a.example/b"),
        ("vespa:http://a.example/b/c", "vespa:http://a.example/b/c"),
    ],
)
def test_a_place_is_shown_without_its_password(where: str, shown: str) -> None:
    assert without_password(where) == shown


def test_an_excerpt_of_an_answer_is_one_short_line() -> None:
    assert excerpt(b"a\x1b[31m\r\nb\xff" + b"c" * 10_000) == "a [31m b\ufffd" + "c" * 491
