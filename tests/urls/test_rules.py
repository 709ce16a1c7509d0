"""Each canonicalization rule does what its row of the table states, can be switched, and changes nothing else."""

from __future__ import annotations

import doctest
from collections import Counter
from functools import cache
from itertools import pairwise

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler import settings as project
from crawler.urls import rules as rules_module
from crawler.urls.canonical import UrlPolicy, canonicalize, resolve
from crawler.urls.rules import DEFAULTS, RULES, SWITCHABLE, RuleGrade, UrlRule
from crawler.urls.sites import read_site_rules

# ── The table ─────────────────────────────────────────────────────────────────────────────────────────────────────────

BARE = UrlPolicy(dict.fromkeys(DEFAULTS, False))  # only the rules that cannot be switched off
SHOP = read_site_rules("shop.example drop view", "rules.txt", ())


def with_only(rule: UrlRule, is_on: bool) -> UrlPolicy:
    """Return the default policy with this rule on or off."""
    return UrlPolicy({rule.name: is_on} if rule.setting else {}, SHOP)


def by_name(rule: UrlRule) -> str:
    return rule.name


@pytest.mark.parametrize("rule", RULES, ids=by_name)
def test_the_example_of_a_rule_is_true(rule):
    assert with_only(rule, is_on=True).canonicalize(rule.before) == rule.after
    assert rule.before != rule.after


@pytest.mark.parametrize("rule", RULES, ids=by_name)
def test_a_trace_names_the_rule_that_acted(rule):
    steps = with_only(rule, is_on=True).trace(rule.before)
    assert rule.name in [step.rule for step in steps]
    assert (steps[0].before, steps[-1].after) == (rule.before, rule.after)


@pytest.mark.parametrize("rule", RULES, ids=by_name)
def test_no_other_rule_changes_the_result_of_a_rule(rule):
    assert with_only(rule, is_on=True).canonicalize(rule.after) == rule.after
    assert with_only(rule, is_on=True).trace(rule.after) == []


@pytest.mark.parametrize("rule", SWITCHABLE.values(), ids=by_name)
def test_a_rule_that_is_off_does_not_change_its_example(rule):
    policy = with_only(rule, is_on=False)
    assert policy.canonicalize(rule.before) == rule.before
    assert policy.trace(rule.before) == []


@pytest.mark.parametrize("rule", SWITCHABLE.values(), ids=by_name)
def test_a_rule_can_be_switched_for_one_site(rule):
    for is_on, word in ((True, "off"), (False, "on")):
        policy = UrlPolicy({rule.name: is_on}, read_site_rules(f"abc.com {word} {rule.name}", "rules.txt", SWITCHABLE))
        elsewhere = rule.before.replace("abc.com", "xyz.com"), rule.after.replace("abc.com", "xyz.com")
        assert policy.canonicalize(rule.before) == (rule.before if is_on else rule.after)
        assert policy.canonicalize(elsewhere[0]) == elsewhere[is_on]


@pytest.mark.parametrize("rule", RULES, ids=by_name)
def test_a_rule_has_a_switch_or_a_reason_to_have_none(rule):
    assert bool(rule.setting) is not bool(rule.why_fixed)
    assert rule.default is (
        rule.grade is not RuleGrade.SOMETIMES
    )  # rules that are right only sometimes are off by default
    if rule.setting:
        assert getattr(project, rule.setting) is rule.default


def test_names_and_settings_of_rules_are_unique():
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert len({rule.setting for rule in SWITCHABLE.values()}) == len(SWITCHABLE)


# ── The textbook ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("switches", "before", "after"),
    [
        # always
        ({}, "http://cs.indiana.edu:80/", "http://cs.indiana.edu/"),
        ({}, "http://cs.indiana.edu/%7Efil/", "http://cs.indiana.edu/~fil/"),
        ({}, "http://cs.indiana.edu/%7Efil/#top", "http://cs.indiana.edu/~fil/"),
        # usually
        ({}, "http://cs.indiana.edu/a/./../b/", "http://cs.indiana.edu/b/"),
        ({}, "http://cs.indiana.edu/b/people", "http://cs.indiana.edu/b/people"),  # the book adds the slash, we do not
        ({"trailing_slash": True}, "http://cs.indiana.edu/b/people", "http://cs.indiana.edu/b/people/"),
        # sometimes
        ({}, "http://cs.indiana.edu/fil/index.html", "http://cs.indiana.edu/fil/index.html"),
        ({"index_page": True}, "http://cs.indiana.edu/fil/index.html", "http://cs.indiana.edu/fil/"),
    ],
)
def test_the_examples_of_the_textbook(switches, before, after):
    assert UrlPolicy(switches).canonicalize(before) == after


