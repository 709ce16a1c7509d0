"""Site rules apply on their sites and nowhere else; an invalid line is refused with its file and number."""

from __future__ import annotations

import doctest
import gc
import tracemalloc
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.urls import canonical as canonical_module
from crawler.urls import sites
from crawler.urls.canonical import UrlPolicy, canonicalize
from crawler.urls.rules import SWITCHABLE
from crawler.urls.sites import BrokenLine, SiteRuleLine, packaged_lines, read_site_rules

ID = "0123456789abcdef"


def lines_of(text: str) -> list[SiteRuleLine]:
    return read_site_rules(text, "rules.txt", SWITCHABLE)


def policy_with(text: str, **switches: bool) -> UrlPolicy:
    return UrlPolicy(switches, lines_of(text))


# ── The file format ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n\n  \n\t\n", []),
        ("# nothing but a comment\n   # another", []),
        ("a.com drop view", [("a.com", "drop", ("view",))]),
        ("  a.com\tdrop   view , sort*,page  # looks", [("a.com", "drop", ("view", "sort*", "page"))]),
        ("a.com drop a b\tc", [("a.com", "drop", ("a", "b", "c"))]),
        ("a.com drop a,", [("a.com", "drop", ("a",))]),
        ("a.com drop a#b", [("a.com", "drop", ("a",))]),
        ("A.Com DROP View", [("a.com", "drop", ("View",))]),
        ("a.com drop a\r\nb.com keep b\r\n", [("a.com", "drop", ("a",)), ("b.com", "keep", ("b",))]),
        ("* tracking x_*", [("*", "tracking", ("x_*",))]),
        # all kinds of hosts of a canonical URL
        ("localhost drop a", [("localhost", "drop", ("a",))]),
        ("127.0.0.1 drop a", [("127.0.0.1", "drop", ("a",))]),
        ("::1 drop a", [("::1", "drop", ("a",))]),
        ("2001:db8::1 drop a", [("2001:db8::1", "drop", ("a",))]),
        ("xn--bcher-kva.example drop a", [("xn--bcher-kva.example", "drop", ("a",))]),
        ("a_b.co.uk drop a", [("a_b.co.uk", "drop", ("a",))]),
        # odd parameter names
        ("a.com drop filter[view], a.b, a-b, a:b, a%5B%5D, größe, $x", None),
    ],
)
def test_lines_of_site_rules_are_parsed(text, lines):
    found = lines_of(text)
    if lines is not None:
        assert found == lines
    else:
        assert found[0].names == ("filter[view]", "a.b", "a-b", "a:b", "a%5B%5D", "größe", "$x")


@pytest.mark.parametrize("word", ["tracking", "sessions", "session-like", "drop", "keep", "only"])
def test_a_line_may_list_parameters(word):
    assert lines_of(f"a.com {word} x, y*") == [("a.com", word, ("x", "y*"))]


@pytest.mark.parametrize("word", ["on", "off"])
@pytest.mark.parametrize("rule", SWITCHABLE)
def test_a_line_may_switch_a_rule(word, rule):
    assert lines_of(f"a.com {word} {rule}") == [("a.com", word, (rule,))]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        # too short
        ("a.com", "SITE WORD NAMES"),
        ("a.com drop", "SITE WORD NAMES"),
        ("a.com drop # view", "SITE WORD NAMES"),
        ("drop view", "SITE WORD NAMES"),
        # no host
        ("https://a.com/ drop view", "'https://a.com/' is no host name"),
        ("a.com/b drop view", "'a.com/b' is no host name"),
        ("*.a.com drop view", r"'\*.a.com' is no host name"),
        (".a.com drop view", "'.a.com' is no host name"),
        ("a.com. drop view", "'a.com.' is no host name"),
        ("a..com drop view", "'a..com' is no host name"),
        ("a.com:8080 drop view", "'a.com:8080' is no host name"),
        ("cafe:8080 drop view", "'cafe:8080' is no host name"),
        ("user@a.com drop view", "'user@a.com' is no host name"),
        ("bücher.example drop view", "'bücher.example' is no host name"),
        ("a.com, drop view", "'a.com,' is no host name"),
        # no word
        ("a.com dorp view", "'dorp' is none of"),
        ("a.com view drop", "'view' is none of"),
        ("a.com = view", "'=' is none of"),
        # no names
        ("a.com drop ,", "'' is no name"),
        ("a.com drop *", r"'\*' is no name"),
        ("a.com drop *view", r"'\*view' is no name"),
        ("a.com drop a*b", r"'a\*b' is no name"),
        ("a.com drop view**", r"'view\*\*' is no name"),
        ("a.com drop view=1", "'view=1' is no name"),
        ("a.com drop a&b", "'a&b' is no name"),
        ("a.com drop a,,b=", "'b=' is no name"),
        # no rules
        ("a.com on fast", "'fast' is no rule"),
        ("a.com off Slashes", "'Slashes' is no rule"),
        ("a.com off slash*", r"'slash\*' is no rule"),
        ("a.com off dot_segments", "'dot_segments' is no rule"),  # one that cannot be switched
        ("a.com off site_parameters", "'site_parameters' is no rule"),
        ("a.com on slashes, fast", "'fast' is no rule"),
    ],
)
def test_an_invalid_rule_is_refused_with_its_file_and_line(line, problem):
    with pytest.raises(BrokenLine, match=rf"^rules\.txt:4: .*{problem}"):
        lines_of(f"# first\na.com drop a\n\n{line}\nb.com nonsense")


