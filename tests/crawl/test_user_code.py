"""Every visit ends with exactly one result and no URL is lost, whatever user code does."""

from __future__ import annotations

import json
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
START = '"crawler.middlewares.start.StartMiddleware": 100'
SCRAPYS_DOWNLOADER_MIDDLEWARES = ", ".join(
    f'"scrapy.downloadermiddlewares.{path}": {number}'
    for number, path in enumerate(
        (
            *("retry.RetryMiddleware", "redirect.RedirectMiddleware", "redirect.MetaRefreshMiddleware"),
            *("cookies.CookiesMiddleware", "useragent.UserAgentMiddleware", "stats.DownloaderStats"),
            *("defaultheaders.DefaultHeadersMiddleware", "downloadtimeout.DownloadTimeoutMiddleware"),
            *("httpproxy.HttpProxyMiddleware", "httpauth.HttpAuthMiddleware", "offsite.OffsiteMiddleware"),
        ),
        start=500,
    )
)
SCRAPYS_SPIDER_MIDDLEWARES = ", ".join(
    f'"scrapy.spidermiddlewares.{path}": {number}'
    for number, path in enumerate(
        (
            *("httperror.HttpErrorMiddleware", "referer.RefererMiddleware", "urllength.UrlLengthMiddleware"),
            *("depth.DepthMiddleware", "start.StartSpiderMiddleware"),
        ),
        start=500,
    )
)


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
        ("web", {"DOWNLOADER_MIDDLEWARES": f'{{{ROBOTS}, "{HERE}.RepeatingMiddleware": 500}}'}),
        ("web", {"DOWNLOADER_MIDDLEWARES": f'{{{ROBOTS}, "{HERE}.ForeignAnswerMiddleware": 500}}'}),
        ("web", {"DOWNLOADER_MIDDLEWARES": f'{{{ROBOTS}, "{HERE}.ProxyMiddleware": 500}}'}),
    ],
    ids=[
        "raises",
        "forgets",
        "pipeline",
        "dropped",
        "swallowed",
        "request",
        "response",
        "repeats",
        "foreign",
        "proxy",
    ],
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


@pytest.mark.parametrize(
    "settings",
    [
        {"DOWNLOADER_MIDDLEWARES": f'{{{ROBOTS}, "{HERE}.DecliningResponseMiddleware": 500}}'},
        {"DOWNLOADER_MIDDLEWARES": f'{{{ROBOTS}, "{HERE}.ReplacingMiddleware": 500}}'},
        {"DOWNLOADER_MIDDLEWARES": f"{{{ROBOTS}, {SCRAPYS_DOWNLOADER_MIDDLEWARES}}}"},
        {"SPIDER_MIDDLEWARES": f"{{{START}, {SCRAPYS_SPIDER_MIDDLEWARES}}}"},
        {"SPIDER_MIDDLEWARES": f'{{{START}, "{HERE}.RaisingInputMiddleware": 500}}'},
        {"SPIDER_MIDDLEWARES": f'{{{START}, "{HERE}.RaisingOutputMiddleware": 500}}'},
        {"SPIDER_MIDDLEWARES": f'{{{START}, "{HERE}.SwallowingMiddleware": 500}}'},
    ],
    ids=["declined", "replaced", "scrapys", "scrapys of spiders", "input", "output", "swallowed"],
)
@pytest.mark.parametrize("spider", ["web", "extras"])
def test_an_answer_counts_whatever_middlewares_do_with_it(
    spider: str, settings: dict[str, object], served: Served, tmp_path: Path
) -> None:
    assert crawl(served, tmp_path, spider, **settings) == 0
    known = outcomes(tmp_path)
    assert all(last != "INTERNAL_ERROR" for _, last in known.values())
    assert {url for url, (reason, _) in known.items() if reason == "REVISIT"} == set(served.web.urls())


