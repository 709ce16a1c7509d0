"""robots.txt is obeyed as RFC 9309 says, also when it is malformed or cannot be fetched."""

import codecs
import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego

from crawler.fetch import robots
from crawler.fetch.robots import DAY, HOUR, LARGEST_FILE, RobotsRules, judge_robots, lifetime_of
from crawler.items import DailyWindow, Reason, RequestRate, RobotsFile
from tests.defaults import DEFAULTS

US = "orbweaver"
SITE = "http://example.com"

TEXTBOOK = b"""# robots.txt for example.com
User-agent: *
Disallow: /private/
Disallow: /confidential/
Disallow: /other/
Allow: /other/public/

User-agent: FavoredCrawler
Disallow:

Sitemap: http://example.com/sitemap.xml.gz
"""


@pytest.mark.parametrize(
    ("path", "agent", "expected"),
    [
        ("/", US, True),
        ("/private", US, True),
        ("/private/", US, False),
        ("/private/diary.html", US, False),
        ("/confidential/x?y", US, False),
        ("/other/", US, False),
        ("/other/public/", US, True),
        ("/other/public/page.html", US, True),
        ("/Private/", US, True),
        ("/robots.txt", US, True),
        ("/private/diary.html", "FavoredCrawler", True),
        ("/private/diary.html", "favoredcrawler", True),
        ("/other/", "FavoredCrawler", True),
        ("/private/", "UnfavoredCrawler", False),
    ],
)
def test_the_textbook_example(path, agent, expected):
    assert RobotsRules.parse(TEXTBOOK).allows(SITE + path, agent) is expected