def test_the_first_invalid_line_is_named():
    with pytest.raises(BrokenLine, match=r"^rules\.txt:2: "):
        lines_of("a.com drop a\nx\ny\nz")


@settings(deadline=None, max_examples=300)
@given(st.text(st.sampled_from("a*. \t\n#,=:[]/é\0") | st.characters(codec=None), max_size=40))
def test_any_file_is_read_or_refused_as_invalid(text):
    try:
        found = lines_of(text)
    except BrokenLine:
        return
    assert isinstance(UrlPolicy({}, found).canonicalize("http://a.com/?a=1"), str)


# ── The effect of lines ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("lines", "query", "expected"),
    [
        # drop: whole names and prefixes, in any case
        ("a.com drop view", "?id=1&view=2", "?id=1"),
        ("a.com drop view", "?VIEW=2", ""),
        ("a.com drop VIEW", "?view=2", ""),
        ("a.com drop view", "?view", ""),
        ("a.com drop view", "?views=2", "?views=2"),
        ("a.com drop sort*", "?sort=1&sort_by=2&sorted=3&resort=4", "?resort=4"),
        ("a.com drop view", "?view=1;id=2", "?view=1;id=2"),  # perhaps two parameters
        ("a.com drop a, b\na.com drop c", "?a=1&b=2&c=3&d=4", "?d=4"),
        ("a.com drop filter[view]", "?filter[view]=1&id=2", "?id=2"),
        ("a.com drop filter[view]", "?filter%5Bview%5D=1&id=2", "?id=2"),  # escaped as forms send it
        ("a.com drop größe", "?größe=1&id=2", "?id=2"),
        # keep beats everything
        ("a.com keep gclid", "?gclid=1&fbclid=2", "?gclid=1"),
        ("a.com keep utm_source", "?utm_source=1&utm_medium=2", "?utm_source=1"),
        ("a.com keep utm_*", "?utm_source=1&utm_medium=2", "?utm_medium=2&utm_source=1"),
        ("a.com keep PHPSESSID, sid", f"?PHPSESSID=1&sid={ID}", f"?PHPSESSID=1&sid={ID}"),
        ("a.com drop view\na.com keep view", "?view=1", "?view=1"),
        ("a.com keep view\na.com drop view", "?view=1", "?view=1"),
        ("a.com keep view\na.com drop vi*", "?view=1&vim=2", "?view=1"),
        ("a.com keep a\na.com only b", "?a=1&b=2&c=3", "?a=1&b=2"),
        # only
        ("a.com only id, page", "?id=1&page=2&view=3&x", "?id=1&page=2"),
        ("a.com only id\na.com only page", "?id=1&page=2&view=3", "?id=1&page=2"),
        ("a.com only id", "?view=3", ""),
        ("a.com only p*", "?page=1&p=2&id=3", "?p=2&page=1"),
        ("a.com only gclid", "?gclid=1&id=2", "?gclid=1"),  # a named parameter is kept, even for tracking
        ("a.com only sid", f"?sid={ID}", f"?sid={ID}"),
        ("a.com only id\na.com drop id", "?id=1", ""),
        ("a.com only id", "", ""),
        # the words of the package's own file
        ("a.com tracking from", "?from=1&id=2", "?id=2"),
        ("a.com sessions token", "?token=1&id=2", "?id=2"),
        ("a.com session-like token", f"?token={ID}&id=2", "?id=2"),
        ("a.com session-like token", "?token=small&id=2", "?id=2&token=small"),
        # rules
        ("a.com off tracking", "?gclid=1", "?gclid=1"),
        ("a.com off sessions", f"?sid={ID}&gclid=1", f"?sid={ID}"),
        ("a.com off query_order", "?b=1&a=2", "?b=1&a=2"),
        ("a.com off empty_query", "?&a=1&", "?&&a=1"),
        ("a.com off empty_query, query_order", "?&a=1&", "?&a=1&"),
        ("a.com off escapes", "?%61=1", "?%61=1"),
        ("a.com off tracking\na.com drop gclid", "?gclid=1", ""),
        ("a.com off tracking\na.com on tracking", "?gclid=1", ""),  # the later line wins
        ("a.com on tracking\na.com off tracking", "?gclid=1", "?gclid=1"),
    ],
)
def test_a_line_applies_to_its_site_and_nowhere_else(lines, query, expected):
    policy = policy_with(lines)
    for host in ("a.com", "www.a.com", "x.y.a.com"):
        assert policy.canonicalize(f"http://{host}/p{query}") == f"http://{host}/p{expected}"
    for host in ("b.com", "ba.com", "a.com.b.com", "com", "a.co"):
        assert policy.canonicalize(f"http://{host}/p{query}") == canonicalize(f"http://{host}/p{query}")


