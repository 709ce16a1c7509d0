"""Compare URLs with the tests of the standards; nothing may differ."""

from __future__ import annotations

from collections.abc import Iterator

from crawler.urls.canonical import canonicalize, resolve
from crawler.urls.hosts import host_of, registered_domain
from tests.conformance.compare import Case
from tests.conformance.data import read


def wpt_urltestdata() -> Iterator[Case]:
    for row in read("wpt_urltestdata"):
        yield Case(f"{row['input']} in {row['base']}", resolve(row["input"], row["base"]), row.get("href"))


def wpt_toascii() -> Iterator[Case]:
    for row in read("wpt_toascii"):
        yield Case(row["input"], _resolved_host(f"https://{row['input']}/x"), row["output"])


def wpt_idna_v2_sample() -> Iterator[Case]:
    for row in read("wpt_idna_v2_sample"):
        yield Case(row["input"], _resolved_host(f"https://{row['input']}/x"), row["output"])


def wpt_percent_encoding() -> Iterator[Case]:
    for row in read("wpt_percent_encoding"):
        href = resolve("https://example.com/?" + row["input"])
        yield Case(row["input"], href, "https://example.com/?" + row["output"]["utf-8"])


def psl_test() -> Iterator[Case]:
    for row in read("psl_test"):
        yield Case(str(row["host"]), registered_domain(row["host"] or ""), row["registrable"])


def wpt_data_urls() -> Iterator[Case]:
    """Check that data: URLs, which are never visited, have no canonical form."""
    for row in read("wpt_data_urls"):
        yield Case(row["input"], canonicalize(row["input"]), None)


def _resolved_host(url: str) -> str | None:
    href = resolve(url)
    return href and host_of(href)
