"""The WARC records of a visit, read back by independent readers."""

from __future__ import annotations

import base64
import doctest
import gzip
import hashlib
import io
import subprocess
import sys
import zlib
from pathlib import Path
from random import Random
from typing import Any
from uuid import RFC_4122, UUID

import fastwarc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from crawler.archive import records as archive_records
from crawler.archive.records import facts_record, visit_records, warcinfo_record
from crawler.items import Fetched, Kind, Link, Page, Reason, WarcRecord
from tests.samples import NOW, answer, link, visit_to

URL = "http://a.test/page"
REQUEST = b"GET /page HTTP/1.1\r\nHost: a.test\r\nX-Odd:  two  spaces\xff \r\n\r\n"


def head(*lines: str, status: str = "200 OK", end: str = "\r\n") -> bytes:
    return end.join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


HTML = head("Content-Type: text/html")
PACKED = gzip.compress(b"<p>Hello", mtime=0)
CHUNKED = b"8\r\n<p>Hello\r\n0\r\n\r\n"
PACKED_IN_CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(PACKED), PACKED)
BODIES: dict[str, dict[str, Any]] = {
    "with a length": {"head": head("Content-Length: 8"), "body": b"<p>Hello"},
    "until the end": {"head": HTML, "body": b"<p>Hello"},
    "in chunks": {"head": head("Transfer-Encoding: chunked"), "body": CHUNKED},
    "packed": {"head": head("Content-Encoding: gzip"), "body": PACKED},
    "packed in chunks": {
        "head": head("Content-Encoding: gzip", "Transfer-Encoding: chunked"),
        "body": PACKED_IN_CHUNKS,
    },
    "empty": {"head": head("Content-Length: 0"), "body": b""},
    "without headers": {"head": head(), "body": b"x"},
    "with bare line feeds": {"head": head("Content-Type: text/html", end="\n"), "body": b"<p>Hello"},
    "all bytes": {"head": head("Content-Type: image/x"), "body": bytes(range(256)) * 20},
    "looks like a record": {"head": HTML, "body": b"\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n\r\n"},
    "redirect": {"head": head("Location: /b", status="301 Moved"), "body": b"", "status": 301},
    "cut at the size limit": {"head": head("Content-Length: 99"), "body": b"<p>He", "reason": Reason.CUT_LENGTH},
    "cut in a chunk": {
        "head": head("Transfer-Encoding: chunked"),
        "body": CHUNKED[:6],
        "reason": Reason.CUT_DISCONNECT,
    },
    "cut inside gzip": {"head": head("Content-Encoding: gzip"), "body": PACKED[:9], "reason": Reason.CUT_TIME},
}


def fetched(url: str = URL, **facts: Any) -> Fetched:
    return answer(url, **{"head": HTML, "request": REQUEST} | facts)


def records_of(*links: Link, via: str | None = None, url: str = URL, **facts: Any) -> list[WarcRecord]:
    return visit_records(visit_to(URL, via=via, depth=2), fetched(url=url, **facts), links)


def parsed(record: WarcRecord) -> tuple[list[tuple[str, str]], bytes]:
    """Parse the headers and the content block strictly by the format."""
    text = gzip.decompress(record.data)
    top, _, rest = text.partition(b"\r\n\r\n")
    version, *lines = top.split(b"\r\n")
    assert version == b"WARC/1.1"
    headers = [(name.decode(), value.decode()) for name, _, value in (line.partition(b": ") for line in lines)]
    length = int(dict(headers)["Content-Length"])
    assert rest[length:] == b"\r\n\r\n"
    return headers, rest[:length]


def by_warcio(data: bytes) -> list[tuple[str, str, bytes]]:
    """Return type, target and payload of every record, all digests checked."""
    return [
        (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), record.raw_stream.read())
        for record in ArchiveIterator(io.BytesIO(data), check_digests="raise")
    ]


def by_fastwarc(data: bytes) -> list[tuple[str, str, bytes]]:
    """Return type, target and content block of every record whose block digest is right."""
    return [
        (record.headers["WARC-Type"], record.headers["WARC-Target-URI"], record.reader.read())
        for record in fastwarc.ArchiveIterator(io.BytesIO(data), parse_http=False, verify_digests=True)
    ]


def test_an_answer_that_is_not_kept_leaves_its_digest_relevance_and_links() -> None:
    page = Page(links=[link("http://b.test/")], payload_digest=hashlib.sha1(b"body").digest(), relevance=0.125)
    record = facts_record(visit_to(URL, depth=2), fetched(body=b"body"), page)
    ((kind, url, block),) = by_fastwarc(record.data)
    assert by_warcio(record.data) == [(kind, url, block)] == [("metadata", URL, block)]
    digest = base64.b32encode(page.payload_digest).decode()
    assert block.decode().splitlines() == [
        f"payloadDigest: sha1:{digest}",
        "kind: page",
        "hopsFromSeed: 2",
        "fetchTimeMs: 100",
        "relevance: 0.1250",
        "outlink: http://b.test/ L",
    ]


