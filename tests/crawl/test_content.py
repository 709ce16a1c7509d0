"""A page that kills, hangs or bloats its content process costs attempts of its own URL and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.crawl.pages import Answer, Pages, pages_served, seeds_of
from tests.crawl.runner import rows, scrapy
from tests.parse.documents import files
from tests.proofs.kill import archive

pytestmark = pytest.mark.crawl

WORDS = " ".join(f"word{n}" for n in range(60))


def crawl(pages: Pages, tmp_path: Path, **settings: object) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Crawl the pages; return URL path → reasons of its state and of its last visit, and the requests."""
    with pages_served(pages, tmp_path) as (given, requests):
        port = given.pop("port")
        result = scrapy("crawl", "web", "-a", f"seeds={seeds_of(pages, port)}", timeout=100, **given | settings)
    assert result.returncode == 0, result.stderr
    found = rows(
        tmp_path / "crawl",
        "SELECT u.url, r.name, coalesce(l.name, '') FROM urls u JOIN reasons r ON r.code = u.reason "
        "LEFT JOIN reasons l ON l.code = u.last_reason WHERE u.kind = 0",
    )
    return {str(url).partition(f":{port}")[2]: (str(reason), str(last)) for url, reason, last in found}, requests


@pytest.mark.parametrize(
    ("fate", "reason", "timeout"),
    [
        ("abort", "CONTENT_DIED", 20),
        ("hang", "CONTENT_HUNG", 3),
        ("burn", "CONTENT_HUNG", 20),  # the kernel ends it after a second of computing
        ("swell", "CONTENT_DIED", 20),
    ],
)
def test_a_page_that_kills_its_content_process_is_quarantined_after_three_attempts(
    fate: str, reason: str, timeout: int, tmp_path: Path
) -> None:
    good = [f"/{n}" for n in range(20)]
    links = "".join(f'<a href="{path}">{path}</a>' for path in [f"/{fate}", *good])
    pages = {"a.test": {"/": links, f"/{fate}": "bad"} | dict.fromkeys(good, "good"), "b.test": {"/": "<p>other"}}
    known, requests = crawl(
        pages, tmp_path, CONTENT_HOOK="tests.crawl.hooks:harm", CONTENT_TIMEOUT=timeout, CONTENT_CPU_TIME=1,
        CONTENT_PROCESSES=2, CONTENT_MAX_MEMORY=512 * 1024**2,
    )  # fmt: skip
    assert known[f"/{fate}"] == ("QUARANTINED", reason)
    assert requests.count(f"a.test/{fate}") == 3
    assert all(known[path] == ("REVISIT", "OK") for path in ["/", *good])
    assert len(requests) == len(set(requests)) + 2


def test_the_last_words_of_a_content_process_are_the_detail_of_its_page(tmp_path: Path) -> None:
    pages = {"a.test": {"/": '<a href="/abort">x</a>', "/abort": "bad"}}
    with pages_served(pages, tmp_path) as (given, _):
        port = given.pop("port")
        given |= {"CONTENT_HOOK": "tests.crawl.hooks:harm", "CONTENT_PROCESSES": 1}
        ended = scrapy("crawl", "web", "-a", f"seeds={seeds_of(pages, port)}", **given)
        explained = scrapy("why", f"http://a.test:{port}/abort", CRAWL_DIR=given["CRAWL_DIR"])
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "*** the last words ***" in explained.stdout


def test_what_libraries_say_of_pages_is_counted_and_not_shown(tmp_path: Path) -> None:
    pages = {"a.test": {"/": '<a href="/b">b</a>', "/b": "b"}}
    with pages_served(pages, tmp_path) as (given, _):
        port = given.pop("port")
        given |= {"CONTENT_HOOK": "tests.crawl.hooks:speak", "CONTENT_PROCESSES": 1}
        summary = tmp_path / "summary.json"
        ended = scrapy(
            "crawl", "web", "-a", f"seeds={seeds_of(pages, port)}", "--summary", str(summary), **given,
            METRICS_FILE=tmp_path / "crawl.prom",
        )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "recursion" not in ended.stdout
    data = json.loads(summary.read_text())
    visits = data["visits"]  # with robots.txt
    # Python repeats no warning.
    assert data["library_messages"] == {"standard error": visits * 20_000, "pypdfium2": visits, "py": 1}
    metric = rf'orbweaver_library_messages_total\{{.*library="pypdfium2".*\}} {visits:.1f}'
    assert re.search(metric, (tmp_path / "crawl.prom").read_text())


