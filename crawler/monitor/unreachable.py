"""Why can no seed of a crawl be reached, and what can be done about it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crawler.frontier.politeness import UNREACHABLE
from crawler.items import Reason
from crawler.monitor.text import in_directory
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import UrlRow
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of

NO_ANSWER = UNREACHABLE | {Reason.ADDRESS_DENIED, Reason.DISCONNECTED, Reason.BAD_HTTP, Reason.FETCH_ERROR}
_MOST = 10_000  # seeds that are looked at; that none of more can be reached is unlikely, and takes long to find out
_SHOWN = 5
_HINTS = {
    Reason.DNS_FAILED: "check its spelling, and DNS_SERVERS",
    Reason.TLS_FAILED: "check whether it speaks https",
    Reason.CONNECT_FAILED: "check its port, and whether a proxy is needed (PROXY_URL)",
    Reason.CONNECT_TIMEOUT: "check whether a firewall is in the way, or a proxy is needed (PROXY_URL)",
}

_CONNECTING = (Reason.CONNECT_FAILED, Reason.CONNECT_TIMEOUT)
_PROXY_HINT = "check PROXY_URL: does the proxy run, and may it connect there?"


class NoAnswer(NamedTuple):
    """Why a URL has got no answer."""

    url: str
    reason: Reason
    detail: str

    @property
    def hint(self) -> str:
        """What can be done about it; empty if we do not know."""
        if self.reason is Reason.ADDRESS_DENIED:
            return intranet_hint(self.detail)
        return _HINTS.get(self.reason, "")


def unreachable_seeds(store: Store) -> Sequence[NoAnswer]:
    """Return all seeds with the reasons why none can be reached; nothing if one was."""
    found: list[NoAnswer] = []
    for _, url in store.urls.seeds():
        row = store.urls.find(key_of(url))
        cause = no_answer(store, row) if row is not None else None
        if cause is None or len(found) == _MOST:
            return []
        found.append(cause)
    return found


def no_answer(store: Store, row: UrlRow) -> NoAnswer | None:
    """Return why a URL has got no answer, by its own last visit or that of the robots.txt which must come first."""
    if row.last_reason in NO_ANSWER:
        return NoAnswer(row.url, row.last_reason, row.detail)
    if row.last_reason not in (None, Reason.ROBOTS_UNAVAILABLE):
        return None
    robots = store.urls.find(key_of(f"{origin_of(row.url)}/robots.txt"))
    if robots is None or robots.last_reason not in NO_ANSWER:
        return None
    return NoAnswer(row.url, robots.last_reason, robots.detail)


def unreachable_lines(seeds: Sequence[NoAnswer], directory: object, *, has_proxy: bool) -> Iterator[str]:
    """Say why no seed of the crawl in a directory can be reached, and what to do."""
    yield "No seed can be reached, so there is nothing to crawl:"
    for seed in seeds[:_SHOWN]:
        detail = f" [{seed.detail}]" if seed.detail else ""
        yield f"  {seed.url}: {seed.reason.meaning} ({seed.reason.name.lower()}){detail}"
        hint = _PROXY_HINT if has_proxy and seed.reason in _CONNECTING else seed.hint
        if hint:
            yield f"    {hint}"
    if len(seeds) > _SHOWN:
        yield f"  and {len(seeds) - _SHOWN} more; `scrapy why URL` tells why"
    yield f"When that is mended: scrapy seed --now --failed {in_directory(directory)}, and crawl again"


def intranet_hint(detail: str) -> str:
    """Return the settings that allow a host of the user's own, by the detail of its refusal.

    >>> intranet_hint("wiki.corp is 10.0.0.7: private")
    'if it is yours, allow it: -s INTRANET_HOSTS=wiki.corp -s INTRANET_NETWORKS=10.0.0.7/32'
    """
    host, _, rest = detail.partition(" is ")
    address = rest.rpartition(": ")[0]
    if not address:
        return ""
    size = 128 if ":" in address else 32
    return f"if it is yours, allow it: -s INTRANET_HOSTS={host} -s INTRANET_NETWORKS={address}/{size}"
