"""The parts of a URL that tell what its page is about: the words of its path, and the sections of the site it is in."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from xxhash import xxh3_64_intdigest

from crawler.focus.evidence import NO_KEY, SECTIONS

_LONGEST: Final = 2_000  # characters of a URL that are looked at
_FILE_TYPE: Final = re.compile(r"\.(?:html?|php|aspx?|jsp|xml|txt|pdf)$", re.IGNORECASE)


class UrlParts(NamedTuple):
    """The words of a URL as text, and the keys of its sections: its host first, the nearest folder last."""

    words: str
    sections: tuple[int, ...]


def split_url(url: str) -> UrlParts:
    """Split a URL into words and sections; anything that is no URL has no sections.

    >>> split_url("https://docs.example/en/api/AudioNode.html?v=2").words
    'en/api/AudioNode/v=2'
    """
    _, mark, rest = url[:_LONGEST].partition("://")
    host, _, path = rest.partition("/")
    if not mark or not host:
        return UrlParts("", ())
    path, _, query = path.partition("#")[0].partition("?")
    folder, _, name = path.rpartition("/")
    if query:
        folder, name = path, query
    words, sections = _read_folder(host, folder)
    return UrlParts(f"{words}/{_readable(name)}" if words else _readable(name), sections)


def section_of(url: str) -> str:
    """Return the section that a URL is in, as a person would name it: its host and folder.

    >>> section_of("https://docs.example/en/api/AudioNode.html"), section_of("https://docs.example/list?page=2")
    ('docs.example/en/api/', 'docs.example/list')
    """
    address, query, _ = url[:_LONGEST].partition("://")[2].partition("#")[0].partition("?")
    return address if query or not address else address.rpartition("/")[0] + "/"


def key_of(text: str) -> int:
    """Return the key of a URL or a section in a yield table: 32 bits, never 0."""
    return (xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) >> 32) or 1


@lru_cache(maxsize=4_096)
def _read_folder(host: str, folder: str) -> tuple[str, tuple[int, ...]]:
    names = folder.split("/") if folder else []
    nearest = range(max(len(names) - (SECTIONS - 1), 0) + 1, len(names) + 1)
    keys = [key_of(host), *(key_of(f"{host}/{'/'.join(names[:end])}") for end in nearest)]
    return "/".join(map(_readable, names)), (*keys, *[NO_KEY] * (SECTIONS - len(keys)))


def _readable(name: str) -> str:
    if "%" in name:
        name = unquote_to_bytes(name).decode("utf-8", "replace")
    return _FILE_TYPE.sub("", name)
