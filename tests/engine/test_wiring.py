"""A crawl starts only with components that work together; derived classes and further components are fine."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.settings import Settings

from crawler.engine.wiring import crawl_options
from crawler.errors import Misconfigured
from crawler.pipelines.duplicates import DuplicatesPipeline
from crawler.pipelines.store import StorePipeline

EXTRACT = "crawler.pipelines.extract.ExtractPipeline"
DUPLICATES = "crawler.pipelines.duplicates.DuplicatesPipeline"
STORE = "crawler.pipelines.store.StorePipeline"
ROBOTS = "crawler.middlewares.robots.RobotsMiddleware"
SITEMAPS = "crawler.middlewares.sitemaps.SitemapsMiddleware"
HANDLER = "crawler.engine.handler.CurlHandler"


class OwnDuplicates(DuplicatesPipeline):
    """As a user may derive one."""


class OwnStore(StorePipeline):
    """As a user may derive one."""


class OtherPipeline:
    """Of a user."""


def settings(**given: Any) -> Settings:
    settings = Settings()
    settings.setmodule("crawler.settings")
    settings.update(given, priority="cmdline")
    return settings


def test_the_project_itself_is_wired_rightly() -> None:
    assert crawl_options(settings()).duplicates.threshold == 0.9


@pytest.mark.parametrize(
    "pipelines",
    [
        {EXTRACT: 100, OwnDuplicates: 200, OwnStore: 300},
        {EXTRACT: 100, DUPLICATES: 200, OtherPipeline: 250, STORE: 300},
    ],
)
def test_derived_and_further_pipelines_are_fine(pipelines: dict[Any, int]) -> None:
    assert crawl_options(settings(ITEM_PIPELINES=pipelines)).duplicates.threshold == 0.9


@pytest.mark.parametrize("pipelines", [{EXTRACT: 100, STORE: 300}, {EXTRACT: 100, DUPLICATES: None, STORE: 300}])
def test_without_its_pipeline_near_duplicates_are_not_looked_for(pipelines: dict[Any, int | None]) -> None:
    assert crawl_options(settings(ITEM_PIPELINES=pipelines, DUPLICATE_THRESHOLD=0.8)).duplicates.threshold == 0


@pytest.mark.parametrize(
    ("setting", "value", "named"),
    [
        ("SCHEDULER", "scrapy.core.scheduler.Scheduler", "crawler.engine.scheduler.FrontierScheduler"),
        ("SCHEDULER", "no.such.Scheduler", "crawler.engine.scheduler.FrontierScheduler"),
        ("DOWNLOADER", "scrapy.core.downloader.Downloader", "crawler.engine.downloader.FrontierDownloader"),
        ("TWISTED_REACTOR", "twisted.internet.pollreactor.PollReactor", "AsyncioSelectorReactor"),
        ("TWISTED_REACTOR", None, "AsyncioSelectorReactor"),
        ("TWISTED_REACTOR_ENABLED", False, "True"),
        ("SPIDER_MIDDLEWARES", {"no.such.Middleware": 3}, "no"),
        ("EXTENSIONS", {"tests.engine.test_wiring.Missing": 3}, "Missing"),
        ("DOWNLOAD_HANDLERS", {"http": HANDLER}, HANDLER),
        ("DOWNLOAD_HANDLERS", {"http": HANDLER, "https": OtherPipeline}, HANDLER),
        ("DOWNLOADER_MIDDLEWARES", {SITEMAPS: 1}, ROBOTS),
        ("DOWNLOADER_MIDDLEWARES", {SITEMAPS: 2, ROBOTS: 1}, "smaller number"),
        ("ITEM_PIPELINES", {EXTRACT: 1, DUPLICATES: 2}, STORE),
        ("ITEM_PIPELINES", {DUPLICATES: 1, STORE: 2}, EXTRACT),
        ("ITEM_PIPELINES", {EXTRACT: 2, DUPLICATES: 1, STORE: 3}, "smaller number"),
        ("ITEM_PIPELINES", {EXTRACT: 1, DUPLICATES: 3, STORE: 2}, "smaller number"),
        ("ITEM_PIPELINES", {EXTRACT: 3, STORE: 2}, "smaller number"),
        ("ITEM_PIPELINES", {EXTRACT: 1, STORE: 2, "no.such.Pipeline": 3}, "no"),
        ("ITEM_PIPELINES", {EXTRACT: 1, STORE: 2, "tests.engine.test_wiring.Missing": 3}, "Missing"),
        ("ITEM_PIPELINES", {EXTRACT: 1, STORE: "late"}, "late"),
    ],
)
def test_what_would_lose_pages_or_politeness_is_refused_with_its_setting(
    setting: str, value: object, named: str
) -> None:
    with pytest.raises(Misconfigured, match=setting) as refused:
        crawl_options(settings(**{setting: value}))
    assert named in str(refused.value)


def test_a_project_that_has_only_our_commands_is_told_what_it_lacks() -> None:
    with pytest.raises(Misconfigured, match=r"ADDONS = \{"):
        crawl_options(Settings())
