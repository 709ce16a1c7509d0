"""A proxy carries all requests through tunnels to addresses that were checked here; it never resolves a name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.crawl.connect_proxy import connect_proxy
from tests.crawl.pages import Pages, pages_served, seeds_of
from tests.crawl.runner import ROOT, command, rows, scrapy

pytestmark = pytest.mark.crawl

SITE: Pages = {
    "a.test": {"/": '<title>Top</title><a href="/one">1</a><a href="http://b.test/">2</a>', "/one": "<p>one"},
    "b.test": {"/": "<p>b"},
}


def test_every_request_goes_through_a_tunnel_to_a_checked_address(tmp_path: Path) -> None:
    with pages_served(SITE, tmp_path) as (settings, requests), connect_proxy("me:secret") as proxy:
        port = settings.pop("port")
        given = settings | {"PROXY_URL": f"http://me:secret@127.0.0.1:{proxy.port}", "LOG_LEVEL": "INFO"}
        ended = scrapy("crawl", "web", "-a", f"seeds={seeds_of(SITE, port)}", **given)
        told = scrapy("status", **settings).stdout
    assert ended.returncode == 0, ended.stderr
    assert {"a.test/robots.txt", "a.test/", "a.test/one", "b.test/"} <= set(requests)
    assert proxy.asked
    assert {line.split()[1].rpartition(":")[0].replace("127.0.0.1", "") for line in proxy.asked} == {""}  # never a name
    assert {line.split()[0] for line in proxy.asked} == {"CONNECT"}
    for text in (ended.stderr, ended.stdout, told):
        assert "secret" not in text
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM crawl WHERE value LIKE '%secret%'") == [(0,)]
    heads = rows(tmp_path / "crawl", "SELECT DISTINCT address FROM hosts WHERE visits > 0")
    assert heads == [("127.0.0.1",)]  # the clock of an address is that of the server, not of the proxy


def test_private_addresses_are_refused_with_a_proxy_too(tmp_path: Path) -> None:
    with pages_served(SITE, tmp_path) as (settings, requests), connect_proxy() as proxy:
        port = settings.pop("port")
        given = settings | {
            "PROXY_URL": f"http://127.0.0.1:{proxy.port}",
            "INTRANET_HOSTS": "",
            "INTRANET_NETWORKS": "",
        }
        ended = scrapy("crawl", "web", "-a", f"seeds={seeds_of(SITE, port)}", **given)
    assert (ended.returncode, requests, proxy.asked) == (3, [], [])


def test_a_proxy_that_refuses_is_the_cause(tmp_path: Path) -> None:
    with pages_served(SITE, tmp_path) as (settings, requests), connect_proxy(refuses=True) as proxy:
        port = settings.pop("port")
        given = settings | {"PROXY_URL": f"http://127.0.0.1:{proxy.port}"}
        ended = scrapy("crawl", "web", "-a", f"seeds={seeds_of(SITE, port)}", CRAWL_MAX_SECONDS=10, **given)
    assert (ended.returncode, requests) == (3, [])
    assert "by the proxy: " in ended.stderr


@pytest.mark.parametrize("url", ["proxy.example:8080", "socks5h://p.example:1", "http://p.example", "ftp://x:1"])
def test_what_is_no_proxy_is_refused(url: str, tmp_path: Path) -> None:
    ended = scrapy("crawl", "web", CRAWL_DIR=tmp_path / "crawl", PROXY_URL=url)
    assert ended.returncode == 78
    assert "PROXY_URL" in ended.stderr


def test_proxies_of_the_environment_are_said_to_be_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pages_served(SITE, tmp_path) as (settings, requests):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        words = command("crawl", "web", "-a", f"seeds={seeds_of(SITE, settings.pop('port'))}", **settings)
        ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0
    assert "a.test/one" in requests
    assert "http_proxy of the environment: not used; PROXY_URL" in ended.stderr
