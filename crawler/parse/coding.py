"""Undo the transfer and content codings of a response body, within limits on size and ratio."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from isal import isal_zlib

MIB = 1 << 20
MOST_DECODED = 16 * MIB  # bytes of a body after its codings are undone
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP, _ZLIB, _RAW = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS  # values of zlib's wbits, by wrapper
_BLOCK = 64 * 1024
_CODINGS = frozenset({"gzip", "x-gzip", "deflate"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainBody:
    """A response body after its codings were undone, as far as that was possible."""

    data: bytes
    problem: str = ""  # the first thing that kept a coding from being undone
    complete: bool = True  # nothing is known to be missing


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpackLimits:
    """Limits on decompression; a body that would grow beyond them is reported as a bomb."""

    size: int = MOST_DECODED  # bytes of the result
    ratio: int = 200  # result to compressed input, where the result exceeds 1 MiB
    members: int = 64  # in one gzip stream
    codings: int = 3  # applied one after the other


def plain_body(
    body: bytes, headers: Sequence[tuple[str, str]], *, limit: int = MOST_DECODED, ratio: int = 200, members: int = 64
) -> PlainBody:
    """Undo the transfer and content codings that the headers name and return the plain body.

    Where a coding cannot be undone, the result is what was decoded so far, or else the body as it was received.
    """
    limits = UnpackLimits(size=limit, ratio=ratio, members=members)
    transfer = _tokens(headers, "transfer-encoding")
    plain = _undo_chunks(body) if "chunked" in transfer else PlainBody(data=body)
    codings = _tokens(headers, "content-encoding") + [coding for coding in transfer if coding != "chunked"]
    return _undo_codings(plain, codings, limits) if codings else plain


def _tokens(headers: Sequence[tuple[str, str]], name: str) -> list[str]:
    values = ",".join(value for found, value in headers if found.lower() == name)
    return [token for token in (part.strip().lower() for part in values.split(",")) if token not in ("", "identity")]


def _undo_codings(plain: PlainBody, codings: Sequence[str], limits: UnpackLimits) -> PlainBody:
    if len(codings) > limits.codings:
        return replace(plain, problem=plain.problem or "encoding chain")
    if not _CODINGS.issuperset(codings):
        return replace(plain, problem=plain.problem or "unknown coding")
    for coding in reversed(codings):  # RFC 9110 §8.4: listed in the order they were applied
        step = _undo_deflate(plain.data, limits) if coding == "deflate" else _undo_gzip(plain.data, limits)
        # The first problem explains the later ones.
        plain = PlainBody(
            data=step.data, problem=plain.problem or step.problem, complete=plain.complete and step.complete
        )
    return plain


def _undo_chunks(body: bytes) -> PlainBody:
    """Join the chunks of a chunked body (RFC 9112 §7.1); extensions and trailers are dropped."""
    chunks: list[bytes] = []
    position = 0
    while (line_end := body.find(b"\n", position)) >= 0:
        size = _chunk_size(body[position:line_end])
        if size is None:
            return _broken_chunks(body, chunks)
        if size == 0:
            return PlainBody(data=b"".join(chunks))
        start = line_end + 1
        chunks.append(body[start : start + size])
        position = start + size
        position += 2 if body.startswith(b"\r\n", position) else 1
    if not chunks and body:
        return _broken_chunks(body, chunks)
    return PlainBody(data=b"".join(chunks), problem="truncated chunk", complete=False)


def _chunk_size(line: bytes) -> int | None:
    digits = line.partition(b";")[0].strip()
    if not digits or len(digits) > 16 or digits.strip(b"0123456789abcdefABCDEF"):
        return None
    return int(digits, 16)


def _broken_chunks(body: bytes, chunks: Sequence[bytes]) -> PlainBody:
    """The result for a malformed chunk: the chunks before it, or the whole body if even the first is malformed."""
    if chunks:
        return PlainBody(data=b"".join(chunks), problem="bad chunk", complete=False)
    return PlainBody(data=body, problem="not chunked")


def _undo_gzip(data: bytes, limits: UnpackLimits) -> PlainBody:
    if not data:
        return PlainBody(data=b"")
    if not data.startswith(_GZIP_MAGIC):
        return PlainBody(data=data, problem="not gzip")
    plain = _decompress(data, _GZIP, limits)
    return PlainBody(data=data, problem="not gzip") if plain.problem == "not packed" else plain


def _undo_deflate(data: bytes, limits: UnpackLimits) -> PlainBody:
    """Inflate a body: deflate should come in a zlib wrapper, but some servers send it without one."""
    if not data:
        return PlainBody(data=b"")
    plain = _decompress(data, _ZLIB, limits)
    if plain.problem == "not packed":
        plain = _decompress(data, _RAW, limits)
        if plain.problem in ("not packed", "corrupt"):  # raw deflate has no magic number: other bytes may pass for it
            return PlainBody(data=data, problem="not deflate")
    return plain


def _decompress(data: bytes, wrapper: int, limits: UnpackLimits) -> PlainBody:
    """Decompress all members of a stream; bytes after the last one that start no further member are padding."""
    room = min(limits.size, max(MIB, limits.ratio * len(data)))
    whole = _decompress_at_once(data, wrapper, room)
    if whole is not None:
        return PlainBody(data=whole)
    parts: list[bytes] = []
    position = 0
    for _ in range(limits.members):
        part, position, problem = _decompress_member(data, position, wrapper, room)
        if problem == "not packed" and parts:
            problem = "corrupt"
        parts.append(part)
        room -= len(part)
        if problem:
            return PlainBody(data=b"".join(parts), problem=problem, complete=False)
        if wrapper != _GZIP or not data.startswith(_GZIP_MAGIC, position):
            return PlainBody(data=b"".join(parts))
    return PlainBody(data=b"".join(parts), problem="too many members", complete=False)


def _decompress_at_once(data: bytes, wrapper: int, room: int) -> bytes | None:
    """Decompress a stream of one intact member within the limit (most bodies), in a third of zlib's time; else None."""
    stream = isal_zlib.decompressobj(wrapper)
    try:
        whole = stream.decompress(data, room + 1)
    except isal_zlib.error:  # type: ignore[misc]  # its stub does not say that it is an exception
        return None
    return whole if stream.eof and not stream.unused_data and len(whole) <= room else None


