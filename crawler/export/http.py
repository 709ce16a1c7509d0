"""An HTTP client for search engines that may be down, overloaded or slow: it retries with backoff.

A request may arrive twice, because its answer can be lost after it was carried out: callers must send only idempotent
requests.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
from base64 import b64encode
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from ssl import SSLCertVerificationError
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NameResolutionError, NewConnectionError
from urllib3.exceptions import TimeoutError as NoAnswer
from urllib3.util import parse_url

from crawler.errors import BadInput
from crawler.export.sink import SinkDown
from crawler.urls.schemes import WEB_SCHEMES

AUTHORIZATION = "ORBWEAVER_EXPORT_AUTH"  # environment variable: user:password, or Bearer …, ApiKey …, Basic …
ATTEMPTS = 8  # with the waits between them one to two minutes: long enough for an engine to restart
JSON = "application/json"
_RETRIED_STATUSES = frozenset({429, 502, 503, 504, 507})
_FIRST_WAIT, _MAX_WAIT = 1.0, 60.0
_MAX_RETRY_AFTER = 600.0  # seconds; if an engine asks for more, the export ends, and the next one tries again
_MAX_ANSWER_BYTES = 64 << 20
_EXCERPT_LENGTH = 500  # characters of an answer that are quoted in messages
_KIND_PREFIX = re.compile("^[a-z]+:(?=https?:)")  # before the URL: opensearch:http://…
_AUTHORIZATION_SCHEMES = ("Bearer ", "ApiKey ", "Basic ")
_CONTROLS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_REFUSALS = {
    401: "authentication is required; give user and password in the URL, or in " + AUTHORIZATION,
    403: "this user lacks permission; give other rights, or another user in " + AUTHORIZATION,
    404: "there is nothing by this name; check the URL and the name at its end",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineAddress:
    """The address of a search engine, and the credentials for it."""

    origin: str  # scheme, host and port
    path: tuple[str, ...]
    authorization: str = field(default="", repr=False)  # the header; never to be shown

    def __str__(self) -> str:
        return "/".join((self.origin, *self.path))


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    connect: float = 10.0
    read: float = 60.0
    compress: bool = False
    attempts: int = ATTEMPTS
    jitter: Callable[[], float] = random.random


class EngineAnswer(NamedTuple):
    status: int
    body: bytes
    retry_after: float | None = None

    def json(self) -> object:
        """The parsed body; None if it is not JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    def __str__(self) -> str:
        return f"{self.status} {excerpt(self.body)}".rstrip()


def parse_address(where: str, kind: str, example: str, names: int = 1) -> EngineAddress:
    """Parse the PLACE of an engine; `BadInput` if it is no URL, or its path has fewer than `names` parts.

    >>> str(parse_address("http://me:secret@127.0.0.1:9200/pages/", "opensearch", "http://127.0.0.1:9200/pages"))
    'http://127.0.0.1:9200/pages'
    """
    try:
        split = urlsplit(_KIND_PREFIX.sub("", where))
        origin = _origin(split)
    except ValueError:
        origin = ""
    path = tuple(part for part in split.path.split("/") if part) if origin else ()
    if len(path) < names or split.query or split.fragment or "@" in split.path:
        raise BadInput(
            f"{without_password(where)}: this is no place for {kind}. Nothing was exported; give one such as "
            f"{kind}:{example}."
        )
    user, password = unquote(split.username or ""), unquote(split.password or "")
    in_url = _basic(f"{user}:{password}") if user or password else ""
    return EngineAddress(
        origin=origin, path=path, authorization=_authorization(os.environ.get(AUTHORIZATION, "")) or in_url
    )


