"""The value types that all parts of the crawler share: visits, answers, pages, results, exported documents.

All times are seconds since the epoch, durations seconds, sizes bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple, Self

from msgspec import Struct

_KEY = struct.Struct(">qq")
ROBOTS_TOKEN = "orbweaver"  # noqa: S105 -- our user agent in robots.txt


class State(IntEnum):
    """The state of a URL; every known URL is in exactly one."""

    WAITING = 0  # it has a due time and a priority
    LEASED = 1  # it is being visited
    PARKED = 2  # not visited again unless something changes; the reason says what


class Kind(IntEnum):
    """The kind of a URL's next visit."""

    PAGE = 0
    ROBOTS = 1
    SITEMAP = 2
    FEED = 3
    PROBE = 4  # of a made-up URL, to see what the host shows for missing pages


class Outcome(IntEnum):
    """How a visit ended, in coarse classes; the `Reason` says it in detail."""

    FETCHED = 0  # the answer is a document
    REDIRECTED = 1  # the answer is a redirect
    REFUSED = 2  # the answer is no document that can be used: an error, a login, a soft 404
    BUSY = 3  # the server asks us to come back later
    FAILED = 4  # there was no usable answer
    DENIED = 5  # nothing was sent, because a rule forbids it
    ABORTED = 6  # we cancelled the request
    BROKEN = 7  # our own code failed
    UNCHANGED = 8  # the document is still the one that is stored
    PROMISING = 9  # the answer to HEAD says that a GET is worthwhile


class DescribedCode(IntEnum):
    """A number with a description."""

    meaning: str

    def __new__(cls, code: int, meaning: str = "") -> Self:
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member


