"""Pages are items: feeds, signals and pipelines get each page as a dict when it is stored, and nothing else."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.similar_texts import ONE, edited
from tests.crawl.pages import Answer, Pages, pages_served, seeds_of
from tests.crawl.runner import make_due, scrapy

pytestmark = pytest.mark.crawl

EXTRACT = "crawler.pipelines.extract.ExtractPipeline"
DUPLICATES = "crawler.pipelines.duplicates.DuplicatesPipeline"
STORE = "crawler.pipelines.store.StorePipeline"
RECEIVER = '{"tests.crawl.items.ItemReceiver": 1}'
FOUND = ["/", "/copy", "/csv", "/near", "/one", "/private", "/same"]  # pages of SITE that are in the collection

LINKS = "".join(
    f'<a href="{path}">{path}</a>'
    for path in ("/one", "/moved", "/missing", "/hidden", "/csv", "/private", "/same", "/broken", "/feed")
)
SITE: Pages = {
    "a.test": {
        "/": Answer(f"<title>Top</title><p>Start here.</p>{LINKS}", headers={"ETag": '"top"'}),
        "/robots.txt": "User-agent: *\nDisallow: /denied\nSitemap: /sitemap.xml",
        "/sitemap.xml": '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>/one</loc></url></urlset>',
        "/one": f'<title>One</title><p>{" ".join(ONE)}</p><a href="/copy">again</a><a href="http://b.test/">b</a>',
        "/copy": f'<title>Copy</title><p>{" ".join(ONE)}</p><a href="/near">near</a>',
        "/near": f"<title>Near</title><p>{' '.join(edited(ONE, 1))}</p>",
        "/same": "<title>Same</title><p>The same bytes at every visit, without a validator.</p>",
        "/moved": Answer(status=301, headers={"Location": "/one"}),
        "/hidden": '<meta name="robots" content="noindex"><p>Not to be found.</p>',
        "/private": '<meta name="robots" content="noarchive"><p>Not to be shown from a cache.</p>',
        "/csv": Answer("name,size\nheron,98\n\ud7ff\u2028,1\n", headers={"Content-Type": "text/csv; charset=utf-8"}),
        "/broken": Answer("oh", status=500),
        "/feed": Answer('<rss version="2.0"><channel><title>News</title></channel></rss>',
                        headers={"Content-Type": "application/rss+xml"}),
    }
}  # fmt: skip


def crawl(
    pages: Pages, settings: dict[str, object], *words: str, spider: str = "web", **more: object
) -> subprocess.CompletedProcess[str]:
    seeds = f"seeds={seeds_of(pages, settings['port'])}"
    given = {name: value for name, value in (settings | more).items() if name != "port"}
    result = scrapy("crawl", spider, "-a", seeds, *words, timeout=100, **given)
    assert result.returncode == 0, result.stderr
    # A setting that only a component of the test reads is told.
    told = [line for line in result.stderr.splitlines() if not line.startswith("orbweaver: warning: -s ITEM_NOTES")]
    assert told == []
    return result


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def path_of(url: str) -> str:
    return "/" + url.partition("//")[2].partition("/")[2]


def paths_in(path: Path) -> list[str]:
    return sorted(path_of(line["url"]) for line in lines_of(path))


@pytest.mark.parametrize("processes", [0, 1])
def test_a_feed_has_each_page_with_the_fields_of_an_export(processes: int, tmp_path: Path) -> None:
    feed, exported = tmp_path / "pages.jsonl", tmp_path / "exported.jsonl"
    with pages_served(SITE, tmp_path) as (settings, _):
        crawl(SITE, settings, "-O", str(feed), SITEMAPS=True, CONTENT_PROCESSES=processes)
        assert scrapy("export", "--to", f"jsonl:{exported}", CRAWL_DIR=settings["CRAWL_DIR"]).returncode == 0
    assert paths_in(feed) == FOUND
    pages, documents = ({line["id"]: line for line in lines_of(path)} for path in (feed, exported))
    assert [list(page) for page in pages.values()] == [list(documents[key]) for key in pages]
    assert pages == documents
    found = {path_of(page["url"]): page for page in pages.values()}
    assert found["/near"]["tier"] == "sketch"
    assert found["/near"]["duplicate_of"] == found["/one"]["url"]
    assert found["/private"]["noarchive"] is True
    assert "heron" in found["/csv"]["text"]


def test_later_visits_give_items_only_for_pages_that_were_transferred(tmp_path: Path) -> None:
    site: dict[str, Any] = {"a.test": {**SITE["a.test"]}}
    feed = tmp_path / "again.jsonl"
    with pages_served(site, tmp_path) as (settings, _):
        crawl(site, settings)
        make_due(tmp_path / "crawl")
        site["a.test"]["/private"] = "<p>Now it is another page."
        del site["a.test"]["/csv"]
        crawl(site, settings, "-O", str(feed))
    events = {path_of(page["url"]): page["event"] for page in lines_of(feed)}
    assert events["/same"] == "meta"
    assert events["/private"] == "upsert"
    assert not events.keys() & {"/", "/csv", "/hidden"}  # a 304, a missing page, one that asks not to be found


def test_anchors_are_those_of_the_time_of_the_commit(tmp_path: Path) -> None:
    pages = {
        "a.test": {"/": '<a href="/x">inside</a><a href="http://b.test:PORT/page">known before</a>'},
        "b.test": {"/": "<p>b"},
    }
    feed = tmp_path / "pages.jsonl"
    with pages_served(pages, tmp_path) as (settings, _):
        port = settings["port"]
        pages["a.test"]["/"] = pages["a.test"]["/"].replace("PORT", str(port))
        pages["b.test"]["/page"] = "<p>The target."
        only = {"a.test": pages["a.test"]}
        crawl(only, settings, "-O", str(feed), SCOPE="any", URL_PORTS=port)
    anchors = {page["url"]: page["anchors"] for page in lines_of(feed)}
    assert anchors[f"http://b.test:{port}/page"] == [{"host": "a.test", "text": "known before"}]


def test_other_exporters_and_several_feeds_work(tmp_path: Path) -> None:
    feeds = {
        str(tmp_path / "pages.csv"): {"format": "csv", "fields": ["url", "title", "duplicate_of"]},
        str(tmp_path / "pages.json"): {"format": "json"},
        str(tmp_path / "pages.xml"): {"format": "xml"},
        str(tmp_path / "batch-%(batch_id)d.jsonl"): {"format": "jsonlines", "batch_item_count": 4},
    }
    with pages_served(SITE, tmp_path) as (settings, _):
        crawl(SITE, settings, FEEDS=json.dumps(feeds))
    with (tmp_path / "pages.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert sorted(path_of(row["url"]) for row in table) == FOUND
    assert {row["title"] for row in table} >= {"One", "Near"}
    assert len(json.loads((tmp_path / "pages.json").read_text(encoding="utf-8"))) == len(FOUND)
    assert (tmp_path / "pages.xml").read_text(encoding="utf-8").count("<item>") == len(FOUND)
    assert [len(lines_of(tmp_path / f"batch-{number}.jsonl")) for number in (1, 2)] == [4, 3]


def test_a_feed_to_the_standard_output_has_it_for_itself(tmp_path: Path) -> None:
    with pages_served(SITE, tmp_path) as (settings, _):
        seeds = f"seeds={seeds_of(SITE, settings.pop('port'))}"
        result = scrapy("crawl", "web", "-a", seeds, "-O", "-:jsonlines", **settings)
    assert result.returncode == 0
    assert sorted(path_of(json.loads(line)["url"]) for line in result.stdout.splitlines()) == FOUND
    assert "Finished" in result.stderr


def noted(tmp_path: Path, spider: str = "web", **settings: object) -> list[tuple[str, str, dict[str, Any]]]:
    """Crawl the site, and return what the components of `tests.crawl.items` were given."""
    notes = tmp_path / "notes.txt"
    notes.touch()
    with pages_served(SITE, tmp_path) as (given, _):
        more = {"SPIDER_MODULES": "crawler.spiders,tests.crawl.items", "ITEM_NOTES": notes, "CONTENT_PROCESSES": 1}
        crawl(SITE, given, spider=spider, **more | settings)
    return [tuple(json.loads(line)) for line in notes.read_text(encoding="utf-8").splitlines()]


def pipelines(number: int) -> str:
    return json.dumps({EXTRACT: 100, DUPLICATES: 500, STORE: 900, "tests.crawl.items.NotingPipeline": number})


def test_the_signal_has_each_page_and_drops_are_not_announced(tmp_path: Path) -> None:
    found = noted(tmp_path, EXTENSIONS=RECEIVER)
    assert {(event, kind) for event, kind, _ in found} == {("scraped", "dict")}
    assert sorted(path_of(facts["url"]) for _, _, facts in found) == FOUND
    assert all(facts["text"] for _, _, facts in found)


def test_a_pipeline_behind_the_storage_has_pages_and_own_items(tmp_path: Path) -> None:
    found = noted(tmp_path, "prices", ITEM_PIPELINES=pipelines(950))
    assert sorted(path_of(facts["url"]) for _, kind, facts in found if kind == "dict") == FOUND
    assert {kind for _, kind, _ in found} == {"dict", "Price"}


def test_a_pipeline_before_the_storage_has_visits_with_their_text(tmp_path: Path) -> None:
    found = noted(tmp_path, ITEM_PIPELINES=pipelines(300))
    assert {kind for _, kind, _ in found} == {"Visited"}
    texts = {path_of(facts["url"]): facts["text"] for _, _, facts in found if facts}
    assert all(texts[path] for path in FOUND)


def test_own_items_are_in_feeds_untouched_and_can_be_had_alone(tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    for directory, more in ((tmp_path, {}), (tmp_path / "alone", {"PAGE_ITEMS": False})):
        feed = directory / "all.jsonl"
        noted(directory, "prices", FEEDS=json.dumps({str(feed): {"format": "jsonlines"}}), **more)
    both, alone = (lines_of(directory / "all.jsonl") for directory in (tmp_path, tmp_path / "alone"))
    assert sorted(path_of(line["url"]) for line in both if "id" in line) == FOUND
    prices = [line for line in both if "price" in line]
    assert {path_of(line["url"]) for line in prices} > set(FOUND)  # the spider yields one for each answer
    assert all(line == {"url": line["url"], "price": len(line["url"])} for line in [*prices, *alone])
    assert sorted(path_of(line["url"]) for line in prices) == sorted(path_of(line["url"]) for line in alone)


def test_several_workers_need_a_feed_for_each(tmp_path: Path) -> None:
    pages = {f"{name}.test": {"/": "".join(f'<a href="/{n}">{n}</a>' for n in range(5))}
             | {f"/{n}": f"<p>page {n} of {name}" for n in range(5)} for name in "abcdefgh"}  # fmt: skip
    with pages_served(pages, tmp_path) as (settings, _):
        seeds = f"seeds={seeds_of(pages, settings.pop('port'))}"
        for words in (["--workers", "2"], ["--join"]):
            refused = scrapy("crawl", "web", "-a", seeds, *words, "-O", str(tmp_path / "pages.jsonl"), **settings)
            assert refused.returncode == 78
            assert "%(worker)s" in refused.stderr
            assert len(refused.stderr.splitlines()) == 1
            assert not (tmp_path / "crawl").exists()
        feed = str(tmp_path / "pages-%(worker)s.jsonl")
        crawled = scrapy("crawl", "web", "-a", seeds, "--workers", "2", "-O", feed, timeout=100, **settings)
        assert crawled.returncode == 0, crawled.stderr
    files = sorted(path.name for path in tmp_path.glob("pages*.jsonl"))
    assert files == ["pages-0.jsonl", "pages-1.jsonl"]
    found = [line["url"] for name in files for line in lines_of(tmp_path / name)]
    assert len(found) == len(set(found)) == 8 * 6


@pytest.mark.parametrize(
    ("feed", "code", "said"),
    [
        ("pages.unknown", 2, "unknown"),
        ("/proc/pages.jsonl", 74, "/proc/pages.jsonl cannot be written"),
        ("FILE/pages.jsonl", 74, "cannot be written"),
        ("pages-%(nope)s.jsonl", 78, "pages-%(nope)s.jsonl' cannot be made"),
        ("nosuch://host/pages.jsonl", 78, "nosuch://host/pages.jsonl: cannot be written"),
    ],
)
def test_a_feed_that_cannot_be_written_ends_the_crawl_before_it_begins(
    feed: str, code: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pages_served(SITE, tmp_path) as (settings, requests):
        seeds = f"seeds={seeds_of(SITE, settings.pop('port'))}"
        ended = scrapy("crawl", "web", "-a", seeds, "-O", feed.replace("FILE", str(tmp_path / "file")), **settings)
    assert ended.returncode == code
    assert said in ended.stderr
    assert requests == []


def test_a_crawl_without_the_exporter_of_feeds_is_refused_if_it_has_one(tmp_path: Path) -> None:
    with pages_served(SITE, tmp_path) as (settings, requests):
        seeds = f"seeds={seeds_of(SITE, settings.pop('port'))}"
        ended = scrapy("crawl", "web", "-a", seeds, "-O", str(tmp_path / "p.jsonl"), EXTENSIONS_BASE="{}", **settings)
    assert (ended.returncode, requests) == (78, [])
    assert "EXTENSIONS_BASE" in ended.stderr
