"""Builders of files of the older Office programs: an OLE2 container, and streams of records."""

from __future__ import annotations

import struct
from collections.abc import Mapping

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
END, FREE, TABLE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
SMALLEST = 4_096  # shorter streams are stored elsewhere, so ours are padded to it


def compound(streams: Mapping[str, bytes]) -> bytes:
    """An OLE2 file; slashes in names separate storages. The sector table has one sector: up to 60 KB in all."""
    sectors: list[bytes] = []
    chain: list[int] = [TABLE]
    starts = {}
    for name, data in streams.items():
        padded = data.ljust(SMALLEST, b"\0")
        padded += b"\0" * (-len(padded) % 512)
        starts[name] = (len(chain), len(padded))
        sectors += [padded[at : at + 512] for at in range(0, len(padded), 512)]
        chain += [*range(len(chain) + 1, len(chain) + len(padded) // 512), END]
    directory = _directory(streams, starts)
    first = len(chain)
    sectors += [directory[at : at + 512] for at in range(0, len(directory), 512)]
    chain += [*range(first + 1, first + len(directory) // 512), END]
    assert len(chain) <= 128
    table = struct.pack(f"<{len(chain)}I", *chain).ljust(512, b"\xff")
    header = SIGNATURE + b"\0" * 16 + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + b"\0" * 6
    header += struct.pack("<IIIIIIIIII", 0, 1, first, 0, SMALLEST, END, 0, END, 0, 0) + b"\xff" * 432
    return header + table + b"".join(sectors)


def _directory(streams: Mapping[str, bytes], starts: Mapping[str, tuple[int, int]]) -> bytes:
    """The directory: siblings form a chain to the right, ordered by length, then by name, as the format requires."""
    paths = {name.rpartition("/")[0] for name in streams if "/" in name}
    paths |= {"/".join(path.split("/")[:depth]) for path in paths for depth in range(1, path.count("/") + 2)}
    names = ["", *sorted(paths | set(streams))]
    rows = []
    for name in names:
        children = (
            sorted((other for other in names[1:] if _parent(other) == name), key=_order) if name not in streams else []
        )
        siblings = sorted((other for other in names[1:] if _parent(other) == _parent(name)), key=_order) if name else []
        later = siblings[siblings.index(name) + 1 :] if name else []
        start, size = starts.get(name, (0, 0))
        kind = 2 if name in streams else 1 if name else 5
        raw = (name.rpartition("/")[2] or "Root Entry").encode("utf-16-le") + b"\0\0"
        rows.append(
            raw.ljust(64, b"\0")
            + struct.pack(
                "<HBBIII",
                len(raw),
                kind,
                1,
                FREE,
                names.index(later[0]) if later else FREE,
                names.index(children[0]) if children else FREE,
            )
            + b"\0" * 36
            + struct.pack("<IQ", start if size else END, size)
        )
    directory = b"".join(rows)
    return directory + b"\0" * (-len(directory) % 512)


def _parent(name: str) -> str | None:
    return name.rpartition("/")[0] if name else None


def _order(name: str) -> tuple[int, str]:
    last = name.rpartition("/")[2]
    return len(last), last.upper()


# ── Word ──


def word(
    text: str, *, headings: Mapping[int, int] | None = None, bold: tuple[int, int] = (0, 0), flags: int = 0
) -> dict[str, bytes]:
    """A Word document with two-byte characters; `headings` maps paragraphs to levels, `bold` is a range."""
    start = 0x800
    raw = text.encode("utf-16-le")
    pages_at = (start + len(raw) + 511) // 512
    ends, at = [start], start
    for part in text.split("\r")[:-1]:
        at += 2 * (len(part) + 1)
        ends.append(at)
    styles = [struct.pack("<BH", 2, (headings or {}).get(number, 0)) for number in range(len(ends) - 1)]
    paragraphs = _page(ends, styles, 13)
    places = [start, start + 2 * bold[0], start + 2 * bold[1], start + len(raw)]
    characters = _page(places, [b"", b"\x03\x35\x08\x01", b""], 1)
    head = bytearray(0x800)
    struct.pack_into("<HHHHH", head, 0, 0xA5EC, 0xC1, 0, 0x0409, 0)
    struct.pack_into("<H", head, 0x0A, 0x0200 | flags)
    struct.pack_into("<II", head, 0x18, start, start + len(raw))
    struct.pack_into("<I", head, 0x4C, len(text))
    pieces = b"\x02" + struct.pack("<I", 16) + struct.pack("<II", 0, len(text)) + struct.pack("<HIH", 0, start, 0)
    table = pieces
    for field, first, last, page in ((0x102, ends[0], ends[-1], pages_at), (0xFA, places[0], places[-1], pages_at + 1)):
        struct.pack_into("<II", head, field, len(table), 12)
        table += struct.pack("<III", first, last, page)
    struct.pack_into("<II", head, 0x1A2, 0, len(pieces))
    main = (bytes(head) + raw).ljust(512 * pages_at, b"\0") + paragraphs + characters
    return {"WordDocument": main, "1Table": table}


def _page(places: list[int], formats: list[bytes], width: int) -> bytes:
    """A formatting page: formatting is stored at its end, positions and pointers at its beginning."""
    page = bytearray(512)
    struct.pack_into(f"<{len(places)}I", page, 0, *places)
    end = 510
    for number, one_format in enumerate(formats):
        if not one_format:
            continue
        end = (end - len(one_format)) // 2 * 2
        page[end : end + len(one_format)] = one_format
        page[4 * len(places) + width * number] = end // 2
    page[511] = len(formats)
    return bytes(page)


# ── PowerPoint ──


def record(kind: int, body: bytes, *, instance: int = 0, is_container: bool = False) -> bytes:
    return struct.pack("<HHI", instance << 4 | (0xF if is_container else 0), kind, len(body)) + body


def container(kind: int, *parts: bytes, instance: int = 0) -> bytes:
    return record(kind, b"".join(parts), instance=instance, is_container=True)


def slides(title: str, words: str, url: str) -> dict[str, bytes]:
    """A presentation of one slide, with a title in its outline, words in a box, and a link."""
    outline = container(
        0x0FF0,
        record(0x03F3, struct.pack("<I", 2) + b"\0" * 16),
        record(0x0F9F, struct.pack("<I", 0)),
        record(0x0FA0, title.encode("utf-16-le")),
    )
    link = container(
        0x0409,
        container(
            0x0FD7, record(0x0FBA, "go".encode("utf-16-le")), record(0x0FBA, url.encode("utf-16-le"), instance=1)
        ),
    )
    document = container(0x03E8, link, outline)
    slide = container(
        0x03EE, container(0xF00D, record(0x0F9F, struct.pack("<I", 4)), record(0x0FA8, words.encode("cp1252")))
    )
    old = container(0x03EE, record(0x0FA8, b"of an earlier version"))
    places = struct.pack("<III", 2 << 20 | 1, 0, len(document))
    directory_at = len(document) + len(slide) + len(old)
    directory = record(0x1772, places)
    edit = record(0x0FF5, struct.pack("<IIIII", 0, 0, 0, directory_at, 1) + b"\0" * 8)
    user = record(0x0FF6, struct.pack("<III", 20, 0xE391C05F, directory_at + len(directory)) + b"\0" * 8)
    return {"PowerPoint Document": document + slide + old + directory + edit, "Current User": user}


# ── Excel ──


def sheet_record(kind: int, body: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def short(text: str, size: str = "<H") -> bytes:
    return struct.pack(size, len(text)) + b"\0" + text.encode("latin-1")


def workbook() -> bytes:
    """A workbook: a string cut between records, a formatted number, a date, a formula, a header, a link, a chart."""
    begin, end = struct.pack("<HH", 0x0600, 0x0005) + b"\0" * 12, sheet_record(0x0A)
    strings = struct.pack("<II", 2, 2) + short("Flies") + struct.pack("<H", 6) + b"\0Spi"
    head = sheet_record(0x809, begin) + sheet_record(0x85, b"\0" * 6 + short("Stock", "<B"))
    head += sheet_record(0x41E, struct.pack("<H", 164) + short("yyyy-mm-dd"))
    head += b"".join(sheet_record(0xE0, struct.pack("<HH", 0, code) + b"\0" * 16) for code in (0, 164, 4))
    head += sheet_record(0xFC, strings) + sheet_record(0x3C, b"\1" + "der".encode("utf-16-le")) + end
    cells = sheet_record(0xFD, struct.pack("<HHHI", 0, 0, 0, 0)) + sheet_record(0xFD, struct.pack("<HHHI", 0, 2, 0, 1))
    cells += sheet_record(0x203, struct.pack("<HHHd", 1, 0, 1, 44197.0)) + sheet_record(
        0x27E, struct.pack("<HHHI", 1, 1, 2, 123450 << 2 | 3)
    )
    cells += sheet_record(0x06, struct.pack("<HHH", 1, 2, 0) + b"\0" * 6 + b"\xff\xff" + b"\0" * 8) + sheet_record(
        0x207, short("made")
    )
    cells += sheet_record(0x205, struct.pack("<HHHBB", 1, 3, 0, 1, 0)) + sheet_record(0x14, short("&CTop"))
    url = "http://a.example/xls\0".encode("utf-16-le")
    mark = bytes.fromhex("e0c9ea79f9bace118c8200aa004ba90b")
    cells += sheet_record(
        0x1B8, struct.pack("<HHHH", 0, 0, 0, 0) + b"\0" * 24 + mark + struct.pack("<I", len(url)) + url
    )
    chart = (
        sheet_record(0x809, struct.pack("<HH", 0x0600, 0x0020) + b"\0" * 12)
        + sheet_record(0x204, struct.pack("<HHH", 0, 0, 0) + short("charted"))
        + end
    )
    return head + sheet_record(0x809, struct.pack("<HH", 0x0600, 0x0010) + b"\0" * 12) + chart + cells + end


# ── Outlook ──


def outlook_message() -> dict[str, bytes]:
    attached = "__attach_version1.0_#00000000/"
    wide = lambda text: text.encode("utf-16-le")  # noqa: E731
    sent = struct.pack("<IIQ", 0x00390040, 6, 132539328000000000)
    return {
        "__properties_version1.0": b"\0" * 32 + sent,
        "__substg1.0_0037001F": wide("Grüße"),
        "__substg1.0_0C1A001E": b"Ann",
        "__substg1.0_0C1F001E": b"ann@a.example",
        "__substg1.0_1000001F": wide("Some words."),
        f"{attached}__substg1.0_3707001F": wide("list.csv"),
        f"{attached}__substg1.0_37010102": b"name;age\nCleo;7\n" + b"\n" * SMALLEST,
    }


def properties(values: Mapping[int, str]) -> bytes:
    """A property set of texts."""
    section, body = b"", b""
    offset = 8 + 8 * len(values)
    for identity, text in values.items():
        raw = text.encode("cp1252") + b"\0"
        section += struct.pack("<II", identity, offset + len(body))
        body += struct.pack("<II", 30, len(raw)) + raw + b"\0" * (-len(raw) % 4)
    section = struct.pack("<II", offset + len(body), len(values)) + section + body
    return b"\xfe\xff\0\0" + b"\0" * 20 + struct.pack("<I", 1) + b"\0" * 16 + struct.pack("<I", 48) + section
