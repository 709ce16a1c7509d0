"""A full-text index in a directory, written by Tantivy: the sink of exports that `scrapy search` reads."""

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
from crawler.files import PART, sync_directory, write_atomically
from crawler.items import ExportedDocument, ExportEntry, RejectedDocument, identifier
from crawler.system import lock_file

SCHEMA_VERSION = 2  # raise it when fields or tokenizers change: existing indexes must then be rebuilt
CHECKPOINT = "checkpoint.json"  # in the directory; written by the exporter, removed together with the index
DOCUMENTS = "documents"
WORDS, CHARACTERS = "words", "characters"  # tokenizers

_SCHEMA, _LOCK = "schema.json", "lock"
_OWN_FILES = {_SCHEMA, _SCHEMA + PART, _LOCK, DOCUMENTS, CHECKPOINT, CHECKPOINT + PART}
_WRITER_MEMORY = 64_000_000  # bytes that the writer fills before it writes a segment
# Characters that may wait for the writer: its own queue would take 10,000 documents of any length.
_MAX_UNCOMMITTED = 32_000_000
_MAX_WORD_BYTES = 100  # longer words are not indexed
_MIN_MAIN_IMPORTANCE = 0.5  # blocks below it are not main text, and are indexed in the field "rest"
# Characters of scripts that put no spaces between words. Korean does, but its particles are attached to words.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
UNSPACED = re.compile(f"[{_UNSPACED}]+")