def without_password(where: str) -> str:
    """The place without credentials and query, so that it can be shown and stored.

    >>> without_password("opensearch:https://me:a@b@search.example/pages")
    'opensearch:https://search.example/pages'
    >>> without_password("opensearch:me:secret@search.example/pages?token=a")
    'search.example/pages'
    """
    # Of a malformed URL rather remove too much than show half a password.
    kind = _KIND_PREFIX.match(where)
    scheme = re.match("https?://", _KIND_PREFIX.sub("", where))
    before = (kind[0] if kind else "") + (scheme[0] if scheme else "")
    return before + re.split("[?#]", where[len(before) :].rpartition("@")[2])[0]


def excerpt(text: bytes | str) -> str:
    """The beginning of an engine's answer for a message: on one line and without control characters."""
    decoded = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return _CONTROLS.sub(" ", decoded[: 2 * _EXCERPT_LENGTH]).strip()[:_EXCERPT_LENGTH]


class RetryBackoff:
    """Exponential backoff with jitter: waits longer after each failure, and gives up after the last attempt."""

    def __init__(self, where: str, sleep: Callable[[float], None], options: HttpOptions) -> None:
        self._where = where
        self._sleep = sleep
        self._options = options
        self._failures = 0

    def reset(self) -> None:
        """Start over after a success."""
        self._failures = 0

    def wait(self, trouble: str, retry_after: float | None = None) -> None:
        """Sleep until the next attempt, at least as long as the engine asked for. `SinkDown` if there is none left."""
        self._failures += 1
        if self._failures >= self._options.attempts:
            raise sink_down(self._where, f"{trouble}; tried {self._failures} times", "check the engine")
        if retry_after is not None and retry_after > _MAX_RETRY_AFTER:
            what = f"{trouble}; it asks to come back in {retry_after:.0f} seconds"
            raise sink_down(self._where, what, "wait that long")
        longest = min(_FIRST_WAIT * 2.0 ** (self._failures - 1), _MAX_WAIT)
        # Half of the wait is random, so that clients that were refused together do not come back together.
        self._sleep(max(longest * (0.5 + 0.5 * self._options.jitter()), retry_after or 0.0))


class EngineClient:
    """Sends requests to one engine, and retries until they are answered. Threads may share it."""

    def __init__(
        self,
        place: EngineAddress,
        sleep: Callable[[float], None],
        options: HttpOptions,
        connections: int = 1,
    ) -> None:
        self._place = place
        self._sleep = sleep
        self._options = options
        self._pool = urllib3.connection_from_url(
            place.origin,
            maxsize=connections,
            block=True,
            timeout=urllib3.Timeout(connect=options.connect, read=options.read),
            retries=False,  # we retry ourselves, and follow no redirects
        )

    def new_backoff(self) -> RetryBackoff:
        return RetryBackoff(str(self._place), self._sleep, self._options)

    def send(
        self, method: str, path: str, body: bytes = b"", content_type: str = JSON, expected: Collection[int] = ()
    ) -> EngineAnswer:
        """Send a request, with retries while the engine is busy, and return its answer.

        `SinkDown` if the attempts are used up, and for the statuses 401, 403 and 404 unless they are `expected`.
        """
        backoff = self.new_backoff()
        headers = self._headers(body, content_type)
        data = gzip.compress(body, 1, mtime=0) if "Content-Encoding" in headers else body
        while True:
            try:
                answer = self._request(method, path, data, headers)
            except HTTPError as error:
                cause = error.args[0] if error.args else None
                if isinstance(cause, SSLCertVerificationError):
                    raise self.down(f"its certificate is not trusted ({cause.verify_message})") from error
                backoff.wait(self._describe_failure(error))
                continue
            if answer.status not in _RETRIED_STATUSES:
                return self._check_status(answer, expected)
            backoff.wait(f"it answers {answer}", answer.retry_after)

    def down(self, what: str, to_do: str = "check the engine") -> SinkDown:
        """The error for this engine, with what happened and what to do."""
        return sink_down(str(self._place), what, to_do)

    def close(self) -> None:
        self._pool.close()

    def _headers(self, body: bytes, content_type: str) -> dict[str, str]:
        return {
            "User-Agent": "orbweaver-export",
            **({"Authorization": self._place.authorization} if self._place.authorization else {}),
            **({"Content-Type": content_type} if body else {}),
            **({"Content-Encoding": "gzip"} if body and self._options.compress else {}),
        }

    def _request(self, method: str, path: str, data: bytes, headers: dict[str, str]) -> EngineAnswer:
        response = self._pool.urlopen(method, path, body=data or None, headers=headers, preload_content=False)
        try:
            body = response.read(_MAX_ANSWER_BYTES, decode_content=True)
            if len(body) == _MAX_ANSWER_BYTES:
                raise self.down("its answer is too long")
            retry_after = _retry_after(response.headers.get("Retry-After", ""), response.headers.get("Date", ""))
            return EngineAnswer(response.status, body, retry_after)
        except BaseException:
            response.close()  # the rest is not read, so the connection cannot be reused
            raise
        finally:
            response.release_conn()

    def _check_status(self, answer: EngineAnswer, expected: Collection[int]) -> EngineAnswer:
        if answer.status in _REFUSALS and answer.status not in expected:
            what, to_do = _REFUSALS[answer.status].split("; ", 1)
            raise self.down(f"{what} ({answer})", to_do)
        if 300 <= answer.status < 400:
            what = f"it redirects ({answer.status}), and redirects are not followed"
            raise self.down(what, "give the right URL")
        return answer

    def _describe_failure(self, error: HTTPError) -> str:
        if isinstance(error, NameResolutionError):
            return "the host name cannot be resolved"
        if isinstance(error, NewConnectionError):
            cause = error.__cause__
            return f"no connection ({cause.strerror})" if isinstance(cause, OSError) else "no connection"
        if isinstance(error, ConnectTimeoutError):
            return f"no connection in {self._options.connect:g} seconds"
        if isinstance(error, NoAnswer):
            return f"no answer in {self._options.read:g} seconds"
        return "the connection was lost before the answer"