@pytest.mark.parametrize("facts", BODIES.values(), ids=BODIES)
def test_other_readers_get_back_what_was_on_the_wire(facts: dict[str, Any]) -> None:
    data = b"".join(record.data for record in records_of(**facts))
    blocks, payloads = by_fastwarc(data), by_warcio(data)
    assert [kind for kind, *_ in blocks] == [kind for kind, *_ in payloads] == ["request", "response", "metadata"]
    assert {url for _, url, _ in blocks + payloads} == {URL}
    assert blocks[0][2] == REQUEST
    assert blocks[1][2] == facts["head"] + facts["body"]
    assert payloads[1][2] == facts["body"]


def test_fastwarc_finds_no_fault_with_a_file_of_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "all.warc.gz"
    records = [warcinfo_record(path.name, NOW, [("software", "Orbweaver")])]
    for what, facts in BODIES.items():
        if what != "with bare line feeds":  # FastWARC takes such a head for part of the payload
            records += records_of(**facts)
    path.write_bytes(b"".join(record.data for record in records))
    check = [sys.executable, "-m", "fastwarc.cli", "check", "-q", "-p", str(path)]
    result = subprocess.run(check, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("what", ["in chunks", "packed", "packed in chunks"])
def test_other_readers_can_undo_the_codings(what: str) -> None:
    data = b"".join(record.data for record in records_of(**BODIES[what]))
    response = next(record for record in ArchiveIterator(io.BytesIO(data)) if record.rec_type == "response")
    assert response.content_stream().read() == b"<p>Hello"


@pytest.mark.parametrize("size", [0, 1, 70_000, 300_000])
@pytest.mark.parametrize("start", [b"\x1f\x8b\x08", b"1f4\r\n\x1f\x8b\x08", b"PK\x03\x04"])
def test_a_compressed_body_is_stored_as_it_is(start: bytes, size: int) -> None:
    body = start + Random(size).randbytes(size)
    records = records_of(head=HTML, body=body)
    data = b"".join(record.data for record in records)
    assert by_fastwarc(data)[1][2] == HTML + body
    assert by_warcio(data)[1][2] == body
    assert body in data or size > 65_000  # then it is split into several blocks
    assert len(records[1].data) < len(body) + 600
    assert gzip.decompress(records[1].data).endswith(body + b"\r\n\r\n")


def test_each_record_has_a_random_id_of_its_own() -> None:
    ids = [UUID(record.id.removeprefix("<urn:uuid:").removesuffix(">")) for _ in range(20) for record in records_of()]
    assert len(set(ids)) == 60
    assert {(each.version, each.variant) for each in ids} == {(4, RFC_4122)}


def test_the_examples_are_true() -> None:
    assert doctest.testmod(archive_records).failed == 0


@pytest.mark.parametrize("body", [b"<p>", b"\x1f\x8b\x08"])
def test_each_record_is_one_gzip_member_of_its_own(body: bytes) -> None:
    for record in records_of(link("http://b.test/"), head=HTML, body=body):
        stream = zlib.decompressobj(wbits=31)
        stream.decompress(record.data)
        assert stream.eof
        assert stream.unused_data == b""


def test_request_and_metadata_belong_to_the_response() -> None:
    records = records_of()
    ids = [dict(parsed(record)[0])["WARC-Record-ID"] for record in records]
    assert [record.type for record in records] == ["request", "response", "metadata"]
    assert ids == [record.id for record in records]
    assert len(set(ids)) == 3
    concurrent = [dict(parsed(record)[0]).get("WARC-Concurrent-To") for record in records]
    assert concurrent == [ids[1], None, ids[1]]


def test_no_two_visits_share_an_id() -> None:
    ids = [record.id for _ in range(50) for record in records_of()]
    assert len(set(ids)) == len(ids)


def test_the_headers_of_a_response_record() -> None:
    headers, block = parsed(records_of(started=1_700_000_000.25, address="192.0.2.1")[1])
    named = dict(headers)
    assert len(named) == len(headers)
    assert named["WARC-Type"] == "response"
    assert named["WARC-Target-URI"] == URL
    assert named["WARC-Date"] == "2023-11-14T22:13:20.250000Z"
    assert named["WARC-IP-Address"] == "192.0.2.1"
    assert named["Content-Type"] == "application/http; msgtype=response"
    assert named["WARC-Payload-Digest"] == sha1(b"<p>Hello")
    assert named["WARC-Block-Digest"] == sha1(block)
    assert "WARC-Truncated" not in named


def sha1(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        (Reason.CUT_LENGTH, "length"),
        (Reason.CUT_DISCONNECT, "disconnect"),
        (Reason.CUT_TIME, "time"),
        (Reason.OK, None),
    ],
)
def test_a_cut_document_says_so(reason: Reason, word: str | None) -> None:
    request, response, metadata = [dict(parsed(record)[0]) for record in records_of(reason=reason)]
    assert response.get("WARC-Truncated") == word
    assert "WARC-Truncated" not in request.keys() | metadata.keys()


