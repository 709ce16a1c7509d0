"""URLs are read as the Web Platform Tests, the IDNA tables and the Public Suffix List say."""

import json
from pathlib import Path

import pytest

from crawler.urls.canonical import canonicalize, resolve
from crawler.urls.hosts import host_of, registered_domain

pytestmark = pytest.mark.needs_shared
DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "url"


def cases(name):
    with (DATA / name).open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    assert found, f"{name} is empty"
    return found


def differing(rows):
    """The (input, got, expected) of the rows that are not as expected, so that a failure shows them all."""
    return [(given, got, expected) for given, got, expected in rows if got != expected]


def test_urls_are_parsed_as_the_web_platform_tests_demand():
    rows = [
        ((case["input"], case["base"]), resolve(case["input"], case["base"]), case.get("href"))
        for case in cases("wpt_urltestdata.jsonl")
    ]
    assert differing(rows) == []


@pytest.mark.parametrize("name", ["wpt_toascii.jsonl", "wpt_idna_v2_sample.jsonl"])
def test_host_names_become_ascii_as_the_web_platform_tests_demand(name):
    rows = []
    for case in cases(name):
        href = resolve(f"https://{case['input']}/x")
        rows.append((case["input"], href and host_of(href), case["output"]))
    assert differing(rows) == []


def test_queries_are_percent_encoded_as_utf_8():
    rows = []
    for case in cases("wpt_percent_encoding.jsonl"):
        href = resolve("https://example.com/?" + case["input"])
        rows.append((case["input"], href, "https://example.com/?" + case["output"]["utf-8"]))
    assert differing(rows) == []


def test_relative_links_are_resolved_as_another_crawler_resolves_them():
    rows = [
        ((case["input"], case["base"]), resolve(case["input"], case["base"] or None), case["resolved"])
        for case in cases("crawler_commons_resolve.jsonl")
    ]
    assert differing(rows) == []


def test_registered_domains_are_those_of_the_public_suffix_list():
    rows = [
        (case["host"], registered_domain(case["host"] or ""), case["registrable"]) for case in cases("psl_test.jsonl")
    ]
    assert differing(rows) == []


@pytest.mark.parametrize("path", sorted(DATA.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_text_in_the_data_has_at_most_one_canonical_form(path):
    canonical = [canonicalize(text) for case in cases(path.name) for text in strings(case)]
    assert [canonicalize(url) for url in canonical if url] == [url for url in canonical if url]


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)
