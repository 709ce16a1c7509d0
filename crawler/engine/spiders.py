"""What is used of a spider, and which kinds of spiders cannot work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.spiders import CrawlSpider
from scrapy.utils.spider import DefaultSpider

from crawler.engine.command import COMMANDS
from crawler.errors import CrawlError, Misconfigured


class RefusedUse(CrawlError):
    """A use of a command or a spider that cannot work."""

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


def check_arguments(spider: type[Spider], given: Iterable[str]) -> None:
    """Refuse arguments (-a) that a spider of ours does not know; to others Scrapy gives any as an attribute."""
    if not getattr(spider, "yields_visits", False):
        return
    known = _arguments_of(spider)
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            meant = f"Did you mean {near[0]}? " if near else ""
            has = f"it has {', '.join(sorted(known))}" if known else "it has none"
            raise RefusedUse(
                f"-a {name}: the spider {spider.name} has no such argument; {has}. {meant}Nothing was crawled."
            )


def topic_of(spider: type[Spider], given: Mapping[str, Any]) -> str | None:
    """Return the name of the topic that a spider was given; None if it follows all links alike."""
    if not getattr(spider, "has_topic", False):
        return None
    return str(given.get("topic") or getattr(spider, "topic", "") or "")


def _arguments_of(spider: type[Spider]) -> set[str]:
    """Return the names that the constructors of a spider take, and those of its attributes that hold values."""
    constructors = [
        vars(each)["__init__"] for each in spider.__mro__ if "__init__" in vars(each) and each is not object
    ]
    named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    taken = {
        parameter.name
        for constructor in constructors
        for parameter in signature(constructor).parameters.values()
        if parameter.kind in named
    }
    own = [each for each in spider.__mro__ if not each.__module__.startswith("scrapy")]
    values = {
        name for each in own for name, value in vars(each).items() if not callable(value) and not name.startswith("_")
    }
    return (taken | values) - {"self", "name", "yields_visits", "has_topic", "custom_settings"}


def callback_of(spider: Spider) -> Callable[..., Any]:
    """Return the function of a spider that gets every page; raises `Misconfigured` if it has none."""
    if type(spider).parse is not Spider.parse:
        return spider.parse
    if isinstance(spider, CrawlSpider):
        raise Misconfigured(
            f"The spider {spider.name!r} is a CrawlSpider, whose rules choose a callback for each link, and callbacks "
            "are not kept. Links inside the scope are followed without rules: give it a `parse`, which gets every page."
        )
    own: Callable[..., Any] | None = getattr(spider, "_parse", None)  # of XMLFeedSpider and CSVFeedSpider
    if own is None or getattr(type(spider), "_parse", None) is getattr(Spider, "_parse", None):
        raise Misconfigured(f"The spider {spider.name!r} has no `parse`, which gets every page. Nothing was crawled.")
    return own
