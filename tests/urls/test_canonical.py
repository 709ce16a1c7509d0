"""All spellings of a URL have one canonical form."""

import doctest

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.urls import canonical
from crawler.urls.canonical import UrlPolicy, canonicalize, resolve

# Text that resembles URLs enough to reach the deeper rules, and arbitrary text.
PIECES = st.sampled_from(
    [
        *("http:", "https:", "//", "/", "\\", "?", "#", "@", ":", "80", "8080", ".", "..", "%", "%2", "%2e", "%2F"),
        *("%41", "%7e", "%c3%a9", "%%34", "^", "|", " ", "\t", "\n", "\0", "é", "ß", "。", "xn--", "1", "0x7f", "09"),
        *(
            "[::1]",
            "[",
            "]",
            "a",
            "B",
            "com",
            "example.com",
            "~",
            "&",
            "=",
            "+",
            "mailto:",
            "file:",
            "\ud800",
            "\udfff",
        ),
    ]
)
URLISH = st.lists(PIECES, max_size=12).map("".join)
ANY_TEXT = st.text(st.characters(codec=None), max_size=40)
BYTES = st.binary(max_size=40).map(lambda octets: octets.decode("latin-1"))
INPUTS = URLISH | URLISH.map("http://a".__add__) | ANY_TEXT | ANY_TEXT.map("https://".__add__) | BYTES
PLAIN = st.text(st.characters(min_codepoint=0, max_codepoint=127), max_size=30)


@pytest.mark.parametrize(
    "spelling",
    [
        "http://abc.com/~smith/home.html",
        "http://ABC.com/%7Esmith/home.html",
        "http://abc.com:80/~smith/home.html",
        "http://ABC.com:/%7esmith/home.html",
        "http://abc.com/%7Esmith/home.html#top",
        "HTTP://abc.com/./x/../~smith/home.html?",
        "http://smith:secret@abc.com./~smith/home.html",
        " http:\\\\abc.com/~smith\t/home.html\n",
    ],
)
def test_spellings_of_one_url_have_one_canonical_form(spelling):
    assert canonicalize(spelling) == "http://abc.com/~smith/home.html"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.com", "http://example.com/"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://example.com/a//b/", "http://example.com/a/b/"),
        ("http://example.com/?b=2&a=1", "http://example.com/?a=1&b=2"),
        ("http://example.com/??", "http://example.com/??"),  # the query is "?"
        ("http://example.com/a%2fb", "http://example.com/a%2Fb"),  # an escaped slash is not a slash
        ("http://example.com/a%2Eb?%2D%5f%7E", "http://example.com/a.b?-_~"),
        ("http://example.com/%2e%2E/a", "http://example.com/a"),
        ("http://example.com/100%", "http://example.com/100%"),
        ("http://example.com/é?é", "http://example.com/%C3%A9?%C3%A9"),
        ("http://example.com/%252e", "http://example.com/%252e"),  # decoding once more would make another URL
        ("http://example.com/%%32e", "http://example.com/%%32e"),  # decoding would make a new escape
        ("http://example.com/%3%31", "http://example.com/%3%31"),
        ("http://Bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://a.com\\@127.0.0.1/", "http://a.com/@127.0.0.1/"),
        ("http://a.com#@b.com/", "http://a.com/"),
        ("http://a.com@b.com/", "http://b.com/"),
        ("http://example.com.:8080/", "http://example.com:8080/"),
        ("http://[::FFFF:127.0.0.1]:80/", "http://[::ffff:7f00:1]/"),
        # every dot segment is removed, also behind a name that only begins with a dot
        ("http://example.com/a/.git/../b", "http://example.com/a/b"),
        ("http://example.com/a/.git/./b", "http://example.com/a/.git/b"),
        ("http://example.com/a/.b/%2e%2e/c", "http://example.com/a/c"),
        ("http://example.com/a/.b/..", "http://example.com/a/"),
        ("http://example.com/a/...", "http://example.com/a/..."),
        ("http://example.com/.well-known/security.txt", "http://example.com/.well-known/security.txt"),
        ("http://example.com/a?/../b", "http://example.com/a?/../b"),
    ],
)
def test_canonical_form(url, expected):
    assert canonicalize(url) == expected


@pytest.mark.parametrize(
    "address",
    ["2130706433", "0x7f000001", "017700000001", "127.1", "0x7f.0.0.1", "①②⑦.0.0.1", "１２７。0。0。1", "127.0.0.1."],
)
def test_disguised_ip_addresses_are_written_plainly(address):
    assert canonicalize(f"http://{address}/") == "http://127.0.0.1/"


