"""What sitemaps and feeds list, as links with what is said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from statistics import fmean

from msgspec.structs import replace
from xxhash import xxh3_64_intdigest

from crawler.items import Kind, Link, ListedUrl, Page, Reason, Refusal, Visit
from crawler.parse.feeds import median_interval, parse_feed
from crawler.parse.sitemaps import SitemapEntry, SitemapForm, parse_sitemap
from crawler.urls.hosts import host_of, registered_domain
from crawler.urls.keys import key_of, keys_of
from crawler.urls.scope import Scope

MOST_SITEMAPS = 5_000  # that an index may name
DEEPEST_INDEX = 3  # indexes in indexes
_DAY = 86_400.0
_FREQUENCIES = {
    "always": 3_600.0,
    "hourly": 3_600.0,
    "daily": _DAY,
    "weekly": 7 * _DAY,
    "monthly": 30 * _DAY,
    "yearly": 365 * _DAY,
}
_LEAST_INTERVAL, _MOST_INTERVAL = 900.0, _DAY  # of visits to a feed, by its rhythm
# What makes a URL no page, or one that is too far away, does not make it no list.
_OF_PAGES = frozenset({Reason.FILE_TYPE, Reason.API_CALL, Reason.NOT_INCLUDED, Reason.TOO_FAR})


def list_refusal(scope: Scope, url: str, *, vouched: bool = False) -> Refusal | None:
    """Why a sitemap or feed must not be read; one for which a host vouches may lie outside the scope."""
    refusal = scope.rejection(url)
    if refusal is None or refusal.reason in _OF_PAGES or (vouched and refusal.reason is Reason.OUT_OF_SCOPE):
        return None
    return refusal


def list_link(scope: Scope, url: str, *, vouched: bool = False) -> Link:
    return Link(key_of(url), url, "", list_refusal(scope, url, vouched=vouched), 0)


def read_sitemap(page: Page, body: bytes, visit: Visit, scope: Scope, now: float) -> Page | None:
    """The page with what its sitemap lists; None if it is no sitemap."""
    found = parse_sitemap(body, visit.url)
    if found.kind is SitemapForm.NONE:
        return None
    vouchers = {host_of(visit.url), *visit.vouchers}
    page = replace(page, kind=Kind.SITEMAP, problem=page.problem or found.problem)
    if found.kind is SitemapForm.INDEX:
        return replace(page, sitemaps=_children(found.sitemaps, visit, scope, vouchers))
    return replace(page, listed=_entries(found.entries, visit, scope, vouchers, now))


def _children(entries: Iterable[SitemapEntry], visit: Visit, scope: Scope, vouchers: set[str]) -> list[Link]:
    """What an index names: on hosts for which it may speak, and not without end."""
    if visit.depth >= DEEPEST_INDEX:
        return []
    urls = _canonical((entry.loc for entry in entries), visit, scope)
    own = (url for url in urls if url != visit.url and _speaks_for(host_of(url), vouchers))
    return [list_link(scope, url, vouched=host_of(url) in vouchers) for url in islice(own, MOST_SITEMAPS)]


def _entries(
    entries: list[SitemapEntry], visit: Visit, scope: Scope, vouchers: set[str], now: float
) -> list[ListedUrl]:
    weighed = [entry.priority for entry in entries if entry.priority is not None]
    usual = fmean(weighed) if weighed else 0.5
    spoken_for: dict[str, bool] = {}
    listed: dict[str, SitemapEntry] = {}
    for entry in entries:
        url = scope.policy.canonicalize(entry.loc, visit.url)
        if url is None or url in listed:
            continue
        host = host_of(url)
        if host not in spoken_for:
            spoken_for[host] = _speaks_for(host, vouchers)
        if spoken_for[host] and len(url) <= scope.options.max_length:
            listed[url] = entry
    depth = visit.depth + 1
    return [
        ListedUrl(
            key,
            url,
            scope.rejection(url, depth),
            _past(entry.lastmod, now),
            _FREQUENCIES.get(entry.changefreq),
            # Priorities are meant within a site: who calls everything important says nothing.
            min(max(0.5 + entry.priority - usual, 0.0), 1.0) if entry.priority is not None else None,
        )
        for key, (url, entry) in zip(keys_of(listed), listed.items(), strict=True)
    ]


def _speaks_for(host: str, vouchers: set[str]) -> bool:
    """A sitemap speaks for its own site, and for those hosts whose robots.txt names it."""
    if host in vouchers:
        return True
    site = registered_domain(host)
    return site is not None and any(registered_domain(voucher) == site for voucher in vouchers)


def read_feed(page: Page, body: bytes, visit: Visit, content_type: str, scope: Scope, now: float) -> Page | None:
    """The page with what its feed announces; None if it is no feed."""
    feed = parse_feed(body, visit.url, content_type)
    if not feed.form:
        return None
    listed: dict[str, ListedUrl] = {}
    names = Counter(entry.guid for entry in feed.entries)
    for entry in feed.entries:
        url = scope.policy.canonicalize(entry.link, visit.url) if entry.link else None
        if url is not None and url not in listed:
            listed[url] = ListedUrl(
                key_of(url),
                url,
                scope.rejection(url, visit.depth + 1),
                _past(entry.updated or entry.published, now),
                None,
                1.0,
                _fingerprint(entry.guid if names[entry.guid] == 1 else url),  # some feeds have one for all
                entry.title,
                entry.summary,
            )
    usual = median_interval(feed.entries)
    observed = min(max(usual / 2, _LEAST_INTERVAL), _MOST_INTERVAL) if usual is not None else None
    return replace(
        page,
        kind=Kind.FEED,
        title=feed.title,
        listed=list(listed.values()),
        interval=feed.ttl or observed,
        problem=page.problem or feed.problem,
    )


def _canonical(urls: Iterable[str], visit: Visit, scope: Scope) -> dict[str, None]:
    """Each once, in their order."""
    found = (scope.policy.canonicalize(url, visit.url) for url in urls)
    return dict.fromkeys(url for url in found if url is not None)


def _past(date: float | None, now: float) -> float | None:
    """A date that lies ahead says nothing; a day is allowed for zones of time."""
    return date if date is not None and 0 < date <= now + _DAY else None


def _fingerprint(text: str) -> int:
    digest = xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
    return digest - (1 << 64) if digest >= 1 << 63 else digest  # signed, as databases store it
