"""Read ZIP files in memory, within limits, and even if the directory at their end is missing."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from bz2 import BZ2Decompressor
from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

from crawler.parse.charset import decode
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import MOST_ENTRIES, Draft
from crawler.parse.encodings.labels import decode_as

MOST_MEMBER = 32 << 20  # bytes of a member: parsed XML takes several times as much memory
_MIB = 1 << 20
_MOST_RATIO = 100  # decompressed to compressed size, where the former exceeds 1 MiB
_BLOCK = 64 * 1024
_BEGINNING = 8_192
_STORED, _DEFLATED, _BZIP2 = 0, 8, 12
_LOCAL = struct.Struct("<4s5H3I2H")  # the local header, before a member's data
_LOCAL_MARK, _ENTRY_MARK, _END_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_ZIP64_MARK = b"PK\x06\x07"
_IS_ENCRYPTED, _IS_UTF8 = 0x1, 0x800
_SURROGATE = re.compile("[\udc80-\udcff]")
_SIZES_AFTER_DATA = 0x8  # flag: the sizes follow the data


class ZipMember(NamedTuple):
    """A member of a ZIP archive."""

    name: str
    data_at: int
    packed: int  # compressed bytes
    unpacked: int  # decompressed bytes, as the archive claims
    method: int
    is_encrypted: bool


class ZipArchive:
    """A ZIP archive: access to members by name, regardless of case and of slash or backslash."""

    def __init__(self, body: bytes, members: list[ZipMember], draft: Draft) -> None:
        self.members = members
        self._body = memoryview(body)
        self._draft = draft
        self._by_name = {_normalized_name(member.name): member for member in reversed(members)}

    def __contains__(self, name: str) -> bool:
        return _normalized_name(name) in self._by_name

    def names(self, beginning: str = "", ending: str = "") -> list[str]:
        """Names with this beginning and ending (in lower case), in the order of the archive."""
        names = [member.name for member in self.members]
        return [
            name
            for name in names
            if _normalized_name(name).startswith(beginning) and _normalized_name(name).endswith(ending)
        ]

    def beginning(self, name: str) -> bytes:
        """The first bytes of a member, enough to detect its format."""
        member = self._by_name.get(_normalized_name(name))
        return (
            _decompress_member(self._body, member, _BEGINNING)[0]
            if member is not None and not member.is_encrypted
            else b""
        )

    def read(self, name: str) -> bytes:
        """The data of a member; empty if there is none of this name, cut if it is too large or corrupt."""
        member = self._by_name.get(_normalized_name(name))
        if member is None:
            return b""
        if member.is_encrypted:
            self._draft.report_problem(Problem.ENCRYPTED)
            return b""
        budget = self._draft.budget
        data, problem = _decompress_member(self._body, member, min(MOST_MEMBER, budget.unpacked))
        budget.unpacked -= len(data)
        self._draft.report_problem(problem)
        return data


def _normalized_name(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def open_zip(body: bytes, draft: Draft) -> ZipArchive:
    """Open a ZIP archive; beyond the limits it has no members, and the problem is reported to the draft."""
    members = _members_in_directory(body, draft)
    if members is None:
        draft.report_problem(Problem.TRUNCATED)
        members = list(_members_by_local_headers(body))
    size = sum(member.unpacked for member in members)
    if len(members) > draft.budget.entries:
        draft.report_problem(Problem.TOO_LARGE)
        members = []
    elif size > draft.budget.unpacked or (size > _MIB and size > _MOST_RATIO * len(body)):
        draft.report_problem(Problem.BOMB)
        members = []
    draft.budget.entries -= len(members)
    return ZipArchive(body, _decode_names(members), draft)


def _members_in_directory(body: bytes, draft: Draft) -> list[ZipMember] | None:
    """The members listed in the central directory; None if it is missing."""
    end = body.rfind(_END_MARK)
    if end < 0:
        return None
    # The directory stands before its end record. zipfile's objects take a kilobyte each, so entries are counted first.
    size = int.from_bytes(body[end + 12 : end + 16], "little")
    size = end if body[end - 20 : end - 16] == _ZIP64_MARK else size  # its size is in another record
    if body.count(_ENTRY_MARK, max(end - size, 0), end) > MOST_ENTRIES:
        draft.report_problem(Problem.TOO_LARGE)
        return []
    try:
        with zipfile.ZipFile(BytesIO(body)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, struct.error, NotImplementedError):
        return None
    if body.startswith(_LOCAL_MARK) and entries and min(entry.header_offset for entry in entries) > 0:
        return None  # this directory is that of an embedded archive: the outer one is missing
    return [member for entry in entries if not entry.is_dir() and (member := _member(body, entry)) is not None]


def _member(body: bytes, entry: zipfile.ZipInfo) -> ZipMember | None:
    at = entry.header_offset
    if at < 0 or at + _LOCAL.size > len(body) or body[at : at + 4] != _LOCAL_MARK:
        return None
    name_size, extra_size = struct.unpack_from("<2H", body, at + 26)
    return ZipMember(
        entry.filename if entry.flag_bits & _IS_UTF8 else _surrogate_name(entry.filename.encode("cp437", "replace")),
        at + _LOCAL.size + name_size + extra_size,
        entry.compress_size,
        entry.file_size,
        entry.compress_type,
        bool(entry.flag_bits & _IS_ENCRYPTED),
    )


def _members_by_local_headers(body: bytes) -> Iterator[ZipMember]:
    """The members found by their local headers, if the directory is missing."""
    at, count = body.find(_LOCAL_MARK), 0
    while 0 <= at <= len(body) - _LOCAL.size and count < MOST_ENTRIES:
        _, _, flags, method, _, _, _, packed, unpacked, name_size, extra_size = _LOCAL.unpack_from(body, at)
        start = at + _LOCAL.size
        raw = body[start : start + name_size]
        name = raw.decode("utf-8", "replace") if flags & _IS_UTF8 else _surrogate_name(raw)
        data_at = start + name_size + extra_size
        following = body.find(_LOCAL_MARK, max(data_at + (0 if flags & _SIZES_AFTER_DATA else packed), at + 4))
        if flags & _SIZES_AFTER_DATA or data_at + packed > len(body):
            packed = max((following if following >= 0 else len(body)) - data_at, 0)
            unpacked = min(unpacked, _MOST_RATIO * packed) or packed
        if name and not name.endswith("/"):
            yield ZipMember(name, data_at, packed, unpacked, method, bool(flags & _IS_ENCRYPTED))
            count += 1
        at = following


def _surrogate_name(name: bytes) -> str:
    """A name of unknown encoding, its bytes kept as surrogates until `_decode_names`."""
    return name.decode("ascii", "surrogateescape")


def _decode_names(members: list[ZipMember]) -> list[ZipMember]:
    """Decode names that are not flagged as UTF-8, assuming one encoding for all of them."""
    odd = [member.name for member in members if _SURROGATE.search(member.name)]
    if not odd:
        return members
    encoding = decode("\n".join(odd).encode("utf-8", "surrogateescape")).encoding
    return [
        member._replace(name=decode_as(encoding, member.name.encode("utf-8", "surrogateescape")))
        if _SURROGATE.search(member.name)
        else member
        for member in members
    ]


def _decompress_member(body: memoryview, member: ZipMember, most: int) -> tuple[bytes, Problem]:
    """Decompress a member, regardless of its declared size and checksum."""
    data = body[member.data_at : member.data_at + member.packed]
    if member.method == _STORED:
        return bytes(data[:most]), Problem.TOO_LARGE if len(data) > most else Problem.NONE
    if member.method == _DEFLATED:
        return _decompress_stream(zlib.decompressobj(-zlib.MAX_WBITS), data, most)
    if member.method == _BZIP2:
        return _decompress_stream(BZ2Decompressor(), data, most)
    return b"", Problem.UNSUPPORTED


def _decompress_stream(
    stream: zlib._Decompress | BZ2Decompressor, data: memoryview, most: int
) -> tuple[bytes, Problem]:
    parts: list[bytes] = []
    for at in range(0, len(data), _BLOCK):
        try:
            part = stream.decompress(data[at : at + _BLOCK], most + 1)
        except (zlib.error, OSError, EOFError):
            return b"".join(parts), Problem.CORRUPT
        parts.append(part[:most])
        most -= len(part)
        if most < 0:
            return b"".join(parts), Problem.TOO_LARGE
        if stream.eof:
            return b"".join(parts), Problem.NONE
    return b"".join(parts), Problem.TRUNCATED


def base_name(path: str) -> str:
    """The last component of a path, after a slash or backslash.

    >>> base_name("../a\\\\b.txt"), base_name("c")
    ('b.txt', 'c')
    """
    return path.replace("\\", "/").rpartition("/")[2]
