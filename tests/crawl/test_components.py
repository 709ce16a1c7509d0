"""A component that is taken out of the settings takes its work with it, and nothing else."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from tests.contracts.similar_texts import ONE, edited, words_of
from tests.crawl.pages import Pages, pages_served, seeds_of
from tests.crawl.runner import rows, scrapy

pytestmark = pytest.mark.crawl

EXTRACT = "crawler.pipelines.extract.ExtractPipeline"
DUPLICATES = "crawler.pipelines.duplicates.DuplicatesPipeline"
STORE = "crawler.pipelines.store.StorePipeline"
WITHOUT_DUPLICATES = f'{{"{EXTRACT}": 100, "{STORE}": 900}}'


def page(words: list[str]) -> str:
    return f"<title>t</title><article><p>{' '.join(words)}</p></article>"


def crawl(pages: Pages, tmp_path: Path, **settings: object) -> list[str]:
    """Crawl the pages, and return the requests."""
    tmp_path.mkdir(exist_ok=True)
    with pages_served(pages, tmp_path) as (given, requests):
        port = given.pop("port")
        result = scrapy("crawl", "web", "-a", f"seeds={seeds_of(pages, port)}", timeout=100, **given | settings)
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    return requests


def duplicates(tmp_path: Path) -> dict[str, str]:
    """Return the path of each duplicate, with how it was found."""
    tiers = {1: "body", 2: "text", 3: "sketch", 4: "compared"}
    found = rows(
        tmp_path / "crawl",
        "SELECT u.url, d.tier FROM documents d JOIN urls u ON u.host = d.host AND u.rest = d.rest "
        "WHERE d.duplicate_of IS NOT NULL",
    )
    return {"/" + str(url).rpartition("/")[2]: tiers[int(str(tier))] for url, tier in found}


def copies() -> Pages:
    pages = {"/one": page(ONE), "/copy": page(ONE), "/near": page(edited(ONE, 1)), "/other": page(words_of(3))}
    # The copies are found one link after another, so that the first is always the original.
    links = {"/": "/one", "/one": "/copy", "/copy": "/near", "/near": "/other"}
    return {"a.test": {path: f'{body}<a href="{links.get(path, "/")}">next</a>' for path, body in pages.items()}
            | {"/": '<a href="/one">first</a>'}}  # fmt: skip


@pytest.mark.parametrize("processes", [0, 1])
def test_without_its_pipeline_near_duplicates_are_off_and_exact_copies_still_found(
    processes: int, tmp_path: Path
) -> None:
    crawl(copies(), tmp_path / "with", CONTENT_PROCESSES=processes)
    assert duplicates(tmp_path / "with") == {"/copy": "text", "/near": "sketch"}
    crawl(copies(), tmp_path / "without", CONTENT_PROCESSES=processes, ITEM_PIPELINES=WITHOUT_DUPLICATES)
    assert duplicates(tmp_path / "without") == {"/copy": "text"}


def test_a_template_job_of_an_earlier_run_waits_while_the_pipeline_is_out(tmp_path: Path) -> None:
    menu = " ".join(f"menu{number}" for number in range(300))
    # A template is looked for at 8 pages, of which one has too little text, and again at 16.
    paths = [f"/{number}" for number in range(24)]
    links = "".join(f'<a href="{path}">{path}</a>' for path in paths)
    pages = {"a.test": {"/": links} | {path: page([menu, *words_of(int(path[1:]), 80)]) for path in paths}}
    crawl(pages, tmp_path, DUPLICATE_THRESHOLD=0.9)
    host = rows(tmp_path / "crawl", "SELECT host FROM hosts")[0][0]
    assert rows(tmp_path / "crawl", "SELECT template IS NOT NULL FROM hosts") == [(1,)]
    connection = apsw.Connection(str(tmp_path / "crawl" / "crawl.db"))
    connection.execute("INSERT INTO template_jobs VALUES (?)", (host,))
    connection.close()
    crawl(pages, tmp_path, ITEM_PIPELINES=WITHOUT_DUPLICATES)
    assert rows(tmp_path / "crawl", "SELECT host FROM template_jobs") == [(host,)]
    crawl(pages, tmp_path)
    assert rows(tmp_path / "crawl", "SELECT host FROM template_jobs") == []


def test_without_their_middleware_sitemaps_are_not_read(tmp_path: Path) -> None:
    robots = '"crawler.middlewares.robots.RobotsMiddleware": 200'
    sitemaps = '"crawler.middlewares.sitemaps.SitemapsMiddleware": 100'
    pages = {"a.test": {"/": "<p>page"}}
    both = crawl(pages, tmp_path / "with", SITEMAPS=True, DOWNLOADER_MIDDLEWARES=f"{{{sitemaps}, {robots}}}")
    assert "a.test/sitemap.xml" in both
    alone = crawl(pages, tmp_path / "without", SITEMAPS=True, DOWNLOADER_MIDDLEWARES=f"{{{robots}}}")
    assert "a.test/sitemap.xml" not in alone
    assert "a.test/robots.txt" in alone


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("SCHEDULER", "scrapy.core.scheduler.Scheduler"),
        ("DOWNLOADER", "scrapy.core.downloader.Downloader"),
        ("ITEM_PIPELINES", f'{{"{EXTRACT}": 100}}'),
    ],
)
def test_a_crawl_with_other_components_is_refused_and_makes_no_directory(
    setting: str, value: str, tmp_path: Path
) -> None:
    result = scrapy("crawl", "web", CRAWL_DIR=tmp_path / "crawl", **{setting: value})
    assert result.returncode == 78
    assert result.stderr.startswith(f"orbweaver: {setting}")
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "crawl").exists()
