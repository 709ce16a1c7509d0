"""From what Scrapy hands around to the one item of a visit, whatever a spider does."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from inspect import isawaitable
from typing import Any

from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.utils.spider import iterate_spider_output

from crawler.engine.meta import FETCHED, MEANING, RULES, SITEMAPS, VISIT, FetchedResponse, VisitDenied
from crawler.fetch.answers import AnswerMeaning
from crawler.items import Fetched, Kind, Outcome, Reason, RobotsFile, Visit, Visited

logger = logging.getLogger(__name__)


def visited_of(response: FetchedResponse) -> Visited:
    """What became of a visit, by the answer to it."""
    visit: Visit = response.meta[VISIT]
    fetched = response.fetched
    if fetched.reason is Reason.INTERNAL_ERROR:
        return broken(response.meta, fetched.detail)
    meaning: AnswerMeaning = response.meta[MEANING]
    return Visited(
        visit=visit,
        outcome=meaning.outcome,
        reason=meaning.reason,
        detail=fetched.detail,
        fetched=fetched,
        rules=_rules(response.meta),
        sitemaps=response.meta.get(SITEMAPS, ()),
        retry_after=meaning.retry_after,
        redirect=meaning.location,
    )


def refused(meta: Mapping[str, Any], error: VisitDenied) -> Visited:
    """A visit that a middleware did not let out."""
    return Visited(
        visit=meta[VISIT], outcome=Outcome.DENIED, reason=error.reason, detail=error.detail, location=error.location
    )


def broken(meta: Mapping[str, Any], detail: str) -> Visited:
    """A visit over which our own code failed."""
    fetched: Fetched | None = meta.get(FETCHED)
    return Visited(
        visit=meta[VISIT], outcome=Outcome.BROKEN, reason=Reason.INTERNAL_ERROR, detail=detail, fetched=fetched
    )


def exactly_one(parse: Callable[..., Any], response: Response) -> list[Any] | AsyncIterator[Any]:
    """What a callback gives for a response, with one result of the visit in it.

    A visit that the callback forgot, or over which it raised, ends as an internal error; a second result is dropped.
    """
    given: Any = None
    try:
        given = parse(response)
        if not hasattr(given, "__aiter__") and not isawaitable(given):
            return list(_one_of(iterate_spider_output(given), response))
    except CloseSpider:
        raise
    except Exception as error:
        return [_failed(response, error)]
    return _one_of_async(given, response)


def _one_of(items: Iterable[Any], response: Response) -> Iterator[Any]:
    visit, given = response.meta[VISIT], False
    try:
        for item in items:
            if _is_result(item, visit):
                if given:
                    logger.error("The spider gave two results for %s; the second is dropped", visit.url)
                    continue
                given = True
            yield item
    except CloseSpider:
        raise
    except Exception as error:
        failed = _failed(response, error)
        if not given:
            yield failed
        return
    if not given:
        yield broken(response.meta, "the spider gave no result")


async def _one_of_async(given: Any, response: Response) -> AsyncIterator[Any]:
    """The same for a coroutine or an asynchronous generator: all of what it gives, then the judgement."""
    items: list[Any] = []
    error: Exception | None = None
    try:
        if hasattr(given, "__aiter__"):
            async for item in given:
                items.append(item)  # noqa: PERF401 -- what came before an error counts
        else:
            items.extend(iterate_spider_output(await given))
    except CloseSpider:
        raise
    except Exception as failure:
        error = failure

    def replay() -> Iterator[Any]:
        yield from items
        if error is not None:
            raise error

    for item in _one_of(replay(), response):
        yield item


def _is_result(item: Any, visit: Visit) -> bool:
    return isinstance(item, Visited) and item.visit.key == visit.key


def _failed(response: Response, error: Exception) -> Visited:
    visit: Visit = response.meta[VISIT]
    logger.error("The spider failed on %s", visit.url, exc_info=error)
    return broken(response.meta, repr(error))


def _rules(meta: Mapping[str, Any]) -> RobotsFile | None:
    visit: Visit = meta[VISIT]
    rules: RobotsFile | None = meta[RULES] if visit.kind is Kind.ROBOTS else None
    return rules
