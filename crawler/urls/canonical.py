"""The canonical form of a URL: one text for all spellings that name the same resource."""

from __future__ import annotations

import atexit
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import ada_url
import can_ada

from crawler.urls.hosts import host_of
from crawler.urls.rules import DEFAULTS, TargetRules
from crawler.urls.schemes import WEB_PREFIXES
from crawler.urls.sites import ParameterRules, SiteRuleLine, SiteRules, enabled_rules, packaged_lines

LONGEST_HOST = 253  # RFC 1035 §2.3.4: 255 octets on the wire, which is 253 characters
LONGEST_LABEL = 63
MOST_ORIGINS = 65_536  # whose rules are cached before the cache is cleared

# The parts of a URL as written: scheme, slashes, user, host, port, path, query, fragment.
_URL_PARTS = re.compile(
    r"(?P<scheme>https?)(?P<slashes>:[/\\]*)(?:(?P<user>[^/\\?#]*)@)?(?P<host>\[[^\]]*\]|[^/\\?#:]*)(?P<port>:[0-9]*)?"
    r"(?P<path>(?:[/\\][^?#]*)?)(?P<query>(?:\?[^#]*)?)(?P<fragment>(?:\#.*)?)",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)

# DNS names may contain any character, host names only these; no client would request any others.
_HOST_AND_PORT = re.compile(r"(?:[a-z0-9_~-][a-z0-9._~-]*|\[[0-9a-f:.]+\])(?::[0-9]+)?")

_PLAIN_ORIGIN = re.compile(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]+)*")

# A path that no parser and no rule would change, perhaps with an origin, and a fragment, which is dropped.
_PLAIN_LINK = re.compile(
    r"(?:(https?://[a-z0-9.-]++(?::[0-9]{1,5})?)(?=/))?"
    r"(/?(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+/)*+(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+)?)(?:#.*)?",
    re.DOTALL,
)
_MOST_BASES = 16  # pages are processed one at a time, and each has one base
_MOST_PLAIN, _LONGEST_PLAIN = 16_384, 500


class RuleStep(NamedTuple):
    """The effect of one rule on a URL."""

    rule: str
    before: str
    after: str


def resolve(url: str, base: str | None = None) -> str | None:
    """Return the URL as the WHATWG URL Standard serializes it, relative to the base; None if it is not a URL.

    >>> resolve("../c?d#e", "http://EXAMPLE.com:80/a/b/")
    'http://example.com/a/c?d#e'
    >>> resolve("http://0x7f.1/")
    'http://127.0.0.1/'
    >>> resolve("/no/base") is None
    True
    """
    return _resolve_fast(url, base) or _resolve_standard(url, base)


def canonicalize(url: str, base: str | None = None) -> str | None:
    """Return the canonical form of a URL; None if it could never be crawled.

    This is the policy under default settings; `scrapy urls --rules` prints its rules.

    >>> canonicalize("http://ABC.com:/%7esmith//home.html?utm_source=x#top")
    'http://abc.com/~smith/home.html'
    >>> canonicalize("?q=%c3%a9&a=1", "https://user:secret@example.com./find?")
    'https://example.com/find?a=1&q=%C3%A9'
    >>> canonicalize("mailto:smith@abc.com") is None
    True
    """
    return _DEFAULT.canonicalize(url, base)


