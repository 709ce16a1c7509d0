"""The scope allows what the seeds and settings include, and gives the reason for every refusal."""

import doctest
import tracemalloc
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.items import Reason, Refusal
from crawler.urls import scope as scope_module
from crawler.urls.canonical import canonicalize
from crawler.urls.scope import BAD_PORTS, MODES, SCOPE_REASONS, UrlOptions
from crawler.urls.sites import BrokenLine
from tests.defaults import urls_with

SEEDS = ["https://www.example.com/docs/guide/start.html?x=/y/", "http://127.0.0.1/a/", "http://h1.test:9000/"]


def reason(scope, url):
    refusal = scope.rejection(url)
    return refusal and refusal.reason


@pytest.mark.parametrize(
    ("url", "modes"),
    [
        ("https://www.example.com/docs/guide/", "any domains hosts prefixes"),
        ("https://www.example.com/docs/guide/deep/er?q=1", "any domains hosts prefixes"),
        ("https://www.example.com/docs/guide", "any domains hosts"),
        ("https://www.example.com/docs/guidelines/", "any domains hosts"),
        ("https://www.example.com/?/docs/guide/", "any domains hosts"),
        ("http://www.example.com/docs/guide/", "any domains hosts"),  # another origin
        ("https://example.com/", "any domains"),
        ("https://a.b.example.com/", "any domains"),
        ("https://badexample.com/", "any"),
        ("https://example.com.evil.net/", "any"),
        ("http://127.0.0.1/a/b", "any domains hosts prefixes"),
        ("http://127.0.0.1/b", "any domains hosts"),
        ("http://127.0.0.2/a/", "any"),
        ("http://h1.test:9000/any/where", "any domains hosts prefixes"),
        ("http://h1.test/any/where", "any domains hosts"),
        ("http://a.h1.test/", "any domains"),
        ("http://h2.test/", "any"),
    ],
)
@pytest.mark.parametrize("mode", ["any", "domains", "hosts", "prefixes"])
def test_each_mode_includes_its_urls(mode, url, modes):
    expected = None if mode in modes.split() else Reason.OUT_OF_SCOPE
    scope = urls_with(mode=mode).new_scope(SEEDS)
    assert reason(scope, url) is expected
    assert reason(scope, url) is expected  # also from the cache


def test_a_bare_host_name_is_its_own_domain():
    scope = urls_with(mode="domains").new_scope(["http://intranet/"])
    assert scope.rejection("http://intranet/page") is None
    assert reason(scope, "http://a.intranet/") is Reason.OUT_OF_SCOPE


@pytest.mark.parametrize(
    ("port", "expected"),
    [("", None), (":8080", None), (":9000", None), (":22", Reason.PORT_DENIED), (":9001", Reason.PORT_DENIED)],
)
def test_only_web_ports_and_those_of_seeds_are_visited(port, expected):
    assert reason(urls_with().new_scope(SEEDS), f"http://example.com{port}/") is expected


def test_allowed_ports_can_be_given():
    scope = urls_with(mode="any", ports=(81,)).new_scope([])
    assert scope.rejection("http://example.com:81/") is None
    assert reason(scope, "http://example.com/") is Reason.PORT_DENIED


def test_without_contact_only_own_hosts_are_visited():
    scope = urls_with(mode="any", contact=False, own_hosts=("*.mine.test",)).new_scope([])
    assert scope.rejection("http://a.mine.test/") is None
    assert reason(scope, "http://example.com/") is Reason.NO_CONTACT


def test_long_urls_are_refused():
    scope = urls_with(mode="any", max_length=30).new_scope([])
    assert scope.rejection("http://example.com/" + "a" * 11) is None
    assert reason(scope, "http://example.com/" + "a" * 12) is Reason.URL_TOO_LONG


def test_a_scope_grows_with_its_seeds():
    scope = urls_with(mode="hosts").new_scope([])
    assert reason(scope, "http://example.com:7777/") is Reason.PORT_DENIED
    scope.add("http://EXAMPLE.com:7777")
    assert scope.rejection("http://example.com:7777/") is None
    scope.add("not a url")
    assert reason(scope, "http://example.org/") is Reason.OUT_OF_SCOPE