def _decompress_member(data: bytes, start: int, wrapper: int, room: int) -> tuple[bytes, int, str]:
    """Decompress one member; return its data, where it ends, and its problem."""
    stream = zlib.decompressobj(wrapper)
    parts: list[bytes] = []
    for position in range(start, len(data), _BLOCK):
        block = data[position : position + _BLOCK]
        before = stream.copy()
        try:
            part = stream.decompress(block, room + 1)
        except zlib.error as error:
            parts.append(_salvage_block(before, block, room))
            decoded = b"".join(parts)
            return decoded, len(data), _problem_of(error, has_output=bool(decoded))
        parts.append(part[:room])
        if len(part) > room:
            return b"".join(parts), len(data), "bomb"
        room -= len(part)
        if stream.eof:
            return b"".join(parts), position + len(block) - len(stream.unused_data), ""
    return b"".join(parts), len(data), "truncated"


def _salvage_block(stream: zlib._Decompress, block: bytes, room: int) -> bytes:
    """Decompress a block byte by byte up to its error: zlib drops the output of a call that ends in an error."""
    parts: list[bytes] = []
    with suppress(zlib.error):
        for position in range(len(block)):
            part = stream.decompress(block[position : position + 1], room + 1)
            parts.append(part[:room])
            room -= len(part[:room])
    return b"".join(parts)


def _problem_of(error: zlib.error, *, has_output: bool) -> str:
    message = str(error)
    if "incorrect data check" in message or "incorrect length check" in message:
        return "checksum"
    return "corrupt" if has_output else "not packed"
