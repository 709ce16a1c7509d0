"""The seeds that a spider brings along: its argument `seeds`, and its `start_urls`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from scrapy import Spider

from crawler.errors import BadInput, Misconfigured
from crawler.stores.contract.urls import NewUrl
from crawler.worker.seeds import BadSeed, Canonicalize, read_seeds, seeds_in
from crawler.worker.session import Session
from crawler.worker.startup import refuse_foreign_hosts

_MOST_SHOWN = 20  # bad lines
_LONGEST_PATH = 4_000  # characters; a longer text is a list of URLs


def seeds_of_argument(text: str, canonicalize: Canonicalize) -> Iterator[NewUrl]:
    """Read seeds from a file, or from a list of URLs separated by commas."""
    if not text:
        return
    if "://" not in text and Path(text[:_LONGEST_PATH]).is_dir():
        raise BadInput(f"seeds={text}: a directory; name a file with one URL a line. Nothing was done.")
    if _is_file(text):
        yield from _without_bad(read_seeds(text, canonicalize))
        return
    found = list(seeds_in(text.split(","), "seeds", canonicalize))
    bad = [seed for seed in found if isinstance(seed, BadSeed)]
    if "://" not in text and bad:
        hint = f". Did you mean {bad[0].meant}? (--guess-scheme takes it so)" if bad[0].meant else "."
        raise BadInput(f"seeds={text}: there is no such file, and it is no URL{hint} Nothing was done.")
    yield from _without_bad(found)


def add_seeds(session: Session, seeds: Sequence[NewUrl]) -> None:
    """Add seeds to the crawl, and extend its scope by them; raises `Misconfigured` if they may not be crawled."""
    refuse_foreign_hosts(session.options, [seed.url for seed in seeds])

    def add() -> list[str]:
        session.store.urls.add_seeds(seeds, session.now())
        return session.new_seeds()

    new = session.call(add)
    session.extend_scope(new)
    session.call(lambda: session.open_scope(new))


def add_seeds_of_spider(session: Session, spider: Spider) -> None:
    """Add the seeds of a spider that opens, except for an argument that was read already."""
    policy, argument = session.options.urls.new_policy(), getattr(spider, "seeds", "") or ""
    if isinstance(spider.start_urls, str):
        raise Misconfigured(f"start_urls of the spider {spider.name} must be a list of URLs. Nothing was crawled.")
    if callable(argument):
        raise Misconfigured(
            f"seeds of the spider {spider.name} is a method; it must be text, a list of URLs, or have another name. "
            "Nothing was crawled."
        )
    # A `start` of the spider's own says itself what is visited.
    has_own_start = type(spider).start is not Spider.start and not getattr(spider, "yields_visits", False)
    urls = () if has_own_start else spider.start_urls or ()
    seeds = list(_without_bad(seeds_in(urls, "start_urls", policy.canonicalize)))
    if argument != session.seeds_argument:
        text = argument if isinstance(argument, str) else ",".join(map(str, argument))
        seeds += seeds_of_argument(text, policy.canonicalize)
    if seeds:
        add_seeds(session, seeds)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file() or Path(text).is_fifo()  # such as <(command) of a shell
    except OSError:  # a long list of URLs is no name of a file
        return False


def _without_bad(lines: Iterable[NewUrl | BadSeed]) -> Iterator[NewUrl]:
    """Yield the good lines, and print the bad ones."""
    bad = []
    for line in lines:
        if isinstance(line, BadSeed):
            bad.append(line)
        else:
            yield line
    for line in bad[:_MOST_SHOWN]:
        print(line, file=sys.stderr)
