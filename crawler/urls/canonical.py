"""Which URL is meant? One text for every URL that names the same thing."""

from __future__ import annotations

import atexit
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import ada_url
import can_ada

from crawler.urls.rules import DEFAULTS, TargetRules
from crawler.urls.sites import Line, Parameters, Sites, packaged_lines, switched

LONGEST_HOST = 253  # RFC 1035 §2.3.4: 255 octets on the wire, which is 253 characters
MOST_AUTHORITIES = 65_536  # of which we remember what holds for them, before we start over

_WEB = ("http://", "https://")
# A URL as people write it: scheme, slashes, user, host, port, path, query, fragment.
_WRITTEN = re.compile(
    r"(?P<scheme>https?):[/\\]*(?:(?P<user>[^/\\?#]*)@)?(?P<host>\[[^\]]*\]|[^/\\?#:]*)(?P<port>:[0-9]*)?"
    r"(?P<path>(?:[/\\][^?#]*)?)(?P<query>(?:\?[^#]*)?)(?P<fragment>(?:\#.*)?)",
    re.IGNORECASE | re.ASCII | re.DOTALL,
)


class Step(NamedTuple):
    """What one rule did."""

    rule: str
    before: str
    after: str


def resolve(url: str, base: str | None = None) -> str | None:
    """The URL as the WHATWG URL Standard writes it, relative to the base; None if it is not a URL.

    >>> resolve("../c?d#e", "http://EXAMPLE.com:80/a/b/")
    'http://example.com/a/c?d#e'
    >>> resolve("http://0x7f.1/")
    'http://127.0.0.1/'
    >>> resolve("/no/base") is None
    True
    """
    return _quickly_resolved(url, base) or _carefully_resolved(url, base)


def canonicalize(url: str, base: str | None = None) -> str | None:
    """The one form under which we know a URL; None if it is nothing we would ever visit.

    This is the policy with no setting changed; `scrapy urls --rules` prints its rules.

    >>> canonicalize("http://ABC.com:/%7esmith//home.html?utm_source=x#top")
    'http://abc.com/~smith/home.html'
    >>> canonicalize("?q=%c3%a9&a=1", "https://user:secret@example.com./find?")
    'https://example.com/find?a=1&q=%C3%A9'
    >>> canonicalize("mailto:smith@abc.com") is None
    True
    """
    return _default_policy().canonicalize(url, base)


class Policy:
    """`resolve`, and then our rules, each as it is switched, and as the lines for a site say.

    >>> policy = Policy({"index_page": True}, [Line("abc.com", "drop", ("view",))])
    >>> policy.canonicalize("http://www.abc.com/a/index.html?view=grid")
    'http://www.abc.com/a/'
    """

    def __init__(self, switches: Mapping[str, bool] | None = None, lines: Iterable[Line] = ()) -> None:
        self._switches = DEFAULTS | dict(switches or {})
        self._sites = Sites([*packaged_lines(), *lines])
        self._everywhere = self._target_rules([])
        self._authorities: dict[str, tuple[str | None, TargetRules]] = {}

    def canonicalize(self, url: str, base: str | None = None) -> str | None:
        """The one form under which this policy knows a URL; None if it is nothing we would ever visit."""
        href = _quickly_resolved(url, base)
        if href is None:
            href = _carefully_resolved(url, base)
            if href is None or not href.startswith(_WEB):
                return None
        start = 7 if href[4] == ":" else 8
        end = href.index("/", start)
        written = href[start:end]
        known = self._authorities.get(written)
        authority, rules = known if known is not None else self._learn(written)
        if authority is None:
            return None
        target = href[end:]
        tidy = rules.tidy(target)
        if tidy is target and authority == written:
            return href
        return href[:start] + authority + tidy

    def trace(self, url: str, base: str | None = None) -> list[Step]:
        """What each rule did to a URL that has a canonical form; rules that did nothing are left out.

        >>> [step.rule for step in Policy().trace("HTTP://abc.com:80/a/../%7Eb?")]
        ['scheme_case', 'default_port', 'dot_segments', 'escapes', 'empty_query']
        """
        steps = list(self._steps(url, base))
        return [Step(rule, before, after) for rule, before, after in steps if before != after]

    def _steps(self, url: str, base: str | None) -> Iterator[Step]:
        href = resolve(url, base)
        if href is None or not href.startswith(_WEB):
            return
        before = url
        if base is not None:
            before = url if _WRITTEN.match(url) else href
            yield Step("base", url, before)
        for rule, after in _standard_steps(before, href):
            yield Step(rule, before, after)
            before = after
        start = href.index("//") + 2
        end = href.index("/", start)
        authority, rules = self._learn(href[start:end])
        if authority is None:
            return
        for rule, after in _authority_steps(href[start:end]):
            after = href[:start] + after + href[end:]
            yield Step(rule, before, after)
            before = after
        for rule, target in rules.steps(href[end:]):
            after = href[:start] + authority + target
            yield Step(rule, before, after)
            before = after

    def _learn(self, written: str) -> tuple[str | None, TargetRules]:
        """The authority as we write it, and the rules that hold there."""
        authority = _visitable(written)
        lines = self._sites.of(_host(authority)) if authority is not None else []
        rules = self._target_rules(lines) if lines else self._everywhere
        if len(self._authorities) >= MOST_AUTHORITIES:
            self._authorities.clear()
        self._authorities[written] = authority, rules
        return authority, rules

    def _target_rules(self, lines: list[Line]) -> TargetRules:
        return TargetRules(switched(self._switches, lines), Parameters([*self._sites.everywhere, *lines]))


