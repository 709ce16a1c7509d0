"""The index of sketches, which finds near-duplicates of a page that was just fetched.

Only originals are in the bands, so that a page with a thousand copies is found once. All sketches of a batch are looked
up in one query, and pages of one batch find each other.
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

MOST_IN_BAND = 64  # pages with one key; more would only cost time
_BLOCK = 8_192  # pages that are read at a time: a longer read would keep SQLite from checkpointing its log
MOST_COMPARED = 3  # pages with which the text of one page is compared
_MINHASH_BYTES = 2 * PERMUTATIONS  # the simhash follows


class SimilarCandidate(NamedTuple):
    """A page that may be a near-duplicate."""

    id: int  # number in urls; negative = a page of the same batch
    document: int
    estimate: float


class SimilarityVerdict(NamedTuple):
    """The original of which a page is a near-duplicate, or the candidates that its text must be compared with."""

    original: SimilarCandidate | None
    similarity: float = 0.0
    tier: Tier | None = None
    undecided: Sequence[SimilarCandidate] = ()


NO_DUPLICATE = SimilarityVerdict(None)


class SketchRow(NamedTuple):
    """The row of a page in `sketches`, without its number."""

    document: int
    host: int
    template: int  # fingerprint of the template that was removed
    indexed: bool  # it is an original, and therefore in the bands
    sketch: bytes


class SimilarityIndex:
    """The index during one transaction, or one search before it. Entries are found at once, and written at the end."""

    def __init__(self, connection: apsw.Connection, rule: DuplicateRule) -> None:
        self.rule = rule
        self._connection = connection
        self._bands = bands_for(rule.threshold, PERMUTATIONS) if rule.threshold else None
        self._keys: dict[bytes, list[int]] = {}  # sketch that was looked up → its keys
        self._pages_by_key: dict[int, list[int]] = {}  # key → pages that have it
        self._pages: dict[int, tuple[int, bytes]] = {}  # page → document, sketch
        self._entered: dict[int, SketchRow] = {}
        self._removed_bands: set[tuple[int, int]] = set()  # rows of `bands` to delete
        self._pending: list[bytes] = []

    def look_up(self, sketches: Iterable[bytes]) -> None:
        """Read all pages that share a key with one of these sketches."""
        missing = [sketch for sketch in sketches if sketch and sketch not in self._keys]
        if not missing or self._bands is None:
            return
        new = dict(zip(missing, document_keys(missing, self._bands), strict=True))
        self._keys.update(new)
        keys = {key for own in new.values() for key in own} - self._pages_by_key.keys()
        found = self._rows("SELECT b.band, b.id FROM carray(?) c CROSS JOIN bands b ON b.band = c.value", keys)
        for key in keys:
            self._pages_by_key[key] = []
        for key, number in found:
            if (key, number) not in self._removed_bands:
                self._pages_by_key[key].append(number)
        numbers = {number for _, number in found} - self._pages.keys()
        for number, document, sketch in self._rows(
            "SELECT s.id, s.document, s.sketch FROM carray(?) c CROSS JOIN sketches s ON s.id = c.value", numbers
        ):
            self._pages[number] = (document, sketch)

    def judge(
        self, own: int | None, sketch: bytes, compared: Mapping[int, float], *, may_defer: bool = False
    ) -> SimilarityVerdict:
        """Return the original of which a page with this sketch is a near-duplicate.

        `own` is the number of the page itself; `compared` has the similarities of pages whose texts were compared. With
        `may_defer`, candidates whose estimates do not decide are returned instead, if there is no original.
        """
        undecided: list[SimilarCandidate] = []
        best = NO_DUPLICATE
        for candidate in self._candidates(own, sketch):
            exact = compared.get(candidate.id)
            if exact is not None:
                if exact >= self.rule.threshold and exact > best.similarity:
                    best = SimilarityVerdict(candidate, exact, Tier.COMPARED)
                continue
            is_duplicate = self.rule.is_duplicate(candidate.estimate)
            if is_duplicate is None and may_defer:
                undecided.append(candidate)
            elif candidate.estimate >= self.rule.threshold and candidate.estimate > best.similarity:
                best = SimilarityVerdict(candidate, candidate.estimate, Tier.SKETCH)
        return (
            SimilarityVerdict(None, undecided=undecided[:MOST_COMPARED])
            if undecided and best.original is None
            else best
        )

    def add_pending(self, number: int, sketch: bytes) -> None:
        """Add a page of the batch that is not committed yet, under a negative number, so that later ones find it."""
        self._pages[number] = (0, sketch)
        for key in self._keys.get(sketch, ()):
            self._pages_by_key[key].append(number)
        self._pending.append(sketch)

    def drop_pending(self) -> None:
        """Remove the pages that `add_pending` has added."""
        for sketch in self._pending:
            for key in self._keys.get(sketch, ()):
                self._pages_by_key[key].pop()  # pending pages are at the end
        self._pending.clear()

    def enter(self, number: int, entry: SketchRow, *, is_first: bool = False) -> None:
        """Enter the current sketch of a page; `is_first` if it has none yet.

        The sketch of a copy is stored for the case that its original is deleted, but not found until then.
        """
        before = self.entry_of(number) if not is_first else None
        old_sketch = before.sketch if before is not None and before.indexed else b""
        new_sketch = entry.sketch if entry.indexed else b""
        if old_sketch and old_sketch != new_sketch:
            self._remove_bands(number, old_sketch)
        self._entered[number] = entry
        self._pages[number] = (entry.document, entry.sketch)
        if new_sketch and old_sketch != new_sketch:
            self.look_up([new_sketch])
            for key in self._keys.get(new_sketch, ()):
                self._pages_by_key[key].append(number)

    def set_indexed(self, number: int, *, indexed: bool) -> None:
        """Add a page that has become an original to the bands, or remove one that has become a copy."""
        entry = self.entry_of(number)
        if entry is not None:
            self.enter(number, entry._replace(indexed=indexed))

    def remove(self, number: int) -> None:
        """Remove a page that is deleted, or cannot be compared any more."""
        before = self.entry_of(number)
        if before is None:
            return
        if before.indexed:
            self._remove_bands(number, before.sketch)
        self._entered.pop(number, None)
        self._pages.pop(number, None)
        self._connection.execute("DELETE FROM sketches WHERE id = ?", (number,))

    def entry_of(self, number: int) -> SketchRow | None:
        """Return the entry of a page."""
        entered = self._entered.get(number)
        if entered is not None:
            return entered
        row = self._connection.execute(
            "SELECT document, host, template, indexed, sketch FROM sketches WHERE id = ?", (number,)
        ).get
        return SketchRow(*row) if row is not None else None

    def write(self) -> None:
        """Write all entries."""
        if not self._entered and not self._removed_bands:
            return
        self._connection.executemany("DELETE FROM bands WHERE band = ? AND id = ?", self._removed_bands)
        self._connection.executemany(
            """INSERT INTO sketches (id, document, host, template, indexed, sketch) VALUES (?, ?, ?, ?, ?, ?)
               ON CONFLICT (id) DO UPDATE SET document = excluded.document, template = excluded.template,
                   indexed = excluded.indexed, sketch = excluded.sketch""",
            [(number, *row) for number, row in self._entered.items()],
        )
        self._connection.executemany("INSERT OR IGNORE INTO bands VALUES (?, ?)", sorted(self._new_bands()))
        self._entered.clear()
        self._removed_bands.clear()

    def rebuild(self) -> int:
        """Write the bands of all originals again, in parts, and return the number of originals."""
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
                   SELECT band, id
                   FROM (SELECT band, id, row_number() OVER (PARTITION BY band ORDER BY id) AS place FROM bands)
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
                    sharing = self._pages_by_key[key]
                    if len(sharing) <= MOST_IN_BAND or number in sharing[:MOST_IN_BAND]:
                        yield key, number

    def _remove_bands(self, number: int, sketch: bytes) -> None:
        keys = self._keys_of(sketch)
        self._removed_bands.update((key, number) for key in keys)
        for key in keys:
            sharing = self._pages_by_key.get(key, [])
            if number in sharing:
                sharing.remove(number)

    def _candidates(self, own: int | None, sketch: bytes) -> list[SimilarCandidate]:
        """Return the pages that share a key with a sketch, the most similar first."""
        self.look_up([sketch])
        sharing = [numbers for key in self._keys.get(sketch, ()) if (numbers := self._pages_by_key[key])]
        shared_keys = Counter(number for numbers in sharing for number in numbers if number != own) if sharing else None
        if not shared_keys:
            return []
        numbers = [number for number, _ in shared_keys.most_common(2 * MOST_IN_BAND) if number in self._pages]
        shares = estimate_similarities(sketch_in(sketch), [sketch_in(self._pages[number][1]) for number in numbers])
        found = [
            SimilarCandidate(number, self._pages[number][0], share)
            for number, share in zip(numbers, shares, strict=True)
        ]
        return sorted(found, key=lambda candidate: (-candidate.estimate, candidate.id))

    def _rows(self, statement: str, numbers: AbstractSet[int]) -> list[Any]:
        """Return the rows of a statement that joins an array of numbers."""
        if not numbers:
            return []
        values = apsw.carray(array.array("q", sorted(numbers)))
        return self._connection.execute(statement, (values,)).fetchall()

    def _keys_of(self, sketch: bytes) -> list[int]:
        return document_keys([sketch], self._bands)[0] if self._bands is not None else []


def sketch_in(data: bytes) -> Sketch:
    """Return the MinHash in a stored sketch."""
    return Sketch.from_bytes(data[:_MINHASH_BYTES])


# ── reading all sketches, while a crawl may be running ──


def sketches(connection: apsw.Connection) -> Iterator[Sequence[tuple[int, int, bytes]]]:
    """Yield (number in urls, document, sketch) of all pages that have a sketch, in blocks."""
    rows = _block(connection, -1)
    while rows:
        yield rows
        rows = _block(connection, rows[-1][0])


def find_sketched(connection: apsw.Connection, number: int) -> SimilarPage | None:
    """Return the page with this number in urls, if it has a sketch."""
    document = connection.execute("SELECT document FROM sketches WHERE id = ?", (number,)).get
    found = find_document(connection, document) if document is not None else None
    return SimilarPage(id=number, document=found, template=template(connection, found.key.host)) if found else None


def template(connection: apsw.Connection, host: int) -> bytes:
    """Return the template of a host; empty if none is known."""
    found: bytes | None = connection.execute("SELECT template FROM hosts WHERE host = ?", (host,)).get
    return found or b""


def _block(connection: apsw.Connection, after: int) -> list[Any]:
    return connection.execute(
        "SELECT id, document, sketch FROM sketches WHERE id > ? ORDER BY id LIMIT ?", (after, _BLOCK)
    ).fetchall()
