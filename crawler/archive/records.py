"""A visit as WARC records: request, response and metadata, each compressed on its own."""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from isal import isal_zlib

from crawler.items import Fetched, Link, Reason, Visit, WarcRecord

NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
IDENTICAL_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_LEVEL = 6
_SHORT = 8_192  # bytes that isal packs as well as zlib does, in half of the time: it has less memory to prepare
_MOST_STORED = 0xFFFF  # bytes of a block that is stored, RFC 1951 §3.2.4
_PACKED = re.compile(
    rb"(?:[0-9a-fA-F]{1,8}\r\n)?(?:\x1f\x8b\x08|PK\x03\x04)"
)  # how bodies begin that become no shorter
_MEMBER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"  # of gzip, without a date: the same record always gives the same bytes
_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [first + second for first in _BASE32 for second in _BASE32]  # base64.b32encode is four times as slow
_TRUNCATED = {Reason.CUT_LENGTH: "length", Reason.CUT_DISCONNECT: "disconnect", Reason.CUT_TIME: "time"}


def visit_records(
    visit: Visit, fetched: Fetched, links: Sequence[Link], payload_digest: bytes = b""
) -> list[WarcRecord]:
    """Everything one answer leaves in the archive; nothing if there was no answer.

    The digest is the SHA-1 of the body, if somebody has it already.
    """
    if not fetched.head:
        return []
    response = _new_id()
    payload_digest = payload_digest or hashlib.sha1(fetched.body, usedforsecurity=False).digest()
    common = [("WARC-Target-URI", fetched.url), ("WARC-Date", _date(fetched.started))]
    return [
        _record(
            "request", "application/http; msgtype=request", fetched.request, [*common, ("WARC-Concurrent-To", response)]
        ),
        _response(response, fetched, [*common, ("WARC-Payload-Digest", _written(payload_digest))]),
        _record(
            "metadata",
            "application/warc-fields",
            _facts(visit, fetched, links),
            [*common, ("WARC-Concurrent-To", response)],
        ),
    ]


def revisit_record(
    response: WarcRecord, fetched: Fetched, payload_digest: bytes, url: str, at: float, profile: str = IDENTICAL_PAYLOAD
) -> WarcRecord:
    """In place of a response whose body is archived already: its head, and where and when the body was fetched."""
    headers = [
        ("WARC-Target-URI", fetched.url),
        ("WARC-Date", _date(fetched.started)),
        ("WARC-Profile", profile),
        ("WARC-Refers-To-Target-URI", url),
        ("WARC-Refers-To-Date", _date(at)),
        ("WARC-Payload-Digest", _written(payload_digest)),
    ]
    if fetched.address:
        headers.append(("WARC-IP-Address", fetched.address))
    return _record("revisit", "application/http; msgtype=response", fetched.head, headers, response.id)


def warcinfo_record(filename: str, now: float, facts: Sequence[tuple[str, str]]) -> WarcRecord:
    """The first record of a file: what made it."""
    body = "".join(f"{name}: {_one_line(value)}\r\n" for name, value in facts).encode()
    headers = [("WARC-Date", _date(now)), ("WARC-Filename", filename)]
    return _record("warcinfo", "application/warc-fields", body, headers)


def _response(identifier: str, fetched: Fetched, headers: list[tuple[str, str]]) -> WarcRecord:
    if fetched.address:
        headers.append(("WARC-IP-Address", fetched.address))
    if fetched.reason in _TRUNCATED:
        headers.append(("WARC-Truncated", _TRUNCATED[fetched.reason]))
    return _record("response", "application/http; msgtype=response", fetched.head, headers, identifier, fetched.body)


def _facts(visit: Visit, fetched: Fetched, links: Sequence[Link]) -> bytes:
    """What the bytes of the answer do not say, and the links found in them."""
    lines = [f"kind: {visit.kind.name.lower()}", f"hopsFromSeed: {visit.depth}"]
    if visit.via:
        lines.append(f"via: {_one_line(visit.via)}")
    lines.append(f"fetchTimeMs: {round((fetched.ended - fetched.started) * 1000)}")
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
        f"WARC-Block-Digest: {_written(digest.digest())}",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(block) + len(body)}",
    ]
    head = "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + block
    data = _with_packed(head, body + b"\r\n\r\n") if _PACKED.match(body) else _packed(head + body + b"\r\n\r\n")
    return WarcRecord(type=kind, id=identifier, data=data)


def _packed(data: bytes) -> bytes:
    if len(data) > _SHORT:
        return zlib.compress(data, _LEVEL, 16 + zlib.MAX_WBITS)
    return isal_zlib.compress(data, 1, 16 + zlib.MAX_WBITS)


def _with_packed(head: bytes, body: bytes) -> bytes:
    """One member whose second half is stored as it is: packing it again takes six times as long and gains nothing."""
    # This level of isal needs no memory of its own, which takes longer to get than to fill.
    first = isal_zlib.compressobj(0, zlib.DEFLATED, -zlib.MAX_WBITS)
    check, size = isal_zlib.crc32(body, isal_zlib.crc32(head)), (len(head) + len(body)) & 0xFFFFFFFF
    parts = (first.compress(head), first.flush(isal_zlib.Z_SYNC_FLUSH), *_stored(body))
    return b"".join((_MEMBER, *parts, struct.pack("<II", check, size)))


def _stored(data: bytes) -> Iterator[bytes]:
    """The last blocks of a stream, that hold these bytes as they are."""
    for start in range(0, len(data), _MOST_STORED):
        block = data[start : start + _MOST_STORED]
        yield struct.pack("<BHH", start + len(block) == len(data), len(block), len(block) ^ 0xFFFF)
        yield block


def _one_line(value: str) -> str:
    """A value that cannot end its header: control characters become spaces."""
    return value if value.isprintable() else "".join(c if c.isprintable() else " " for c in value)


def _new_id() -> str:
    """A random UUID (RFC 9562 §5.4); that of the standard library takes twice as long."""
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"<urn:uuid:{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}>"


def _written(digest: bytes) -> str:
    """As base 32; the length of a digest of SHA-1 is a multiple of ten bits.

    >>> _written(bytes(19) + b"!")
    'sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAABB'
    """
    number = int.from_bytes(digest)
    return "sha1:" + "".join([_PAIRS[number >> shift & 1023] for shift in range(8 * len(digest) - 10, -1, -10)])


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
