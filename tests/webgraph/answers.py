"""The answer to one request: status, headers, body, and how it is sent."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace

RETRY_AFTER = 1  # seconds, in every 503


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer that the server sends to one request.

    Behaviours: "normal"; "gzip" and "chunked", with that coding; "slow", in pieces with pauses between; "short", the
    connection is closed in the middle of the body; "reset", it is reset before the first byte.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()  # without those that frame the body
    body: bytes = b""  # content coding applied, transfer coding not
    behaviour: str = "normal"
    delay: float = 0.0  # before the first byte
    pause: float = 0.0  # between the pieces of a slow answer


def zipped(answer: Answer) -> Answer:
    headers = (*answer.headers, ("Content-Encoding", "gzip"))
    return replace(answer, headers=headers, body=gzip.compress(answer.body, mtime=0))


def notice(status: int, sentence: str) -> Answer:
    body = f"<!DOCTYPE html><title>{status}</title><p>{sentence}</p>"
    return Answer(status=status, headers=(("Content-Type", "text/html"),), body=body.encode())


def moved(status: int, location: str) -> Answer:
    answer = notice(status, "It is elsewhere.")
    return replace(answer, headers=(*answer.headers, ("Location", location)))


def flawed(flaw: str, good: Answer) -> Answer:
    """Return the failing version of an answer whose later attempts succeed."""
    if flaw == "reset":
        return Answer(status=0, behaviour="reset")
    if flaw == "short":
        return replace(good, behaviour="short")
    answer = notice(int(flaw), "Not now.")
    return replace(answer, headers=(*answer.headers, ("Retry-After", str(RETRY_AFTER)))) if flaw == "503" else answer
