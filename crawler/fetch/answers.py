"""What does an answer mean for the URL that was asked for?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from crawler.items import Fetched, Outcome, Reason

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FORBIDDEN = frozenset({401, 403, 407, 451})
_BUSY = frozenset({429, 503})
_NO_FAULT = frozenset({Reason.STOPPED, Reason.STALE_CONNECTION})  # neither the host's nor the URL's
_NOT_ASKED = frozenset({Reason.ADDRESS_DENIED})
_CUT_SHORT = frozenset({Reason.CUT_DISCONNECT, Reason.CUT_TIME})


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMeaning:
    """An answer in our terms."""

    outcome: Outcome
    reason: Reason
    location: str | None = None  # as the server wrote it
    retry_after: float | None = None  # seconds from the answer's end


def meaning_of(fetched: Fetched) -> AnswerMeaning:
    """Judge an answer by its status, or by why there is none."""
    status = fetched.status
    if fetched.reason in _NO_FAULT:
        return AnswerMeaning(outcome=Outcome.ABORTED, reason=fetched.reason)
    if fetched.reason in _NOT_ASKED:
        return AnswerMeaning(outcome=Outcome.DENIED, reason=fetched.reason)
    if not status or fetched.reason in _CUT_SHORT:
        # Half a document must never pass for a whole one, so it counts as none.
        return AnswerMeaning(outcome=Outcome.FAILED, reason=fetched.reason)
    if fetched.reason is Reason.UNWANTED_TYPE:
        return AnswerMeaning(outcome=Outcome.REFUSED, reason=fetched.reason)
    if 200 <= status <= 299:
        return AnswerMeaning(outcome=Outcome.FETCHED, reason=fetched.reason)
    if status in _REDIRECTS:
        return _redirect(fetched)
    if status == 304:
        return _not_modified(fetched)
    if status in _BUSY:
        return AnswerMeaning(outcome=Outcome.BUSY, reason=Reason.BUSY, retry_after=retry_after(fetched))
    if 500 <= status <= 599:
        return AnswerMeaning(outcome=Outcome.FAILED, reason=Reason.SERVER_ERROR)
    return AnswerMeaning(outcome=Outcome.REFUSED, reason=_refusal(status))


def _not_modified(fetched: Fetched) -> AnswerMeaning:
    """It can be believed only by who has asked whether anything has changed."""
    sent = fetched.request.lower()
    if b"\r\nif-none-match:" in sent or b"\r\nif-modified-since:" in sent:
        return AnswerMeaning(outcome=Outcome.UNCHANGED, reason=Reason.NOT_MODIFIED)
    return AnswerMeaning(outcome=Outcome.FAILED, reason=Reason.BAD_STATUS)


def _redirect(fetched: Fetched) -> AnswerMeaning:
    location = fetched.header("location")
    if not location:
        return AnswerMeaning(outcome=Outcome.REFUSED, reason=Reason.BAD_LOCATION)
    # Servers send raw UTF-8 here; headers were read as Latin-1 so that no byte is lost.
    text = location.encode("latin-1").decode("utf-8", "replace")
    return AnswerMeaning(outcome=Outcome.REDIRECTED, reason=Reason.REDIRECTED, location=text)


def _refusal(status: int) -> Reason:
    if status == 404:
        return Reason.NOT_FOUND
    if status == 410:
        return Reason.GONE
    if status in _FORBIDDEN:
        return Reason.FORBIDDEN
    return Reason.CLIENT_ERROR if 400 <= status <= 499 else Reason.BAD_STATUS


def retry_after(fetched: Fetched) -> float | None:
    """Seconds that the site asks to wait, given as a number or as a date; None if it does not say."""
    value = fetched.header("retry-after")
    if not value:
        return None
    if value.isdecimal() and value.isascii():
        return float(value.lstrip("0")[:12] or 0)  # nobody means more than that
    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:  # RFC 9110 §5.6.7: a date without a zone is in UTC
            date = date.replace(tzinfo=UTC)
        return max(0.0, date.timestamp() - fetched.ended)
    except (TypeError, ValueError, OverflowError):
        return None
