"""Make the one item of a visit from Scrapy's response or failure, whatever a spider does."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from inspect import isawaitable
from typing import Any

from scrapy.exceptions import CloseSpider, DropItem, IgnoreRequest, NotSupported
from scrapy.http import Response, TextResponse
from scrapy.utils.spider import iterate_spider_output

from crawler.engine.meta import FETCHED, IS_ANSWERED, METHOD, RULES, SITEMAPS, VISIT, VisitDenied, meaning_in
from crawler.engine.responses import FetchedResponse
from crawler.items import Fetched, Kind, Outcome, Reason, RobotsFile, Visit, Visited

logger = logging.getLogger(__name__)


class NotAPage(DropItem):
    """Ends the way of a visit's result through the pipelines: it is stored, and no page for a feed."""

    def __init__(self) -> None:
        super().__init__("stored, and not a page", log_level="DEBUG")


def visited_of(response: Response) -> Visited:
    """Return the result of a visit whose request was answered, or failed on the way."""
    return answered(response.meta)


def answered(meta: dict[str, Any]) -> Visited:
    """Return the result of a visit by the answer as it came over the wire, whatever middlewares made of it."""
    fetched: Fetched | None = meta.get(FETCHED)
    if fetched is None:
        return broken(meta, "a middleware has answered, and not with a FetchedResponse")
    if fetched.reason is Reason.INTERNAL_ERROR:
        return broken(meta, fetched.detail)
    meaning = meaning_in(meta, fetched)
    return Visited(
        visit=meta[VISIT],
        outcome=meaning.outcome,
        reason=meaning.reason,
        detail=fetched.detail,
        fetched=fetched,
        rules=_rules(meta),
        sitemaps=meta.get(SITEMAPS, ()),
        retry_after=meaning.retry_after,
        redirect=meaning.location,
    )


def refused(meta: Mapping[str, Any], error: IgnoreRequest) -> Visited:
    """Return the result of a visit that a middleware refused before anything was sent."""
    if isinstance(error, VisitDenied):
        return Visited(
            visit=meta[VISIT], outcome=Outcome.DENIED, reason=error.reason, detail=error.detail, location=error.location
        )
    detail = str(error) or type(error).__name__
    return Visited(visit=meta[VISIT], outcome=Outcome.DENIED, reason=Reason.MIDDLEWARE_REFUSED, detail=detail)


def without_spider(meta: dict[str, Any], error: BaseException) -> Visited:
    """Return the result of a visit that did not come to the spider, because a middleware refused it, or failed.

    What was fetched counts as far as all of our middlewares have seen it; if they had nothing to do with it, also if
    another one ended its way.
    """
    visit: Visit = meta[VISIT]
    if not isinstance(error, IgnoreRequest):
        is_explained = isinstance(error, NotSupported)
        logger.error("A visit failed inside: %s: %s", visit.url, error, exc_info=None if is_explained else error)
        return answered(meta) if IS_ANSWERED in meta else broken(meta, repr(error))
    if FETCHED not in meta:
        return refused(meta, error)
    is_plain_page = visit.kind is Kind.PAGE and METHOD not in meta
    return answered(meta) if IS_ANSWERED in meta or is_plain_page else broken(meta, repr(error))


def broken(meta: Mapping[str, Any], detail: str) -> Visited:
    """Return the result of a visit on which our own code, or a user's, failed."""
    fetched: Fetched | None = meta.get(FETCHED)
    return Visited(
        visit=meta[VISIT], outcome=Outcome.BROKEN, reason=Reason.INTERNAL_ERROR, detail=detail, fetched=fetched
    )


def exactly_one(parse: Callable[..., Any], response: Response) -> Iterable[Any] | AsyncIterator[Any]:
    """Return what a callback yields for a response, with exactly one result of the visit in it.

    If the callback yields none, or raises before, the visit ends as an internal error; a second result is dropped. One
    that closes the spider ends like one that returns. What is raised is raised again, behind the items.
    """
    try:
        output = parse(response)
    except Exception as error:
        output = _raising(error)
    if _is_asynchronous(output):
        return _with_one_result_async(output, response)
    return _with_one_result(iterate_spider_output(output), response)


def _is_asynchronous(output: Any) -> bool:
    return hasattr(output, "__aiter__") or isawaitable(output)


def _raising(error: Exception, items: Iterable[Any] = ()) -> Iterator[Any]:
    """Yield items, then raise an error."""
    yield from items
    raise error


def result_and_items(parse: Callable[..., Any]) -> Callable[[Response], Any]:
    """Return a callback for a spider that knows nothing of visits: it yields the visit's result itself.

    `parse` then gets the pages with text that were fetched, as Scrapy's own downloader gives them. If it raises, the
    visit counts all the same.
    """

    def items_of(response: Response) -> Any:
        result = visited_of(response)
        page = response.plain if isinstance(response, FetchedResponse) else response
        if not (_is_page(result) and isinstance(page, TextResponse)):
            return [result]
        try:
            output = parse(page)
        except Exception as error:
            return _raising(error, [result])
        return _after_async(result, output) if _is_asynchronous(output) else _after(result, output)

    return items_of


def _after(result: Visited, output: Any) -> Iterator[Any]:
    yield result
    yield from iterate_spider_output(output)


async def _after_async(result: Visited, output: Any) -> AsyncIterator[Any]:
    yield result
    if isawaitable(output):
        output = await output
    if hasattr(output, "__aiter__"):
        async for item in output:
            yield item
    else:
        for item in iterate_spider_output(output):
            yield item


def _is_page(result: Visited) -> bool:
    return result.outcome is Outcome.FETCHED and result.visit.kind is Kind.PAGE


def _with_one_result(items: Iterable[Any], response: Response) -> Iterator[Any]:
    visit, has_result = response.meta[VISIT], False
    try:
        for item in items:
            if _is_result(item, visit):
                if has_result:
                    logger.error("The spider gave two results for %s; the second is dropped", visit.url)
                    continue
                has_result = True
            yield item
    except Exception as error:
        if not has_result:
            yield visited_of(response) if isinstance(error, CloseSpider) else broken(response.meta, repr(error))
        raise
    if not has_result:
        yield broken(response.meta, "the spider gave no result")


async def _with_one_result_async(output: Any, response: Response) -> AsyncIterator[Any]:
    """Do the same for a coroutine or an asynchronous generator: await all that it yields first."""
    items: list[Any] = []
    error: Exception | None = None
    try:
        if hasattr(output, "__aiter__"):
            async for item in output:
                items.append(item)  # noqa: PERF401 -- items before an error count
        else:
            items.extend(iterate_spider_output(await output))
    except Exception as failure:
        error = failure
    for item in _with_one_result(_raising(error, items) if error is not None else items, response):
        yield item


def _is_result(item: Any, visit: Visit) -> bool:
    return isinstance(item, Visited) and item.visit.key == visit.key


def _rules(meta: Mapping[str, Any]) -> RobotsFile | None:
    visit: Visit = meta[VISIT]
    rules: RobotsFile | None = meta[RULES] if visit.kind is Kind.ROBOTS else None
    return rules