@pytest.mark.parametrize(
    "spelling",
    [
        "http://abc.com/~smith/home.html",
        "http://ABC.com/%7Esmith/home.html",
        "http://ABC.com:/%7esmith/home.html",
        "http://abc.com:80/%7Esmith/./home.html#top",
        "HTTP://abc.com:80/~smith/x/../home.html?",
    ],
)
@pytest.mark.parametrize("switches", [{}, {"index_page": True, "trailing_slash": True}, {"sessions": False}])
def test_five_spellings_of_one_page_have_one_canonical_form(spelling, switches):
    assert UrlPolicy(switches).canonicalize(spelling) == "http://abc.com/~smith/home.html"


# ── Tables for single rules: URLs that change, and URLs that do not ───────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # servlet containers and PHP, in the path
        ("/a;jsessionid=0A1B2C3D", "/a"),
        ("/a.do;jsessionid=0A1B2C3D.node1?id=7", "/a.do?id=7"),
        ("/a;JSESSIONID=abc!-1234!5678", "/a"),
        ("/a;jsessionid=", "/a"),
        ("/a;jsessionid=1;b=2/c", "/a;b=2/c"),
        ("/a;b=2;jsessionid=1/c", "/a;b=2/c"),
        ("/a;jsessionid=1/b;jsessionid=2", "/a/b"),
        ("/;jsessionid=1", "/"),
        ("/a;phpsessid=0a1b", "/a"),
        ("/a;%6Asessionid=1", "/a"),
        # ASP.NET without cookies
        ("/(S(lit3py55t21z5v55vlm25s55))/orders.aspx", "/orders.aspx"),
        ("/app/(S(lit3py55t21z5v55vlm25s55))/orders.aspx?id=1", "/app/orders.aspx?id=1"),
        ("/(s(lit3py55t21z5v55vlm25s55))/", "/"),
        ("/(S(lit3py55t21z5v55vlm25s55))", "/"),
        ("/(A(abcdefghijklmnop)S(lit3py55t21z5v55vlm25s55))/a", "/a"),
        ("/(X(1)S(lit3py55t21z5v55vlm25s55))/a", "/a"),  # cookieless="AutoDetect" writes X(1) before it
        ("/(S(lit3py55t21z5v55vlm25s55));jsessionid=1/a", "/a"),
        # parameters that are session ids on every site
        ("/?PHPSESSID=0a1b&id=7", "/?id=7"),
        ("/?phpsessid=0a1b", "/"),
        ("/?PHPSESSID", "/"),
        ("/?PHPSESSID=", "/"),
        ("/?jsessionid=1&a=2", "/?a=2"),
        ("/?ASPSESSIONIDQQBBRTDC=FGHJ&a=2", "/?a=2"),
        ("/?ASP.NET_SessionId=lit3py55t21z5v55vlm25s55", "/"),
        ("/?CFID=12412453&CFTOKEN=15501799&foo=bar", "/?foo=bar"),
        ("/?osCsid=1a2b&products_id=3", "/?products_id=3"),
        # parameters that may be something else, with values that are session ids
        ("/?sid=9682993c8daa2c5497996114facdc805", "/"),  # MD5
        ("/?SID=9682993C8DAA2C5497996114FACDC805&t=5", "/?t=5"),
        ("/?sid=0123456789abcdef", "/"),
        ("/?sid=3f2504e0-4f89-11d3-9a0c-0305e82c3301", "/"),
        ("/?s%69d=0123456789abcdef", "/"),
        ("/?session_id=l6vq2k8sa4p0t9d3j1m5r7c2e4", "/"),  # PHP with five bits a character
        ("/?sessionid=2fcb1c0b0a9e4f6b8d7e", "/"),
    ],
)
def test_session_ids_are_removed(before, after):
    assert canonicalize("http://abc.com" + before) == "http://abc.com" + after
    assert BARE.canonicalize("http://abc.com" + before) == "http://abc.com" + before


