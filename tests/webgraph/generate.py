"""The links, documents and answers of the synthetic web.

Reachability. Page k of a host links to pages b·k+1 … b·k+b, so a host's pages form a tree under its front page; the
front pages form such a tree under the first host's. All other links are additional. No page links to a *hidden* page:
only a redirect leads to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256

from tests.webgraph.answers import Answer, flawed, moved, notice, zipped
from tests.webgraph.chance import pick, rolls, span
from tests.webgraph.layout import LONG_CHAIN, Host, Layout, Page
from tests.webgraph.prose import document, text, words
from tests.webgraph.spelling import spelled

ROBOTS = "/robots.txt"
MOVED_ROBOTS = "/rules/robots.txt"  # where a host whose robots.txt redirects keeps its rules

_HOST_BRANCHES = 3


@dataclass(frozen=True)
class Web(Layout):
    """The layout with its links, its documents, and an answer to every request."""

    def body(self, url: str) -> bytes:
        """Return a page's document, before any coding."""
        return self._document(self.page_at(url))

    def digest(self, url: str) -> str:
        """Return the SHA-256 of a page's document, in hexadecimal."""
        return sha256(self.body(url)).hexdigest()

    # Links

    def _links(self, page: Page) -> list[str]:
        links = [*self._tree_links(page), *self._special_links(page)]
        return links + [self._random_link(page, number) for number in range(self.links - len(links))]

    def _tree_links(self, page: Page) -> Iterator[str]:
        """Return the links that make every page reachable."""
        here = self._hosts[page.host]
        first = page.number * here.branches + 1
        for number in range(first, min(first + here.branches, here.size)):
            child = self._page(page.host, number)
            if not child.is_hidden:
                yield self.page_url(child)
            if child.hops:
                yield self._hop_url(child, child.hops)
        if page.number == 0:
            first = page.host * _HOST_BRANCHES + 1
            yield from (self._url(host, "/") for host in range(first, min(first + _HOST_BRANCHES, self.hosts)))

    def _special_links(self, page: Page) -> Iterator[str]:
        """Yield links to redirects, missing pages, forbidden pages and other sites."""
        if page.gone:
            yield self._gone_url(page)
        if page.has_private:
            yield self._private_url(page)
        if page.has_outside:
            yield f"http://elsewhere.invalid/{page.host}-{page.number}"
        if page.host == page.number == 0:
            heads = {f"/long/{LONG_CHAIN}", "/loop/a", "/odd/scheme", "/odd/empty", "/odd/private"}
            yield from (url for url in self._odd_redirects if self._split(url)[1] in heads)

    def _random_link(self, page: Page, number: int) -> str:
        """Return a link to a random page, mostly on the same host."""
        leaves, where, which, *_ = rolls(self.seed, page.host, page.number, number, "link")
        host = span(0, self.hosts - 1, where) if leaves < 0.3 else page.host
        target = self._page(host, span(0, self._hosts[host].size - 1, which))
        return self._hop_url(target, target.hops) if target.is_hidden else self.page_url(target)

    # Documents and answers

    def _document(self, page: Page) -> bytes:
        names = (self.seed, page.host, page.number)
        size, *spellings = rolls(*names, "shape")
        characters = int(self.page_bytes * (0.5 + size))
        if page.is_plain:
            return text(characters, *names).encode(page.charset)
        title = " ".join([*words(3, *names, "title"), str(page.number)]).capitalize()
        here = self.page_url(page)
        links = [spelled(link, here, spellings[number % 15]) for number, link in enumerate(self._links(page))]
        return document(title, links, characters, *names).encode(page.charset)

    def answer(self, host: str, target: str, attempt: int) -> Answer:
        """Return the host's answer to the first, second … request for the target."""
        number = self._host_numbers.get(host)
        if number is None:
            return notice(421, "This server does not know the host.")
        return replace(self._answer(number, target, attempt), delay=self._hosts[number].latency)

    def _answer(self, host: int, target: str, attempt: int) -> Answer:
        if target in (ROBOTS, MOVED_ROBOTS):
            return self._robots_answer(self._hosts[host], target, attempt)
        if target.startswith("/private/") and self._hosts[host].has_rules:
            return notice(200, "Only a crawler that ignores robots.txt requests this page.")
        location = self._redirect_target(self._url(host, target))
        if location is not None:
            return self._redirect_answer(host, target, location)
        page = self._page_at(host, target)
        if page is None:
            return notice(self._missing_status(host, target), "No such page.")
        return flawed(page.flaw, self._page_answer(page)) if attempt <= page.flaws else self._page_answer(page)

    def _robots_answer(self, host: Host, target: str, attempt: int) -> Answer:
        if host.robots == "moved" and target == ROBOTS:
            return moved(301, MOVED_ROBOTS)
        if host.robots == "none" or (target == MOVED_ROBOTS) != (host.robots == "moved"):
            return notice(404, "No such page.")
        if host.robots == "busy" and attempt <= host.busy:
            return flawed("503", Answer(status=200))
        rules = "" if host.robots == "empty" else _rules(host)
        return Answer(status=200, headers=(("Content-Type", "text/plain"),), body=rules.encode())

    def _redirect_answer(self, host: int, target: str, location: str) -> Answer:
        status, spelling, *_ = rolls(self.seed, host, target, "redirect")
        if spelling < 0.5:
            location = location.removeprefix(self._url(host, ""))
        return moved(pick((301, 302, 307), status), location)

    def _page_answer(self, page: Page) -> Answer:
        kind = "text/plain" if page.is_plain else "text/html"
        answer = Answer(
            status=200,
            headers=(("Content-Type", f"{kind}; charset={page.charset}"),),
            body=self._document(page),
            behaviour=page.behaviour,
        )
        if page.behaviour == "slow":
            return replace(answer, pause=self.slow / 3)
        return zipped(answer) if page.behaviour == "gzip" else answer


def _rules(host: Host) -> str:
    pace = f"Crawl-delay: {host.delay:g}\n" if host.delay else ""
    return f"# Rules of {host.name}\nUser-agent: *\nDisallow: /private/\n{pace}\nUser-agent: nosy\nDisallow: /\n"
