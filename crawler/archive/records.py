"""A visit as WARC records: request, response and metadata, each compressed on its own."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import uuid4

from crawler.items import Fetched, Link, Reason, Record, Visit

NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
IDENTICAL_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_LEVEL = 6
_TRUNCATED = {Reason.CUT_LENGTH: "length", Reason.CUT_DISCONNECT: "disconnect", Reason.CUT_TIME: "time"}


def visit_records(visit: Visit, fetched: Fetched, links: Sequence[Link]) -> list[Record]:
    """Everything one answer leaves in the archive; nothing if there was no answer."""
    if not fetched.head:
        return []
    response = _new_id()
    common = [("WARC-Target-URI", fetched.url), ("WARC-Date", _date(fetched.started))]
    return [
        _record(
            "request", "application/http; msgtype=request", fetched.request, [*common, ("WARC-Concurrent-To", response)]
        ),
        _response(response, fetched, common),
        _record(
            "metadata",
            "application/warc-fields",
            _facts(visit, fetched, links),
            [*common, ("WARC-Concurrent-To", response)],
        ),
    ]


def revisit_record(
    response: Record, fetched: Fetched, payload_digest: bytes, url: str, at: float, profile: str = IDENTICAL_PAYLOAD
) -> Record:
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


def warcinfo_record(filename: str, now: float, facts: Sequence[tuple[str, str]]) -> Record:
    """The first record of a file: what made it."""
    body = "".join(f"{name}: {_one_line(value)}\r\n" for name, value in facts).encode()
    headers = [("WARC-Date", _date(now)), ("WARC-Filename", filename)]
    return _record("warcinfo", "application/warc-fields", body, headers)


def _response(identifier: str, fetched: Fetched, common: Sequence[tuple[str, str]]) -> Record:
    headers = [*common, ("WARC-Payload-Digest", _digest(fetched.body))]
    if fetched.address:
        headers.append(("WARC-IP-Address", fetched.address))
    if fetched.reason in _TRUNCATED:
        headers.append(("WARC-Truncated", _TRUNCATED[fetched.reason]))
    block = fetched.head + fetched.body
    return _record("response", "application/http; msgtype=response", block, headers, identifier)


def _facts(visit: Visit, fetched: Fetched, links: Sequence[Link]) -> bytes:
    """What the bytes of the answer do not say, and the links found in them."""
    lines = [f"kind: {visit.kind.name.lower()}", f"hopsFromSeed: {visit.depth}"]
    if visit.via:
        lines.append(f"via: {_one_line(visit.via)}")
    lines.append(f"fetchTimeMs: {round((fetched.ended - fetched.started) * 1000)}")
    lines.extend(f"outlink: {_one_line(link.url)} L" for link in links)
    return "".join(f"{line}\r\n" for line in lines).encode("utf-8", "surrogateescape")


def _record(
    kind: str, content_type: str, block: bytes, headers: Sequence[tuple[str, str]], identifier: str = ""
) -> Record:
    identifier = identifier or _new_id()
    lines = [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: {identifier}",
        *(f"{name}: {_one_line(value)}" for name, value in headers),
        f"WARC-Block-Digest: {_digest(block)}",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(block)}",
    ]
    head = "\r\n".join(lines).encode("utf-8", "surrogateescape")
    # mtime=0: the same record always gives the same bytes.
    data = gzip.compress(head + b"\r\n\r\n" + block + b"\r\n\r\n", _LEVEL, mtime=0)
    return Record(type=kind, id=identifier, data=data)


def _one_line(value: str) -> str:
    """A value that cannot end its header: control characters become spaces."""
    return value if value.isprintable() else "".join(c if c.isprintable() else " " for c in value)


def _new_id() -> str:
    return f"<urn:uuid:{uuid4()}>"


def _digest(data: bytes) -> str:
    return _written(hashlib.sha1(data, usedforsecurity=False).digest())


def _written(digest: bytes) -> str:
    return "sha1:" + base64.b32encode(digest).decode()


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