@pytest.mark.parametrize(
    "target",
    [
        # paths
        *("/a;session=12", "/a;v=1.2", "/jsessionid=12", "/a;jsessionid", "/ajsessionid=1", "/a;xjsessionid=1"),
        *("/a%3Bjsessionid=1", "/(S(short))/a", "/f(S(lit3py55t21z5v55vlm25s55))/a", "/(lit3py55t21z5v55vlm25s55)a"),
        *("/wiki/Foo_(S(n))", "/(a)/b", "/()", "/Mercury_(planet)", "/(S(lit3py55t21z5v55vlm25s55))x/a"),
        # without the session id the rest would be a dot segment
        *("/a/..;jsessionid=1", "/a/..;jsessionid=1/b", "/.;jsessionid=1", "/..;phpsessid=1/a;jsessionid=2"),
        # small numbers, dates
        *("/?sid=1", "/?sid=12345", "/?sid=1234567890", "/?sid=123456789012345", "/?session=2024", "/?sid=2024-01-31"),
        *("/?sid=20240131", "/?session=2024-01-31T10:00:00", "/?session_id=20240131103000"),
        # words, slugs
        *("/?sid=", "/?sid", "/?sid=home", "/?session=keynote", "/?session=opening-keynote-of-the-2024-conference"),
        *("/?sid=introduction-to-python-3-for-beginners", "/?sid=deadbeef", "/?sid=abcdefabcdefabcdef", "/?sid=facade"),
        *("/?sess=pneumonoultramicroscopicsilicovolcanoconiosis", "/?session=donaudampfschifffahrtsgesellschaft"),
        *("/?session=GettingStartedWithPython3", "/?session=openingkeynote2024morning"),
        # other names
        *("/?side=0123456789abcdef", "/?mysid=0123456789abcdef", "/?sids=0123456789abcdef", "/?id=0123456789abcdef"),
        *("/?v=0123456789abcdef", "/?hash=9682993c8daa2c5497996114facdc805", "/?sid%5B%5D=0123456789abcdef"),
        # perhaps two parameters
        *("/?sid=0123456789abcdef;b=2", "/?PHPSESSID=1;id=7", "/?a=1;PHPSESSID=2"),
    ],
)
def test_parameters_that_only_resemble_session_ids_are_kept(target):
    assert canonicalize("http://abc.com" + target) == "http://abc.com" + target


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("?utm_source=x", ""),
        ("?utm_source=x&utm_medium=y&utm_campaign=z", ""),
        ("?id=1&utm_source=x", "?id=1"),
        ("?utm_source=x&id=1", "?id=1"),
        ("?utm_whatever_comes_next=1", ""),
        # the case, escapes, missing values
        ("?UTM_Source=x", ""),
        ("?%75tm_source=x", ""),
        ("?utm%5Fsource=x", ""),
        ("?utm%5fsource=x&FbClId=1", ""),
        ("?utm_source", ""),
        ("?utm_source=", ""),
        ("?utm_source=&&id=1", "?id=1"),
        ("?utm_source=a%3Bb", ""),
        ("?utm_source=a=b", ""),
        # click identifiers, mail, analytics
        ("?gclid=Cj0K&fbclid=IwAR&msclkid=1&yclid=2&id=1", "?id=1"),
        ("?mc_cid=1&mc_eid=2&_hsenc=3&mkt_tok=4&id=1", "?id=1"),
        ("?_ga=2.1.3&_gl=1*2&wprov=sfla1&id=1", "?id=1"),
        # perhaps two parameters
        ("?utm_source=a;id=7", "?utm_source=a;id=7"),
        ("?a;utm_source=x", "?a;utm_source=x"),
        # other names
        ("?utm=1", "?utm=1"),
        ("?xutm_source=1", "?xutm_source=1"),
        ("?gclids=1", "?gclids=1"),
        ("?q=utm_source", "?q=utm_source"),
        ("?q=gclid=1", "?q=gclid=1"),
        ("?%2575tm_source=x", "?%2575tm_source=x"),
        ("?id=utm_source%3Dx", "?id=utm_source%3Dx"),
    ],
)
def test_tracking_parameters_are_removed(before, after):
    assert canonicalize("http://abc.com/a" + before) == "http://abc.com/a" + after


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.youtube.com/watch?v=1&si=2&feature=share", "https://www.youtube.com/watch?v=1"),
        ("https://music.youtube.com/watch?v=1&si=2", "https://music.youtube.com/watch?v=1"),
        ("https://notyoutube.com/watch?v=1&si=2", "https://notyoutube.com/watch?si=2&v=1"),
        ("https://youtube.com.example/?si=2", "https://youtube.com.example/?si=2"),
        ("https://x.com/a/status/1?s=20&t=abc", "https://x.com/a/status/1"),
        ("https://ax.com/?s=20&t=abc", "https://ax.com/?s=20&t=abc"),
        ("https://www.amazon.de/dp/1?pd_rd_w=1&psc=1", "https://www.amazon.de/dp/1?psc=1"),
    ],
)
def test_tracking_parameters_of_one_site_are_kept_on_others(url, expected):
    assert canonicalize(url) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("//", "/"),
        ("//a", "/a"),
        ("/a//", "/a/"),
        ("/a///b////c", "/a/b/c"),
        ("/a//?b//c", "/a/?b//c"),  # slashes in a query are not touched
        ("/a//../b", "/a/b"),
        # a URL inside a path is not changed
        ("/web/2020/http://b.com/", "/web/2020/http://b.com/"),
        ("/web/2020/https://b.com//c", "/web/2020/https://b.com/c"),
        ("/http:///b", "/http://b"),
        ("/a%2F%2Fb", "/a%2F%2Fb"),
        ("/a/%2F/b", "/a/%2F/b"),
    ],
)
def test_repeated_slashes_are_merged(before, after):
    assert canonicalize("http://abc.com" + before) == "http://abc.com" + after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("?", ""),
        ("?&", ""),
        ("?&&&", ""),
        ("?&a=1&&b=2&", "?a=1&b=2"),
        ("?a&&b", "?a&b"),
        # an empty value is a value, and so is an empty name
        ("?a=", "?a="),
        ("?a", "?a"),
        ("?=", "?="),
        ("?=a", "?=a"),
        ("?#", ""),
        ("??", "??"),
        ("?%26", "?%26"),
    ],
)
def test_empty_parameters_are_removed(before, after):
    assert canonicalize("http://abc.com/a" + before) == "http://abc.com/a" + after
    assert UrlPolicy({"empty_query": False, "query_order": False}).canonicalize("http://abc.com/a" + before) == (
        "http://abc.com/a" + before.partition("#")[0]
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("?b=2&a=1", "?a=1&b=2"),
        ("?b=2&a=", "?a=&b=2"),
        ("?c=1&b=2&a=3", "?a=3&b=2&c=1"),
        ("?a=2&A=1", "?A=1&a=2"),
        ("?a10=1&a2=2&a1=3", "?a1=3&a10=1&a2=2"),
        ("?ab=1&a=2", "?a=2&ab=1"),
        ("?a-b=1&a=2", "?a=2&a-b=1"),  # by name, not by the whole text: "-" comes before "="
        ("?q=x=y&p=1", "?p=1&q=x=y"),
        ("?b%5B%5D=2&a%5B%5D=9&b%5B%5D=1", "?a%5B%5D=9&b%5B%5D=2&b%5B%5D=1"),
        # parameters of one name keep their order
        ("?a=2&a=1", "?a=2&a=1"),
        ("?b=1&a=2&b=0&a=1", "?a=2&a=1&b=1&b=0"),
        # no parameters
        ("?b&a", "?b&a"),
        ("?foo+bar", "?foo+bar"),
        ("?b=2&a", "?b=2&a"),
        ("?z/y/x", "?z/y/x"),
        ("?cgi=2&/path&a=1", "?cgi=2&/path&a=1"),
        ("?b=2;a=1", "?b=2;a=1"),
    ],
)
def test_parameters_are_sorted_by_name(before, after):
    assert canonicalize("http://abc.com/a" + before) == "http://abc.com/a" + after
    assert UrlPolicy({"query_order": False}).canonicalize("http://abc.com/a" + before) == "http://abc.com/a" + before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        *((f"/a/{name}", "/a/") for name in ("index.html", "index.htm", "index.php", "index.shtml", "index.jsp")),
        *((f"/{name}", "/") for name in ("index.asp", "index.aspx", "INDEX.HTML", "Default.aspx", "default.htm")),
        ("/index.html#top", "/"),
        ("/index.html?", "/"),
        ("/index.html?utm_source=x", "/"),
        ("/a//index.html", "/a/"),
        ("/index.html;jsessionid=1", "/"),
        # with a query it is a program; other names are no index pages
        ("/index.php?id=7", "/index.php?id=7"),
        ("/index.html/", "/index.html/"),
        ("/index.html/a", "/index.html/a"),
        ("/myindex.html", "/myindex.html"),
        ("/index", "/index"),
        ("/index.md", "/index.md"),
        ("/index.html;a", "/index.html;a"),
        ("/index.html.bak", "/index.html.bak"),
        ("/index.fr.html", "/index.fr.html"),
        ("/index%2Fhtml", "/index%2Fhtml"),
        ("/default", "/default"),
        ("/home.html", "/home.html"),
    ],
)
def test_names_of_index_pages_are_removed(before, after):
    assert UrlPolicy({"index_page": True}).canonicalize("http://abc.com" + before) == "http://abc.com" + after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("/a", "/a/"),
        ("/a/b", "/a/b/"),
        ("/~smith", "/~smith/"),
        ("/a%20b", "/a%20b/"),
        ("/a#b", "/a/"),
        ("/a?", "/a/"),
        ("/a;jsessionid=1", "/a/"),
        # files, programs, and paths that end in a slash
        ("", "/"),
        ("/", "/"),
        ("/a/", "/a/"),
        ("/a.html", "/a.html"),
        ("/v1.2", "/v1.2"),
        ("/.git", "/.git"),
        ("/a?b=1", "/a?b=1"),
        ("/a;b", "/a;b"),
    ],
)
def test_missing_trailing_slashes_are_added(before, after):
    assert UrlPolicy({"trailing_slash": True}).canonicalize("http://abc.com" + before) == "http://abc.com" + after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("/%61%7A%41%5A%30%39%2D%2E%5F%7E", "/azAZ09-._~"),
        ("/%c3%a9", "/%C3%A9"),
        ("/%2f%3f%23%26%3d%3b%25", "/%2F%3F%23%26%3D%3B%25"),  # decoded, these characters would have another meaning
        ("/%20%22%3c%3e%60%7b%7d%5b%5d%7c%5c%5e", "/%20%22%3C%3E%60%7B%7D%5B%5D%7C%5C%5E"),
        ("/%21%24%27%28%29%2A%2B%2C%3A%40", "/%21%24%27%28%29%2A%2B%2C%3A%40"),  # RFC 3986 §2.2: reserved
        ("/%zz%4%", "/%zz%4%"),
        ("/%%34%31", "/%%341"),
        ("/%00%7f", "/%00%7F"),
        ("/a?%61=%62&%c3=%C3", "/a?%C3=%C3&a=b"),
        ("/a[b]|c?d[]={e}|^`\\", "/a%5Bb%5D%7Cc?d%5B%5D=%7Be%7D%7C%5E%60%5C"),  # RFC 3986 §3.3: nowhere else
        ("/%[?%4[", "/%%5B?%4%5B"),
    ],
)
def test_escapes_are_normalized(before, after):
    assert canonicalize("http://abc.com" + before) == "http://abc.com" + after


