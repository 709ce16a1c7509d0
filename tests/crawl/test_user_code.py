"""Every visit ends with exactly one result and no URL is lost, whatever user code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crawl.broken import is_third
from tests.crawl.runner import polite_to, rows, scrapy, seeds_file
from tests.webgraph.server import Served

pytestmark = pytest.mark.crawl

ONCE = {"RETRY_DELAY": 0.1, "SPIDER_MODULES": "crawler.spiders,tests.crawl.broken"}
HERE = "tests.crawl.broken"
PIPELINES = '"crawler.pipelines.extract.ExtractPipeline": 100, "crawler.pipelines.store.StorePipeline": 900'
ROBOTS = '"crawler.middlewares.robots.RobotsMiddleware": 100'


def crawl(served: Served, tmp_path: Path, spider: str, **settings: object) -> int:
    given = polite_to(served, tmp_path / "crawl", **ONCE, **settings, LOG_LEVEL="CRITICAL")
    result = scrapy("crawl", spider, "-a", f"seeds={seeds_file(served, tmp_path)}", timeout=100, **given)
    assert "Traceback" not in result.stderr
    return result.returncode


def outcomes(tmp_path: Path) -> dict[str, tuple[str, str]]:
    """Return URL → reasons of its state and of its last visit, for all visited pages."""
    found = rows(
        tmp_path / "crawl",
        "SELECT u.url, r.name, l.name FROM urls u JOIN reasons r ON r.code = u.reason "
        "JOIN reasons l ON l.code = u.last_reason WHERE u.kind = 0",
    )
    return {str(url): (str(reason), str(last)) for url, reason, last in found}


@pytest.mark.parametrize(
    ("spider", "settings"),
    [
        ("raises", {}),
        ("forgets", {}),
        ("web", {"ITEM_PIPELINES": f'{{{PIPELINES}, "{HERE}.RaisingPipeline": 500}}'}),
        ("web", {"ITEM_PIPELINES": f'{{{PIPELINES}, "{HERE}.DroppingPipeline": 50}}'}),
        ("web", {"ITEM_PIPELINES": f'{{{PIPELINES}, "{HERE}.SwallowingPipeline": 500}}'}),
        ("web", {"DOWNLOADER_MIDDLEWARES": f'{{{ROBOTS}, "{HERE}.RaisingRequestMiddleware": 500}}'}),
        ("web", {"DOWNLOADER_MIDDLEWARES": f'{{{ROBOTS}, "{HERE}.RaisingResponseMiddleware": 500}}'}),
    ],
    ids=["raises", "forgets", "pipeline", "dropped", "swallowed", "request", "response"],
)
def test_a_visit_on_which_user_code_fails_is_an_internal_error(
    spider: str, settings: dict[str, object], served: Served, tmp_path: Path
) -> None:
    assert crawl(served, tmp_path, spider, **settings) == 3
    assert rows(tmp_path / "crawl", "SELECT leased, known - waiting - parked FROM accounting") == [(0, 0)]
    known = outcomes(tmp_path)
    hit = {url for url in known if is_third(url)}
    assert hit
    for url, (reason, last) in known.items():
        if url in hit and last != "ROBOTS_DENIED":
            assert (reason, last) == ("QUARANTINED", "INTERNAL_ERROR"), url
        else:
            assert last != "INTERNAL_ERROR", url


@pytest.mark.parametrize("spider", ["raises_late", "repeats", "extras"])
def test_user_code_that_yields_the_result_may_repeat_it_add_items_or_raise_afterwards(
    spider: str, served: Served, tmp_path: Path
) -> None:
    assert crawl(served, tmp_path, spider) == 0
    known = outcomes(tmp_path)
    assert all(last != "INTERNAL_ERROR" for _, last in known.values())
    assert {url for url, (reason, _) in known.items() if reason == "REVISIT"} == set(served.web.urls())
    asked_for = [url for url in known if url.endswith("/asked-for-by-the-spider")]
    assert bool(asked_for) == (spider == "extras")


def test_a_middleware_may_answer_a_request_by_itself(served: Served, tmp_path: Path) -> None:
    middlewares = f'{{{ROBOTS}, "{HERE}.AnsweringMiddleware": 500}}'
    assert crawl(served, tmp_path, "web", DOWNLOADER_MIDDLEWARES=middlewares) == 0
    answered = {url: last for url, (_, last) in outcomes(tmp_path).items() if is_third(url)}
    assert set(answered.values()) - {"ROBOTS_DENIED"} == {"OK", "REDIRECTED"}