def sink_down(where: str, what: str, to_do: str) -> SinkDown:
    """The error for an engine that does not take entries: where, what happened, what was kept and what to do."""
    return SinkDown(
        f"{where}: {what}. All that it acknowledged before is noted; the rest is sent again by the next export. "
        f"{to_do[:1].upper()}{to_do[1:]}, then export again."
    )


def _origin(split: SplitResult) -> str:
    """Scheme, host and port of a URL; empty, or ValueError, if it has no usable ones."""
    if split.scheme not in WEB_SCHEMES or not split.hostname:
        return ""
    host = f"[{split.hostname}]" if ":" in split.hostname else split.hostname
    port = "" if split.port is None else f":{split.port}"
    return parse_url(f"{split.scheme}://{host}{port}").url


def _retry_after(value: str, now: str) -> float | None:
    """The seconds of a Retry-After header; a date is relative to the answer's Date, so that clocks need not agree.

    >>> _retry_after("120", ""), _retry_after("soon", "")
    (120.0, None)
    >>> _retry_after("Fri, 31 Dec 1999 23:59:59 GMT", "Fri, 31 Dec 1999 23:59:29 GMT")
    30.0
    """
    if value.isascii() and value.isdecimal():
        return float(value[:9])
    try:
        return max((parsedate_to_datetime(value) - parsedate_to_datetime(now)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None


def _authorization(given: str) -> str:
    """The Authorization header for the value of the environment variable."""
    given = given.strip()
    if given and (not given.isprintable() or not (given.startswith(_AUTHORIZATION_SCHEMES) or ":" in given)):
        raise BadInput(
            f"{AUTHORIZATION}: neither user:password nor Bearer …, ApiKey … or Basic …. Nothing was exported; set it "
            "anew."
        )
    return given if given.startswith(_AUTHORIZATION_SCHEMES) or not given else _basic(given)


def _basic(user_and_password: str) -> str:
    return "Basic " + b64encode(user_and_password.encode("utf-8", "replace")).decode()
