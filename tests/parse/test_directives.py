"""Robots directives of a page: `X-Robots-Tag` headers and `<meta name="robots">`."""

from __future__ import annotations

import pytest

from crawler.parse.directives import NONE, Directives, from_headers, merged, parse

IN_2030 = 1_893_456_000.0  # 2030-01-01


@pytest.mark.parametrize(
    ("text", "directives"),
    [
        ("", NONE),
        ("all", NONE),
        ("index, follow", NONE),
        ("noindexing", NONE),
        ("noindex", Directives(noindex=True)),
        (" NoIndex ,NOFOLLOW", Directives(noindex=True, nofollow=True)),
        ("noindex nofollow", Directives(noindex=True, nofollow=True)),
        ("none", Directives(noindex=True, nofollow=True)),
        ("noarchive", Directives(noarchive=True)),
        ("nocache", Directives(noarchive=True)),
        ("max-snippet:-1, max-image-preview:none, noarchive", Directives(noarchive=True)),
        ("unavailable_after: 2030-01-01", Directives(unavailable_after=IN_2030)),
        ("unavailable_after: 2030-01-01T01:00:00+01:00", Directives(unavailable_after=IN_2030)),
        ("unavailable_after: 1 Jan 2030 00:00:00 GMT", Directives(unavailable_after=IN_2030)),
        ("unavailable_after: Tue, 01 Jan 2030 00:00:00 GMT", Directives(unavailable_after=IN_2030)),
        ("unavailable_after: Tuesday, 01-Jan-30 00:00:00 GMT", Directives(unavailable_after=IN_2030)),
        ("unavailable_after: 31 Dec 2029 16:00:00 PST", Directives(unavailable_after=IN_2030)),
        ("nofollow, unavailable_after: 1 Jan 2030 00:00:00 GMT, noarchive",
         Directives(nofollow=True, noarchive=True, unavailable_after=IN_2030)),
        ("unavailable_after: whenever, noindex", Directives(noindex=True)),
    ],
)  # fmt: skip
def test_directives(text: str, directives: Directives) -> None:
    assert parse([text]) == directives


@pytest.mark.parametrize(
    ("headers", "directives"),
    [
        ([], NONE),
        (["noindex", "nofollow"], Directives(noindex=True, nofollow=True)),
        (["googlebot: noindex"], NONE),
        (["other-bot2: noindex, nofollow"], NONE),
        (["otherbot: noindex, nofollow", "Orbweaver: nofollow"], Directives(nofollow=True)),
        (["robots: noindex"], Directives(noindex=True)),
        (["unavailable_after: 2030-01-01"], Directives(unavailable_after=IN_2030)),
        (["max-snippet: 5, noarchive"], Directives(noarchive=True)),
    ],
)
def test_headers_are_for_all_or_for_one(headers: list[str], directives: Directives) -> None:
    assert from_headers(headers) == directives


def test_of_two_the_stricter_holds() -> None:
    early, late = Directives(unavailable_after=1.0), Directives(unavailable_after=2.0, noarchive=True)
    assert merged(early, late) == merged(late, early) == Directives(unavailable_after=1.0, noarchive=True)
    assert merged(NONE, early) == early
