"""What is used of a spider, and which kinds of spiders cannot work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.spiders import CrawlSpider
from scrapy.utils.spider import DefaultSpider

from crawler.engine.command import COMMANDS
from crawler.errors import CrawlError, Misconfigured


class RefusedUse(CrawlError):
    """A command of Scrapy's that would visit hosts, and is no crawl."""

    exit_code = 2


def refuse_other_commands(crawler: Crawler) -> None:
    """Refuse Scrapy's own `fetch`, `view`, `parse`, `shell`, `check` and `bench`: they would begin a crawl."""
    spider = crawler.spidercls
    origins = {spider.__module__, getattr(getattr(spider, "start", None), "__module__", "")}
    is_command = any(origin.startswith("scrapy.commands.") for origin in origins)
    if is_command or spider is DefaultSpider or not crawler.crawling:
        raise RefusedUse(
            "This command of Scrapy would visit hosts without politeness, or leave its URL in the crawl. Nothing was "
            'done. Use `orbweaver show URL`, `orbweaver shell URL` and the like, or add COMMANDS_MODULE = "'
            f'{COMMANDS}" to the settings of the project.'
        )


def callback_of(spider: Spider) -> Callable[..., Any]:
    """Return the function of a spider that gets every page; raises `Misconfigured` if it has none."""
    if type(spider).parse is not Spider.parse:
        return spider.parse
    if isinstance(spider, CrawlSpider):
        raise Misconfigured(
            f"The spider {spider.name!r} is a CrawlSpider, whose rules choose a callback for each link, and callbacks are "
            "not kept. Links inside the scope are followed without rules: give it a `parse`, which gets every page."
        )
    own: Callable[..., Any] | None = getattr(spider, "_parse", None)  # of XMLFeedSpider and CSVFeedSpider
    if own is None or getattr(type(spider), "_parse", None) is getattr(Spider, "_parse", None):
        raise Misconfigured(f"The spider {spider.name!r} has no `parse`, which gets every page. Nothing was crawled.")
    return own
