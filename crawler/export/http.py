"""How to talk to an engine that may be away, have too much to do, or lose its answer.

Everything that is sent may arrive twice, for an answer can be lost after the request was obeyed: whoever uses this sends
only what does no harm the second time.
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
ATTEMPTS = 8  # with the waits between them about two minutes: long enough for an engine to start again
JSON = "application/json"
_PASSING = frozenset({429, 502, 503, 504, 507})
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
_LONGEST_ASKED = 600.0  # who asks for more patience than this is better asked by the next export
_LARGEST_ANSWER = 64 << 20
_ANSWERS_SAY = 500  # characters of an answer that are told
_KIND = re.compile("^[a-z]+:(?=https?:)")  # before the URL: opensearch:http://…
_SCHEMES = ("Bearer ", "ApiKey ", "Basic ")
_CONTROLS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_REFUSALS = {
    401: "it does not know who asks; give user and password in the URL, or in " + AUTHORIZATION,
    403: "it forbids this to who asks; give other rights, or another user in " + AUTHORIZATION,
    404: "there is nothing by this name; check the URL and the name at its end",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineAddress:
    """Where an engine is, and who asks."""

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
        """None if it is no JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    def __str__(self) -> str:
        return f"{self.status} {plain(self.body)}".rstrip()


def place_of(where: str, kind: str, example: str, names: int = 1) -> EngineAddress:
    """`BadInput` if this is no place, or its path has fewer than so many names.

    >>> str(place_of("http://me:secret@127.0.0.1:9200/pages/", "opensearch", "http://127.0.0.1:9200/pages"))
    'http://127.0.0.1:9200/pages'
    """
    try:
        split = urlsplit(_KIND.sub("", where))
        origin = _origin(split)
    except ValueError:
        origin = ""
    path = tuple(part for part in split.path.split("/") if part) if origin else ()
    if len(path) < names or split.query or split.fragment or "@" in split.path:
        raise BadInput(
            f"{without_password(where)}: this is no place for {kind}. Nothing was exported; give one such as {kind}:{example}."
        )
    user, password = unquote(split.username or ""), unquote(split.password or "")
    in_url = _basic(f"{user}:{password}") if user or password else ""
    return EngineAddress(
        origin=origin, path=path, authorization=_authorization(os.environ.get(AUTHORIZATION, "")) or in_url
    )


def without_password(where: str) -> str:
    """As it may be shown and noted.

    >>> without_password("opensearch:https://me:a@b@search.example/pages")
    'opensearch:https://search.example/pages'
    >>> without_password("opensearch:me:secret@search.example/pages?token=a")
    'opensearch:search.example/pages'
    """
    # Rather too much than half a password, however wrong the rest is.
    kind = _KIND.match(where)
    scheme = re.match("https?://", _KIND.sub("", where))
    before = (kind[0] if kind else "") + (scheme[0] if scheme else "")
    return before + re.split("[?#]", where[len(before) :].rpartition("@")[2])[0]


def plain(text: bytes | str) -> str:
    """What an engine said, cut short and on one line, with nothing that steers a terminal."""
    told = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return _CONTROLS.sub(" ", told[: 2 * _ANSWERS_SAY]).strip()[:_ANSWERS_SAY]


class RetryBackoff:
    """Waits longer each time, and at last gives up."""

    def __init__(self, where: str, sleep: Callable[[float], None], options: HttpOptions) -> None:
        self._where = where
        self._sleep = sleep
        self._options = options
        self._failures = 0

    def renew(self) -> None:
        """Something went well."""
        self._failures = 0

    def wait(self, trouble: str, asked: float | None = None) -> None:
        """Until the next attempt, as long as the engine asked for at least. `SinkDown` if there is none left."""
        self._failures += 1
        if self._failures >= self._options.attempts:
            raise down(self._where, f"{trouble}; tried {self._failures} times", "see to the engine")
        if asked is not None and asked > _LONGEST_ASKED:
            raise down(self._where, f"{trouble}; it asks to come back in {asked:.0f} seconds", "wait so long")
        most = min(_FIRST_WAIT * 2.0 ** (self._failures - 1), _LONGEST_WAIT)
        # Half of it by chance, so that all who were sent away together do not come back together.
        self._sleep(max(most * (0.5 + 0.5 * self._options.jitter()), asked or 0.0))


