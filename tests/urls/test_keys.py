"""Keys are stable, distinct, and keep a host's URLs together."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.items import Key
from crawler.urls.canonical import canonicalize
from crawler.urls.hosts import host_of
from crawler.urls.keys import host_key, key_of, keys_of

# Parts that combine in many ways, so that keys that ignore a boundary between parts would collide.
URLS = st.tuples(
    st.sampled_from(["http://", "https://"]),
    st.sampled_from(["a", "a.b", "b", "ab", "127.0.0.1", "[::1]", "[::1:8080]", "[1::]"]),
    st.sampled_from(["", ":80", ":443", ":8080", ":808"]),
    st.lists(st.sampled_from(["/", "a", "b", ":", ":8080", "?", "0", "http:", "]", "@", "."]), max_size=5).map("".join),
).map(lambda parts: canonicalize("{}{}{}/{}".format(*parts)))


@pytest.mark.parametrize(
    ("url", "host", "rest"),
    [
        ("http://example.com/", -8402009919309104269, 2863691563404806282),
        ("https://example.com/", -8402009919309104269, -1709472603538856554),
        ("https://example.com:8443/a?b", -8402009919309104269, -3453393407506465123),
        ("http://[::1]:8080/", -250236082614554706, 4703708460150861826),
        ("http://127.0.0.1/", -7347872282016737652, 2863691563404806282),
    ],
)
def test_keys_never_change(url, host, rest):
    assert key_of(url) == Key(host, rest)


def test_the_first_half_of_a_key_depends_on_the_host_alone():
    urls = ["http://example.com/", "https://example.com/", "http://example.com:8080/a", "https://example.com/?b"]
    assert {key.host for key in keys_of(urls)} == {host_key("example.com")}
    assert key_of("http://[::1]:8080/").host == host_key("::1")


def test_the_second_half_of_a_key_depends_on_all_but_the_host():
    variants = [
        "http://a/",
        "https://a/",
        "http://a:8080/",
        "http://a:80800/",
        "http://a/8080",
        "http://a/?",
        "http://a/a",
        "http://a/:8080/",
    ]
    assert len({key.rest for key in keys_of(variants)}) == len(variants)
    assert key_of("http://a:8080/x").rest == key_of("http://[::1]:8080/x").rest


def test_keys_computed_together_equal_those_computed_one_by_one():
    urls = ["http://b.test/1", "http://a.test/1", "http://b.test/2", "http://[::1]/", "http://b.test/1"]
    assert keys_of(urls) == [key_of(url) for url in urls]
    assert keys_of([]) == []


@settings(deadline=None)
@given(st.text(st.characters(codec=None)))
def test_halves_fit_a_signed_64_bit_column(text):
    for half in key_of(text):
        assert -(2**63) <= half < 2**63


@settings(deadline=None, max_examples=500)
@given(st.lists(URLS, max_size=6))
def test_different_urls_have_different_keys_and_one_host_one_half(urls):
    keys = keys_of(urls)
    assert keys == [key_of(url) for url in urls]
    assert len(set(keys)) == len(set(urls))
    assert [key.host for key in keys] == [host_key(host_of(url)) for url in urls]
