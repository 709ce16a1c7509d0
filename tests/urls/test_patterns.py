"""A list of patterns matches URLs by prefix or expression, names the matching line, and refuses invalid lines."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.urls import patterns as patterns_module
from crawler.urls.canonical import canonicalize
from crawler.urls.patterns import UrlPatterns
from crawler.urls.sites import BrokenLine


def matches(text: str, url: str) -> bool:
    return bool(UrlPatterns(text, "list.txt").first_match(url))


# ── Prefixes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("prefix", "url", "expected"),
    [
        # a directory, a page, part of a name
        ("https://a.com/docs/", "https://a.com/docs/", True),
        ("https://a.com/docs/", "https://a.com/docs/b?c", True),
        ("https://a.com/docs/", "https://a.com/docs", False),
        ("https://a.com/docs/", "https://a.com/", False),
        ("https://a.com/docs", "https://a.com/docs-old", True),
        ("https://a.com/docs?", "https://a.com/docs?a=1", True),
        ("https://a.com/docs?", "https://a.com/docs", False),
        ("https://a.com/docs?page=", "https://a.com/docs?page=2", True),
        # a prefix that ends in the host matches that host only, with or without its slash
        ("https://example.com", "https://example.com/", True),
        ("https://example.com", "https://example.com/a", True),
        ("https://example.com", "https://example.com.evil.net/", False),
        ("https://example.com", "https://example.community/", False),
        ("https://example.com", "https://example.com:8443/", False),
        ("https://example.com", "https://www.example.com/", False),
        ("https://example.co", "https://example.com/", False),
        ("https://example.com:8443", "https://example.com:8443/a", True),
        ("https://example.com:8443", "https://example.com:84431/a", False),
        ("https://1.2.3.4", "https://1.2.3.45/", False),
        ("http://[::1]", "http://[::1]/a", True),
        # the scheme must match
        ("https://a.com/", "http://a.com/", False),
        # prefixes are canonicalized like URLs
        ("HTTPS://A.Com/docs/", "https://a.com/docs/b", True),
        ("https://a.com:443/docs/", "https://a.com/docs/b", True),
        ("http://a.com:80", "http://a.com/b", True),
        ("http://a.com./b", "http://a.com/b/c", True),
        ("http://me@a.com/b", "http://a.com/b/c", True),
        ("https://a.com/%7esmith/", "https://a.com/~smith/b", True),
        ("https://a.com/%C3%a9/", "https://a.com/%C3%A9/b", True),
        ("https://a.com/é/", "https://a.com/%C3%A9/b", True),
        ("https://bücher.example/", "https://xn--bcher-kva.example/a", True),
        ("https://a.com/b/../c/", "https://a.com/c/d", True),
        ("https://a.com/a b/", "https://a.com/a%20b/c", True),
        ("   https://a.com/docs/   ", "https://a.com/docs/b", True),
        # the case of a path must match, and no parameter of a prefix is removed or sorted
        ("https://a.com/Docs/", "https://a.com/docs/", False),
        ("https://a.com/?utm_source=", "https://a.com/?utm_source=x", True),
        ("https://a.com/?b=1&a=2", "https://a.com/?b=1&a=2", True),
        ("https://a.com/index.html", "https://a.com/index.html", True),
        ("https://a.com/a;jsessionid=", "https://a.com/a;jsessionid=1", True),
        # a prefix is no regular expression
        ("https://a.com/.*", "https://a.com/b", False),
        ("https://a.com/a.b", "https://a.com/axb", False),
    ],
)
def test_a_prefix_matches_urls_that_begin_with_it(prefix, url, expected):
    assert matches(prefix, url) is expected


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("https://a.com/x", "list.txt:3 https://a.com/"),
        ("https://a.com/docs/x", "list.txt:3 https://a.com/"),  # the widest of several is named
        ("https://b.com/docs/x", "list.txt:4 https://b.com/docs/"),
        ("https://b.com/docs/deep/x", "list.txt:4 https://b.com/docs/"),
        ("https://b.com/other", ""),
        ("https://c.com/?sort=up", "list.txt:6 ~[?&]sort="),
        ("https://c.com/tag/x/page/7", "list.txt:8 ~ /tag/[^/]+/page/[0-9]+"),
        ("https://c.com/", ""),
        ("https://B.com/docs/", ""),  # no canonical URL
    ],
)
def test_the_matching_line_is_named(url, line):
    text = """# a comment

https://a.com/
https://b.com/docs/
https://b.com/docs/deep/
~[?&]sort=
  # another
