"""What flows through a crawl: visits go out, what became of them comes back.

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
ROBOTS_TOKEN = "orbweaver"  # noqa: S105 -- the name that sites can use for us


class State(IntEnum):
    """Where a URL is; every known URL is in exactly one of these."""

    WAITING = 0  # due at a time, with a priority
    LEASED = 1  # handed to the downloader
    PARKED = 2  # not visited again unless something changes; the reason says what


class Kind(IntEnum):
    """What a URL's next visit will be."""

    PAGE = 0
    ROBOTS = 1
    SITEMAP = 2
    FEED = 3
    PROBE = 4  # of a URL that is made up


class Outcome(IntEnum):
    """How a visit ended, in the coarsest terms that decide what happens to the URL."""

    FETCHED = 0  # a document came back
    REDIRECTED = 1  # the answer names another URL
    REFUSED = 2  # the site answered, and the answer is no
    BUSY = 3  # the site asks to be left alone for now
    FAILED = 4  # no usable answer
    DENIED = 5  # we did not ask: rules forbid it
    ABORTED = 6  # we stopped asking
    BROKEN = 7  # our own code failed
    UNCHANGED = 8  # what we hold is what the site has
    PROMISING = 9  # only the head was asked for, and the whole is worth asking for


class DescribedCode(IntEnum):
    """A code, and what it means."""

    meaning: str

    def __new__(cls, code: int, meaning: str = "") -> Self:
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member


class Reason(DescribedCode):
    """Why a URL is in its state, or why a visit ended as it did. Codes are schema: never reuse one."""

    # Waiting for a first visit, or again
    SEED = 1, "given as a seed"
    LINK = 2, "found as a link"
    REDIRECT_TARGET = 3, "named by a redirect"
    ROBOTS_FILE = 4, "the origin's robots.txt is needed before its pages"
    REVISIT = 5, "fetched before, due again"
    RETURNED = 6, "was in flight when a crawl process ended"
    STOPPED = 7, "was in flight when the crawl was stopped"
    REQUESTED = 8, "asked for by a spider"
    LISTED = 9, "in a list that was loaded"
    IN_SITEMAP = 10, "listed in a sitemap"
    IN_FEED = 11, "announced in a feed"
    SITEMAP_FILE = 12, "a sitemap, named by its site or at the usual place"
    FEED_FILE = 13, "a feed, named by a page"
    PROBE_FILE = 14, "made up, to see what its host shows for pages that it does not have"
    HEAD_SEEN = 15, "its head was asked for, and the whole is worth asking for"

    # The site answered with a document
    OK = 20, "fetched"
    CUT_LENGTH = 21, "fetched, cut at the size limit"
    CUT_DISCONNECT = 22, "the connection ended before the document did"
    CUT_TIME = 23, "fetched, cut at the time limit"
    NOINDEX = 24, "fetched, and asks not to be found (noindex)"
    NOT_MODIFIED = 25, "not changed since it was fetched, says the server (304)"
    SAME_HEAD = 26, "its head is that of the page that was fetched, so the rest was not asked for again"

    # The site answered with something else
    REDIRECTED = 30, "answers with a redirect to another URL"
    REDIRECT_LOOP = 31, "answers with a redirect to itself"
    TOO_MANY_REDIRECTS = 32, "is the end of a chain of too many redirects"
    BAD_LOCATION = 33, "answers with a redirect that names no URL we could visit"
    NOT_FOUND = 34, "the server does not have it (404)"
    GONE = 35, "the server says it is gone for good (410)"
    FORBIDDEN = 36, "private: the server does not give it to us (401, 403, 407 or 451)"
    CLIENT_ERROR = 37, "the server calls the request wrong (other 4xx)"
    SERVER_ERROR = 38, "the server failed (5xx)"
    BUSY = 39, "the server asks for patience (429 or 503)"
    BAD_STATUS = 40, "the server answered with a status that HTTP does not know, or that was not asked for"
    LOGIN_WALL = 41, "the server asks for a login: it is private"
    SOFT_404 = 42, "what its host shows, with status 200, for pages that it does not have"
    UNWANTED_TYPE = 43, "a document of a type that is not read; its body was not fetched"
    NOT_A_LIST = 44, "neither a sitemap nor a feed, though it should be one"
    CAME_EMPTY = 45, "nothing where there was a page before"
    NOT_A_PAGE = 46, "a sitemap or a feed, where there was a page before"

    # No answer
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

    # We do not ask
    ROBOTS_DENIED = 70, "robots.txt forbids it"
    ROBOTS_UNAVAILABLE = 71, "robots.txt cannot be had, so the origin is left alone for now"
    OUT_OF_SCOPE = 72, "outside the scope of the seeds"
    NO_CONTACT = 73, "not an own host, and no CONTACT is given"
    ADDRESS_DENIED = 74, "the host's address is not on the public internet"
    URL_TOO_LONG = 75, "the URL is longer than we visit"
    PORT_DENIED = 76, "no server that means to serve pages listens on this port"
    EXCLUDED = 77, "a pattern of URL_EXCLUDE fits it"
    NOT_INCLUDED = 78, "no pattern of URL_INCLUDE fits it"
    FILE_TYPE = 79, "a file of a type that is not read"

    # We gave up
    QUARANTINED = 80, "three visits ended badly"
    CRASHED = 81, "a crawl process died while it visited this URL alone"
    INTERNAL_ERROR = 82, "our own code failed on it"
    CONTENT_DIED = 83, "its page ended the process that looked at it"
    CONTENT_HUNG = 84, "looking at its page took too long"

    # We do not ask, either
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


