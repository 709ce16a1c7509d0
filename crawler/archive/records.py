"""Builds the WARC records of a visit: request, response and metadata, each compressed as a gzip member of its own."""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from isal import isal_zlib

from crawler.items import Fetched, Link, Page, Reason, Visit, WarcRecord

NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
IDENTICAL_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_LEVEL = 6
_ISAL_BELOW = 8_192  # bytes up to which isal compresses as well as zlib in half the time: it allocates less memory
_MOST_STORED = 0xFFFF  # bytes of a block that is stored, RFC 1951 §3.2.4
# The beginning of bodies that are compressed already: perhaps a chunk size, then the magic bytes of gzip or ZIP.
_COMPRESSED = re.compile(rb"(?:[0-9a-fA-F]{1,8}\r\n)?(?:\x1f\x8b\x08|PK\x03\x04)")
_GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"  # without a date: the same record always gives the same bytes
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BASE32_PAIRS = [first + second for first in _BASE32 for second in _BASE32]  # base64.b32encode is four times as slow
_TRUNCATED = {Reason.CUT_LENGTH: "length", Reason.CUT_DISCONNECT: "disconnect", Reason.CUT_TIME: "time"}


def visit_records(
    visit: Visit, fetched: Fetched, links: Sequence[Link], payload_digest: bytes = b"", relevance: float | None = None
) -> list[WarcRecord]:
    """Return the request, response and metadata records of a visit; none if there was no answer.

    `payload_digest` is the SHA-1 of the body, if it is known already.
    """
    if not fetched.head:
        return []
    response = _new_id()
    payload_digest = payload_digest or hashlib.sha1(fetched.body, usedforsecurity=False).digest()
    common = _common_headers(fetched)
    return [
        _record(
            "request", "application/http; msgtype=request", fetched.request, [*common, ("WARC-Concurrent-To", response)]
        ),
        _response(response, fetched, [*common, ("WARC-Payload-Digest", _digest_text(payload_digest))]),
        _record(
            "metadata",
            "application/warc-fields",
            _metadata_fields(visit, fetched, links, relevance),
            [*common, ("WARC-Concurrent-To", response)],
        ),
    ]


def facts_record(visit: Visit, fetched: Fetched, page: Page) -> WarcRecord:
    """Return a metadata record in place of an answer whose body is not kept: its digest, relevance and links."""
    # Not the header WARC-Payload-Digest: readers compare that with the record's own content.
    digest = f"payloadDigest: {_digest_text(page.payload_digest)}\r\n".encode()
    fields = _metadata_fields(visit, fetched, page.links, page.relevance)
    return _record("metadata", "application/warc-fields", digest + fields, _common_headers(fetched))


def _common_headers(fetched: Fetched) -> list[tuple[str, str]]:
    return [("WARC-Target-URI", fetched.url), ("WARC-Date", _date(fetched.started))]


def revisit_record(
    response: WarcRecord, fetched: Fetched, payload_digest: bytes, url: str, at: float, profile: str = IDENTICAL_PAYLOAD
) -> WarcRecord:
    """Return a revisit record in place of a response whose body is archived already, under this URL at this time."""
    headers = [
        ("WARC-Target-URI", fetched.url),
        ("WARC-Date", _date(fetched.started)),
        ("WARC-Profile", profile),
        ("WARC-Refers-To-Target-URI", url),
        ("WARC-Refers-To-Date", _date(at)),
        ("WARC-Payload-Digest", _digest_text(payload_digest)),
    ]
    if fetched.address:
        headers.append(("WARC-IP-Address", fetched.address))
    return _record("revisit", "application/http; msgtype=response", fetched.head, headers, response.id)


def warcinfo_record(filename: str, now: float, facts: Sequence[tuple[str, str]]) -> WarcRecord:
    """Return the first record of a file, which describes the crawl that wrote it."""
    body = "".join(f"{name}: {_one_line(value)}\r\n" for name, value in facts).encode()
    headers = [("WARC-Date", _date(now)), ("WARC-Filename", filename)]
    return _record("warcinfo", "application/warc-fields", body, headers)


