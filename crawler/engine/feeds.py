"""The feeds of a crawl: checked before anything is visited, so that no crawl ends without what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scrapy.crawler import Crawler
from scrapy.extensions.feedexport import FeedExporter, FileFeedStorage
from scrapy.settings import BaseSettings
from scrapy.statscollectors import StatsCollector

from crawler.errors import CrawlError, DiskTrouble, Misconfigured
from crawler.urls.credentials import without_credentials

_FAILED = "feedexport/failed_count/"


def feed_uris(settings: BaseSettings) -> Sequence[str]:
    """Return the feeds of a crawl, also the one of the older setting."""
    older = [str(settings["FEED_URI"])] if settings["FEED_URI"] else []
    return list(dict.fromkeys([*older, *map(str, settings.getdict("FEEDS"))]))


def refuse_shared_feeds(uris: Sequence[str]) -> None:
    """Refuse feeds that several workers would write to one file."""
    shared = [uri for uri in uris if "%(worker)" not in uri]
    if shared:
        raise Misconfigured(
            f"The feed {without_credentials(shared[0])!r} is one for all workers, and they would overwrite each other's pages. Nothing was "
            "crawled; put %(worker)s into its name, such as pages-%(worker)s.jsonl, or use `scrapy export` afterwards."
        )


def feed_trouble(crawler: Crawler) -> CrawlError | None:
    """Return why a feed cannot be written, if one cannot; to be asked when the exporter of feeds has begun."""
    uris = feed_uris(crawler.settings)
    exporter = crawler.get_extension(FeedExporter)
    if not uris:
        return None
    if exporter is None:
        return Misconfigured(
            f"FEEDS: {without_credentials(', '.join(uris))}: cannot be written. Its scheme or format is not known, a package that it needs "
            "is missing (the log names it), or EXTENSIONS_BASE is without FeedExporter. Nothing was crawled."
        )
    if len(exporter.slots) < len(uris):
        return Misconfigured(
            f"FEEDS: the name of {without_credentials(uris[len(exporter.slots)])!r} cannot be made: %(name)s, %(time)s, %(worker)s and the "
            "attributes of the spider are known. Nothing was crawled."
        )
    files = [slot.storage for slot in exporter.slots if isinstance(slot.storage, FileFeedStorage)]
    return next((trouble for storage in files if (trouble := _file_trouble(Path(storage.path)))), None)


def failed_feeds(stats: StatsCollector) -> int:
    """Return how many feeds could not be stored at the end."""
    return sum(count for name, count in stats.get_stats().items() if name.startswith(_FAILED))


def _file_trouble(path: Path) -> DiskTrouble | None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):
            return None
    except OSError as error:
        return DiskTrouble(f"The feed {path} cannot be written ({error.strerror}). Nothing was crawled; name another.")
