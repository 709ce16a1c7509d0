"""Read Outlook messages (.msg): an OLE2 file with one stream per property."""

from __future__ import annotations

import struct

from crawler.parse.charset import decode
from crawler.parse.documents import rtf
from crawler.parse.documents.compound import Compound
from crawler.parse.documents.conversion import embed
from crawler.parse.documents.draft import Draft
from crawler.parse.documents.html import read_html
from crawler.parse.documents.properties import iso_of_filetime
from crawler.parse.documents.text import read_text

_SUBJECT, _SENDER, _SENDER_ADDRESS, _SENDER_SMTP = "0037", "0c1a", "0c1f", "5d01"
_TO, _CC, _BODY, _HTML, _RTF = "0e04", "0e03", "1000", "1013", "1009"
_NAME, _ADDRESS, _SMTP = "3001", "3003", "39fe"
_FILE_NAMES, _DATA = ("3707", "3704", "3001"), "3701"
_SENT, _RECEIVED, _CODE_PAGE, _INTERNET_CODE_PAGE = 0x0039, 0x0E06, 0x3FFD, 0x3FDE
# Code page → encoding label.
_ENCODINGS = {
    **{page: f"windows-{page}" for page in (874, *range(1250, 1259))},
    932: "shift_jis", 936: "gb18030", 949: "euc-kr", 950: "big5", 50220: "iso-2022-jp", 51949: "euc-kr", 65001: "utf-8",
    20866: "koi8-r", 21866: "koi8-u", 28592: "iso-8859-2", 28595: "iso-8859-5", 28605: "iso-8859-15", 54936: "gb18030",
}  # fmt: skip
_MOST_ATTACHED = 200
_DEEPEST = 5
_MOST_UNPACKED = 8 << 20
# The initial dictionary of compressed RTF, to which references may point (MS-OXRTFCP §2.1.2.1).
_INITIAL_DICTIONARY = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript "
    b"\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n"
    b"\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)


def read(body: bytes, draft: Draft) -> None:
    _Message(Compound(body, draft), (), draft).read()


class _Message:
    """Reads the message in one storage of the file: the main message, or one attached to another."""

    def __init__(self, compound: Compound, folder: tuple[str, ...], draft: Draft) -> None:
        self._compound, self._folder, self._draft = compound, folder, draft
        self._fixed = _fixed_properties(compound.read(*folder, "__properties_version1.0"), 24 if folder else 32)
        page = self._fixed.get(_INTERNET_CODE_PAGE) or self._fixed.get(_CODE_PAGE) or 0
        encoding = _ENCODINGS.get(page & 0xFFFF)
        self._label = f"text/html; charset={encoding}" if encoding is not None else None

    def read(self) -> None:
        draft, subject = self._draft, self._text(_SUBJECT)
        draft.title = draft.title or subject
        draft.heading(1, subject)
        sender = _name_and_address(self._text(_SENDER), self._text(_SENDER_SMTP) or self._text(_SENDER_ADDRESS))
        draft.add_metadata("author", sender)
        draft.add_metadata("created", self._sent_time())
        for name, value in (
            ("From", sender),
            ("To", self._text(_TO)),
            ("Cc", self._text(_CC)),
            ("Date", self._sent_time()),
        ):
            if value:
                draft.paragraph(f"{name}: {value}")
        for folder in self._folders("__recip_version1.0"):
            draft.paragraph(
                _name_and_address(self._text(_NAME, folder), self._text(_SMTP, folder) or self._text(_ADDRESS, folder))
            )
        self._read_text()
        for folder in self._folders("__attach_version1.0")[:_MOST_ATTACHED]:
            self._read_attached(folder)

    def _read_text(self) -> None:
        """Read the body as HTML, else as plain text, else as compressed RTF."""
        html = decode(self._data(_HTML), self._label).text or self._text(_HTML)
        packed, plain = self._data(_RTF), self._text(_BODY)
        if html:
            read_html(html, self._draft.inner_draft(""))
        elif plain:
            read_text(plain, self._draft)
        elif packed:
            rtf.read(decompress_rtf(packed), self._draft.inner_draft(""))

    def _read_attached(self, folder: str) -> None:
        name = next(filter(None, (self._text(key, folder) for key in _FILE_NAMES)), "")
        data, inner = self._data(_DATA, folder), (*self._folder, folder, f"__substg1.0_{_DATA}000d")
        if data:
            embed(self._draft, name, data)
        elif (*(part.lower() for part in inner), "__properties_version1.0") in self._compound and len(
            inner
        ) < 3 * _DEEPEST:
            self._draft.add_name("embedded", name)
            with self._draft.section("message", name):
                _Message(self._compound, inner, self._draft.inner_draft(name)).read()

    def _folders(self, beginning: str) -> list[str]:
        return [name for name in self._compound.folders(self._folder) if name.startswith(beginning)]

    def _data(self, key: str, folder: str = "") -> bytes:
        where = (*self._folder, folder) if folder else self._folder
        return self._compound.read(*where, f"__substg1.0_{key}0102")

    def _text(self, key: str, folder: str = "") -> str:
        where = (*self._folder, folder) if folder else self._folder
        wide = self._compound.read(*where, f"__substg1.0_{key}001f")
        if wide:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self._compound.read(*where, f"__substg1.0_{key}001e").rstrip(b"\0")
        return decode(narrow, self._label).text

    def _sent_time(self) -> str:
        return iso_of_filetime(self._fixed.get(_SENT) or self._fixed.get(_RECEIVED) or 0)


def _name_and_address(name: str, address: str) -> str:
    return f"{name} <{address}>" if address and "@" in address and address != name else name or address


def _fixed_properties(data: bytes, start: int) -> dict[int, int]:
    """The properties of fixed size, by id."""
    found = {}
    for at in range(start, len(data) - 15, 16):
        tag, _, value = struct.unpack_from("<IIQ", data, at)
        found[tag >> 16] = value
    return found


def decompress_rtf(data: bytes) -> bytes:
    """Decompress RTF (LZFu): literals and references into a window of 4,096 bytes."""
    if len(data) < 16:
        return b""
    if data[8:12] == b"MELA":
        return data[16:]
    window = bytearray(_INITIAL_DICTIONARY.ljust(4_096, b"\0"))
    write, at, result = len(_INITIAL_DICTIONARY), 16, bytearray()
    while at < len(data) and len(result) < _MOST_UNPACKED:
        flags, at = data[at], at + 1
        for bit in range(8):
            if at >= len(data):
                break
            if not flags >> bit & 1:
                piece, at = data[at : at + 1], at + 1
            else:
                word, at = int.from_bytes(data[at : at + 2], "big"), at + 2
                offset, length = word >> 4, (word & 15) + 2
                if offset == write % 4_096:
                    return bytes(result)
                piece = b""
                for step in range(length):  # the reference may overlap what it writes
                    octet = window[(offset + step) % 4_096]
                    window[(write + step) % 4_096] = octet
                    piece += bytes([octet])
            for step, octet in enumerate(piece):
                window[(write + step) % 4_096] = octet
            write += len(piece)
            result += piece
    return bytes(result)
