"""Read sitemaps and feeds: the URLs that they list, with dates, change intervals and priorities."""

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

MOST_SITEMAPS = 5_000  # of an index that are followed
DEEPEST_INDEX = 3  # levels of indexes in indexes that are followed
_DAY = 86_400.0
_FREQUENCIES = {
    "always": 3_600.0,
    "hourly": 3_600.0,
    "daily": _DAY,
    "weekly": 7 * _DAY,
    "monthly": 30 * _DAY,
    "yearly": 365 * _DAY,
}
_LEAST_INTERVAL, _MOST_INTERVAL = 900.0, _DAY  # between visits to a feed without a ttl
# Reasons to refuse a page that do not apply to lists.
_ONLY_FOR_PAGES = frozenset({Reason.FILE_TYPE, Reason.API_CALL, Reason.NOT_INCLUDED, Reason.TOO_FAR})


def list_refusal(scope: Scope, url: str, *, vouched: bool = False) -> Refusal | None:
    """Return why a sitemap or feed must not be fetched, or None; one that is `vouched` for may be out of scope."""
    refusal = scope.rejection(url)
    if refusal is None or refusal.reason in _ONLY_FOR_PAGES or (vouched and refusal.reason is Reason.OUT_OF_SCOPE):
        return None
    return refusal


def list_link(scope: Scope, url: str, *, vouched: bool = False) -> Link:
    """Return the link to a sitemap or feed."""
    return Link(key_of(url), url, "", list_refusal(scope, url, vouched=vouched), 0)


def read_sitemap(page: Page, body: bytes, visit: Visit, scope: Scope, now: float) -> Page | None:
    """Return the page with the URLs or sitemaps that its sitemap lists; None if it is not a sitemap."""
    found = parse_sitemap(body, visit.url)
    if found.kind is SitemapForm.NONE:
        return None
    vouchers = {host_of(visit.url), *visit.vouchers}
    page = replace(page, kind=Kind.SITEMAP, problem=page.problem or found.problem)
    if found.kind is SitemapForm.INDEX:
        return replace(page, sitemaps=_child_sitemaps(found.sitemaps, visit, scope, vouchers))
    return replace(page, listed=_listed_urls(found.entries, visit, scope, vouchers, now))


def _child_sitemaps(entries: Iterable[SitemapEntry], visit: Visit, scope: Scope, vouchers: set[str]) -> list[Link]:
    """Return the sitemaps that an index names, on hosts that it may list, up to limits of number and depth."""
    if visit.depth >= DEEPEST_INDEX:
        return []
    urls = _canonical_urls((entry.loc for entry in entries), visit, scope)
    allowed = (url for url in urls if url != visit.url and _may_list_host(host_of(url), vouchers))
    return [list_link(scope, url, vouched=host_of(url) in vouchers) for url in islice(allowed, MOST_SITEMAPS)]


def _listed_urls(
    entries: list[SitemapEntry], visit: Visit, scope: Scope, vouchers: set[str], now: float
) -> list[ListedUrl]:
    """Return each URL of a sitemap once, without those on hosts that it may not list."""
    priorities = [entry.priority for entry in entries if entry.priority is not None]
    mean_priority = fmean(priorities) if priorities else 0.5
    may_list: dict[str, bool] = {}  # by host
    listed: dict[str, SitemapEntry] = {}
    for entry in entries:
        url = scope.policy.canonicalize(entry.loc, visit.url)
        if url is None or url in listed:
            continue
        host = host_of(url)
        if host not in may_list:
            may_list[host] = _may_list_host(host, vouchers)
        if may_list[host] and len(url) <= scope.options.max_length:
            listed[url] = entry
    depth = visit.depth + 1
    return [
        ListedUrl(
            key,
            url,
            scope.rejection(url, depth),
            _past_date(entry.lastmod, now),
            _FREQUENCIES.get(entry.changefreq),
            # Priorities compare the URLs of one site: only the difference from their mean counts.
            min(max(0.5 + entry.priority - mean_priority, 0.0), 1.0) if entry.priority is not None else None,
        )
        for key, (url, entry) in zip(keys_of(listed), listed.items(), strict=True)
    ]


def _may_list_host(host: str, vouchers: set[str]) -> bool:
    """Whether a sitemap may list URLs of a host: of its own site, or of one whose robots.txt names the sitemap."""
    if host in vouchers:
        return True
    site = registered_domain(host)
    return site is not None and any(registered_domain(voucher) == site for voucher in vouchers)


def read_feed(page: Page, body: bytes, visit: Visit, content_type: str, scope: Scope, now: float) -> Page | None:
    """Return the page with the entries of its feed; None if it is not a feed."""
    feed = parse_feed(body, visit.url, content_type)
    if not feed.form:
        return None
    listed: dict[str, ListedUrl] = {}
    guids = Counter(entry.guid for entry in feed.entries)
    for entry in feed.entries:
        url = scope.policy.canonicalize(entry.link, visit.url) if entry.link else None
        if url is not None and url not in listed:
            listed[url] = ListedUrl(
                key_of(url),
                url,
                scope.rejection(url, visit.depth + 1),
                _past_date(entry.updated or entry.published, now),
                None,
                1.0,
                _fingerprint(entry.guid if guids[entry.guid] == 1 else url),  # some feeds repeat one guid
                entry.title,
                entry.summary,
            )
    between_entries = median_interval(feed.entries)
    interval = None
    if between_entries is not None:
        interval = min(max(between_entries / 2, _LEAST_INTERVAL), _MOST_INTERVAL)
    return replace(
        page,
        kind=Kind.FEED,
        title=feed.title,
        listed=list(listed.values()),
        interval=feed.ttl or interval,
        problem=page.problem or feed.problem,
    )


def _canonical_urls(urls: Iterable[str], visit: Visit, scope: Scope) -> dict[str, None]:
    """Return the canonical URLs, each once, in their order."""
    found = (scope.policy.canonicalize(url, visit.url) for url in urls)
    return dict.fromkeys(url for url in found if url is not None)


def _past_date(date: float | None, now: float) -> float | None:
    """Return the date, or None if it lies in the future; a day is allowed for time zones."""
    return date if date is not None and 0 < date <= now + _DAY else None


def _fingerprint(text: str) -> int:
    digest = xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
    return digest - (1 << 64) if digest >= 1 << 63 else digest  # signed, as databases store it
