"""robots.txt: refuse visits that an origin's rules forbid, and read the rules after a visit to the file.

Reads `request.meta["visit"]` and `["rules"]` (the origin's last known file); after a robots.txt visit it writes
`["rules"]`, and `["robots"]` if there are any.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Self

from msgspec.structs import replace
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from crawler.engine.meta import FETCHED, ROBOTS, RULES, VISIT, VisitDenied, meaning_in
from crawler.engine.session import session_of
from crawler.fetch.answers import AnswerMeaning
from crawler.fetch.robots import LARGEST_FILE, RobotsRules, judge_robots, lifetime_of
from crawler.items import (
    NO_CRAWL_LIMITS,
    NOT_ASKED,
    ROBOTS_TOKEN,
    Fetched,
    Kind,
    Link,
    Outcome,
    Reason,
    RobotsFile,
    Visit,
)
from crawler.parse.coding import plain_body
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of
from crawler.urls.scope import Scope

MAX_HOPS = 5  # redirects of a robots.txt that are followed
_NEVER_FETCHED = (Reason.PORT_DENIED, Reason.NO_CONTACT, Reason.URL_TOO_LONG)
PARSED_BYTES = 4 * 1024 * 1024  # of files whose parsed rules are cached, which take some thirty times as much


class RobotsMiddleware:
    """Ends forbidden visits before anything is sent, and turns robots.txt answers into `RobotsFile`."""

    def __init__(self, stats: StatsCollector, scope: Scope, retry: float, least_lifetime: float) -> None:
        self._stats = stats
        self._scope = scope
        self._retry = retry
        self._least_lifetime = least_lifetime
        self._parsed_bytes = 0
        self._parsed: OrderedDict[str, tuple[bytes, RobotsRules]] = OrderedDict()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        session = session_of(crawler)
        robots = session.options.robots
        return cls(crawler.stats, session.scope, robots.retry_delay, robots.min_lifetime)

    def process_request(self, request: Request) -> None:
        visit: Visit = request.meta[VISIT]
        rules: RobotsFile | None = request.meta[RULES]
        if visit.kind is Kind.ROBOTS or rules is None:
            return
        if rules.status == NOT_ASKED:
            raise VisitDenied(Reason.MIDDLEWARE_REFUSED, f"with the robots.txt of {rules.origin}")
        if rules.body is None:
            return
        if not self._parse(rules).allows(visit.url, ROBOTS_TOKEN):
            self._stats.inc_value("robots/forbidden")
            raise VisitDenied(Reason.ROBOTS_DENIED, f"by the robots.txt of {rules.origin}")
        self._check_preferred_host(visit, rules)

    def _check_preferred_host(self, visit: Visit, rules: RobotsFile) -> None:
        """Replace the visit by one to the site's preferred host, if that is in scope and did not redirect us here."""
        if not rules.preferred or visit.hops:
            return
        url = rules.preferred + visit.url[len(rules.origin) :]
        if self._scope.rejection(url, visit.depth) is None:
            self._stats.inc_value("robots/preferred_host")
            raise VisitDenied(Reason.PREFERRED_HOST, url, Link(key_of(url), url, "", None, 0))

    def process_response(self, request: Request, response: Response) -> Response:
        visit: Visit = request.meta[VISIT]
        fetched: Fetched | None = request.meta.get(FETCHED)
        if visit.kind is Kind.ROBOTS and fetched is not None:
            meaning = meaning_in(request.meta, fetched)
            # A visit that we or a dead connection aborted says nothing about the file.
            is_aborted = meaning.outcome is Outcome.ABORTED
            previous: RobotsFile | None = request.meta[RULES]
            rules = None if is_aborted else self._robots_file(visit, fetched, meaning, previous)
            request.meta[RULES] = rules
            if rules is not None and rules.body is not None:
                request.meta[ROBOTS] = self._parse(rules)
        return response

    def _robots_file(
        self, visit: Visit, fetched: Fetched, meaning: AnswerMeaning, previous: RobotsFile | None
    ) -> RobotsFile:
        self._stats.inc_value("robots/fetched")
        if meaning.outcome is Outcome.REDIRECTED and visit.hops < MAX_HOPS:
            target = self._scope.policy.canonicalize(meaning.location or "", visit.url)
            if target is not None and self._may_be_fetched(target):
                return _redirected(visit, fetched, target, previous)
        rules = judge_robots(
            status=fetched.status,
            reason=meaning.reason,
            body=plain_body(fetched.body, fetched.headers, limit=LARGEST_FILE).data,
            fetched=fetched.ended,
            previous=previous,
            host=visit.key.host,
            origin=visit.origin,
            retry=self._retry,
            lifetime=lifetime_of(fetched.header("cache-control") or "", self._least_lifetime),
        )
        if rules.body is None:
            return rules
        parsed = self._parse(rules)
        preferred = self._origin_of(parsed.preferred_host or "", visit.origin)
        return replace(rules, crawl_limits=parsed.crawl_limits(ROBOTS_TOKEN), preferred=preferred)

    def _origin_of(self, host: str, origin: str) -> str:
        """Return the origin of a preferred host, written with or without scheme and port; empty if none or this one."""
        scheme = origin.partition(":")[0]
        url = self._scope.policy.canonicalize(host if "//" in host else f"{scheme}://{host}/") if host else None
        return origin_of(url) if url is not None and origin_of(url) != origin else ""

    def _may_be_fetched(self, url: str) -> bool:
        """Whether a robots.txt redirect may be followed: out of scope is allowed, denied ports or hosts are not."""
        refusal = self._scope.rejection(url)
        return refusal is None or refusal.reason not in _NEVER_FETCHED

    def _parse(self, rules: RobotsFile) -> RobotsRules:
        """Return the parsed rules of an origin, from the cache if the file is the same."""
        body = rules.body or b""
        cached = self._parsed.get(rules.origin)
        if cached is None or cached[0] != body:
            self._evict(rules.origin)
            cached = self._parsed[rules.origin] = (body, RobotsRules.parse(body))
            self._parsed_bytes += len(body)
            while self._parsed_bytes > PARSED_BYTES and len(self._parsed) > 1:
                self._evict(next(iter(self._parsed)))
        self._parsed.move_to_end(rules.origin)
        return cached[1]

    def _evict(self, origin: str) -> None:
        cached = self._parsed.pop(origin, None)
        self._parsed_bytes -= len(cached[0]) if cached is not None else 0


def _redirected(visit: Visit, fetched: Fetched, target: str, previous: RobotsFile | None) -> RobotsFile:
    """Return the state of an origin whose robots.txt redirects: the next visit goes there, and pages wait for it."""
    return RobotsFile(
        host=visit.key.host,
        origin=visit.origin,
        status=fetched.status,
        body=previous.body if previous is not None else None,
        fetched=previous.fetched if previous is not None else fetched.ended,
        expires=0.0,
        failures=previous.failures if previous is not None else 0,
        location=target,
        hops=visit.hops + 1,
        preferred=previous.preferred if previous is not None else "",
        crawl_limits=previous.crawl_limits if previous is not None else NO_CRAWL_LIMITS,
    )
