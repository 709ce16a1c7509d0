"""The settings, checked once: what the rest of the crawler is told."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from crawler.duplicates.cascade import DuplicateRule
from crawler.errors import Misconfigured
from crawler.fetch.addresses import AddressGuard
from crawler.fetch.dns import DnsLifetimes, read_hosts_file, read_server
from crawler.fetch.limits import FetchLimits
from crawler.fetch.types import SkippedTypes
from crawler.frontier.budgets import Budgets
from crawler.frontier.next_state import RevisitPolicy
from crawler.frontier.politeness import FLOOR_OF_STRANGERS, Politeness
from crawler.parse.html import Reading
from crawler.parse.main_text.extractors import EXTRACTORS, NEEDED
from crawler.urls.patterns import UrlPatterns
from crawler.urls.rules import SWITCHED
from crawler.urls.scope import BAD_PORTS, MODES, Scope, UrlOptions
from crawler.urls.sites import BrokenLine

PRODUCT = "Orbweaver"
VERSION = "0.1"
LEAST_THRESHOLD = 0.5  # below, nearly everything would have to be compared with nearly everything
LAST_PORT = 65_535
HEAD_POLICIES = ("auto", "always", "never")


class Settings(Protocol):
    """The part of Scrapy's settings that is used here."""

    def get(self, name: str, default: Any = None) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    directory: Path
    store: str
    contact: str
    max_pages: int
    max_seconds: float
    horizon: float
    urls: UrlOptions
    reading: Reading
    duplicates: DuplicateRule
    politeness: Politeness
    budgets: Budgets
    bandwidth: float
    revisit: RevisitPolicy
    full_every: int
    sitemaps: bool
    feeds: bool
    head_policy: str
    probe_after: int
    types: SkippedTypes
    robots_retry: float
    robots_lifetime: float
    guard: AddressGuard
    dns_hosts: Mapping[str, tuple[str, ...]]
    dns_servers: tuple[str, ...]
    dns_lifetimes: DnsLifetimes
    dns_timeout: float
    dns_threads: int
    limits: FetchLimits
    max_buffered: int
    verify_tls: bool
    active_hosts: int
    most_hosts: int
    queue_length: int
    lease_ahead: float
    partition_lease: float
    in_flight: int
    segment_bytes: int
    commit_visits: int
    commit_interval: float
    step: Callable[[str], None]
    content_processes: int
    content_cpu_time: int
    content_timeout: float
    content_memory: int
    content_hook: str
    metrics_port: int
    metrics_file: Path | None

    @property
    def user_agent(self) -> str:
        return f"{PRODUCT}/{VERSION} (+{self.contact})" if self.contact else f"{PRODUCT}/{VERSION}"

    @property
    def warc_directory(self) -> Path:
        return self.directory / "warc"

    def new_scope(self) -> Scope:
        """The scope before any seed is known."""
        return self.urls.new_scope()

    @classmethod
    def of(cls, settings: Settings) -> Options:
        """Read every setting, or say which one cannot be obeyed."""
        read = _Reader(settings)
        directory = Path(read.text("CRAWL_DIR") or "data/crawl")
        own_hosts = read.words("OWN_HOSTS")
        contact = _contact(read.text("CONTACT"))
        return cls(
            directory=directory,
            store=read.text("STORE") or f"sqlite:{directory / 'crawl.db'}",
            contact=contact,
            max_pages=int(read.number("CRAWL_MAX_PAGES", whole=True)),
            max_seconds=read.number("CRAWL_MAX_SECONDS"),
            horizon=read.number("CRAWL_HORIZON", infinite=True),
            urls=_urls(read, own_hosts, contact),
            reading=_reading(read),
            duplicates=_duplicates(read),
            politeness=_politeness(read, own_hosts),
            budgets=_budgets(read),
            bandwidth=read.number("BANDWIDTH_LIMIT"),
            revisit=RevisitPolicy(
                interval=read.number("REVISIT_INTERVAL"),
                sitemap_interval=read.number("SITEMAP_INTERVAL"),
                feed_interval=read.number("NEWSFEED_INTERVAL"),
                missing_delay=read.number("REVISIT_MISSING"),
                retry_delay=read.number("RETRY_DELAY"),
            ),
            full_every=int(read.number("REVISIT_FULL_EVERY", least=1, whole=True)),
            sitemaps=read.flag("SITEMAPS"),
            feeds=read.flag("NEWSFEEDS"),
            head_policy=_head_policy(read.text("HEAD_POLICY")),
            probe_after=int(read.number("PROBE_AFTER", whole=True)),
            types=_media_types(read.words("FETCH_SKIP_TYPES")),
            robots_retry=read.number("ROBOTS_RETRY_DELAY"),
            robots_lifetime=read.number("ROBOTS_MIN_LIFETIME"),
            guard=_guard(read),
            dns_hosts=_dns_hosts(read.text("DNS_HOSTS")),
            dns_servers=_dns_servers(read.words("DNS_SERVERS")),
            dns_lifetimes=_dns_lifetimes(read),
            dns_timeout=read.number("DNS_TIMEOUT"),
            dns_threads=int(read.number("DNS_THREADS", least=1, whole=True)),
            limits=_limits(read),
            max_buffered=int(read.number("FETCH_MAX_BUFFERED", least=1, whole=True)),
            verify_tls=read.flag("FETCH_VERIFY_TLS"),
            active_hosts=int(read.number("FRONTIER_ACTIVE_HOSTS", least=1, whole=True)),
            most_hosts=int(read.number("FRONTIER_MOST_HOSTS", least=1, whole=True)),
            queue_length=int(read.number("FRONTIER_QUEUE_LENGTH", least=1, whole=True)),
            lease_ahead=read.number("FRONTIER_LEASE_AHEAD"),
            partition_lease=read.number("PARTITION_LEASE", least=3),
            in_flight=int(read.number("CONCURRENT_REQUESTS", least=1, whole=True)),
            segment_bytes=int(read.number("WARC_SEGMENT_BYTES", least=1, whole=True)),
            commit_visits=int(read.number("COMMIT_VISITS", least=1, whole=True)),
            commit_interval=read.number("COMMIT_INTERVAL"),
            step=_hook(read, "COMMIT_STEP_HOOK") or (lambda step: None),
            content_processes=int(read.number("CONTENT_PROCESSES", whole=True)),
            content_cpu_time=int(read.number("CONTENT_CPU_TIME", least=1, whole=True)),
            content_timeout=read.number("CONTENT_TIMEOUT", least=1),
            content_memory=int(read.number("CONTENT_MAX_MEMORY", least=256 * 1024**2, whole=True)),
            content_hook=read.text("CONTENT_HOOK") if _hook(read, "CONTENT_HOOK") else "",
            metrics_port=_metrics_port(read),
            metrics_file=Path(name) if (name := read.text("METRICS_FILE")) else None,
        )


