"""Scope, robots.txt, address guard and connection read the same host and port from a URL, as do other parsers.

URLs that confuse parsers do so before canonicalization; on canonical URLs all parsers must agree.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

import ada_url
import hyperlink
import pycurl
import pytest
import urllib3.util
import yarl
from hypothesis import given, settings
from hypothesis import strategies as st
from w3lib.url import safe_url_string

from crawler.fetch.addresses import AddressGuard
from crawler.fetch.connections import connect_to
from crawler.fetch.dns import Resolver
from crawler.fetch.handles import Handles
from crawler.fetch.request import HttpRequest, request_for
from crawler.items import Reason
from crawler.urls.canonical import canonicalize
from crawler.urls.hosts import host_of, is_address, origin_of, port_of
from crawler.urls.keys import host_key, key_of, keys_of
from crawler.urls.scope import BAD_PORTS
from tests.defaults import DEFAULTS, urls_with

BASE = "https://base.test:8443/x"
PLAIN_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:]+")

SCHEMES = st.sampled_from(
    [
        "http://",
        "https://",
        "HTTP://",
        "http:\\\\",
        "https:/",
        "http:",
        "ht\ntp://",
        " http://",
        "//",
        "/\\",
        "https:\t//",
    ]
)
USERS = st.sampled_from(
    [
        *("", "", "", "user@", "user:pass@", "@", "@@", "a.com@b.com@", "%61:%40@", "[::1]@", "a.com;@", "a.com:80@"),
        *("a.com\\@", "a.com#@", "a.com?@", "a.com/@", "a.com%40", "a.com%2f@", "a.com\t@", "a.com\n@", "ａ＠"),
    ]
)
WHOLE_HOSTS = st.sampled_from(
    [
        *("a.com", "A.Com", "www.b.test", "localhost", "a_b.com", "-a-.com", "base.test", "bücher.example", "faß.de"),
        *("127.0.0.1", "127.1", "2130706433", "0x7f.1", "0X7F000001", "017700000001", "0177.0.0.1", "127.0.0.1.", "0"),
        *("１２７．０．０．１", "①②⑦。0｡0.1", "%31%32%37.1", "0x7f.0x0.0.0x1", "256.1", "1.2.3.4.5", "0x", "1e3"),
        *("[::1]", "[::FFFF:127.0.0.1]", "[::127.0.0.1]", "[0:0::1]", "[fe80::1%25lo]", "[1:2::3:4]", "[::1].", "::1"),
        *("xn--bcher-kva.example", "xn--a", "XN--ls8h.test", "ａ。ｃｏｍ", "Ｋ.com", "ſ.com", "℀.com", "a\u00adb.com"),
    ]
)
HOST_PIECES = st.sampled_from(
    [
        *("a", "B", "com", ".", ".", "..", "-", "_", "~", "0", "1", "09", "0x", "%61", "%2e", "%2E%2e", "%41", "%7f"),
        *("%00", "%0d%0a", "%5c", "%40", "%23", "%2f", "%3a", "%25", "%", "\t", "\n", "\r", " ", "\0", "\u00ad", "é"),
        *(
            "\u200d",
            "\u3002",
            "\uff0e",
            "\uff0f",
            "\u2024",
            "\u212a",
            "xn--",
            "!",
            "'",
            '"',
            "{",
            "`",
            "*",
            "|",
            "^",
            "$",
        ),
        *("(", "+", ",", ";", "=", "&", "[", "]", "<", "\ud800", "😀", "Ⅷ", "㏂"),
    ]
)
HOSTS = WHOLE_HOSTS | st.tuples(WHOLE_HOSTS, HOST_PIECES, WHOLE_HOSTS | st.just("")).map("".join)
HOSTS |= st.lists(HOST_PIECES, min_size=1, max_size=5).map("".join)
PORTS = st.sampled_from(
    [
        *("", "", "", ":", ":80", ":443", ":8080", ":0", ":00080", ":65535", ":65536", ":８０", ":8\t0", ":-1"),
        *(":80:81", ":+80", ": 80", ":80.", ":8%30", ":08443"),
    ]
)
TAILS = st.sampled_from(
    [
        *("", "/", "\\", "/@b.test/", "\\@b.test", "?@b.test", "#@b.test", "/a:81", "/\\\\b.test", "//b.test:81/"),
        *(";@b.test", "?http://b.test:81/", "/[::2]:81/", "/%2f%2fb.test", "\t/x", "?[", "#]", "/..//b.test"),
    ]
)
TRICKS = st.tuples(SCHEMES, USERS, HOSTS, PORTS, TAILS).map("".join)


@pytest.mark.parametrize(
    ("trick", "host", "port"),
    [
        ("http://a.com\\@127.0.0.1/", "a.com", 80),
        ("http://a.com#@b.com/", "a.com", 80),
        ("https://a.com?@b.com/", "a.com", 443),
        ("https://a.com@b.com:8443/", "b.com", 8443),
        ("http://a.com:80@b.com:81@c.com/", "c.com", 80),
        ("http://a.com%2f@b.com/", "b.com", 80),
        ("http://a.\tc\nom:8\t0\n80/", "a.com", 8080),
        ("http:\\\\a.com\\b.com/", "a.com", 80),
        ("http:a.com", "a.com", 80),
        ("https:a.com", "base.test", 8443),
        ("http://ａ。ｃｏｍ:00081/", "a.com", 81),
        ("http://%61%2ecom./", "a.com", 80),
        ("http://0x7f.1:443/", "127.0.0.1", 443),
        ("https://017700000001:443/", "127.0.0.1", 443),
        ("http://①②⑦｡1/", "127.0.0.1", 80),
        ("http://user@[::FFFF:127.0.0.1]:82/", "::ffff:7f00:1", 82),
        ("//b.com\\@a.com", "b.com", 443),
        ("\\/b.com:81", "b.com", 81),
        ("/\\@b.com", "b.com", 443),
        ("/@b.com", "base.test", 8443),
        ("https:@b.com", "base.test", 8443),
    ],
)
def test_a_url_that_confuses_parsers_has_one_host(trick, host, port):
    url = canonicalize(trick, BASE)
    assert set(readings(url, trick).values()) == {(host, port)}


@settings(deadline=None, max_examples=500)
@given(TRICKS.filter(lambda trick: canonicalize(trick, BASE) is not None))
def test_all_parsers_read_the_same_host_from_a_url(trick):
    url = canonicalize(trick, BASE)
    found = readings(url, trick)
    assert len(set(found.values())) == 1, (url, found)
    if PLAIN_HOST.fullmatch(host_of(url)) and port_of(url):
        assert {"host header", "libcurl"} <= found.keys(), f"{url} cannot be requested"


@settings(deadline=None, max_examples=300)
@given(TRICKS.filter(lambda trick: canonicalize(trick, BASE) is not None))
def test_scope_keys_and_guard_use_the_host_that_is_contacted(trick):
    url = canonicalize(trick, BASE)
    host = urlsplit(url).hostname
    assert key_of(url).host == keys_of([url])[0].host == host_key(host)
    if port_of(url) not in BAD_PORTS:
        refusal = urls_with(mode="hosts").new_scope([url]).rejection(url)
        assert refusal is None or refusal.reason is Reason.UNFILLED  # it contains {{
    elsewhere = urls_with(mode="hosts").new_scope([f"http://not.{host}:{port_of(url)}/", "http://elsewhere.test/"])
    refusal = elsewhere.rejection(url)
    assert refusal is not None
    assert refusal.reason in (Reason.OUT_OF_SCOPE, Reason.PORT_DENIED)
    answer = Resolver(unknown, {}, lifetimes=DEFAULTS.dns.lifetimes).cached(host_of(url), 0.0)
    addresses = answer.addresses if answer else ()
    assert is_address(host_of(url)) is bool(addresses)
    for address in addresses:
        assert ip_address(address) == ip_address(host)
        assert AddressGuard().refusal(host_of(url), address) == AddressGuard().refusal("a.com", str(ip_address(host)))


@settings(deadline=None, max_examples=300)
@given(TRICKS.filter(lambda trick: canonicalize(trick, BASE) is not None))
def test_an_origin_and_its_robots_url_are_canonical(trick):
    url = canonicalize(trick, BASE)
    robots = f"{origin_of(url)}/robots.txt"
    assert url.startswith(f"{origin_of(url)}/")
    assert canonicalize(robots) == robots
    assert key_of(robots).host == key_of(url).host


def readings(url: str, trick: str) -> dict[str, tuple[str | None, int | None]]:
    """Return host and port as each part of the crawler and each other parser reads them, unless it refuses the URL."""
    meant = ada_url.URL(trick.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"), BASE)
    found = {
        "a browser": parts(f"{meant.protocol}//{meant.host}"),
        "address guard, scope": (host_of(url), port_of(url)),
        "origin": parts(origin_of(url)),
        "robots": parts(f"{origin_of(url)}/robots.txt"),
        "urllib": parts(url),
        "urllib3": of_urllib3(url),
        "yarl": (yarl.URL(url, encoded=True).raw_host, yarl.URL(url, encoded=True).port),
        "hyperlink": (hyperlink.URL.from_text(url).host, hyperlink.URL.from_text(url).port),
        "w3lib": parts(safe_url_string(url)),
    }
    try:
        request = request_for(url, "GET", (), ())
    except ValueError:
        return found
    scheme = url.partition(":")[0]
    found["host header"] = parts(f"{scheme}://{request.headers[0].decode().removeprefix('Host: ')}/")
    found["request"] = parts(request.origin.decode())
    libcurl = of_libcurl(request, host_of(url), port_of(url))
    return found if libcurl is None else found | {"libcurl": libcurl}


def parts(url: str) -> tuple[str | None, int]:
    """Return host and port as the standard library reads them."""
    split = urlsplit(url)
    port = {"http": 80, "https": 443}[split.scheme] if split.port is None else split.port
    return (split.hostname or "").removesuffix("."), port


def of_urllib3(url: str) -> tuple[str | None, int]:
    parsed = urllib3.util.parse_url(url)
    port = {"http": 80, "https": 443}[parsed.scheme or ""] if parsed.port is None else parsed.port
    return (parsed.host or "").strip("[]"), port


def of_libcurl(request: HttpRequest, host: str, port: int) -> tuple[str | None, int | None] | None:
    """Return host and port if libcurl would connect to these, (None, None) if to others, None if it refuses.

    CONNECT_TO sends this host and port to one address and all others to another; no request is sent.
    """
    ways: list[object] = []
    handles = Handles(keeps_connections=False, verify_tls=False, ca_file=None)
    handle = handles.lend(request, connect_to("127.0.0.1"))
    name = f"[{host}]" if ":" in host else host
    handle.setopt(pycurl.CONNECT_TO, [f"{name}:{port}:127.0.0.1:1", "::127.0.0.1:2"])

    def stop(_purpose: int, address: object) -> int:
        ways.append(address.addr)  # type: ignore[attr-defined]
        return pycurl.SOCKET_BAD

    handle.setopt(pycurl.OPENSOCKETFUNCTION, stop)
    with pytest.raises(pycurl.error):
        handle.perform()
    handle.close()
    if not ways:
        return None
    return (host, port) if ways == [("127.0.0.1", 1)] else (None, None)


def unknown(name, callback):
    raise AssertionError(f"{name} is looked up")
