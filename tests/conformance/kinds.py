"""The kinds of differences between other projects' URL handling and ours, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

from crawler.urls.canonical import canonicalize
from crawler.urls.hosts import registered_domain
from tests.conformance.compare import Answer, Case, Kind

Act = Callable[[Answer, Case], Answer]

_URL = re.compile(r"([^:/?#]+:)?(//[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL)  # RFC 3986, appendix B
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")


class Parts(NamedTuple):
    """The parts of a URL, each with its mark, so that they make the URL when put together."""

    scheme: str
    authority: str
    path: str
    query: str
    fragment: str

    @classmethod
    def of(cls, url: str) -> Parts:
        match = _URL.fullmatch(url)
        return cls(*(part or "" for part in match.groups())) if match else cls("", "", url, "", "")

    @property
    def host(self) -> str:
        return re.sub(r":[0-9]*$", "", self.authority[2:].rpartition("@")[2])


def text(act: Callable[[str], Answer]) -> Act:
    """Return an act that changes strings and no other answers."""
    return lambda answer, case: act(answer) if isinstance(answer, str) else answer


def part(name: str, act: Callable[[str], str]) -> Act:
    """Return an act that changes one part of a URL."""

    def change(url: str) -> str:
        parts = Parts.of(url)
        return "".join(parts._replace(**{name: act(getattr(parts, name))}))

    return text(change)


def refused(when: Callable[[str], bool]) -> Act:
    """Return an act that refuses such URLs: the answer is None."""
    return text(lambda url: None if when(url) else url)


def skipped(when: Callable[[str], object]) -> Act:
    """Return an act that does not visit such URLs: the answer is False."""
    return lambda answer, case: False if when(case.given) else answer


def read_as(change: Callable[[str], str]) -> Act:
    """Return an act that changes the given text before it is canonicalized."""

    def act(answer: Answer, case: Case) -> Answer:
        changed = change(case.given)
        return canonicalize(changed) if changed != case.given else answer

    return act


def pieces(act: Callable[[list[str]], list[str]]) -> Act:
    """Return an act that changes the parameters of a query."""

    def change(query: str) -> str:
        kept = "&".join(act(query[1:].split("&"))) if query else ""
        return query[:1] + kept if kept else ""

    return part("query", change)


# Behaviour of the standard that they do not have

NO_WEB = Kind(
    "not of the web",
    "only http and https are crawled",
    theirs=refused(lambda url: bool(_SCHEME.match(url)) and not _is_web(url)),
)
RELATIVE = Kind(
    "relative",
    "a relative reference without a base is no URL; they tidy it as text",
    theirs=refused(lambda url: not _SCHEME.match(url)),
)
NO_SCHEME = Kind(
    "no scheme",
    "they put http:// before what has no scheme; in a link it is a relative path",
    ours=lambda answer, case: answer if _SCHEME.match(case.given) else canonicalize("http://" + case.given),
)
NO_HOST = Kind(
    "no host",
    "a web URL without a host is none",
    theirs=refused(lambda url: _is_web(url) and not Parts.of(url).host),
)
ESCAPED_HOST = Kind(
    "escapes in the host",
    "what is left escaped in a host is no character that a host can have, so the standard refuses it; they keep it",
    theirs=refused(lambda url: "%" in Parts.of(url).host),
)
DOTS_AS_ADDRESS = Kind(
    "dots as an address",
    "a host of nothing but dots is 0.0.0.0 to them; the standard reads no number in it",
    theirs=lambda answer, case: _with_dots(answer, case.given),
)
EMPTY_LABEL = Kind(
    "empty label",
    "a name with an empty label cannot be in the DNS, so there is nothing to visit",
    theirs=refused(lambda url: ".." in Parts.of(url).host or Parts.of(url).host == "."),
)
MERGED_DOTS = Kind(
    "dots merged",
    "they make one dot of several in a host; a browser does not find such a host, and we do not guess",
    ours=read_as(lambda given: re.sub(r"(?<=[^./])\.{2,}(?=[^./])", ".", given)),
)
LINE_SEPARATORS = Kind(
    "line separators",
    "they take Unicode's line separators out of a host; IDNA allows none there, so the standard refuses it",
    ours=read_as(lambda given: re.sub("[\u2028\u2029]", "", given)),
)
OTHER_SCRIPT = Kind(
    "other scripts",
    "the standard writes names as the DNS has them; they keep or restore the letters",
    theirs=part("authority", lambda authority: ".".join(map(_ascii_label, authority.split(".")))),
)
LONG_LABEL = Kind(
    "long label",
    "a label of more than 63 characters cannot be in the DNS, so there is nothing to visit; they keep it",
    theirs=refused(lambda url: any(len(label) > 63 for label in Parts.of(url).host.split("."))),
)
DOTTED_IPV6 = Kind(
    "IPv4 in IPv6",
    "the standard writes IPv6 addresses in hexadecimal throughout; they keep a dotted tail",
    theirs=part("authority", lambda authority: re.sub(r"(\d+)\.(\d+)\.(\d+)\.(\d+)(?=\])", _two_groups, authority)),
)
BARE_IPV6 = Kind(
    "IPv6 without brackets",
    "an address with colons needs brackets: the standard reads a bad port; they take it",
    theirs=lambda answer, case: None if re.match(r"https?://[0-9a-f]+:[0-9a-f]*:", case.given) else answer,
)
NO_SLASH = Kind(
    "no slash",
    "the standard gives an empty path its slash; they leave it away, or take it away",
    theirs=text(lambda url: re.sub(r"^([a-z]+://[^/?#]+)(?=[?#]|$)", r"\1/", url)),
)
DEFAULT_PORT = Kind(
    "default port",
    "the standard drops the port that is the scheme's own; they keep it",
    theirs=text(
        lambda url: re.sub(r"^((?:http(?=.*:80\b)|https(?=.*:443\b)|ftp(?=.*:21\b))://[^/?#]*):\d+", r"\1", url)
    ),
)
BACKSLASH = Kind(
    "backslash",
    "a backslash before the query of a web URL is a slash in the standard; they keep it",
    theirs=text(lambda url: url.replace("\\", "/")),
)
CHARACTERS = Kind(
    "characters left alone",
    "they escape [ ] | ^ ` \\ wherever they stand; the standard leaves some of them in paths, queries and fragments",
    ours=text(lambda url: _target_escaped(url, "[]|^`\\")),
)
STRAY_PERCENT = Kind(
    "stray percent sign",
    "they escape a % that begins no escape; the standard leaves it, and a server may distinguish the two",
    ours=text(lambda url: re.sub("%(?![0-9A-Fa-f]{2})", "%25", url)),
)
SPACE_IN_OPAQUE = Kind(
    "space in an opaque path",
    "they escape spaces in what has no host, such as data:; the standard leaves them",
    ours=part("path", lambda path: path.replace(" ", "%20")),
)
SPACE_IN_FRAGMENT = Kind(
    "space in a fragment",
    "the standard of their day left spaces in fragments; today's escapes them",
    theirs=part("fragment", lambda fragment: fragment.replace(" ", "%20")),
)
WHITE_SPACE = Kind(
    "white space",
    "their parser keeps tabs and line ends in the parts; the standard drops them",
    theirs=text(lambda url: re.sub(r"[\t\r\n]", "", url)),
)
SCHEME_CASE = Kind(
    "case of the scheme",
    "their parser keeps the case of the scheme; the standard writes it small",
    theirs=part("scheme", str.lower),
)
FILE_SLASHES = Kind(
    "slashes of file:",
    "their parser keeps the slashes of file: as they are; the standard always writes an empty host",
    theirs=text(lambda url: re.sub(r"^file:(?:[/\\]{3}|[/\\]{2}(?=[^/\\]*$)|[/\\]?(?![/\\]))", "file:///", url)),
)
FILE_USER = Kind(
    "user of a file",
    "a file has neither user nor port; they take these for a part of the host",
    theirs=refused(lambda url: url.startswith("file:") and ":" in Parts.of(url).authority),
)
BYTES = Kind(
    "bytes",
    "their input is bytes, which the data has as Latin-1; read as UTF-8, as they mean it, it is a text we agree on",
    ours=lambda answer, case: canonicalize(_as_utf_8(case.given)),
)
QUERY_ENCODING = Kind(
    "encoding of the page",
    "by an option they write a query in the encoding of its page, as the standard does for links; we always use UTF-8",
    ours=lambda answer, case: _in_encoding(answer, case, "query", "encoding"),
)
PATH_ENCODING = Kind(
    "encoding of the path",
    "by an option they write a path in another encoding; the standard always uses UTF-8",
    ours=lambda answer, case: _in_encoding(answer, case, "path", "path_encoding"),
)

# Behaviour of our rules that theirs do not have

FRAGMENT = Kind(
    "fragment",
    "no server sees a fragment, so we drop it; they keep it",
    theirs=part("fragment", lambda fragment: ""),
)
USER_INFO = Kind(
    "user and password",
    "secrets are neither stored nor sent, however they are escaped; they keep them",
    ours=part("authority", lambda authority: re.sub("//.*@", "//", authority)),
    theirs=part("authority", lambda authority: re.sub("//.*@", "//", authority)),
)
EMPTY_QUERY = Kind(
    "empty query",
    "we drop a ? with nothing behind it; they keep it",
    theirs=part("query", lambda query: "" if query == "?" else query),
)
QUERY_ORDER = Kind(
    "order of parameters",
    "we sort parameters by name; they keep the order",
    theirs=pieces(lambda pieces: sorted(pieces, key=_name) if all("=" in piece for piece in pieces) else pieces),
)
SESSION_PARAMETER = Kind(
    "session parameter",
    "we drop jsessionid whatever its value; they only one of 32 letters and digits",
    theirs=pieces(lambda pieces: [piece for piece in pieces if _name(piece).lower() != "jsessionid"]),
)

# Behaviour of their rules that ours do not have

SECURE = Kind(
    "https as http",
    "they take https for http; the two can show different things, and are two origins with two robots.txt",
    ours=part("scheme", lambda scheme: "http:"),
    theirs=part("scheme", lambda scheme: "http:"),
)
WWW = Kind(
    "www.",
    "they take www. off a host; the two are two hosts, and one may not exist",
    ours=text(lambda url: re.sub(r"^(https?://|)www\d*\.", r"\1", url)),
)
PROTOCOL_TABLE = Kind(
    "table of protocols",
    "they write https for hosts in a table of the operator; we rely on redirects",
    ours=part("scheme", lambda scheme: "https:"),
)
HOST_TABLE = Kind(
    "table of hosts",
    "they rename hosts of a domain by a table of the operator; we rely on redirects",
    ours=part("authority", lambda authority: f"//{registered_domain(authority[2:])}"),
    theirs=part("authority", lambda authority: f"//{registered_domain(authority[2:])}"),
)
TRAILING_SLASH = Kind(
    "trailing slash",
    "they take the slash off a path's end; relative links mean something else with and without it",
    ours=part("path", lambda path: path.rstrip("/") or "/"),
    theirs=part("path", lambda path: path.rstrip("/") or "/"),
)
LOWER_CASE = Kind(
    "case of the path",
    "they write all in lower case; most servers distinguish case",
    ours=text(str.lower),
)
INDEX_PAGE = Kind(
    "index page",
    "they drop index.html and the like; a switch of ours (URL_DROP_INDEX_PAGE), off as it is wrong on some sites",
    ours=part("path", lambda path: re.sub(r"/(?:index|default)\.[a-z]+\d?$", "/", path, flags=re.IGNORECASE)),
)
ESCAPES_UNDONE = Kind(
    "escapes undone",
    "they undo escapes of punctuation too; RFC 3986 lets a server distinguish those",
    ours=text(lambda url: _target_unescaped(url)),
)
ESCAPES_REPEATEDLY = Kind(
    "escapes undone repeatedly",
    "they undo escapes until none is left, to compare with a black list; what comes out names something else",
    ours=text(lambda url: _target_unescaped_repeatedly(url)),
)
DECODED = Kind(
    "decoded text",
    "they decode for reading whatever is UTF-8; we undo only what means the same in a URL",
    ours=text(lambda url: _decoded(url)),
)
DECODED_REPEATEDLY = Kind(
    "decoded repeatedly",
    "they decode until nothing is left to decode; each time but the first changes what is named",
    ours=text(lambda url: _until_stable(_decoded, url)),
)
EMPTY_VALUE = Kind(
    "empty value",
    'they write "a=" as "a"; a program may distinguish an empty value from none',
    ours=pieces(lambda pieces: [piece.removesuffix("=") for piece in pieces]),
)
VALUELESS = Kind(
    "sorted without values",
    "they sort a query even if it has parameters without a value; such a query may be a text in which order counts",
    ours=pieces(lambda pieces: sorted(pieces, key=_name)),
)
SORTED_VALUES = Kind(
    "sorted values",
    "they sort the values of one name too; of several values the first or the last may count",
    ours=pieces(sorted),
)
FIRST_VALUE = Kind(
    "first value",
    "they keep only the first value of a name; lists are written so",
    ours=pieces(lambda pieces: list({_name(piece): piece for piece in reversed(pieces)}.values())[::-1]),
)
PLUS = Kind(
    "plus for space",
    "they write a space in a query as +; only programs that read forms take the two for one",
    ours=part("query", lambda query: query.replace("%20", "+")),
)
SHORT_SESSION = Kind(
    "session by name",
    "they drop sid and names that end so whatever the value; we where the value looks like an id, as sid may be a page",
    ours=pieces(lambda pieces: [piece for piece in pieces if not re.match("(?i)_?(?:sid|sessionid)=", piece)]),
)
SESSION_IN_VALUE = Kind(
    "session in a value",
    "they cut ;jsessionid= off a value; a ; in a query separates parameters on some sites and is text on others",
    ours=pieces(lambda pieces: [re.sub("(?i);jsessionid=.*", "", piece) for piece in pieces]),
)
BARE_SESSION = Kind(
    "session id without a letter",
    "they drop the /(id)/ of ASP.NET 1; we the /(S(id))/ of its later versions",
    ours=part("path", lambda path: re.sub(r"/\([0-9a-z]{24}\)(?=/)", "", path)),
)
HASH_BANG = Kind(
    "#!",
    "they ask for the static copy behind a #!, a scheme that search engines gave up in 2015",
    theirs=text(lambda url: re.sub(r"[?&]_escaped_fragment_=.*", "", url)),
)
QUERY_IN_FRAGMENT = Kind(
    "query in a fragment",
    "they look for a query behind the #; all that is behind it is fragment",
    ours=read_as(lambda given: re.sub(r"#[^?]*\?", "?", given)),
)
PATTERNS_SEE_CANONICAL = Kind(
    "host in capitals",
    "their expressions see the URL as it was written, ours its canonical form, in which hosts are small",
    ours=lambda answer, case: True if re.match("https?://[A-Z.]+/", case.given) else answer,
)
NOT_OURS_TO_VISIT = Kind(
    "not of the web",
    "only http and https are crawled, whatever the patterns match",
    theirs=skipped(lambda given: not re.match("https?:", given)),
)

# URLs that are worth a visit

MARKUP = Kind(
    "markup",
    "they cut off text that resembles markup or quotes; for us the HTML parser has determined what the link is",
    ours=read_as(lambda given: re.sub(r'^<!\[CDATA\[|\]\]>$|(?<=.)["<].*', "", given)),
)
ENTITY = Kind(
    "&amp;",
    "they undo &amp;; the HTML parser has done so before us",
    ours=read_as(lambda given: given.replace("&amp;", "&")),
)
SECOND_URL = Kind(
    "URL in a URL",
    "they cut where a second URL begins; archives and proxies have such paths",
    ours=read_as(lambda given: re.sub(r"(?<=/)([^/?]+)https?://.*", r"\1", given)),
)
SHARING = Kind(
    "sharing",
    "they extract the page from a link that shares it; the link itself may be meant",
    ours=read_as(lambda given: re.sub(r".*/share.*[?&]ur?l?=(?=https?:)", "", given)),
)
CAMPAIGNS = Kind(
    "names that stand for campaigns",
    "they drop whatever name ends in cid, clickid or affiliate; we only names that are known",
    ours=pieces(
        lambda pieces: [piece for piece in pieces if not re.search("(?:^|_)(?:cid|clickid|affiliate)=", piece)]
    ),
)
STRICT = Kind(
    "strict",
    "by a strict option they drop every unknown parameter; a page would be lost with the wrong one",
    ours=lambda answer, case: _without_query(answer) if case.options.get("strict") else answer,
)
ODD_HOST = Kind(
    "odd host",
    "they refuse hosts without a dot, with a top-level domain of one letter or that of a file; the DNS decides for us",
    ours=lambda answer, case: _not_if(
        re.match(r"(?i)https?://(?:[^./]+|.*\.[a-z]|.*\.webp)(?:/|$)", case.given), answer
    ),
)
OCTAL = Kind(
    "octal address",
    "they refuse an address with a leading zero; the standard reads an octal number",
    ours=lambda answer, case: _not_if(re.match(r"https?://0\d", case.given), answer),
)
NAVIGATION = Kind(
    "navigation",
    "they skip lists of tags, authors, days and feeds, imprints and indexes; these lead to pages",
    ours=lambda answer, case: _not_if(
        re.search(r"/(?:tags?|autor|archives|feed)(?:/|$)|/\d{4}/\d{2}/$|/impressum|/index$", case.given), answer
    ),
)
SOFTWARE = Kind(
    "parts of software",
    "they skip the directories of WordPress and of chats; robots.txt decides for us",
    ours=lambda answer, case: _not_if(re.search(r"/(?:wp-[a-z]+|livechat)/", case.given), answer),
)
SCRIPT = Kind(
    "scripts",
    "they skip files of programs by name; the files contain text, and the answer gives their type",
    ours=lambda answer, case: _not_if(re.search(r"\.js$", case.given), answer),
)
ADDRESS_AS_DOMAIN = Kind(
    "address as a domain",
    "they return an IP address as a domain; it is not a registered one",
    theirs=lambda answer, case: None if re.fullmatch(r"[0-9.]+|[0-9a-f:]+", str(answer)) else answer,
)
SHORT_NAMES = Kind(
    "short names",
    "their quick expression takes short names for public suffixes; the list of suffixes does not have them",
    theirs=text(registered_domain),
)
SUFFIX_IGNORED = Kind(
    "suffix ignored",
    "by an option one name under two suffixes is one site; the other may have another owner",
    ours=lambda answer, case: False if case.options.get("ignore_suffix") else answer,
)

# Tracking parameters: "dropped" or "kept"

WITH_VALUE = Kind(
    "name and value",
    "they drop a parameter only with a certain value; our names hold for any",
    ours=lambda answer, case: "dropped" if "=" in case.given else answer,
)
OPEN_EXPRESSION = Kind(
    "open expression",
    "an expression for more names than are in use; some of those are names for content",
    ours=lambda answer, case: "dropped" if re.search(r"[\])dw][?*+{]", _rule(case.given)) else answer,
)
SHORT_NAME = Kind(
    "short name",
    "five characters or fewer: some site may use the name for something that it shows",
    ours=lambda answer, case: "dropped" if re.fullmatch(r"[\w-]{1,5}", _rule(case.given)) else answer,
)
UNLISTED_NAME = Kind(
    "name not in our list",
    "long enough to mean nothing else, but not in our list: costs a second copy of a page, never a page",
    ours=lambda answer, case: "dropped" if re.fullmatch(r"[\w()?:|-]{6,}", _rule(case.given)) else answer,
)
UNKNOWN_SITE = Kind(
    "site without lines",
    "we have no line for this site; an operator can write one into URL_RULES",
    ours=lambda answer, case: "dropped" if not case.options["lines"] else answer,
)
KNOWN_SITE = Kind(
    "name not in the site's lines",
    "we have lines for this site, and this name is not in them: costs a second copy, never a page",
    ours=lambda answer, case: "dropped" if case.options["lines"] else answer,
)


def _not_if(found: object, answer: Answer) -> Answer:
    """Return False for a verdict and None for a URL if something was found; else the answer."""
    if not found:
        return answer
    return False if isinstance(answer, bool) else None


def _is_web(url: str) -> bool:
    return re.match("https?:", url, re.IGNORECASE) is not None


def _name(piece: str) -> str:
    return piece.partition("=")[0]


def _rule(given: str) -> str:
    return given.removeprefix("(?:%3F)?")


def _with_dots(answer: Answer, given: str) -> Answer:
    dots = re.match(r"[a-z]+:/*((?:\.|%2e)+)/", given)
    if not dots or not isinstance(answer, str):
        return answer
    return answer.replace("0.0.0.0", re.sub("%2e", ".", dots[1]))


def _ascii_label(label: str) -> str:
    if label.isascii():
        return label
    slashes = "//" if label.startswith("//") else ""
    return f"{slashes}xn--{label.removeprefix('//').encode('punycode').decode()}"


def _two_groups(dotted: re.Match[str]) -> str:
    a, b, c, d = map(int, dotted.groups())
    return f"{a << 8 | b:x}:{c << 8 | d:x}"


def _target_escaped(url: str, characters: str) -> str:
    parts = Parts.of(url)
    escaped = {ord(character): f"%{ord(character):02X}" for character in characters}
    return parts.scheme + parts.authority + "".join(parts[2:]).translate(escaped)


def _target_unescaped(url: str) -> str:
    """Decode escapes once, except of characters that would be delimiters in their part."""
    parts = Parts.of(url)
    path = _ESCAPE.sub(lambda escape: _printable(escape, "%#?/"), parts.path)
    query = _ESCAPE.sub(lambda escape: _printable(escape, "%#&=+"), parts.query)
    return "".join(parts._replace(path=path, query=query))


def _printable(escape: re.Match[str], but: str) -> str:
    character = chr(int(escape[1], 16))
    return character if "!" <= character <= "~" and character not in but else escape[0]


def _target_unescaped_repeatedly(url: str) -> str:
    parts = Parts.of(url)
    target = "".join(parts[2:])
    bare = _until_stable(lambda text: _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text), target)
    return (
        parts.scheme
        + parts.authority
        + re.sub(r"[\0- %#\x7f-\xff]", lambda found: quote(found[0], "", "latin-1"), bare)
    )


def _decoded(escaped: str) -> str:
    def decode(run: re.Match[str]) -> str:
        decoded = unquote_to_bytes(run[0]).decode("utf-8", "surrogateescape")
        return re.sub("[\udc80-\udcff]", lambda octet: f"%{ord(octet[0]) - 0xDC00:02X}", decoded)

    return re.sub("(?:%[0-9A-Fa-f]{2})+", decode, escaped)


def _until_stable(change: Callable[[str], str], before: str) -> str:
    after = change(before)
    return before if after == before else _until_stable(change, after)


def _as_utf_8(given: str) -> str:
    try:
        return given.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return given


def _in_encoding(answer: Answer, case: Case, name: str, option: str) -> Answer:
    encoding = case.options.get(option)
    if not isinstance(answer, str) or not isinstance(encoding, str):
        return answer
    parts = Parts.of(answer)
    octets = unquote_to_bytes(getattr(parts, name)).decode("utf-8", "replace").encode(encoding, "replace")
    return "".join(parts._replace(**{name: quote(octets, "/?&=")}))


def _without_query(answer: Answer) -> Answer:
    return answer.partition("?")[0] if isinstance(answer, str) else answer
