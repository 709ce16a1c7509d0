"""Which pages say almost the same as one that was just fetched? The index of sketches.

Only pages that are no duplicates themselves stand in the bands, so that a page that is copied a thousand times is met once.
Everything that a batch asks is asked in one question, and pages of one batch find each other.
"""

from __future__ import annotations

import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import apsw

from crawler.duplicates.bands import bands_for, document_keys, estimate_similarities
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.minhash import PERMUTATIONS, Sketch
from crawler.items import Tier
from crawler.stores.contract.similarity import SimilarPage
from crawler.stores.sqlite.document_rows import find_document

MOST_IN_BAND = 64  # pages that share a key; more would only make it slower
_BLOCK = 8_192  # pages that are read at a time: no reading is so long that the log could not be put into the file
MOST_COMPARED = 3  # texts that are read again for one page
_MARKS = 2 * PERMUTATIONS  # bytes of a sketch before its simhash


class SimilarCandidate(NamedTuple):
    """A page that may be the same."""

    id: int  # as in urls; negative = of the batch that is being looked at
    document: int
    estimate: float


class SimilarityVerdict(NamedTuple):
    """The page that another is almost the same as, or that it must be compared with."""

    of: SimilarCandidate | None
    similarity: float = 0.0
    tier: Tier | None = None
    doubts: Sequence[SimilarCandidate] = ()


NONE = SimilarityVerdict(None)


class SketchRow(NamedTuple):
    """What is kept of a page."""

    document: int
    host: int
    template: int  # fingerprint of what was taken out of it
    indexed: bool  # it is no duplicate, so others can be found to be duplicates of it
    sketch: bytes


