"""What does an HTTP answer, or its absence, mean for the requested URL?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from crawler.items import Fetched, Outcome, Reason

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FORBIDDEN = frozenset({401, 403, 407, 451})
_BUSY = frozenset({429, 503})
_NOBODYS_FAULT = frozenset({Reason.STOPPED, Reason.STALE_CONNECTION})  # neither the host's nor the URL's
_NEVER_SENT = frozenset({Reason.ADDRESS_DENIED})
_CUT_SHORT = frozenset({Reason.CUT_DISCONNECT, Reason.CUT_TIME})


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMeaning:
    """The outcome of a fetch and the reason for it."""

    outcome: Outcome
    reason: Reason
    location: str | None = None  # as the server wrote it
    retry_after: float | None = None  # seconds from the answer's end


def meaning_of(fetched: Fetched) -> AnswerMeaning:
    """Classify a fetch by its HTTP status, or by the reason why there is no answer."""
    status = fetched.status
    if fetched.reason in _NOBODYS_FAULT:
        return AnswerMeaning(outcome=Outcome.ABORTED, reason=fetched.reason)
    if fetched.reason in _NEVER_SENT:
        return AnswerMeaning(outcome=Outcome.DENIED, reason=fetched.reason)
    if not status or fetched.reason in _CUT_SHORT:
        # A truncated document must never be stored as a whole one, so it counts as a failure.
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
    return AnswerMeaning(outcome=Outcome.REFUSED, reason=_refusal_reason(status))


def _not_modified(fetched: Fetched) -> AnswerMeaning:
    """A 304 counts as unchanged only if the request was conditional."""
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


def _refusal_reason(status: int) -> Reason:
    if status == 404:
        return Reason.NOT_FOUND
    if status == 410:
        return Reason.GONE
    if status in _FORBIDDEN:
        return Reason.FORBIDDEN
    return Reason.CLIENT_ERROR if 400 <= status <= 499 else Reason.BAD_STATUS


def retry_after(fetched: Fetched) -> float | None:
    """Return the seconds that Retry-After asks to wait, given as a number or as a date; None without a valid one."""
    value = fetched.header("retry-after")
    if not value:
        return None
    if value.isdecimal() and value.isascii():
        return float(value.lstrip("0")[:12] or 0)  # twelve digits are more than anybody can mean
    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:  # RFC 9110 §5.6.7: a date without a zone is in UTC
            date = date.replace(tzinfo=UTC)
        return max(0.0, date.timestamp() - fetched.ended)
    except (TypeError, ValueError, OverflowError):
        return None