@lru_cache(maxsize=1)
def _default_policy() -> Policy:
    return Policy()


def _quickly_resolved(url: str, base: str | None) -> str | None:
    """The answer where can_ada is known to give the standard's, else None.

    It takes a quarter of the other parser's time, but bundles older tables: it disagrees on "^", on host names
    that go through IDNA (from whatever is not ASCII, escaped or begins with xn--) and on opaque paths.
    """
    if not url.isascii() or "%" in url or "^" in url:
        return None
    try:
        href = (can_ada.parse(url) if base is None else _parsed_base(base) + url).href
    except ValueError:
        return None
    return href if href.startswith(_WEB) and "xn--" not in href else None


@lru_cache(maxsize=16)
def _parsed_base(base: str) -> can_ada.URL:
    """The links of a page share a base, so it is parsed once. ValueError if it is not a URL."""
    return can_ada.parse(_carefully_resolved(base, None) or "")


# The library complains at the end of the process about objects of its own that are still alive.
atexit.register(_parsed_base.cache_clear)


def _carefully_resolved(url: str, base: str | None) -> str | None:
    try:
        if base is None:
            return ada_url.normalize_url(_scalar_values(url))
        return ada_url.join_url(_scalar_values(base), _scalar_values(url))
    except ValueError:
        return None


def _scalar_values(text: str) -> str:
    """The standard's USVString: half a surrogate pair becomes U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _visitable(authority: str) -> str | None:
    """The host and port alone, or None if no such host can exist in the DNS."""
    authority = authority.rpartition("@")[2]
    if ".." in authority or authority[0] == ".":
        return None
    if authority[-1] == "." or ".:" in authority:
        host, colon, port = authority.partition(":")
        authority = host[:-1] + colon + port
    return None if len(_host(authority)) > LONGEST_HOST else authority


def _host(authority: str) -> str:
    if authority[0] == "[":
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0]


def _authority_steps(written: str) -> Iterator[tuple[str, str]]:
    without_user = written.rpartition("@")[2]
    yield "user_info", without_user
    yield "host_dot", _visitable(written) or without_user


def _standard_steps(written: str, href: str) -> Iterator[tuple[str, str]]:
    """The standard does all at once; this tells its rules apart by comparing the parts before and after."""
    cleaned = re.sub(r"[\t\n\r]", "", written.strip("".join(map(chr, range(33)))))
    yield "white_space", cleaned
    old, new = _WRITTEN.fullmatch(cleaned), _WRITTEN.fullmatch(href)
    if old is not None and new is not None:
        scheme, user, host, port, path, query, fragment = (old[part] or "" for part in _WRITTEN.groupindex)

        def url() -> str:
            return f"{scheme}://{user + '@' if user else ''}{host}{port}{path}{query}{fragment}"

        scheme, user = new["scheme"], new["user"] or ""
        yield "scheme_case", cleaned.replace(old["scheme"], scheme, 1)
        host = host.lower() if host.isascii() else host
        yield "host_case", url()
        host = new["host"]
        yield "host_script", url()
        port = new["port"] or ""
        yield "default_port", url()
        has_dots = _has_dot_segments(path)
        path, query, fragment = path if has_dots else new["path"], new["query"] or "", new["fragment"] or ""
        yield "target_characters", url()
    yield "dot_segments", href


def _has_dot_segments(path: str) -> bool:
    segments = re.split(r"[/\\]", path.lower().replace("%2e", "."))
    return "." in segments or ".." in segments