@pytest.mark.parametrize(
    ("path", "lines", "expected"),
    [
        ("/a/index.html", "a.com on index_page", "/a/"),
        ("/a", "a.com on trailing_slash", "/a/"),
        ("/a//b", "a.com off slashes", "/a//b"),
        ("/a;jsessionid=1", "a.com off sessions", "/a;jsessionid=1"),
        ("/%61", "a.com off escapes", "/%61"),
        ("/a//index.html", "a.com on index_page, trailing_slash\na.com off slashes", "/a//"),
    ],
)
def test_rules_for_paths_can_be_switched_for_a_site(path, lines, expected):
    policy = policy_with(lines)
    assert policy.canonicalize(f"http://www.a.com{path}") == f"http://www.a.com{expected}"
    assert policy.canonicalize(f"http://b.com{path}") == canonicalize(f"http://b.com{path}")


@pytest.mark.parametrize(
    ("lines", "url", "expected"),
    [
        ("* drop view", "http://any.example/?view=1&id=2", "http://any.example/?id=2"),
        ("* keep gclid", "http://any.example/?gclid=1", "http://any.example/?gclid=1"),
        ("* only id", "http://any.example/?view=1&id=2", "http://any.example/?id=2"),
        ("* only id", "http://www.youtube.com/?v=1&id=2", "http://www.youtube.com/?id=2"),
        ("* tracking from", "http://any.example/?from=1", "http://any.example/"),
        ("* on index_page", "http://any.example/index.html", "http://any.example/"),
        ("* off tracking", "http://any.example/?gclid=1", "http://any.example/?gclid=1"),
        ("* off tracking", "http://www.youtube.com/?si=1", "http://www.youtube.com/?si=1"),
        ("* off slashes\na.com on slashes", "http://a.com//b", "http://a.com/b"),
        ("a.com on slashes\n* off slashes", "http://a.com//b", "http://a.com/b"),  # the line for the narrower site wins
        ("a.com on slashes\n* off slashes", "http://b.com//b", "http://b.com//b"),
    ],
)
def test_a_star_applies_to_every_site(lines, url, expected):
    assert policy_with(lines).canonicalize(url) == expected


@pytest.mark.parametrize("order", list(permutations(["com off slashes", "a.com on slashes", "www.a.com off slashes"])))
def test_the_line_for_the_narrower_site_wins_in_any_order(order):
    policy = policy_with("\n".join(order))
    slashes = {host: policy.canonicalize(f"http://{host}//x") for host in ("b.com", "a.com", "x.a.com", "www.a.com")}
    assert slashes == {
        "b.com": "http://b.com//x",
        "a.com": "http://a.com/x",
        "x.a.com": "http://x.a.com/x",
        "www.a.com": "http://www.a.com//x",
    }


@pytest.mark.parametrize(
    ("site", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8080/?view=1"),
        ("127.0.0.1", "https://127.0.0.1/?view=1"),
        ("::1", "http://[::1]/?view=1"),
        ("::1", "http://[::1]:8443/?view=1"),
        ("localhost", "http://localhost:8000/?view=1"),
        ("a.com", "https://user@A.com.:8443/?view=1"),
        ("xn--bcher-kva.example", "http://www.bücher.example/?view=1"),
    ],
)
def test_a_line_applies_to_a_host_with_any_scheme_and_port(site, url):
    assert policy_with(f"{site} drop view").canonicalize(url) == canonicalize(url).removesuffix("?view=1")


def test_a_line_for_a_site_leaves_the_general_rules_in_force():
    policy = policy_with("a.com drop view")
    assert policy.canonicalize("http://a.com/?view=1&gclid=2&id=3") == "http://a.com/?id=3"
    assert policy_with("youtube.com drop view").canonicalize("http://youtube.com/?si=1&view=2&v=3") == (
        "http://youtube.com/?v=3"
    )