# ── The trace ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("url", "base", "rules"),
    [
        ("http://abc.com/", None, []),
        ("http://abc.com", None, ["target_characters"]),
        ("http:\\\\abc.com\\a", None, ["target_characters"]),
        ("http:abc.com/", None, ["target_characters"]),
        ("http://me:@abc.com/", None, ["user_info"]),
        ("http://0x7f.1/", None, ["host_script"]),
        ("http://BÜCHER.example/", None, ["host_script"]),
        ("http://abc.com./?#", None, ["host_dot", "fragment", "empty_query"]),
        ("/b//c?gclid=1", "http://abc.com/a", ["base", "tracking", "empty_query", "slashes"]),
        ("HTTP://abc.com/", "http://xyz.com/a", ["scheme_case"]),
        (" http://abc.com/", "http://xyz.com/a", ["white_space"]),
        ("http:c", "http://abc.com/a/b", ["base"]),  # relative according to the standard
        ("", "http://abc.com/a?b#c", ["base"]),
    ],
)
def test_a_trace_names_the_rules_that_changed_the_url(url, base, rules):
    assert [step.rule for step in UrlPolicy().trace(url, base)] == rules


@pytest.mark.parametrize("url", ["", "a", "mailto:a@b.com", "http://", "http://a..b/", "ftp://a.com/"])
def test_a_url_without_a_canonical_form_has_no_complete_trace(url):
    assert all(step.after != url for step in UrlPolicy().trace(url))