def test_the_cache_of_refusals_is_bounded(monkeypatch):
    for limit in ("MOST_ORIGINS", "MOST_URLS"):
        monkeypatch.setattr(scope_module, limit, 10)
    scope = urls_with(mode="hosts").new_scope(["http://host3.test/"])
    answers = [scope.rejection(f"http://host{number % 20}.test/") for number in range(100)]
    assert [number % 20 for number, answer in enumerate(answers) if answer is None] == [3] * 5
    tracemalloc.start()
    for number in range(5_000):
        scope.rejection(f"http://host{number}.test/")
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 20_000


def test_an_unknown_mode_is_named():
    with pytest.raises(ValueError, match="'everything'"):
        urls_with(mode="everything").new_scope([])


@pytest.mark.parametrize("port", sorted(BAD_PORTS))
def test_no_seed_and_no_setting_opens_a_port_of_another_protocol(port):
    scope = urls_with(ports=(port,)).new_scope([f"http://example.com:{port}/"])
    assert scope.rejection(f"http://example.com:{port}/") == (Reason.PORT_DENIED, str(port))


# ── Limits ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "last", "first", "refusal"),
    [
        (
            {"max_length": 20},
            "http://a.com/" + "a" * 7,
            "http://a.com/" + "a" * 8,
            (Reason.URL_TOO_LONG, "21 characters, 20 at most"),
        ),
        (
            {"max_segments": 3},
            "http://a.com/a/b/c",
            "http://a.com/a/b/c/d",
            (Reason.PATH_TOO_DEEP, "4 segments, 3 at most"),
        ),
        ({"max_segments": 3}, "http://a.com/a/b/?c/d/e/f", "http://a.com/a/b/c/", (Reason.PATH_TOO_DEEP, None)),
        (
            {"max_repeats": 2},
            "http://a.com/a/b/a",
            "http://a.com/a/b/a/c/a",
            (Reason.REPEATED_SEGMENT, "a occurs more than 2 times"),
        ),
        ({"max_repeats": 1}, "http://a.com/a", "http://a.com/a/a", (Reason.REPEATED_SEGMENT, None)),
        (
            {"max_parameters": 2},
            "http://a.com/?a=1&b=2",
            "http://a.com/?a=1&b=2&c=3",
            (Reason.TOO_MANY_PARAMETERS, "3 parameters, 2 at most"),
        ),
        ({"max_parameters": 0}, "http://a.com/a", "http://a.com/a?b", (Reason.TOO_MANY_PARAMETERS, None)),
        # the defaults
        ({}, "http://a.com/" + "a" * 2035, "http://a.com/" + "a" * 2036, (Reason.URL_TOO_LONG, None)),
        (
            {},
            "http://a.com/" + "/".join(map(str, range(20))),
            "http://a.com/" + "/".join(map(str, range(21))),
            (Reason.PATH_TOO_DEEP, None),
        ),
        ({}, "http://a.com/a/a/a", "http://a.com/a/a/a/a", (Reason.REPEATED_SEGMENT, None)),
        (
            {},
            "http://a.com/?" + "&".join(f"a{n}=" for n in range(16)),
            "http://a.com/?" + "&".join(f"a{n}=" for n in range(17)),
            (Reason.TOO_MANY_PARAMETERS, None),
        ),
    ],
)
def test_a_limit_is_exact(options, last, first, refusal):
    scope = urls_with(**options).new_scope([])
    expected, detail = refusal
    found = scope.rejection(first)
    assert scope.rejection(last) is None
    assert found.reason is expected
    assert detail is None or found.detail == detail


@pytest.mark.parametrize(("most", "depth", "refused"), [(0, 10_000, False), (3, 3, False), (3, 4, True), (1, 2, True)])
def test_urls_beyond_the_maximum_depth_are_refused(most, depth, refused):
    found = urls_with(max_depth=most).new_scope([]).rejection("http://a.com/", depth)
    assert found == ((Reason.TOO_FAR, f"{depth} links, {most} at most") if refused else None)


# ── Patterns ──────────────────────────────────────────────────────────────────────────────────────────────────────────

INCLUDE = ("in.txt", "# what we want\nhttps://a.com/docs/\n~[.]pdf$")
EXCLUDE = ("out.txt", "https://a.com/docs/old/\n\n~[?&]sort=")


