"""Compute the numbers of paragraphs in documents of Word 97 to 2003."""

from __future__ import annotations

import struct

from crawler.parse.documents.numbering import Counters, NumberingLevel

_LIST_SIZE, _LEVEL_SIZE, _OVERRIDE_SIZE = 28, 28, 16
_MOST = 4_096
_KINDS = {0: "decimal", 1: "upperRoman", 2: "lowerRoman", 3: "upperLetter", 4: "lowerLetter", 5: "ordinal",
          22: "decimalZero", 23: "bullet", 255: "none"}  # fmt: skip


class NumberingLists:
    """The lists of a document, by the numbers with which paragraphs refer to them."""

    def __init__(self, table: bytes, lists_at: int, lists_size: int, overrides_at: int, overrides_size: int) -> None:
        self._counters: list[Counters] = []
        self._starts: list[dict[int, int]] = []
        try:
            shared = _lists(table, lists_at, lists_size) if lists_size else {}
            self._read_overrides(table, overrides_at, overrides_size, shared)
        except (struct.error, IndexError):
            return  # keep the lists read so far

    def number(self, number: int, depth: int) -> str:
        """The text of the number of the list's next paragraph, empty for bullets; lists are numbered from one."""
        if not 0 < number <= len(self._counters):
            return ""
        counters, starts = self._counters[number - 1], self._starts[number - 1]
        for at, start in starts.items():
            counters.restart(at, start)
        starts.clear()
        return counters.next(depth)

    def _read_overrides(self, table: bytes, at: int, size: int, shared: dict[int, Counters]) -> None:
        """Read the overrides: each refers to a list and may override some of its levels."""
        if not size:
            return
        count = min(struct.unpack_from("<I", table, at)[0], _MOST)
        heads = [struct.unpack_from("<IIIB", table, at + 4 + _OVERRIDE_SIZE * index) for index in range(count)]
        at += 4 + _OVERRIDE_SIZE * count
        for identity, _, _, levels in heads:
            self._counters.append(shared.setdefault(identity, Counters({})))
            self._starts.append({})
            at += 4  # an unused field
            for _ in range(min(levels, 9)):
                start, flags = struct.unpack_from("<II", table, at)
                at += 8
                depth = flags & 15
                if flags & 0x20:
                    level, at = _level(table, at)
                    self._counters[-1] = Counters({**self._counters[-1].levels, depth: level})
                    if flags & 0x10:
                        self._starts[-1][depth] = level.start
                elif flags & 0x10:
                    self._starts[-1][depth] = start


def _lists(table: bytes, at: int, size: int) -> dict[int, Counters]:
    count = min(struct.unpack_from("<H", table, at)[0], _MOST)
    heads = [
        (struct.unpack_from("<I", table, at + 2 + _LIST_SIZE * index)[0], table[at + 2 + _LIST_SIZE * index + 26])
        for index in range(count)
    ]
    at += size
    found = {}
    for identity, flags in heads:
        levels = {}
        for depth in range(1 if flags & 1 else 9):
            levels[depth], at = _level(table, at)
        found[identity] = Counters(levels)
    return found


def _level(table: bytes, at: int) -> tuple[NumberingLevel, int]:
    """Read the definition of one level, and the offset after it."""
    start, kind, flags = struct.unpack_from("<IBB", table, at)
    characters, paragraphs = table[at + 24], table[at + 25]
    at += _LEVEL_SIZE + characters + paragraphs
    length = struct.unpack_from("<H", table, at)[0]
    raw = table[at + 2 : at + 2 + 2 * length].decode("utf-16-le", "replace")
    text = "".join(f"%{ord(character) + 1}" if ord(character) < 9 else character for character in raw)
    kind_name = _KINDS.get(kind, "decimal")
    return NumberingLevel(kind_name, text, start, not flags & 8, bool(flags & 4)), at + 2 + 2 * length