def test_a_middleware_may_refuse_visits(served: Served, tmp_path: Path) -> None:
    middlewares = f'{{{ROBOTS}, "{HERE}.DecliningRequestMiddleware": 500}}'
    assert crawl(served, tmp_path, "web", DOWNLOADER_MIDDLEWARES=middlewares) == 0
    known = outcomes(tmp_path)
    refused = {url for url, (reason, _) in known.items() if reason == "MIDDLEWARE_REFUSED"}
    assert refused
    assert refused <= {url for url in known if is_third(url)}
    assert not any(is_third(url) for url, (reason, _) in known.items() if reason == "REVISIT")
    some = min(refused)
    why = scrapy("why", some, **polite_to(served, tmp_path / "crawl")).stdout
    assert "a middleware of the project refuses it (middleware_refused) [not for us]" in why


def test_a_middleware_may_refuse_a_host_with_its_robots_txt(served: Served, tmp_path: Path) -> None:
    middlewares = f'{{{ROBOTS}, "{HERE}.RefusingHostMiddleware": 500}}'
    before = len(served.log())
    assert crawl(served, tmp_path, "web", DOWNLOADER_MIDDLEWARES=middlewares) == 0
    assert not [entry for entry in served.log()[before:] if "://h0" in entry.url]
    refused = {url for url, (reason, _) in outcomes(tmp_path).items() if reason == "MIDDLEWARE_REFUSED"}
    assert refused
    assert all("://h0" in url for url in refused)
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM urls WHERE url LIKE 'http://h0%' AND state = 1") == [(0,)]
    why = scrapy("why", min(refused), **polite_to(served, tmp_path / "crawl")).stdout
    assert "is refused by a middleware of the project, and so are its pages" in why


def test_spider_middlewares_see_the_items_of_the_spider_and_nothing_else(served: Served, tmp_path: Path) -> None:
    feed = tmp_path / "items.jsonl"
    settings = {"SPIDER_MIDDLEWARES": f'{{{START}, "{HERE}.ItemsOnlyMiddleware": 500}}', "PAGE_ITEMS": False}
    given = polite_to(served, tmp_path / "crawl", **ONCE, **settings, LOG_LEVEL="ERROR")
    words = ["-a", f"seeds={seeds_file(served, tmp_path)}", "-O", str(feed)]
    result = scrapy("crawl", "annotates", *words, timeout=100, **given)
    assert (result.returncode, result.stderr) == (0, "")
    items = [json.loads(line) for line in feed.read_text().splitlines()]
    assert {item["url"] for item in items} == set(served.web.urls())
    assert {item["seen"] for item in items} == {"yes"}


@pytest.mark.parametrize("name", ["httpcompression.HttpCompression", "httpcache.HttpCache", "robotstxt.RobotsTxt"])
def test_middlewares_of_scrapy_that_would_spoil_answers_are_refused(name: str, served: Served, tmp_path: Path) -> None:
    path = f"scrapy.downloadermiddlewares.{name}Middleware"
    given = polite_to(served, tmp_path / "crawl", DOWNLOADER_MIDDLEWARES=f'{{{ROBOTS}, "{path}": 590}}')
    result = scrapy("crawl", "web", **given)
    assert result.returncode == 78
    assert result.stderr.startswith(f"orbweaver: DOWNLOADER_MIDDLEWARES: take out {path}; ")


def test_the_log_names_the_page_on_which_a_pipeline_failed_and_not_all_that_was_fetched(
    served: Served, tmp_path: Path
) -> None:
    given = polite_to(served, tmp_path / "crawl", **ONCE, LOG_LEVEL="ERROR")
    pipelines = f'{{{PIPELINES}, "{HERE}.RaisingPipeline": 500}}'
    words = ["-a", f"seeds={seeds_file(served, tmp_path)}"]
    result = scrapy("crawl", "web", *words, timeout=100, **given, ITEM_PIPELINES=pipelines)
    assert "Error processing http://" in result.stderr
    assert "ValueError: in a pipeline" in result.stderr
    assert "Visited(" not in result.stderr