@pytest.mark.parametrize(
    ("url", "refusal"),
    [
        ("https://a.com/docs/", None),
        ("https://a.com/docs/new/x?a=1", None),
        ("https://b.com/paper.pdf", None),
        # excluded URLs are refused even if they are included
        ("https://a.com/docs/old/", (Reason.EXCLUDED, "out.txt:1 https://a.com/docs/old/")),
        ("https://a.com/docs/x?sort=up", (Reason.EXCLUDED, "out.txt:3 ~[?&]sort=")),
        ("https://b.com/x?sort=up", (Reason.EXCLUDED, "out.txt:3 ~[?&]sort=")),
        # URLs that no pattern includes
        ("https://a.com/", (Reason.NOT_INCLUDED, "in.txt")),
        ("https://a.com.evil.net/docs/", (Reason.NOT_INCLUDED, "in.txt")),
        ("https://b.com/docs/", (Reason.NOT_INCLUDED, "in.txt")),
        # an included URL must also be a page and in the scope
        ("https://a.com/docs/x.zip", (Reason.FILE_TYPE, "zip")),
        ("https://a.com/docs/a/a/a/a", (Reason.REPEATED_SEGMENT, "a occurs more than 3 times")),
        ("https://a.com/docs/?action=edit", (Reason.ACTION, "action=edit")),
        ("https://c.com/paper.pdf", (Reason.OUT_OF_SCOPE, "hosts")),
        ("https://c.com/?sort=up", (Reason.OUT_OF_SCOPE, "hosts")),
        ("https://a.com:22/docs/", (Reason.PORT_DENIED, "22")),
    ],
)
def test_a_url_must_be_included_and_not_excluded(url, refusal):
    options = urls_with(mode="hosts", include=INCLUDE, exclude=EXCLUDE, skip_types=("zip",))
    scope = options.new_scope(["https://a.com/", "https://b.com/", "https://a.com.evil.net/"])
    assert scope.rejection(url) == refusal


def test_without_patterns_everything_is_included_and_nothing_excluded():
    scope = urls_with(include=("", ""), exclude=("out.txt", "# nothing yet")).new_scope([])
    assert scope.rejection("https://a.com/anything") is None


@pytest.mark.parametrize("field", ["include", "exclude", "rules"])
def test_an_invalid_file_is_refused_with_its_line(field):
    with pytest.raises(BrokenLine, match=r"^list\.txt:2: "):
        urls_with(**{field: ("list.txt", "# first\nnonsense")}).new_scope([])


# ── Reasons of refusals ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "url", "text"),
    [
        ({"mode": "hosts"}, "http://b.com/", "outside the scope of the seeds: hosts (out_of_scope)"),
        ({}, "http://a.com:25/", "its port is not visited (URL_PORTS): 25 (port_denied)"),
        ({"contact": False}, "http://a.com/", "not an own host, and no CONTACT is given (no_contact)"),
        (
            {"max_length": 16},
            "http://a.com/abcd",
            "the URL is longer than we visit: 17 characters, 16 at most (url_too_long)",
        ),
        ({"skip_types": ("zip",)}, "http://a.com/b.zip", "a file of a type that is not read: zip (file_type)"),
        ({}, "http://a.com/logout", "it does something rather than show something: logout (action)"),
        ({}, "http://a.com/wp-json/", "meant for programs, not for readers: wp-json (api_call)"),
        ({}, "http://a.com/a/a/a/a", "its path goes in circles: a occurs more than 3 times (repeated_segment)"),
    ],
)
def test_a_refusal_gives_its_reason_and_detail(options, url, text):
    assert str(urls_with(**options).new_scope(["http://a.com/"]).rejection(url)) == text


@pytest.mark.parametrize("reason", sorted(SCOPE_REASONS))
def test_every_refusal_has_a_description(reason):
    assert str(Refusal(reason)) == f"{reason.meaning} ({reason.name.lower()})"
    assert f"{Refusal(reason, 'x')}" == f"{reason.meaning}: x ({reason.name.lower()})"


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("origin_of", "http://a.com/"),
        ("port_of", "http://a.com/"),
        ("file_type", "http://a.com/"),
        ("unfilled_placeholder", "http://a.com/"),
        ("repeated_segment", "http://a.com/1/2/3/4/5"),
        ("may_be_action_or_api", "http://a.com/"),
        ("action_in", "http://a.com/?a=1"),
        ("api_call", "http://a.com/?a=1"),
    ],
)
def test_a_url_for_which_a_filter_fails_is_not_visited(monkeypatch, name, url):
    def fails(*args):
        raise RuntimeError("the filter is broken")

    scope = urls_with().new_scope([])
    with monkeypatch.context() as patched:
        patched.setattr(scope_module, name, fails)
        assert scope.rejection(url) == (Reason.FILTER_FAILED, "RuntimeError('the filter is broken')")
    assert scope.rejection(url) is None  # the failure is not cached


