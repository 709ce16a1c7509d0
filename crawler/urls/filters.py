"""What can be told from a URL alone: files that are no pages, calls that act rather than show, paths that go on forever.

Each filter takes a canonical URL, or a part of one, and says what it found; nothing is an empty answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

_SCRIPTS = ("", ".php", ".asp", ".aspx", ".jsp", ".do", ".cgi", ".action")


def _spellings(*words: str) -> frozenset[str]:
    """Segments that mean such a phrase: joined in each way, with each ending that programs on servers have."""
    joined = {glue.join(phrase.split()) for phrase in words for glue in ("", "-", "_")}
    return frozenset(word + ending for word in joined for ending in _SCRIPTS)


_LEAVING = _spellings("log out", "sign out", "log off", "sign off")
_CARTING = _spellings(
    *(f"add to {place}" for place in ("cart", "basket", "bag", "trolley", "wishlist", "compare", "favorites")),
    *(f"remove from {place}" for place in ("cart", "basket", "wishlist", "compare")),
)
_CARTS = frozenset({"cart", "basket", "bag", "wishlist", "compare"})
_CHANGES = frozenset(
    [
        "delete",
        "remove",
        "destroy",
        "edit",
        "purge",
        "unsubscribe",
        "upvote",
        "downvote",
        "unlike",
        "unfollow",
        "unwatch",
        "undelete",
        "rollback",
    ]
)
_CHANGING = frozenset(word + ending for word in _CHANGES for ending in _SCRIPTS)
_CART_CHANGES = _CHANGES | {"add", "update", "empty", "clear"}
_ACTS = _LEAVING | _CARTING | _CHANGING | _CARTS

_ACTING_NAMES = frozenset(
    [
        "add-to-cart",
        "add_to_cart",
        "addtocart",
        "remove_item",
        "add_to_wishlist",
        "add-to-wishlist",
        "remove_from_wishlist",
        "replytocom",
        "logout",
        "signout",
        "unsubscribe",
        "_wpnonce",
        "csrf_token",
        "csrftoken",
        "authenticity_token",
        "__eventtarget",
    ]
)
_VERB_NAMES = frozenset(["action", "act", "do", "op", "task", "cmd", "mode", "operation"])
_VERBS = (
    _CHANGES
    | _LEAVING
    | _CARTING
    | frozenset(
        [
            "add",
            "buy",
            "purchase",
            "vote",
            "like",
            "follow",
            "submit",
            "subscribe",
            "reply",
            "report",
            "watch",
            "markpatrolled",
            "protect",
        ]
    )
)
_CALENDAR_NAMES = frozenset({"ical", "outlook-ical", "tribe-ical"})
_CALENDAR_VALUES = frozenset({"ical", "ics", "icalendar", "vcal"})
_CALENDAR_VALUED = frozenset({"format", "feed", "export", "type", "output", "view", "action", "do", "task"})

_APIS = frozenset(
    ["wp-json", "graphql", "xmlrpc.php", "jsonrpc", "oembed", "_api", "api.php", "admin-ajax.php", "trackback"]
)
_API_VERSION = re.compile(r"v[0-9]+(?:\.[0-9]+)*|[0-9]+\.[0-9]+|rest_v[0-9]+|rest|json|latest")
_API_STEMS = frozenset({"api", "rest"})

# Pages about acts and calls show something.
_ABOUT = frozenset(
    [
        "doc",
        "docs",
        "documentation",
        "reference",
        "manual",
        "manuals",
        "man",
        "wiki",
        "help",
        "kb",
        "support",
        "blog",
        "news",
        "article",
        "articles",
        "tutorial",
        "tutorials",
        "guide",
        "guides",
        "developer",
        "developers",
        "learn",
        "faq",
    ]
)

_TELLING = _ACTS | _APIS | _API_STEMS


def says_what_it_does(path: str, query: str) -> bool:
    """Whether `acts` or `api_call` could find anything; of most URLs they could not.

    >>> says_what_it_does("/a/b.html", ""), says_what_it_does("/a/api/b", "")
    (False, True)
    """
    lower = path.lower()
    return bool(query) or lower.endswith(".ics") or not _TELLING.isdisjoint(lower.split("/"))


def file_type(path: str, types: Collection[str]) -> str:
    """The ending of a file of one of these types.

    >>> file_type("/a/photo.JPG", {"jpg"}), file_type("/wiki/File:photo.jpg", {"jpg"}), file_type("/jpg", {"jpg"})
    ('jpg', '', '')
    """
    dot = path.rfind(".")
    if dot < 0 or len(path) - dot > 9:
        return ""
    ending = path[dot + 1 :].lower()
    if ending not in types:
        return ""
    # A wiki's page about a file: what serves files has no colon in their names.
    return "" if ":" in path[path.rfind("/") :] else ending


def repeated_segment(path: str, most: int) -> str:
    """A segment that a path has more than so often: two pages that link to each other by a wrong relative link.

    >>> repeated_segment("/a/b/a/b/a/b/a/b", 3), repeated_segment("/a/b/a/b/a/b", 3)
    ('a', '')
    """
    counts = Counter(path.split("/"))
    del counts[""]
    return next((segment for segment, count in counts.items() if count > most), "")


def acts(host: str, path: str, query: str) -> str:
    """What a URL does, if it does something rather than show something.

    >>> acts("a.com", "/users/sign_out", ""), acts("a.com", "/posts/12/delete", ""), acts("a.com", "/p", "add-to-cart=7")
    ('sign_out', 'delete', 'add-to-cart')
    >>> acts("a.com", "/docs/sql/delete", ""), acts("docs.a.com", "/logout", ""), acts("a.com", "/delete.html", "")
    ('', '', '')
    """
    lower = path.lower()
    if lower.endswith(".ics"):
        return "calendar export"
    if query and (found := _acting_parameter(query)):
        return found
    segments = lower.split("/")
    if _ACTS.isdisjoint(segments):
        return ""
    found = _acting_segment(segments, query)
    return "" if found and _is_about(host, segments) else found


def _acting_segment(segments: Sequence[str], query: str) -> str:
    for place, segment in enumerate(segments):
        before = segments[place - 1] if place else ""
        after = segments[place + 1] if place + 1 < len(segments) else ""
        if segment in _LEAVING or segment in _CARTING:
            return segment
        if segment in _CARTS and after in _CART_CHANGES:
            return f"{segment}/{after}"
        # Something is deleted: "/posts/12/delete", "/delete/12", "/delete.php?id=12"; not "/sql/delete".
        if segment in _CHANGING and (_is_number(before) or _is_number(after) or (query and not after)):
            return segment
    return ""


def _is_number(segment: str) -> bool:
    return segment.isdecimal() or (len(segment) >= 16 and any(map(str.isdigit, segment)))


def _acting_parameter(query: str) -> str:
    for parameter in query.lower().split("&"):
        name, _, value = parameter.partition("=")
        if name in _ACTING_NAMES:
            return name
        if name in _CALENDAR_NAMES or (name in _CALENDAR_VALUED and value in _CALENDAR_VALUES):
            return "calendar export"
        if name in _VERB_NAMES and value in _VERBS:
            return parameter
        if name == "share" and value:
            return "share"
    return ""


def api_call(host: str, path: str, query: str) -> str:
    """What of a URL says that it is meant for programs.

    >>> api_call("a.com", "/api/v1/users/3", ""), api_call("a.com", "/wp-json/wp/v2/posts", ""), api_call("a.com", "/s", "wsdl")
    ('api/v1', 'wp-json', 'wsdl')
    >>> api_call("a.com", "/reference/api/v2/users", ""), api_call("a.com", "/api/v1/users.html", "")
    ('', '')
    """
    segments = path.lower().split("/")
    found = ""
    if not _APIS.isdisjoint(segments):
        found = next(segment for segment in segments if segment in _APIS)
    elif not _API_STEMS.isdisjoint(segments):
        found = next(
            (
                f"{stem}/{name}"
                for stem, name in pairwise(segments)
                if stem in _API_STEMS and _API_VERSION.fullmatch(name)
            ),
            "",
        )
    if found:
        return "" if segments[-1].endswith((".html", ".htm")) or _is_about(host, segments) else found
    if query:
        for parameter in query.lower().split("&"):
            name = parameter.partition("=")[0]
            if name in ("wsdl", "rest_route", "oembed"):
                return name
    return ""


def _is_about(host: str, segments: Sequence[str]) -> bool:
    return not (_ABOUT.isdisjoint(segments[:-1]) and _ABOUT.isdisjoint(host.split(".")[:-1]))
