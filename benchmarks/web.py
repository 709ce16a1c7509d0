"""Generate the web that is crawled: pages of about 26 KB with 44 links each, each computed from its number.

Closed web: all links lead to pages of the web, and every page can be reached from the seeds. Open web: 30 of the links
of a page lead to URLs that no other page links to; each of them is a page with 30 new URLs of its own.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from zlib import crc32

LINKS = 44  # on a page
NEW_LINKS = 30  # of them, on a page of the open web
OUTWARD = 4  # one link in four leads to another host
SENTENCES = 128  # of a page: about 26 KB with the markup
MAX_HOSTS = 250
NEW = "/new/"  # begins the paths of the open web's other pages

_TEXT = """
about above across after again almost along already always among animal answer around autumn back bark beach become
before begin behind below bird black boat body both branch bread bridge bright bring brother build call carry change
child city clear climb close cloud coast cold colour come common corner country course cover cross dark daughter day
deep different door draw dream dry each early earth east enough evening every eye face fall family far farm father
feather feel few field fire first fish floor flower follow food forest form found friend front garden glass gold grain
grass great green ground grow hand harbour head hear heart heavy high hill hold home horse hour house idea island
journey keep kind king know lake lamp land large last late laugh lead leaf learn leave letter light line listen little
live long look low make many map market meadow measure middle mill minute money month moon morning mother mountain mouth
move music name near never new next night noise north often old open orange other paint paper part path people place
plain plant play point poor quick quiet rain reach read ready red remember rest return rich ride river road rock roof
room root round run sail salt same sand school sea season second seed seven shade shape sharp ship shore short show
silver simple sister sky slow small smell smoke snow soft soil song sound south spring stand star stone storm story
strange stream street strong summer sun table tall teach thick thin think thought through time tower town travel tree
true turn under valley village voice wait walk wall warm watch water wave weather west wheel white wide wild wind window
winter wise wood word work world yellow young
"""
_WORDS = _TEXT.split()
_SECTIONS = ("news", "guides", "people", "places", "notes", "archive", "letters", "maps")
_STYLE = "body{font:16px/1.5 serif;margin:0 auto;max-width:60em}nav ul{display:flex;gap:1em;list-style:none}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Web:
    """A generated web, determined by its size; the port is where it is served."""

    pages: int
    hosts: int
    port: int = 0
    is_open: bool = False
    sentences: int = SENTENCES

    def addresses(self) -> list[str]:
        return [f"127.30.0.{number + 1}" for number in range(self.hosts)]

    def host_of(self, path: str) -> str:
        """Return the address that serves a path; pages are dealt to hosts in turn."""
        if path.startswith(NEW):
            return f"127.30.0.{path.removeprefix(NEW).partition('/')[0]}"
        return f"127.30.0.{(self._number(path) or 0) % self.hosts + 1}"

    def url(self, path: str) -> str:
        return f"http://{self.host_of(path)}:{self.port}{path}"

    def all_pages(self) -> Iterator[str]:
        """Return the paths of the numbered pages."""
        return (page_path(number) for number in range(self.pages))

    def urls(self) -> set[str]:
        return {self.url(path) for path in self.all_pages()}

    def seeds(self) -> list[str]:
        """Return the seeds: one page of each host, or, on an open web, all numbered pages."""
        count = self.pages if self.is_open else min(self.pages, self.hosts)
        return [self.url(page_path(number)) for number in range(count)]

    def links(self, path: str) -> list[str]:
        """Return the links of a page, without duplicates."""
        chance = Random(path)
        new = [self._new_path(path, number) for number in range(NEW_LINKS)] if self.is_open else []
        known = self._neighbours(path, chance, LINKS - len(new))
        links = [self.url(target) for target in (*new, *known)]
        chance.shuffle(links)
        return links

    def body(self, path: str) -> bytes:
        return _html(path, self.links(path), self.sentences)

    def answer(self, path: str, *, compress: bool) -> bytes:
        """Return the HTTP response for a path; robots.txt and everything else that does not exist is a 404."""
        if self._number(path) is None and not (self.is_open and path.startswith(NEW)):
            return _answer("404 Not Found", "text/plain", b"There is nothing here.\n")
        body = self.body(path)
        if compress:
            return _answer("200 OK", "text/html; charset=utf-8", gzip.compress(body, 6, mtime=0), "gzip")
        return _answer("200 OK", "text/html; charset=utf-8", body)

    def _number(self, path: str) -> int | None:
        """Return the number of the page with a path; None if it is not a numbered page."""
        _, _, last = path.removesuffix(".html").rpartition("-")
        number = int(last) if last.isdecimal() else self.pages
        return number if number < self.pages and page_path(number) == path else None

    def _neighbours(self, path: str, chance: Random, count: int) -> list[str]:
        """Choose pages to link to: its children in a tree over all pages, then others, most of them of its own host."""
        number = self._number(path)
        tree = [] if number is None else [child for child in (2 * number + 1, 2 * number + 2) if child < self.pages]
        home = int(self.host_of(path).rpartition(".")[2]) - 1
        inside = range(home, self.pages, self.hosts)
        stay = chance.sample(inside, min(len(inside), count - count // OUTWARD))
        away = chance.sample(range(self.pages), min(self.pages, count))
        chosen = dict.fromkeys((*tree, *stay, *away))
        return [page_path(other) for other in list(chosen)[:count]]

    def _new_path(self, path: str, number: int) -> str:
        """Make a path that only this page links to; the host, mostly its own, is part of the path."""
        home = int(self.host_of(path).rpartition(".")[2])
        host = crc32(f"{path} {number}".encode()) % self.hosts + 1 if number % OUTWARD == 0 else home
        return f"{NEW}{host}/{crc32(path.encode()):08x}/{_slug(number * 7)}-{number}{_last(path)}.html"


def _last(path: str) -> str:
    """Return the end of a path, which is unique to its page."""
    return "." + path.removesuffix(".html").rpartition("-")[2]


def page_path(number: int) -> str:
    return f"/{_SECTIONS[number % len(_SECTIONS)]}/{_slug(number)}-{number}.html"


def _slug(number: int) -> str:
    return f"{_WORDS[number * 5 % len(_WORDS)]}-{_WORDS[number * 11 % len(_WORDS)]}-{_WORDS[number // 3 % len(_WORDS)]}"


@cache
def _sentences() -> list[str]:
    chance = Random(4)
    return [" ".join(chance.choices(_WORDS, k=chance.randint(12, 38))).capitalize() + "." for _ in range(3_000)]


def _html(path: str, links: list[str], sentences: int) -> bytes:
    chance = Random(path)
    texts = chance.choices(_sentences(), k=sentences)
    title = _title(path)
    anchors = [f'<a href="{link}">{_title(link)}</a>' for link in links]
    navigation, inline = anchors[:12], anchors[12:]
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        f'<meta name="description" content="{texts[0]}"><style>{_STYLE}</style></head><body>',
        f"<header><nav><ul>{''.join(f'<li>{anchor}</li>' for anchor in navigation)}</ul></nav></header>",
        f"<main><article><h1>{title}</h1>",
    ]
    for start in range(0, sentences, 4):
        aside = inline.pop() if inline else ""
        first, second, *others = texts[start : start + 4]
        # With the spans a page has an element for every 150 bytes, like most pages.
        spans = f'<span class="lead">{first}</span> <span>{second}</span>'
        parts.append(f'<p class="text">{spans} {" ".join(others)} {aside}</p>')
        if start % 32 == 28:
            parts.append(f'<h2 id="part-{start}">{texts[start][:40]}</h2>')
    rest = "".join(f"<li>{anchor}</li>" for anchor in inline)
    parts += [f"</article></main><footer><ul>{rest}</ul></footer>", "<script>window.ready=true</script></body></html>"]
    return "\n".join(parts).encode()


def _title(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".html").replace("-", " ")


def _answer(status: str, content_type: str, body: bytes, coding: str = "") -> bytes:
    lines = [f"HTTP/1.1 {status}", "Server: farm", f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    if coding:
        lines.append(f"Content-Encoding: {coding}")
    return "\r\n".join([*lines, "", ""]).encode() + body