@pytest.mark.parametrize("link", ["/{{url}}", "/a?id=${id}"])
def test_unfilled_placeholders_are_not_visited(link):
    scope = urls_with().new_scope([])
    assert reason(scope, scope.policy.canonicalize(link, "http://a.com/")) is Reason.UNFILLED
    assert scope.rejection("http://a.com/?filter=%7B1%7D") is None


def test_a_pattern_that_fails_admits_no_url(monkeypatch):
    def fails(self, url):
        raise RecursionError("too deep")

    monkeypatch.setattr(scope_module.UrlPatterns, "first_match", fails)
    for options in (urls_with(include=INCLUDE), urls_with(exclude=EXCLUDE)):
        assert reason(options.new_scope([]), "https://a.com/docs/") is Reason.FILTER_FAILED


URLS = st.tuples(
    st.sampled_from(["http://a.com", "https://b.com:8443", "http://[::1]", "http://127.0.0.1:22", "http://docs.a.com"]),
    st.lists(
        st.sampled_from(["/", "a", "logout", "?", "&", "=", "12", ".zip", "%", "api", "v1", "é", "//"]), max_size=12
    ),
).map(lambda parts: canonicalize(parts[0] + "/" + "".join(parts[1])))


@settings(deadline=None, max_examples=300)
@given(URLS, st.sampled_from(MODES), st.integers(0, 3))
def test_every_refusal_has_a_scope_reason_and_stays_the_same(url, mode, depth):
    options = urls_with(mode=mode, include=INCLUDE, exclude=EXCLUDE, skip_types=("zip",), max_depth=2, max_parameters=3)
    scope = options.new_scope(["http://a.com/a/"])
    refusal = scope.rejection(url, depth)
    assert refusal is None or (refusal.reason in SCOPE_REASONS and refusal.reason is not Reason.FILTER_FAILED)
    assert scope.rejection(url, depth) == options.new_scope(["http://a.com/a/"]).rejection(url, depth) == refusal


# ── Digests of the options ────────────────────────────────────────────────────────────────────────────────────────────

OTHER = {
    "mode": "hosts",
    "own_hosts": ("a.com",),
    "contact": False,
    "ports": (80,),
    "max_length": 100,
    "max_segments": 5,
    "max_repeats": 1,
    "max_parameters": 2,
    "max_depth": 7,
    "skip_types": ("zip",),
    "skip_actions": False,
    "skip_apis": False,
    "include": ("in.txt", "http://a.com/"),
    "exclude": ("out.txt", "http://a.com/"),
    "switches": {"slashes": False},
    "rules": ("rules.txt", "a.com drop b"),
}


def test_each_option_changes_the_digest_of_the_scope_or_of_the_spelling():
    assert OTHER.keys() == {field.name for field in fields(UrlOptions)}
    was = urls_with()
    for name, value in OTHER.items():
        now = replace(was, **{name: value})
        spells = name in {"switches", "rules"}
        assert (now.spelling_digest() != was.spelling_digest()) is spells, name
        assert (now.scope_digest() != was.scope_digest()) is not spells, name


def test_the_name_of_a_file_does_not_change_the_digests():
    was = urls_with(include=("a.txt", "~x"), exclude=("b.txt", "~y"), rules=("c.txt", "a.com drop b"))
    now = urls_with(include=("A.txt", "~x"), exclude=("B.txt", "~y"), rules=("C.txt", "a.com drop b"))
    assert (now.scope_digest(), now.spelling_digest()) == (was.scope_digest(), was.spelling_digest())
    assert urls_with(include=("a.txt", "~x")).scope_digest() != urls_with(exclude=("a.txt", "~x")).scope_digest()


def test_the_order_of_switches_does_not_change_the_digest():
    one, other = {"slashes": True, "escapes": False}, {"escapes": False, "slashes": True}
    assert urls_with(switches=one).spelling_digest() == urls_with(switches=other).spelling_digest()


def test_seeds_are_canonicalized_like_links():
    options = urls_with(mode="prefixes", rules=("rules.txt", "a.com on index_page\na.com drop view"))
    scope = options.new_scope(["HTTP://A.com:80//docs//index.html?view=grid#top"])
    assert scope.rejection(scope.policy.canonicalize("http://a.com/docs/x")) is None
    assert reason(scope, "http://a.com/other") is Reason.OUT_OF_SCOPE


def test_the_examples_are_true():
    assert doctest.testmod(scope_module).failed == 0
