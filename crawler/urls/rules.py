"""The rules of canonicalization: a table in the order in which they are applied, and the ones for path and query.

The URL Standard demands the first rules, which cannot be switched off. The rest are ours. Each has a grade: the two
spellings that it unifies name the same resource always, usually or sometimes; a rule that holds only sometimes is off
unless somebody who knows the site switches it on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from enum import StrEnum
from operator import itemgetter
from re import Match
from typing import NamedTuple

from crawler.urls.sites import ParameterRules, rule_for_value


class RuleGrade(StrEnum):
    ALWAYS = "always"
    USUALLY = "usually"
    SOMETIMES = "sometimes"


class UrlRule(NamedTuple):
    """One canonicalization rule: a row of the table."""

    name: str
    grade: RuleGrade
    does: str
    before: str  # an example
    after: str
    setting: str = ""  # that switches it; empty = it cannot be switched
    default: bool = True
    why_fixed: str = ""


_STANDARD = "the URL Standard demands it"

RULES = (
    UrlRule(
        "white_space",
        RuleGrade.ALWAYS,
        "drop white space around the URL, tabs and line ends in it",
        " http://abc.com/a\t",
        "http://abc.com/a",
        why_fixed=_STANDARD,
    ),
    UrlRule(
        "scheme_case",
        RuleGrade.ALWAYS,
        "write the scheme in lower case",
        "HTTP://abc.com/",
        "http://abc.com/",
        why_fixed=_STANDARD,
    ),
    UrlRule(
        "host_case",
        RuleGrade.ALWAYS,
        "write the host in lower case",
        "http://ABC.com/",
        "http://abc.com/",
        why_fixed=_STANDARD,
    ),
    UrlRule(
        "host_script",
        RuleGrade.ALWAYS,
        "write names in other scripts as the DNS has them, and numbers that mean an address as the address",
        "http://bücher.example/",
        "http://xn--bcher-kva.example/",
        why_fixed=_STANDARD,
    ),
    UrlRule(
        "default_port",
        RuleGrade.ALWAYS,
        "drop the scheme's own port, and a colon without one",
        "http://abc.com:80/",
        "http://abc.com/",
        why_fixed=_STANDARD,
    ),
    UrlRule(
        "target_characters",
        RuleGrade.ALWAYS,
        'add the "/" of an empty path, write backslashes as slashes, escape what a URL cannot hold',
        "http://abc.com\\a b",
        "http://abc.com/a%20b",
        why_fixed=_STANDARD,
    ),
    UrlRule(
        "dot_segments",
        RuleGrade.USUALLY,
        'take out "." and ".." segments',
        "http://abc.com/a/../b/./c",
        "http://abc.com/b/c",
        why_fixed=_STANDARD,
    ),
    UrlRule(
        "user_info",
        RuleGrade.ALWAYS,
        "drop user name and password",
        "http://me:secret@abc.com/",
        "http://abc.com/",
        why_fixed="secrets are neither kept nor sent",
    ),
    UrlRule(
        "host_dot",
        RuleGrade.ALWAYS,
        "drop the dot behind a complete host name",
        "http://abc.com./",
        "http://abc.com/",
        why_fixed="one host has one clock",
    ),
    UrlRule(
        "fragment",
        RuleGrade.ALWAYS,
        "drop the fragment",
        "http://abc.com/a#part",
        "http://abc.com/a",
        why_fixed="no server ever sees it",
    ),
    UrlRule(
        "escapes",
        RuleGrade.ALWAYS,
        "undo escapes of letters, digits and -._~, write all others in upper case, escape []{}|^`",
        "http://abc.com/%7esmith/%c3%a9?a[]=1",
        "http://abc.com/~smith/%C3%A9?a%5B%5D=1",
        "URL_UNESCAPE",
    ),
    UrlRule(
        "sessions",
        RuleGrade.USUALLY,
        "drop session ids from path and query",
        "http://abc.com/a;jsessionid=0A1B?sid=0123456789abcdef",
        "http://abc.com/a",
        "URL_DROP_SESSIONS",
    ),
    UrlRule(
        "tracking",
        RuleGrade.USUALLY,
        "drop parameters that only say where a visitor came from",
        "http://abc.com/a?id=1&utm_source=x",
        "http://abc.com/a?id=1",
        "URL_DROP_TRACKING",
    ),
    UrlRule(
        "site_parameters",
        RuleGrade.ALWAYS,
        "drop parameters that a line of URL_RULES names for this site",
        "http://shop.example/a?id=1&view=grid",
        "http://shop.example/a?id=1",
        why_fixed="the file URL_RULES says so",
    ),
    UrlRule(
        "empty_query",
        RuleGrade.USUALLY,
        'drop empty parameters, and a "?" without any',
        "http://abc.com/a?",
        "http://abc.com/a",
        "URL_DROP_EMPTY",
    ),
    UrlRule(
        "query_order",
        RuleGrade.USUALLY,
        "sort parameters by name; those of one name keep their order",
        "http://abc.com/a?b=2&a=1",
        "http://abc.com/a?a=1&b=2",
        "URL_SORT_QUERY",
    ),
    UrlRule(
        "slashes",
        RuleGrade.USUALLY,
        "make one slash of several in a row, but not behind a colon",
        "http://abc.com//a///b",
        "http://abc.com/a/b",
        "URL_MERGE_SLASHES",
    ),
    UrlRule(
        "index_page",
        RuleGrade.SOMETIMES,
        "drop index.html and the like behind a directory, if there is no query",
        "http://abc.com/a/index.html",
        "http://abc.com/a/",
        "URL_DROP_INDEX_PAGE",
        default=False,
    ),
    UrlRule(
        "trailing_slash",
        RuleGrade.SOMETIMES,
        "add a slash to a path that ends like a directory's name, if there is no query",
        "http://abc.com/a",
        "http://abc.com/a/",
        "URL_ADD_TRAILING_SLASH",
        default=False,
    ),
)
SWITCHABLE = {rule.name: rule for rule in RULES if rule.setting}
DEFAULTS = {name: rule.default for name, rule in SWITCHABLE.items()}

_UNRESERVED = "2[DdEe]|3[0-9]|[46][1-9A-Fa-f]|5[0-9AaFf]|7[0-9AaEe]"  # RFC 3986 §2.3
_NOT_NORMALIZED = re.compile(
    # A "%" that begins no escape could form one with a decoded letter after it: "%%32e" must not become "%2e".
    rf"(?<!%)(?<!%[0-9A-Fa-f])%({_UNRESERVED})"
    r"|%(?:[a-f][0-9A-Fa-f]|[0-9A-F][a-f])"
    # Characters that the URL Standard leaves as they are, RFC 3986 allows nowhere in a path or query, and some servers
    # answer with an error.
    r"|[\[\]{}|^`\\]"
)
_MAY_NOT_BE_NORMALIZED = re.compile(r"[%\[\]{}|^`\\]")
_PATH_PARAMETER = re.compile(r";(?:jsessionid|phpsessid)=[^/;]*", re.IGNORECASE)  # servlet containers, PHP
_PATH_SEGMENT = re.compile(  # ASP.NET: /(S(3x…))/
    r"/\((?:(?=[^/]*\([0-9A-Z_-]{10,}\))(?:[A-Z]\([0-9A-Z_-]+\))+|(?=[a-z]*[0-9])[0-9a-z]{24})\)(?=/|$)",
    re.IGNORECASE,
)
_DOT_SEGMENT = re.compile(r"/(?:\.|%2e){1,2}(?:/|$)", re.IGNORECASE)
_SLASHES = re.compile(r"(?<!:)//+")
_INDEX_PAGE = re.compile(
    r"(?<=/)(?:index\.(?:html?|shtml|xhtml|php[345]?|aspx?|jsp|cgi|cfm)|default\.(?:html?|aspx?))$", re.IGNORECASE
)
_DIRECTORY = re.compile(r"/[^/.;]+$")


Parameter = tuple[str, str, str]  # name, "=" or nothing, value
_EMPTY: Parameter = ("", "", "")
_NAME = itemgetter(0)


class TargetRules:
    """The rules for path and query that are on for one site."""

    def __init__(self, on: Collection[str], parameters: ParameterRules) -> None:
        self.on = frozenset(on)
        self._parameters = parameters
        self._dropped = frozenset({"site_parameters", "sessions", "tracking"} & (self.on | {"site_parameters"}))
        self._unescape = "escapes" in on
        self._sessions = "sessions" in on
        self._sort = "query_order" in on
        self._drop_empty = "empty_query" in on
        self._path_rules = [apply_rule for name, apply_rule in _PATH_RULES.items() if name in on]
        self.changes_plain_paths = bool({"index_page", "trailing_slash"} & self.on)

    def apply(self, target: str) -> str:
        """Return the canonical form of path and query; a fragment is dropped."""
        if "#" in target:
            target = target.partition("#")[0]
        # Most targets contain nothing that a rule could change and return at once.
        if not (
            "?" in target
            or "%" in target
            or "//" in target
            or ";" in target
            or "(" in target
            or "[" in target
            or "]" in target
            or "|" in target
        ):
            return target if not self.changes_plain_paths else self._apply_to_path(target, "")
        if self._unescape and _MAY_NOT_BE_NORMALIZED.search(target):
            target = normalize_escapes(target)
        path, mark, query = target.partition("?")
        if mark:
            query = self._canonical_query(query)
            if not query and self._drop_empty:
                mark = ""
        return self._apply_to_path(path, mark) + mark + query

    def _apply_to_path(self, path: str, mark: str) -> str:
        if self._sessions and (";" in path or "(" in path):
            path = without_path_sessions(path)
        for apply_rule in self._path_rules:
            path = apply_rule(path, mark)
        return path

    def steps(self, target: str) -> Iterator[tuple[str, str]]:
        """Apply one rule at a time and yield its name and the target after it. The last target is that of `apply`."""
        target = target.partition("#")[0]
        yield "fragment", target
        if self._unescape:
            target = normalize_escapes(target)
            yield "escapes", target
        path, mark, query = target.partition("?")
        if self._sessions:
            path = without_path_sessions(path)
        for rule in ("sessions", "tracking", "site_parameters"):
            if rule in self._dropped:
                query = "&".join(map("".join, self._without_dropped(query, {rule})))
                yield rule, path + mark + query
        if self._drop_empty:
            query = "&".join([piece for piece in query.split("&") if piece])
            mark = mark if query else ""
            yield "empty_query", path + mark + query
        if self._sort:
            query = "&".join(map("".join, _sorted(self._without_dropped(query, ()))))
            yield "query_order", path + mark + query
        for name, apply_rule in _PATH_RULES.items():
            if name in self.on:
                path = apply_rule(path, mark)
                yield name, path + mark + query

    def _canonical_query(self, query: str) -> str:
        parameters = self._without_dropped(query, self._dropped)
        if self._drop_empty:
            parameters = [parameter for parameter in parameters if parameter != _EMPTY]
        return "&".join(map("".join, _sorted(parameters) if self._sort else parameters))

    def _without_dropped(self, query: str, dropped: Collection[str]) -> list[Parameter]:
        """Return the parameters of a query without those that one of these rules drops."""
        rules, remaining = self._parameters.rules, []
        for piece in query.split("&"):
            parameter = piece.partition("=")
            rule = rules[parameter[0]]
            if not rule or rule_for_value(rule, parameter[2]) not in dropped:
                remaining.append(parameter)
        return remaining


def normalize_escapes(target: str) -> str:
    """Apply the rule `escapes`."""
    return _NOT_NORMALIZED.sub(_normalize_escape, target)


def _normalize_escape(escape: Match[str]) -> str:
    octet, text = escape[1], escape[0]
    if octet is not None:
        return chr(int(octet, 16))
    return text.upper() if text[0] == "%" else f"%{ord(text):02X}"


def without_path_sessions(path: str) -> str:
    """Remove session identifiers from a path."""
    shorter = _PATH_SEGMENT.sub("", _PATH_PARAMETER.sub("", path)) or "/"
    # "/a/..;jsessionid=1" would become "/a/..", which names something else.
    return path if _DOT_SEGMENT.search(shorter) else shorter


def _merge_slashes(path: str, _: str) -> str:
    return _SLASHES.sub("/", path) if "//" in path else path


def _drop_index_page(path: str, mark: str) -> str:
    return path if mark else _INDEX_PAGE.sub("", path)


def _add_trailing_slash(path: str, mark: str) -> str:
    return path if mark or not _DIRECTORY.search(path) else path + "/"


_PATH_RULES: Mapping[str, Callable[[str, str], str]] = {
    "slashes": _merge_slashes,
    "index_page": _drop_index_page,
    "trailing_slash": _add_trailing_slash,
}


def _sorted(parameters: list[Parameter]) -> list[Parameter]:
    """Sort parameters by name, unless the query is free text rather than parameters."""
    if len(parameters) < 2:
        return parameters
    for name, equals, _ in parameters:
        if name and not equals:
            return parameters
    return sorted(parameters, key=_NAME)