def test_switches_apply_where_no_line_overrides_them():
    policy = policy_with("a.com on tracking", tracking=False, index_page=True)
    assert policy.canonicalize("http://a.com/index.html?gclid=1") == "http://a.com/"
    assert policy.canonicalize("http://b.com/index.html?gclid=1") == "http://b.com/index.html?gclid=1"


# ── Caches ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def memory_for(policy: UrlPolicy, urls: list[str]) -> int:
    """Return how many bytes a policy's caches take after these URLs."""
    tracemalloc.start()
    try:
        for url in urls:
            policy.canonicalize(url)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_all_hosts_of_a_site_share_its_rules():
    # Each list holds all names: if each of the 65,536 cached hosts had its own, they would take 1.8 GB.
    assert (
        memory_for(policy_with("a.com drop view"), [f"http://h{number}.a.com/?b=1" for number in range(100)]) < 200_000
    )


@pytest.mark.parametrize("url", ["http://{}{:d}@a.com/", "http://a.com/?{}{:d}=1&a=1", "http://{}{:d}.com/"])
def test_long_urls_are_not_cached(url):
    # A link may have 64 kB, and a hostile page has many.
    assert memory_for(UrlPolicy(), [url.format("x" * 60_000, number) for number in range(50)]) < 500_000


def test_results_stay_the_same_when_the_caches_are_cleared(monkeypatch):
    monkeypatch.setattr(canonical_module, "MOST_ORIGINS", 10)
    monkeypatch.setattr(sites, "_MOST_CACHED_NAMES", 10)
    urls = [f"http://h{number % 15}.test/?n{number % 20}=1&n7=2" for number in range(100)]
    policy = policy_with("h3.test drop n7")
    assert [policy.canonicalize(url) for url in urls] == [
        policy_with("h3.test drop n7").canonicalize(url) for url in urls
    ]


# ── The package's own file ────────────────────────────────────────────────────────────────────────────────────────────

EVERYWHERE = [name.lower() for line in packaged_lines() if line.site == "*" for name in line.names]
# Names of parameters that determine the content of a page on some sites.
DANGEROUS = [
    *("id", "page", "q", "s", "p", "t", "v", "c", "lang", "date", "sort", "type", "category", "product", "article"),
    *("year", "ref", "month", "day", "time", "view", "show", "tab", "section", "topic", "thread", "post", "tid", "pid"),
    *("cid", "aid", "uid", "gid", "fid", "nid", "bid", "mid", "rid", "item", "sku", "isbn", "name", "title", "author"),
    *("user", "tag", "tags", "cat", "order", "orderby", "filter", "search", "query", "keyword", "keywords", "term"),
    *("start", "offset", "limit", "per_page", "paged", "from", "to", "source", "src", "url", "file", "path", "doc"),
    *("version", "rev", "revision", "oldid", "diff", "action", "mode", "format", "output", "print", "locale"),
    *("language", "country", "region", "city", "color", "size", "brand", "model", "price", "event", "feature"),
    *("campaign", "content", "medium", "code", "key", "token", "hash", "number", "no", "n", "i", "k", "m", "g", "x"),
    *("si", "pp", "tag", "qid", "share", "partner", "newsletter", "trk", "smid", "sid", "session", "at", "pk", "sc"),
]


def test_no_name_is_listed_twice():
    assert [name for name, count in Counter(EVERYWHERE).items() if count > 1] == []


def test_no_name_is_listed_beside_a_prefix_that_covers_it():
    beginnings = [name[:-1] for name in EVERYWHERE if name.endswith("*")]
    assert [name for name in EVERYWHERE for start in beginnings if name.startswith(start) and name != f"{start}*"] == []


def test_prefixes_are_long_enough_to_be_unambiguous():
    for line in packaged_lines():
        assert all(len(name) > 4 for name in line.names if name.endswith("*")), line


@pytest.mark.parametrize("name", DANGEROUS)
def test_parameters_that_may_change_a_page_are_kept_on_ordinary_sites(name):
    for value in ("", "7", "2024-01-31", "some-words", "Word"):
        url = f"http://ordinary.example/a?{name}={value}"
        assert canonicalize(url) == url


def test_the_packaged_rules_use_the_known_words_only():
    assert {line.word for line in packaged_lines()} == {"tracking", "sessions", "session-like", "keep"}
    assert {line.word for line in packaged_lines() if line.site != "*"} == {"tracking", "keep"}


def test_the_examples_are_true():
    assert doctest.testmod(sites).failed == 0