class UrlPolicy:
    """Canonicalizes URLs: `resolve`, then our rules, as switched on or off by settings and by the rules for a site.

    >>> policy = UrlPolicy({"index_page": True}, [SiteRuleLine("abc.com", "drop", ("view",))])
    >>> policy.canonicalize("http://www.abc.com/a/index.html?view=grid")
    'http://www.abc.com/a/'
    """

    def __init__(self, switches: Mapping[str, bool] | None = None, lines: Iterable[SiteRuleLine] = ()) -> None:
        self._switches = DEFAULTS | dict(switches or {})
        self._sites = SiteRules([*packaged_lines(), *lines])
        self._rules: dict[tuple[SiteRuleLine, ...], TargetRules] = {}  # shared by hosts with the same lines
        self._origins: dict[str, tuple[str | None, TargetRules]] = {}
        self._bases: dict[str, tuple[str, str]] = {}
        self._plain_urls: set[str] = set()  # already canonical: pages of a site have most of their links in common

    def canonicalize(self, url: str, base: str | None = None) -> str | None:
        """Return the canonical form of a URL under this policy; None if it could never be crawled."""
        if base is not None:
            root, directory = self._bases.get(base) or self._learn_base(base)
            if root and url in self._plain_urls:
                return url
            if (plain := _PLAIN_LINK.fullmatch(url)) is not None:
                written, path = plain.groups()
                if written is not None:
                    known = self._origins.get(written)
                    if root and known is not None and known[0] is not None and not known[1].changes_plain_paths:
                        return self._remember_plain(known[0] + path)
                elif path and (before := root if path[0] == "/" else directory):
                    return before + path
        href = _resolve_fast(url, base)
        if href is None:
            href = _resolve_standard(url, base)
            if href is None or not href.startswith(WEB_PREFIXES):
                return None
        end = href.index("/", 8)
        written = href[:end]
        origin, rules = self._origins.get(written) or self._learn_origin(written)
        target = href[end:]
        canonical_target = rules.apply(target)
        return origin and origin + canonical_target

    def trace(self, url: str, base: str | None = None) -> list[RuleStep]:
        """Return the effect of each rule on a URL that has a canonical form; rules that changed nothing are left out.

        >>> [step.rule for step in UrlPolicy().trace("HTTP://abc.com:80/a/../%7Eb?")]
        ['scheme_case', 'default_port', 'dot_segments', 'escapes', 'empty_query']
        """
        steps = list(self._steps(url, base))
        return [RuleStep(rule, before, after) for rule, before, after in steps if before != after]

    def _steps(self, url: str, base: str | None) -> Iterator[RuleStep]:
        href = resolve(url, base)
        if href is None or not href.startswith(WEB_PREFIXES):
            return
        before = url
        if base is not None and resolve(url) != href:
            before = href
            yield RuleStep("base", url, before)
        for rule, after in _standard_steps(before, href):
            yield RuleStep(rule, before, after)
            before = after
        end = href.index("/", 8)
        origin, rules = self._learn_origin(href[:end])
        if origin is None:
            return
        for rule, after in _origin_steps(href[:end]):
            after += href[end:]
            yield RuleStep(rule, before, after)
            before = after
        for rule, target in rules.steps(href[end:]):
            after = origin + target
            yield RuleStep(rule, before, after)
            before = after

    def _learn_base(self, base: str) -> tuple[str, str]:
        """Return the prefixes that turn plain absolute and plain relative paths into canonical URLs, or "" if none."""
        before = ("", "")
        href = _resolve_standard(base, None)
        if href is not None and href.startswith(WEB_PREFIXES):
            end = href.index("/", 8)
            root, rules = self._learn_origin(href[:end])
            if root is not None and not rules.changes_plain_paths:
                directory = href[end:].partition("#")[0].partition("?")[0].rpartition("/")[0] + "/"
                is_plain = _PLAIN_LINK.fullmatch(directory) is not None
                before = root, root + directory if is_plain else ""
        if len(self._bases) >= _MOST_BASES:
            self._bases.clear()
        self._bases[base] = before
        return before

    def _learn_origin(self, written: str) -> tuple[str | None, TargetRules]:
        """Return the canonical origin, or None if it cannot be crawled, and the rules for its site; cache both."""
        origin = _canonical_origin(written)
        rules = self._target_rules(tuple(self._sites.of(host_of(origin)) if origin is not None else ()))
        if len(written) <= LONGEST_HOST:
            if len(self._origins) >= MOST_ORIGINS:
                self._origins.clear()
            self._origins[written] = origin, rules
        return origin, rules

    def _remember_plain(self, url: str) -> str:
        if len(url) <= _LONGEST_PLAIN:
            if len(self._plain_urls) >= _MOST_PLAIN:
                self._plain_urls.clear()
            self._plain_urls.add(url)
        return url

    def _target_rules(self, lines: tuple[SiteRuleLine, ...]) -> TargetRules:
        if lines not in self._rules:
            all_lines = [*self._sites.for_all_sites, *lines]
            self._rules[lines] = TargetRules(enabled_rules(self._switches, all_lines), ParameterRules(all_lines))
        return self._rules[lines]


_DEFAULT = UrlPolicy()


