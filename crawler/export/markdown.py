"""A directory of Markdown files, one for each document that there is now: `<host>/<id>.md`.

What a page says can neither become front matter, nor HTML, nor anything else that the page itself has not made of it.
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
from crawler.export.documents import date_of
from crawler.export.locked_directory import LockedDirectory
from crawler.export.text_parts import HEADINGS, TextPart, parts_of
from crawler.files import PART
from crawler.items import DeletedDocument, ExportedDocument, ExportEntry, RejectedDocument, identifier
from crawler.urls.hosts import host_of

_EVERY: Final = 1_000
_UNFINISHED: Final = f".md{PART}"  # one name is enough: one process writes here, and one file at a time
# What is a directory's name everywhere: no dots before or behind, nothing that another system takes for a path.
_SAFE_HOST = re.compile("[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?")
_READ_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITE_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

# CommonMark: emphasis, code, links, HTML, strikethrough, anywhere in a line …
_INLINE = re.compile(r"[\\`*_\[\]<~]|&(?=#?\w+;)")
# … and headings, quotes, lists, rules, tables where one begins.
_AT_START: Final = "#>+=:|-"
_NUMBER = re.compile(r"[0-9]{1,9}[.)](?= |$)")
_CLOSING = re.compile(r"(?<= )#+$")
_TICKS = re.compile("`+")


def directory_of(url: str) -> str:
    """The name of the directory for documents of this host: its own name, if no file system takes that for anything else.

    >>> directory_of("http://www.example.com:8080/a"), directory_of("http://[::1]/")[:6]
    ('www.example.com', '_eff8e')
    """
    host = host_of(url)
    if _SAFE_HOST.fullmatch(host):
        return host
    return "_" + sha256(host.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def markdown_of(document: ExportedDocument) -> str:
    """Front matter and text."""
    blocks = [_block(kind, list(run)) for kind, run in groupby(_nonempty(document), key=lambda part: part.kind)]
    return "\n".join(["---", *_front_matter(document), "---", "", *("\n".join([block, ""]) for block in blocks)])


class MarkdownSink:
    """Keeps a directory in step: a file comes, is replaced or goes with its document.

    A file is whole or as it was before, whenever the process is killed; that it is on the disk is known when it is
    acknowledged. No link is followed below the directory.
    """

    def __init__(self, directory: Path, every: int = _EVERY) -> None:
        self.every = every
        self._changed: dict[str, set[str]] = {}  # directory → what was written there since the last acknowledgement
        self._place = LockedDirectory(directory)
        try:
            with self._told():
                self._root = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                self._remove_unfinished()
        except DiskTrouble:
            self._place.close()
            raise

    def put(self, entry: ExportEntry) -> None:
        directory, name = directory_of(entry.url), f"{identifier(entry.key)}.md"
        changed = self._changed.setdefault(directory, set())
        with self._told():
            if isinstance(entry, DeletedDocument):
                changed.discard(name)
                self._remove(directory, name)
            else:
                self._write(directory, name, markdown_of(entry).encode())
                changed.add(name)

    def acknowledge(self) -> Sequence[RejectedDocument]:
        with self._told():
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

    def _told(self) -> AbstractContextManager[None]:
        return self._place.told("All files there are whole, but some may be older than others")

    def _remove_unfinished(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(_UNFINISHED, dir_fd=self._root)

    def _write(self, directory: str, name: str, data: bytes) -> None:
        with os.fdopen(os.open(_UNFINISHED, _WRITE_NEW, 0o666, dir_fd=self._root), "wb") as file:
            file.write(data)
        with suppress(FileExistsError):
            os.mkdir(directory, dir_fd=self._root)
        with self._opened(directory) as inside:
            os.replace(_UNFINISHED, name, src_dir_fd=self._root, dst_dir_fd=inside)

    def _remove(self, directory: str, name: str) -> None:
        """The file, and its directory if nothing else is in it."""
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
    with suppress(FileNotFoundError):  # somebody has taken it away
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _front_matter(document: ExportedDocument) -> Iterator[str]:
    """As YAML: what JSON quotes, YAML reads as the same text."""
    facts = {
        "url": document.url,
        "title": on_one_line(document.title),
        "fetched_at": date_of(document.fetched),
        "language": document.language,
        "author": document.metadata.get("author", ""),
        "published_at": document.metadata.get("published", ""),
    }
    for name, fact in facts.items():
        if fact or name in ("url", "title"):
            yield f"{name}: {json.dumps(printable(fact), ensure_ascii=False)}"
    yield f"version: {document.version}"


def _nonempty(document: ExportedDocument) -> Iterator[TextPart]:
    for part in parts_of(document):
        text = printable(part.text).strip("\n") if part.kind == "pre" else on_one_line(part.text)
        if text and not text.isspace():
            yield TextPart(part.kind, text)


def _block(kind: str, run: Sequence[TextPart]) -> str:
    """Parts of one kind in a row."""
    texts = [part.text for part in run]
    match kind:
        case "li":
            return "\n".join(f"- {_escaped(text)}" for text in texts)
        case "tr":
            return "  \n".join(_escaped(text) for text in texts)  # two spaces: the next begins a line
        case "pre":
            return "\n\n".join(_fenced(text) for text in texts)
        case "blockquote":
            return "\n\n".join(f"> {_escaped(text)}" for text in texts)
        case _ if kind in HEADINGS:
            return "\n\n".join(f"{'#' * int(kind[1])} {_heading(text)}" for text in texts)
        case _:
            return "\n\n".join(_escaped(text) for text in texts)


def _escaped(text: str) -> str:
    """A line of text as Markdown that says the same."""
    inner = _INLINE.sub(r"\\\g<0>", text)
    if inner[0] in _AT_START:
        return f"\\{inner}"
    if number := _NUMBER.match(inner):
        return f"{inner[: number.end() - 1]}\\{inner[number.end() - 1 :]}"
    return inner


def _heading(text: str) -> str:
    return _CLOSING.sub(r"\\\g<0>", _escaped(text))


def _fenced(text: str) -> str:
    """Between more backticks than are in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return f"{fence}\n{text}\n{fence}"
