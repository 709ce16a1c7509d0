"""Reads and checks all settings once; the rest of the crawler gets typed values, never settings."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from crawler.duplicates.cascade import DuplicateRule
from crawler.errors import Misconfigured
from crawler.fetch.addresses import AddressGuard
from crawler.fetch.dns import DnsLifetimes, read_hosts_file, read_server
from crawler.fetch.limits import FetchLimits
from crawler.fetch.types import SkippedTypes
from crawler.frontier.budgets import Budgets
from crawler.frontier.next_state import RevisitPolicy
from crawler.frontier.politeness import FOREIGN_HOST_FLOOR, Politeness
from crawler.frontier.priority import Order
from crawler.parse.html import Reading
from crawler.parse.main_text.extractors import EXTRACTORS, REQUIRED_PACKAGES
from crawler.urls.patterns import UrlPatterns
from crawler.urls.rules import SWITCHABLE
from crawler.urls.scope import BAD_PORTS, MODES, Scope, UrlOptions
from crawler.urls.sites import BrokenLine

PRODUCT = "Orbweaver"
VERSION = "0.1"
LEAST_THRESHOLD = 0.5  # below, nearly all pairs of documents would be candidates for near-duplicates
LAST_PORT = 65_535
PROXY_SCHEMES = ("http", "https", "socks5")
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]")
HEAD_POLICIES = ("auto", "always", "never")
FOCUS_ARCHIVES = ("all", "kept")


class Settings(Protocol):
    """The part of Scrapy's settings that is used here."""

    def get(self, name: str, default: Any = None) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOptions:
    """CRAWL_*: the directory of a crawl, and when it ends."""

    dir: Path
    max_pages: int
    max_seconds: float
    horizon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsOptions:
    """ROBOTS_*: how long a robots.txt is cached, and when an unreachable one is fetched again."""

    retry_delay: float
    min_lifetime: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsOptions:
    """DNS_*: how host names are resolved."""

    hosts: Mapping[str, tuple[str, ...]]
    servers: tuple[str, ...]
    timeout: float
    threads: int
    lifetimes: DnsLifetimes


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """FETCH_*: the limits of time and size for an answer, and the media types that are not fetched."""

    limits: FetchLimits
    max_buffered: int
    verify_tls: bool
    proxy: str  # PROXY_URL; empty = none
    skip_types: SkippedTypes


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierOptions:
    """FRONTIER_*: how much of the frontier is in memory."""

    active_hosts: int
    most_hosts: int
    queue_length: int
    lease_ahead: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitOptions:
    """COMMIT_*: when a batch of visits is committed."""

    visits: int
    interval: float
    step_hook: Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentOptions:
    """CONTENT_*: the processes that examine pages, and their limits."""

    processes: int
    cpu_time: int
    timeout: float
    max_memory: int
    hook: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FocusOptions:
    """FOCUS_*: which pages of a focused crawl are kept, and which links are followed."""

    keep: float
    archives_all: bool
    follow: float
    explore: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsOptions:
    """METRICS_*: where Prometheus reads the metrics of a run."""

    port: int
    file: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """All settings, checked. Each has the name of its setting, in the group of its prefix."""

    crawl: CrawlOptions
    store: str
    contact: str
    urls: UrlOptions  # URL_*, SCOPE, CRAWL_MAX_DEPTH
    reading: Reading  # EXTRACTOR*, LINKS_*
    duplicates: DuplicateRule  # DUPLICATE_*
    focus: FocusOptions
    politeness: Politeness  # POLITENESS_*, OWN_HOSTS, BANDWIDTH_HOST_LIMIT
    bandwidth_limit: float
    budgets: Budgets  # BUDGET_*
    revisit: RevisitPolicy  # REVISIT_*, RETRY_DELAY, the intervals of sitemaps and feeds
    order: Order | None  # None = that of the crawl
    sitemaps: bool
    newsfeeds: bool
    robots: RobotsOptions
    intranet: AddressGuard  # INTRANET_*
    dns: DnsOptions
    fetch: FetchOptions
    head_policy: str
    probe_after: int
    frontier: FrontierOptions
    partition_lease: float
    concurrent_requests: int
    warc_segment_bytes: int
    commit: CommitOptions
    content: ContentOptions
    metrics: MetricsOptions
    page_items: bool
    values: Mapping[str, Any]  # of each setting as it was given, by name

    @property
    def user_agent(self) -> str:
        return f"{PRODUCT}/{VERSION} (+{self.contact})" if self.contact else f"{PRODUCT}/{VERSION}"

    @property
    def warc_directory(self) -> Path:
        return self.crawl.dir / "warc"

    def new_scope(self) -> Scope:
        """Create the scope, without seeds yet."""
        return self.urls.new_scope()

    @classmethod
    def of(cls, settings: Settings) -> Options:
        """Read every setting; raises `Misconfigured`, naming the setting, for a value that is not valid."""
        read = _Reader(settings)
        crawl = _crawl(read)
        own_hosts = read.words("OWN_HOSTS")
        contact = _contact(read.text("CONTACT"))
        return cls(
            crawl=crawl,
            store=read.text("STORE") or f"sqlite:{crawl.dir / 'crawl.db'}",
            contact=contact,
            urls=_urls(read, own_hosts, contact),
            reading=_reading(read),
            duplicates=_duplicates(read),
            focus=_focus(read),
            politeness=_politeness(read, own_hosts),
            bandwidth_limit=read.number("BANDWIDTH_LIMIT"),
            budgets=_budgets(read),
            revisit=_revisit(read),
            order=_order(read.text("ORDER")),
            sitemaps=read.flag("SITEMAPS"),
            newsfeeds=read.flag("NEWSFEEDS"),
            robots=RobotsOptions(
                retry_delay=read.number("ROBOTS_RETRY_DELAY"), min_lifetime=read.number("ROBOTS_MIN_LIFETIME")
            ),
            intranet=_intranet(read),
            dns=_dns(read),
            fetch=_fetch(read),
            head_policy=_head_policy(read.text("HEAD_POLICY")),
            probe_after=read.count("PROBE_AFTER"),
            frontier=FrontierOptions(
                active_hosts=read.count("FRONTIER_ACTIVE_HOSTS", least=1),
                most_hosts=read.count("FRONTIER_MOST_HOSTS", least=1),
                queue_length=read.count("FRONTIER_QUEUE_LENGTH", least=1),
                lease_ahead=read.number("FRONTIER_LEASE_AHEAD"),
            ),
            partition_lease=read.number("PARTITION_LEASE", least=3),
            concurrent_requests=read.count("CONCURRENT_REQUESTS", least=1),
            warc_segment_bytes=read.count("WARC_SEGMENT_BYTES", least=1),
            commit=CommitOptions(
                visits=read.count("COMMIT_VISITS", least=1),
                interval=read.number("COMMIT_INTERVAL"),
                step_hook=_hook(read, "COMMIT_STEP_HOOK") or (lambda step: None),
            ),
            content=_content(read),
            metrics=MetricsOptions(
                port=_metrics_port(read), file=Path(name) if (name := read.text("METRICS_FILE")) else None
            ),
            page_items=read.flag("PAGE_ITEMS"),
            values=read.values,
        )