~ /tag/[^/]+/page/[0-9]+
https://a.com/docs/
https://A.com/
"""
    assert UrlPatterns(text, "list.txt").first_match(url) == line


def test_the_pattern_is_named_as_it_was_written():
    assert UrlPatterns("  HTTPS://A.com:443/%7Eb  ", "/etc/list").first_match("https://a.com/~b") == (
        "/etc/list:1 HTTPS://A.com:443/%7Eb"
    )


SITES = [
    f"{scheme}://{host}" for scheme in ("http", "https") for host in ("a.com", "a.com.b.net", "ab.com", "a.com:81")
]
PATHS = ["", "/", "/a", "/a/", "/ab", "/a/b", "/a/b/", "/a/b/c", "/b", "/a?", "/a?b", "/a-", "/a%20", "/~", "/%C3%A9"]
BEGINNINGS = st.tuples(st.sampled_from(SITES), st.sampled_from(PATHS)).map("".join)


@settings(deadline=None, max_examples=500)
@given(st.lists(BEGINNINGS, max_size=12), st.lists(BEGINNINGS, min_size=1, max_size=12))
def test_nested_prefixes_match_as_each_alone_would(prefixes, urls):
    patterns = UrlPatterns("\n".join(prefixes), "list.txt")
    spelled = [canonicalize(prefix + "x").removesuffix("x") for prefix in prefixes if "/" in prefix[8:]]
    spelled += [f"{prefix}/" for prefix in prefixes if "/" not in prefix[8:]]
    assert bool(patterns) is bool(prefixes)
    for url in map(canonicalize, urls):
        assert bool(patterns.first_match(url)) is any(map(url.startswith, spelled)), url


def test_thousands_of_prefixes_match_as_a_loop_over_them_would():
    prefixes = [f"https://h{number % 97}.test/{number % 89}/{number}" for number in range(5_000)]
    patterns = UrlPatterns("\n".join(prefixes), "list.txt")
    urls = [f"https://h{number % 101}.test/{number % 91}/{number}/x" for number in range(0, 20_000, 37)]
    urls += [f"{prefix}0" for prefix in prefixes[::50]] + [prefix[:-1] for prefix in prefixes[::50]]
    expected = [any(map(url.startswith, prefixes)) for url in urls]
    assert [bool(patterns.first_match(url)) for url in urls] == expected
    assert 100 < sum(expected) < len(urls) - 100


# ── Expressions ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("expression", "url", "expected"),
    [
        ("~/tag/", "https://a.com/tag/b", True),  # found anywhere
        ("~/tag/", "https://a.com/tags/b", False),
        ("~^https://a\\.com/", "https://a.com/b", True),
        ("~^https://a\\.com/", "https://b.com/?u=https://a.com/", False),
        ("~\\.php$", "https://a.com/b.php", True),
        ("~\\.php$", "https://a.com/b.php?c", False),
        ("~[?&]sort=(up|down)(&|$)", "https://a.com/?a=1&sort=up", True),
        ("~(?i)/TAG/", "https://a.com/tag/", True),
        ("~/TAG/", "https://a.com/tag/", False),
        ("~   /tag/   ", "https://a.com/tag/b", True),
        ("~#", "https://a.com/", False),  # no comment: the line begins with "~"
        ("~.", "https://a.com/", True),
        ("~https://a.com/", "https://a.com/", True),
    ],
)
def test_an_expression_matches_urls_that_contain_it(expression, url, expected):
    assert matches(expression, url) is expected


# ── The file format ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["", "\n\n", "# all\n  # comments\n", " \t \r\n"])
def test_a_list_without_patterns_matches_nothing(text):
    assert not UrlPatterns(text, "list.txt")
    assert UrlPatterns(text, "list.txt").first_match("https://a.com/") == ""
    assert not UrlPatterns()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_have_any_line_ending(end):
    patterns = UrlPatterns(end.join(["# one", "https://a.com/", "", "~/tag/", ""]), "list.txt")
    assert patterns.first_match("https://a.com/") == "list.txt:2 https://a.com/"
    assert patterns.first_match("https://b.com/tag/") == "list.txt:4 ~/tag/"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        # not the beginning of a URL
        ("a.com", "'a.com' is no beginning of a URL"),
        ("/docs/", "'/docs/' is no beginning of a URL"),
        ("*.a.com", "is no beginning of a URL"),
        ("ftp://a.com/", "is no beginning of a URL"),
        ("mailto:me@a.com", "is no beginning of a URL"),
        ("http://", "is no beginning of a URL"),
        ("https:///", "is no beginning of a URL"),
        ("https://a..com/", "is no beginning of a URL"),
        ("https://a.com:99999/", "is no beginning of a URL"),
        ("https://a b.com/", "is no beginning of a URL"),
        ("^https://a.com/", "before a regular expression put ~"),
        # patterns that match other URLs than they seem to, or none
        ("https://*.a.com/", "is no beginning of a URL"),
        ("https://a.com/docs/  # our own", "is no beginning of a URL"),
        ("https://a.com/app#/admin", "is no beginning of a URL"),
        # not a regular expression
        ("~", "an empty regular expression fits every URL"),
        ("~   ", "an empty regular expression fits every URL"),
        ("~[", "is no regular expression"),
        ("~(", "is no regular expression"),
        ("~*", "is no regular expression"),
        ("~a{99999999999}", "is no regular expression"),
        ("~(?P<a>x)(?P<a>y)", "is no regular expression"),
        ("~" + "(" * 5_000 + "a" + ")" * 5_000, "is no regular expression"),
    ],
)
def test_an_invalid_line_is_refused_with_its_file_and_number(line, problem):
    with pytest.raises(BrokenLine) as caught:
        UrlPatterns(f"https://a.com/\n\n# x\n{line}\nnonsense", "list.txt")
    assert str(caught.value).startswith("list.txt:4: ")
    assert problem in str(caught.value)


@settings(deadline=None, max_examples=300)
@given(st.text(st.sampled_from("~#[](*?/.:\n ahtps") | st.characters(codec=None), max_size=40))
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")  # of the expressions
def test_any_file_is_read_or_refused_as_invalid(text):
    try:
        patterns = UrlPatterns(text, "list.txt")
    except BrokenLine:
        return
    assert isinstance(patterns.first_match("https://a.com/"), str)


def test_the_examples_are_true():
    assert doctest.testmod(patterns_module).failed == 0
