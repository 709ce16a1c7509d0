"""The add-on for Scrapy projects of other people: `ADDONS = {"crawler.addon.Orbweaver": 100}`.

It sets the values of `crawler/settings.py` where the project has none of its own, and adds our components to the
project's. What `scrapy startproject` writes (ROBOTSTXT_OBEY, DOWNLOAD_DELAY …) is for components that are not used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from scrapy.crawler import Crawler
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

import crawler.settings as ours
from crawler.engine.command import exit_with
from crawler.engine.given_settings import apply_crawl_file
from crawler.engine.signals import QuickSignals
from crawler.engine.wiring import check_components, check_single_components
from crawler.errors import CrawlError, Misconfigured

# Settings that name the parts of a project; a project has its own.
_OF_A_PROJECT = ("BOT_NAME", "SPIDER_MODULES", "NEWSPIDER_MODULE", "COMMANDS_MODULE")
_COMPONENTS = ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS")
# Before all pipelines of the project, which thus see pages that are stored, as dicts, and the items of its spiders.
_PIPELINES = dict(zip(ours.ITEM_PIPELINES, (-300, -250, -200, -100), strict=True))


class Orbweaver:
    """Makes a Scrapy project crawl as Orbweaver does."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not isinstance(crawler.signals, QuickSignals):
            crawler.signals = QuickSignals(crawler, knows_all=False)
        return cls()

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Set our values: before a crawler is made, because the event loop is chosen before, and commands need them."""
        for name, value in vars(ours).items():
            if name.isupper() and name not in (*_OF_A_PROJECT, *_COMPONENTS, "ITEM_PIPELINES", "DOWNLOAD_HANDLERS"):
                settings.set(name, value, priority="addon")
        modules = settings.getlist("SPIDER_MODULES")
        if "crawler.spiders" not in modules:  # first, so that the project's spiders win over ours of the same name
            settings.set("SPIDER_MODULES", ["crawler.spiders", *modules], settings.getpriority("SPIDER_MODULES") or 0)
        _add_checked_components(settings, check_single_components)

    def update_settings(self, settings: BaseSettings) -> None:
        """Add our components to those of a spider's `custom_settings`, and set what the crawl's file has."""
        _add_checked_components(settings, _check_with_crawl_file)


def is_used_in(settings: BaseSettings) -> bool:
    """Whether a project has the add-on."""
    return any(load_object(addon) is Orbweaver for addon in build_component_list(settings["ADDONS"]))


def add_components(settings: BaseSettings) -> None:
    """Add our components, except for those to which the project gives a number, or None, itself.

    Raises `Misconfigured` if the project names one that does not exist.
    """
    added = {name: getattr(ours, name) for name in _COMPONENTS} | {"ITEM_PIPELINES": _PIPELINES}
    for setting, components in added.items():
        try:
            for path, number in components.items():
                settings.setdefault_in_component_priority_dict(setting, load_object(path), number)
        except (ImportError, NameError, TypeError, ValueError) as error:
            raise Misconfigured(
                f"{setting}: {error}. Nothing was done; correct the settings of the project."
            ) from error
    handlers = {**ours.DOWNLOAD_HANDLERS, **settings.getdict("DOWNLOAD_HANDLERS")}
    priority = max(settings.getpriority("DOWNLOAD_HANDLERS") or 0, SETTINGS_PRIORITIES["addon"])
    settings.set("DOWNLOAD_HANDLERS", handlers, priority)


def _check_with_crawl_file(settings: BaseSettings) -> None:
    apply_crawl_file(settings)
    check_components(settings)


def _add_checked_components(settings: BaseSettings, check: Callable[[BaseSettings], None]) -> None:
    """Add our components; end the program with the name of a setting whose value would break a promise."""
    try:
        add_components(settings)
        check(settings)
    except CrawlError as error:
        exit_with(error)