class Reason(DescribedCode):
    """Why a URL is in its state, or why a visit ended as it did. Codes are schema: never reuse one."""

    # The URL waits for its first visit, or for another
    SEED = 1, "given as a seed"
    LINK = 2, "found as a link"
    REDIRECT_TARGET = 3, "named by a redirect"
    ROBOTS_FILE = 4, "a robots.txt, visited when a page of its origin needs it"
    REVISIT = 5, "fetched before, due again"
    RETURNED = 6, "was in flight when a crawl process ended"
    STOPPED = 7, "was in flight when the crawl was stopped"
    REQUESTED = 8, "requested by a spider"
    LISTED = 9, "in a list that was loaded"
    IN_SITEMAP = 10, "listed in a sitemap"
    IN_FEED = 11, "announced in a feed"
    SITEMAP_FILE = 12, "a sitemap, named by its site or at the usual place"
    FEED_FILE = 13, "a feed, named by a page"
    PROBE_FILE = 14, "a made-up URL, to see what its host shows for missing pages"
    HEAD_SEEN = 15, "HEAD was answered, and GET follows"

    # The answer is a document
    OK = 20, "fetched"
    CUT_LENGTH = 21, "fetched, cut at the size limit"
    CUT_DISCONNECT = 22, "the connection ended before the document did"
    CUT_TIME = 23, "fetched, cut at the time limit"
    NOINDEX = 24, "fetched, and asks not to be found (noindex)"
    NOT_MODIFIED = 25, "not changed since it was fetched, says the server (304)"
    SAME_HEAD = 26, "by its answer to HEAD it is unchanged, so it was not fetched again"

    # The answer is something else
    REDIRECTED = 30, "answers with a redirect to another URL"
    REDIRECT_LOOP = 31, "answers with a redirect to itself"
    TOO_MANY_REDIRECTS = 32, "is the end of a chain of too many redirects"
    BAD_LOCATION = 33, "answers with a redirect that names no URL we could visit"
    NOT_FOUND = 34, "the server does not have it (404)"
    GONE = 35, "the server says it is gone for good (410)"
    FORBIDDEN = 36, "private: the server does not give it to us (401, 403, 407 or 451)"
    CLIENT_ERROR = 37, "the server calls the request wrong (other 4xx)"
    SERVER_ERROR = 38, "the server failed (5xx)"
    BUSY = 39, "the server asks to come back later (429 or 503)"
    BAD_STATUS = 40, "the server answered with a status that HTTP does not know, or that does not fit the request"
    LOGIN_WALL = 41, "the server asks for a login: it is private"
    SOFT_404 = 42, "the page that its host shows, with status 200, for missing ones"
    UNWANTED_TYPE = 43, "a document of a type that is not read; its body was not fetched"
    NOT_A_LIST = 44, "neither a sitemap nor a feed, though it should be one"
    CAME_EMPTY = 45, "nothing where there was a page before"
    NOT_A_PAGE = 46, "a sitemap or a feed, where there was a page before"

    # There was no answer
    DNS_FAILED = 50, "the host name does not resolve"
    CONNECT_FAILED = 51, "no connection to the host"
    CONNECT_TIMEOUT = 52, "the host did not accept a connection in time"
    TLS_FAILED = 53, "no secure connection to the host"
    FIRST_BYTE_TIMEOUT = 54, "the host accepted the request and said nothing in time"
    TOO_SLOW = 55, "the answer came too slowly"
    TIMEOUT = 56, "the answer was not complete in time"
    DISCONNECTED = 57, "the connection ended before an answer"
    BAD_HTTP = 58, "the answer is not HTTP"
    HEADERS_TOO_BIG = 59, "the answer's headers exceed the limit"
    FETCH_ERROR = 60, "the fetch failed in another way"
    STALE_CONNECTION = 61, "the host closed a kept connection just as the request was sent"

    # The URL is not visited
    ROBOTS_DENIED = 70, "robots.txt forbids it"
    ROBOTS_UNAVAILABLE = 71, "robots.txt cannot be had, so the origin is left alone for now"
    OUT_OF_SCOPE = 72, "outside the scope of the seeds"
    NO_CONTACT = 73, "not an own host, and no CONTACT is given"
    ADDRESS_DENIED = 74, "the host's address is not on the public internet"
    URL_TOO_LONG = 75, "the URL is longer than we visit"
    PORT_DENIED = 76, "its port is not visited (URL_PORTS)"
    EXCLUDED = 77, "a pattern of URL_EXCLUDE matches it"
    NOT_INCLUDED = 78, "no pattern of URL_INCLUDE matches it"
    FILE_TYPE = 79, "a file of a type that is not read"

    # Visits to the URL failed for good
    QUARANTINED = 80, "three visits ended badly"
    CRASHED = 81, "a crawl process died while it visited this URL alone"
    INTERNAL_ERROR = 82, "our own code failed on it"
    CONTENT_DIED = 83, "its page ended the process that parsed it"
    CONTENT_HUNG = 84, "parsing its page took too long"

    # The URL is not visited (continued)
    ACTION = 90, "it does something rather than show something"
    API_CALL = 91, "meant for programs, not for readers"
    PATH_TOO_DEEP = 92, "its path has too many segments"
    REPEATED_SEGMENT = 93, "its path goes in circles"
    TOO_MANY_PARAMETERS = 94, "its query has too many parameters"
    TOO_FAR = 95, "too many links away from a seed"
    FILTER_FAILED = 96, "a filter failed on it, so it is left alone"
    SAME_PAGE = 97, "a directory and its index page are one page, and the other was fetched"
    OVER_BUDGET = 98, "its host or its domain has had its budget; it is let in when the budget allows"
    PREFERRED_HOST = 99, "its site prefers another host for it"
    UNFILLED = 100, "the blank of a template that no script has filled in"
    MIDDLEWARE_REFUSED = 101, "a middleware of the project refuses it"

    # The answer is a document (continued)
    OFF_TOPIC = 102, "fetched, and not about the topic of the crawl"


class Tier(DescribedCode):
    """How a document was found to be a duplicate of another. Codes are schema, too."""

    BODY = 1, "the same bytes"
    TEXT = 2, "the same words"
    SKETCH = 3, "almost the same words, as their sketches tell"
    COMPARED = 4, "almost the same words, both texts compared"


class Key(NamedTuple):
    """A URL's key: a fingerprint of its host, then one of the rest, so that a host's URLs lie together.

    Both are signed 64-bit numbers, as databases store them.
    """

    host: int
    rest: int