def _response(identifier: str, fetched: Fetched, headers: list[tuple[str, str]]) -> WarcRecord:
    if fetched.address:
        headers.append(("WARC-IP-Address", fetched.address))
    if fetched.reason in _TRUNCATED:
        headers.append(("WARC-Truncated", _TRUNCATED[fetched.reason]))
    return _record("response", "application/http; msgtype=response", fetched.head, headers, identifier, fetched.body)


def _metadata_fields(visit: Visit, fetched: Fetched, links: Sequence[Link], relevance: float | None) -> bytes:
    """Return the facts about a visit that its answer does not contain, and the links found in it."""
    lines = [f"kind: {visit.kind.name.lower()}", f"hopsFromSeed: {visit.depth}"]
    if visit.via:
        lines.append(f"via: {_one_line(visit.via)}")
    lines.append(f"fetchTimeMs: {round((fetched.ended - fetched.started) * 1000)}")
    if relevance is not None:
        lines.append(f"relevance: {relevance:.4f}")
    lines += [f"outlink: {_one_line(link.url)} L" for link in links]
    return "\r\n".join([*lines, ""]).encode("utf-8", "surrogateescape")


def _record(
    kind: str,
    content_type: str,
    block: bytes,
    headers: Sequence[tuple[str, str]],
    identifier: str = "",
    body: bytes = b"",  # the rest of the block
) -> WarcRecord:
    identifier = identifier or _new_id()
    digest = hashlib.sha1(block, usedforsecurity=False)
    digest.update(body)
    lines = [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: {identifier}",
        *(f"{name}: {_one_line(value)}" for name, value in headers),
        f"WARC-Block-Digest: {_digest_text(digest.digest())}",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(block) + len(body)}",
    ]
    head = "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + block
    data = (
        _store_compressed(head, body + b"\r\n\r\n") if _COMPRESSED.match(body) else _compress(head + body + b"\r\n\r\n")
    )
    return WarcRecord(type=kind, id=identifier, data=data)


def _compress(data: bytes) -> bytes:
    if len(data) > _ISAL_BELOW:
        return zlib.compress(data, _LEVEL, 16 + zlib.MAX_WBITS)
    return isal_zlib.compress(data, 1, 16 + zlib.MAX_WBITS)


def _store_compressed(head: bytes, body: bytes) -> bytes:
    """Return one gzip member with the head compressed and the body stored as it is.

    Compressing a compressed body again takes six times as long and gains nothing.
    """
    # This level of isal allocates no buffer; allocating one takes longer than filling it.
    first = isal_zlib.compressobj(0, zlib.DEFLATED, -zlib.MAX_WBITS)
    check, size = isal_zlib.crc32(body, isal_zlib.crc32(head)), (len(head) + len(body)) & 0xFFFFFFFF
    parts = (first.compress(head), first.flush(isal_zlib.Z_SYNC_FLUSH), *_stored_blocks(body))
    return b"".join((_GZIP_HEADER, *parts, struct.pack("<II", check, size)))


def _stored_blocks(data: bytes) -> Iterator[bytes]:
    """Yield the final blocks of a deflate stream that contain these bytes uncompressed."""
    for start in range(0, len(data), _MOST_STORED):
        block = data[start : start + _MOST_STORED]
        yield struct.pack("<BHH", start + len(block) == len(data), len(block), len(block) ^ 0xFFFF)
        yield block


def _one_line(value: str) -> str:
    """Replace control characters by spaces, so that a value cannot end its header line."""
    return value if value.isprintable() else "".join(c if c.isprintable() else " " for c in value)


def _new_id() -> str:
    """Return a random UUID (RFC 9562 §5.4); the standard library takes twice as long."""
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"<urn:uuid:{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}>"


def _digest_text(digest: bytes) -> str:
    """Return a SHA-1 digest in base 32; its length is a multiple of ten bits, so two characters are looked up at once.

    >>> _digest_text(bytes(19) + b"!")
    'sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAABB'
    """
    number = int.from_bytes(digest)
    return "sha1:" + "".join([_BASE32_PAIRS[number >> shift & 1023] for shift in range(8 * len(digest) - 10, -1, -10)])


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
