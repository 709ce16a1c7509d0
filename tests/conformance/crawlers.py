"""Compare URLs with the tests of other crawlers and web archives."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping

from crawler.urls.canonical import canonicalize, resolve
from crawler.urls.hosts import host_of
from crawler.urls.rules import normalize_escapes
from crawler.urls.scope import Scope
from tests.conformance.compare import Case, Incomparable
from tests.conformance.data import DATA, read
from tests.defaults import urls_with

Rows = Iterator[Case | Incomparable]


def crawler_commons_resolve() -> Rows:
    for row in read("crawler_commons_resolve"):
        yield Case(f"{row['input']} in {row['base']}", resolve(row["input"], row["base"] or None), row["resolved"])


def crawler_commons_normalizer() -> Rows:
    for row in read("crawler_commons_normalizer"):
        yield Case(row["url"], canonicalize(row["url"]), row["normalized"])


def nutch_normalizers() -> Rows:
    for row in read("nutch_normalizers"):
        yield Case(row["input"], canonicalize(row["input"]), row["output"])


def nutch_urlfilter() -> Rows:
    """Compare Nutch's files of +expression and -expression, of which the first match decides, with our two files."""
    rules = json.loads((DATA / "nutch_urlfilter_rules.json").read_text("utf-8"))
    scopes = {name: _scope_of(text) for name, text in rules.items() if not re.search("^>", text, re.MULTILINE)}
    for row in read("nutch_urlfilter"):
        yield Case(row["url"], is_visited(row["url"], scopes[row["ruleset"]]), row["accept"])


def urlcanon() -> Rows:
    for row in read("urlcanon"):
        mode, given, theirs = row["mode"], row["input"], row["output"]
        if mode in _CANONICAL_MODES:
            yield Case(given, canonicalize(given), theirs)
        elif mode in _PIECE_MODES:
            yield Case(given, _PIECE_MODES[mode](given), theirs)
        else:
            yield Incomparable(given, _OTHER_MODES.get(mode, _SORT_KEY))


def urlcanon_parsing() -> Rows:
    """Compare urlcanon's parser: its parts, joined with our delimiters, should be the same URL."""
    for row in read("urlcanon_parsing"):
        parts = row["parts"]
        slashes = "//" if parts["host"] else parts["slashes"]
        user = parts["username"] + parts["colon_before_password"] + parts["password"] + parts["at_sign"]
        port = parts["colon_before_port"] + parts["port"]
        query, fragment = parts["question_mark"] + parts["query"], parts["hash_sign"] + parts["fragment"]
        theirs = f"{parts['scheme']}:{slashes}{user}{parts['host']}{port}{parts['path']}{query}{fragment}"
        yield Case(row["input"], resolve(row["input"]), theirs)


def webarchive_commons() -> Rows:
    for row in read("webarchive_commons"):
        function, given, theirs = row["fn"], row["input"], row["output"]
        if function == "canonicalize":
            yield Case(given, canonicalize(given), theirs)
        elif function in _PIECE_MODES:
            yield Case(given, _PIECE_MODES[function](given), theirs)
        else:
            yield Incomparable(given, _SORT_KEY)


_SORT_KEY = "keys by which archives sort URLs; ours are numbers"
_CANONICAL_MODES = (
    *("semantic_precise", "aggressive", "surt:google", "surt:googleSupplementalFromSurt"),
    *("surt:Canonicalizer.IA", "surt:Canonicalizer.DefaultIA"),
)
_OTHER_MODES = {"idempotence": "a parser whose parts can be put together to what was given; ours need not"}


def _resolved_host(url: str) -> str | None:
    href = resolve(url)
    return href and host_of(href)


def _resolved_path(path: str) -> str | None:
    href = resolve("http://host" + path)
    return href and href.removeprefix("http://host")


def _resolved_path_of_no_web(path: str) -> str | None:
    before = "web+x://host" if path.startswith("/") else "web+x:"
    href = resolve(before + path)
    return href and href.removeprefix(before)


def _canonical_path(path: str) -> str | None:
    url = canonicalize("http://host" + path)
    return url and url.removeprefix("http://host")


def _canonical_query(query: str) -> str | None:
    url = canonicalize("http://host/?" + query)
    return url and url.partition("?")[2]


def _canonical_host(host: str) -> str | None:
    url = canonicalize(f"http://{host}/")
    return url and host_of(url)


# Functions on pieces of URLs, by the name that the data gives them.
_PIECE_MODES: Mapping[str, Callable[[str], str | None]] = {
    "supplemental_whatwg": resolve,
    "path_dots:special": _resolved_path,
    "path_dots:nonspecial": _resolved_path_of_no_web,
    "funky_ipv4": lambda host: _resolved_host(f"http://{host}/"),
    "attemptIPFormats": lambda host: _resolved_host(f"http://{host}/"),
    "surt:stripPathSessionId": _canonical_path,
    "surt:alphaRorderQuery": _canonical_query,
    "alphaReorderQuery": _canonical_query,
    "surt:massageHost": _canonical_host,
    "massageHost": _canonical_host,
    "surt:unescapeRepeatedly": normalize_escapes,
    "unescapeRepeatedly": normalize_escapes,
    "decode": normalize_escapes,
}


def _scope_of(rules: str) -> Scope:
    lines = [line for line in rules.splitlines() if line[:1] in ("+", "-")]
    first = next(place for place, line in enumerate(lines) if line.startswith("+"))
    assert lines[first + 1 :] in ([], ["-."]), "an exception to an exception has no place in our two files"
    exclude = "\n".join("~" + line[1:] for line in lines[:first])
    options = urls_with(include=("include", f"~{lines[first][1:]}"), exclude=("exclude", exclude), skip_types=())
    return options.new_scope()


def is_visited(text: str, scope: Scope) -> bool:
    url = scope.policy.canonicalize(text)
    return url is not None and scope.rejection(url) is None