class Refusal(NamedTuple):
    """Why a URL must not be visited."""

    reason: Reason
    detail: str = ""  # such as the pattern, the port, the segment, the number that is too large

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.reason.meaning}{detail} ({self.reason.name.lower()})"


class Link(NamedTuple):
    """A link of a page: its canonical URL with key, anchor text and the verdict of the scope."""

    key: Key
    url: str
    anchor: str
    refused: Refusal | None  # why it must not be visited, or None
    mark: int  # `link_fingerprint` of URL and anchor; 0 for the target of a redirect


class ListedUrl(NamedTuple):
    """A URL that a sitemap or a feed lists, with what the list says about it."""

    key: Key
    url: str
    refused: Refusal | None
    modified: float | None = None
    interval: float | None = None  # expected time between two changes
    hint: float | None = None  # importance within its site, from 0 to 1
    guid: int = 0  # fingerprint of a feed entry's identifier
    title: str = ""
    summary: str = ""


class Validators(NamedTuple):
    """The validators of a stored document, which show whether it has changed; no length = no stored document."""

    etag: str = ""
    last_modified: str = ""  # as the server writes it
    length: int | None = None  # of the body as on the wire
    reused: int = 0  # visits in a row that found it unchanged by its validators


NO_VALIDATORS = Validators()


class Visit(Struct, frozen=True, kw_only=True, array_like=True):
    """One URL to be requested, with what the store knows about it."""

    key: Key
    url: str
    kind: Kind
    epoch: int  # of the partition under which it was leased
    depth: int = 0
    level: int = 0  # its priority; 0 is the most important
    hops: int = 0  # redirects, or preferred hosts, that led here; -1 = none did, and none may be followed
    tries: int = 0  # failed visits in a row
    crashes: int = 0  # crawl processes that died while it was leased
    via: str | None = None  # the page on which it was found
    origin: str = ""  # of a robots.txt visit: the origin for which the rules are, even after a redirect
    # Fingerprint of the host that is contacted; it differs from the key's if a robots.txt has moved to another host.
    host_key: int = 0
    visited: float | None = None  # time of the visit before
    validators: Validators = NO_VALIDATORS
    missing: int = 0  # visits in a row that did not find it
    head_status: int = 0  # status of the answer to HEAD, if the last visit was one
    interval: float | None = None  # between two visits, by the ttl or the entries of a feed
    vouchers: Sequence[str] = ()  # hosts whose robots.txt names this sitemap of another host
    soft404: bytes = b""  # sketch of the page that its host shows for missing ones
    template: bytes = b""  # shingles that most pages of its host have: 8 bytes each, sorted


class Fetched(Struct, frozen=True, kw_only=True, array_like=True):
    """The result of one request: the bytes as received, or why there are none."""

    url: str
    reason: Reason  # OK, CUT_*, or why there is no answer
    detail: str = ""
    started: float  # when the request was handed to the network
    ended: float  # when the last byte was received, or the request given up
    request: bytes = b""  # request line and headers as sent; empty if nothing was sent
    status: int = 0  # 0 = no answer
    head: bytes = b""  # status line and headers as received, with the empty line
    body: bytes = b""  # as on the wire: neither transfer nor content coding undone
    address: str = ""  # the IP address that was connected to
    port: int = 0
    first_byte: float | None = None  # when the answer began
    connected: bool = False  # this request opened a new connection

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The headers in the order received: names in lower case, values without surrounding space."""
        pairs = []
        for line in self.head.split(b"\n")[1:]:
            name, colon, value = line.partition(b":")
            if colon:
                pairs.append((name.strip().lower().decode("latin-1"), value.strip().decode("latin-1")))
        return pairs

    def header(self, name: str) -> str | None:
        """Return the first value of a header."""
        wanted = name.lower()
        return next((value for found, value in self.headers if found == wanted), None)

    @property
    def was_sent(self) -> bool:
        """Whether the host may have received the request, so that it must rest."""
        return bool(self.request)


class WarcRecord(Struct, frozen=True, kw_only=True, array_like=True):
    """One WARC record, compressed and ready to append."""

    type: str  # as in WARC-Type
    id: str
    data: bytes


class TextBlock(NamedTuple):
    """A part of a document's text that stands by itself: a paragraph, a heading, a list item, a table row."""

    text: str  # on one line, unless it is preformatted
    tag: str  # of its element: "p", "h1", "li", "tr", "pre" …
    position: int  # characters of text before it in the document
    importance: float  # from 0 (the same on all pages of a site) to 1 (what this page is about)


