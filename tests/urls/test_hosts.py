"""Host, origin, port and registered domain are read from a URL."""

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.urls import hosts
from crawler.urls.hosts import (
    host_of,
    is_address,
    matches,
    origin_of,
    partition_of,
    port_of,
    registered_domain,
    reversed_name,
)


@pytest.mark.parametrize(
    ("url", "host", "origin", "port"),
    [
        ("http://example.com/", "example.com", "http://example.com", 80),
        ("https://example.com/a//b?c=http://d/", "example.com", "https://example.com", 443),
        ("http://example.com:8080/", "example.com", "http://example.com:8080", 8080),
        ("https://127.0.0.1:65535/", "127.0.0.1", "https://127.0.0.1:65535", 65535),
        ("http://[::1]/", "::1", "http://[::1]", 80),
        ("https://[2001:db8::1]:8443/", "2001:db8::1", "https://[2001:db8::1]:8443", 8443),
    ],
)
def test_parts_of_a_url(url, host, origin, port):
    assert (host_of(url), origin_of(url), port_of(url)) == (host, origin, port)


@settings(deadline=None)
@given(st.text(st.characters(codec=None)) | st.from_regex(r"https?://[^/]*"))
def test_no_text_makes_the_host_functions_fail(text):
    assert isinstance(host_of(text), str)
    assert isinstance(origin_of(text), str)
    assert isinstance(port_of(text), int)
    assert isinstance(is_address(text), bool)
    assert isinstance(reversed_name(text), str)
    assert registered_domain(text) is None or isinstance(registered_domain(text), str)
    assert matches(text, ["*"])
    assert 0 <= partition_of(text, 7) < 7


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("example.com", "example.com"),
        ("WWW.Example.COM.", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("smith.github.io", "smith.github.io"),  # the suffix is GitHub's own
        ("a.h1.test", "h1.test"),  # an unknown top-level domain is a suffix
        ("h1.test", "h1.test"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("com", None),
        ("co.uk", None),
        ("github.io", None),
        ("localhost", None),
        ("", None),
        (".", None),
        ("127.0.0.1", None),
        ("127.0.0.1.", None),
        ("::1", None),
    ],
)
def test_registered_domain(host, expected):
    assert registered_domain(host) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [("www.example.com", "com.example.www"), ("localhost", "localhost"), ("10.0.0.1", "10.0.0.1"), ("::1", "::1")],
)
def test_reversed_name(host, expected):
    assert reversed_name(host) == expected


@pytest.mark.parametrize(
    ("host", "patterns", "expected"),
    [
        ("example.com", ["example.com"], True),
        ("example.com", ["other.com", "EXAMPLE.*"], True),
        ("www.example.com", ["*.example.com"], True),
        ("a.b.example.com", ["*.example.com"], True),
        ("example.com", ["*.example.com"], False),
        ("badexample.com", ["*.example.com"], False),
        ("example.com.evil.net", ["*example.com"], False),
        ("exampleXcom", ["example.com"], False),
        ("127.0.0.2", ["127.0.0.?"], True),
        ("::1", ["::1"], True),
        ("example.com", [], False),
        ("example.com\n", ["example.com"], False),
    ],
)
def test_matches(host, patterns, expected):
    assert matches(host, patterns) is expected


def test_the_partition_of_a_key_never_changes():
    assert [partition_of(key, 64) for key in ("example.com", "127.0.0.1", "")] == [51, 12, 2]


def test_partitions_share_the_hosts_evenly():
    owners = [partition_of(f"host{number}.example", 16) for number in range(16_000)]
    assert min(owners.count(partition) for partition in range(16)) > 800


def test_the_examples_are_true():
    assert doctest.testmod(hosts).failed == 0
