"""HEAD: ask for the head of a document alone where that is expected to spare its body.

Reads `request.meta["visit"]` and `["trust"]`; writes `["method"]`, and `["meaning"]` of an answer to HEAD. HEAD and GET are two
visits of one URL. Where HEAD is not sent, the head of the GET serves: the connection is closed on a type that is not read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.engine.meta import FETCHED, MEANING, METHOD, TRUST, VISIT
from crawler.engine.session import session_of
from crawler.fetch.answers import AnswerMeaning, meaning_of
from crawler.fetch.types import READABLE_EXTENSIONS, SkippedTypes, essence_of, extension_of
from crawler.frontier.trust import UNKNOWN, Source, Trust
from crawler.items import Fetched, Kind, Outcome, Reason, Validators, Visit

_KINDS = (Kind.PAGE, Kind.FEED)
_SHAPES = 50_000  # kinds of URLs whose answers are remembered
_WORTH = 65_536  # bytes that must be at stake before a page without validators is looked at by HEAD again
_AS_THEY_ARE = frozenset({Outcome.REDIRECTED, Outcome.UNCHANGED, Outcome.BUSY, Outcome.ABORTED, Outcome.DENIED})
_REFUSALS = frozenset({0, 501})


class HeadMiddleware:
    """Decides on the method, and judges what HEAD has brought."""

    def __init__(self, policy: str, types: SkippedTypes, full_every: int) -> None:
        self._policy = policy
        self._types = types
        self._full_every = full_every
        self._seen: OrderedDict[tuple[int, str, str], tuple[int, int]] = OrderedDict()  # types read, types not read
        self._refusing: OrderedDict[int, None] = OrderedDict()  # hosts, as far as they have answered in this run

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        options = session_of(crawler).options
        return cls(options.head_policy, options.fetch.skip_types, options.revisit.full_every)

    def process_request(self, request: Request) -> None:
        if self._policy == "never":
            return
        visit: Visit = request.meta[VISIT]
        if visit.head_status or visit.kind not in _KINDS or visit.host_key in self._refusing:
            return
        trust: Mapping[Source, Trust] = request.meta[TRUST]
        if self._pays(visit) and trust.get(Source.HEAD, UNKNOWN).believes_same:
            request.meta[METHOD] = "HEAD"

    def _pays(self, visit: Visit) -> bool:
        held = visit.validators
        if held.length is not None and held.reused + 1 >= self._full_every:
            return False
        if self._policy == "always":
            return True
        if visit.visited is None:
            return visit.kind is Kind.PAGE and self._is_doubtful(visit)  # a feed may be of any type
        return held.length is not None and held.length >= _WORTH and not (held.etag or held.last_modified)

    def _is_doubtful(self, visit: Visit) -> bool:
        """Whether what lies there is more likely not read than read."""
        wanted, unwanted = self._seen.get(_shape(visit), (0, 0))
        if wanted or unwanted:
            return unwanted >= wanted
        ending = extension_of(visit.url)
        return bool(ending) and ending not in READABLE_EXTENSIONS

    def process_response(self, request: Request, response: Response) -> Response:
        visit: Visit = request.meta[VISIT]
        fetched: Fetched | None = request.meta.get(FETCHED)
        if fetched is None or visit.kind not in _KINDS or self._policy == "never":
            return response
        is_head = request.meta.get(METHOD) == "HEAD"
        if 200 <= fetched.status <= 299:
            # The head of a GET was looked at when it came.
            is_wanted = (
                self._types.wants(fetched.head, visit.url) if is_head else fetched.reason is not Reason.UNWANTED_TYPE
            )
            self._learn(visit, is_wanted=is_wanted)
        if is_head:
            request.meta[MEANING] = self._judge(visit, fetched, request.meta[TRUST])
        return response

    def _learn(self, visit: Visit, *, is_wanted: bool) -> None:
        shape = _shape(visit)
        wanted, unwanted = self._seen.pop(shape, (0, 0))
        self._seen[shape] = (wanted + is_wanted, unwanted + (not is_wanted))
        if len(self._seen) > _SHAPES:
            self._seen.popitem(last=False)

    def _judge(self, visit: Visit, fetched: Fetched, trust: Mapping[Source, Trust]) -> AnswerMeaning:
        """Only what is not read, and what is as it was, ends here: of all else GET has the last word."""
        meaning = meaning_of(fetched)
        is_silent = fetched.was_sent and meaning.outcome is Outcome.FAILED and fetched.status in _REFUSALS
        if is_silent or fetched.status == 405 or meaning.outcome is Outcome.BUSY:
            self._refusing[visit.host_key] = None  # perhaps GET is welcome
            if len(self._refusing) > _SHAPES:
                self._refusing.popitem(last=False)
        if meaning.outcome in _AS_THEY_ARE or not fetched.status:
            return meaning
        if 200 <= fetched.status <= 299:
            if visit.kind is Kind.PAGE and not self._types.wants(fetched.head, visit.url):
                return AnswerMeaning(outcome=Outcome.REFUSED, reason=Reason.UNWANTED_TYPE)
            if _is_same(visit.validators, fetched, trust.get(Source.VALIDATORS, UNKNOWN)):
                return AnswerMeaning(outcome=Outcome.UNCHANGED, reason=Reason.SAME_HEAD)
        return AnswerMeaning(outcome=Outcome.PROMISING, reason=Reason.HEAD_SEEN)


def _shape(visit: Visit) -> tuple[int, str, str]:
    """What URLs of a host have in common that lead to the same kind of thing: the directory they begin with, and their end."""
    parts = visit.url.partition("?")[0].split("/", 4)
    return visit.key.host, parts[3] if len(parts) > 4 else "", extension_of(visit.url)


def _is_same(held: Validators, fetched: Fetched, validators: Trust) -> bool:
    """Whether a head is that of the document that is held, as far as its validators can be believed."""
    if held.length is None:
        return False
    etag, modified = fetched.header("etag"), fetched.header("last-modified")
    if (etag or modified) and not validators.believes_same:
        return False
    if held.etag and etag:
        return held.etag == etag
    if held.last_modified and modified:
        return held.last_modified == modified
    return (
        not (etag or modified)
        and fetched.header("content-length") == str(held.length)
        and bool(essence_of(fetched.head))
    )
