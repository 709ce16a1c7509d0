"""URL filters: recognise from a URL alone files that are no pages, actions, API calls, logins and spider traps.

Each filter takes a canonical URL, or a part of one, and returns the part that it recognised, or an empty string.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

_SCRIPTS = (".php", ".asp", ".aspx", ".jsp", ".do", ".cgi", ".action")


def _joined(*phrases: str) -> frozenset[str]:
    """Return the path segments that spell these phrases: words joined by nothing, "-" or "_"."""
    return frozenset(glue.join(phrase.split()) for phrase in phrases for glue in ("", "-", "_"))


def _as_scripts(words: Collection[str]) -> frozenset[str]:
    """Return the same words as names of server scripts."""
    return frozenset(word + ending for word in words for ending in _SCRIPTS)


_LOGOUTS = _joined("log out", "sign out", "log off", "sign off")
_CART_ACTIONS = _joined(
    *(f"add to {place}" for place in ("cart", "basket", "bag", "trolley", "wishlist", "compare", "favorites")),
    *(f"remove from {place}" for place in ("cart", "basket", "wishlist", "compare")),
)
_CARTS = frozenset({"cart", "basket", "bag", "wishlist", "compare"})
_CHANGE_VERBS = frozenset(
    {
        *("delete", "remove", "destroy", "edit", "purge", "unsubscribe", "upvote", "downvote", "unlike", "unfollow"),
        *("unwatch", "undelete", "rollback"),
    }
)
_CART_CHANGES = _CHANGE_VERBS | {"add", "update", "empty", "clear"}
_ACTION_SCRIPTS = _as_scripts(_LOGOUTS | _CART_ACTIONS | _CHANGE_VERBS)

# The only segments that may stand before a "logout" that logs out: elsewhere it is the name of a page.
_ACCOUNTS = frozenset(
    {
        *(
            "user",
            "users",
            "account",
            "accounts",
            "auth",
            "oauth",
            "sso",
            "cas",
            "saml",
            "login",
            "session",
            "sessions",
        ),
        *("member", "members", "customer", "customers", "my", "me", "profile", "admin", "app", "portal", "index.php"),
        *("shop", "store", "forum", "forums", "community", "secure", "identity", "api", "wp-admin", "dashboard"),
    }
)
_LANGUAGE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2})?")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_ID = re.compile(r"[0-9]+|(?=.*[0-9])[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_ACTION_PARAMETERS = frozenset(
    {
        *("add-to-cart", "add_to_cart", "addtocart", "remove_item", "add_to_wishlist", "add-to-wishlist"),
        *("remove_from_wishlist", "replytocom", "logout", "signout", "unsubscribe", "_wpnonce", "csrf_token"),
        *("csrftoken", "authenticity_token", "__eventtarget"),
    }
)
_VERB_PARAMETERS = frozenset({"action", "act", "do", "op", "task", "cmd", "operation", "mode", "veaction"})
_VERBS = (
    _CHANGE_VERBS
    | _LOGOUTS
    | _CART_ACTIONS
    | {"add", "vote", "submit", "subscribe", "reply", "quote", "post", "markpatrolled", "protect", "buy_now"}
)
_NETWORKS = frozenset(
    {
        *("facebook", "twitter", "x", "linkedin", "pinterest", "reddit", "tumblr", "telegram", "whatsapp", "email"),
        *("jetpack-whatsapp", "pocket", "mastodon", "bluesky", "threads", "skype", "print", "vk", "google-plus-1"),
    }
)
_CALENDAR_NAMES = frozenset({"ical", "outlook-ical", "tribe-ical"})
_CALENDAR_VALUES = frozenset({"ical", "ics", "icalendar", "vcal"})
_CALENDAR_VALUE_NAMES = frozenset({"format", "feed", "export", "type", "output", "view", "action", "do", "task"})

# API end points of well-known software, wherever they stand in a path.
_API_SEGMENTS = frozenset(
    {"wp-json", "xmlrpc.php", "jsonrpc", "oembed", "_api", "api.php", "admin-ajax.php", "trackback"}
)
_API_VERSION = re.compile(r"v[0-9]+(?:\.[0-9]+)*|[0-9]+\.[0-9]+|rest_v[0-9]+|json|rest|api")
_API_STEMS = frozenset({"api", "rest"})
_API_PARAMETERS = frozenset({"wsdl", "rest_route"})

# Documentation and discussion: "/docs/api/delete" is a page about an action, not an action.
_ABOUT_SEGMENTS = frozenset(
    {
        *("doc", "docs", "documentation", "document", "documents", "reference", "manual", "manuals", "man", "man-page"),
        *("man-pages", "wiki", "help", "kb", "support", "blog", "news", "article", "articles", "tutorial", "tutorials"),
        *("guide", "guides", "developer", "developers", "learn", "faq", "blob", "tree", "src", "source"),
        *("t", "r", "topic", "topics", "questions", "tag", "tags", "tagged", "package", "details"),
        *("readthedocs", "dictionary", "glossary"),
    }
)

_PLACEHOLDERS = ("%7B%7B", "$%7B")  # {{…}}, ${…}
_EMPTY_CHOICES = frozenset({"", "-", "all", "any"})  # segments that stand for a choice not made
_SUSPECT_SEGMENTS = _LOGOUTS | _CART_ACTIONS | _CARTS | _CHANGE_VERBS | _ACTION_SCRIPTS | _API_SEGMENTS | _API_STEMS


_LOGIN_WORDS = _joined("log in", "sign in", "log on", "sign on")
_LOGINS = frozenset(
    {
        *(_LOGIN_WORDS | _as_scripts(_LOGIN_WORDS)),
        *(f"{word}.html" for word in _LOGIN_WORDS),
        *("wp-login.php", "servicelogin"),
    }
)
_WEAK_LOGINS = frozenset({"sso", "auth", "oauth", "cas"})  # also names of pages about these topics
_LOGIN_HOSTS = frozenset({*_LOGIN_WORDS, "sso", "auth", "accounts", "idp", "cas"})  # first labels of their names
_RETURN_PARAMETER = re.compile(
    r"[?&](?:next|return(?:_?(?:to|url|uri|path))?|redirect(?:_?(?:to|url|uri))?|continue|service|goto|back|ref"
    r"|destination|came_from)=",
    re.IGNORECASE,
)


def is_login(url: str) -> bool:
    """Whether a URL is a login page: its last segment says so, or another part does and a parameter names a return URL.

    >>> is_login("https://a.com/login/b?next=/c"), is_login("https://login.a.com/?continue=b")
    (True, True)
    >>> is_login("https://a.com/login/b")
    False
    """
    _, _, rest = url.partition("://")
    authority, _, target = rest.partition("/")
    segments = target.partition("?")[0].lower().rstrip("/").split("/")
    if segments[-1] in _LOGINS:
        return True
    is_named = not (_LOGINS | _WEAK_LOGINS).isdisjoint(segments) or authority.partition(".")[0] in _LOGIN_HOSTS
    return is_named and _RETURN_PARAMETER.search(url) is not None


def may_be_action_or_api(path: str, query: str) -> bool:
    """Whether `action_in` or `api_call` could find anything; false for most URLs, and cheap.

    >>> may_be_action_or_api("/a/b.html", ""), may_be_action_or_api("/a/api/b", "")
    (False, True)
    """
    lower = path.lower()
    return bool(query) or lower.endswith(".ics") or not _SUSPECT_SEGMENTS.isdisjoint(lower.split("/"))


def file_type(path: str, types: Collection[str]) -> str:
    """Return the extension of a path if it is one of these types.

    >>> file_type("/a/photo.JPG", {"jpg"}), file_type("/wiki/File:photo.jpg", {"jpg"}), file_type("/jpg", {"jpg"})
    ('jpg', '', '')
    """
    dot = path.rfind(".")
    ending = path[dot + 1 : dot + 33].lower()
    if dot < 0 or ending not in types:
        return ""
    # With a colon it is a wiki's page about a file: servers of files have none in their names.
    name = path[path.rfind("/") + 1 :]
    return "" if ":" in name or "%3A" in name or "/wiki/" in path else ending


def unfilled_placeholder(target: str) -> str:
    """Return the placeholder of a page template that was never filled in, as canonical URLs spell it.

    >>> unfilled_placeholder("/%7B%7Bitem.url%7D%7D"), unfilled_placeholder("/a?b=$%7Bid%7D")
    ('%7B%7B', '$%7B')
    >>> unfilled_placeholder("/a?b=%7B1%7D")
    ''
    """
    return next((placeholder for placeholder in _PLACEHOLDERS if placeholder in target), "") if "%7B" in target else ""


def repeated_segment(path: str, most: int) -> str:
    """Return a segment that occurs more than so often in a path, as when two pages have wrong relative links.

    >>> repeated_segment("/a/b/a/b/a/b/a/b", 3), repeated_segment("/a/b/a/b/a/b", 3)
    ('a', '')
    """
    for segment, count in Counter(path.split("/")).items():
        if count > most and segment not in _EMPTY_CHOICES and not segment.isdecimal():
            return segment
    return ""


def action_in(host: str, path: str, query: str) -> str:
    """Return the action of a URL that does something (log out, delete, add to a cart) rather than show a page.

    >>> action_in("a.com", "/users/sign_out", ""), action_in("a.com", "/posts/12/delete", "")
    ('sign_out', 'delete')
    >>> action_in("a.com", "/p", "add-to-cart=7"), action_in("a.com", "/docs/sql/delete", "")
    ('add-to-cart', '')
    >>> action_in("a.com", "/topics/logout", ""), action_in("a.com", "/2024/05/delete", "")
    ('', '')
    """
    lower = path.lower()
    if lower.endswith(".ics"):
        return "calendar export"
    if query and (found := _action_in_query(query)):
        return found
    segments = [segment for segment in lower.split("/") if segment]
    if _SUSPECT_SEGMENTS.isdisjoint(segments) or _is_documentation(host, segments):
        return ""
    return _action_in_path(segments, query)


def _action_in_path(segments: Sequence[str], query: str) -> str:
    names_something = any(map(_ID.fullmatch, _id_values(query)))
    for place, segment in enumerate(segments):
        before = segments[:place]
        after = segments[place + 1] if place + 1 < len(segments) else ""
        if segment in _ACTION_SCRIPTS:
            return segment
        if segment in _LOGOUTS and not after and all(part in _ACCOUNTS or _LANGUAGE.fullmatch(part) for part in before):
            return segment
        if segment in _CARTS and after in _CART_CHANGES:
            return f"{segment}/{after}"
        if segment in _CART_ACTIONS and (_ID.fullmatch(after) or names_something):
            return segment
        # Something is deleted: "/posts/12/delete", "/delete/12", "/delete?id=12"; not "/sql/delete", "/2024/05/delete".
        if segment in _CHANGE_VERBS and not any(map(_YEAR.fullmatch, before)):
            is_named = before and not after and _ID.fullmatch(before[-1])
            if is_named or _ID.fullmatch(after) or (names_something and not after):
                return segment
    return ""


def _id_values(query: str) -> Iterator[str]:
    """Yield the values of parameters that usually identify an object, such as "id" or "product"."""
    for parameter in query.lower().split("&"):
        name, _, value = parameter.partition("=")
        if name.endswith("id") or name in ("item", "key", "product", "post", "p"):
            yield value


def _action_in_query(query: str) -> str:
    for parameter in query.lower().split("&"):
        name, _, value = parameter.partition("=")
        if name in _ACTION_PARAMETERS:
            return name
        if name in _CALENDAR_NAMES or (name in _CALENDAR_VALUE_NAMES and value in _CALENDAR_VALUES):
            return "calendar export"
        if name in _VERB_PARAMETERS and value in _VERBS:
            return parameter
        if name == "share" and value in _NETWORKS:
            return name
    return ""


def api_call(host: str, path: str, query: str) -> str:
    """Return the part of a URL that shows it to be an API call, meant for programs.

    >>> api_call("a.com", "/api/v1/users/3", ""), api_call("a.com", "/wp-json/wp/v2/posts", "")
    ('api/v1', 'wp-json')
    >>> api_call("a.com", "/s", "wsdl")
    'wsdl'
    >>> api_call("a.com", "/reference/api/v2/users", ""), api_call("a.com", "/api/v1/users.html", "")
    ('', '')
    """
    segments = [segment for segment in path.lower().split("/") if segment]
    if not _API_SEGMENTS.isdisjoint(segments):
        return next(segment for segment in segments if segment in _API_SEGMENTS)
    # "/api/v6/" alone is more often the documentation of an API than a call of it.
    if len(segments) > 2 and segments[0] in _API_STEMS and _API_VERSION.fullmatch(segments[1]):
        is_page = segments[-1].endswith((".html", ".htm")) or _is_documentation(host, segments)
        return "" if is_page else "/".join(segments[:2])
    names = {parameter.partition("=")[0] for parameter in query.lower().split("&")}
    return next(iter(names & _API_PARAMETERS), "")


def _is_documentation(host: str, segments: Sequence[str]) -> bool:
    return not (_ABOUT_SEGMENTS.isdisjoint(segments[:-1]) and _ABOUT_SEGMENTS.isdisjoint(host.split(".")[:-1]))