def test_an_unknown_address_is_left_out() -> None:
    assert "WARC-IP-Address" not in dict(parsed(records_of(address="")[1])[0])


def test_metadata_has_the_facts_that_the_answer_lacks() -> None:
    links = [link("http://b.test/", "B"), link("http://c.test/", refused=Reason.OUT_OF_SCOPE)]
    _, block = parsed(records_of(*links, via="http://a.test/", started=NOW, ended=NOW + 0.25)[2])
    assert block.decode() == (
        "kind: page\r\nhopsFromSeed: 2\r\nvia: http://a.test/\r\nfetchTimeMs: 250\r\n"
        "outlink: http://b.test/ L\r\noutlink: http://c.test/ L\r\n"
    )


def test_a_seed_has_no_via_and_a_robots_file_says_what_it_is() -> None:
    robots = visit_to("http://a.test/robots.txt", kind=Kind.ROBOTS)
    _, block = parsed(visit_records(robots, answer(robots.url), [])[2])
    assert block.decode() == "kind: robots\r\nhopsFromSeed: 0\r\nfetchTimeMs: 100\r\n"


def test_no_answer_leaves_no_records() -> None:
    assert records_of(head=b"", body=b"", status=0, reason=Reason.TIMEOUT) == []


@pytest.mark.parametrize("url", ["http://a.test/größe", "http://例え.test/あ?ü=𝄞", "http://a.test/%C3%A9"])
def test_targets_that_are_not_ascii_survive(url: str) -> None:
    records = records_of(link(url), url=url, via=url)
    data = b"".join(record.data for record in records)
    assert {target for _, target, _ in by_fastwarc(data)} == {url}
    assert [dict(parsed(record)[0])["WARC-Target-URI"] for record in records] == [url] * 3
    facts = parsed(records[2])[1].decode().splitlines()
    assert f"via: {url}" in facts
    assert f"outlink: {url} L" in facts


# Everything that ends a line somewhere, control characters, halves of surrogate pairs, and ordinary text.
nasty = st.text(
    st.one_of(st.sampled_from("\r\n\0\t\v\f\x1c\x85\u2028\u2029\x7f\ud800\udcff: "), st.characters()), max_size=30
)


@given(url=nasty, via=nasty, target=nasty, anchor=nasty, address=nasty)
def test_no_text_can_begin_a_line_of_its_own(url: str, via: str, target: str, anchor: str, address: str) -> None:
    hostile = Link(link(URL).key, target, anchor, None, 0)
    records = records_of(hostile, url=URL + url, via=via, address=address)
    plain = records_of(link(URL, "x"), url=URL, via="x" if via else None, address="x" if address else "")
    for record, expected in zip(records, plain, strict=True):
        assert [name for name, _ in parsed(record)[0]] == [name for name, _ in parsed(expected)[0]]
    names = [line.partition(": ")[0] for line in parsed(records[2])[1].decode().splitlines()]
    assert names == [line.partition(": ")[0] for line in parsed(plain[2])[1].decode().splitlines()]
    assert [kind for kind, *_ in by_warcio(b"".join(record.data for record in records))] == [
        "request",
        "response",
        "metadata",
    ]


@given(body=st.binary(max_size=300), top=st.binary(max_size=100))
def test_any_bytes_come_back(body: bytes, top: bytes) -> None:
    records = records_of(head=b"HTTP/1.1 200 OK\r\nX: " + top + b"\r\n\r\n", body=body)
    read = by_fastwarc(b"".join(record.data for record in records))
    assert read[1][2] == b"HTTP/1.1 200 OK\r\nX: " + top + b"\r\n\r\n" + body


def test_the_first_record_of_a_file_says_what_made_it() -> None:
    record = warcinfo_record("x-000-00001.warc.gz", NOW, [("software", "Orbweaver/1"), ("robots", "obey\r\nx: y")])
    headers, block = parsed(record)
    named = dict(headers)
    assert record.type == named["WARC-Type"] == "warcinfo"
    assert named["WARC-Filename"] == "x-000-00001.warc.gz"
    assert named["WARC-Date"] == "1970-01-12T13:46:40.000000Z"
    assert named["Content-Type"] == "application/warc-fields"
    assert block == b"software: Orbweaver/1\r\nrobots: obey  x: y\r\n"