class _IndexFormat(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the file that identifies an index and its format."""

    index: str
    schema: int

    @property
    def is_older(self) -> bool:
        return self.index == _FORMAT.index and self.schema < SCHEMA_VERSION


_FORMAT = _IndexFormat(index="orbweaver", schema=SCHEMA_VERSION)


class TantivyIndex:
    """A sink that indexes documents under their id; a later version replaces an earlier one.

    When `acknowledge` returns, everything that was put is committed to the disk; a kill sets the index back to the last
    commit. The directory is locked against other writers; a search sees the index as it was when it was opened.
    """

    acknowledge_every = 10_000

    def __init__(self, directory: Path, *, full: bool = False, threads: int = 1) -> None:
        """Open the index, or create an empty one if `full` or if there is none; `is_new` tells which."""
        self._directory, self._threads = directory, threads
        _refuse_foreign_directory(directory)
        with _reporting_disk_errors(directory):
            directory.mkdir(parents=True, exist_ok=True)
            self._lock = _open_locked(directory / _LOCK)
        try:
            self.is_new = full or not (directory / _SCHEMA).exists()
            if self.is_new:
                _create_empty_index(directory)
            self._open()
        except BaseException:
            self._lock.close()
            raise

    def _open(self) -> None:
        with _reporting_disk_errors(self._directory):
            self._index = open_index(self._directory)
            self._writer = self._index.writer(_WRITER_MEMORY, self._threads)
            self._searcher = self._index.searcher()
        self._uncommitted: dict[str, int] = {}  # id → version of entries that are not committed yet
        self._uncommitted_characters = 0
        self._newest = self._newest_version()

    def put(self, entry: ExportEntry) -> None:
        name = identifier(entry.key)
        if self._is_outdated(name, entry.version):
            return
        with _reporting_disk_errors(self._directory):
            self._writer.delete_documents_by_term("id", name)
            if isinstance(entry, ExportedDocument):
                self._writer.add_document(self._document(name, entry))
        self._uncommitted[name] = entry.version
        if self._uncommitted_characters >= _MAX_UNCOMMITTED:
            self._commit()

    def acknowledge(self) -> Sequence[RejectedDocument]:
        if self._uncommitted:
            self._commit()
        return []

    def clear(self) -> None:
        """Remove all documents and the checkpoint."""
        with _reporting_disk_errors(self._directory):
            self._writer.wait_merging_threads()  # they must not write to files that are being removed
            del self._writer, self._searcher, self._index
            _create_empty_index(self._directory)
        self.is_new = True
        self._open()

    def close(self) -> None:
        if self._lock.closed:
            return
        try:
            with suppress(ValueError):  # errors were raised before, and nothing that was acknowledged is lost
                self._writer.wait_merging_threads()
        finally:
            self._lock.close()

    def _commit(self) -> None:
        with _reporting_disk_errors(self._directory):
            self._writer.commit()
            # Tantivy syncs its segments and the list of them, but not the rename of the list.
            sync_directory(self._directory / DOCUMENTS)
            self._index.reload()
            self._searcher = self._index.searcher()
        self._uncommitted.clear()
        self._uncommitted_characters = 0

    def _is_outdated(self, name: str, version: int) -> bool:
        """Whether the index has a newer version. Entries come in order of version, so a lookup is rarely needed."""
        if version > self._newest:
            self._newest = version
            return False
        indexed = self._uncommitted.get(name)
        if indexed is None:
            hits = self._searcher.search(tantivy.Query.term_query(self._index.schema, "id", name), 1, count=False).hits
            indexed = self._version_at(hits[0][1]) if hits else 0
        return indexed > version

    def _version_at(self, address: tantivy.DocAddress) -> int:
        (version,) = self._searcher.fast_field_values("version", [address])
        return int(version or 0)

    def _newest_version(self) -> int:
        hits = self._searcher.search(tantivy.Query.all_query(), 1, count=False, order_by_field="version").hits
        return self._version_at(hits[0][1]) if hits else 0

    def _document(self, name: str, entry: ExportedDocument) -> tantivy.Document:
        document = tantivy.Document()
        title, text = _valid_unicode(entry.title), _valid_unicode(entry.text)
        facts = {
            "id": name,
            "url": _valid_unicode(entry.url),
            "host": _valid_unicode(entry.host),
            "title": title,
            "text": text,
            "language": entry.language.lower(),
            "format": entry.format,
            "published_at": _valid_unicode(entry.metadata.get("published", "")),
            "duplicate_of": _valid_unicode(entry.duplicate_of or ""),
        }
        for field, value in facts.items():
            if value:
                document.add_text(field, value)
        for block in entry.blocks or ():
            if block.importance < _MIN_MAIN_IMPORTANCE:
                document.add_text("rest", _valid_unicode(block.text))
                self._uncommitted_characters += len(block.text)
        for _, anchor in entry.anchors:
            document.add_text("anchors", _valid_unicode(anchor))
        for unspaced in (title, text, *(anchor for _, anchor in entry.anchors)):
            if not unspaced.isascii() and UNSPACED.search(unspaced):
                document.add_text("characters", _valid_unicode(unspaced))
        document.add_date("fetched_at", datetime.fromtimestamp(entry.fetched, UTC))
        document.add_unsigned("version", entry.version)
        if entry.relevance is not None:
            document.add_float("relevance", entry.relevance)
        self._uncommitted_characters += len(text)
        return document


def open_index(directory: Path) -> tantivy.Index:
    """Open the index in this directory, for writing or reading."""
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
    """The tokenizers: words without case and accents, but not stemmed, for all languages; and single characters."""
    words, fold = tantivy.Tokenizer.simple(), tantivy.Filter
    return {
        WORDS: tantivy.TextAnalyzerBuilder(words)
        .filter(fold.remove_long(_MAX_WORD_BYTES))
        .filter(fold.lowercase())
        .filter(fold.ascii_fold())
        .build(),
        CHARACTERS: tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_rust_character_class(_UNSPACED))).build(),
    }


def check_format(directory: Path) -> None:
    """Raise `BadInput` if this directory has no index in the current format."""
    form = _read_format(directory)
    if form.is_older:
        raise BadInput(
            f"{directory}: an older version has built the index there (format {form.schema}, now {SCHEMA_VERSION}). "
            "Nothing was changed; `scrapy search` without --no-update builds it anew, and so does --full."
        )
    if form != _FORMAT:
        raise BadInput(
            f"{directory}: the index there has format {form.schema} of {form.index}, not {SCHEMA_VERSION} of "
            f"{_FORMAT.index}. Nothing was changed; --full builds it anew."
        )


def has_index(directory: Path) -> bool:
    return (directory / _SCHEMA).exists()


def has_older_index(directory: Path) -> bool:
    """Whether this directory has an index that an older version has built, which must be built anew."""
    return has_index(directory) and _read_format(directory).is_older


def _read_format(directory: Path) -> _IndexFormat:
    path = directory / _SCHEMA
    try:
        return msgspec.json.decode(path.read_bytes(), type=_IndexFormat)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(
            f"{path}: this does not say what the index is ({error}). Nothing was changed; --full builds it anew."
        ) from error


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
    build.add_float_field("relevance", stored=True, fast=True)
    return build.build()


def _refuse_foreign_directory(directory: Path) -> None:
    """Raise `BadInput` if a directory has files that are not ours: it was named by mistake, and must not be changed."""
    try:
        foreign = next((path.name for path in directory.iterdir() if path.name not in _OWN_FILES), None)
    except FileNotFoundError:
        return
    except OSError as error:
        raise BadInput(f"{directory}: an index cannot be here ({error.strerror}); name a directory.") from error
    if foreign is not None:
        raise BadInput(
            f"{directory}: this is no index, {foreign!r} is in it. Nothing was changed; name another directory, or an "
            "empty one."
        )


def _open_locked(path: Path) -> BinaryIO:
    file = path.open("ab")
    if not lock_file(file):
        file.close()
        raise AlreadyRunning(
            f"{path.parent}: another process is writing this index; nothing was changed. Wait for its end."
        )
    return file


def _create_empty_index(directory: Path) -> None:
    """Replace the index by an empty one: the checkpoint is removed first, and the format file is written last."""
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
def _reporting_disk_errors(directory: Path) -> Iterator[None]:
    """Turn errors of the block into `DiskTrouble`: Tantivy raises ValueError for all failures to write."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise DiskTrouble(
            f"{directory}: the index cannot be written ({error}). It is as it was when it was last acknowledged; check "
            "the disk, then do the same again."
        ) from error


def _valid_unicode(text: str) -> str:
    """The text without lone surrogates, which cannot be encoded."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _rust_character_class(characters: str) -> str:
    """Translate a character class from Python's escapes to those of Rust's regular expressions.

    >>> _rust_character_class(r"\\u0e00-\\u0eff\\U00020000")
    '[\\\\x{0e00}-\\\\x{0eff}\\\\x{00020000}]'
    """
    return "[" + re.sub(r"\\u(\w{4})|\\U(\w{8})", lambda match: rf"\x{{{match[1] or match[2]}}}", characters) + "]"
