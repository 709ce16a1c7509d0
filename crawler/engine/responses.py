"""An answer as a spider sees it."""

from __future__ import annotations

from functools import cached_property
from ipaddress import ip_address
from typing import Any

from scrapy import Request
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from crawler.items import Fetched
from crawler.parse.coding import plain_body


class FetchedResponse(Response):
    """A response with the `Fetched`: its `body` is as it came over the wire.

    What Scrapy offers for text (`text`, `css`, `xpath` …) is taken from `plain`, which is made when it is first used.
    """

    attributes = (*Response.attributes, "fetched")  # what `replace` and `copy` keep

    def __init__(self, *args: Any, fetched: Fetched, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fetched = fetched

    @cached_property
    def plain(self) -> Response:
        """The same answer as Scrapy's own downloader gives it: its coding undone, of the class for its type."""
        return plain_response(self.fetched, self.request)

    @property
    def headers(self) -> Headers:
        if self._headers is None:
            self._headers = headers_of(self.fetched)
        return self._headers

    @headers.setter
    def headers(self, headers: Any) -> None:
        self._headers = Headers(headers)

    @property
    def text(self) -> str:
        return self.plain.text

    @property
    def selector(self) -> Any:
        return self.plain.selector  # type: ignore[attr-defined]

    def css(self, *args: Any, **kwargs: Any) -> Any:
        return self.plain.css(*args, **kwargs)

    def xpath(self, *args: Any, **kwargs: Any) -> Any:
        return self.plain.xpath(*args, **kwargs)

    def jmespath(self, *args: Any, **kwargs: Any) -> Any:
        return self.plain.jmespath(*args, **kwargs)

    def json(self) -> Any:
        return self.plain.json()  # type: ignore[attr-defined]


def plain_response(fetched: Fetched, request: Request | None = None) -> Response:
    """Return an answer as Scrapy's own downloader would."""
    headers = headers_of(fetched)
    body = plain_body(fetched.body, fetched.headers).data
    headers.pop("Content-Encoding", None)
    kind = responsetypes.from_args(headers=headers, url=fetched.url, body=body)
    return kind(
        url=fetched.url,
        status=fetched.status,
        headers=headers,
        body=body,
        request=request,
        ip_address=ip_address(fetched.address) if fetched.address else None,
    )


def headers_of(fetched: Fetched) -> Headers:
    """Return the headers of an answer."""
    headers = Headers()
    for name, value in fetched.headers:
        headers.appendlist(name, value.encode("latin-1"))
    return headers
