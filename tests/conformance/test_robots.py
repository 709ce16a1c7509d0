"""Rules are read as other crawlers read them; where not, the reason is given."""

import base64
import collections
import gzip
import json
from pathlib import Path

import pytest

from crawler.fetch.robots import RobotsRules

pytestmark = pytest.mark.needs_shared
DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "robots"

# Test of the other suite → (verdicts that differ, why we differ).
DIFFERENCES = {
    "google.jsonl": {
        "GoogleOnly_LineTooLong": (1, "lines of any length are read whole; cutting at 16 KiB is no part of the RFC"),
    },
    "protego.jsonl": {
        "test_percentage_encoding": (1, "a URL that is not escaped does not fit an Allow: so says Google's suite"),
        "test_grouping_unknown_keys": (
            3,
            "unknown lines do not end a group: RFC 9309 §2.2.4, and so says Google's suite",
        ),
    },
    "scrapy.jsonl": {},
    "crawler_commons.jsonl": {
        "SimpleRobotRulesParserTest.testBigCrawlDelay": (
            1,
            "a host with a long Crawl-delay is visited slowly, not dropped",
        ),
        "SimpleRobotRulesParserTest.testHtmlMarkupInRobotsTxt": (
            1,
            "an HTML page holds no rules, even if it quotes some",
        ),
        "SimpleRobotRulesParserTest.testNutchCases2": (
            4,
            "a line names one agent: of 'Agent2 Agent3' the second is not meant",
        ),
        "SimpleRobotRulesParserTest.testSelectCrawlDelayGroup": (4, "a Crawl-delay ends a list of agents like a rule"),
    },
}


def cases(name):
    data = (DATA / name).read_bytes()
    lines = (gzip.decompress(data) if name.endswith(".gz") else data).splitlines()
    assert lines, f"{name} is empty"
    return [json.loads(line) for line in lines]


def body(case):
    return base64.b64decode(case["robots_b64"]) if "robots_b64" in case else case["robots"].encode("utf-8")


def agent(case):
    """The one name a crawler goes by; None for cases about crawlers with several names, which we are not."""
    names = case["agents"] if "agents" in case else [case["agent"]]
    return names[0] if len(names) == 1 else None


@pytest.mark.parametrize("name", DIFFERENCES)
def test_verdicts_of_other_suites(name):
    differing = collections.Counter(
        case["test"]
        for case in cases(name)
        if "allowed" in case and agent(case) is not None
        if RobotsRules.parse(body(case)).allows(case["url"], agent(case)) != case["allowed"]
    )
    assert differing == {test: count for test, (count, _) in DIFFERENCES[name].items()}


def test_verdicts_on_which_three_parsers_agree_about_real_files():
    differing = []
    for case in cases("real_corpus.jsonl.gz"):
        rules = RobotsRules.parse(body(case))
        differing += [
            (case["host"], query)
            for query in case["queries"]
            if query["agree"] and rules.allows(query["url"], query["agent"]) != query["allowed"]
        ]
    assert differing == []


def test_crawl_delays_on_which_two_parsers_agree_about_real_files():
    differing = []
    for case in cases("real_corpus.jsonl.gz"):
        rules = RobotsRules.parse(body(case))
        for name, delays in case["crawl_delay"].items():
            if delays["protego"] == delays["crawler_commons"] and rules.crawl_delay(name) != delays["protego"]:
                differing.append((case["host"], name, rules.crawl_delay(name), delays))
    assert differing == []


def test_other_directives():
    for case in cases("protego_directives.jsonl"):
        rules = RobotsRules.parse(body(case))
        found = getattr(rules, case["directive"])
        value = found(case["agent"]) if callable(found) else found
        assert plain(value) == expected(case["value"]), case["test"]


def plain(value):
    return list(value) if isinstance(value, tuple) else value


def expected(value):
    """The other parser's record as our tuple: times of day are minutes after midnight."""
    if not isinstance(value, dict):
        return value
    start, end = minutes(value["start_time"]), minutes(value["end_time"])
    window = None if start is None else (start, end)
    return [value["requests"], value["seconds"], window] if "requests" in value else list(window)


def minutes(text):
    return None if text is None else int(text[:2]) * 60 + int(text[3:5])


def test_crawl_delays_of_another_crawler():
    for case in cases("crawler_commons_directives.jsonl"):
        rules = RobotsRules.parse(body(case))
        if agent(case) is None or "HtmlMarkup" in case["test"]:  # an HTML page holds no rules
            continue
        delay = rules.crawl_delay(agent(case))
        assert (delay and delay * 1000) == case["crawl_delay_ms"], case["test"]
