"""robots.txt (RFC 9309): what do an origin's rules allow, and what holds while the file cannot be fetched?"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import time
from typing import NamedTuple, Self

from protego import Protego
from protego._urlpattern import _URLPattern
from protego._utils import _quote_path

from crawler.items import CrawlLimits, DailyWindow, Reason, RequestRate, RobotsFile

LARGEST_FILE = 500 * 1024  # RFC 9309 §2.5: at least this much is to be read
HOUR, DAY = 3600.0, 86_400.0
LIFETIME = DAY  # RFC 9309 §2.4: no longer, whatever the server says of caches
GIVE_UP_AFTER = 30 * DAY  # RFC 9309 §2.3.1.4: a "reasonably long period" of failures
LONGEST_DELAY = DAY  # longer delays are shortened to this: nobody can mean them
_MOST_REQUESTS = 1_000_000
# Protego stores each rule once for each agent of its group: 500 KiB could hold 20,000 rules for 20,000 agents.
_MOST_WORK = 200_000

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_TOKEN = re.compile("[a-zA-Z_-]+[0-9]*")
_HTML = re.compile(r"\s*(?:<!--.*?-->\s*)?<(?:html|!doctype)", re.IGNORECASE | re.DOTALL)
# RFC 9309 §2.2.4: other lines must not interfere, that is, not end a group. Common misspellings are included.
_KNOWN_FIELD = re.compile(r"\s*(?:user|all|dis|dias|crawl|request|visit|site|host)", re.IGNORECASE)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# A URL whose path and query Protego would compare with only these characters escaped and nothing else changed.
_PLAIN_URL = re.compile(r"https?://[a-z0-9.-]++(?::[0-9]++)?(/(?!/)[A-Za-z0-9_.~/=?&+,;:@!-]*+)")
_ESCAPES = str.maketrans({character: f"%{ord(character):02X}" for character in "?&+,;:@!"})
_MAX_AGE = re.compile(r"(?:^|,)\s*(?:s-maxage|max-age)\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)
_UTF8_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF8[:2], codecs.BOM_UTF8[:1])  # some editors truncate the BOM


class RobotsRules:
    """The parsed rules of one robots.txt. An agent is its product token, such as "orbweaver"."""

    def __init__(self, rules: Protego) -> None:
        self._rules = rules
        self._by_agent: dict[str, _AgentRules] = {}  # by agent

    @classmethod
    def parse(cls, body: bytes) -> Self:
        """Parse a robots.txt; any bytes are accepted, and unusable ones give a file without rules.

        >>> rules = RobotsRules.parse(b"User-agent: *\\nDisallow: /private/\\nCrawl-delay: 2.5")
        >>> rules.allows("http://example.com/private/x", "orbweaver"), rules.crawl_delay("orbweaver")
        (False, 2.5)
        """
        return cls(Protego.parse(_rule_lines(body)))

    def allows(self, url: str, agent: str) -> bool:
        """Whether the agent may fetch the URL. A URL that cannot be split into its parts may not be fetched.

        Rules apply to URLs as they are sent, with everything but ASCII escaped. For a URL with raw non-ASCII characters
        implementations differ: some match it as if escaped, others match no such rule; it must be allowed either way.
        """
        try:
            return self._allows(url, agent) and (url.isascii() or self._allows(_NOT_ASCII.sub("\0", url), agent))
        except ValueError:
            return False

    def _allows(self, url: str, agent: str) -> bool:
        if "/robots.txt" in url:  # robots.txt itself may always be fetched
            return self._rules.can_fetch(url, agent)
        agent_rules = self._by_agent.get(agent)
        if agent_rules is None:
            agent_rules = self._by_agent[agent] = _AgentRules.of(self._rules, agent)
        plain = _PLAIN_URL.fullmatch(url)
        return agent_rules.allows_path(_quote_path(url) if plain is None else plain[1].translate(_ESCAPES))

    def crawl_delay(self, agent: str) -> float | None:
        """The Crawl-delay for the agent in seconds, if the file has one."""
        delay = self._rules.crawl_delay(agent)
        return None if delay is None else min(delay, LONGEST_DELAY)

    def request_rate(self, agent: str) -> RequestRate | None:
        """The Request-rate for the agent, if the file has one."""
        rate = self._rules.request_rate(agent)
        if rate is None:
            return None
        window = _window(rate.start_time, rate.end_time)
        return RequestRate(min(rate.requests, _MOST_REQUESTS), min(rate.seconds, int(LONGEST_DELAY)), window)

    def visit_time(self, agent: str) -> DailyWindow | None:
        """The Visit-time for the agent, if the file has one."""
        visit_time = self._rules.visit_time(agent)
        return None if visit_time is None else _window(visit_time.start_time, visit_time.end_time)

    def crawl_limits(self, agent: str) -> CrawlLimits:
        """Crawl-delay, Request-rate and Visit-time for the agent together."""
        return CrawlLimits(self.crawl_delay(agent), self.request_rate(agent), self.visit_time(agent))

    @property
    def sitemaps(self) -> Sequence[str]:
        """The sitemap URLs as written in the file; the caller resolves and checks them."""
        return tuple(self._rules.sitemaps)

    @property
    def preferred_host(self) -> str | None:
        """The host that the site names as its preferred mirror (the Host line)."""
        return self._rules.preferred_host


class _Rule(NamedTuple):
    piece: str  # a substring of every URL that the rule matches
    matches: Callable[[str], bool]
    allows: bool


class _AgentRules:
    """The rules for one agent, in Protego's order: the first that matches decides.

    Protego tries every rule that has a wildcard; with sixty of them that takes 35 µs a URL, and 10 µs if rules are
    skipped whose longest piece between wildcards does not occur in the URL.
    """

    def __init__(self, patterns: Iterable[tuple[_URLPattern, bool]]) -> None:
        self._rules: list[_Rule] = []
        self._wild: list[_Rule] = []
        prefixes = []
        for pattern, allows in patterns:
            rule = _Rule(_longest_piece(pattern._pattern), pattern.match, allows)
            self._rules.append(rule)
            if "*" in pattern._pattern or pattern._pattern.endswith("$"):
                self._wild.append(rule)
            else:
                prefixes.append(pattern._pattern)
        self._prefixes = tuple(prefixes)

    @classmethod
    def of(cls, rules: Protego, agent: str) -> Self:
        found = rules._get_matching_rule_set(agent)
        return cls([] if found is None else [(rule.value, rule.field == "allow") for rule in found._rules])

    def allows_path(self, path: str) -> bool:
        for piece, matches, allows in self._rules if path.startswith(self._prefixes) else self._wild:
            if piece in path and matches(path):
                return allows
        return True


def _longest_piece(pattern: str) -> str:
    return max(pattern.removesuffix("$").split("*"), key=len)


def judge_robots(
    *,
    status: int,
    reason: Reason,
    body: bytes,
    fetched: float,
    previous: RobotsFile | None,
    host: int,
    origin: str,
    retry: float,
    lifetime: float = LIFETIME,
) -> RobotsFile:
    """Return the robots.txt state of an origin after a visit to its file.

    In the result, pages wait until `held_until`; after that the rules in `body` decide, and None allows everything;
    after `expires` the file must be fetched again. `fetched` is when the rules were last known, or when the first
    attempt failed if they never were, so it also shows since when the origin has been failing. `retry` is the first
    pause after a failure, `lifetime` how long an answer may be cached.
    """
    if _is_whole_file(status, reason, body):
        rules = _cap_size(body)
    elif 300 <= status <= 499 and status != 429:
        rules = None  # RFC 9309 §2.3.1.3: unavailable, so there are no rules
    else:
        return _unreachable(status, fetched, previous, host, origin, retry)
    return RobotsFile(host=host, origin=origin, status=status, body=rules, fetched=fetched, expires=fetched + lifetime)


def lifetime_of(cache_control: str, least: float) -> float:
    """Return how long a robots.txt is cached: as its Cache-Control header says, within limits, else a day.

    Some servers forbid any caching; the file is cached for `least` seconds nevertheless.

    >>> [lifetime_of(header, 3600.0) for header in ("public, max-age=7200", "no-store", "max-age=31536000", "")]
    [7200.0, 3600.0, 86400.0, 86400.0]
    """
    ages = [float(age) for age in _MAX_AGE.findall(cache_control)]
    if not ages:
        return least if re.search("no-store|no-cache", cache_control, re.IGNORECASE) else LIFETIME
    return min(max(min(ages), least), LIFETIME)


def _is_whole_file(status: int, reason: Reason, body: bytes) -> bool:
    """Whether the file arrived completely, or at least as much of it as we read; a part could lack a Disallow line."""
    is_cut = reason in (Reason.CUT_DISCONNECT, Reason.CUT_TIME)
    return 200 <= status <= 299 and (not is_cut or len(body) >= LARGEST_FILE)


def _unreachable(
    status: int, now: float, previous: RobotsFile | None, host: int, origin: str, retry: float
) -> RobotsFile:
    """Return the state of an origin whose robots.txt is unreachable.

    RFC 9309 §2.3.1.4: nothing is fetched; after a month the last copy applies, or no rules if there never was one.
    """
    failures = 0 if previous is None else previous.failures
    since = now if previous is None else previous.fetched
    rest = min(retry * 2 ** min(failures, 5), DAY)
    has_given_up = now - since >= GIVE_UP_AFTER
    return RobotsFile(
        host=host,
        origin=origin,
        status=status,
        body=None if previous is None else previous.body,
        fetched=since,
        expires=now + (LIFETIME if has_given_up else rest),
        held_until=0.0 if has_given_up else now + rest,
        failures=failures + 1,
    )


def _rule_lines(body: bytes) -> str:
    """Decode a robots.txt and return only its lines with known fields; an HTML page has none."""
    text = _CONTROL.sub("", _decoded(_cap_size(body)))
    if _HTML.match(text[:2048]):
        return ""
    return "\n".join(_limit_work(filter(_KNOWN_FIELD.match, text.splitlines())))


def _cap_size(body: bytes) -> bytes:
    """Return the first 500 KiB, without the incomplete last line."""
    if len(body) <= LARGEST_FILE:
        return body
    body = body[:LARGEST_FILE]
    return body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]


def _decoded(body: bytes) -> str:
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    mark = next((mark for mark in _UTF8_MARKS if body.startswith(mark)), b"")
    return body[len(mark) :].decode("utf-8", "replace")


def _limit_work(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines until parsing them would cost too much; the number of agents is overestimated if anything."""
    agents = work = 0
    after_rule = False
    for line in lines:
        field, _, value = line.partition(":")
        field = field.strip().lower()
        if field.startswith("user"):
            agents = 1 if after_rule else agents + 1
            work += agents // 100  # Protego compares a new agent with those of its group
            after_rule = False
            yield from _agent_tokens(value)
        else:
            work += agents
            after_rule = after_rule or field in ("allow", "disallow")
        if work > _MOST_WORK:
            return
        yield line


def _agent_tokens(agent: str) -> Iterator[str]:
    """Yield further User-agent lines for a value that is no product token (RFC 9309 §2.2.1).

    "Bot/1.0" and "Bot (the bad one)" stand for "Bot", "One Two" for both.
    """
    words = agent.partition("#")[0].split()
    tokens = words if all(map(_TOKEN.fullmatch, words)) else [word.partition("/")[0] for word in words[:1]]
    if len(words) > 1 or tokens != words:
        yield from (f"User-agent: {token}" for token in tokens if token)


def _window(start: time | None, end: time | None) -> DailyWindow | None:
    if start is None or end is None:
        return None
    return DailyWindow(start.hour * 60 + start.minute, end.hour * 60 + end.minute)
