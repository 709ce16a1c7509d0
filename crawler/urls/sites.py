"""Canonicalization rules for single sites: which parameters do not change a page, which rules are on or off.

They are read from files with lines `SITE WORD NAMES`, of which one is part of the package:

    *             tracking      utm_*, gclid       dropped everywhere by the rule `tracking`
    *             sessions      PHPSESSID          dropped everywhere by the rule `sessions`
    *             session-like  sid                the same, but only where the value looks like an id
    example.com   drop          view, sort*        dropped on example.com and its subdomains
    example.com   keep          gclid              never dropped there
    example.com   only          id, page           all others are dropped there
    example.com   on            index_page         rules that are on there
    example.com   off           query_order        rules that are off there

Names of parameters may end in a star, and their case does not matter. "#" begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from ipaddress import IPv6Address
from typing import NamedTuple
from urllib.parse import unquote

_KEYWORDS = ("tracking", "sessions", "session-like", "drop", "keep", "only", "on", "off")
_HOST_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_NAME = re.compile(r"[^\s,#*=&]+\*?")
_ID = re.compile(  # letters and digits mixed as in no word, date or number
    r"(?=.*[0-9])(?=.*[a-z])(?:[0-9a-f]{16,}|[0-9a-f-]{32,})|(?=(?:[a-z]*[0-9]+[a-z]+){3})[0-9a-z]{20,}", re.IGNORECASE
)
_MOST_CACHED_NAMES = 10_000  # parameters whose rule is cached before the cache is cleared
_LONGEST_NAME = 64  # of a parameter that is cached


class BrokenLine(ValueError):
    """An invalid line in a file that the operator wrote."""

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(f"{file}:{line}: {problem}")


class SiteRuleLine(NamedTuple):
    """One line of a file of site rules."""

    site: str
    word: str
    names: tuple[str, ...]


def read_site_rules(text: str, file: str, rules: Collection[str]) -> list[SiteRuleLine]:
    """Parse the lines of a file; raises `BrokenLine` for the first that is invalid.

    >>> read_site_rules("example.com  drop  view, sort*   # looks only", "rules.txt", ())
    [SiteRuleLine(site='example.com', word='drop', names=('view', 'sort*'))]
    """
    return list(_lines(text, file, rules))


def _lines(text: str, file: str, rules: Collection[str]) -> Iterator[SiteRuleLine]:
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        fields = line.partition("#")[0].split(None, 2)
        if not fields:
            continue
        if len(fields) < 3:
            raise BrokenLine(file, number, f"{line.strip()!r}: a line is SITE WORD NAMES, such as: a.com drop view")
        site, word, names = fields[0].lower(), fields[1].lower(), tuple(re.split(r"[\s,]+", fields[2].strip(", \t\r")))
        if site != "*" and not _is_host(site):
            raise BrokenLine(file, number, f"{site!r} is no host name; write it as the canonical URL has it, or *")
        if word not in _KEYWORDS:
            raise BrokenLine(file, number, f"{word!r} is none of {', '.join(_KEYWORDS)}")
        for name in names:
            if word in ("on", "off") and name not in rules:
                raise BrokenLine(file, number, f"{name!r} is no rule that can be switched: {', '.join(rules)}")
            if not _NAME.fullmatch(name):
                raise BrokenLine(file, number, f"{name!r} is no name of a parameter; only its end may be a star")
        yield SiteRuleLine(site, word, names)


def _is_host(text: str) -> bool:
    if _HOST_NAME.fullmatch(text):
        return True
    try:
        return IPv6Address(text).compressed == text
    except ValueError:
        return False


@cache
def packaged_lines() -> tuple[SiteRuleLine, ...]:
    """Return the rules in the package's own file."""
    text = files("crawler.urls").joinpath("parameters.txt").read_text("utf-8")
    return tuple(read_site_rules(text, "parameters.txt", ()))


