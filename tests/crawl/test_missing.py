"""Soft 404s and login pages are recognised."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crawl.pages import Answer, Pages, pages_served, seeds_of
from tests.crawl.runner import rows, scrapy

pytestmark = pytest.mark.crawl

SORRY = (
    "<title>Oops</title><p>We are very sorry, but the page {} that you have asked for cannot be found on this server. "
    * 3
)


class Everything(dict[str, str | Answer]):
    """The pages of a host that answers every path with status 200."""

    def get(self, path: str, default: object = None) -> str | Answer:  # type: ignore[override]
        return self[path] if path in self else SORRY.replace("{}", path)


def reasons(directory: Path) -> dict[str, str]:
    found = rows(directory, "SELECT url, name FROM urls JOIN reasons ON code = last_reason WHERE kind IN (0, 4)")
    return {"/" + str(url).split("/", 3)[3]: str(name) for url, name in found}


def test_pages_that_a_host_serves_for_missing_urls_are_soft_404s(tmp_path: Path) -> None:
    texts = {
        f"/{n}": f"<p>Text number {n} about something else entirely, with words of its own {n * 'and more '}"
        for n in range(8)
    }
    links = "".join(f'<a href="{path}">x</a>' for path in [*texts, *(f"/dead/{n}" for n in range(5))])
    site: dict[str, str | Answer] = {"/robots.txt": "", "/": links, **texts, "/last": "<p>Last"}
    site["/7"] = texts["/7"] + "".join(f'<a href="/late/{n}">x</a>' for n in range(20)) + '<a href="/last">y</a>'
    pages: Pages = {"a.test": Everything(site), "b.test": {"/": "<p>b", **{f"/{n}": "<p>{n}" for n in range(3)}}}
    with pages_served(pages, tmp_path) as (settings, requests):
        settings |= {"PROBE_AFTER": 3, "POLITENESS_MIN_DELAY": 0.1, "CONTENT_PROCESSES": 1}
        result = scrapy("crawl", "web", "-a", f"seeds={seeds_of(pages, settings['port'])}", **settings)
        assert result.returncode == 0, result.stderr
        again = scrapy("crawl", "web", **settings)
        assert again.returncode == 0
    found = reasons(tmp_path / "crawl")
    soft = {path for path, reason in found.items() if reason == "SOFT_404"}
    assert soft >= {f"/late/{n}" for n in range(20)}
    assert all(path.startswith(("/late/", "/dead/")) for path in soft)
    assert found["/last"] == found["/"] == "OK"
    probes = rows(tmp_path / "crawl", "SELECT url, state, reason FROM urls WHERE kind = 4")
    assert len(probes) == 1  # b.test has too few pages for a probe
    assert (
        sum(
            str(probes[0][0]).endswith(entry.partition("/")[2])
            for entry in requests
            if entry.startswith("a.test/") and len(entry) > 20
        )
        == 1
    )
    exported = scrapy("export", "--to", "jsonl", **settings).stdout
    assert "/late/" not in exported
    assert (
        "answers with status 200 for pages that do not exist" in scrapy("status", "--host", "a.test", **settings).stdout
    )


def test_a_page_with_little_but_a_password_field_is_a_login_wall(tmp_path: Path) -> None:
    form = "<h1>Members only</h1><form><input name=u><input type=PASSWORD name=p></form>"
    pages: Pages = {
        "a.test": {
            "/": '<a href="/club">c</a><a href="/shop">s</a>',
            "/club": form,
            "/shop": form + "<p>" + "many different words about what is sold here " * 20,
        }
    }
    with pages_served(pages, tmp_path) as (settings, _):
        result = scrapy("crawl", "web", "-a", f"seeds={seeds_of(pages, settings['port'])}", **settings)
        assert result.returncode == 0, result.stderr
    assert reasons(tmp_path / "crawl") == {"/": "OK", "/club": "LOGIN_WALL", "/shop": "OK"}
