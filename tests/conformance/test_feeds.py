"""Feeds are read as feedparser's own tests expect; where not, the reason is given."""

import json
import re
from collections import Counter
from datetime import datetime
from html import unescape

import pytest

from crawler.parse.feeds import looks_like_feed, parse_feed
from crawler.urls.canonical import resolve
from tests.conftest import SHARED

pytestmark = pytest.mark.needs_shared
DATA = SHARED / "feeds" / "feedparser"

# File of the other suite → what differs, and why.
DIFFERENCES = {
    "encoding_bozo_invalid-bytes-with-bom.xml": ("titles", "a byte order mark counts, bad bytes or not"),
}
# The suite itself skips these without chardet, which guesses encodings that nobody declares. We have no such guesser, and
# the titles of all three that hold come out wrong.
GUESSED = "__import__('chardet')"
NOT_FEEDS = {
    "illformed_rss_empty_document.xml": "there is nothing in it",
    "wellformed_base_cdf_item_abstract_xml_base.xml": "CDF of 1997, which nobody writes any more",
    "wellformed_cdf_item_lastmod_parsed.xml": "CDF",
    "wellformed_cdf_item_title.xml": "CDF",
}


def cases():
    rows = [json.loads(line) for line in (DATA / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["holds_with_feedparser_6_0_14"]]
    return [row for row in rows if GUESSED.encode() not in (DATA / row["file"]).read_bytes()]


def read(case):
    """Our feed, and whether its beginning looks like one."""
    body = (DATA / case["file"]).read_bytes()
    headers = {name.lower(): value for name, value in case["headers"].items()}
    content_type = headers.get("content-type")
    url = resolve(headers.get("content-location", ""), case["document_url"])
    return parse_feed(body, url, content_type), looks_like_feed(body, content_type or "")


def plain(text):
    return (
        " ".join(unescape(re.sub(r"<[^>]*>", "", text)).split())
        if text and "</" in text
        else " ".join((text or "").split())
    )


def seconds(date):
    return datetime.fromisoformat(date).timestamp() if date else None


def facts(case, feed):
    """(kind, ours, theirs) of all that can be compared."""
    theirs = case["summary"]
    yield "titles", feed.title, plain(theirs["title"])
    yield "dates", feed.ttl, theirs["ttl"] and 60 * float(theirs["ttl"])
    yield "entries", len(feed.entries), theirs["n_entries"]
    for entry, other in zip(feed.entries, theirs["entries"], strict=False):
        yield "titles", entry.title, plain(other["title"])
        if (other["link"] or "").startswith(("http:", "https:")):
            yield "links", entry.link, resolve(other["link"])
        yield "dates", entry.published, seconds(other["published"])
        # Theirs gives the one date for both if there is but one.
        yield "dates", entry.updated if entry.updated is not None else entry.published, seconds(other["updated"])


def test_entries_of_the_other_suite():
    agreed, differing = Counter(), Counter()
    found = set()
    for case in cases():
        feed, _ = read(case)
        for kind, ours, theirs in facts(case, feed) if case["file"] not in NOT_FEEDS else ():
            if ours == theirs:
                agreed[kind] += bool(ours)  # that both say nothing is no merit
            else:
                differing[kind] += 1
                found.add((case["file"], kind))
    print({kind: f"{agreed[kind]} of {agreed[kind] + differing[kind]}" for kind in agreed})
    assert found == {(file, kind) for file, (kind, _) in DIFFERENCES.items()}
    for kind in ("links", "titles", "dates", "entries"):
        assert agreed[kind] >= 0.95 * (agreed[kind] + differing[kind]) > 0


def test_what_is_a_feed():
    for case in cases():
        feed, looks = read(case)
        assert (feed.problem == "not_a_feed") is (case["file"] in NOT_FEEDS) is not looks
        version = case["summary"]["version"]
        assert feed.form == {"rss10": "rdf", "rss090": "rdf"}.get(version, version.rstrip("0123456789nu")), case["file"]