def _resolve_fast(url: str, base: str | None) -> str | None:
    """Resolve a URL with can_ada where that is known to follow the standard, else return None.

    It takes a quarter of the other parser's time, but has older tables: it differs on "^", on host names that go
    through IDNA (those that are not ASCII, are escaped or begin with xn--), on opaque paths, on dot segments
    behind a segment that begins with a dot and on bases with an empty query.
    """
    if not url.isascii() or "^" in url or ("%" in url and not _is_only_a_path(url)):
        return None
    try:
        href = (can_ada.parse(url) if base is None else _parsed_base(base) + url).href
    except ValueError:
        return None
    return href if href.startswith(WEB_PREFIXES) and "xn--" not in href and "/." not in href else None


def _is_only_a_path(url: str) -> bool:
    """Whether this is certainly a path, so that the host is the base's."""
    return ":" not in url and "\\" not in url and url.isprintable() and url[0] != " " and url[:2] != "//"


@lru_cache(maxsize=16)
def _parsed_base(base: str) -> can_ada.URL:
    """Parse a base once for all links of a page; ValueError if it is not a URL that can_ada handles correctly."""
    resolved = _resolve_standard(base, None) or ""
    if resolved.partition("#")[0].endswith("?"):
        raise ValueError("can_ada drops an empty query")
    return can_ada.parse(resolved)


# At the end of the process the library warns about its objects that are still alive.
atexit.register(_parsed_base.cache_clear)


def _resolve_standard(url: str, base: str | None) -> str | None:
    try:
        if base is None:
            return ada_url.normalize_url(_scalar_values(url))
        return ada_url.join_url(_scalar_values(base), _scalar_values(url))
    except ValueError:
        return None


def _scalar_values(text: str) -> str:
    """Return the standard's USVString of a text: lone surrogates become U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _canonical_origin(origin: str) -> str | None:
    """Return scheme, host and port alone, or None if such a host cannot exist or be requested."""
    if len(origin) <= LONGEST_LABEL and _PLAIN_ORIGIN.fullmatch(origin):
        return origin
    scheme, _, authority = origin.partition("//")
    authority = authority.rpartition("@")[2]
    if ".." in authority:
        return None
    if authority[-1] == "." or ".:" in authority:
        host, colon, port = authority.partition(":")
        authority = host[:-1] + colon + port
    if _HOST_AND_PORT.fullmatch(authority) is None:
        return None
    host = host_of(f"//{authority}")
    if len(host) > LONGEST_HOST or max(map(len, host.split("."))) > LONGEST_LABEL:
        return None
    return f"{scheme}//{authority}"


def _origin_steps(written: str) -> Iterator[tuple[str, str]]:
    scheme, slashes, authority = written.partition("//")
    without_user = scheme + slashes + authority.rpartition("@")[2]
    yield "user_info", without_user
    yield "host_dot", _canonical_origin(written) or without_user


def _standard_steps(written: str, href: str) -> Iterator[tuple[str, str]]:
    """Yield the effect of each rule of the standard, whose parser applies them all at once, by comparing the parts."""
    cleaned = re.sub(r"[\t\n\r]", "", written.strip("".join(map(chr, range(33)))))
    yield "white_space", cleaned
    old, new = _URL_PARTS.fullmatch(cleaned), _URL_PARTS.fullmatch(href)
    if old is None or new is None:
        yield "target_characters", href
        return
    parts = {name: old[name] or "" for name in _URL_PARTS.groupindex}

    def with_new(*names: str) -> str:
        parts.update({name: new[name] or "" for name in names})
        user = parts["user"] + "@" if old["user"] is not None else ""
        return "".join(value if name != "user" else user for name, value in parts.items())

    yield "scheme_case", with_new("scheme")
    parts["host"] = parts["host"].lower() if parts["host"].isascii() else parts["host"]
    yield "host_case", with_new()
    yield "host_script", with_new("host")
    yield "default_port", with_new("port")
    if _has_dot_segments(parts["path"]):
        yield "target_characters", with_new("slashes", "query", "fragment")
        yield "dot_segments", with_new("path")
    else:
        yield "target_characters", with_new("slashes", "path", "query", "fragment")


def _has_dot_segments(path: str) -> bool:
    segments = re.split(r"[/\\]", path.lower().replace("%2e", "."))
    return "." in segments or ".." in segments
