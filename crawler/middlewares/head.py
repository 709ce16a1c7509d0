"""HEAD requests: fetch the head of a document alone where that is expected to save its body.

Reads `request.meta["visit"]` and `["trust"]`; writes `["method"]`, and `["meaning"]` of an answer to HEAD. HEAD and GET
are two visits of one URL. Without HEAD the head of the GET serves: the connection is closed on a type that is not read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.engine.meta import FETCHED, MEANING, METHOD, TRUST, VISIT, meaning_in
from crawler.engine.session import session_of
from crawler.fetch.answers import AnswerMeaning
from crawler.fetch.types import READABLE_EXTENSIONS, SkippedTypes, essence_of, extension_of
from crawler.frontier.trust import UNKNOWN, Source, Trust
from crawler.items import Fetched, Kind, Outcome, Reason, Validators, Visit

_HEAD_KINDS = (Kind.PAGE, Kind.FEED)
_MOST_REMEMBERED = 50_000  # URL shapes whose types, and hosts whose refusal of HEAD, are remembered
_MIN_SAVING = 65_536  # bytes of a page without validators from which a revisit begins with HEAD
_FINAL_OUTCOMES = frozenset({Outcome.REDIRECTED, Outcome.UNCHANGED, Outcome.BUSY, Outcome.ABORTED, Outcome.DENIED})
_NO_HEAD_STATUSES = frozenset({0, 501})


class HeadMiddleware:
    """Decides whether a visit is sent as HEAD, and classifies the answers to HEAD."""

    def __init__(self, policy: str, types: SkippedTypes, full_every: int) -> None:
        self._policy = policy
        self._types = types
        self._full_every = full_every
        # By URL shape: how many answers were of types that are read, and of types that are not.
        self._types_seen: OrderedDict[tuple[int, str, str], tuple[int, int]] = OrderedDict()
        self._hosts_without_head: OrderedDict[int, None] = OrderedDict()  # that refused HEAD in this run

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        options = session_of(crawler).options
        return cls(options.head_policy, options.fetch.skip_types, options.revisit.full_every)

    def process_request(self, request: Request) -> None:
        if self._policy == "never":
            return
        visit: Visit = request.meta[VISIT]
        if visit.head_status or visit.kind not in _HEAD_KINDS or visit.host_key in self._hosts_without_head:
            return
        trust: Mapping[Source, Trust] = request.meta[TRUST]
        if self._head_saves_bytes(visit) and trust.get(Source.HEAD, UNKNOWN).believes_same:
            request.meta[METHOD] = "HEAD"

    def _head_saves_bytes(self, visit: Visit) -> bool:
        known = visit.validators
        if known.length is not None and known.reused + 1 >= self._full_every:
            return False
        if self._policy == "always":
            return True
        if visit.visited is None:
            return visit.kind is Kind.PAGE and self._is_probably_unread(visit)  # a feed may be of any type
        return known.length is not None and known.length >= _MIN_SAVING and not (known.etag or known.last_modified)

    def _is_probably_unread(self, visit: Visit) -> bool:
        """Whether the document is probably of a type that is not read."""
        wanted, unwanted = self._types_seen.get(_shape(visit), (0, 0))
        if wanted or unwanted:
            return unwanted >= wanted
        extension = extension_of(visit.url)
        return bool(extension) and extension not in READABLE_EXTENSIONS

    def process_response(self, request: Request, response: Response) -> Response:
        visit: Visit = request.meta[VISIT]
        fetched: Fetched | None = request.meta.get(FETCHED)
        if fetched is None or visit.kind not in _HEAD_KINDS or self._policy == "never":
            return response
        is_head = request.meta.get(METHOD) == "HEAD"
        if 200 <= fetched.status <= 299:
            # The type of a GET was checked when its head arrived.
            is_wanted = (
                self._types.wants(fetched.head, visit.url) if is_head else fetched.reason is not Reason.UNWANTED_TYPE
            )
            self._record_type(visit, is_wanted=is_wanted)
        if is_head:
            meaning = meaning_in(request.meta, fetched)
            request.meta[MEANING] = self._meaning_of_head(visit, fetched, meaning, request.meta[TRUST])
        return response

    def _record_type(self, visit: Visit, *, is_wanted: bool) -> None:
        shape = _shape(visit)
        wanted, unwanted = self._types_seen.pop(shape, (0, 0))
        self._types_seen[shape] = (wanted + is_wanted, unwanted + (not is_wanted))
        if len(self._types_seen) > _MOST_REMEMBERED:
            self._types_seen.popitem(last=False)

    def _meaning_of_head(
        self, visit: Visit, fetched: Fetched, meaning: AnswerMeaning, trust: Mapping[Source, Trust]
    ) -> AnswerMeaning:
        """Classify an answer to HEAD; a document whose type is read and that may have changed is fetched by GET."""
        is_silent = fetched.was_sent and meaning.outcome is Outcome.FAILED and fetched.status in _NO_HEAD_STATUSES
        if is_silent or fetched.status == 405 or meaning.outcome is Outcome.BUSY:
            self._hosts_without_head[visit.host_key] = None  # GET may still work
            if len(self._hosts_without_head) > _MOST_REMEMBERED:
                self._hosts_without_head.popitem(last=False)
        if meaning.outcome in _FINAL_OUTCOMES or not fetched.status:
            return meaning
        if 200 <= fetched.status <= 299:
            if visit.kind is Kind.PAGE and not self._types.wants(fetched.head, visit.url):
                return AnswerMeaning(outcome=Outcome.REFUSED, reason=Reason.UNWANTED_TYPE)
            if _is_unchanged(visit.validators, fetched, trust.get(Source.VALIDATORS, UNKNOWN)):
                return AnswerMeaning(outcome=Outcome.UNCHANGED, reason=Reason.SAME_HEAD)
        return AnswerMeaning(outcome=Outcome.PROMISING, reason=Reason.HEAD_SEEN)


def _shape(visit: Visit) -> tuple[int, str, str]:
    """Return what URLs of the same type on a host have in common: the first directory and the extension."""
    parts = visit.url.partition("?")[0].split("/", 4)
    return visit.key.host, parts[3] if len(parts) > 4 else "", extension_of(visit.url)


def _is_unchanged(known: Validators, fetched: Fetched, validators: Trust) -> bool:
    """Whether a head belongs to the document that we have, as far as the host's validators are reliable."""
    if known.length is None:
        return False
    etag, modified = fetched.header("etag"), fetched.header("last-modified")
    if (etag or modified) and not validators.believes_same:
        return False
    if known.etag and etag:
        return known.etag == etag
    if known.last_modified and modified:
        return known.last_modified == modified
    return (
        not (etag or modified)
        and fetched.header("content-length") == str(known.length)
        and bool(essence_of(fetched.head))
    )
