"""What becomes of a request when the engine does not answer as it should."""

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
from crawler.export.http import AUTHORIZATION, EngineClient, HttpOptions, place_of, plain, without_password
from crawler.export.sink import SinkDown
from tests.export.engines import Fault, Faults, OpenSearchServer

EXAMPLE = "http://127.0.0.1:9200/pages"
WITHOUT_LUCK = HttpOptions(jitter=lambda: 1.0)


@pytest.fixture(autouse=True)
def nobody_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(AUTHORIZATION, raising=False)


@contextmanager
def asking(
    faults: Faults, options: HttpOptions = WITHOUT_LUCK, where: Callable[[str], str] = str
) -> Iterator[tuple[EngineClient, OpenSearchServer, list[float]]]:
    """A client, its server, and how long it has waited."""
    waits: list[float] = []
    server = OpenSearchServer(faults)
    with (
        server.running(),
        closing(EngineClient(place_of(where(server.where), "opensearch", EXAMPLE), waits.append, options)) as client,
    ):
        yield client, server, waits


def test_what_passes_is_waited_for_longer_each_time() -> None:
    with asking(Faults(next=[Fault.AWAY] * 5)) as (client, server, waits):
        assert client.send("HEAD", "/pages", fine=(404,)).status == 404
        assert len(server.asked) == 6
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0]


def test_chance_takes_up_to_half_of_a_wait() -> None:
    with asking(Faults(next=[Fault.AWAY] * 3), HttpOptions(jitter=lambda: 0.0)) as (client, _, waits):
        client.send("HEAD", "/pages", fine=(404,))
    assert waits == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("status", [429, 502, 503, 504, 507])
def test_after_the_last_attempt_it_is_told_what_where_and_what_to_do(status: int) -> None:
    with (
        asking(Faults(next=[Fault.AWAY] * 99, status=status)) as (client, server, waits),
        pytest.raises(
            SinkDown, match=rf"^{server.where}: it answers {status}; tried 8 times\. All that .* export again\.$"
        ),
    ):
        client.send("HEAD", "/pages")
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]


@pytest.mark.parametrize(
    ("asked", "waited"), [("30", 30.0), ("0", 1.0), ("soon", 1.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 1.0)]
)
def test_an_engine_may_ask_for_more_patience(asked: str, waited: float) -> None:
    with asking(Faults(next=[Fault.AWAY], retry_after=asked)) as (client, _, waits):
        client.send("HEAD", "/pages", fine=(404,))
    assert waits == [waited]


def test_nobody_waits_an_hour_for_an_engine() -> None:
    with (
        asking(Faults(next=[Fault.AWAY], retry_after="3600")) as (client, _, waits),
        pytest.raises(SinkDown, match="come back in 3600 seconds"),
    ):
        client.send("HEAD", "/pages")
    assert waits == []


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.CUT, Fault.HELD])
def test_a_lost_answer_is_asked_for_again(fault: Fault) -> None:
    options = HttpOptions(jitter=lambda: 1.0, read=0.2)
    with asking(Faults(next=[fault]), options) as (client, server, waits):
        answer = client.send("PUT", "/pages", b'{"mappings": {"properties": {}}}')
        assert (answer.status, b"already_exists" in answer.body) == (400, True)
        assert len(server.asked) == 2
    assert waits == [1.0]


def test_nobody_there_is_told_after_all_attempts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    waits: list[float] = []
    place = place_of(f"http://127.0.0.1:{port}/pages", "opensearch", EXAMPLE)
    with (
        closing(EngineClient(place, waits.append, HttpOptions(attempts=3))) as client,
        pytest.raises(SinkDown, match="no connection \\(Connection refused\\); tried 3 times"),
    ):
        client.send("HEAD", "/pages")
    assert len(waits) == 2


@pytest.mark.parametrize(
    ("method", "path", "faults", "why"),
    [
        ("GET", "/pages/_bulk", Faults(authorization="Bearer x"), "does not know who asks .401.*ORBWEAVER_EXPORT_AUTH"),
        ("HEAD", "/pages", Faults(), "nothing by this name .404"),
        ("HEAD", "/pages", Faults(next=[Fault.AWAY], status=403), "forbids"),
        ("HEAD", "/pages", Faults(next=[Fault.AWAY], status=302), "sends us elsewhere .302"),
    ],
)
def test_what_stays_wrong_is_told_at_once(method: str, path: str, faults: Faults, why: str) -> None:
    with asking(faults) as (client, server, waits), pytest.raises(SinkDown, match=why):
        client.send(method, path)
    assert waits == []
    assert len(server.asked) == 1


def test_one_connection_serves_many_requests() -> None:
    with asking(Faults()) as (client, server, _):
        for _ in range(5):
            client.send("HEAD", "/pages", fine=(404,))
            client.send("GET", "/_all")
        assert len({asked.port for asked in server.asked}) == 1


def test_bodies_are_packed_if_that_is_wanted() -> None:
    body = b'{"mappings": {"properties": {}}}'
    with asking(Faults(), HttpOptions(compress=True)) as (client, server, _):
        assert client.send("PUT", "/pages", body).status == 200
        assert server.asked[0].headers["Content-Encoding"] == "gzip"
        assert server.asked[0].body == body


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For 127.0.0.1, signed by nobody else; key and certificate in one file."""
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
def test_only_an_engine_with_a_certificate_that_is_trusted_hears_anything(
    is_trusted: bool, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server, waits = OpenSearchServer(), list[float]()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    place = place_of(server.where.replace("http:", "https:"), "opensearch", EXAMPLE)
    with server.running(), closing(EngineClient(place, waits.append, HttpOptions())) as client:
        if is_trusted:
            assert client.send("GET", "/_all").status == 200
        else:
            with pytest.raises(SinkDown, match=r"its certificate is not trusted \(self.signed certificate\)"):
                client.send("GET", "/_all")
    assert len(server.asked) == is_trusted
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
def test_who_asks_is_told_to_the_engine_and_nobody_else(
    in_url: str, in_environment: str, header: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(AUTHORIZATION, in_environment)
    faults = Faults(authorization=header)
    with asking(faults, where=lambda where: where.replace("//", f"//{in_url}")) as (client, server, _):
        with pytest.raises(SinkDown, match="404") as told:
            client.send("HEAD", "/pages")
        assert server.asked[0].headers["Authorization"] == header
    for secret in ("me:", "p@ss", "p%40ss", "p:ss", "abc", header):
        assert secret not in str(told.value)
    assert header not in repr(place_of(f"http://{in_url}a.example/b", "opensearch", EXAMPLE))


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
def test_a_bad_place_is_told_with_an_example(where: str) -> None:
    with pytest.raises(BadInput, match=r"no place for opensearch\. .* such as opensearch:http://127") as told:
        place_of(where, "opensearch", EXAMPLE)
    assert "secret" not in str(told.value)


def test_a_bad_authorization_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(AUTHORIZATION, "secret")
    with pytest.raises(BadInput, match=f"^{AUTHORIZATION}: neither") as told:
        place_of(EXAMPLE, "opensearch", EXAMPLE)
    assert "secret" not in str(told.value)


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


def test_what_an_engine_says_stays_on_one_short_line() -> None:
    assert plain(b"a\x1b[31m\r\nb\xff" + b"c" * 10_000) == "a [31m b\ufffd" + "c" * 491