def test_sitemaps_are_listed():
    assert RobotsRules.parse(TEXTBOOK).sitemaps == ("http://example.com/sitemap.xml.gz",)


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        ("Disallow: /a", "/ab", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /*.pdf$", "/x/y.pdf", False),
        ("Disallow: /*.pdf$", "/x/y.pdf?z", True),
        ("Disallow: /*?", "/x?y", False),
        ("Disallow: /a\nAllow: /ab", "/ab", True),  # the longest match decides
        ("Disallow: /ab\nAllow: /a", "/ab", False),
        ("Disallow: /a\nAllow: /a", "/a", True),  # of equals, allow
        ("Disallow: /%7ejoe", "/~joe", False),
        ("Disallow: /caf%C3%A9", "/caf%C3%A9", False),
        ("Disallow: /café", "/caf%C3%A9", False),
        ("Disallow: /a#b", "/a", False),
        ("Disallow /a", "/a", False),
        ("dIsAlLoW : /a", "/a", False),
        ("Disallow:", "/a", True),
        ("Disallow: /\nUnknown: line\nAllow: /a", "/a", True),
    ],
)
def test_rules(rules, path, expected):
    assert RobotsRules.parse(f"User-agent: *\n{rules}".encode()).allows(SITE + path, US) is expected


@pytest.mark.parametrize(
    ("agent_line", "applies"),
    [
        ("User-agent: orbweaver", True),
        ("User-agent: OrbWeaver", True),
        ("User-agent: orbweaver/1.0", True),
        ("User-agent: orbweaver (the bad one)", True),
        ("User-agent: orbweaver # comment", True),
        ("User-agent: otherbot orbweaver", True),
        ("User-agent: orbweaver otherbot # comment", True),
        ("User-agent: otherbot (not orbweaver)", False),
        ("User-agent: otherbot\nUser-agent: orbweaver", True),
        ("User-agent: otherbot\nUnknown: line\nUser-agent: orbweaver", True),
        ("User-agent: otherbot\nSitemap: http://example.com/s\nUser-agent: orbweaver", True),
        ("User-agent: weaver", False),
        ("User-agent: orbweavers", False),
        ("User-agent: otherbot", False),
        ("User-agent:", False),
    ],
)
def test_groups(agent_line, applies):
    body = f"{agent_line}\nDisallow: /\n\nUser-agent: *\nAllow: /\n".encode()
    assert RobotsRules.parse(body).allows(SITE + "/a", US) is not applies


def test_groups_of_one_agent_are_one_group():
    rules = RobotsRules.parse(
        b"User-agent: orbweaver\nDisallow: /a\n\nUser-agent: *\nDisallow: /c\n\nUser-agent: orbweaver\nDisallow: /b"
    )
    assert [rules.allows(SITE + path, US) for path in ("/a", "/b", "/c")] == [False, False, True]


FORBIDDING = "User-agent: *\nDisallow: /\n"


@pytest.mark.parametrize(
    "body",
    [
        FORBIDDING.encode(),
        FORBIDDING.replace("\n", "\r").encode(),
        FORBIDDING.replace("\n", "\r\n").encode(),
        codecs.BOM_UTF8 + FORBIDDING.encode(),
        codecs.BOM_UTF8[:2] + FORBIDDING.encode(),
        codecs.BOM_UTF8[:1] + FORBIDDING.encode(),
        codecs.BOM_UTF16_LE + FORBIDDING.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + FORBIDDING.encode("utf-16-be"),
        FORBIDDING.replace("*", "*\0").encode(),
        FORBIDDING.replace("Disallow", "Dis\x01allow").encode(),
        b"\xff\xfa\n" + FORBIDDING.encode(),
        b"# <html>\n" + FORBIDDING.encode(),
    ],
)
def test_rules_are_found_in_spite_of_how_they_are_written(body):
    assert not RobotsRules.parse(body).allows(SITE + "/", US)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0" * 100,
        b"<!DOCTYPE html><pre>\nUser-agent: *\nDisallow: /\n</pre>",
        b"\n <HTML>\nUser-agent: *\nDisallow: /\n",
        b"<!-- x --><html>\nUser-agent: *\nDisallow: /\n",
        b"Disallow: /",  # in no group
        bytes(range(256)) * 10,
    ],
)
def test_what_has_no_rules_forbids_nothing(body):
    assert RobotsRules.parse(body).allows(SITE + "/a", US)


def test_only_the_first_500_kib_count_and_no_half_line():
    start = b"User-agent: *\nDisallow: /a\n"
    filler = b"# filling line\n" * (LARGEST_FILE // 15)
    body = (start + filler)[: LARGEST_FILE - 12] + b"\nDisallow: /only-half"
    assert len(body) > LARGEST_FILE
    rules = RobotsRules.parse(body + b"\nDisallow: /late")
    assert [rules.allows(SITE + path, US) for path in ("/a", "/late", "/o", "/only-half")] == [False, True, True, True]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("5", 5.0),
        ("0.5", 0.5),
        ("0", 0.0),
        ("1e99", DAY),
        ("nan", None),
        ("inf", None),
        ("-1", None),
        ("soon", None),
        ("", None),
        ("9" * 9999, None),
    ],
)
def test_crawl_delay(value, expected):
    rules = RobotsRules.parse(f"User-agent: *\nCrawl-delay: {value}\n".encode())
    assert rules.crawl_delay(US) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1/5", RequestRate(1, 5)),
        ("10/1m", RequestRate(10, 60)),
        ("1/10 0600-0845", RequestRate(1, 10, DailyWindow(360, 525))),
        ("1/9999999d", RequestRate(1, 86_400)),
        ("9" * 400 + "/1", RequestRate(1_000_000, 1)),
        *((bad, None) for bad in ("0/5", "1/0", "-1/5", "1", "a/b", "", "1/10 2560-0000")),
    ],
)
def test_request_rate(value, expected):
    assert RobotsRules.parse(f"User-agent: *\nRequest-rate: {value}\n".encode()).request_rate(US) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0200-0630", DailyWindow(120, 390)),
        ("2300-0100", DailyWindow(1380, 60)),
        ("0200 0630", DailyWindow(120, 390)),
        ("25-26", None),
        ("", None),
    ],
)
def test_visit_time(value, expected):
    assert RobotsRules.parse(f"User-agent: *\nVisit-time: {value}\n".encode()).visit_time(US) == expected


def test_fields_that_the_file_lacks_are_none():
    rules = RobotsRules.parse(b"User-agent: otherbot\nCrawl-delay: 3\nRequest-rate: 1/2\nVisit-time: 0100-0200")
    assert (
        rules.crawl_delay(US),
        rules.request_rate(US),
        rules.visit_time(US),
        rules.preferred_host,
        rules.sitemaps,
    ) == (None, None, None, None, ())


def test_the_preferred_host_is_read():
    assert RobotsRules.parse(b"Host: www.example.com").preferred_host == "www.example.com"


@pytest.mark.parametrize("url", ["http://[", "http://a/\ud800", "\ud800"])
def test_what_is_not_a_url_is_not_allowed(url):
    assert not RobotsRules.parse(b"User-agent: *\nDisallow: /x").allows(url, US)


def test_20_000_agents_with_20_000_rules_are_not_multiplied_out():
    agents = b"".join(b"User-agent:%d\n" % number for number in range(17_000))
    body = b"User-agent: *\nDisallow: /a\n" + agents + b"".join(b"Disallow:/%d\n" % number for number in range(17_000))
    assert not RobotsRules.parse(body).allows(SITE + "/a", US)


def test_wildcards_take_no_exponential_time():
    rules = RobotsRules.parse(b"User-agent: *\nDisallow: /" + b"*a" * 200_000 + b"b")
    assert rules.allows(SITE + "/" + "a" * 2_000, US)


LINES = st.lists(
    st.sampled_from(
        [
            "User-agent: *",
            "User-agent: orbweaver/2",
            "Disallow: /",
            "Disallow: /a*$",
            "Crawl-delay: 1",
            "Sitemap: x",
            "Host: h",
            "Allow:",
            ":",
            "#",
        ]
    )
    | st.text(st.characters(codec=None), max_size=10)
).map(lambda lines: "\n".join(lines).encode("utf-8", "surrogatepass"))


@settings(deadline=None)
@given(
    st.binary() | LINES | st.binary().map(codecs.BOM_UTF16_BE.__add__), st.text(st.characters(codec=None), max_size=20)
)
def test_any_bytes_are_a_robots_txt(body, text):
    rules = RobotsRules.parse(body)
    assert rules.allows(text, US) in (True, False)
    assert rules.allows(SITE + "/" + text, text) in (True, False)
    assert (rules.crawl_delay(text) or 0) >= 0
    assert all(isinstance(sitemap, str) for sitemap in rules.sitemaps)
    rules.request_rate(US)
    rules.visit_time(US)


NOW = 1_000_000_000.0


def robots_after(status, *, reason=Reason.OK, body=b"User-agent: *", fetched=NOW, previous=None):
    return judge_robots(
        status=status,
        reason=reason,
        body=body,
        fetched=fetched,
        previous=previous,
        host=7,
        origin=SITE,
        retry=DEFAULTS.robots.retry_delay,
    )


def known(**changes):
    fields = {"host": 7, "origin": SITE, "status": 200, "body": b"known", "fetched": NOW - DAY, "expires": NOW}
    return RobotsFile(**(fields | changes))


@pytest.mark.parametrize("status", [200, 203, 206])
def test_a_found_file_holds_for_a_day(status):
    assert robots_after(status, previous=known(failures=3, held_until=NOW)) == known(
        status=status, body=b"User-agent: *", fetched=NOW, expires=NOW + DAY
    )


@pytest.mark.parametrize(
    ("cache_control", "lifetime"),
    [
        ("max-age=7200", 7200),
        ("public, s-maxage=10000, max-age=20000", 10_000),
        ('max-age="7200"', 7200),
        ("max-age=5", 3600),
        ("no-cache", 3600),
        ("max-age=99999999", DAY),
        ("max-age=soon", DAY),
        ("min-max-age=7200", DAY),
    ],
)
def test_a_server_says_how_long_its_file_may_be_kept_within_reason(cache_control, lifetime):
    assert lifetime_of(cache_control, DEFAULTS.robots.min_lifetime) == lifetime


@pytest.mark.parametrize("status", [301, 302, 304, 399, 400, 401, 403, 404, 410, 418, 451, 499])
def test_without_a_file_everything_is_allowed(status):
    assert robots_after(status, body=b"User-agent: *\nDisallow: /", previous=known()) == known(
        status=status, body=None, fetched=NOW, expires=NOW + DAY
    )


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (429, Reason.BUSY),
        (500, Reason.SERVER_ERROR),
        (503, Reason.BUSY),
        (999, Reason.BAD_STATUS),
        (0, Reason.DNS_FAILED),
        (0, Reason.CONNECT_TIMEOUT),
        (0, Reason.ADDRESS_DENIED),
        (200, Reason.CUT_DISCONNECT),
        (200, Reason.CUT_TIME),
    ],
)
def test_an_origin_whose_robots_txt_is_unreachable_is_held(status, reason):
    rules = robots_after(status, reason=reason, previous=known())
    assert rules == known(status=status, held_until=NOW + HOUR, expires=NOW + HOUR, failures=1)
    assert robots_after(status, reason=reason) == known(
        status=status, body=None, fetched=NOW, held_until=NOW + HOUR, expires=NOW + HOUR, failures=1
    )


@pytest.mark.parametrize(
    ("failures", "hours"), [(0, 1), (1, 2), (2, 4), (3, 8), (4, 16), (5, 24), (6, 24), (5_000, 24)]
)
def test_the_rest_doubles_up_to_a_day(failures, hours):
    rules = robots_after(503, previous=known(failures=failures))
    assert rules.held_until == NOW + hours * HOUR
    assert rules.failures == failures + 1


@pytest.mark.parametrize("body", [b"User-agent: *\nDisallow: /", None])
def test_after_a_month_of_failures_the_last_copy_counts_again(body):
    rules, now, days = robots_after(200, body=body) if body else None, NOW, []
    while not days or rules.held_until:
        rules = robots_after(503, fetched=now, previous=rules)
        days.append((now - NOW) / DAY)
        now = rules.expires
    assert 30 <= days[-1] <= 31
    assert rules.body == body
    assert rules.expires == NOW + days[-1] * DAY + DAY  # and we go on asking
    assert robots_after(200, fetched=now, previous=rules).failures == 0


def test_as_much_of_an_endless_file_as_we_read_is_enough():
    endless = b"Disallow: /a\n" * (LARGEST_FILE // 10)
    for reason in (Reason.CUT_TIME, Reason.CUT_LENGTH):
        rules = robots_after(200, reason=reason, body=endless)
        assert not rules.held_until
        assert LARGEST_FILE - 13 < len(rules.body) <= LARGEST_FILE
        assert rules.body.endswith(b"/a\n")


def test_the_examples_are_true():
    assert doctest.testmod(robots).failed == 0


WORDS = st.sampled_from([*"/ab*$?=&+,;:@!é#", "//", "**", "%41", "%2F", "%3f", ".html", "/robots.txt"])
TEXTS = st.lists(WORDS, max_size=6).map("".join)


@given(st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), TEXTS), max_size=8), st.lists(TEXTS, max_size=8))
def test_the_rules_decide_as_protego_does(lines, paths):
    body = "\n".join(["User-agent: *", *(f"{field}: /{path}" for field, path in lines)])
    rules, parser = RobotsRules.parse(body.encode()), Protego.parse(body)
    for path in paths:
        for url in (f"http://a.test/{path}", f"http://a.test{path}", path):
            if url.isascii():
                assert rules.allows(url, "bot") == parser.can_fetch(url, "bot")