class Page(Struct, frozen=True, kw_only=True, array_like=True):
    """What one answer contains: everything that depends on the answer alone."""

    content_type: str = ""  # media type, as the server says
    format: str = ""  # as detected: "html", "pdf", "docx", "text" …; empty = a format that is not read
    encoding: str = ""  # its name in the Encoding Standard
    encoding_source: str = ""  # how it was found: bom, header, meta, detected …
    title: str = ""
    text: str = ""
    language: str = ""
    published: float | None = None  # publication date, as the document says
    metadata: Mapping[str, str] = {}  # author, description …
    payload_digest: bytes = b""  # of the body as on the wire
    body_digest: bytes = b""  # of the body, codings undone
    text_digest: bytes = b""  # of the words of the main text; empty if they are too few
    weights: bytes = b""  # of the blocks of a page, with which its main text can be extracted again faster
    extractor: str = ""  # method and version by which the main text was extracted; empty if all text is
    links: Sequence[Link] = ()
    links_digest: int = 0  # of the links' keys
    problem: str = ""  # what could not be decoded or parsed
    unavailable_after: float | None = None  # when it must go from the index, by its robots directives
    etag: str = ""  # as the server writes it, like last_modified
    last_modified: str = ""
    kind: Kind = Kind.PAGE  # by its content
    listed: Sequence[ListedUrl] = ()  # by a sitemap or a feed
    sitemaps: Sequence[Link] = ()  # that it names
    feeds: Sequence[Link] = ()
    interval: float | None = None  # after which a feed should be visited again
    soft404: bytes = b""  # of a probe: sketch of the page that the host shows for missing ones
    sketch: bytes = b""  # of its main text, for finding near-duplicates; empty if it has too few words
    template: int = 0  # fingerprint of the template that was removed before sketching; 0 = none
    relevance: float | None = None  # to the topic of the crawl, from 0 to 1; None = it has none
    topic_words: bytes = b""  # from which the topic learns how frequent words are
    link_scores: bytes = b""  # the worth of each link, in the order of `links`: 4-byte floats
    link_evidence: bytes = b""  # and the evidence for it, of the same length for each


class DailyWindow(NamedTuple):
    """A part of each day, in minutes after midnight UTC; it may contain midnight."""

    start: int
    end: int


class RequestRate(NamedTuple):
    """At most so many requests in so many seconds, in a part of the day or always."""

    requests: int
    seconds: int
    window: DailyWindow | None = None


class CrawlLimits(NamedTuple):
    """The limits that a robots.txt sets: Crawl-delay, Request-rate, Visit-time."""

    crawl_delay: float | None = None
    request_rate: RequestRate | None = None
    visit_time: DailyWindow | None = None


NO_CRAWL_LIMITS = CrawlLimits()


NOT_ASKED = -1  # status of a robots.txt that a middleware of the project refuses; so are the pages of its origin


class RobotsFile(Struct, frozen=True, kw_only=True, array_like=True):
    """The robots.txt of an origin: its rules, or that it could not be fetched, and when to fetch it again."""

    host: int
    origin: str  # scheme://host:port, port only if not the default
    status: int  # of the last answer; 0 = none, NOT_ASKED = a middleware of the project refused the visit
    body: bytes | None  # None = no rules
    fetched: float
    expires: float
    held_until: float = 0.0  # no page of the origin is visited before
    failures: int = 0
    location: str = ""  # the target of a redirect that is still to be followed; empty = none
    hops: int = 0  # redirects followed so far
    preferred: str = ""  # origin of the mirror that the site prefers; empty = this one, or it names none
    crawl_limits: CrawlLimits = NO_CRAWL_LIMITS  # for our user agent


