"""The web that the fixture was crawled from: every kind of visit and verdict that a store has, on few pages."""

from __future__ import annotations

import random
from collections.abc import Mapping

from tests.proofs.sites.web import HTML, Site, rules
from tests.webgraph.answers import Answer, moved, notice, zipped

PORT = 21_917  # fixed, because URLs contain it; below the system's ephemeral ports
PAGES = 24  # of each host
_WORDS = [f"{first}{second}" for first in ("ba", "ce", "di", "fo", "gu", "la", "me") for second in ("ri", "ton", "sal")]


def hosts(port: int = PORT) -> Mapping[str, Site]:
    """Return three hosts that link to each other: one with a sitemap and a feed, one with rules, one with odd pages."""
    return {"lists.test": _lists(port), "rules.test": _rules(port), "odd.test": _odd(port)}


def seeds(port: int = PORT) -> list[str]:
    return [f"http://{host}:{port}/" for host in hosts(port)]


def _prose(name: str, count: int) -> str:
    chance = random.Random(name)
    return " ".join(chance.choice(_WORDS) for _ in range(count)) + "."


def _page(name: str, links: list[str], *, body: str = "", head: str = "", etag: str = "") -> Answer:
    anchors = "".join(f'<li><a href="{link}">To {link.rpartition("/")[2] or "start"}</a>' for link in links)
    text = body or "".join(f"<p>{_prose(f'{name}{part}', 60)}" for part in range(3))
    html = f'<!DOCTYPE html><html lang="en"><title>{name}</title>{head}<h1>{name}</h1>{text}<ul>{anchors}</ul>'
    return Answer(status=200, headers=(HTML, *((("ETag", etag),) if etag else ())), body=html.encode())


def _chain(host: str, others: list[str], *, etags: bool = False) -> dict[str, Answer]:
    """Return pages of which each links to two more, so that half of them stay unknown for long."""
    pages = {"/": _page(host, ["/1.html", *others])}
    for number in range(1, PAGES):
        links = [f"/{child}.html" for child in (2 * number, 2 * number + 1) if child < PAGES]
        pages[f"/{number}.html"] = _page(f"{host} {number}", links, etag=f'"{number}"' if etags else "")
    return pages


def _lists(port: int) -> Site:
    here = f"http://lists.test:{port}"
    pages = _chain("lists.test", [f"http://rules.test:{port}/", "/feed.xml"], etags=True)
    pages["/hidden.html"] = _page("Only in the sitemap", [])
    pages["/news.html"] = _page("Only in the feed", [])
    urls = "".join(
        f"<url><loc>{here}{path}</loc><lastmod>2026-10-01</lastmod></url>" for path in ("/3.html", "/hidden.html")
    )
    pages["/sitemap.xml"] = Answer(
        status=200,
        headers=(("Content-Type", "application/xml"),),
        body=f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'.encode(),
    )
    item = f"<item><title>News</title><link>{here}/news.html</link><guid>1</guid></item>"
    pages["/feed.xml"] = Answer(
        status=200,
        headers=(("Content-Type", "application/rss+xml"),),
        body=f'<rss version="2.0"><channel><title>Feed</title><link>{here}</link>{item}</channel></rss>'.encode(),
    )
    pages["/"] = _page(
        "lists.test",
        ["/1.html", f"http://rules.test:{port}/"],
        head='<link rel="alternate" type="application/rss+xml" href="/feed.xml">',
    )
    return Site(pages, rules(f"User-agent: *\nAllow: /\nSitemap: {here}/sitemap.xml\n"))


def _rules(port: int) -> Site:
    pages = _chain("rules.test", [f"http://odd.test:{port}/", "/private/1.html"])
    pages["/private/1.html"] = _page("Forbidden", [])
    return Site(pages, rules("User-agent: *\nDisallow: /private/\nCrawl-delay: 0.1\n"))


def _odd(port: int) -> Site:
    """Return odd pages: copies, near copies, redirects, errors, noindex, another encoding, compression, plain text."""
    text = "".join(f"<p>{_prose(f'near{part}', 80)}" for part in range(5))
    special: dict[str, Answer] = {
        "/copy.html": _page("Copied", [], body=text),
        "/again/copy.html": _page("Copied", [], body=text),
        "/near.html": _page("Nearly", [], body=text + "<p>One more sentence stands at the end of this page."),
        "/moved.html": moved(301, "/target.html"),
        "/target.html": _page("Where a redirect leads", []),
        "/loop.html": moved(302, "/loop.html"),
        "/gone.html": notice(410, "Gone."),
        "/broken.html": notice(500, "Broken."),
        "/secret.html": notice(403, "No."),
        "/noindex.html": _page("For no index", [], head='<meta name="robots" content="noindex">'),
        "/canonical.html": _page("Canonical", [], head='<link rel="canonical" href="/copy.html">'),
        "/packed.html": zipped(_page("Packed", ["/target.html"])),
        "/latin.html": Answer(
            status=200,
            headers=(("Content-Type", "text/html; charset=iso-8859-1"),),
            body=f"<title>Caf\xe9</title><p>{_prose('latin', 60)} \xe9\xe8\xea".encode("latin-1"),
        ),
        "/notes.txt": Answer(status=200, headers=(("Content-Type", "text/plain"),), body=_prose("notes", 70).encode()),
        "/table.csv": Answer(status=200, headers=(("Content-Type", "text/csv"),), body=b"a,b\n1,2\n3,4\n" * 12),
        "/image": Answer(status=200, headers=(("Content-Type", "image/png"),), body=bytes(400)),
    }
    others = [*special, "/missing.html", f"http://lists.test:{port}/5.html", f"http://outside.invalid:{port}/"]
    return Site(_chain("odd.test", others) | special)
