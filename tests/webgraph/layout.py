"""The hosts, pages, redirects and failures of the synthetic web.

A page is identified by its host's number and its own. All its other properties follow from reproducible random numbers,
so any page can be computed at any moment and none is stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from tests.webgraph.chance import pick, rolls, span

LONG_CHAIN = 15  # redirects in a row; more than any crawler follows

_ROBOTS_KINDS = ("rules", "none", "busy", "rules", "moved", "empty")
_NUMBER = re.compile(r"/(?:p/|view\?id=|archive/\d+/\d+/|caf%C3%A9/|list/)(\d{1,9})")
_HOP = re.compile(r"/r/(\d{1,9})-(\d{1,9})/(\d{1,9})")
_GONE = re.compile(r"/gone/(\d{1,9})")
# How the first answers of a flaky page fail, and how many at most. A crawler may accept a document truncated twice.
_FLAWS = (("500", 2), ("503", 2), ("reset", 2), ("short", 1))


class Host(NamedTuple):
    """The properties of one host."""

    name: str
    size: int  # pages
    branches: int  # of the tree that its pages form
    latency: float  # before each answer
    robots: str  # "none", "empty", "rules", "busy" (rules after some 503s) or "moved" (rules behind a redirect)
    busy: int  # how many 503s a busy host sends first
    delay: float  # its Crawl-delay, 0 if it has none

    @property
    def has_rules(self) -> bool:
        return self.robots in ("rules", "busy", "moved")


class Page(NamedTuple):
    """The properties of one page."""

    host: int
    number: int
    path: str
    behaviour: str = "normal"
    charset: str = "utf-8"
    is_plain: bool = False  # text/plain, without links
    flaw: str = ""  # how its first answers fail: "500", "503", "reset" or "short"
    flaws: int = 0  # how many of them
    hops: int = 0  # length of the chain of redirects that leads to it
    is_hidden: bool = False
    gone: int = 0  # status of the missing page it links to
    has_private: bool = False  # links to a page that robots.txt forbids
    has_outside: bool = False  # links to a site that is not part of this web


@dataclass(frozen=True)
class Layout:
    """A web of so many pages on so many hosts. Shares are of all pages, and 0 switches a feature off."""

    seed: int
    hosts: int = 30
    pages: int = 1500
    port: int = 8000
    _: KW_ONLY
    links: int = 12  # on a page, if its place in the tree does not need more
    page_bytes: int = 4000  # on average; pages have from half to one and a half times as many
    sites: int = 5  # registered domains over which the hosts are spread
    shared_addresses: int = 1  # hosts on one address
    one_seed: bool = False  # only the first host's front page is a seed
    redirect_share: float = 0.08
    error_share: float = 0.05  # pages that fail at first, and as many that link to a missing one
    private_share: float = 0.05
    outside_share: float = 0.02
    coded_share: float = 0.3  # half gzip, half chunked
    latin_share: float = 0.05
    plain_share: float = 0.03
    slow_share: float = 0.01
    slow: float = 0.3  # seconds that a slow answer takes
    latency: float = 0.02  # of the slowest host; the others are somewhere below
    robots: bool = True  # False: no host has a robots.txt, and nothing is forbidden
    crawl_delay: float = (
        0.4  # of half the small hosts that have rules, so that a crawl does not take too long; 0: of none
    )

    def __post_init__(self) -> None:
        if not 0 < self.hosts <= self.pages:
            raise ValueError(f"{self.hosts} hosts cannot share {self.pages} pages: each needs one")
        if self.shared_addresses < 1 or self.sites < 1:
            raise ValueError("a host needs an address and a site")

    # Hosts

    @cached_property
    def _hosts(self) -> tuple[Host, ...]:
        return tuple(self._host(number, size) for number, size in enumerate(self._sizes()))

    def _sizes(self) -> Iterator[int]:
        """Return the pages per host: the largest has some thirty times as many as the smallest."""
        weights = [100 + int(2900 * rolls(self.seed, number, "size")[0] ** 2) for number in range(self.hosts)]
        spare, sums = self.pages - self.hosts, [0, *accumulate(weights)]
        return (1 + spare * high // sums[-1] - spare * low // sums[-1] for low, high in pairwise(sums))

    def _host(self, number: int, size: int) -> Host:
        branches, latency, busy, delays, *_ = rolls(self.seed, number, "host")
        host = Host(
            name=f"h{number:03}.site{number % self.sites}.test",
            size=size,
            branches=span(2, 4, branches),
            latency=self.latency * latency,
            robots=self._robots_kind(number),
            busy=span(1, 2, busy),
            delay=self.crawl_delay if delays < 0.5 and size * self.hosts <= self.pages else 0.0,
        )
        return host if host.has_rules else host._replace(delay=0.0)

    def _robots_kind(self, number: int) -> str:
        """Return the kind of a host's robots.txt; the kinds rotate, so that any six hosts have all of them."""
        first = int(rolls(self.seed, "robots")[0] * len(_ROBOTS_KINDS))
        return _ROBOTS_KINDS[(number + first) % len(_ROBOTS_KINDS)] if self.robots else "none"

    @cached_property
    def _host_numbers(self) -> dict[str, int]:
        return {host.name: number for number, host in enumerate(self._hosts)}

    def addresses(self) -> dict[str, str]:
        """Return the loopback address of each host."""
        places = (divmod(number // self.shared_addresses, 250) for number in range(self.hosts))
        return {
            host.name: f"127.10.{block}.{place + 1}" for host, (block, place) in zip(self._hosts, places, strict=True)
        }

    def hosts_file(self) -> str:
        """Return the addresses in hosts(5) format."""
        return "".join(f"{address}\t{host}\n" for host, address in self.addresses().items())

    def host_delay(self, host: str) -> float:
        """Return the Crawl-delay in a host's rules, 0 if there is none."""
        return self._hosts[self._host_numbers[host]].delay

    # What a crawl should find

    def seeds(self) -> list[str]:
        return [self._url(number, "/") for number in range(1 if self.one_seed else self.hosts)]

    def urls(self) -> Iterator[str]:
        """Yield every page that a crawl must have fetched at its end."""
        return (self.page_url(page) for page in self.pages_of_all_hosts())

    def flaky(self, url: str) -> tuple[str, int]:
        """Return how a page's first answers fail, and how many of them; ("", 0) if none fails."""
        page = self.page_at(url)
        return page.flaw, page.flaws

    def redirects(self) -> dict[str, str]:
        """Return every redirect and its target, "" if its Location is empty."""
        chains = {}
        for page in self.pages_of_all_hosts():
            for hop in range(1, page.hops + 1):
                chains[self._hop_url(page, hop)] = self._hop_target(page, hop)
        return chains | self._odd_redirects

    def hidden(self) -> set[str]:
        """Return the pages that only a redirect leads to."""
        return {self.page_url(page) for page in self.pages_of_all_hosts() if page.is_hidden}

    def forbidden(self) -> set[str]:
        """Return the URLs that are linked and that robots.txt forbids."""
        return {self._private_url(page) for page in self.pages_of_all_hosts() if page.has_private}

    def missing(self) -> dict[str, int]:
        """Return the URLs that are linked and have no page, with their status."""
        return {self._gone_url(page): page.gone for page in self.pages_of_all_hosts() if page.gone}

    # Pages

    def pages_of_all_hosts(self) -> Iterator[Page]:
        return (self._page(host, number) for host, facts in enumerate(self._hosts) for number in range(facts.size))

    def _page(self, host: int, number: int) -> Page:
        """Compute one page. A host's front page has no failures or redirects, so that every crawl can begin."""
        (
            path,
            behaviour,
            charset,
            plain,
            flaw,
            kind,
            times,
            redirect,
            hops,
            hides,
            gone,
            status,
            private,
            outside,
            *_,
        ) = rolls(self.seed, host, number, "page")
        here, (name, most) = self._hosts[host], pick(_FLAWS, kind)
        is_front, is_leaf = number == 0, number * here.branches + 1 >= here.size
        is_plain = is_leaf and not is_front and plain < self.plain_share
        is_flawed = not is_front and flaw < self.error_share
        is_redirected = not is_front and redirect < self.redirect_share
        page = Page(host, number, "/" if is_front else _path(number, path), self._behaviour(behaviour))
        return page._replace(
            charset="iso-8859-1" if charset < self.latin_share else "utf-8",
            is_plain=is_plain,
            flaw=name if is_flawed else "",
            flaws=span(1, most, times) if is_flawed else 0,
            hops=pick((1, 1, 1, 2, 3), hops) if is_redirected else 0,
            is_hidden=is_redirected and hides < 0.5,
            gone=pick((404, 404, 410, 403), status) if not is_plain and gone < self.error_share else 0,
            has_private=not is_plain and here.has_rules and private < self.private_share,
            has_outside=not is_plain and outside < self.outside_share,
        )

    def _behaviour(self, roll: float) -> str:
        if roll < self.coded_share:
            return "gzip" if roll < self.coded_share / 2 else "chunked"
        return "slow" if roll < self.coded_share + self.slow_share else "normal"

    def page_at(self, url: str) -> Page:
        host, target = self._split(url)
        page = self._page_at(self._host_numbers.get(host, -1), target)
        if page is None:
            raise KeyError(url)
        return page

    def _page_at(self, host: int, target: str) -> Page | None:
        match = _NUMBER.match(target)
        number = int(match[1]) if match else 0
        if host < 0 or number >= self._hosts[host].size:
            return None
        page = self._page(host, number)
        return page if page.path == target else None

    def _missing_status(self, host: int, target: str) -> int:
        match = _GONE.fullmatch(target)
        number = int(match[1]) if match else -1
        return (0 <= number < self._hosts[host].size and self._page(host, number).gone) or 404

    # URLs

    def _url(self, host: int, target: str) -> str:
        port = "" if self.port == 80 else f":{self.port}"
        return f"http://{self._hosts[host].name}{port}{target}"

    def _split(self, url: str) -> tuple[str, str]:
        netloc, slash, rest = url.removeprefix("http://").partition("/")
        return netloc.partition(":")[0], slash + rest

    def page_url(self, page: Page) -> str:
        return self._url(page.host, page.path)

    def _gone_url(self, page: Page) -> str:
        return self._url(page.host, f"/gone/{page.number}")

    def _private_url(self, page: Page) -> str:
        return self._url(page.host, f"/private/{page.number}")

    # Redirects

    def _hop_url(self, page: Page, hop: int) -> str:
        """Return the redirect that is so many steps before the page; three in ten are on another host than the page."""
        strays, where, *_ = rolls(self.seed, page.host, page.number, hop, "hop")
        host = span(0, self.hosts - 1, where) if strays < 0.3 else page.host
        return self._url(host, f"/r/{page.host}-{page.number}/{hop}")

    def _hop_target(self, page: Page, hop: int) -> str:
        return self._hop_url(page, hop - 1) if hop > 1 else self.page_url(page)

    @cached_property
    def _odd_redirects(self) -> dict[str, str]:
        """Return odd redirects of the first host: a loop, an overlong chain, and targets that must not be visited."""
        if not self.redirect_share:
            return {}
        odd = {"/loop/a": self._url(0, "/loop/b"), "/loop/b": self._url(0, "/loop/a")}
        odd |= {
            f"/long/{hop}": self._url(0, f"/long/{hop - 1}" if hop > 1 else "/") for hop in range(1, LONG_CHAIN + 1)
        }
        odd |= {"/odd/scheme": "ftp://elsewhere.invalid/file", "/odd/empty": ""}
        forbidden = next((page for page in self.pages_of_all_hosts() if page.has_private), None)
        if forbidden:
            odd["/odd/private"] = self._private_url(forbidden)
        return {self._url(0, path): target for path, target in odd.items()}

    def _redirect_target(self, url: str) -> str | None:
        if url in self._odd_redirects:
            return self._odd_redirects[url]
        match = _HOP.fullmatch(self._split(url)[1])
        if match is None:
            return None
        host, number, hop = map(int, match.groups())
        if host >= self.hosts or number >= self._hosts[host].size:
            return None
        page = self._page(host, number)
        return self._hop_target(page, hop) if 1 <= hop <= page.hops and self._hop_url(page, hop) == url else None


def _path(number: int, roll: float) -> str:
    """Return a page's path in one of several styles, all serialised as the URL Standard demands."""
    fashions = (
        f"/p/{number}",
        f"/p/{number}",
        f"/view?id={number}&x={number % 7}",
        f"/archive/{2000 + number % 25}/{number % 12 + 1:02}/{number}.html",
        f"/list/{number}/",
        f"/caf%C3%A9/{number}",
    )
    return pick(fashions, roll)
