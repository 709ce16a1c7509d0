"""Generated entries of a change feed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

from crawler.items import ChangeEvent, DeletedDocument, ExportedDocument, ExportEntry, identifier
from crawler.urls.hosts import host_of
from crawler.urls.keys import key_of


def document(url: str, version: int = 1, **facts: Any) -> ExportedDocument:
    given: dict[str, Any] = {
        "version": version,
        "key": key_of(url),
        "url": url,
        "host": host_of(url),
        "event": ChangeEvent.UPSERT,
        "links": None,
        "fetched": 1_000_000.0,
        "status": 200,
        "content_type": "text/html",
        "title": "",
        "text": "",
        "blocks": None,
        "language": "en",
        "format": "html",
        "problem": "",
        "metadata": {},
        "digest": b"",
        "duplicate_of": None,
        "similarity": None,
        "tier": None,
        "anchors": [],
        "noarchive": False,
    }
    return ExportedDocument(**given | facts)


def deletion(url: str, version: int = 1) -> DeletedDocument:
    return DeletedDocument(version=version, key=key_of(url), url=url)


def feed(versions: int, urls: int, seed: int = 1) -> Iterator[ExportEntry]:
    """Random documents that are added, changed and deleted."""
    chance = Random(seed)
    for version in range(1, versions + 1):
        url = f"http://h{chance.randrange(7)}.test/{chance.randrange(urls)}"
        if chance.random() < 0.2:
            yield deletion(url, version)
        else:
            yield document(url, version, title=f"Title {version}", text=" ".join(chance.choices("abcdefgh", k=200)))


def left_of(entries: Iterable[ExportEntry]) -> dict[str, int]:
    """The documents that exist after these entries: id → version."""
    left: dict[str, int] = {}
    for entry in entries:
        left.pop(identifier(entry.key), None)
        if isinstance(entry, ExportedDocument):
            left[identifier(entry.key)] = entry.version
    return left
