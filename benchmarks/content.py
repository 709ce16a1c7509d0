"""What does it cost the crawl process to have a page examined in a content process?

Pages like those of the closed web go through a pool of one content process. The benchmark counts the CPU time of this
process alone, event loop included, and compares it with examining the pages in this process.
"""

from __future__ import annotations

import argparse
import asyncio
import time

import uvloop

from benchmarks.web import Web, page_path
from crawler import settings
from crawler.content.examine import examine
from crawler.content.messages import ContentConfiguration
from crawler.content.pool import ContentPool
from crawler.items import Fetched, Kind, Outcome, Reason, Visit, Visited
from crawler.options import Options
from crawler.urls.keys import key_of

ALLOWED = 0.1  # CPU-ms a page
OPTIONS = Options.of({**vars(settings), "SCOPE": "any", "CONTACT": "me@a.test"})  # every link is in scope


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=3_000)


def main(options: argparse.Namespace) -> int:
    web = Web(pages=300, hosts=50, port=8000)
    pages = [_visited(web, number) for number in range(300)]
    elsewhere = uvloop.run(_in_content_process(pages, options.pages))
    here = _in_this_process(pages)
    good = elsewhere <= ALLOWED
    print(f"In a content process: {elsewhere:.3f} CPU-ms a page in the crawl process; without one: {here:.3f} ms.")
    print(f"{'pass' if good else 'FAIL'}  {elsewhere:.3f} ms a page, at most {ALLOWED}")
    return 0 if good else 1


async def _in_content_process(pages: list[Visited], count: int) -> float:
    configuration = ContentConfiguration(
        urls=OPTIONS.urls,
        reading=OPTIONS.reading,
        rule=OPTIONS.duplicates,
        cpu_seconds=OPTIONS.content.cpu_time,
        memory=OPTIONS.content.max_memory,
        hook="",
    )
    pool = ContentPool(1, configuration, OPTIONS.content.timeout)
    pool.start()
    await pool.examine(pages[0])  # waits until it has started
    started = time.process_time()

    async def visit(numbers: range) -> None:
        for number in numbers:
            await pool.examine(pages[number % len(pages)])

    await asyncio.gather(*(visit(range(first, count, 4)) for first in range(4)))
    used = time.process_time() - started
    pool.close()
    return used / count * 1000


def _in_this_process(pages: list[Visited]) -> float:
    scope = OPTIONS.new_scope()
    started = time.process_time()
    for page in pages:
        examine(page, scope, OPTIONS.reading, OPTIONS.duplicates)
    return (time.process_time() - started) / len(pages) * 1000


def _visited(web: Web, number: int) -> Visited:
    path = page_path(number)
    url = web.url(path)
    head, _, body = web.answer(path, compress=True).partition(b"\r\n\r\n")
    fetched = Fetched(
        url=url, reason=Reason.OK, started=0.0, ended=0.1, status=200, request=b"GET / HTTP/1.1\r\n\r\n",
        head=head + b"\r\n\r\n", body=body,
    )  # fmt: skip
    visit = Visit(key=key_of(url), url=url, kind=Kind.PAGE, epoch=1)
    return Visited(visit=visit, outcome=Outcome.FETCHED, reason=Reason.OK, fetched=fetched)