class SimilarityIndex:
    """The index as a transaction, or a look before it, needs it. What is entered is found at once, and written in the end."""

    def __init__(self, connection: apsw.Connection, rule: DuplicateRule) -> None:
        self.rule = rule
        self._connection = connection
        self._bands = bands_for(rule.threshold, PERMUTATIONS) if rule.threshold else None
        self._keys: dict[bytes, list[int]] = {}  # of sketches that were looked up
        self._sharing: dict[int, list[int]] = {}  # the pages that have a key
        self._pages: dict[int, tuple[int, bytes]] = {}  # their documents and sketches
        self._entered: dict[int, SketchRow] = {}
        self._gone: set[tuple[int, int]] = set()  # rows of bands that are to be deleted
        self._expected: list[bytes] = []

    def look_up(self, sketches: Iterable[bytes]) -> None:
        """Ask for all pages that share a key with one of these."""
        unknown = [sketch for sketch in sketches if sketch and sketch not in self._keys]
        if not unknown or self._bands is None:
            return
        new = dict(zip(unknown, document_keys(unknown, self._bands), strict=True))
        self._keys.update(new)
        keys = {key for own in new.values() for key in own} - self._sharing.keys()
        found = self._rows("SELECT b.band, b.id FROM carray(?) c CROSS JOIN bands b ON b.band = c.value", keys)
        for key in keys:
            self._sharing[key] = []
        for key, number in found:
            if (key, number) not in self._gone:
                self._sharing[key].append(number)
        numbers = {number for _, number in found} - self._pages.keys()
        for number, document, sketch in self._rows(
            "SELECT s.id, s.document, s.sketch FROM carray(?) c CROSS JOIN sketches s ON s.id = c.value", numbers
        ):
            self._pages[number] = (document, sketch)

    def judge(
        self, own: int | None, sketch: bytes, compared: Mapping[int, float], *, doubting: bool = False
    ) -> SimilarityVerdict:
        """Which page this sketch is almost the same as. Where estimates are `doubting`, those in doubt are named instead."""
        doubts: list[SimilarCandidate] = []
        best = NONE
        for candidate in self._candidates(own, sketch):
            exact = compared.get(candidate.id)
            if exact is not None:
                if exact >= self.rule.threshold and exact > best.similarity:
                    best = SimilarityVerdict(candidate, exact, Tier.COMPARED)
                continue
            is_duplicate = self.rule.is_duplicate(candidate.estimate)
            if is_duplicate is None and doubting:
                doubts.append(candidate)
            elif candidate.estimate >= self.rule.threshold and candidate.estimate > best.similarity:
                best = SimilarityVerdict(candidate, candidate.estimate, Tier.SKETCH)
        return SimilarityVerdict(None, doubts=doubts[:MOST_COMPARED]) if doubts and best.of is None else best

    def expect(self, number: int, sketch: bytes) -> None:
        """A page that will be entered, under a number of its own below zero, so that others of its batch meet it."""
        self._pages[number] = (0, sketch)
        for key in self._keys.get(sketch, ()):
            self._sharing[key].append(number)
        self._expected.append(sketch)

    def expect_no_more(self) -> None:
        for sketch in self._expected:
            for key in self._keys.get(sketch, ()):
                self._sharing[key].pop()  # what is expected stands behind all else
        self._expected.clear()

    def enter(self, number: int, entry: SketchRow, *, is_first: bool = False) -> None:
        """A page as it is now, perhaps for the first time.

        One that is a duplicate is kept for the day when its original goes, and not found until then.
        """
        before = self.entry_of(number) if not is_first else None
        was_found = before.sketch if before is not None and before.indexed else b""
        is_found = entry.sketch if entry.indexed else b""
        if was_found and was_found != is_found:
            self._forget(number, was_found)
        self._entered[number] = entry
        self._pages[number] = (entry.document, entry.sketch)
        if is_found and was_found != is_found:
            self.look_up([is_found])
            for key in self._keys.get(is_found, ()):
                self._sharing[key].append(number)

    def show(self, number: int, *, indexed: bool) -> None:
        """A page has become an original, or a duplicate."""
        entry = self.entry_of(number)
        if entry is not None:
            self.enter(number, entry._replace(indexed=indexed))

    def leave(self, number: int) -> None:
        """There is no such page any more, or none that could be compared."""
        before = self.entry_of(number)
        if before is None:
            return
        if before.indexed:
            self._forget(number, before.sketch)
        self._entered.pop(number, None)
        self._pages.pop(number, None)
        self._connection.execute("DELETE FROM sketches WHERE id = ?", (number,))

    def entry_of(self, number: int) -> SketchRow | None:
        entered = self._entered.get(number)
        if entered is not None:
            return entered
        row = self._connection.execute(
            "SELECT document, host, template, indexed, sketch FROM sketches WHERE id = ?", (number,)
        ).get
        return SketchRow(*row) if row is not None else None

    def write(self) -> None:
        """All that was entered."""
        if not self._entered and not self._gone:
            return
        self._connection.executemany("DELETE FROM bands WHERE band = ? AND id = ?", self._gone)
        self._connection.executemany(
            """INSERT INTO sketches (id, document, host, template, indexed, sketch) VALUES (?, ?, ?, ?, ?, ?)
               ON CONFLICT (id) DO UPDATE SET document = excluded.document, template = excluded.template,
                   indexed = excluded.indexed, sketch = excluded.sketch""",
            [(number, *row) for number, row in self._entered.items()],
        )
        self._connection.executemany("INSERT OR IGNORE INTO bands VALUES (?, ?)", sorted(self._new_bands()))
        self._entered.clear()
        self._gone.clear()

    def rebuild(self) -> int:
        """Enter all pages that are no duplicates anew, a part at a time; how many there were."""
        self._connection.execute("DELETE FROM bands")
        count, last, rows = 0, -1, self._part(-1)
        while rows:
            numbers, sketches = zip(*rows, strict=True)
            found = document_keys(sketches, self._bands) if self._bands is not None else []
            keys = sorted((key, number) for number, own in zip(numbers, found, strict=True) for key in own)
            self._connection.executemany("INSERT INTO bands VALUES (?, ?)", keys)
            count, last = count + len(rows), rows[-1][0]
            rows = self._part(last)
        self._connection.execute(
            """DELETE FROM bands WHERE (band, id) IN (
                   SELECT band, id FROM (SELECT band, id, row_number() OVER (PARTITION BY band ORDER BY id) AS place FROM bands)
                   WHERE place > ?)""",
            (MOST_IN_BAND,),
        )
        return count

    def _part(self, after: int) -> list[Any]:
        return self._connection.execute(
            "SELECT id, sketch FROM sketches WHERE indexed AND id > ? ORDER BY id LIMIT 10000", (after,)
        ).fetchall()

    def _new_bands(self) -> Iterable[tuple[int, int]]:
        self.look_up([entry.sketch for entry in self._entered.values() if entry.indexed])
        for number, entry in self._entered.items():
            if entry.indexed:
                for key in self._keys.get(entry.sketch, ()):
                    sharing = self._sharing[key]
                    if len(sharing) <= MOST_IN_BAND or number in sharing[:MOST_IN_BAND]:
                        yield key, number

    def _forget(self, number: int, sketch: bytes) -> None:
        keys = self._keys_of(sketch)
        self._gone.update((key, number) for key in keys)
        for key in keys:
            sharing = self._sharing.get(key, [])
            if number in sharing:
                sharing.remove(number)

    def _candidates(self, own: int | None, sketch: bytes) -> list[SimilarCandidate]:
        """Those that share a key with it, the most similar first."""
        self.look_up([sketch])
        sharing = [numbers for key in self._keys.get(sketch, ()) if (numbers := self._sharing[key])]
        met = Counter(number for numbers in sharing for number in numbers if number != own) if sharing else None
        if not met:
            return []
        numbers = [number for number, _ in met.most_common(2 * MOST_IN_BAND) if number in self._pages]
        shares = estimate_similarities(sketch_in(sketch), [sketch_in(self._pages[number][1]) for number in numbers])
        found = [
            SimilarCandidate(number, self._pages[number][0], share)
            for number, share in zip(numbers, shares, strict=True)
        ]
        return sorted(found, key=lambda candidate: (-candidate.estimate, candidate.id))

    def _rows(self, statement: str, numbers: AbstractSet[int]) -> list[Any]:
        """What a statement finds for each number of an array."""
        if not numbers:
            return []
        values = apsw.carray(array.array("q", sorted(numbers)))
        return self._connection.execute(statement, (values,)).fetchall()

    def _keys_of(self, sketch: bytes) -> list[int]:
        return document_keys([sketch], self._bands)[0] if self._bands is not None else []


def sketch_in(data: bytes) -> Sketch:
    """The MinHash of what is kept of a page."""
    return Sketch.from_bytes(data[:_MARKS])


# ── all pages that can be compared, for whoever goes through the whole collection; a crawl may go on meanwhile ──


def sketches(connection: apsw.Connection) -> Iterator[Sequence[tuple[int, int, bytes]]]:
    rows = _block(connection, -1)
    while rows:
        yield rows
        rows = _block(connection, rows[-1][0])


def find_sketched(connection: apsw.Connection, number: int) -> SimilarPage | None:
    document = connection.execute("SELECT document FROM sketches WHERE id = ?", (number,)).get
    found = find_document(connection, document) if document is not None else None
    return SimilarPage(id=number, document=found, template=template(connection, found.key.host)) if found else None


def template(connection: apsw.Connection, host: int) -> bytes:
    found: bytes | None = connection.execute("SELECT template FROM hosts WHERE host = ?", (host,)).get
    return found or b""


def _block(connection: apsw.Connection, after: int) -> list[Any]:
    return connection.execute(
        "SELECT id, document, sketch FROM sketches WHERE id > ? ORDER BY id LIMIT ?", (after, _BLOCK)
    ).fetchall()