class _Reader:
    """One setting at a time, in the type that is needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def text(self, name: str) -> str:
        return str(self._settings.get(name) or "").strip()

    def words(self, name: str) -> tuple[str, ...]:
        value = self._settings.get(name) or ()
        words = str(value).split(",") if isinstance(value, str | int) else [str(word) for word in value]
        return tuple(word.strip().lower() for word in words if word.strip())

    def number(self, name: str, *, least: float = 0, whole: bool = False, infinite: bool = False) -> float:
        value = self._settings.get(name)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        wrong = number != number or number < least or (math.isinf(number) and not infinite)
        if wrong or (whole and number != int(number)):
            kind = "a whole number" if whole else "a number"
            raise Misconfigured(f"{name}={value!r}: must be {kind} of at least {least:g}.")
        return number

    def flag(self, name: str) -> bool:
        value = str(self._settings.get(name)).strip().lower()
        if value not in {"true", "false", "1", "0", "yes", "no", "none", ""}:
            raise Misconfigured(f"{name}={value!r}: must be True or False.")
        return value in {"true", "1", "yes"}


def _urls(read: _Reader, own_hosts: tuple[str, ...], contact: str) -> UrlOptions:
    mode = read.text("SCOPE")
    if mode not in MODES:
        raise Misconfigured(f"SCOPE={mode!r}: must be one of {', '.join(MODES)}.")
    options = UrlOptions(
        mode=mode,
        own_hosts=own_hosts,
        contact=bool(contact),
        ports=_ports(read.words("URL_PORTS")),
        max_length=int(read.number("URL_MAX_LENGTH", least=16, whole=True)),
        max_segments=int(read.number("URL_MAX_SEGMENTS", least=1, whole=True)),
        max_repeats=int(read.number("URL_MAX_REPEATS", least=1, whole=True)),
        max_parameters=int(read.number("URL_MAX_PARAMETERS", whole=True)),
        max_depth=int(read.number("CRAWL_MAX_DEPTH", whole=True)),
        skip_types=_types(read.words("URL_SKIP_TYPES")),
        skip_actions=read.flag("URL_SKIP_ACTIONS"),
        skip_apis=read.flag("URL_SKIP_APIS"),
        include=_text_file(read, "URL_INCLUDE"),
        exclude=_text_file(read, "URL_EXCLUDE"),
        switches={name: read.flag(rule.setting) for name, rule in SWITCHED.items()},
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
    if not all(word.isdecimal() and len(word) <= 5 and 0 < int(word) < 65_536 for word in words):
        raise Misconfigured(f"URL_PORTS={','.join(words)!r}: must be numbers of ports with commas between.")
    ports = tuple(int(word) for word in words)
    if bad := BAD_PORTS.intersection(ports):
        raise Misconfigured(
            f"URL_PORTS={','.join(words)!r}: {min(bad)} is a port of another protocol, and never asked."
        )
    return ports


def _types(words: tuple[str, ...]) -> tuple[str, ...]:
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


def _head_policy(policy: str) -> str:
    if policy not in HEAD_POLICIES:
        raise Misconfigured(f"HEAD_POLICY={policy!r}: must be one of {', '.join(HEAD_POLICIES)}.")
    return policy


def _text_file(read: _Reader, setting: str) -> tuple[str, str]:
    """The name and text of the file that a setting names; empty if it names none."""
    name = read.text(setting)
    if not name:
        return "", ""
    try:
        return name, Path(name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{setting}={name!r}: cannot be read ({error}).") from error


def _contact(contact: str) -> str:
    if contact and not (contact.isprintable() and contact.isascii()):
        raise Misconfigured("CONTACT: must be a URL or an e-mail address on one line, in ASCII.")
    return contact


def _politeness(read: _Reader, own_hosts: tuple[str, ...]) -> Politeness:
    floor = read.number("POLITENESS_MIN_DELAY")
    if floor < FLOOR_OF_STRANGERS and not own_hosts:
        raise Misconfigured(
            f"POLITENESS_MIN_DELAY={floor:g}: under {FLOOR_OF_STRANGERS:g} s only for hosts that you run yourself; "
            "name them in OWN_HOSTS, or raise it."
        )
    return Politeness(
        floor=floor,
        factor=read.number("POLITENESS_LATENCY_FACTOR"),
        cap=read.number("POLITENESS_LATENCY_CAP"),
        own_hosts=own_hosts,
        groups=read.words("POLITENESS_GROUPS"),
        address_connections=int(read.number("POLITENESS_ADDRESS_CONNECTIONS", least=1, whole=True)),
        address_gap=read.number("POLITENESS_ADDRESS_GAP"),
        bandwidth=read.number("BANDWIDTH_HOST_LIMIT"),
    )


def _budgets(read: _Reader) -> Budgets:
    return Budgets(
        host=int(read.number("BUDGET_HOST", whole=True)),
        host_day=int(read.number("BUDGET_HOST_DAY", whole=True)),
        site=int(read.number("BUDGET_DOMAIN", whole=True)),
        site_day=int(read.number("BUDGET_DOMAIN_DAY", whole=True)),
        stranger_day=int(read.number("BUDGET_STRANGER_DAY", whole=True)),
        growth=read.number("BUDGET_GROWTH"),
    )


def _guard(read: _Reader) -> AddressGuard:
    try:
        return AddressGuard(read.words("INTRANET_HOSTS"), read.words("INTRANET_NETWORKS"))
    except ValueError as error:
        raise Misconfigured(f"INTRANET_HOSTS or INTRANET_NETWORKS: {error}.") from error


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
    least, most = read.number("DNS_MIN_TTL"), read.number("DNS_MAX_TTL")
    if least > most:
        raise Misconfigured(f"DNS_MIN_TTL={least:g}: must not be greater than DNS_MAX_TTL={most:g}.")
    return DnsLifetimes(least=least, most=most, failure=read.number("DNS_NEGATIVE_TTL"))


def _reading(read: _Reader) -> Reading:
    return Reading(
        extractor=_extractor(read, "EXTRACTOR"),
        second=_extractor(read, "EXTRACTOR_SECOND") if read.text("EXTRACTOR_SECOND") else "",
        context=False,  # of links, which nobody asks for in a crawl
        links_in_data=read.flag("LINKS_IN_DATA"),
        links_in_text=read.flag("LINKS_IN_TEXT"),
        skip_rel=read.words("LINKS_SKIP_REL"),
    )


def _duplicates(read: _Reader) -> DuplicateRule:
    threshold = read.number("DUPLICATE_THRESHOLD")
    if threshold and not LEAST_THRESHOLD <= threshold <= 1:
        raise Misconfigured(
            f"DUPLICATE_THRESHOLD={threshold:g}: must be from {LEAST_THRESHOLD:g} to 1, or 0 to look for exact copies only."
        )
    return DuplicateRule(
        threshold=threshold,
        shingle=int(read.number("DUPLICATE_SHINGLE", least=1, whole=True)),
        links=read.flag("DUPLICATE_LINKS"),
    )


def _extractor(read: _Reader, setting: str) -> str:
    name = read.text(setting)
    if name not in EXTRACTORS:
        raise Misconfigured(f"{setting}={name!r}: must be one of {', '.join(EXTRACTORS)}.")
    package = NEEDED.get(name)
    if package is not None and find_spec(package) is None:
        raise Misconfigured(
            f"{setting}={name!r}: needs the package {package}, which is not installed: pip install 'orbweaver[extractors]'."
        )
    return name


def _limits(read: _Reader) -> FetchLimits:
    return FetchLimits(
        connect=read.number("FETCH_CONNECT_TIMEOUT"),
        first_byte=read.number("FETCH_FIRST_BYTE_TIMEOUT"),
        low_speed_bytes=int(read.number("FETCH_MIN_BYTES_PER_SECOND", whole=True)),
        low_speed_time=read.number("FETCH_MIN_RATE_TIME"),
        total=read.number("FETCH_TIMEOUT"),
        body=int(read.number("FETCH_MAX_BODY", least=1, whole=True)),
        document=int(read.number("FETCH_MAX_DOCUMENT", least=1, whole=True)),
        head=int(read.number("FETCH_MAX_HEAD", least=1024, whole=True)),
    )


def _metrics_port(read: _Reader) -> int:
    port = int(read.number("METRICS_PORT", whole=True))
    if port > LAST_PORT:
        raise Misconfigured(f"METRICS_PORT={port}: must be the number of a port, {LAST_PORT} at most; 0 is for none.")
    return port


def _hook(read: _Reader, setting: str) -> Callable[[Any], None] | None:
    """The function that a setting names as module:function, or None if it names none."""
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
