"""What is known of single sites: the parameters that do not change what they show, the rules that hold on them.

Read from files of lines `SITE WORD NAMES`, of which one is part of the package:

    *             tracking      utm_*, gclid       dropped everywhere by the rule `tracking`
    *             sessions      PHPSESSID          dropped everywhere by the rule `sessions`
    *             session-like  sid                the same, but only where the value looks like an id
    example.com   drop          view, sort*        dropped on example.com and its subdomains
    example.com   keep          gclid              never dropped there
    example.com   only          id, page           all others are dropped there
    example.com   on            index_page         rules that hold there
    example.com   off           query_order        rules that do not

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

_WORDS = ("tracking", "sessions", "session-like", "drop", "keep", "only", "on", "off")
_NAME_OF_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_NAME = re.compile(r"[^\s,#*=&]+\*?")
_ID = re.compile(  # letters and digits in no order that a word, a date or a number has
    r"(?=.*[0-9])(?=.*[a-z])(?:[0-9a-f]{16,}|[0-9a-f-]{32,})|(?=(?:[a-z]*[0-9]+[a-z]+){3})[0-9a-z]{20,}", re.IGNORECASE
)
_MOST_NAMES = 10_000  # verdicts on parameters remembered before we start over
_LONGEST_NAME = 64  # of which we remember one


class BrokenLine(ValueError):
    """A line of a file that nobody can obey."""

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(f"{file}:{line}: {problem}")


class SiteRuleLine(NamedTuple):
    """What one line says."""

    site: str
    word: str
    names: tuple[str, ...]


def read_lines(text: str, file: str, rules: Collection[str]) -> list[SiteRuleLine]:
    """The lines of a file; `BrokenLine` for the first that makes no sense.

    >>> read_lines("example.com  drop  view, sort*   # looks only", "rules.txt", ())
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
        if word not in _WORDS:
            raise BrokenLine(file, number, f"{word!r} is none of {', '.join(_WORDS)}")
        for name in names:
            if word in ("on", "off") and name not in rules:
                raise BrokenLine(file, number, f"{name!r} is no rule that can be switched: {', '.join(rules)}")
            if not _NAME.fullmatch(name):
                raise BrokenLine(file, number, f"{name!r} is no name of a parameter; only its end may be a star")
        yield SiteRuleLine(site, word, names)


def _is_host(text: str) -> bool:
    if _NAME_OF_HOST.fullmatch(text):
        return True
    try:
        return IPv6Address(text).compressed == text
    except ValueError:
        return False


@cache
def packaged_lines() -> tuple[SiteRuleLine, ...]:
    """What we know of the web."""
    text = files("crawler.urls").joinpath("parameters.txt").read_text("utf-8")
    return tuple(read_lines(text, "parameters.txt", ()))


class ParameterRules:
    """Which rule drops a parameter of a query."""

    def __init__(self, lines: Iterable[SiteRuleLine]) -> None:
        names: dict[str, list[str]] = {word: [] for word in _WORDS}
        for line in lines:
            names[line.word].extend(line.names)
        self._keep = _Names(names["keep"])
        self._only = _Names(names["only"])
        self._drop = _Names(names["drop"])
        self._tracking = _Names(names["tracking"])
        self._sessions = _Names(names["sessions"])
        self._session_like = _Names(names["session-like"])
        self.rules = _Verdicts(self._judge)  # by name; empty = none

    def _judge(self, name: str) -> str:
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


class _Verdicts(dict[str, str]):
    """Made when first asked for; a name that is known costs a look-up."""

    def __init__(self, judge: Callable[[str], str]) -> None:
        super().__init__()
        self._judge = judge

    def __missing__(self, name: str) -> str:
        verdict = self._judge(name)
        if len(name) <= _LONGEST_NAME:
            if len(self) >= _MOST_NAMES:
                self.clear()
            self[name] = verdict
        return verdict


def rule_for_value(rule: str, value: str) -> str:
    """The rule that drops a parameter with this value, if a rule wants to drop it for its name; empty if none does.

    >>> rule_for_value("session-like", "0123456789abcdef"), rule_for_value("session-like", "12")
    ('sessions', '')
    """
    if ";" in value:  # "a=1;b=2" may be two parameters
        return ""
    if rule == "session-like":
        return "sessions" if _ID.fullmatch(value) else ""
    return rule


class _Names:
    """Names and beginnings of names, whatever the case."""

    def __init__(self, names: Iterable[str]) -> None:
        lower = [unquote(name).lower() for name in names]
        self._whole = frozenset(name for name in lower if not name.endswith("*"))
        self._beginnings = tuple(name[:-1] for name in lower if name.endswith("*"))

    def __bool__(self) -> bool:
        return bool(self._whole or self._beginnings)

    def __contains__(self, name: str) -> bool:
        """Whether this name, as a URL has it, is one of them."""
        lower = unquote(name).lower().removeprefix("amp;")  # left over when "&" was escaped twice
        return lower in self._whole or lower.startswith(self._beginnings)


class SiteRules:
    """The lines that hold for a host."""

    def __init__(self, lines: Iterable[SiteRuleLine]) -> None:
        self._lines: dict[str, list[SiteRuleLine]] = {}
        for line in lines:
            self._lines.setdefault(line.site, []).append(line)
        self.everywhere = self._lines.pop("*", [])

    def of(self, host: str) -> list[SiteRuleLine]:
        """Those of the host itself and of the domains it lies in, the widest first; without those of all sites."""
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


def switched(on: Mapping[str, bool], lines: Iterable[SiteRuleLine]) -> set[str]:
    """The rules that are on where these lines hold."""
    switches = dict(on)
    for line in lines:
        if line.word in ("on", "off"):
            switches |= dict.fromkeys(line.names, line.word == "on")
    return {name for name, is_on in switches.items() if is_on}
