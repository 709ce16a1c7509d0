"""robots.txt: refuse what an origin's rules forbid, and learn the rules from a visit to the file.

Reads `request.meta["visit"]` and `["rules"]` (what the origin's file says, or said before); writes `["rules"]` of a
robots.txt visit.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from crawler.download import FETCHED, RULES, VISIT, Denied
from crawler.fetch.answers import meaning_of
from crawler.fetch.robots import RobotsRules, judge_robots
from crawler.items import Fetched, Kind, OriginRules, Outcome, Reason, Visit
from crawler.options import ROBOTS_TOKEN
from crawler.parse.coding import plain_body
from crawler.session import session_of
from crawler.urls.canonical import canonicalize

MAX_HOPS = 5  # redirects of a robots.txt that are followed
_PARSED = 10_000  # origins whose rules are kept parsed


class RobotsMiddleware:
    """Stands before the downloader: a forbidden visit ends here, and the host never hears of it."""

    def __init__(self, stats: StatsCollector, retry: float) -> None:
        self._stats = stats
        self._retry = retry
        self._parsed: OrderedDict[str, tuple[OriginRules, RobotsRules]] = OrderedDict()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.stats, session_of(crawler).options.robots_retry)

    def process_request(self, request: Request) -> None:
        visit: Visit = request.meta[VISIT]
        rules: OriginRules | None = request.meta[RULES]
        if visit.kind is Kind.ROBOTS or rules is None or rules.body is None:
            return
        if not self._parse(rules).allows(visit.url, ROBOTS_TOKEN):
            self._stats.inc_value("robots/forbidden")
            raise Denied(Reason.ROBOTS_DENIED, f"by the robots.txt of {rules.origin}")

    def process_response(self, request: Request, response: Response) -> Response:
        visit: Visit = request.meta[VISIT]
        fetched: Fetched | None = request.meta.get(FETCHED)
        if visit.kind is Kind.ROBOTS and fetched is not None and fetched.reason is not Reason.STOPPED:
            request.meta[RULES] = self._learn(visit, fetched, request.meta[RULES])
        return response

    def _learn(self, visit: Visit, fetched: Fetched, previous: OriginRules | None) -> OriginRules:
        self._stats.inc_value("robots/fetched")
        meaning = meaning_of(fetched)
        if meaning.outcome is Outcome.REDIRECTED and visit.hops < MAX_HOPS:
            target = canonicalize(meaning.location or "", visit.url)
            if target is not None:
                return _moved(visit, fetched, target, previous)
        rules = judge_robots(
            status=fetched.status,
            reason=meaning.reason,
            body=plain_body(fetched.body, fetched.headers).data,
            fetched=fetched.ended,
            previous=previous,
            host=visit.key.host,
            origin=visit.origin,
            retry=self._retry,
        )
        delay = self._parse(rules).crawl_delay(ROBOTS_TOKEN) if rules.body is not None else None
        return replace(rules, crawl_delay=delay)

    def _parse(self, rules: OriginRules) -> RobotsRules:
        known = self._parsed.get(rules.origin)
        if known is None or known[0].body != rules.body:
            known = (rules, RobotsRules.parse(rules.body or b""))
            self._parsed[rules.origin] = known
        self._parsed.move_to_end(rules.origin)
        if len(self._parsed) > _PARSED:
            self._parsed.popitem(last=False)
        return known[1]


def _moved(visit: Visit, fetched: Fetched, target: str, previous: OriginRules | None) -> OriginRules:
    """The file is elsewhere: the next visit goes there, and until then nothing is known."""
    return OriginRules(
        host=visit.key.host,
        origin=visit.origin,
        status=fetched.status,
        body=previous.body if previous is not None else None,
        fetched=previous.fetched if previous is not None else fetched.ended,
        expires=0.0,
        failures=previous.failures if previous is not None else 0,
        location=target,
        hops=visit.hops + 1,
        crawl_delay=previous.crawl_delay if previous is not None else None,
    )
