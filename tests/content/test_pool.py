"""Real content processes compare pages and find templates, and a pool is closed while they do."""

from __future__ import annotations

import asyncio

import pytest

from crawler.content.answers import ArchivedAnswer
from crawler.content.messages import ContentConfiguration
from crawler.content.pool import ContentDied, ContentPool
from crawler.content.similarity import compare, learn_template
from crawler.duplicates.template import MIN_PAGES
from crawler.items import Reason
from tests.defaults import DEFAULTS, urls_with

READING, RULE = DEFAULTS.reading, DEFAULTS.duplicates
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def archived_page(number: int, paragraphs: int = 20) -> ArchivedAnswer:
    words = (" ".join(f"word{number}x{part}x{place}" for place in range(40)) for part in range(paragraphs))
    body = "<p>The template of the site, which every page of it has.</p>" * 3 + "".join(
        f"<p>{text}</p>" for text in words
    )
    return ArchivedAnswer(url=f"http://a.test/{number}", head=HEAD, body=body.encode())


def new_pool() -> ContentPool:
    configuration = ContentConfiguration(
        urls=urls_with(), reading=READING, rule=RULE, cpu_seconds=60, memory=1 << 30, hook=""
    )
    return ContentPool(1, configuration, 60.0)


def test_a_content_process_finds_what_a_call_in_this_process_finds() -> None:
    pages = [archived_page(number) for number in range(MIN_PAGES)]

    async def run() -> None:
        pool = new_pool()
        pool.start()
        similarities = await pool.compare((pages[0], b""), [(pages[0], b""), (pages[1], b"")])
        template = await pool.learn_template(pages, None)
        pool.close()
        assert similarities == compare((pages[0], b""), [(pages[0], b""), (pages[1], b"")], READING, RULE)
        assert template == learn_template(pages, None, READING, RULE)

    asyncio.run(run())


def test_jobs_that_wait_when_a_pool_is_closed_fail_as_stopped() -> None:
    """Their pages must not be blamed for it."""

    async def run() -> None:
        pool = new_pool()
        pool.start()
        await pool.learn_template([archived_page(0)], b"")  # the process has started
        heavy = [archived_page(number, paragraphs=2_000) for number in range(MIN_PAGES)]
        jobs = [asyncio.ensure_future(pool.learn_template(heavy, None)) for _ in range(4)]
        await asyncio.sleep(0)
        pool.close()
        results = await asyncio.wait_for(asyncio.gather(*jobs, return_exceptions=True), 30)
        assert [result.reason for result in results if isinstance(result, ContentDied)] == [Reason.STOPPED] * 4
        with pytest.raises(ContentDied):
            await pool.learn_template([archived_page(0)], b"")

    asyncio.run(run())