@pytest.mark.parametrize(
    "url",
    [
        *("", "/a", "a b", "http://", "http:///", "https://?q", "http://a b/", "http://a:99999/", "http://[::1/"),
        *("mailto:a@b.com", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ftp://a.com/"),
        *("about:blank", "blob:http://a.com/1", "view-source:http://a.com/", "ws://a.com/", "tel:1", "httpx://a/"),
        *(
            "http://./",
            "http://../",
            "http://a..com/",
            "http://.com/",
            "http://a../",
        ),  # an empty label cannot be resolved
        f"http://{'a.' * 127}com/",  # longer than a name can be
        "http://1.2.3.4.5/",
    ],
)
def test_urls_that_can_never_be_visited_have_no_canonical_form(url):
    assert canonicalize(url) is None


def test_the_longest_host_names_may_have_a_port():
    host = "a." * 125 + "com"
    assert canonicalize(f"http://{host}:8080/") == f"http://{host}:8080/"


@pytest.mark.parametrize(
    ("url", "base", "expected"),
    [
        ("", "http://a.com/b?c#d", "http://a.com/b?c"),
        ("?x", "http://a.com/b?c", "http://a.com/b?x"),
        ("//b.com", "https://a.com/", "https://b.com/"),
        ("x^y", "http://a.com/é/", "http://a.com/%C3%A9/x%5Ey"),
        ("x", "http://bücher.example/", "http://xn--bcher-kva.example/x"),
        ("http://b.com/", "no base", None),  # the standard refuses such a base
        ("x", "mailto:a@b.com", None),
        ("x", "http://a.com/\ud800/", "http://a.com/%EF%BF%BD/x"),
        (".b/../c", "http://a.com/d/", "http://a.com/d/c"),
        ("../c", "http://a.com/d/.b/", "http://a.com/d/c"),
        ("%2e%2e/c", "http://a.com/d/e/", "http://a.com/d/c"),
        ("a%20b:c", "http://a.com/d/", "http://a.com/d/a%20b:c"),
        ("//%61.com/", "https://b.com/", "https://a.com/"),
        ("/%61", "http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/a"),
    ],
)
def test_links_are_resolved_against_their_base(url, base, expected):
    assert canonicalize(url, base) == expected


def test_half_a_surrogate_pair_is_written_as_the_standard_writes_it():
    assert resolve("http://a.com/\ud83d\ude00") == resolve("http://a.com/😀")
    assert resolve("http://a.com/\ud83d") == "http://a.com/%EF%BF%BD"


def test_very_long_urls_are_canonicalized():
    long = "http://a.com/" + "x" * 3_000_000
    assert canonicalize(long) == long
    assert canonicalize("http://a.com/" + "%7e" * 100_000) == "http://a.com/" + "~" * 100_000


@settings(deadline=None)
@given(INPUTS, st.none() | INPUTS)
@example("http://1.2../", None)
@example("http://a/%%34%31", None)
@example("http://a/%4%31", None)
def test_canonicalizing_twice_changes_nothing(url, base):
    once = canonicalize(url, base)
    assert once is None or canonicalize(once) == once


@settings(deadline=None)
@given(st.lists(PLAIN | INPUTS, max_size=4), PLAIN | INPUTS)
@example(["http://a.com/b", "http://a.com/b#c", "http://A.com/b"], "http://a.com/")
@example(["http://a.com/b"], "no base")
def test_earlier_urls_do_not_change_the_result_of_a_policy(urls, base):
    used = UrlPolicy()
    for given_base in ("http://a.com/", base, "http://a.com/"):
        for url in urls:
            assert used.canonicalize(url, given_base) == UrlPolicy().canonicalize(url, given_base)


@settings(deadline=None)
@given(INPUTS, st.none() | INPUTS)
def test_resolving_twice_changes_nothing(url, base):
    once = resolve(url, base)
    assert once is None or resolve(once) == once


DOTTED = st.lists(
    st.sampled_from(["/", "/", "a", ".", "..", ".b", "%2e", "?", "#", ";", "\\", "%41", "//", "c"]), max_size=10
).map("".join)


@settings(deadline=None, max_examples=1_000)
@given(
    PLAIN | URLISH.filter(str.isascii) | DOTTED | DOTTED.map("http://a.com/".__add__),
    st.sampled_from([None, "http://a.com/b/c?d", "https://xn--bcher-kva.example/%5E", "http://a.com/b/.c/d"]),
)
@example("http://a.com/b/.c/../d", None)
@example(".c/../d", "http://a.com/b/")
def test_the_fast_parser_agrees_with_the_standard_one(url, base):
    try:
        expected = ada_url.join_url(base, url) if base else ada_url.normalize_url(url)
    except ValueError:
        expected = None
    assert resolve(url, base) == expected


def test_the_examples_are_true():
    assert doctest.testmod(canonical).failed == 0