class Visited(Struct, frozen=True, kw_only=True, array_like=True):
    """The result of one visit, and its one Scrapy item: how it ended, what was found, what is archived."""

    visit: Visit
    outcome: Outcome
    reason: Reason
    detail: str = ""
    fetched: Fetched | None = None
    page: Page | None = None
    location: Link | None = None  # the target of a redirect
    rules: RobotsFile | None = None  # of a robots.txt visit
    sitemaps: Sequence[Link] = ()  # that a robots.txt names
    retry_after: float | None = None  # seconds, from the Retry-After header
    records: Sequence[WarcRecord] = ()
    redirect: str | None = None  # a redirect's Location as the server wrote it
    is_compared: bool = False  # its page is compared with others, to find near-duplicates
    keeps_text: bool = False  # somebody wants the text of its page, so the content process sends it along


# ── Exported documents ──


class ChangeEvent(StrEnum):
    """The kind of an event in the change feed."""

    UPSERT = "upsert"  # the document is new, or its content has changed
    META = "meta"  # its bytes are the same: only its time of fetching, its anchors, or how we read it has changed
    DELETE = "delete"  # it must go from the index


class DeletionEvidence(StrEnum):
    """Why a document must go from an index. A failure that may be temporary is no evidence."""

    NOT_FOUND = "not_found"  # 404 or a soft 404, more than once
    GONE = "gone"  # 410
    NOINDEX = "noindex"  # its robots directives say so
    OFF_TOPIC = "off_topic"  # it is not about the topic of the crawl
    ROBOTS = "robots"  # robots.txt forbids it now
    PRIVATE = "private"  # it needs a login, found more than once
    DUPLICATE = "duplicate"  # it is a duplicate of the target
    REDIRECTED = "redirected"  # it has moved to the target
    NOT_A_PAGE = "not_a_page"  # its URL now has a feed, a sitemap, or a type that is not read
    FORGOTTEN = "forgotten"  # the operator removed it
    NOT_SELECTED = "not_selected"  # it exists, but the filters of this export exclude it
    UNKNOWN = "unknown"  # it was deleted before reasons were recorded


class OutLink(NamedTuple):
    """A link of a document, inside the crawl's scope or not."""

    key: Key
    url: str
    anchor: str
    rel: str  # nofollow, ugc …


class ExportedDocument(Struct, frozen=True, kw_only=True):
    """The current version of a document."""

    version: int  # of the change feed
    event: ChangeEvent
    key: Key
    url: str
    host: str
    fetched: float  # when it was last fetched, or found unchanged
    status: int
    content_type: str
    title: str
    text: str
    blocks: Sequence[TextBlock] | None  # the text in parts, each with its importance; None if not requested
    language: str
    format: str  # html, pdf, docx …
    problem: str  # what could not be decoded or parsed
    metadata: Mapping[str, str]  # author, description …
    digest: bytes  # of the body, codings undone
    duplicate_of: str | None  # URL of its original
    similarity: float | None  # to its original
    tier: str | None  # how the duplicate was found: body, text, sketch, compared
    anchors: Sequence[tuple[str, str]]  # (linking host, anchor text)
    links: Sequence[OutLink] | None  # None if not requested
    noarchive: bool  # no cached copy of it may be shown
    relevance: float | None = None  # to the topic of the crawl, from 0 to 1; None = it had none


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedDocument:
    """A document that must go from the index."""

    version: int
    key: Key
    url: str
    evidence: DeletionEvidence = DeletionEvidence.UNKNOWN
    target: str | None = None  # URL of its original, or of the page to which it has moved


ExportEntry = ExportedDocument | DeletedDocument


class RejectedDocument(Struct, frozen=True, kw_only=True):
    """A document that a sink has refused for good."""

    id: str
    url: str
    version: int
    error: str


def identifier(key: Key) -> str:
    """Return the permanent identifier of a document: the 16 bytes of its URL's key, in hexadecimal."""
    return _KEY.pack(*key).hex()
