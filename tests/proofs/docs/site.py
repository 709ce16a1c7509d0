"""Maps URLs of a static site to files, as Apache and nginx do with their defaults."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from mimetypes import MimeTypes
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

INDEX = "index.html"
_TYPES = MimeTypes()  # Python's own table, the same on every machine
_TYPES.add_type("application/xhtml+xml", ".xhtml")
_HTML = ("text/html", "application/xhtml+xml")
_NO_TEXTS = ("text/css", "text/javascript")  # text types that people do not read


class Found(NamedTuple):
    """The answer to a target: a file, a redirect or an error."""

    status: int
    file: Path | None = None  # symbolic links resolved; a folder stands for the list of its files
    location: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A folder that is served under a host's name."""

    host: str
    home: Path
    tree: Path  # symbolic links may lead anywhere in it, and nowhere else

    def find(self, target: str) -> Found:
        """Return the answer to a target. A query is ignored; a folder is its index page or, without one, a list."""
        path = unquote(target.partition("?")[0], errors="surrogateescape")
        if not path.startswith("/") or ".." in path.split("/") or "\0" in path:
            return Found(404)
        file = self._real(self.home / path.lstrip("/"))
        if not file.is_relative_to(self.tree):
            return Found(404)
        if file.is_dir():
            return self._folder(file) if path.endswith("/") else Found(301, location=quote(path) + "/")
        return Found(200, file) if file.is_file() and not path.endswith("/") else Found(404)

    def _folder(self, folder: Path) -> Found:
        index = self._real(folder / INDEX)
        return Found(200, index if index.is_file() and index.is_relative_to(self.tree) else folder)

    def _real(self, path: Path) -> Path:
        return Path(os.path.realpath(path))

    def name(self, file: Path) -> str:
        """Return the path of a file in the site."""
        return file.relative_to(self.home).as_posix() if file.is_relative_to(self.home) else str(file)


def content_type(file: Path) -> str:
    if file.is_dir():
        return "text/html"
    kind, coding = _TYPES.guess_type(file.name)
    return "application/octet-stream" if kind is None or coding else kind


def is_html(file: Path) -> bool:
    return content_type(file) in _HTML


def is_page(file: Path) -> bool:
    """Whether a crawler must fetch a linked file: HTML, and every text that people read, source code too.

    Images, archives, fonts and the like may be fetched or not: they cannot be searched.
    """
    kind = content_type(file)
    return kind in _HTML or (kind.startswith("text/") and kind not in _NO_TEXTS)


def content(file: Path) -> bytes:
    return _list_of(file) if file.is_dir() else file.read_bytes()


def _list_of(folder: Path) -> bytes:
    names = [f"{entry.name}/" if entry.is_dir() else entry.name for entry in sorted(folder.iterdir())]
    lines = [f'<li><a href="{quote(name)}">{html.escape(name)}</a></li>' for name in names]
    return "\n".join(["<!DOCTYPE html>", "<title>Index</title>", "<ul>", *lines, "</ul>", ""]).encode(
        errors="surrogateescape"
    )
