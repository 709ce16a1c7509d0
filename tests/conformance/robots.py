"""Compare robots.txt rules with other parsers' tests, and with other parsers on real files."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from crawler.fetch.robots import RobotsRules
from tests.conformance.scores import Score, score
from tests.conftest import SHARED

DATA = SHARED / "robots"
Results = Iterator[tuple[str, bool]]

_LONG_LINE = {
    "GoogleOnly_LineTooLong": (1, "lines of any length are read whole; cutting at 16 KiB is no part of the RFC"),
}
_GOOGLE_WINS = {
    "test_percentage_encoding": (1, "a URL that is not escaped does not match an Allow, as in Google's suite"),
    "test_grouping_unknown_keys": (3, "unknown lines do not end a group: RFC 9309 §2.2.4, and Google's suite"),
}
_CRAWLER_COMMONS = {
    "SimpleRobotRulesParserTest.testBigCrawlDelay": (
        1,
        "a host with a long Crawl-delay is visited slowly, not dropped",
    ),
    "SimpleRobotRulesParserTest.testHtmlMarkupInRobotsTxt": (1, "an HTML page holds no rules, even if it quotes some"),
    "SimpleRobotRulesParserTest.testSelectCrawlDelayGroup": (4, "a Crawl-delay ends a list of agents like a rule"),
}
_HTML = {
    "SimpleRobotRulesParserTest.testHtmlMarkupInRobotsTxt": (2, "an HTML page holds no rules, even if it quotes some")
}


def scores() -> list[Score]:
    google = cases("google.jsonl")
    return [
        score("robots: google", 1.0, verdicts([case for case in google if not case["google_only"]])),
        score(
            "robots: google, its own ways", 0.95, verdicts([case for case in google if case["google_only"]]), _LONG_LINE
        ),
        score("robots: crawler-commons", 0.95, verdicts(cases("crawler_commons.jsonl")), _CRAWLER_COMMONS),
        score("robots: protego", 0.99, verdicts(cases("protego.jsonl")), aside=_GOOGLE_WINS),
        score("robots: scrapy", 1.0, verdicts(cases("scrapy.jsonl"))),
        score("robots: real files, verdicts", 0.999, real_verdicts()),
        score("robots: real files, delays", 0.999, real_delays()),
        score("robots: protego, directives", 1.0, directives()),
        score("robots: crawler-commons, delays", 0.95, delays(), aside=_HTML),
    ]


@cache
def cases(name: str) -> list[dict[str, Any]]:
    data = (DATA / name).read_bytes()
    lines = (gzip.decompress(data) if name.endswith(".gz") else data).splitlines()
    return [json.loads(line) for line in lines]


def body(case: dict[str, Any]) -> bytes:
    return base64.b64decode(case["robots_b64"]) if "robots_b64" in case else case["robots"].encode("utf-8")


def agents(case: dict[str, Any]) -> list[str]:
    """Return the names of a crawler; a crawler with several may do what it may under each of them."""
    return (case["agents"] if "agents" in case else [case["agent"]]) or ["*"]


def verdicts(rows: list[dict[str, Any]]) -> Results:
    for case in rows:
        if "allowed" in case:
            rules = RobotsRules.parse(body(case))
            yield case["test"], all(rules.allows(case["url"], name) for name in agents(case)) == case["allowed"]


def real_verdicts() -> Results:
    """Yield agreement on real files where three other parsers agree with each other."""
    for case in cases("real_corpus.jsonl.gz"):
        rules = RobotsRules.parse(body(case))
        for query in case["queries"]:
            if query["agree"]:
                yield case["host"], rules.allows(query["url"], query["agent"]) == query["allowed"]


def real_delays() -> Results:
    """Yield agreement on real files where two other parsers agree with each other."""
    for case in cases("real_corpus.jsonl.gz"):
        rules = RobotsRules.parse(body(case))
        for name, found in case["crawl_delay"].items():
            if found["protego"] == found["crawler_commons"]:
                yield case["host"], rules.crawl_delay(name) == found["protego"]


def directives() -> Results:
    for case in cases("protego_directives.jsonl"):
        found = getattr(RobotsRules.parse(body(case)), case["directive"])
        value = found(case["agent"]) if callable(found) else found
        yield case["test"], (list(value) if isinstance(value, tuple) else value) == _expected(case["value"])


def delays() -> Results:
    """Yield agreement on the delays of crawlers with one name."""
    for case in cases("crawler_commons_directives.jsonl"):
        if len(names := agents(case)) == 1:
            delay = RobotsRules.parse(body(case)).crawl_delay(names[0])
            yield case["test"], (delay and delay * 1000) == case["crawl_delay_ms"]


def _expected(value: Any) -> Any:
    """Return the other parser's record as our tuple: times of day are minutes after midnight."""
    if not isinstance(value, dict):
        return value
    start, end = _minutes(value["start_time"]), _minutes(value["end_time"])
    window = None if start is None else (start, end)
    return [value["requests"], value["seconds"], window] if "requests" in value else [start, end]


def _minutes(text: str | None) -> int | None:
    return None if text is None else int(text[:2]) * 60 + int(text[3:5])