class ParameterRules:
    """Finds the rule that drops a parameter of a query."""

    def __init__(self, lines: Iterable[SiteRuleLine]) -> None:
        names: dict[str, list[str]] = {word: [] for word in _KEYWORDS}
        for line in lines:
            names[line.word].extend(line.names)
        self._keep = _NamePatterns(names["keep"])
        self._only = _NamePatterns(names["only"])
        self._drop = _NamePatterns(names["drop"])
        self._tracking = _NamePatterns(names["tracking"])
        self._sessions = _NamePatterns(names["sessions"])
        self._session_like = _NamePatterns(names["session-like"])
        self.rules = _RuleByName(self._rule_for_name)  # by parameter name; "" = no rule drops it

    def _rule_for_name(self, name: str) -> str:
        if name in self._keep:
            return ""
        if name in self._drop or (self._only and name not in self._only):
            return "site_parameters"
        if name in self._only:
            return ""
        if name in self._tracking:
            return "tracking"
        if name in self._sessions:
            return "sessions"
        return "session-like" if name in self._session_like else ""


class _RuleByName(dict[str, str]):
    """A cache of the rule for each parameter name, filled when a name is first looked up."""

    def __init__(self, find_rule: Callable[[str], str]) -> None:
        super().__init__()
        self._rule_for_name = find_rule

    def __missing__(self, name: str) -> str:
        rule = self._rule_for_name(name)
        if len(name) <= _LONGEST_NAME:
            if len(self) >= _MOST_CACHED_NAMES:
                self.clear()
            self[name] = rule
        return rule


def rule_for_value(rule: str, value: str) -> str:
    """Return the rule that drops a parameter with this value, given the rule for its name; empty if it is not dropped.

    >>> rule_for_value("session-like", "0123456789abcdef"), rule_for_value("session-like", "12")
    ('sessions', '')
    """
    if ";" in value:  # "a=1;b=2" may be two parameters
        return ""
    if rule == "session-like":
        return "sessions" if _ID.fullmatch(value) else ""
    return rule


class _NamePatterns:
    """Names of parameters and prefixes of names, ignoring case."""

    def __init__(self, names: Iterable[str]) -> None:
        lower = [unquote(name).lower() for name in names]
        self._whole = frozenset(name for name in lower if not name.endswith("*"))
        self._prefixes = tuple(name[:-1] for name in lower if name.endswith("*"))

    def __bool__(self) -> bool:
        return bool(self._whole or self._prefixes)

    def __contains__(self, name: str) -> bool:
        """Whether this name, as spelled in a URL, is one of them."""
        lower = unquote(name).lower().removeprefix("amp;")  # left over when "&" was escaped twice
        return lower in self._whole or lower.startswith(self._prefixes)


class SiteRules:
    """Finds the lines that apply to a host."""

    def __init__(self, lines: Iterable[SiteRuleLine]) -> None:
        self._lines: dict[str, list[SiteRuleLine]] = {}
        for line in lines:
            self._lines.setdefault(line.site, []).append(line)
        self.for_all_sites = self._lines.pop("*", [])

    def of(self, host: str) -> list[SiteRuleLine]:
        """Return the lines for the host and for its parent domains, the widest first; without those for all sites."""
        found: list[list[SiteRuleLine]] = []
        if self._lines:
            start = 0
            while True:
                lines = self._lines.get(host[start:])
                if lines is not None:
                    found.append(lines)
                dot = host.find(".", start)
                if dot < 0:
                    break
                start = dot + 1
        return [line for lines in reversed(found) for line in lines]


def enabled_rules(on: Mapping[str, bool], lines: Iterable[SiteRuleLine]) -> set[str]:
    """Return the rules that are on where these lines apply."""
    switches = dict(on)
    for line in lines:
        if line.word in ("on", "off"):
            switches |= dict.fromkeys(line.names, line.word == "on")
    return {name for name, is_on in switches.items() if is_on}