class Tier(DescribedCode):
    """How it is known that a document says what another says. Codes are schema, too."""

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
    detail: str = ""  # what of it: the pattern, the port, the segment, the number that is too large

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.reason.meaning}{detail} ({self.reason.name.lower()})"


class Link(NamedTuple):
    """A link as it leaves a page: canonical, keyed, judged."""

    key: Key
    url: str
    anchor: str
    refused: Refusal | None  # why it must not be visited, or None
    mark: int  # `link_fingerprint` of URL and anchor; of a redirect's target 0


class ListedUrl(NamedTuple):
    """What a sitemap or a feed says of a URL."""

    key: Key
    url: str
    refused: Refusal | None
    modified: float | None = None
    interval: float | None = None  # between two changes
    hint: float | None = None  # how important it is within its site, from 0 to 1
    guid: int = 0  # of a feed's entry: a fingerprint of what it calls itself
    title: str = ""
    summary: str = ""


class Validators(NamedTuple):
    """What is kept of a document to find out whether it has changed; without a length there is none."""

    etag: str = ""
    last_modified: str = ""  # as the server writes it
    length: int | None = None  # as on the wire
    reused: int = 0  # visits in a row that took the server's word for it


NO_VALIDATORS = Validators()


class Visit(Struct, frozen=True, kw_only=True, array_like=True):
    """One URL handed to the downloader."""

    key: Key
    url: str
    kind: Kind
    epoch: int  # of the partition under which it was leased
    depth: int = 0
    level: int = 0  # of its priority; 0 is the most important
    hops: int = 0  # redirects, or preferred hosts, that led here; -1 = none did, and none is to be followed
    tries: int = 0  # visits that ended badly by themselves
    crashes: int = 0  # crawl processes that died while it was leased
    via: str | None = None  # the page on which it was found
    origin: str = ""  # whose robots.txt a visit is after, wherever the file has moved
    host_key: int = (
        0  # fingerprint of the host that is asked: not the key's for a robots.txt that moved to another host
    )
    visited: float | None = None  # when it was before
    validators: Validators = NO_VALIDATORS
    missing: int = 0  # visits in a row that did not find it
    head_status: int = 0  # status of the answer to a visit for its head, if that was the last one
    interval: float | None = None  # between two visits, as a feed asks for
    vouchers: Sequence[str] = ()  # hosts that say of a sitemap elsewhere that it is theirs
    soft404: bytes = b""  # sketch of what its host shows for pages that it does not have
    template: bytes = b""  # shingles that are on most pages of its host, of 8 bytes each and sorted


