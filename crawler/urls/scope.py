"""The scope of a crawl: which URLs are visited, and for what reason the others are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import msgspec
from xxhash import xxh3_64_intdigest

from crawler.items import Reason, Refusal
from crawler.urls.canonical import UrlPolicy
from crawler.urls.filters import (
    action_in,
    api_call,
    file_type,
    may_be_action_or_api,
    repeated_segment,
    unfilled_placeholder,
)
from crawler.urls.hosts import host_of, matches, origin_of, port_of, registered_domain
from crawler.urls.patterns import UrlPatterns
from crawler.urls.rules import SWITCHABLE
from crawler.urls.sites import packaged_lines, read_site_rules

MODES = ("any", "domains", "hosts", "prefixes")
SCOPE_REASONS = frozenset(  # for which a scope refuses URLs, or a middleware of the project that knows a smaller one
    {
        *(Reason.URL_TOO_LONG, Reason.PORT_DENIED, Reason.NO_CONTACT, Reason.OUT_OF_SCOPE, Reason.TOO_FAR),
        *(Reason.EXCLUDED, Reason.NOT_INCLUDED, Reason.FILE_TYPE, Reason.PATH_TOO_DEEP, Reason.REPEATED_SEGMENT),
        *(Reason.TOO_MANY_PARAMETERS, Reason.ACTION, Reason.API_CALL, Reason.FILTER_FAILED, Reason.UNFILLED),
        Reason.MIDDLEWARE_REFUSED,
    }
)
MOST_URLS = 16_384  # whose refusal is cached before the cache is cleared
MOST_ORIGINS = 65_536  # the same for origins

# The Fetch Standard's bad ports: servers of other protocols listen there and might act on what we send.
BAD_PORTS = frozenset(
    {
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104),
        *(109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515),
        *(526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049),
        *(3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlOptions:
    """All settings about URLs. Files are given as (name, text), so that all processes use the same contents."""

    mode: str  # one of MODES
    own_hosts: tuple[str, ...]
    contact: bool  # whether CONTACT is set
    ports: tuple[int, ...]
    max_length: int
    max_segments: int
    max_repeats: int
    max_parameters: int
    max_depth: int  # 0 = no limit
    skip_types: tuple[str, ...]
    skip_actions: bool
    skip_apis: bool
    include: tuple[str, str]
    exclude: tuple[str, str]
    switches: Mapping[str, bool]  # canonicalization rules that are on or off; one that is absent has its own default
    rules: tuple[str, str]

    def spelling_digest(self) -> str:
        """Return a digest that changes when the canonical form of URLs may change."""
        return _digest(sorted(self.switches.items()), self.rules[1], packaged_lines())

    def scope_digest(self) -> str:
        """Return a digest that changes when the set of URLs that are visited may change."""
        files = self.include[1], self.exclude[1]
        return _digest(replace(self, include=("", ""), exclude=("", ""), switches={}, rules=("", "")), files)

    def new_policy(self) -> UrlPolicy:
        """Create the canonicalization policy; raises `BrokenLine` if the file of rules is invalid."""
        name, text = self.rules
        return UrlPolicy(self.switches, read_site_rules(text, name, SWITCHABLE))

    def new_scope(self, seeds: Iterable[str] = ()) -> Scope:
        """Create the scope for these seeds; raises `BrokenLine` if one of the files is invalid."""
        return Scope(self, seeds)


class Scope:
    """Decides which URLs are visited, by the seeds, the scope's mode and the operator's filters. The modes are:

    any       everything
    domains   all hosts of the seeds' registered domains; for a seed without one (an address, a bare name) its host
    hosts     the seeds' hosts
    prefixes  URLs in or below the seeds' directories, on the seeds' own origins

    >>> options = UrlOptions(
    ...     mode="hosts", own_hosts=(), contact=True, ports=(80, 443), max_length=100, max_segments=9, max_repeats=2,
    ...     max_parameters=9, max_depth=0, skip_types=("zip",), skip_actions=True, skip_apis=True,
    ...     include=("", ""), exclude=("", ""), switches={}, rules=("", "")
    ... )
    >>> scope = options.new_scope(["http://a.com/"])
    >>> scope.rejection("http://a.com/b"), str(scope.rejection("http://a.com/b.zip"))
    (None, 'a file of a type that is not read: zip (file_type)')
    """

    def __init__(self, options: UrlOptions, seeds: Iterable[str] = ()) -> None:
        if options.mode not in MODES:
            raise ValueError(f"scope {options.mode!r} is none of {', '.join(MODES)}")
        self.options = options
        self.policy = options.new_policy()
        self._skip_types = frozenset(options.skip_types)
        self._include = UrlPatterns(*reversed(options.include))
        self._exclude = UrlPatterns(*reversed(options.exclude))
        self._seed_ports: set[int] = set()
        self._sites: set[str] = set()  # domains and hosts
        self._directories: set[str] = set()
        self._by_origin: dict[str, Refusal | None] = {}  # cached refusals
        self._by_url: dict[str, Refusal | None] = {}  # the same: pages of a site have most of their links in common
        for seed in seeds:
            self.add(seed)

    def add(self, seed: str) -> None:
        """Extend the scope by one seed; its port is allowed from now on. A text that is not a URL changes nothing."""
        url = self.policy.canonicalize(seed)
        if url is None:
            return
        host = host_of(url)
        self._seed_ports.add(port_of(url))
        self._directories.add(_path(url).rpartition("/")[0] + "/")
        self._sites.add((registered_domain(host) or host) if self.options.mode == "domains" else host)
        self._by_origin.clear()
        self._by_url.clear()

    def rejection(self, url: str, depth: int = 0) -> Refusal | None:
        """Return why this canonical URL, at this depth from a seed, must not be visited; None if it may."""
        if url in self._by_url:
            return self._by_url[url]
        try:
            refusal = self._find_refusal(url, depth)
        except Exception as error:  # fail closed: if a filter fails the URL is not visited
            return Refusal(Reason.FILTER_FAILED, repr(error))
        # Not cached: refusals that depend on the depth, and long URLs, which would take too much memory.
        if not self.options.max_depth and len(url) <= self.options.max_length:
            if len(self._by_url) >= MOST_URLS:
                self._by_url.clear()
            self._by_url[url] = refusal
        return refusal

    def _find_refusal(self, url: str, depth: int) -> Refusal | None:
        options = self.options
        if len(url) > options.max_length:
            return Refusal(Reason.URL_TOO_LONG, f"{len(url)} characters, {options.max_length} at most")
        origin = origin_of(url)
        try:
            refusal = self._by_origin[origin]
        except KeyError:
            refusal = self._remember_origin(origin, self._refusal_of_origin(origin))
        if refusal is not None:
            return refusal
        if options.mode == "prefixes" and not self._is_below_a_seed(url):
            return Refusal(Reason.OUT_OF_SCOPE, options.mode)
        if options.max_depth and depth > options.max_depth:
            return Refusal(Reason.TOO_FAR, f"{depth} links, {options.max_depth} at most")
        return self._refusal_by_patterns(url) or self._refusal_by_target(origin, url[len(origin) :])

    def _refusal_by_patterns(self, url: str) -> Refusal | None:
        if self._exclude and (pattern := self._exclude.first_match(url)):
            return Refusal(Reason.EXCLUDED, pattern)
        if self._include and not self._include.first_match(url):
            return Refusal(Reason.NOT_INCLUDED, self.options.include[0])
        return None

    def _refusal_by_target(self, origin: str, target: str) -> Refusal | None:
        options = self.options
        path, _, query = target.partition("?")
        if found := file_type(path, self._skip_types):
            return Refusal(Reason.FILE_TYPE, found)
        if found := unfilled_placeholder(target):
            return Refusal(Reason.UNFILLED, found)
        if (segments := path.count("/")) > options.max_segments:
            return Refusal(Reason.PATH_TOO_DEEP, f"{segments} segments, {options.max_segments} at most")
        if segments > options.max_repeats and (found := repeated_segment(path, options.max_repeats)):
            return Refusal(Reason.REPEATED_SEGMENT, f"{found} occurs more than {options.max_repeats} times")
        if query and (count := query.count("&") + 1) > options.max_parameters:
            return Refusal(Reason.TOO_MANY_PARAMETERS, f"{count} parameters, {options.max_parameters} at most")
        if may_be_action_or_api(path, query):
            host = host_of(origin)
            if options.skip_actions and (found := action_in(host, path, query)):
                return Refusal(Reason.ACTION, found)
            if options.skip_apis and (found := api_call(host, path, query)):
                return Refusal(Reason.API_CALL, found)
        return None

    def _remember_origin(self, origin: str, refusal: Refusal | None) -> Refusal | None:
        if len(self._by_origin) >= MOST_ORIGINS:
            self._by_origin.clear()
        self._by_origin[origin] = refusal
        return refusal

    def _refusal_of_origin(self, origin: str) -> Refusal | None:
        host, port = host_of(origin), port_of(origin)
        if port in BAD_PORTS or (port not in self.options.ports and port not in self._seed_ports):
            return Refusal(Reason.PORT_DENIED, str(port))
        if not self.options.contact and not matches(host, self.options.own_hosts):
            return Refusal(Reason.NO_CONTACT)
        if not self._is_host_in_scope(host):
            return Refusal(Reason.OUT_OF_SCOPE, self.options.mode)
        return None

    def _is_host_in_scope(self, host: str) -> bool:
        mode = self.options.mode
        if mode == "any":
            return True
        if mode == "domains":
            return (registered_domain(host) or host) in self._sites
        return host in self._sites

    def _is_below_a_seed(self, url: str) -> bool:
        directory = _path(url)
        start = len(origin_of(url))
        while (slash := directory.rfind("/", start)) >= 0:
            if directory[: slash + 1] in self._directories:
                return True
            directory = directory[:slash]
        return False


def _digest(*facts: object) -> str:
    return f"{xxh3_64_intdigest(msgspec.json.encode(facts, order='deterministic')):016x}"


def _path(url: str) -> str:
    return url.partition("?")[0]