# ── Laws ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

SITE_LINES = [
    "",
    "a.com drop view, sort*\na.com keep gclid, sid\nb.com only id, page",
    "a.com only id\nb.com off sessions, tracking, query_order\nb.com on index_page, trailing_slash",
    "com on index_page\na.com off empty_query, slashes, escapes\n* drop a\nb.com keep utm_*",
]
SWITCHES = st.tuples(st.integers(0, 2 ** len(DEFAULTS) - 1), st.sampled_from(SITE_LINES))


@cache
def policy_of(choice: tuple[int, str]) -> UrlPolicy:
    bits, lines = choice
    switches = {name: bool(bits >> place & 1) for place, name in enumerate(DEFAULTS)}
    return UrlPolicy(switches, read_site_rules(lines, "rules.txt", SWITCHABLE))


NASTY = [
    *(";jsessionid=", ";jsessionid=1", ";phpsessid=2/", "..;jsessionid=1", "/.;jsessionid=1/", "jsessionid=1"),
    *("/(S(abcdefghij12))/", "(S(abcdefghij12))", "/(S(abcdefghij12))", "(", ")", ";", ",", "!"),
    *("utm_", "utm_x=1", "gclid=1", "PHPSESSID=1", "sid=", "0123456789abcdef", "view=1", "id=1", "a=1", "b=2"),
    *("&", "&&", "=", "?", "?", "#", "/", "/", "//", "///", ":", "://", "\\", ".", "..", "/.", "/..", "/./", "/../"),
    *("%", "%2", "%2e", "%2E%2e", "%3b", "%3B", "%2f", "%3f", "%23", "%26", "%3d", "%25", "%41", "%7e", "%%32e"),
    *("%c3%a9", "é", "ß", "。", "😀", "\ud800", "\udfff", " ", "\t", "\n", "\0", "^", "|", "'", '"', "<", "[", "]"),
    *("index.html", "index.php", "/index.html", "Default.aspx", "a", "B", "c.html", ".git", "~", "http:", "@", "+"),
]
BEGINNINGS = [
    *("http://a.com/", "http://a.com/", "http://a.com", "https://b.com/x/", "https://www.b.com/?", "http://a.com:80"),
    *("HTTP://U:P@A.com./", "http://[::1]:8080/", "//a.com/", "/", "", "?", "http:", "http:\\\\b.com\\", "mailto:"),
]