class _Reader:
    """Reads single settings as text, words, numbers or flags."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.values: dict[str, Any] = {}  # that were read

    def _value(self, name: str) -> Any:
        self.values[name] = value = self._settings.get(name)
        return value

    def text(self, name: str) -> str:
        return str(self._value(name) or "").strip()

    def words(self, name: str) -> tuple[str, ...]:
        value = self._value(name) or ()
        words = str(value).split(",") if isinstance(value, str | int) else [str(word) for word in value]
        return tuple(word.strip().lower() for word in words if word.strip())

    def number(self, name: str, *, least: float = 0, whole: bool = False, infinite: bool = False) -> float:
        value = self._value(name)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        wrong = number != number or number < least or (math.isinf(number) and not infinite)
        if wrong or (whole and number != int(number)):
            kind = "a whole number" if whole else "a number"
            raise Misconfigured(f"{name}={value!r}: must be {kind} of at least {least:g}.")
        return number

    def count(self, name: str, *, least: float = 0) -> int:
        return int(self.number(name, least=least, whole=True))

    def share(self, name: str) -> float:
        number = self.number(name)
        if number > 1:
            raise Misconfigured(f"{name}={number:g}: must be from 0 to 1.")
        return number

    def flag(self, name: str) -> bool:
        value = str(self._value(name)).strip().lower()
        if value not in {"true", "false", "1", "0", "yes", "no", "none", ""}:
            raise Misconfigured(f"{name}={value!r}: must be True or False.")
        return value in {"true", "1", "yes"}


def _crawl(read: _Reader) -> CrawlOptions:
    return CrawlOptions(
        dir=Path(read.text("CRAWL_DIR") or "data/crawl"),
        max_pages=read.count("CRAWL_MAX_PAGES"),
        max_seconds=read.number("CRAWL_MAX_SECONDS"),
        horizon=read.number("CRAWL_HORIZON", infinite=True),
    )


def _urls(read: _Reader, own_hosts: tuple[str, ...], contact: str) -> UrlOptions:
    mode = read.text("SCOPE")
    if mode not in MODES:
        raise Misconfigured(f"SCOPE={mode!r}: must be one of {', '.join(MODES)}.")
    options = UrlOptions(
        mode=mode,
        own_hosts=own_hosts,
        contact=bool(contact),
        ports=_ports(read.words("URL_PORTS")),
        max_length=read.count("URL_MAX_LENGTH", least=16),
        max_segments=read.count("URL_MAX_SEGMENTS", least=1),
        max_repeats=read.count("URL_MAX_REPEATS", least=1),
        max_parameters=read.count("URL_MAX_PARAMETERS"),
        max_depth=read.count("CRAWL_MAX_DEPTH"),
        skip_types=_file_types(read.words("URL_SKIP_TYPES")),
        skip_actions=read.flag("URL_SKIP_ACTIONS"),
        skip_apis=read.flag("URL_SKIP_APIS"),
        include=_text_file(read, "URL_INCLUDE"),
        exclude=_text_file(read, "URL_EXCLUDE"),
        switches={name: read.flag(rule.setting) for name, rule in SWITCHABLE.items()},
        rules=_text_file(read, "URL_RULES"),
    )
    try:
        options.new_scope()
        if options.include[0] and not UrlPatterns(*reversed(options.include)):
            raise Misconfigured(f"URL_INCLUDE={options.include[0]!r}: has no pattern, so nothing would be visited.")
    except BrokenLine as error:
        raise Misconfigured(f"{error}. Nothing was crawled.") from error
    return options


def _ports(words: tuple[str, ...]) -> tuple[int, ...]:
    if not all(word.isdecimal() and len(word) <= 5 and 0 < int(word) <= LAST_PORT for word in words):
        raise Misconfigured(f"URL_PORTS={','.join(words)!r}: must be numbers of ports with commas between.")
    ports = tuple(int(word) for word in words)
    if bad := BAD_PORTS.intersection(ports):
        raise Misconfigured(
            f"URL_PORTS={','.join(words)!r}: {min(bad)} is a port of another protocol, and never visited."
        )
    return ports


def _file_types(words: tuple[str, ...]) -> tuple[str, ...]:
    types = tuple(word.removeprefix(".") for word in words)
    if not all(re.fullmatch("[^./*;\\s]+", word) for word in types):
        raise Misconfigured(
            f"URL_SKIP_TYPES={','.join(words)!r}: must be endings such as zip,gz: what is behind the last dot."
        )
    return types


def _media_types(words: tuple[str, ...]) -> SkippedTypes:
    if not all(re.fullmatch("[a-z0-9.+-]+/[a-z0-9.+-]*", word) for word in words):
        raise Misconfigured(
            f"FETCH_SKIP_TYPES={','.join(words)!r}: must be media types such as image/png, or image/ for all of a kind."
        )
    return SkippedTypes(words)


def _order(order: str) -> Order | None:
    if not order:
        return None
    if order not in list(Order):
        raise Misconfigured(f"ORDER={order!r}: must be one of {', '.join(Order)}.")
    return Order(order)


def _head_policy(policy: str) -> str:
    if policy not in HEAD_POLICIES:
        raise Misconfigured(f"HEAD_POLICY={policy!r}: must be one of {', '.join(HEAD_POLICIES)}.")
    return policy


def _text_file(read: _Reader, setting: str) -> tuple[str, str]:
    """Return name and text of the file that a setting names; both are empty if it names none."""
    name = read.text(setting)
    if not name:
        return "", ""
    try:
        return name, Path(name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{setting}={name!r}: cannot be read ({error}).") from error


def _contact(contact: str) -> str:
    if contact and "@" not in contact and "://" not in contact:
        raise Misconfigured(f"CONTACT={contact!r}: must be a URL, such as https://your.site/bot, or an e-mail address.")
    if contact and not (contact.isprintable() and contact.isascii()):
        raise Misconfigured("CONTACT: must be a URL or an e-mail address on one line, in ASCII.")
    return contact


def _politeness(read: _Reader, own_hosts: tuple[str, ...]) -> Politeness:
    min_delay = read.number("POLITENESS_MIN_DELAY")
    if min_delay < FOREIGN_HOST_FLOOR and not own_hosts:
        raise Misconfigured(
            f"POLITENESS_MIN_DELAY={min_delay:g}: under {FOREIGN_HOST_FLOOR:g} s only for hosts that you run yourself; "
            "name them in OWN_HOSTS, or raise it."
        )
    return Politeness(
        min_delay=min_delay,
        latency_factor=read.number("POLITENESS_LATENCY_FACTOR"),
        latency_cap=read.number("POLITENESS_LATENCY_CAP"),
        own_hosts=own_hosts,
        own_min_delay=read.number("OWN_MIN_DELAY"),
        groups=read.words("POLITENESS_GROUPS"),
        address_connections=read.count("POLITENESS_ADDRESS_CONNECTIONS", least=1),
        address_gap=read.number("POLITENESS_ADDRESS_GAP"),
        bandwidth_host_limit=read.number("BANDWIDTH_HOST_LIMIT"),
    )


def _budgets(read: _Reader) -> Budgets:
    return Budgets(
        host=read.count("BUDGET_HOST"),
        host_day=read.count("BUDGET_HOST_DAY"),
        domain=read.count("BUDGET_DOMAIN"),
        domain_day=read.count("BUDGET_DOMAIN_DAY"),
        stranger_day=read.count("BUDGET_STRANGER_DAY"),
        growth=read.number("BUDGET_GROWTH"),
    )


def _revisit(read: _Reader) -> RevisitPolicy:
    return RevisitPolicy(
        interval=read.number("REVISIT_INTERVAL"),
        missing=read.number("REVISIT_MISSING"),
        full_every=read.count("REVISIT_FULL_EVERY", least=1),
        retry_delay=read.number("RETRY_DELAY"),
        sitemap_interval=read.number("SITEMAP_INTERVAL"),
        newsfeed_interval=read.number("NEWSFEED_INTERVAL"),
    )


def _intranet(read: _Reader) -> AddressGuard:
    try:
        return AddressGuard(read.words("INTRANET_HOSTS"), read.words("INTRANET_NETWORKS"))
    except ValueError as error:
        raise Misconfigured(f"INTRANET_HOSTS or INTRANET_NETWORKS: {error}.") from error


def _dns(read: _Reader) -> DnsOptions:
    return DnsOptions(
        hosts=_dns_hosts(read.text("DNS_HOSTS")),
        servers=_dns_servers(read.words("DNS_SERVERS")),
        timeout=read.number("DNS_TIMEOUT"),
        threads=read.count("DNS_THREADS", least=1),
        lifetimes=_dns_lifetimes(read),
    )


def _dns_hosts(path: str) -> Mapping[str, tuple[str, ...]]:
    if not path:
        return {}
    try:
        return read_hosts_file(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"DNS_HOSTS={path!r}: cannot be read ({error}).") from error
    except ValueError as error:
        raise Misconfigured(f"DNS_HOSTS={path!r}: {error}.") from error


def _dns_servers(words: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(map(read_server, words))
    except ValueError as error:
        raise Misconfigured(f"DNS_SERVERS={','.join(words)!r}: {error}.") from error


def _dns_lifetimes(read: _Reader) -> DnsLifetimes:
    min_ttl, max_ttl = read.number("DNS_MIN_TTL"), read.number("DNS_MAX_TTL")
    if min_ttl > max_ttl:
        raise Misconfigured(f"DNS_MIN_TTL={min_ttl:g}: must not be greater than DNS_MAX_TTL={max_ttl:g}.")
    return DnsLifetimes(min_ttl=min_ttl, max_ttl=max_ttl, negative_ttl=read.number("DNS_NEGATIVE_TTL"))


def _reading(read: _Reader) -> Reading:
    return Reading(
        extractor=_extractor(read, "EXTRACTOR"),
        second=_extractor(read, "EXTRACTOR_SECOND") if read.text("EXTRACTOR_SECOND") else "",
        context=False,  # of links: a crawl does not use it
        links_in_data=read.flag("LINKS_IN_DATA"),
        links_in_text=read.flag("LINKS_IN_TEXT"),
        skip_rel=read.words("LINKS_SKIP_REL"),
    )


def _duplicates(read: _Reader) -> DuplicateRule:
    threshold = read.number("DUPLICATE_THRESHOLD")
    if threshold and not LEAST_THRESHOLD <= threshold <= 1:
        raise Misconfigured(
            f"DUPLICATE_THRESHOLD={threshold:g}: must be from {LEAST_THRESHOLD:g} to 1, "
            "or 0 to look for exact copies only."
        )
    return DuplicateRule(
        threshold=threshold,
        shingle=read.count("DUPLICATE_SHINGLE", least=1),
        links=read.flag("DUPLICATE_LINKS"),
    )


def _focus(read: _Reader) -> FocusOptions:
    archive = read.text("FOCUS_ARCHIVE")
    if archive not in FOCUS_ARCHIVES:
        raise Misconfigured(f"FOCUS_ARCHIVE={archive!r}: must be one of {', '.join(FOCUS_ARCHIVES)}.")
    return FocusOptions(
        keep=read.share("FOCUS_KEEP"),
        archives_all=archive == "all",
        follow=read.share("FOCUS_FOLLOW"),
        explore=read.share("FOCUS_EXPLORE"),
    )


def _extractor(read: _Reader, setting: str) -> str:
    name = read.text(setting)
    if name not in EXTRACTORS:
        raise Misconfigured(f"{setting}={name!r}: must be one of {', '.join(EXTRACTORS)}.")
    package = REQUIRED_PACKAGES.get(name)
    if package is not None and find_spec(package) is None:
        raise Misconfigured(
            f"{setting}={name!r}: needs the package {package}, which is not installed: "
            "pip install 'orbweaver[extractors]'."
        )
    return name


def _fetch(read: _Reader) -> FetchOptions:
    return FetchOptions(
        limits=FetchLimits(
            connect_timeout=read.number("FETCH_CONNECT_TIMEOUT"),
            first_byte_timeout=read.number("FETCH_FIRST_BYTE_TIMEOUT"),
            timeout=read.number("FETCH_TIMEOUT"),
            min_bytes_per_second=read.count("FETCH_MIN_BYTES_PER_SECOND"),
            min_rate_time=read.number("FETCH_MIN_RATE_TIME"),
            max_body=read.count("FETCH_MAX_BODY", least=1),
            max_document=read.count("FETCH_MAX_DOCUMENT", least=1),
            max_head=read.count("FETCH_MAX_HEAD", least=1024),
        ),
        max_buffered=read.count("FETCH_MAX_BUFFERED", least=1),
        verify_tls=read.flag("FETCH_VERIFY_TLS"),
        proxy=_proxy(read.text("PROXY_URL")),
        skip_types=_media_types(read.words("FETCH_SKIP_TYPES")),
    )


def _proxy(url: str) -> str:
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        is_plain = "@" not in parts.netloc.rpartition("@")[0]
        is_complete = (
            bool(is_plain and parts.hostname and parts.port)
            and not parts.path.strip("/") + parts.query + parts.fragment
        )
    except ValueError:
        is_complete = False
    if not is_complete or parts.scheme not in PROXY_SCHEMES or not url.isascii() or _UNPRINTABLE.search(unquote(url)):
        shown = re.sub(r"^(\w+://)?.*@", r"\1***@", url, flags=re.DOTALL)
        raise Misconfigured(
            f"PROXY_URL={shown!r}: must be {', '.join(f'{scheme}://HOST:PORT' for scheme in PROXY_SCHEMES)}, perhaps "
            "with NAME:PASSWORD@ before the host, whose special characters are written as %40 for @. The proxy is told addresses; one that resolves names (socks5h) is "
            "not used."
        )
    return url


def _content(read: _Reader) -> ContentOptions:
    return ContentOptions(
        processes=read.count("CONTENT_PROCESSES"),
        cpu_time=read.count("CONTENT_CPU_TIME", least=1),
        timeout=read.number("CONTENT_TIMEOUT", least=1),
        max_memory=read.count("CONTENT_MAX_MEMORY", least=256 * 1024**2),
        hook=read.text("CONTENT_HOOK") if _hook(read, "CONTENT_HOOK") else "",
    )


def _metrics_port(read: _Reader) -> int:
    port = read.count("METRICS_PORT")
    if port > LAST_PORT:
        raise Misconfigured(f"METRICS_PORT={port}: must be the number of a port, {LAST_PORT} at most; 0 is for none.")
    return port


def _hook(read: _Reader, setting: str) -> Callable[[Any], None] | None:
    """Return the function that a setting names as module:function; None if it names none."""
    name = read.text(setting)
    if not name:
        return None
    module, _, function = name.partition(":")
    try:
        hook: Callable[[Any], None] = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise Misconfigured(f"{setting}={name!r}: must be module:function ({error}).") from error
    if not callable(hook):
        raise Misconfigured(f"{setting}={name!r}: must be module:function (it is no function).")
    return hook
