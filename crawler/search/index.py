"""An index that lives in a directory: full-text search without a server."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import msgspec
import tantivy

from crawler.errors import AlreadyRunning, BadInput, DiskTrouble
from crawler.files import PART, exclusive_lock, sync_directory, write_atomically
from crawler.items import ExportedDocument, ExportEntry, RejectedDocument, identifier

SCHEMA_VERSION = 1  # raise it when fields or tokenizers change: what is there must then be built anew
CHECKPOINT = "checkpoint.json"  # in the directory; whoever fills the index keeps it, and it goes when the index goes
DOCUMENTS = "documents"
WORDS, CHARACTERS = "words", "characters"  # tokenizers

_SCHEMA, _LOCK = "schema.json", "lock"
_OURS = {_SCHEMA, _SCHEMA + PART, _LOCK, DOCUMENTS, CHECKPOINT, CHECKPOINT + PART}
_HEAP = 64_000_000  # bytes of the writer, before it puts a part on the disk
_WAITING = (
    32_000_000  # characters that may wait for the writer: its own queue would take 10,000 documents of any length
)
_LONGEST = 100  # bytes of a word that is worth a place in the index
_SECONDARY = 0.5  # below this importance a block is not what a page is about
# Characters of scripts that put no spaces between words. Korean does, but what it adds to a word has none before it.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
UNSPACED = re.compile(f"[{_UNSPACED}]+")


class _Format(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in the file beside the index."""

    index: str
    schema: int


_FORMAT = _Format(index="orbweaver", schema=SCHEMA_VERSION)


class TantivyIndex:
    """Documents by their id, of which there is one each, as of the last version that was put.

    What was put is in the index, and on the disk, when `acknowledge` returns; after a kill it is as it was then. Nobody else
    writes meanwhile; who searches sees what was there when he began.
    """

    every = 10_000

    def __init__(self, directory: Path, *, full: bool = False, threads: int = 1) -> None:
        """Begins with nothing if `full`, or if nothing is there: `is_new` says so."""
        self._directory, self._threads = directory, threads
        _refuse_other(directory)
        with _disk(directory):
            directory.mkdir(parents=True, exist_ok=True)
            self._lock = _claimed(directory / _LOCK)
        try:
            self.is_new = full or not (directory / _SCHEMA).exists()
            if self.is_new:
                _start_over(directory)
            self._open()
        except BaseException:
            self._lock.close()
            raise

    def _open(self) -> None:
        with _disk(self._directory):
            self._index = open_index(self._directory)
            self._writer = self._index.writer(_HEAP, self._threads)
            self._searcher = self._index.searcher()
        self._unwritten: dict[str, int] = {}  # id → version of what is put and not yet in the index
        self._waiting = 0
        self._newest = self._newest_version()

    def put(self, entry: ExportEntry) -> None:
        name = identifier(entry.key)
        if self._is_outdated(name, entry.version):
            return
        with _disk(self._directory):
            self._writer.delete_documents_by_term("id", name)
            if isinstance(entry, ExportedDocument):
                self._writer.add_document(self._document(name, entry))
        self._unwritten[name] = entry.version
        if self._waiting >= _WAITING:
            self._commit()

    def acknowledge(self) -> Sequence[RejectedDocument]:
        if self._unwritten:
            self._commit()
        return []

    def clear(self) -> None:
        """Forget everything, and how far it went."""
        with _disk(self._directory):
            self._writer.wait_merging_threads()  # else they would write what is being removed
            del self._writer, self._searcher, self._index
            _start_over(self._directory)
        self.is_new = True
        self._open()

    def close(self) -> None:
        if self._lock.closed:
            return
        try:
            with suppress(ValueError):  # it has told of its troubles before, and nothing that was acknowledged is lost
                self._writer.wait_merging_threads()
        finally:
            self._lock.close()

    def _commit(self) -> None:
        with _disk(self._directory):
            self._writer.commit()
            # Its parts and its list of them are synced, the last rename of the list is not.
            sync_directory(self._directory / DOCUMENTS)
            self._index.reload()
            self._searcher = self._index.searcher()
        self._unwritten.clear()
        self._waiting = 0

    def _is_outdated(self, name: str, version: int) -> bool:
        """Whether something newer is there. Versions come in their order, so that hardly ever anybody has to look."""
        if version > self._newest:
            self._newest = version
            return False
        known = self._unwritten.get(name)
        if known is None:
            found = self._searcher.search(tantivy.Query.term_query(self._index.schema, "id", name), 1, count=False).hits
            known = self._version_at(found[0][1]) if found else 0
        return known > version

    def _version_at(self, address: tantivy.DocAddress) -> int:
        (version,) = self._searcher.fast_field_values("version", [address])
        return int(version or 0)

    def _newest_version(self) -> int:
        found = self._searcher.search(tantivy.Query.all_query(), 1, count=False, order_by_field="version").hits
        return self._version_at(found[0][1]) if found else 0

    def _document(self, name: str, entry: ExportedDocument) -> tantivy.Document:
        document = tantivy.Document()
        title, text = _whole(entry.title), _whole(entry.text)
        facts = {
            "id": name,
            "url": _whole(entry.url),
            "host": _whole(entry.host),
            "title": title,
            "text": text,
            "language": entry.language.lower(),
            "format": entry.format,
            "published_at": _whole(entry.metadata.get("published", "")),
            "duplicate_of": _whole(entry.duplicate_of or ""),
        }
        for field, value in facts.items():
            if value:
                document.add_text(field, value)
        for block in entry.blocks or ():
            if block.importance < _SECONDARY:
                document.add_text("rest", _whole(block.text))
                self._waiting += len(block.text)
        for _, anchor in entry.anchors:
            document.add_text("anchors", _whole(anchor))
        for unspaced in (title, text, *(anchor for _, anchor in entry.anchors)):
            if not unspaced.isascii() and UNSPACED.search(unspaced):
                document.add_text("characters", _whole(unspaced))
        document.add_date("fetched_at", datetime.fromtimestamp(entry.fetched, UTC))
        document.add_unsigned("version", entry.version)
        self._waiting += len(text)
        return document