class EngineClient:
    """Sends requests to one place until they are answered. Threads may share it."""

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
            retries=False,  # we know better what may be sent again, and nobody leads us elsewhere
        )

    def patience(self) -> RetryBackoff:
        return RetryBackoff(str(self._place), self._sleep, self._options)

    def send(
        self, method: str, path: str, body: bytes = b"", content_type: str = JSON, fine: Collection[int] = ()
    ) -> EngineAnswer:
        """What the engine says in the end: not that it is busy, and of 401, 403 and 404 only what is in `fine`."""
        patience = self.patience()
        headers = self._headers(body, content_type)
        data = gzip.compress(body, 1, mtime=0) if "Content-Encoding" in headers else body
        while True:
            try:
                answer = self._ask(method, path, data, headers)
            except HTTPError as error:
                cause = error.args[0] if error.args else None
                if isinstance(cause, SSLCertVerificationError):
                    raise self.down(f"its certificate is not trusted ({cause.verify_message})") from error
                patience.wait(self._trouble(error))
                continue
            if answer.status not in _PASSING:
                return self._judged(answer, fine)
            patience.wait(f"it answers {answer}", answer.retry_after)

    def down(self, what: str, to_do: str = "see to the engine") -> SinkDown:
        return down(str(self._place), what, to_do)

    def close(self) -> None:
        self._pool.close()

    def _headers(self, body: bytes, content_type: str) -> dict[str, str]:
        return {
            "User-Agent": "orbweaver-export",
            **({"Authorization": self._place.authorization} if self._place.authorization else {}),
            **({"Content-Type": content_type} if body else {}),
            **({"Content-Encoding": "gzip"} if body and self._options.compress else {}),
        }

    def _ask(self, method: str, path: str, data: bytes, headers: dict[str, str]) -> EngineAnswer:
        response = self._pool.urlopen(method, path, body=data or None, headers=headers, preload_content=False)
        try:
            body = response.read(_LARGEST_ANSWER, decode_content=True)
            if len(body) == _LARGEST_ANSWER:
                raise self.down("its answer does not end")
            asked = _retry_after(response.headers.get("Retry-After", ""), response.headers.get("Date", ""))
            return EngineAnswer(response.status, body, asked)
        except BaseException:
            response.close()  # nobody reads the rest: the connection cannot be used again
            raise
        finally:
            response.release_conn()

    def _judged(self, answer: EngineAnswer, fine: Collection[int]) -> EngineAnswer:
        if answer.status in _REFUSALS and answer.status not in fine:
            what, to_do = _REFUSALS[answer.status].split("; ", 1)
            raise self.down(f"{what} ({answer})", to_do)
        if 300 <= answer.status < 400:
            raise self.down(f"it sends us elsewhere ({answer.status}), and nobody goes there", "give the right URL")
        return answer

    def _trouble(self, error: HTTPError) -> str:
        if isinstance(error, NameResolutionError):
            return "nobody knows the address of this host"
        if isinstance(error, NewConnectionError):
            cause = error.__cause__
            return f"no connection ({cause.strerror})" if isinstance(cause, OSError) else "no connection"
        if isinstance(error, ConnectTimeoutError):
            return f"no connection in {self._options.connect:g} seconds"
        if isinstance(error, NoAnswer):
            return f"no answer in {self._options.read:g} seconds"
        return "the connection was lost before the answer"


def down(where: str, what: str, to_do: str) -> SinkDown:
    return SinkDown(
        f"{where}: {what}. All that it acknowledged before is noted; the rest is sent again by the next export. "
        f"{to_do[:1].upper()}{to_do[1:]}, then export again."
    )


def _origin(split: SplitResult) -> str:
    """Empty, or ValueError, if nobody can be reached there."""
    if split.scheme not in WEB_SCHEMES or not split.hostname:
        return ""
    host = f"[{split.hostname}]" if ":" in split.hostname else split.hostname
    port = "" if split.port is None else f":{split.port}"
    return parse_url(f"{split.scheme}://{host}{port}").url


def _retry_after(value: str, now: str) -> float | None:
    """Seconds; a date counts from the date of the answer, so that the clocks need not agree.

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
    """The header for what the environment says."""
    given = given.strip()
    if given and (not given.isprintable() or not (given.startswith(_SCHEMES) or ":" in given)):
        raise BadInput(
            f"{AUTHORIZATION}: neither user:password nor Bearer …, ApiKey … or Basic …. Nothing was exported; set it anew."
        )
    return given if given.startswith(_SCHEMES) or not given else _basic(given)


def _basic(user_and_password: str) -> str:
    return "Basic " + b64encode(user_and_password.encode("utf-8", "replace")).decode()