def put_together(choices: bytes) -> str:
    """Build a URL from a prefix and difficult pieces; the choices are drawn as bytes because that is fast."""
    beginning = BEGINNINGS[choices[0] % len(BEGINNINGS)]
    return beginning + "".join(NASTY[choice % len(NASTY)] for choice in choices[1:])


URLS = st.binary(min_size=1, max_size=9).map(put_together)
BASES = st.sampled_from([None, None, "http://a.com/b/c?d#e", "https://b.com/x;jsessionid=1/(S(abcdefghij12))/y", "a:b"])


@settings(deadline=None, max_examples=6_000)
@given(URLS, BASES, SWITCHES)
@example("http://a.com/(S(abcdefghij12));jsessionid=1", None, (255, ""))
@example("http://a.com/a/.b/../c", None, (255, ""))
def test_canonicalizing_twice_changes_nothing_however_rules_are_switched(url, base, choice):
    policy = policy_of(choice)
    once = policy.canonicalize(url, base)
    assert once is None or policy.canonicalize(once) == once


@settings(deadline=None, max_examples=3_000)
@given(URLS, BASES, SWITCHES)
@example("http://a.com/a/.b/../c", None, (255, ""))
def test_a_canonical_url_is_normalized_by_the_standard(url, base, choice):
    canonical = policy_of(choice).canonicalize(url, base)
    if canonical is not None:
        assert canonical.isascii()
        assert ada_url.normalize_url(canonical) == canonical
        assert "#" not in canonical
        assert "@" not in canonical.split("/")[2]


