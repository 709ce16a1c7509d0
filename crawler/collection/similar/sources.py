"""Sources of documents to compare: the pages of a collection, the source code in it, or local files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from crawler.collection.archive_reader import read_archived
from crawler.collection.similar.document import CODE_FORMATS, ComparableDocument, ComparableReader
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.words import Hashes
from crawler.errors import BadInput, DiskTrouble
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.contract.store import Store

_CACHED_DOCUMENTS = 512  # documents whose shingles are cached between comparisons
Progress = Callable[[str, int, int], None]  # step, amount done, total (0 = unknown)


class DocumentSource(Protocol):
    """Documents that can be compared, each under a number."""

    def sketches(self, progress: Progress) -> Iterator[tuple[int, bytes]]:
        """The number and sketch of each document; the sketch of one with too few words may be empty."""

    def read(self, number: int) -> ComparableDocument | None:
        """Read a document; None if it cannot be read any more."""

    def name(self, number: int) -> str:
        """URL or path of a document; empty if it no longer exists."""


class Collection:
    """The archived documents, and the reader that reads them again for comparison."""

    def __init__(self, store: Store, directory: Path, reader: ComparableReader) -> None:
        self.store = store
        self.reader = reader
        self.unread: dict[str, str] = {}  # URLs of documents that cannot be read from the archive, and why
        self._directory = directory

    def read(self, document: DocumentRow, template: bytes = b"") -> ComparableDocument | None:
        """Read a document from the archive; None if that is impossible, which is recorded in `unread`."""
        try:
            return self.reader.answer(read_archived(self.store, self._directory, document), template)
        except DiskTrouble as error:
            self.unread[document.url] = str(error)
            return None


class SketchedPages:
    """The pages of a collection that have sketches, by the number of their URL."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._store = collection.store

    def sketches(self, progress: Progress) -> Iterator[tuple[int, bytes]]:
        of, done = self._store.similarity.count_sketches(), 0
        for block in self._store.similarity.sketches():
            yield from ((number, sketch) for number, _, sketch in block)
            done += len(block)
            progress("reading sketches", done, of)

    def read(self, number: int) -> ComparableDocument | None:
        page = self._store.similarity.find_sketched(number)
        return self._collection.read(page.document, page.template) if page is not None else None

    def name(self, number: int) -> str:
        page = self._store.similarity.find_sketched(number)
        return page.document.url if page is not None else ""


class SourceCodeDocuments:
    """Source code and plain text of a collection, by document number; all of it is read again from the archive."""

    def __init__(self, collection: Collection, rule: DuplicateRule) -> None:
        self._collection = collection
        self._store = collection.store
        self._rule = rule

    def sketches(self, progress: Progress) -> Iterator[tuple[int, bytes]]:
        for number, document in self.read_all(progress):
            yield number, document.sketch(self._rule)

    def read_all(self, progress: Progress) -> Iterator[tuple[int, ComparableDocument]]:
        """Read every current document that may be source code."""
        newest = self._store.changes.version()
        for published in self._store.changes.published():
            progress("reading documents", min(published.version, newest), newest)
            document = published.document
            if document is not None and document.format in CODE_FORMATS:
                comparable = self._collection.read(document)
                if comparable is not None:
                    yield document.id, comparable

    def read(self, number: int) -> ComparableDocument | None:
        document = self._store.documents.find(number)
        return self._collection.read(document) if document is not None else None

    def name(self, number: int) -> str:
        document = self._store.documents.find(number)
        return document.url if document is not None else ""


class LocalFiles:
    """Local files, numbered by their position in a list."""

    def __init__(self, paths: Sequence[Path], reader: ComparableReader, rule: DuplicateRule) -> None:
        self.unread: dict[str, str] = {}  # paths of those that cannot be read, and why
        self._paths = paths
        self._reader = reader
        self._rule = rule

    def sketches(self, progress: Progress) -> Iterator[tuple[int, bytes]]:
        for number in range(len(self._paths)):
            document = self.read(number)
            if document is not None:
                yield number, document.sketch(self._rule)
            progress("reading files", number + 1, len(self._paths))

    def read(self, number: int) -> ComparableDocument | None:
        try:
            return self._reader.file(self._paths[number])
        except BadInput as error:
            self.unread[self.name(number)] = str(error)
            return None

    def name(self, number: int) -> str:
        return str(self._paths[number])


def list_files(names: Sequence[str]) -> list[Path]:
    """The named files, and all files below the named directories but hidden ones; each once, sorted by path."""
    files: set[Path] = set()
    for name in names:
        path = Path(name)
        if path.is_dir():
            files.update(below for below in path.rglob("*") if below.is_file() and not _is_hidden(below, path))
        elif path.is_file():
            files.add(path)
        else:
            raise BadInput(f"{name}: no such file or directory; without names the collection is searched.")
    if not files:
        raise BadInput(f"{', '.join(names)}: no files in there.")
    return sorted(files)


def text_comparison(documents: DocumentSource, rule: DuplicateRule) -> Callable[[int, int], float | None]:
    """A function that computes the exact similarity of two documents, or returns None if one cannot be read."""

    @lru_cache(maxsize=_CACHED_DOCUMENTS)
    def shingles(number: int) -> Hashes | None:
        document = documents.read(number)
        return document.shingles(rule) if document is not None else None

    def compare(one: int, other: int) -> float | None:
        own, others = shingles(one), shingles(other)
        return jaccard(own, others) if own is not None and others is not None else None

    return compare


def _is_hidden(path: Path, directory: Path) -> bool:
    """Whether a file is hidden, lies in a hidden directory, or is a symbolic link."""
    return path.is_symlink() or any(part.startswith(".") for part in path.relative_to(directory).parts)
