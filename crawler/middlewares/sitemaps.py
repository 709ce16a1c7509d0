"""Sitemaps: after a visit to robots.txt, add the sitemaps of its site to what is found.

Reads `request.meta["rules"]` and `["robots"]`, which the robots.txt middleware writes; writes `["sitemaps"]`. The
sitemaps are then visited as any other URL, and read in the content processes.
"""

from __future__ import annotations

from itertools import islice
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from crawler.content.lists import list_link
from crawler.engine.meta import FETCHED, ROBOTS, RULES, SITEMAPS, VISIT
from crawler.engine.session import session_of
from crawler.fetch.robots import RobotsRules
from crawler.items import Kind, Link, RobotsFile, Visit
from crawler.urls.scope import Scope

MOST_SITEMAPS = 100  # that a robots.txt may name


class SitemapsMiddleware:
    """Finds the sitemaps that a robots.txt names, or the usual one if it names none."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        session = session_of(crawler)
        if not session.options.sitemaps:
            raise NotConfigured
        return cls(session.scope)

    def process_response(self, request: Request, response: Response) -> Response:
        visit: Visit = request.meta[VISIT]
        if visit.kind is Kind.ROBOTS and FETCHED in request.meta:
            rules: RobotsFile | None = request.meta[RULES]
            if rules is not None and not rules.held_until and not rules.location:
                request.meta[SITEMAPS] = self._sitemap_links(rules, request.meta.get(ROBOTS))
        return response

    def _sitemap_links(self, rules: RobotsFile, robots: RobotsRules | None) -> list[Link]:
        """Return the sitemaps that the file names, or /sitemap.xml if it names none."""
        named = robots.sitemaps if robots is not None else ()
        urls = (self._scope.policy.canonicalize(url, f"{rules.origin}/") for url in islice(named, MOST_SITEMAPS))
        found = dict.fromkeys(url for url in urls if url is not None)
        if found:
            return [list_link(self._scope, url, vouched=True) for url in found]
        usual = list_link(self._scope, f"{rules.origin}/sitemap.xml")
        return [usual] if usual.refused is None else []