@settings(deadline=None, max_examples=3_000)
@given(URLS, BASES, SWITCHES)
def test_a_trace_ends_in_the_canonical_form(url, base, choice):
    policy = policy_of(choice)
    canonical, steps = policy.canonicalize(url, base), policy.trace(url, base)
    if canonical is None:
        return
    assert (steps[0].before, steps[-1].after) == (url, canonical) if steps else url == canonical
    assert all(left.after == right.before for left, right in pairwise(steps))
    order = ["base", *(rule.name for rule in RULES)]
    places = [order.index(step.rule) for step in steps]
    assert places == sorted(set(places))  # each rule acts once, in the order of the table


# A tab between two halves of a surrogate pair: a trace that removes the tab makes them one character.
PAIRED = URLS.filter(lambda url: not ("\ud800" in url and "\udfff" in url))


@settings(deadline=None, max_examples=2_000)
@given(PAIRED, SWITCHES)
@example("http://a.com/(S(abcdefghij12));jsessionid=1", (255, ""))
def test_each_step_of_a_trace_names_the_same_url(url, choice):
    policy = policy_of(choice)
    canonical = policy.canonicalize(url)
    if canonical is not None:
        assert {policy.canonicalize(step.after) for step in policy.trace(url)} <= {canonical}


@settings(deadline=None, max_examples=2_000)
@given(URLS, BASES, SWITCHES)
def test_the_canonical_form_of_a_link_is_that_of_its_resolved_url(url, base, choice):
    policy, resolved = policy_of(choice), resolve(url, base)
    assert policy.canonicalize(url, base) == (None if resolved is None else policy.canonicalize(resolved))


NAMES = ["a", "b", "B", "c%5B%5D", "id", "page", "q", "lang", "x%26y"]
VALUES = ["", "0", "1", "a", "%20", "=", "a;b=1", "/x?y", "+", "%C3%A9", "0123456789abcdef", "utm_source"]
LISTED = ["utm_source=a", "UTM_x", "gclid=1", "fbclid=", "PHPSESSID=2", "sid=0123456789abcdef", ""]
NO_PARAMETERS = ["", "a", "b;a", "+", "/x", "=", "c=b"]


def parameters(choices: bytes) -> list[str]:
    """Return parameters whose names are on no list."""
    return [f"{NAMES[choice % len(NAMES)]}={VALUES[choice // len(NAMES) % len(VALUES)]}" for choice in choices]


PARAMETERS = st.binary(max_size=10).map(parameters)


def canonical_query(pieces: list[str]) -> list[str]:
    query = canonicalize("http://abc.com/a?" + "&".join(pieces)).partition("?")[2]
    return query.split("&") if query else []


@settings(deadline=None, max_examples=1_500)
@given(PARAMETERS)
def test_sorting_keeps_all_parameters_and_the_order_of_those_of_one_name(pieces):
    found = canonical_query(pieces)
    assert Counter(found) == Counter(pieces)
    assert found == sorted(pieces, key=name_of)  # sorting keeps the order of equal names


@settings(deadline=None, max_examples=1_500)
@given(PARAMETERS, st.lists(st.sampled_from(NO_PARAMETERS), max_size=5))
def test_only_listed_parameters_are_dropped(pieces, others):
    assert Counter(canonical_query(pieces + others)) == Counter(piece for piece in pieces + others if piece)


@settings(deadline=None, max_examples=1_500)
@given(PARAMETERS, st.lists(st.tuples(st.integers(0, 10), st.sampled_from(LISTED)), max_size=4))
def test_listed_parameters_are_dropped_at_any_position(pieces, listed):
    mixed = list(pieces)
    for place, piece in listed:
        mixed.insert(place, piece)
    assert canonical_query(mixed) == canonical_query(pieces)


@settings(deadline=None, max_examples=1_000)
@given(PARAMETERS, st.permutations(range(10)))
def test_the_order_of_parameters_with_different_names_does_not_matter(pieces, order):
    distinct = list({name_of(piece): piece for piece in pieces}.values())
    shuffled = [distinct[place] for place in order if place < len(distinct)]
    assert canonical_query(shuffled) == canonical_query(distinct)


def name_of(piece: str) -> str:
    return piece.partition("=")[0]


def test_the_examples_are_true():
    assert doctest.testmod(rules_module).failed == 0