class Fetched(Struct, frozen=True, kw_only=True, array_like=True):
    """What came over the wire for one request, as it came."""

    url: str
    reason: Reason  # OK, CUT_*, or why there is no answer
    detail: str = ""
    started: float  # the request was handed to the network
    ended: float  # the last byte came, or we gave up
    request: bytes = b""  # request line and headers as sent; empty if nothing was sent
    status: int = 0  # 0 = no answer
    head: bytes = b""  # status line and headers as received, with the empty line
    body: bytes = b""  # as on the wire: neither transfer nor content coding undone
    address: str = ""  # the address really connected to
    port: int = 0
    first_byte: float | None = None  # when the answer began
    connected: bool = False  # this request opened a new connection

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Names in lower case, values without surrounding space, in the order received."""
        pairs = []
        for line in self.head.split(b"\n")[1:]:
            name, colon, value = line.partition(b":")
            if colon:
                pairs.append((name.strip().lower().decode("latin-1"), value.strip().decode("latin-1")))
        return pairs

    def header(self, name: str) -> str | None:
        """The first value of a header."""
        wanted = name.lower()
        return next((value for found, value in self.headers if found == wanted), None)

    @property
    def was_sent(self) -> bool:
        """Whether the host may have seen the request, so that its clock must run."""
        return bool(self.request)


class WarcRecord(Struct, frozen=True, kw_only=True, array_like=True):
    """One WARC record, compressed and ready to append."""

    type: str  # as in WARC-Type
    id: str
    data: bytes


class TextBlock(NamedTuple):
    """A part of a document's text that stands by itself: a paragraph, a heading, an item of a list, a row of a table."""

    text: str  # on one line, but for preformatted text
    tag: str  # of the element that it is: "p", "h1", "li", "tr", "pre" …
    position: int  # characters of text before it in the document
    importance: float  # from 0, what stands on all pages of a site, to 1, what this page is about


class Page(Struct, frozen=True, kw_only=True, array_like=True):
    """Everything that depends on a response alone."""

    content_type: str = ""  # as the server says
    format: str = ""  # as it turned out: "html", "pdf", "docx", "text" …; empty = nothing that is read
    encoding: str = ""  # by the name of the Encoding Standard
    encoding_source: str = ""  # how that is known
    title: str = ""
    text: str = ""
    language: str = ""
    published: float | None = None  # when it was, as the document says
    metadata: Mapping[str, str] = {}  # what else it says of itself: author, description …
    payload_digest: bytes = b""  # of the body as on the wire
    body_digest: bytes = b""  # of the body, codings undone
    text_digest: bytes = b""  # of the words of the main text; empty if they are too few to tell pages apart
    weights: bytes = b""  # what each piece of text of a page is worth, by which its main text is had again sooner
    links: Sequence[Link] = ()
    links_digest: int = 0  # of the links' keys
    problem: str = ""  # what could not be understood
    unavailable_after: float | None = None  # when it asks not to be found any more
    etag: str = ""  # these two as the server writes them
    last_modified: str = ""
    kind: Kind = Kind.PAGE  # what it turned out to be
    listed: Sequence[ListedUrl] = ()  # by a sitemap or a feed
    sitemaps: Sequence[Link] = ()  # that it names
    feeds: Sequence[Link] = ()
    interval: float | None = None  # after which a feed is worth a visit
    soft404: bytes = b""  # sketch of what a host shows for a page that it does not have
    sketch: bytes = b""  # of its main text, for finding near-duplicates; empty if it has too few words
    template: int = 0  # fingerprint of the template that was taken out before that; 0 = none


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
    """How often and when a site wants to be visited."""

    crawl_delay: float | None = None
    request_rate: RequestRate | None = None
    visit_time: DailyWindow | None = None


NO_CRAWL_LIMITS = CrawlLimits()


