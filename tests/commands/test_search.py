"""`scrapy search` keeps its index up to date with the collection, and prints hits safely."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawler.search.index import TantivyIndex
from tests.commands.test_show_export import Collection
from tests.crawl.runner import ROOT, command, error_line, scrapy

pytestmark = pytest.mark.crawl

HTML = {"Content_Type": "text/html; charset=utf-8"}
LAMP, BELL, HOSTILE = "http://a.test/lamp", "http://b.test/bell", "http://c.test/"


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    made = Collection(tmp_path)
    yield made
    made.close()


def page(title: str, text: str) -> bytes:
    return f"<!DOCTYPE html><title>{title}</title><main><h1>{title}</h1><p>{text}</p></main>".encode()


def searched(directory: Path, *words: str) -> list[dict[str, Any]]:
    result = scrapy("search", "--json", *words, CRAWL_DIR=directory)
    assert (result.returncode, result.stderr) == (0, "")
    return [json.loads(line) for line in result.stdout.splitlines()]


def found(directory: Path, *words: str) -> set[str]:
    return {hit["url"] for hit in searched(directory, *words)}


def on_a_terminal(*words: str, **settings: object) -> str:
    ours, theirs = pty.openpty()
    with subprocess.Popen(command(*words, **settings), cwd=ROOT, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        output = b""
        try:
            while part := os.read(ours, 65536):
                output += part
        except OSError:  # the command has closed the terminal
            pass
        os.close(ours)
    assert process.returncode == 0
    return output.decode()


def test_the_index_follows_the_collection(collection: Collection, tmp_path: Path) -> None:
    collection.add(LAMP, page("The lamp", "It burns paraffin."), **HTML)
    assert found(tmp_path, "paraffin") == {LAMP}
    collection.add(BELL, page("The bell", "It warns of paraffin, too."), **HTML)
    assert found(tmp_path, "--no-update", "paraffin") == {LAMP}
    assert found(tmp_path, "paraffin") == {LAMP, BELL}
    collection.add(LAMP, page("The lamp", "It burns rapeseed now."), **HTML)
    assert found(tmp_path, "paraffin") == {BELL}
    assert found(tmp_path, "rapeseed") == {LAMP}
    collection.add(BELL, status=410)
    assert found(tmp_path, "paraffin") == set()


def test_a_hit_in_json_has_all_fields(collection: Collection, tmp_path: Path) -> None:
    collection.add(LAMP, page("The lamp", "It burns paraffin, and smells of it."), **HTML)
    (hit,) = searched(tmp_path, "paraffin")
    assert [hit[name] for name in ("rank", "url", "title", "host", "format", "more_from_host")] == [
        *(1, LAMP, "The lamp", "a.test", "html", 0)
    ]
    ((start, end),) = hit["highlights"]
    assert hit["snippet"][start:end] == "paraffin"
    assert hit["score"] > 0
    assert hit["fetched_at"].endswith("Z")


def test_a_copy_is_not_in_the_index(collection: Collection, tmp_path: Path) -> None:
    body = page("The lamp", "It burns paraffin. " * 40)
    collection.add(LAMP, body, **HTML)
    collection.add(BELL, body, **HTML)
    assert found(tmp_path, "paraffin") == {LAMP}


def test_options_limit_the_hits(collection: Collection, tmp_path: Path) -> None:
    for number in range(5):
        collection.add(
            f"{LAMP}/{number}", page(f"Lamp {number}", f"Paraffin is burnt here, as number {number}."), **HTML
        )
    collection.add(BELL, page("The bell", "Paraffin is not needed."), **HTML)
    assert len(searched(tmp_path, "paraffin")) == 3
    assert len(searched(tmp_path, "paraffin", "--per-host", "0")) == 6
    assert len(searched(tmp_path, "paraffin", "--per-host", "0", "--limit", "4")) == 4
    assert {hit["more_from_host"] for hit in searched(tmp_path, "paraffin", "--host", "a.test")} == {3}
    assert found(tmp_path, "paraffin", "--host", "b.test") == {BELL}
    assert found(tmp_path, "paraffin", "--language", "xx") == set()


def test_hits_have_the_relevance_that_is_asked_for(collection: Collection, tmp_path: Path) -> None:
    collection.add(LAMP, page("The lamp", "It burns paraffin."), relevance=0.25, **HTML)
    collection.add(BELL, page("The bell", "It warns of paraffin, too."), relevance=0.75, **HTML)
    collection.add(HOSTILE, page("No topic", "Paraffin alone."), **HTML)
    assert {hit["url"]: hit.get("relevance") for hit in searched(tmp_path, "paraffin")} == {
        LAMP: 0.25, BELL: 0.75, HOSTILE: None
    }  # fmt: skip
    assert all("relevance" in hit for hit in searched(tmp_path, "paraffin", "--min-relevance", "0"))
    assert found(tmp_path, "paraffin", "--min-relevance", "0") == {LAMP, BELL}
    assert found(tmp_path, "paraffin", "--min-relevance", "0.5") == {BELL}


def test_an_index_of_an_older_version_is_built_anew_and_said_to_be(collection: Collection, tmp_path: Path) -> None:
    collection.add(LAMP, page("The lamp", "It burns paraffin."), relevance=0.25, **HTML)
    assert found(tmp_path, "paraffin") == {LAMP}
    (tmp_path / "search" / "schema.json").write_text('{"index":"orbweaver","schema":1}')
    refused = scrapy("search", "--no-update", "paraffin", CRAWL_DIR=tmp_path)
    assert refused.returncode == 65
    assert "without --no-update builds it anew" in error_line(refused.stderr)
    rebuilt = scrapy("search", "paraffin", CRAWL_DIR=tmp_path)
    assert (rebuilt.returncode, rebuilt.stdout.count(LAMP)) == (0, 1)
    (line,) = rebuilt.stderr.splitlines()
    assert "an older version has filled it" in line
    assert found(tmp_path, "--no-update", "paraffin") == {LAMP}


def test_the_index_may_be_in_another_directory_and_be_rebuilt(collection: Collection, tmp_path: Path) -> None:
    collection.add(LAMP, page("The lamp", "It burns paraffin."), **HTML)
    elsewhere = tmp_path / "else" / "where"
    assert found(tmp_path, "paraffin", "--index", str(elsewhere)) == {LAMP}
    assert not (tmp_path / "search").exists()
    (elsewhere / "schema.json").write_text("{}")
    refused = scrapy("search", "paraffin", "--index", str(elsewhere), CRAWL_DIR=tmp_path)
    assert refused.returncode == 65
    assert "--full builds it anew" in error_line(refused.stderr)
    assert found(tmp_path, "paraffin", "--index", str(elsewhere), "--full") == {LAMP}


def test_an_index_of_another_crawl_is_not_mixed_with_this_one(collection: Collection, tmp_path: Path) -> None:
    collection.add(LAMP, page("The lamp", "It burns paraffin."), **HTML)
    assert found(tmp_path, "paraffin") == {LAMP}
    other = tmp_path / "other"
    other.mkdir()
    second = Collection(other)
    second.close()
    refused = scrapy("search", "paraffin", "--index", str(tmp_path / "search"), CRAWL_DIR=other)
    assert refused.returncode == 65
    assert "--full" in error_line(refused.stderr)


def test_while_another_process_updates_the_index_its_last_state_is_searched(
    collection: Collection, tmp_path: Path
) -> None:
    collection.add(LAMP, page("The lamp", "It burns paraffin."), **HTML)
    busy = TantivyIndex(tmp_path / "search")
    try:
        result = scrapy("search", "paraffin", CRAWL_DIR=tmp_path)
        assert result.returncode == 0
        assert "Another process" in result.stderr
        assert result.stdout == "None of 0 documents matches: paraffin\n"
        full = scrapy("search", "paraffin", "--full", CRAWL_DIR=tmp_path)
        assert full.returncode == 75
        assert error_line(full.stderr)
    finally:
        busy.close()
    assert found(tmp_path, "paraffin") == {LAMP}


def test_hits_are_plain_text_where_the_output_is_no_terminal(collection: Collection, tmp_path: Path) -> None:
    collection.add(LAMP, page("The lamp", "It burns paraffin, and smells of it."), **HTML)
    result = scrapy("search", "paraffin", CRAWL_DIR=tmp_path)
    assert result.stdout == (
        f" 1. The lamp\n    {LAMP}  1970-01-12\n    The lamp It burns paraffin, and smells of it.\n\n"
        "1 of 1 documents match\n"
    )
    assert result.stderr == ""


def test_control_characters_of_a_page_are_not_printed(collection: Collection, tmp_path: Path) -> None:
    title = "&#x1b;[31mRed [bold]paraffin[/bold] :bee: \u202e turned"
    collection.add(HOSTILE, page(title, "[link=http://evil.test/]paraffin[/link] \x1b]0;owned\x07"), **HTML)
    output = on_a_terminal("search", "paraffin", CRAWL_DIR=tmp_path)
    assert "[bold]paraffin[/bold] :bee:" in output
    assert "\x1b[1;33mparaffin\x1b[0m" in output
    shown = re.sub(r"\x1b\[[\d;]*m|\r\n", "", output)
    assert shown.isprintable()
    assert "\x1b[31m" not in output


@pytest.mark.parametrize(
    "query", ['"', "((((", "q:r:s", "-", "🐝", "潮だまり", "x" * 10_000, "\x1b[31m \u202e", "NOT", "[bold]"]
)
def test_no_query_causes_a_traceback(query: str, collection: Collection, tmp_path: Path) -> None:
    collection.add(LAMP, page("The lamp", "It burns paraffin."), **HTML)
    result = scrapy("search", query, CRAWL_DIR=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("None of 1 documents matches: ")
    assert result.stdout.rstrip("\n").isprintable()


@pytest.mark.parametrize(
    "words",
    [
        *((), ("",), ("  ",), ("a", "--limit", "0"), ("a", "--per-host", "-1"), ("a", "--full", "--no-update")),
        *(("a", f"--min-relevance={value}") for value in ("-0.1", "1.1", "nan", "half")),
    ],
)
def test_wrong_usage_is_exit_code_2(words: tuple[str, ...], tmp_path: Path) -> None:
    result = scrapy("search", *words, CRAWL_DIR=tmp_path)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_a_crawl_or_an_index_a_search_is_refused(tmp_path: Path) -> None:
    result = scrapy("search", "paraffin", CRAWL_DIR=tmp_path)
    assert result.returncode == 69
    assert "there is no crawl here" in error_line(result.stderr)
    result = scrapy("search", "paraffin", "--no-update", CRAWL_DIR=tmp_path)
    assert result.returncode == 69
    assert "there is no index yet" in error_line(result.stderr)
    assert list(tmp_path.iterdir()) == []


def test_before_the_first_page_there_is_nothing_to_search(collection: Collection, tmp_path: Path) -> None:
    for words in ((), ("--json",)):
        result = scrapy("search", "paraffin", *words, CRAWL_DIR=tmp_path)
        assert (result.returncode, result.stdout) == (69, "")
        assert "there is no index yet; the crawl has fetched no page so far" in error_line(result.stderr)
