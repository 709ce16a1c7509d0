"""What can be told from a URL alone: files that are no pages, calls that act rather than show, paths that go on forever.

Each filter takes a canonical URL, or a part of one, and says what it found; nothing is an empty answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

_SCRIPTS = (".php", ".asp", ".aspx", ".jsp", ".do", ".cgi", ".action")


def _spellings(*phrases: str) -> frozenset[str]:
    """Segments that mean such a phrase, its words joined in each way."""
    return frozenset(glue.join(phrase.split()) for phrase in phrases for glue in ("", "-", "_"))


def _scripts(words: Collection[str]) -> frozenset[str]:
    """The same words as programs on servers."""
    return frozenset(word + ending for word in words for ending in _SCRIPTS)


_LEAVING = _spellings("log out", "sign out", "log off", "sign off")
_CARTING = _spellings(
    *(f"add to {place}" for place in ("cart", "basket", "bag", "trolley", "wishlist", "compare", "favorites")),
    *(f"remove from {place}" for place in ("cart", "basket", "wishlist", "compare")),
)
_CARTS = frozenset({"cart", "basket", "bag", "wishlist", "compare"})
_CHANGES = frozenset(
    {
        *("delete", "remove", "destroy", "edit", "purge", "unsubscribe", "upvote", "downvote", "unlike", "unfollow"),
        *("unwatch", "undelete", "rollback"),
    }
)
_CART_CHANGES = _CHANGES | {"add", "update", "empty", "clear"}
_PROGRAMS = _scripts(_LEAVING | _CARTING | _CHANGES)

# What may stand before "logout" where it logs out: elsewhere it is a page's name.
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

_ACTING_NAMES = frozenset(
    {
        *("add-to-cart", "add_to_cart", "addtocart", "remove_item", "add_to_wishlist", "add-to-wishlist"),
        *("remove_from_wishlist", "replytocom", "logout", "signout", "unsubscribe", "_wpnonce", "csrf_token"),
        *("csrftoken", "authenticity_token", "__eventtarget"),
    }
)
_VERB_NAMES = frozenset({"action", "act", "do", "op", "task", "cmd", "operation", "mode", "veaction"})
_VERBS = (
    _CHANGES
    | _LEAVING
    | _CARTING
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
_CALENDAR_VALUED = frozenset({"format", "feed", "export", "type", "output", "view", "action", "do", "task"})

# Parts of well-known software that answer programs, wherever they stand.
_INTERFACES = frozenset(
    {"wp-json", "xmlrpc.php", "jsonrpc", "oembed", "_api", "api.php", "admin-ajax.php", "trackback"}
)
_API_VERSION = re.compile(r"v[0-9]+(?:\.[0-9]+)*|[0-9]+\.[0-9]+|rest_v[0-9]+|json|rest|api")
_API_STEMS = frozenset({"api", "rest"})
_API_PARAMETERS = frozenset({"wsdl", "rest_route"})

# Pages about acts and calls show something.
_ABOUT = frozenset(
    {
        *("doc", "docs", "documentation", "document", "documents", "reference", "manual", "manuals", "man", "man-page"),
        *("man-pages", "wiki", "help", "kb", "support", "blog", "news", "article", "articles", "tutorial", "tutorials"),
        *("guide", "guides", "developer", "developers", "learn", "faq", "blob", "tree", "src", "source"),
        *("t", "r", "topic", "topics", "questions", "tag", "tags", "tagged", "package", "details"),
        *("readthedocs", "dictionary", "glossary"),
    }
)

_BLANKS = ("%7B%7B", "$%7B")  # {{…}}, ${…}
_FILLERS = frozenset({"", "-", "all", "any"})  # segments that stand for a choice not made
_TELLING = _LEAVING | _CARTING | _CARTS | _CHANGES | _PROGRAMS | _INTERFACES | _API_STEMS


_ENTERING = _spellings("log in", "sign in", "log on", "sign on")
_LOGINS = frozenset(
    {*_ENTERING, *_scripts(_ENTERING), *(f"{word}.html" for word in _ENTERING), "wp-login.php", "servicelogin"}
)
_WEAK_LOGINS = frozenset({"sso", "auth", "oauth", "cas"})  # also names of pages about such things
_LOGIN_HOSTS = frozenset({*_ENTERING, "sso", "auth", "accounts", "idp", "cas"})  # what their names begin with
_WAYS_BACK = re.compile(
    r"[?&](?:next|return(?:_?(?:to|url|uri|path))?|redirect(?:_?(?:to|url|uri))?|continue|service|goto|back|ref|destination|came_from)=",
    re.IGNORECASE,
)


def is_login(url: str) -> bool:
    """Whether a URL is that of a login: its end says so, or another part of it does and it knows the way back.

    >>> is_login("https://a.com/login/b?next=/c"), is_login("https://login.a.com/?continue=b"), is_login("https://a.com/login/b")
    (True, True, False)
    """
    _, _, rest = url.partition("://")
    authority, _, target = rest.partition("/")
    segments = target.partition("?")[0].lower().rstrip("/").split("/")
    if segments[-1] in _LOGINS:
        return True
    is_named = not (_LOGINS | _WEAK_LOGINS).isdisjoint(segments) or authority.partition(".")[0] in _LOGIN_HOSTS
    return is_named and _WAYS_BACK.search(url) is not None


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
    ending = path[dot + 1 : dot + 33].lower()
    if dot < 0 or ending not in types:
        return ""
    # A wiki's page about a file: what serves files has no colon in their names.
    name = path[path.rfind("/") + 1 :]
    return "" if ":" in name or "%3A" in name or "/wiki/" in path else ending


def unfilled(target: str) -> str:
    """The blank of a template, as canonical URLs have it.

    >>> unfilled("/%7B%7Bitem.url%7D%7D"), unfilled("/a?b=$%7Bid%7D"), unfilled("/a?b=%7B1%7D")
    ('%7B%7B', '$%7B', '')
    """
    return next((blank for blank in _BLANKS if blank in target), "") if "%7B" in target else ""


def repeated_segment(path: str, most: int) -> str:
    """A segment that a path has more than so often: two pages that link to each other by a wrong relative link.

    >>> repeated_segment("/a/b/a/b/a/b/a/b", 3), repeated_segment("/a/b/a/b/a/b", 3)
    ('a', '')
    """
    for segment, count in Counter(path.split("/")).items():
        if count > most and segment not in _FILLERS and not segment.isdecimal():
            return segment
    return ""


def acts(host: str, path: str, query: str) -> str:
    """What a URL does, if it does something rather than show something.

    >>> acts("a.com", "/users/sign_out", ""), acts("a.com", "/posts/12/delete", ""), acts("a.com", "/p", "add-to-cart=7")
    ('sign_out', 'delete', 'add-to-cart')
    >>> acts("a.com", "/docs/sql/delete", ""), acts("a.com", "/topics/logout", ""), acts("a.com", "/2024/05/delete", "")
    ('', '', '')
    """
    lower = path.lower()
    if lower.endswith(".ics"):
        return "calendar export"
    if query and (found := _acting_parameter(query)):
        return found
    segments = [segment for segment in lower.split("/") if segment]
    if _TELLING.isdisjoint(segments) or _is_about(host, segments):
        return ""
    return _acting_segment(segments, query)


def _acting_segment(segments: Sequence[str], query: str) -> str:
    names_something = any(map(_ID.fullmatch, _values(query)))
    for place, segment in enumerate(segments):
        before = segments[:place]
        after = segments[place + 1] if place + 1 < len(segments) else ""
        if segment in _PROGRAMS:
            return segment
        if segment in _LEAVING and not after and all(part in _ACCOUNTS or _LANGUAGE.fullmatch(part) for part in before):
            return segment
        if segment in _CARTS and after in _CART_CHANGES:
            return f"{segment}/{after}"
        if segment in _CARTING and (_ID.fullmatch(after) or names_something):
            return segment
        # Something is deleted: "/posts/12/delete", "/delete/12", "/delete?id=12"; not "/sql/delete", "/2024/05/delete".
        if segment in _CHANGES and not any(map(_YEAR.fullmatch, before)):
            is_named = before and not after and _ID.fullmatch(before[-1])
            if is_named or _ID.fullmatch(after) or (names_something and not after):
                return segment
    return ""


def _values(query: str) -> Iterator[str]:
    """The values of parameters that name a thing."""
    for parameter in query.lower().split("&"):
        name, _, value = parameter.partition("=")
        if name.endswith("id") or name in ("item", "key", "product", "post", "p"):
            yield value


def _acting_parameter(query: str) -> str:
    for parameter in query.lower().split("&"):
        name, _, value = parameter.partition("=")
        if name in _ACTING_NAMES:
            return name
        if name in _CALENDAR_NAMES or (name in _CALENDAR_VALUED and value in _CALENDAR_VALUES):
            return "calendar export"
        if name in _VERB_NAMES and value in _VERBS:
            return parameter
        if name == "share" and value in _NETWORKS:
            return name
    return ""


def api_call(host: str, path: str, query: str) -> str:
    """What of a URL says that it is meant for programs.

    >>> api_call("a.com", "/api/v1/users/3", ""), api_call("a.com", "/wp-json/wp/v2/posts", ""), api_call("a.com", "/s", "wsdl")
    ('api/v1', 'wp-json', 'wsdl')
    >>> api_call("a.com", "/reference/api/v2/users", ""), api_call("a.com", "/api/v1/users.html", "")
    ('', '')
    """
    segments = [segment for segment in path.lower().split("/") if segment]
    if not _INTERFACES.isdisjoint(segments):
        return next(segment for segment in segments if segment in _INTERFACES)
    # "/api/v6/" alone is more often the description of an interface than a call of it.
    if len(segments) > 2 and segments[0] in _API_STEMS and _API_VERSION.fullmatch(segments[1]):
        is_page = segments[-1].endswith((".html", ".htm")) or _is_about(host, segments)
        return "" if is_page else "/".join(segments[:2])
    names = {parameter.partition("=")[0] for parameter in query.lower().split("&")}
    return next(iter(names & _API_PARAMETERS), "")


def _is_about(host: str, segments: Sequence[str]) -> bool:
    return not (_ABOUT.isdisjoint(segments[:-1]) and _ABOUT.isdisjoint(host.split(".")[:-1]))