class RobotsFile(Struct, frozen=True, kw_only=True, array_like=True):
    """What an origin's robots.txt says, or how it could not be had."""

    host: int
    origin: str  # scheme://host:port, port only if not the default
    status: int  # of the last answer; 0 = none
    body: bytes | None  # None = no rules
    fetched: float
    expires: float
    held_until: float = 0.0  # the origin's pages wait until then
    failures: int = 0
    location: str = (
        ""  # where a redirect says the file is; empty = it was found, or will be looked for, at its own place
    )
    hops: int = 0  # redirects followed so far
    preferred: str = ""  # the origin of the mirror that the site likes best; empty = this one, or it does not say
    crawl_limits: CrawlLimits = NO_CRAWL_LIMITS  # what the rules ask of us


class Visited(Struct, frozen=True, kw_only=True, array_like=True):
    """The one item of one visit: how it ended, what was found, what is to be kept."""

    visit: Visit
    outcome: Outcome
    reason: Reason
    detail: str = ""
    fetched: Fetched | None = None
    page: Page | None = None
    location: Link | None = None  # a redirect's target
    rules: RobotsFile | None = None  # what a robots.txt visit brought
    sitemaps: Sequence[Link] = ()  # that a robots.txt names
    retry_after: float | None = None  # seconds the site asks to wait
    records: Sequence[WarcRecord] = ()
    redirect: str | None = None  # a redirect's Location as the server wrote it


# ── What leaves the crawl: documents as indexers get them ──


class ChangeEvent(StrEnum):
    """What the change feed says of a document."""

    UPSERT = "upsert"  # it is new, or says something else
    META = "meta"  # it says the same: only when it was fetched, and what others call it, is new
    DELETE = "delete"  # it is to go from the index


class DeletionEvidence(StrEnum):
    """Why a document must go from an index. What may be back tomorrow is no evidence."""

    NOT_FOUND = "not_found"  # 404, or a page that says so, more than once
    GONE = "gone"  # 410
    NOINDEX = "noindex"  # the page asks for it
    ROBOTS = "robots"  # robots.txt forbids it now
    PRIVATE = "private"  # only who signs in may read it, found more than once
    DUPLICATE = "duplicate"  # the target says the same, and stands for it
    REDIRECTED = "redirected"  # it has moved to the target
    NOT_A_PAGE = "not_a_page"  # there is something else now: a feed, a sitemap, a type that is not read
    FORGOTTEN = "forgotten"  # somebody had it removed
    NOT_SELECTED = "not_selected"  # it is still there, but not what this export is to have
    UNKNOWN = "unknown"  # it went before reasons were noted


class OutLink(NamedTuple):
    """A link of a document, inside the crawl's scope or not."""

    key: Key
    url: str
    anchor: str
    rel: str  # nofollow, ugc …


class ExportedDocument(Struct, frozen=True, kw_only=True):
    """A document as it is now."""

    version: int  # of the change feed
    event: ChangeEvent
    key: Key
    url: str
    host: str
    fetched: float  # when it was last fetched, or found to be as it was
    status: int
    content_type: str
    title: str
    text: str
    blocks: Sequence[TextBlock] | None  # the text in parts, each with its weight; None if nobody asked for them
    language: str
    format: str  # html, pdf, docx …
    problem: str  # what kept us from reading all of it
    metadata: Mapping[str, str]  # what it says of itself
    digest: bytes  # of the body, codings undone
    duplicate_of: str | None  # URL of the document that stands for this one, too
    similarity: float | None  # to that
    tier: str | None  # how it is known: body, text, sketch, compared
    anchors: Sequence[tuple[str, str]]  # (host, what its links call this document)
    links: Sequence[OutLink] | None  # None if nobody asked for them
    noarchive: bool  # no copy of it may be shown


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedDocument:
    """A document that was there and is no more."""

    version: int
    key: Key
    url: str
    evidence: DeletionEvidence = DeletionEvidence.UNKNOWN
    target: str | None = None  # URL of the document that stands for it, or to which it has moved


ExportEntry = ExportedDocument | DeletedDocument


class RejectedDocument(Struct, frozen=True, kw_only=True):
    """A document that a sink refused, and would refuse again."""

    id: str
    url: str
    version: int
    error: str


def identifier(key: Key) -> str:
    """The same for a URL for ever: the 16 bytes of its key, which are hashes of its host and of the rest of it."""
    return _KEY.pack(*key).hex()
