"""Compare links with the tests of html5lib, of the extractors of Heritrix and Scrapy, and of w3lib."""

from __future__ import annotations

import base64
import gzip
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import html5lib

from crawler.parse.charset import decode
from crawler.parse.html import parse_html
from crawler.urls.canonical import canonicalize, resolve
from tests.conformance.scores import Score, score
from tests.conftest import SHARED

DATA = SHARED / "html"
PAGES = (*sorted((SHARED / "extraction").glob("*/*.html.gz")), *sorted((DATA / "big_pages").glob("*.html.gz")))
URL = "http://page.example/directory/page"
Results = Iterator[tuple[str, bool]]

_ASIDE = {
    "Scrapy": {"options": (18, "their option chooses elements, attributes or parts of a page: ours are fixed")},
    "Heritrix": {"img": (1, "images are no links: they hold no text")},
}
_KNOWN = {
    "Heritrix": {
        '<frame name="main"src="http://expected.example.com/"> ': (
            1,
            "a <frame> outside of a <frameset> is none, by the standard",
        )
    },
    "base, w3lib": {
        "TestGetBaseUrl::test_base_url_in_script": (
            2,
            "we run no scripts, so the content of <noscript> counts",
        )
    },
}


def scores() -> list[Score]:
    return [scored(name) for name in SUITES]


def scored(name: str) -> Score:
    needed = 1.0 if "html5lib" in name else 0.8
    return score(f"links: {name}", needed, SUITES[name](), _KNOWN.get(name), _ASIDE.get(name))


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def agrees(hrefs: Iterable[str], body: bytes, url: str, content_type: str | None = None) -> bool:
    """Whether all of these are links of the page, and no other <a> is."""
    page = parse_html(body, url, content_type)
    base = page.base or url
    wanted = {link for href in hrefs if len(href) <= 65_536 and (link := canonicalize(href, base)) is not None}
    found = {link.url for link in page.links}
    return wanted <= found and {link.url for link in page.links if link.tag == "a"} <= wanted


def own_trees() -> Results:
    for row in rows("html5lib_tree"):
        yield (
            row["file"],
            agrees(row["a_hrefs"], row["data"].encode("utf-8", "replace"), URL, "text/html; charset=utf-8"),
        )


def real_pages() -> Results:
    for path in PAGES:
        body = gzip.decompress(path.read_bytes())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = html5lib.parse(decode(body).text, namespaceHTMLElements=False)
        hrefs = [element.get("href") for element in tree.iter("a") if element.get("href") is not None]
        yield path.name, agrees(hrefs, body, URL)


def heritrix() -> Results:
    for row in rows("heritrix_links"):
        page = parse_html(row["html"].encode(), row["base"])
        wanted = {canonicalize(link, row["base"]) for link in row["links"]}
        yield "img" if "<img" in row["html"].lower() else row["html"], wanted == {link.url for link in page.links}


def scrapy() -> Results:
    for row in rows("scrapy_links"):
        options = row["kwargs"]
        body = base64.b64decode(row["body_b64"])
        if set(options) - {"allow", "deny", "unique", "canonicalize", "allow_domains", "deny_extensions"}:
            yield "options", False
            continue
        page = parse_html(body, row["url"], f"text/html; charset={row['encoding']}")
        found = {link.url for link in page.links if link.tag in ("a", "area") and _chosen(link.url, options)}
        yield row["test"], found == {canonicalize(link["url"]) for link in row["links"]}


def _chosen(url: str, options: dict[str, Any]) -> bool:
    """Whether their other options keep a URL; file types are left to our scope."""
    allow, deny, domains = (_listed(options.get(name)) for name in ("allow", "deny", "allow_domains"))
    if url.endswith((".jpg", ".png", ".gif", ".pdf")) and "deny_extensions" not in options:
        return False
    return (
        (not allow or any(re.search(pattern, url) for pattern in allow))
        and not any(re.search(pattern, url) for pattern in deny)
        and (not domains or any(f"{domain}/" in url for domain in domains))
    )


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or [])


def w3lib(function: str) -> Results:
    for row in rows("w3lib_base_and_refresh"):
        if row["fn"] != function:
            continue
        text, url, encoding = _arguments(row)
        page = parse_html(text, url, f"text/html; charset={encoding}")
        if function == "get_base_url":
            yield row["test"], (page.base or url) == (resolve(row["result"]) or url)
        else:
            refreshes = [link.url for link in page.links if link.rel == "refresh"][:1]
            wanted = row["result"][1]
            yield row["test"], refreshes == ([canonicalize(wanted)] if wanted else [])


def _arguments(row: dict[str, Any]) -> tuple[bytes, str, str]:
    values = [bytes.fromhex(value["bytes_hex"]) if isinstance(value, dict) else value for value in row["args"]]
    text, url, encoding = (*values, "", "utf-8")[:3] if len(values) < 3 else values[:3]
    url = (url.decode() if isinstance(url, bytes) else url) or URL
    encoding = row["kwargs"].get("encoding", encoding) or "utf-8"
    return (text if isinstance(text, bytes) else text.encode(encoding)), url, encoding


SUITES: dict[str, Callable[[], Results]] = {
    "html5lib's own trees": own_trees,
    "html5lib on real pages": real_pages,
    "Scrapy": scrapy,
    "Heritrix": heritrix,
    "base, w3lib": partial(w3lib, "get_base_url"),
    "refresh, w3lib": partial(w3lib, "get_meta_refresh"),
}