def open_index(directory: Path) -> tantivy.Index:
    """The index in this directory, to write or to read."""
    check_format(directory)
    try:
        index = tantivy.Index.open(str(directory / DOCUMENTS))
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{directory}: the index there cannot be opened ({error}). Nothing was changed; --full builds it anew."
        ) from error
    for name, analyzer in analyzers().items():
        index.register_tokenizer(name, analyzer)
    index.config_reader("manual")
    return index


def analyzers() -> dict[str, tantivy.TextAnalyzer]:
    """How text becomes words: without case and accents, and else as it is, because languages bend words each in its way."""
    words, fold = tantivy.Tokenizer.simple(), tantivy.Filter
    return {
        WORDS: tantivy.TextAnalyzerBuilder(words)
        .filter(fold.remove_long(_LONGEST))
        .filter(fold.lowercase())
        .filter(fold.ascii_fold())
        .build(),
        CHARACTERS: tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_rust(_UNSPACED))).build(),
    }


def check_format(directory: Path) -> None:
    """`BadInput` if this directory holds no index that we can read."""
    path = directory / _SCHEMA
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_Format)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(
            f"{path}: this does not say what the index is ({error}). Nothing was changed; --full builds it anew."
        ) from error
    if found != _FORMAT:
        raise BadInput(
            f"{directory}: the index there has format {found.schema} of {found.index}, not {SCHEMA_VERSION} of "
            f"{_FORMAT.index}. Nothing was changed; --full builds it anew."
        )


def has_index(directory: Path) -> bool:
    return (directory / _SCHEMA).exists()


def _schema() -> tantivy.Schema:
    build = tantivy.SchemaBuilder()
    for name in ("id", "host", "language", "format", "published_at", "duplicate_of"):
        build.add_text_field(name, stored=True, fast=name == "host", tokenizer_name="raw", index_option="basic")
    for name in ("url", "title", "text"):
        build.add_text_field(name, stored=True, tokenizer_name=WORDS)
    for name in ("rest", "anchors"):
        build.add_text_field(name, tokenizer_name=WORDS)
    build.add_text_field("characters", tokenizer_name=CHARACTERS)
    build.add_date_field("fetched_at", stored=True, fast=True)
    build.add_unsigned_field("version", stored=True, fast=True)
    return build.build()


def _refuse_other(directory: Path) -> None:
    """A directory that somebody named by mistake stays as it is, even if all is to be built anew."""
    try:
        foreign = next((path.name for path in directory.iterdir() if path.name not in _OURS), None)
    except FileNotFoundError:
        return
    except OSError as error:
        raise BadInput(f"{directory}: an index cannot be here ({error.strerror}); name a directory.") from error
    if foreign is not None:
        raise BadInput(
            f"{directory}: this is no index, {foreign!r} is in it. Nothing was changed; name another directory, or an empty one."
        )


def _claimed(path: Path) -> BinaryIO:
    file = path.open("ab")
    if not exclusive_lock(file):
        file.close()
        raise AlreadyRunning(
            f"{path.parent}: another process is writing this index; nothing was changed. Wait for its end."
        )
    return file


def _start_over(directory: Path) -> None:
    """An empty index. How far the old one went is forgotten first, and what says that this is one is written last."""
    for name in (CHECKPOINT, _SCHEMA):
        with suppress(FileNotFoundError):
            (directory / name).unlink()
            sync_directory(directory)
    with suppress(FileNotFoundError):
        shutil.rmtree(directory / DOCUMENTS)
    (directory / DOCUMENTS).mkdir()
    tantivy.Index(_schema(), str(directory / DOCUMENTS), reuse=False)
    sync_directory(directory / DOCUMENTS)
    with write_atomically(directory / _SCHEMA) as file:
        file.write(msgspec.json.encode(_FORMAT) + b"\n")


@contextmanager
def _disk(directory: Path) -> Iterator[None]:
    """What stops the library is the disk: it tells all its troubles as ValueError."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise DiskTrouble(
            f"{directory}: the index cannot be written ({error}). It is as it was when it was last acknowledged; check the "
            "disk, then do the same again."
        ) from error


def _whole(text: str) -> str:
    """Without halves of surrogate pairs, which are no characters."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _rust(characters: str) -> str:
    """A class of characters as Rust writes it.

    >>> _rust(r"\\u0e00-\\u0eff\\U00020000")
    '[\\\\x{0e00}-\\\\x{0eff}\\\\x{00020000}]'
    """
    return "[" + re.sub(r"\\u(\w{4})|\\U(\w{8})", lambda found: rf"\x{{{found[1] or found[2]}}}", characters) + "]"
