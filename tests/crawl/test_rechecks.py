"""Revisits use conditional requests and HEAD, and their changes are in the change feed; the server's log proves it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.crawl.pages import Answer, Pages, pages_served, seeds_of
from tests.crawl.runner import make_due, rows, scrapy

pytestmark = pytest.mark.crawl


def crawl(pages: Pages, settings: dict[str, object]) -> subprocess.CompletedProcess[str]:
    result = scrapy("crawl", "web", "-a", f"seeds={seeds_of(pages, settings['port'])}", **settings)
    assert result.returncode == 0, result.stderr
    return result


def changes(directory: Path) -> list[tuple[object, ...]]:
    return rows(
        directory,
        "SELECT change, replace(url, rtrim(url, replace(url, '/', '')), '/') "
        "FROM changes JOIN urls USING (host, rest) ORDER BY version",
    )


def test_an_unchanged_page_is_not_transferred_again(tmp_path: Path) -> None:
    tags = {f"/{n}": Answer("word " * 2_000 + str(n), headers={"ETag": f'"{n}"'}) for n in range(50)}
    links = "".join(f'<a href="{path}">x</a>' for path in tags)
    pages: dict[str, dict[str, Answer | str]] = {"a.test": {"/": Answer(links, headers={"ETag": '"home"'}), **tags}}
    sent: list[int] = []
    with pages_served(pages, tmp_path, sent) as (settings, requests):
        settings["CONTENT_PROCESSES"] = 1
        crawl(pages, settings)
        first, before = sum(sent), len(requests)
        make_due(tmp_path / "crawl")
        result = crawl(pages, settings)
        assert sorted(requests[before:]) == sorted(f"a.test{path}" for path in pages["a.test"])  # each, once
        assert sum(sent) - first < 0.05 * first
        assert "Unchanged    51 pages: " in result.stdout
        before = len(requests)
        pages["a.test"]["/7"] = Answer("other words", headers={"ETag": '"seven"'})
        make_due(tmp_path / "crawl")
        crawl(pages, settings)
    recorded = changes(tmp_path / "crawl")
    assert [change for change, _ in recorded[:51]] == ["upsert"] * 51
    assert [change for change, _ in recorded[51:102]] == ["meta"] * 51
    assert sorted(recorded[102:]) == sorted(
        [("upsert", "/7")] + [("meta", path) for path in pages["a.test"] if path != "/7"]
    )
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM documents WHERE kind = 0") == [(52,)]
    profiles = []
    for file in sorted((tmp_path / "crawl" / "warc").glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "revisit":
                    profiles.append(record.rec_headers.get_header("WARC-Profile"))
                    assert record.rec_headers.get_header("WARC-Refers-To-Target-URI").startswith("http://a.test")
                    assert record.rec_headers.get_header("WARC-Refers-To-Date")
                    assert record.http_headers.get_statuscode() == "304"
    assert len(profiles) == 101
    assert all(profile.endswith("server-not-modified") for profile in profiles)


def test_a_host_that_sends_wrong_304s_is_found_by_full_fetches_and_not_trusted(tmp_path: Path) -> None:
    """The server answers every conditional request with 304, though the page changes."""
    pages: dict[str, dict[str, Answer | str]] = {"a.test": {"/": Answer("first", headers={"ETag": '"always"'})}}
    with pages_served(pages, tmp_path) as (settings, _):
        settings["REVISIT_FULL_EVERY"] = 2
        statuses = []
        for number in range(7):
            pages["a.test"]["/"] = Answer(f"version {number}", headers={"ETag": '"always"'})
            crawl(pages, settings)
            statuses += [status for (status,) in rows(tmp_path / "crawl", "SELECT status FROM urls WHERE kind = 0")]
            make_due(tmp_path / "crawl")
    assert statuses == [200, 304, 200, 304, 200, 200, 200]
    ((wrong,),) = rows(tmp_path / "crawl", "SELECT same_wrong FROM trust")
    assert wrong == 4
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM documents WHERE kind = 0") == [(5,)]


def test_a_304_to_an_unconditional_request_is_a_failure(tmp_path: Path) -> None:
    pages: Pages = {"a.test": {"/": Answer(status=304)}}
    with pages_served(pages, tmp_path) as (settings, requests):
        crawl(pages, settings)
    assert requests.count("a.test/") == 3
    assert rows(tmp_path / "crawl", "SELECT name FROM urls JOIN reasons ON code = reason WHERE kind = 0") == [
        ("QUARANTINED",)
    ]


def test_a_missing_page_is_deleted_once_that_is_certain(tmp_path: Path) -> None:
    others = {path: f"<p>page {path}" for path in ("/lost", "/gone", "/moved", "/away", "/shut")}
    links = "".join(f'<a href="{path}">x</a>' for path in others)
    pages: dict[str, dict[str, Answer | str]] = {"a.test": {"/": links, **others}}
    with pages_served(pages, tmp_path) as (settings, requests):
        crawl(pages, settings)
        to_new = {"Location": "/new"}
        pages["a.test"] |= {
            "/lost": Answer(status=404),
            "/gone": Answer(status=410),
            "/moved": Answer(status=301, headers=to_new),
            "/away": Answer(status=302, headers=to_new),
            "/shut": Answer(status=302, headers={"Location": "/user/login?next=/shut"}),
            "/new": "<p>new",
        }
        make_due(tmp_path / "crawl")
        crawl(pages, settings)
        recorded = changes(tmp_path / "crawl")
        assert sorted(recorded[6:]) == [("delete", "/gone"), ("delete", "/moved"), ("meta", "/"), ("upsert", "/new")]
        make_due(tmp_path / "crawl")
        crawl(pages, settings)
        again = changes(tmp_path / "crawl")[len(recorded) :]
        assert [entry for entry in again if entry[0] == "delete"] == [("delete", "/lost"), ("delete", "/shut")]
        pages["a.test"]["/lost"] = "<p>back"
        make_due(tmp_path / "crawl")
        crawl(pages, settings)
    assert ("upsert", "/lost") in changes(tmp_path / "crawl")[len(recorded) + len(again) :]
    assert "a.test/user/login?next=/shut" not in requests
    counted = {path: requests.count(f"a.test{path}") for path in ("/gone", "/moved", "/away", "/shut", "/lost")}
    assert counted == {"/gone": 2, "/moved": 2, "/away": 4, "/shut": 4, "/lost": 4}
    states = rows(
        tmp_path / "crawl",
        "SELECT substr(url, -5), state, name FROM urls JOIN reasons ON code = reason "
        "WHERE kind = 0 AND status BETWEEN 300 AND 499 ORDER BY 1",
    )
    assert states == [
        ("/away", 0, "REDIRECTED"),
        ("/gone", 2, "GONE"),
        ("/shut", 0, "LOGIN_WALL"),
        ("moved", 2, "REDIRECTED"),
    ]


def test_an_empty_answer_is_no_new_version_of_a_page(tmp_path: Path) -> None:
    pages: dict[str, dict[str, Answer | str]] = {"a.test": {"/": "<p>words"}}
    with pages_served(pages, tmp_path) as (settings, _):
        crawl(pages, settings)
        pages["a.test"]["/"] = ""
        make_due(tmp_path / "crawl")
        crawl(pages, settings)
        assert changes(tmp_path / "crawl") == [("upsert", "/")]
        make_due(tmp_path / "crawl")
        crawl(pages, settings)
    assert changes(tmp_path / "crawl") == [("upsert", "/"), ("delete", "/")]


def test_the_body_of_an_unsupported_type_is_not_fetched(tmp_path: Path) -> None:
    """The headers decide; under `auto`, HEAD is sent once the host has sent unsupported types under similar paths."""
    big = Answer(b"\0" * 3_000_000, headers={"Content-Type": "application/octet-stream"})
    files = {f"/files/{n}": big for n in range(20)}
    texts = {f"/texts/{n}": f"<p>text {n}" for n in range(20)}
    links = "".join(f'<a href="{path}">x</a>' for path in {**files, **texts})
    pages: Pages = {"a.test": {"/": links, **files, **texts}}
    request_counts = {}
    for policy in ("never", "auto", "always"):
        directory = tmp_path / policy
        directory.mkdir()
        with pages_served(pages, directory) as (settings, requests):
            result = crawl(pages, settings | {"HEAD_POLICY": policy})
        request_counts[policy] = len(requests)
        assert "bodies of 60.0 MB not fetched" in " ".join(result.stdout.split())
        states = rows(
            directory / "crawl",
            "SELECT name, count(*) FROM urls JOIN reasons ON code = last_reason WHERE kind = 0 GROUP BY 1 ORDER BY 1",
        )
        assert states == [("OK", 21), ("UNWANTED_TYPE", 20)]
        heads = sum(entry.startswith("HEAD ") for entry in requests)
        assert heads == {"never": 0, "auto": 19, "always": 41}[policy]
    assert request_counts == {"never": 42, "auto": 42, "always": 63}


def test_a_host_that_refuses_head_gets_no_further_head_requests(tmp_path: Path) -> None:
    texts = {f"/{n}.dat": Answer(f"<p>text {n}", status_of_head=405) for n in range(5)}
    links = "".join(f'<a href="{path}">x</a>' for path in texts)
    pages: Pages = {"a.test": {"/": Answer(links, status_of_head=405), **texts}}
    with pages_served(pages, tmp_path) as (settings, requests):
        crawl(pages, settings | {"HEAD_POLICY": "always"})
        assert [entry for entry in requests if entry.startswith("HEAD ")] == ["HEAD a.test/"]
        make_due(tmp_path / "crawl")
        crawl(pages, settings | {"HEAD_POLICY": "always"})  # not in the next crawl either
    assert [entry for entry in requests if entry.startswith("HEAD ")] == ["HEAD a.test/"]
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM urls WHERE last_reason = 20 AND kind = 0") == [(6,)]