@pytest.mark.parametrize("processes", [0, 1])
def test_a_document_of_which_a_library_complains_is_crawled_and_read_in_silence(processes: int, tmp_path: Path) -> None:
    pages = {"a.test": {"/": Answer(files.pdf_with_circular_outline(), headers={"Content-Type": "application/pdf"})}}
    with pages_served(pages, tmp_path) as (given, _):
        port = given.pop("port")
        url, summary = seeds_of(pages, port), tmp_path / "summary.json"
        given |= {"CONTENT_PROCESSES": processes}
        ended = scrapy("crawl", "web", "-a", f"seeds={url}", "--summary", str(summary), **given)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert json.loads(summary.read_text())["library_messages"] == {"pypdfium2": 1}
        inspected = scrapy("inspect", url, CRAWL_DIR=given["CRAWL_DIR"])
    assert (inspected.returncode, inspected.stderr) == (0, "")
    exported = scrapy("export", "--to", "markdown:" + str(tmp_path / "pages"), CRAWL_DIR=given["CRAWL_DIR"])
    assert exported.stderr == "1 documents, 0 duplicates, up to version 1\n"


def test_a_crawl_whose_content_processes_cannot_start_reports_it_and_ends(tmp_path: Path) -> None:
    pages = {"a.test": {"/": "page"}}
    with pages_served(pages, tmp_path) as (given, _):
        port = given.pop("port")
        words = ("crawl", "web", "-a", f"seeds={seeds_of(pages, port)}")
        given |= {"CONTENT_HOOK": "tests.crawl.dying:hook", "CONTENT_PROCESSES": 1}
        result = scrapy(*words, **given)
    assert result.returncode == 1
    assert "content processes in a row died at their start, the last with: something is missing." in result.stderr
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM documents") == [(0,)]


def test_hostile_pages_get_the_right_reason_and_their_links_are_found(tmp_path: Path) -> None:
    deep = "<div>" * 100_000 + '<a href="/at-the-bottom">down here</a>'
    many = "".join(f'<a href="/many/{n}">{n}</a>' for n in range(200_000))
    wide = f'<p title="{"x" * 7_000_000}">wide</p><a href="/beside">beside</a>'
    paths = ["/deep", "/many", "/wide"]
    pages = {
        "a.test": {
            "/": "".join(f'<a href="{path}">x</a>' for path in paths),
            "/deep": deep,
            "/many": many,
            "/wide": wide,
        },
        "b.test": {"/": "<p>other"},
    }
    known, _ = crawl(pages, tmp_path, CRAWL_MAX_PAGES=5, CONTENT_PROCESSES=1)
    assert all(known[path] == ("REVISIT", "OK") for path in paths)
    assert {"/at-the-bottom", "/beside", "/many/0", "/many/4999"} <= known.keys()
    assert "/many/5000" not in known


def test_a_page_with_an_attribute_beyond_the_size_limit_is_cut(tmp_path: Path) -> None:
    pages = {"a.test": {"/": '<a href="/before">x</a><p title="' + "x" * 20_000_000 + '">'}}
    known, _ = crawl(pages, tmp_path, CONTENT_PROCESSES=1)
    assert known["/"] == ("REVISIT", "CUT_LENGTH")
    assert "/before" in known


def test_an_exact_copy_is_archived_once_and_marked(tmp_path: Path) -> None:
    page = f'<title>T</title><p>{WORDS}</p><a href="http://a.test:PORT/x">x</a>'
    other = f"<title>Another head</title><p>{WORDS}</p>" + page[page.index("<a ") :]
    front = "".join(f'<a href="/{name}">x</a>' for name in ("one", "two", "three", "words"))
    with pages_served(
        {"a.test": {"/": front, "/one": page, "/two": page, "/words": other, "/x": "x"}, "b.test": {"/": page}},
        tmp_path,
    ) as (given, _):
        port = given.pop("port")
        seeds = f"http://a.test:{port}/,http://b.test:{port}/"
        given["CONTENT_PROCESSES"] = 1
        assert scrapy("crawl", "web", "-a", f"seeds={seeds}", **given).returncode == 0
        explanations = [scrapy("why", f"http://a.test:{port}/{name}", **given).stdout for name in ("one", "two")]
    assert any("a duplicate of http://" in answer for answer in explanations)
    directory = tmp_path / "crawl"
    documents = rows(
        directory,
        "SELECT u.url, d.id, d.body_of, d.duplicate_of FROM documents d JOIN urls u USING (host, rest) "
        "WHERE d.kind = 0 AND d.status = 200 AND u.url NOT LIKE '%/x' AND u.url NOT LIKE '%a.test:%/' ORDER BY d.id",
    )
    assert len(documents) == 4
    (first, *copies) = documents
    assert first[2:] == (None, None)
    assert {copy[3] for copy in copies} == {first[1]}
    bodies = {str(copy[0]).rpartition("/")[2]: copy[2] for copy in copies}
    assert all(holder == (None if name == "words" else first[1]) for name, holder in bodies.items()) or (
        str(first[0]).endswith("/words")
    )
    names = archive.closed_files(directory)
    assert archive.broken_files(directory, names) == []
    assert archive.miscounted_files(directory, names) == []
