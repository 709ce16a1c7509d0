"""`scrapy urls` prints canonical forms, and whether a crawl would visit URLs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from crawler.urls.rules import RULES, SWITCHABLE
from tests.crawl.runner import ROOT, command, rows, scrapy, scrapy_bytes

pytestmark = pytest.mark.crawl

CONTACT = "bot@a.example"
UNTIDY = "HTTP://Example.com:80/a/../b//?utm_source=mail&b=2&a=1#top"
TIDY = "http://example.com/b/?a=1&b=2"


def printed(*words: str, given: bytes = b"", environment: dict[str, str] | None = None, **settings: object) -> str:
    """Run `scrapy urls`, which must succeed without warnings; return its output."""
    settings = {"CONTACT": CONTACT, "CRAWL_DIR": "/nonexistent/crawl"} | settings
    if environment:  # only a started interpreter reads PYTHONIOENCODING
        result = subprocess.run(
            command("urls", *words, **settings), cwd=ROOT, input=given, capture_output=True, timeout=60, check=False,
            env=os.environ | environment,
        )  # fmt: skip
    else:
        result = scrapy_bytes("urls", *words, given=given, **settings)
    assert (result.returncode, result.stderr.decode()) == (0, "")
    return result.stdout.decode("utf-8", "surrogateescape")


def objects(*words: str, given: bytes = b"", **settings: object) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed("--json", *words, given=given, **settings).splitlines()]


def seeded(directory: Path, *seeds: str, **settings: object) -> dict[str, object]:
    (directory / "seeds").write_text("\n".join(seeds))
    given = {"CRAWL_DIR": directory / "crawl"} | settings
    assert scrapy("seed", str(directory / "seeds"), **given).returncode == 0
    return given


# ── canonical form ──


def test_each_rule_that_changed_a_url_is_named_in_its_order() -> None:
    steps = [
        ("scheme_case", "http://Example.com:80/a/../b//?utm_source=mail&b=2&a=1#top"),
        ("host_case", "http://example.com:80/a/../b//?utm_source=mail&b=2&a=1#top"),
        ("default_port", "http://example.com/a/../b//?utm_source=mail&b=2&a=1#top"),
        ("dot_segments", "http://example.com/b//?utm_source=mail&b=2&a=1#top"),
        ("fragment", "http://example.com/b//?utm_source=mail&b=2&a=1"),
        ("tracking", "http://example.com/b//?b=2&a=1"),
        ("query_order", "http://example.com/b//?a=1&b=2"),
        ("slashes", TIDY),
    ]
    (answer,) = objects(UNTIDY)
    assert [(step["rule"], step["after"]) for step in answer.pop("steps")] == steps
    assert answer == {
        "given": UNTIDY,
        "url": TIDY,
        "host": "example.com",
        "domain": "example.com",
        "refused": None,
    }
    assert printed(UNTIDY).splitlines() == [
        TIDY,
        f"  given as            {UNTIDY}",
        *(f"  {rule:18}→ {after}" for rule, after in steps),
        "  host example.com, registered domain example.com",
        "  would be visited",
    ]


def test_several_urls_are_printed_in_their_order() -> None:
    answers = objects(
        UNTIDY, TIDY, "mailto:a@b.example", "http://", "http://127.0.0.1:8080/x", "https://bücher.example"
    )
    assert [answer["url"] for answer in answers] == [
        TIDY,
        TIDY,
        None,
        None,
        "http://127.0.0.1:8080/x",
        "https://xn--bcher-kva.example/",
    ]
    assert answers[1]["steps"] == []
    assert answers[2]["refused"]["detail"] == "mailto:a@b.example"
    assert answers[3]["refused"]["meaning"] == "not a URL by the URL Standard"
    assert (answers[4]["host"], answers[4]["domain"]) == ("127.0.0.1", None)
    text = printed(TIDY, "mailto:a@b.example", "http://127.0.0.1/")
    assert text.splitlines() == [
        TIDY,
        "  host example.com, registered domain example.com",
        "  would be visited",
        "mailto:a@b.example",
        "  would not be visited: no http or https URL of a host: mailto:a@b.example (not_crawled)",
        "http://127.0.0.1/",
        "  host 127.0.0.1, registered domain none",
        "  would be visited",
    ]


@pytest.mark.parametrize("as_json", [True, False])
def test_urls_are_read_from_the_standard_input_one_per_line(as_json: bool) -> None:
    lines = [UNTIDY, "no url", "", "http://b.example/x\r", "  http://c.example/ ", "http://ü.example/"]
    given = "\n".join(lines).encode()  # the last line may lack its newline
    canonical = [TIDY, None, None, "http://b.example/x", "http://c.example/", "http://xn--tda.example/"]
    if as_json:
        answers = objects("-", given=given)
        assert [answer["url"] for answer in answers] == canonical
        assert [answer["given"] for answer in answers] == lines
    else:
        heads = [line for line in printed("-", given=given).split("\n") if not line.startswith("  ")]
        assert heads == [url or line for url, line in zip(canonical, lines, strict=True)] + [""]


@pytest.mark.parametrize("handler", ["strict", "surrogateescape"])
@pytest.mark.parametrize("words", [("-",), ("http://a.example/\udcff", "http://b.example/")], ids=["input", "words"])
def test_urls_with_invalid_utf_8_are_printed_like_any_other(words: tuple[str, ...], handler: str) -> None:
    environment = {"PYTHONIOENCODING": f"utf-8:{handler}"}  # most terminals have strict
    given = b"http://a.example/\xff\nhttp://b.example/\n"
    assert "\nhttp://b.example/\n" in printed(*words, given=given, environment=environment)
    text = printed("--json", *words, given=given, environment=environment)
    assert [json.loads(line)["url"] for line in text.splitlines()] == [
        "http://a.example/%EF%BF%BD",
        "http://b.example/",
    ]


def test_an_empty_standard_input_is_no_error() -> None:
    assert printed("-") == ""


def test_urls_are_resolved_against_a_base() -> None:
    page = "https://Example.com/a/b?c"
    answers = objects("../x", "?q=1#f", "//b.example", "http://C.example/", "mailto:x", "", "--base", page)
    assert [answer["url"] for answer in answers] == [
        "https://example.com/x",
        "https://example.com/a/b?q=1",
        "https://b.example/",
        "http://c.example/",
        None,
        "https://example.com/a/b?c",
    ]
    assert [step["rule"] for step in answers[1]["steps"]] == ["base", "fragment"]
    assert [step["rule"] for step in answers[3]["steps"]] == ["host_case"]
    for answer in answers:
        assert answer["url"] is None or not answer["steps"] or answer["steps"][-1]["after"] == answer["url"]


# ── the table of rules ──


def test_the_table_has_every_rule_with_its_switch_and_an_example() -> None:
    text = printed("--rules")
    for rule in RULES:
        assert f" {rule.name} " in text
        assert rule.does in text
        assert f"→ {rule.after}\n" in text
    for rule in SWITCHABLE.values():
        assert f"{rule.setting}={rule.default}" in text
    assert "by default" not in text


def test_the_examples_in_the_table_show_a_difference() -> None:
    lines = printed("--rules").splitlines()
    for rule in RULES:
        (line,) = [line for line in lines if line.strip().startswith(f"{rule.does}: ")]
        before, _, after = line.partition(f"{rule.does}: ")[2].partition(" → ")
        assert before != after, rule.name


def test_a_rule_that_is_switched_is_marked_in_the_table() -> None:
    text = printed("--rules", URL_SORT_QUERY=False, URL_DROP_INDEX_PAGE=True)
    changed = [line for line in text.splitlines() if "by default" in line]
    assert len(changed) == 2
    assert "query_order" in changed[0]
    assert "off  URL_SORT_QUERY=False, by default True" in changed[0]
    assert "index_page" in changed[1]
    assert "on   URL_DROP_INDEX_PAGE=True, by default False" in changed[1]


def test_the_table_can_be_printed_as_json() -> None:
    table = objects("--rules", URL_SORT_QUERY=False)
    assert [row["name"] for row in table] == [rule.name for rule in RULES]
    assert [row["order"] for row in table] == list(range(1, len(RULES) + 1))
    assert {row["grade"] for row in table} == {"always", "usually", "sometimes"}
    off = {row["name"] for row in table if not row["on"]}
    assert off == {"query_order", *(name for name, rule in SWITCHABLE.items() if not rule.default)}


@pytest.mark.parametrize("name", SWITCHABLE)
def test_a_rule_can_be_switched_by_its_setting(name: str) -> None:
    rule = SWITCHABLE[name]
    (answer,) = objects(rule.before, **{rule.setting: not rule.default})
    assert (name in [step["rule"] for step in answer["steps"]]) == (not rule.default)
    assert (answer["url"] == rule.after) == (not rule.default)


def test_a_file_of_rules_is_applied(tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text("example.com drop a # and below\n*  off query_order\n")
    answers = objects(UNTIDY, "http://www.example.com/?a=1", "http://b.example/?a=1", URL_RULES=tmp_path / "rules.txt")
    assert [answer["url"] for answer in answers] == [
        "http://example.com/b/?b=2",
        "http://www.example.com/",
        "http://b.example/?a=1",
    ]
    assert [step["rule"] for step in answers[1]["steps"]] == ["site_parameters", "empty_query"]


# ── scope ──


def test_without_a_crawl_every_site_is_in_scope(tmp_path: Path) -> None:
    for mode in ("any", "domains", "hosts", "prefixes"):
        answers = objects("http://a.example/", "http://b.example/x.zip", CRAWL_DIR=tmp_path / "no", SCOPE=mode)
        assert [answer["refused"] and answer["refused"]["reason"] for answer in answers] == [None, "file_type"]
    assert not (tmp_path / "no").exists()


def test_the_seeds_of_a_crawl_determine_what_would_be_visited(tmp_path: Path) -> None:
    crawl = seeded(tmp_path, "http://a.example/docs/x", "http://b.example:9000/")
    before = (tmp_path / "crawl" / "crawl.db").read_bytes()
    urls = ["http://a.example/docs/y", "http://a.example/", "http://www.a.example/", "http://b.example:9001/"]
    verdicts = {
        mode: [answer["refused"] and answer["refused"]["reason"] for answer in objects(*urls, **crawl, SCOPE=mode)]
        for mode in ("any", "domains", "hosts", "prefixes")
    }
    assert verdicts == {
        "any": [None, None, None, "port_denied"],
        "domains": [None, None, None, "port_denied"],
        "hosts": [None, None, "out_of_scope", "port_denied"],
        "prefixes": [None, "out_of_scope", "out_of_scope", "port_denied"],
    }
    assert "would not be visited: outside the scope of the seeds: hosts (out_of_scope)" in printed(
        "http://c.example/", **crawl, SCOPE="hosts"
    )
    assert (tmp_path / "crawl" / "crawl.db").read_bytes() == before
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM urls") == [(2,)]


def test_a_seed_would_be_visited_even_if_a_filter_refuses_it(tmp_path: Path) -> None:
    crawl = seeded(tmp_path, "http://a.example/cart/add/7", "http://a.example/")
    seed, link = objects("http://a.example/cart/add/7#top", "http://a.example/cart/add/8", **crawl)
    assert seed["refused"] is None
    assert link["refused"]["reason"] == "action"


def test_patterns_that_refuse_a_url_are_named_by_file_and_line(tmp_path: Path) -> None:
    exclude, include = tmp_path / "exclude.txt", tmp_path / "include.txt"
    exclude.write_text("# what we have seen\n\n~/tag/\nhttp://b.example/\n")
    include.write_text("http://a.example/\nhttp://b.example/\n")
    urls = ("http://a.example/tag/x", "http://b.example/y", "http://c.example/", "http://a.example/")
    answers = objects(*urls, URL_EXCLUDE=exclude, URL_INCLUDE=include)
    assert [answer["refused"] and answer["refused"]["reason"] for answer in answers] == [
        "excluded",
        "excluded",
        "not_included",
        None,
    ]
    assert [answer["refused"]["detail"] for answer in answers[:3]] == [
        f"{exclude}:3 ~/tag/",
        f"{exclude}:4 http://b.example/",
        str(include),
    ]


def test_a_missing_contact_is_a_warning_only(tmp_path: Path) -> None:
    result = scrapy("urls", "--json", "http://a.example/", CRAWL_DIR=tmp_path)
    assert result.returncode == 0
    assert json.loads(result.stdout)["refused"] is None
    assert result.stderr.startswith("CONTACT is not set")


# ── invalid input ──

BROKEN = {
    "URL_EXCLUDE": ("http://a.example/\n\n~(", ":3: "),
    "URL_INCLUDE": ("a.example/", ":1: "),
    "URL_RULES": ("# rules\na.example dorp view\n", ":2: "),
}


@pytest.mark.parametrize("setting", BROKEN)
@pytest.mark.parametrize("words", [("http://a.example/",), ("--rules",)])
def test_an_invalid_line_is_refused_with_its_file_and_number(
    words: tuple[str, ...], setting: str, tmp_path: Path
) -> None:
    text, place = BROKEN[setting]
    (tmp_path / "broken.txt").write_text(text)
    result = scrapy("urls", *words, **{"CRAWL_DIR": tmp_path / "x", setting: tmp_path / "broken.txt"})
    assert (result.returncode, result.stdout) == (78, "")
    assert "Traceback" not in result.stderr
    assert f"orbweaver: {tmp_path / 'broken.txt'}{place}" in result.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("words", [(), ("--rules", "http://a.example/"), ("--rules", "-"), ("--base",)])
def test_wrong_usage_is_exit_code_2(words: tuple[str, ...], tmp_path: Path) -> None:
    result = scrapy("urls", *words, CRAWL_DIR=tmp_path / "x")
    assert (result.returncode, result.stdout.partition("Usage")[0]) == (2, "")
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "x").exists()


def test_a_base_that_is_no_url_is_refused(tmp_path: Path) -> None:
    result = scrapy("urls", "x", "http://a.example/", "--base", "nonsense", CRAWL_DIR=tmp_path, CONTACT=CONTACT)
    assert result.returncode == 2
    assert "nonsense" in result.stderr
