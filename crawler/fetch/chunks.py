"""Where does a chunked body end? libcurl knows, but does not report it, and passes on bytes that follow the end."""

from __future__ import annotations

import re
from typing import Self

_TRANSFER_ENCODING = re.compile(rb"\ntransfer-encoding:[ \t]*([^\r\n]*)")
_SIZE = re.compile(rb"[0-9a-fA-F]{1,16}(?![0-9a-fA-F])")


class ChunkedBody:
    """Finds the end of a chunked body that arrives in pieces; stores none of it.

    Accepts what libcurl accepts: lines may end in a bare LF, and text after a chunk's size is ignored.
    """

    __slots__ = ("_ends_chunk", "_is_last", "_line", "_skip", "is_broken", "is_doubtful")

    def __init__(self, *, is_doubtful: bool) -> None:
        self.is_doubtful = is_doubtful  # the end may be wrong: the connection must not carry another request
        self.is_broken = False  # the framing is invalid
        self._skip = 0  # bytes of the chunk still to come
        self._line = b""  # the beginning of an incomplete line
        self._ends_chunk = False  # the next line is the empty one after a chunk
        self._is_last = False  # the chunk of size 0 has come: only trailers follow

    @classmethod
    def from_head(cls, head: bytes) -> Self | None:
        """Return a reader of the body that follows this head, or None if that body is not chunked."""
        head = head.lower()
        if b"\ntransfer-encoding:" not in head:  # true of most heads, and cheaper than the pattern
            return None
        codings = b",".join(_TRANSFER_ENCODING.findall(head))
        if b"chunked" not in codings:
            return None
        # RFC 9112 §6.1: a length as well may be request smuggling; and libcurl finds no end after other codings.
        return cls(is_doubtful=codings.strip() != b"chunked" or b"\ncontent-length:" in head)

    def find_end(self, data: bytes) -> int | None:
        """Return how many bytes of the next piece belong to the body if it ends within the piece, else None."""
        at, length = 0, len(data)
        while at < length and not self.is_broken:
            if self._skip:
                step = min(self._skip, length - at)
                self._skip -= step
                at += step
                continue
            newline = data.find(b"\n", at)
            piece = data[at : at + 32 if newline < 0 else min(newline, at + 32)]  # more than a size needs
            self._line = (self._line + piece)[:32]
            if newline < 0:
                return None
            at = newline + 1
            if self._ends_body():
                return at
        return None

    def _ends_body(self) -> bool:
        """Process the completed line; return True if it is the empty one after the last chunk."""
        line, self._line = self._line.strip(), b""
        if self._is_last:
            return not line
        if self._ends_chunk:
            self._ends_chunk = False
            self.is_broken = bool(line)
        elif size := _SIZE.match(line):
            self._skip = int(size[0], 16)
            self._is_last = not self._skip
            self._ends_chunk = not self._is_last
        else:
            self.is_broken = True
        return False
