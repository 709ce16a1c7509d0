"""Check that the components of a crawl work together, before its session is opened.

Scrapy builds whatever the settings name. A scheduler or downloader of another kind would send requests without the
frontier's politeness; a missing pipeline would lose pages. Classes derived from ours are fine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scrapy.settings import BaseSettings
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

from crawler.engine.given_settings import with_origin
from crawler.errors import Misconfigured
from crawler.options import Options

REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
_ROBOTS = "crawler.middlewares.robots.RobotsMiddleware"
_EXTRACT = "crawler.pipelines.extract.ExtractPipeline"
_STORE = "crawler.pipelines.store.StorePipeline"
_HANDLER = "crawler.engine.handler.CurlHandler"
_RELEVANCE = "crawler.pipelines.relevance.RelevancePipeline"
_DUPLICATES = "crawler.pipelines.duplicates.DuplicatesPipeline"
_SINGLE = {
    "SCHEDULER": "crawler.engine.scheduler.FrontierScheduler",
    "DOWNLOADER": "crawler.engine.downloader.FrontierDownloader",
}
# Components that no crawl can do without, in each setting that lists components.
_REQUIRED = {
    "DOWNLOADER_MIDDLEWARES": [_ROBOTS],
    "ITEM_PIPELINES": [_EXTRACT, _STORE],
}
# Components of which the first must come before the second, if both are there.
_ORDER = {
    "DOWNLOADER_MIDDLEWARES": [("crawler.middlewares.sitemaps.SitemapsMiddleware", _ROBOTS)],
    "ITEM_PIPELINES": [
        (_EXTRACT, _RELEVANCE),
        (_RELEVANCE, _DUPLICATES),
        (_RELEVANCE, _STORE),
        (_EXTRACT, _DUPLICATES),
        (_DUPLICATES, _STORE),
        (_EXTRACT, _STORE),
    ],
}
# Middlewares of Scrapy that would spoil answers, with what does their work here. Those for retries, redirects and bad
# statuses do nothing (`LEFT_TO_THE_FRONTIER`).
_SPOILING = {
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": "answers are unpacked when they are read",
    "scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware": "answers are kept in the archive",
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": "robots.txt is always obeyed",
}


def crawl_options(settings: BaseSettings) -> Options:
    """Return the options of a crawl with these components; raises `Misconfigured` if they do not work together.

    Without the pipeline for near-duplicates, these are not looked for.
    """
    refuse_commands_alone(settings)
    check_components(settings)
    with with_origin(settings):
        options = Options.of(settings)
    if _position(_components(settings, "ITEM_PIPELINES"), _DUPLICATES) is None:
        options = replace(options, duplicates=replace(options.duplicates, threshold=0.0))
    return options


def refuse_commands_alone(settings: BaseSettings) -> None:
    """Refuse a project that has our commands, and not our add-on: it lacks our settings."""
    if settings.get("CRAWL_DIR") is None:
        raise Misconfigured(
            "This project has the commands of Orbweaver, and not its settings. Nothing was done; add "
            'ADDONS = {"crawler.addon.Orbweaver": 100} to the settings of the project.'
        )


def check_components(settings: BaseSettings) -> None:
    """Raise `Misconfigured`, naming the setting, if a component that a crawl needs is missing or out of place."""
    check_single_components(settings)
    for setting in ("SPIDER_MIDDLEWARES", "EXTENSIONS"):
        _components(settings, setting)
    for setting, required in _REQUIRED.items():
        found = _components(settings, setting)
        for path in required:
            if _position(found, path) is None:
                raise Misconfigured(f"{setting}: {path} is missing, and no crawl can do without it.")
        for first, second in _ORDER[setting]:
            before, after = _position(found, first), _position(found, second)
            if before is not None and after is not None and before > after:
                raise Misconfigured(f"{setting}: {first} must have a smaller number than {second}.")
    for path, instead in _SPOILING.items():
        if _position(_components(settings, "DOWNLOADER_MIDDLEWARES"), path) is not None:
            raise Misconfigured(f"DOWNLOADER_MIDDLEWARES: take out {path}; {instead}.")
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    for scheme in ("http", "https"):
        if not _is_a(handlers.get(scheme), _HANDLER):
            raise Misconfigured(
                f"DOWNLOAD_HANDLERS: {scheme} must be fetched by {_HANDLER}, or by a class derived from it."
            )


def check_single_components(settings: BaseSettings) -> None:
    """Raise `Misconfigured` if a setting names another scheduler, downloader or reactor than a crawl needs."""
    for setting, path in _SINGLE.items():
        if not _is_a(settings.get(setting), path):
            raise Misconfigured(
                f"{setting}={settings.get(setting)!r}: must be {path}, or a class derived from it. Without it, hosts "
                "would be visited without politeness; remove the setting."
            )
    if not settings.getbool("TWISTED_REACTOR_ENABLED"):
        raise Misconfigured(
            "TWISTED_REACTOR_ENABLED=False: must be True; without it Scrapy uses downloaders of its own."
        )
    if settings.get("TWISTED_REACTOR") != REACTOR:
        raise Misconfigured(f"TWISTED_REACTOR={settings.get('TWISTED_REACTOR')!r}: must be {REACTOR}.")


def own_pipelines(settings: BaseSettings) -> tuple[Sequence[type], Sequence[type]]:
    """Return the user's own pipelines: those before the one that stores, and those behind it."""
    found = _components(settings, "ITEM_PIPELINES")
    ours = [load_object(path) for path in (_EXTRACT, _RELEVANCE, _DUPLICATES, _STORE)]
    at = _position(found, _STORE) or 0
    is_own = [not any(_derives(pipeline, our) for our in ours) for pipeline in found]
    before = [pipeline for pipeline, own in zip(found[:at], is_own[:at], strict=True) if own]
    behind = [pipeline for pipeline, own in zip(found[at:], is_own[at:], strict=True) if own]
    return before, behind


def _components(settings: BaseSettings, setting: str) -> Sequence[type]:
    """Return the classes that a setting lists, in their order."""
    try:
        paths = build_component_list(settings.get_component_priority_dict_with_base(setting))
        return [load_object(path) for path in paths]
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise Misconfigured(f"{setting}: {error}") from error


def _position(classes: Sequence[type], path: str) -> int | None:
    wanted = load_object(path)
    return next((at for at, found in enumerate(classes) if _derives(found, wanted)), None)


def _is_a(component: object, path: str) -> bool:
    try:
        found = load_object(component) if isinstance(component, str) else component
    except (ImportError, NameError, ValueError):
        return False
    return _derives(found, load_object(path))


def _derives(found: object, wanted: type) -> bool:
    # Not `issubclass`: Scrapy's base class of schedulers answers by the methods that a class has.
    return isinstance(found, type) and wanted in found.__mro__
