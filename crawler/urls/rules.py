"""Which spellings of a URL name the same thing: a table of rules, in the order in which they act.

The URL Standard does the first of them, and nobody can switch those off. The rest are ours. Each has a grade: two
spellings that it makes one name the same thing always, usually or sometimes; what holds only sometimes is off unless
somebody who knows the site switches it on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from enum import StrEnum
from re import Match
from typing import NamedTuple

from crawler.urls.sites import Parameters


class Grade(StrEnum):
    ALWAYS = "always"
    USUALLY = "usually"
    SOMETIMES = "sometimes"


class Rule(NamedTuple):
    """One row of the table."""

    name: str
    grade: Grade
    does: str
    before: str  # an example
    after: str
    setting: str = ""  # what switches it; empty = nothing does
    default: bool = True
    why_fixed: str = ""


_STANDARD = "the URL Standard demands it"

RULES = (
    Rule(
        "white_space",
        Grade.ALWAYS,
        "drop white space around the URL, tabs and line ends in it",
        " http://abc.com/a\t",
        "http://abc.com/a",
        why_fixed=_STANDARD,
    ),
    Rule(
        "scheme_case",
        Grade.ALWAYS,
        "write the scheme in lower case",
        "HTTP://abc.com/",
        "http://abc.com/",
        why_fixed=_STANDARD,
    ),
    Rule(
        "host_case",
        Grade.ALWAYS,
        "write the host in lower case",
        "http://ABC.com/",
        "http://abc.com/",
        why_fixed=_STANDARD,
    ),
    Rule(
        "host_script",
        Grade.ALWAYS,
        "write names in other scripts as the DNS has them, and numbers that mean an address as the address",
        "http://bücher.example/",
        "http://xn--bcher-kva.example/",
        why_fixed=_STANDARD,
    ),
    Rule(
        "default_port",
        Grade.ALWAYS,
        "drop the scheme's own port, and a colon without one",
        "http://abc.com:80/",
        "http://abc.com/",
        why_fixed=_STANDARD,
    ),
    Rule(
        "target_characters",
        Grade.ALWAYS,
        'add the "/" of an empty path, write backslashes as slashes, escape what a URL cannot hold',
        "http://abc.com\\a b",
        "http://abc.com/a%20b",
        why_fixed=_STANDARD,
    ),
    Rule(
        "dot_segments",
        Grade.USUALLY,
        'take out "." and ".." segments',
        "http://abc.com/a/../b/./c",
        "http://abc.com/b/c",
        why_fixed=_STANDARD,
    ),
    Rule(
        "user_info",
        Grade.ALWAYS,
        "drop user name and password",
        "http://me:secret@abc.com/",
        "http://abc.com/",
        why_fixed="secrets are neither kept nor sent",
    ),
    Rule(
        "host_dot",
        Grade.ALWAYS,
        "drop the dot behind a complete host name",
        "http://abc.com./",
        "http://abc.com/",
        why_fixed="one host has one clock",
    ),
    Rule(
        "fragment",
        Grade.ALWAYS,
        "drop the fragment",
        "http://abc.com/a#part",
        "http://abc.com/a",
        why_fixed="no server ever sees it",
    ),
    Rule(
        "escapes",
        Grade.ALWAYS,
        "undo escapes of letters, digits and -._~, write all others in upper case",
        "http://abc.com/%7esmith/%c3%a9",
        "http://abc.com/~smith/%C3%A9",
        "URL_UNESCAPE",
    ),
    Rule(
        "sessions",
        Grade.USUALLY,
        "drop session ids from path and query",
        "http://abc.com/a;jsessionid=0A1B?sid=0123456789abcdef",
        "http://abc.com/a",
        "URL_DROP_SESSIONS",
    ),
    Rule(
        "tracking",
        Grade.USUALLY,
        "drop parameters that only say where a visitor came from",
        "http://abc.com/a?id=1&utm_source=x",
        "http://abc.com/a?id=1",
        "URL_DROP_TRACKING",
    ),
    Rule(
        "site_parameters",
        Grade.ALWAYS,
        "drop parameters that a line of URL_RULES names for this site",
        "http://shop.example/a?id=1&view=grid",
        "http://shop.example/a?id=1",
        why_fixed="the file URL_RULES says so",
    ),
    Rule(
        "empty_query",
        Grade.USUALLY,
        'drop empty parameters, and a "?" without any',
        "http://abc.com/a?",
        "http://abc.com/a",
        "URL_DROP_EMPTY",
    ),
    Rule(
        "query_order",
        Grade.USUALLY,
        "sort parameters by name; those of one name keep their order",
        "http://abc.com/a?b=2&a=1",
        "http://abc.com/a?a=1&b=2",
        "URL_SORT_QUERY",
    ),
    Rule(
        "slashes",
        Grade.USUALLY,
        "make one slash of several in a row, but not behind a colon",
        "http://abc.com//a///b",
        "http://abc.com/a/b",
        "URL_MERGE_SLASHES",
    ),
    Rule(
        "index_page",
        Grade.SOMETIMES,
        "drop index.html and the like behind a directory, if there is no query",
        "http://abc.com/a/index.html",
        "http://abc.com/a/",
        "URL_DROP_INDEX_PAGE",
        default=False,
    ),
    Rule(
        "trailing_slash",
        Grade.SOMETIMES,
        "add a slash to a path that ends like a directory's name, if there is no query",
        "http://abc.com/a",
        "http://abc.com/a/",
        "URL_ADD_TRAILING_SLASH",
        default=False,
    ),
)
SWITCHED = {rule.name: rule for rule in RULES if rule.setting}
DEFAULTS = {name: rule.default for name, rule in SWITCHED.items()}

_UNRESERVED = "2[DdEe]|3[0-9]|[46][1-9A-Fa-f]|5[0-9AaFf]|7[0-9AaEe]"  # RFC 3986 §2.3
_RECODABLE = re.compile(
    # A "%" that begins no escape could begin one with the decoded letter behind it: "%%32e" must not become "%2e".
    rf"(?<!%)(?<!%[0-9A-Fa-f])%({_UNRESERVED})"
    r"|%(?:[a-f][0-9A-Fa-f]|[0-9A-F][a-f])"
)
_PATH_SESSION = re.compile(
    r";(?:jsessionid|phpsessid)=[^/;]*"  # servlet containers, PHP
    r"|/\((?:[A-Z]\([0-9A-Za-z_-]{10,}\))+\)(?=/|$)",  # ASP.NET without cookies: /(S(3x…))/
    re.IGNORECASE,
)
_DOT_SEGMENT = re.compile(r"/(?:\.|%2e){1,2}(?:/|$)", re.IGNORECASE)
_SLASHES = re.compile(r"(?<!:)//+")
_INDEX_PAGE = re.compile(
    r"(?<=/)(?:index\.(?:html?|shtml|xhtml|php[345]?|aspx?|jsp|cgi|cfm)|default\.(?:html?|aspx?))$", re.IGNORECASE
)
_DIRECTORY = re.compile(r"/[^/.;]+$")


class TargetRules:
    """The rules that act on path and query, as they are for one site."""

    def __init__(self, on: Collection[str], parameters: Parameters) -> None:
        self.on = frozenset(on)
        self._parameters = parameters
        self._dropped = frozenset({"site_parameters", "sessions", "tracking"} & (self.on | {"site_parameters"}))
        self._unescape = "escapes" in on
        self._sessions = "sessions" in on
        self._sort = "query_order" in on
        self._tidy_query = "empty_query" in on
        self._path_rules = [act for name, act in _PATH_RULES.items() if name in on]
        always = {"index_page", "trailing_slash"} & self.on
        # What none of the rules could change is most of what there is, and leaves at once.
        self._suspicious = re.compile("" if always else "[%#?;(]|//").search

    def tidy(self, target: str) -> str:
        """Path, query and fragment in their canonical spelling."""
        if self._suspicious(target) is None:
            return target
        if "#" in target:
            target = target.partition("#")[0]
        if self._unescape and "%" in target:
            target = unescaped(target)
        path, mark, query = target.partition("?")
        if self._sessions:
            path = without_path_sessions(path)
        if mark:
            query = self._query(query)
            if not query and self._tidy_query:
                mark = ""
        for act in self._path_rules:
            path = act(path, mark)
        return path + mark + query

    def steps(self, target: str) -> Iterator[tuple[str, str]]:
        """One rule at a time: its name, and the target after it. Ends where `tidy` ends."""
        target = target.partition("#")[0]
        yield "fragment", target
        if self._unescape:
            target = unescaped(target)
            yield "escapes", target
        path, mark, query = target.partition("?")
        if self._sessions:
            path = without_path_sessions(path)
        for rule in ("sessions", "tracking", "site_parameters"):
            if rule in self._dropped:
                query = "&".join(self._kept(query.split("&"), {rule})) if mark else query
                yield rule, path + mark + query
        if self._tidy_query:
            query = "&".join([piece for piece in query.split("&") if piece])
            mark = mark if query else ""
            yield "empty_query", path + mark + query
        if self._sort:
            query = "&".join(_sorted(query.split("&")))
            yield "query_order", path + mark + query
        for name, act in _PATH_RULES.items():
            if name in self.on:
                path = act(path, mark)
                yield name, path + mark + query

    def _query(self, query: str) -> str:
        pieces = self._kept(query.split("&"), self._dropped)
        if self._tidy_query and "" in pieces:
            pieces = [piece for piece in pieces if piece]
        return "&".join(_sorted(pieces) if self._sort else pieces)

    def _kept(self, pieces: list[str], rules: Collection[str]) -> list[str]:
        rule_for = self._parameters.rule_for
        return [piece for piece in pieces if not piece or rule_for(piece) not in rules]


def unescaped(target: str) -> str:
    return _RECODABLE.sub(_recoded, target)


def _recoded(escape: Match[str]) -> str:
    octet = escape[1]
    return escape[0].upper() if octet is None else chr(int(octet, 16))


def without_path_sessions(path: str) -> str:
    if ";" not in path and "(" not in path:
        return path
    shorter = _PATH_SESSION.sub("", path) or "/"
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


def _sorted(pieces: list[str]) -> list[str]:
    """By name, unless these are no parameters: a query may be any text."""
    if len(pieces) < 2 or not all("=" in piece for piece in pieces if piece):
        return pieces
    return sorted(pieces, key=_name)


def _name(piece: str) -> str:
    return piece.partition("=")[0]
