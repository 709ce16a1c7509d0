"""Compare feeds with feedparser's own tests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from html import unescape
from itertools import zip_longest
from typing import Any

from crawler.parse.feeds import Feed, FeedEntry, looks_like_feed, parse_feed
from crawler.urls.canonical import resolve
from tests.conformance.scores import Score, score
from tests.conftest import SHARED

DATA = SHARED / "feeds" / "feedparser"
Results = Iterator[tuple[str, bool]]

_KNOWN = {
    "titles": {"encoding_bozo_invalid-bytes-with-bom.xml": (1, "a byte order mark counts, bad bytes or not")},
}


def scores() -> list[Score]:
    return [
        score(f"feeds: {kind}", 0.95, results(kind), _KNOWN.get(kind))
        for kind in ("links", "titles", "dates", "entries")
    ]


@cache
def cases() -> list[dict[str, Any]]:
    """Return the cases that the parser passes itself."""
    rows = [json.loads(line) for line in (DATA / "cases.jsonl").read_text("utf-8").splitlines()]
    return [row for row in rows if row["holds_with_feedparser_6_0_14"]]


def read(case: dict[str, Any]) -> tuple[Feed, bool]:
    """Return our feed, and whether its beginning is recognized as a feed."""
    body = (DATA / case["file"]).read_bytes()
    headers = {name.lower(): value for name, value in case["headers"].items()}
    content_type = headers.get("content-type")
    url = resolve(headers.get("content-location", ""), case["document_url"]) or case["document_url"]
    return parse_feed(body, url, content_type), looks_like_feed(body, content_type or "")


def results(wanted: str) -> Results:
    """Yield file and agreement for facts of one kind; facts that both sides lack do not count."""
    for case in cases():
        feed, _ = read(case)
        for kind, ours, theirs in facts(feed, case["summary"]):
            if kind == wanted and (ours or ours != theirs):
                yield case["file"], ours == theirs


def facts(feed: Feed, theirs: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield (kind, ours, theirs) of all comparable facts; a missing entry counts as an empty one."""
    yield "titles", feed.title, plain(theirs["title"])
    yield "dates", feed.ttl, theirs["ttl"] and 60 * float(theirs["ttl"])
    yield "entries", len(feed.entries), theirs["n_entries"]
    for entry, other in zip_longest(feed.entries, theirs["entries"]):
        yield from entry_facts(entry or FeedEntry(), other or {})


def entry_facts(entry: FeedEntry, other: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    yield "titles", entry.title, plain(other.get("title"))
    link = other.get("link") or ""
    yield (
        "links",
        entry.link,
        resolve(link) if link.startswith(("http:", "https:")) else "",
    )  # only web URLs are links here
    yield "dates", entry.published, seconds(other.get("published"))
    # Their parser gives one date for both if there is only one.
    updated = entry.updated if entry.updated is not None else entry.published
    yield "dates", updated, seconds(other.get("updated"))


def plain(text: str | None) -> str:
    text = text or ""
    return " ".join((unescape(re.sub(r"<[^>]*>", "", text)) if "</" in text else text).split())


def seconds(date: str | None) -> float | None:
    return datetime.fromisoformat(date).timestamp() if date else None
