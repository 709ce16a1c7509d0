"""Real content processes that read texts again, and a pool that is closed while they do."""

from __future__ import annotations

import asyncio

import pytest

from crawler.content.answers import ArchivedAnswer
from crawler.content.messages import ContentConfiguration
from crawler.content.pool import ContentDied, ContentPool
from crawler.content.similarity import compare, learn_template
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.template import MIN_PAGES
from crawler.items import Reason
from crawler.parse.html import DEFAULT_READING
from tests.defaults import urls_with

RULE = DuplicateRule()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def page(number: int, paragraphs: int = 20) -> ArchivedAnswer:
    words = (" ".join(f"word{number}x{part}x{place}" for place in range(40)) for part in range(paragraphs))
    body = "<p>The same on all pages of the site, as every page of it has it.</p>" * 3 + "".join(
        f"<p>{text}</p>" for text in words
    )
    return ArchivedAnswer(url=f"http://a.test/{number}", head=HEAD, body=body.encode())


def new_pool() -> ContentPool:
    given = ContentConfiguration(
        urls=urls_with(), reading=DEFAULT_READING, rule=RULE, cpu_seconds=60, memory=1 << 30, hook=""
    )
    return ContentPool(1, given, 60.0)


def test_what_is_found_elsewhere_is_what_would_be_found_here() -> None:
    pages = [page(number) for number in range(MIN_PAGES)]

    async def ask() -> None:
        pool = new_pool()
        pool.start()
        shares = await pool.compare((pages[0], b""), [(pages[0], b""), (pages[1], b"")])
        learned = await pool.learn_template(pages, None)
        pool.close()
        assert shares == compare((pages[0], b""), [(pages[0], b""), (pages[1], b"")], DEFAULT_READING, RULE)
        assert learned == learn_template(pages, None, DEFAULT_READING, RULE)

    asyncio.run(ask())


def test_whoever_still_waits_when_a_pool_is_closed_is_told_so() -> None:
    """And not that a page was to blame: nothing must be concluded from it."""

    async def ask() -> None:
        pool = new_pool()
        pool.start()
        await pool.learn_template([page(0)], b"")  # it has started
        heavy = [page(number, paragraphs=2_000) for number in range(MIN_PAGES)]
        asked = [asyncio.ensure_future(pool.learn_template(heavy, None)) for _ in range(4)]
        await asyncio.sleep(0)
        pool.close()
        answers = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 30)
        assert [answer.reason for answer in answers if isinstance(answer, ContentDied)] == [Reason.STOPPED] * 4
        with pytest.raises(ContentDied):
            await pool.learn_template([page(0)], b"")

    asyncio.run(ask())
