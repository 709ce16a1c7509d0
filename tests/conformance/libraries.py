"""Compare URLs with the tests of two Python libraries."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from crawler import settings
from crawler.urls.canonical import UrlPolicy, canonicalize, resolve
from crawler.urls.filters import file_type
from crawler.urls.hosts import host_of, origin_of, registered_domain
from crawler.urls.scope import Scope
from crawler.urls.sites import SiteRuleLine
from tests.conformance.compare import Case, Incomparable
from tests.conformance.crawlers import is_visited
from tests.conformance.data import read
from tests.defaults import urls_with

Row = Case | Incomparable
Rows = Iterator[Row]


def w3lib() -> Rows:
    for row in read("w3lib"):
        yield _w3lib_row(row["fn"], row["args"], row["kwargs"], row["result"])


def _w3lib_row(function: str, arguments: list[Any], options: dict[str, Any], theirs: Any) -> Row:
    given = _given(arguments[0])
    if given is None:
        return Incomparable(str(arguments[0]), "bytes that are no text")
    if {"query_separator", "keep_blank_values"} & options.keys():
        return Incomparable(given, "asks for an option that we do not have")
    if function == "canonicalize_url":
        return Case(given, canonicalize(given), theirs, options)
    if function == "safe_url_string":
        return Case(given, resolve(given), theirs, options)
    if function == "safe_download_url":
        return Case(given, canonicalize(given), theirs, options)
    if function == "url_query_cleaner":
        return Case(given, _with_line(given, *arguments[1:], **options), theirs, options)
    if function == "is_url":
        return Case(given, canonicalize(given) is not None, theirs, options)
    return Incomparable(given, "changes a parameter; we only read URLs")


def _given(argument: Any) -> str | None:
    """Return an argument as text: they also accept bytes, and URLs in six parts."""
    if isinstance(argument, dict):
        try:
            return bytes.fromhex(argument["bytes_hex"]).decode()
        except UnicodeDecodeError:
            return None
    if isinstance(argument, list):
        scheme, host, path, parameters, query, fragment = argument
        return f"{scheme}://{host}{path}{parameters and ';' + parameters}?{query}#{fragment}"
    return argument


def _with_line(given: str, names: list[str] | str = "", *, remove: bool = False, unique: bool = True) -> str | None:
    """Keep or remove the named parameters, as a line of URL_RULES would; `unique` has no counterpart."""
    lines = [SiteRuleLine("host", "drop" if remove else "only", (names,) if isinstance(names, str) else tuple(names))]
    policy = UrlPolicy({"query_order": False}, lines if names else ())
    url = policy.canonicalize(given, "http://host/")
    return url and url.removeprefix("http://host/")


def courlan() -> Rows:
    for row in read("courlan"):
        yield from _courlan_rows(row["fn"], row["args"], row["kwargs"], row["result"])


def _courlan_rows(function: str, arguments: list[Any], options: dict[str, Any], theirs: Any) -> Rows:
    given = str(arguments[0])
    if function in _COURLAN_OTHERS:
        yield Incomparable(given, _COURLAN_OTHERS[function])
    elif function in ("normalize_url", "clean_url"):
        yield Case(given, canonicalize(given), theirs, options)
    elif function == "scrub_url":  # tidies text, which is no URL yet
        yield Case(given, canonicalize(given), canonicalize(theirs), options)
    elif function == "check_url":
        url = canonicalize(given)
        yield Case(given, url if is_visited(given, _scope()) else None, theirs and theirs[0], options)
        if url and theirs:
            yield Case(given, registered_domain(host_of(url)), theirs[1], options)
    elif function == "extract_domain":
        url = canonicalize(given)
        yield Case(given, url and registered_domain(host_of(url)), theirs, options)
    elif function == "is_known_link":
        yield from _courlan_known_link(given, arguments[1], theirs)
    else:
        yield Case(given, *_courlan_verdict(function, given, arguments, theirs), options)


def _courlan_known_link(given: str, known: list[str], theirs: bool) -> Rows:
    url, others = canonicalize(given), [canonicalize(other) for other in known]
    yield Case(given, url, others[0]) if theirs else Case(given, url in others, theirs)


def _courlan_verdict(function: str, given: str, arguments: list[Any], theirs: Any) -> tuple[Any, Any]:
    """Return our answer and theirs for functions that give a verdict or parts of a URL."""
    match function:
        case "type_filter":
            return is_visited(given, _scope()), theirs
        case "is_not_crawlable":
            return not is_visited(given, _scope()), theirs
        case "validate_url":
            return canonicalize(given) is not None, theirs[0]
        case "extension_filter":
            return not file_type(given, settings.URL_SKIP_TYPES.split(",")), theirs
        case "is_external":
            here, there = (registered_domain(host_of(canonicalize(url) or "")) for url in arguments[:2])
            return here != there, theirs
        case "get_host_and_path":
            return f"{origin_of(given)} {given.removeprefix(origin_of(given))}", " ".join(theirs)
        case "get_hostinfo":
            return f"{host_of(given)} {origin_of(given)}", " ".join(theirs)
    raise ValueError(f"{function} is not known")


_COURLAN_OTHERS = {
    "lang_filter": "detects the language by the URL; ours is detected by the text",
    "is_navigation_page": "distinguishes lists and articles; we visit both",
    "extract_links": "extracts links from HTML: parsing has its own tests",
}


@cache
def _scope() -> Scope:
    """Return the scope of a crawl with default settings, with seeds."""
    return urls_with().new_scope()
