"""A sink that keeps a directory of Markdown files, one per current document: `<host>/<id>.md`.

The text of a page is escaped: it cannot become front matter, HTML or any other markup that the page itself does not
have.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Final

from crawler.errors import DiskTrouble
from crawler.export.characters import on_one_line, printable
from crawler.export.documents import iso_time
from crawler.export.locked_directory import LockedDirectory
from crawler.export.text_parts import HEADINGS, TextPart, parts_of
from crawler.files import PART
from crawler.items import DeletedDocument, ExportedDocument, ExportEntry, RejectedDocument, identifier
from crawler.urls.hosts import host_of

_ACKNOWLEDGE_EVERY: Final = 1_000
_PART_NAME: Final = f".md{PART}"  # one name is enough: a single process writes here, one file at a time
# Host names that are valid directory names on all systems: no dots at the ends, nothing that is read as a path.
_SAFE_HOST = re.compile("[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?")
_READ_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITE_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

# CommonMark: emphasis, code, links, HTML, strikethrough, anywhere in a line …
_SPECIAL_INLINE = re.compile(r"[\\`*_\[\]<~]|&(?=#?\w+;)")
# … and headings, quotes, lists, rules, tables at the beginning of a line.
_SPECIAL_AT_START: Final = "#>+=:|-"
_LIST_NUMBER = re.compile(r"[0-9]{1,9}[.)](?= |$)")
_CLOSING_HASHES = re.compile(r"(?<= )#+$")
_BACKTICKS = re.compile("`+")


def directory_of(url: str) -> str:
    """The directory for documents of a URL's host: the host name if it is a valid file name everywhere, else a hash.

    >>> directory_of("http://www.example.com:8080/a"), directory_of("http://[::1]/")[:6]
    ('www.example.com', '_eff8e')
    """
    host = host_of(url)
    if _SAFE_HOST.fullmatch(host):
        return host
    return "_" + sha256(host.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def markdown_of(document: ExportedDocument) -> str:
    """A document as Markdown: front matter and text."""
    blocks = [_block(kind, list(run)) for kind, run in groupby(_nonempty_parts(document), key=lambda part: part.kind)]
    return "\n".join(["---", *_front_matter(document), "---", "", *("\n".join([block, ""]) for block in blocks)])


class MarkdownSink:
    """Writes, replaces and removes the file of each document.

    A file is replaced atomically, so a kill leaves the old or the new one; it is synced to the disk when it is
    acknowledged. No symbolic link below the directory is followed.
    """

    def __init__(self, directory: Path, acknowledge_every: int = _ACKNOWLEDGE_EVERY) -> None:
        self.acknowledge_every = acknowledge_every
        self._changed: dict[str, set[str]] = {}  # directory → files written there since the last acknowledgement
        self._place = LockedDirectory(directory)
        try:
            with self._reporting_failures():
                self._root = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                self._remove_unfinished()
        except DiskTrouble:
            self._place.close()
            raise

    def put(self, entry: ExportEntry) -> None:
        directory, name = directory_of(entry.url), f"{identifier(entry.key)}.md"
        changed = self._changed.setdefault(directory, set())
        with self._reporting_failures():
            if isinstance(entry, DeletedDocument):
                changed.discard(name)
                self._remove(directory, name)
            else:
                self._write(directory, name, markdown_of(entry).encode())
                changed.add(name)

    def acknowledge(self) -> Sequence[RejectedDocument]:
        with self._reporting_failures():
            for directory, names in self._changed.items():
                with suppress(FileNotFoundError), self._opened(directory) as inside:
                    for name in names:
                        _sync(name, inside)
                    os.fsync(inside)
            os.fsync(self._root)
        self._changed.clear()
        return ()

    def close(self) -> None:
        os.close(self._root)
        self._place.close()

    def _reporting_failures(self) -> AbstractContextManager[None]:
        return self._place.reporting_failures("All files there are whole, but some may be older than others")

    def _remove_unfinished(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(_PART_NAME, dir_fd=self._root)

    def _write(self, directory: str, name: str, data: bytes) -> None:
        with os.fdopen(os.open(_PART_NAME, _WRITE_NEW, 0o666, dir_fd=self._root), "wb") as file:
            file.write(data)
        with suppress(FileExistsError):
            os.mkdir(directory, dir_fd=self._root)
        with self._opened(directory) as inside:
            os.replace(_PART_NAME, name, src_dir_fd=self._root, dst_dir_fd=inside)

    def _remove(self, directory: str, name: str) -> None:
        """Remove a document's file, and its directory if it is empty then."""
        with suppress(FileNotFoundError), self._opened(directory) as inside:
            os.unlink(name, dir_fd=inside)
        with suppress(OSError):
            os.rmdir(directory, dir_fd=self._root)

    @contextmanager
    def _opened(self, directory: str) -> Iterator[int]:
        descriptor = os.open(directory, _READ_DIRECTORY, dir_fd=self._root)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def _sync(name: str, directory: int) -> None:
    with suppress(FileNotFoundError):  # another process has removed it
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _front_matter(document: ExportedDocument) -> Iterator[str]:
    """The metadata as YAML: YAML reads a JSON string as the same text."""
    facts = {
        "url": document.url,
        "title": on_one_line(document.title),
        "fetched_at": iso_time(document.fetched),
        "language": document.language,
        "author": document.metadata.get("author", ""),
        "published_at": document.metadata.get("published", ""),
    }
    for name, fact in facts.items():
        if fact or name in ("url", "title"):
            yield f"{name}: {json.dumps(printable(fact), ensure_ascii=False)}"
    yield f"version: {document.version}"


def _nonempty_parts(document: ExportedDocument) -> Iterator[TextPart]:
    for part in parts_of(document):
        text = printable(part.text).strip("\n") if part.kind == "pre" else on_one_line(part.text)
        if text and not text.isspace():
            yield TextPart(part.kind, text)


def _block(kind: str, run: Sequence[TextPart]) -> str:
    """The Markdown of consecutive parts of one kind."""
    texts = [part.text for part in run]
    match kind:
        case "li":
            return "\n".join(f"- {_escaped(text)}" for text in texts)
        case "tr":
            return "  \n".join(_escaped(text) for text in texts)  # two spaces make a line break
        case "pre":
            return "\n\n".join(_fenced(text) for text in texts)
        case "blockquote":
            return "\n\n".join(f"> {_escaped(text)}" for text in texts)
        case _ if kind in HEADINGS:
            return "\n\n".join(f"{'#' * int(kind[1])} {_heading(text)}" for text in texts)
        case _:
            return "\n\n".join(_escaped(text) for text in texts)


def _escaped(text: str) -> str:
    """Escape a line of text so that Markdown shows it literally."""
    inner = _SPECIAL_INLINE.sub(r"\\\g<0>", text)
    if inner[0] in _SPECIAL_AT_START:
        return f"\\{inner}"
    if number := _LIST_NUMBER.match(inner):
        return f"{inner[: number.end() - 1]}\\{inner[number.end() - 1 :]}"
    return inner


def _heading(text: str) -> str:
    return _CLOSING_HASHES.sub(r"\\\g<0>", _escaped(text))


def _fenced(text: str) -> str:
    """A fenced code block, with a longer fence than any run of backticks in the text."""
    fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    return f"{fence}\n{text}\n{fence}"
