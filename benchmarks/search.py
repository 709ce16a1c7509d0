"""The index of `scrapy search` on one core: documents a CPU-second, memory, bytes on disk, and CPU time of a query.

Documents are words drawn by Zipf's law, with a title, a menu, and anchor texts. Indexing is measured from the first
document until the last is acknowledged and all segments are merged, with all threads.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import median, quantiles

from benchmarks.measure import cores, pinned
from benchmarks.report import Verdict
from crawler.items import ChangeEvent, ExportedDocument, TextBlock
from crawler.search.index import TantivyIndex
from crawler.search.query import Searcher, SearchOptions
from crawler.urls.keys import key_of

RATE, MEMORY, GROWTH, DISK, QUERY = 1_000.0, 400e6, 1.25, 2.0, 0.05
SHORT = 500  # words: the median of web pages
VOCABULARY = 200_000
STEEPNESS = 1.2  # so that 3,500 words are about 1,150 different ones; in English prose they are about 1,000
TEXTS = 500  # distinct texts, used in turn
HOSTS = 1_000
MENU = 60  # words outside the main text
QUERIES = 300
ANON = "RssAnon:"  # memory mapped from files is not counted: the system can drop it at any time


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--words", type=int, default=3_500, help="of a document (default %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="of the writer; with more than one, on all cores")
    parser.add_argument("--seed", type=int, default=2010)


def main(options: argparse.Namespace) -> int:
    if options.threads == 1:
        pinned(cores()[1])
    chance = Random(options.seed)
    words = Vocabulary(chance)
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as directory:
        print(f"{options.documents:,} documents of {options.words:,} words, {options.threads} thread(s)")
        texts = [words.drawn(options.words) for _ in range(TEXTS)]
        rate, memories, weight = indexed(Path(directory) / "long", options.documents, texts, words, options.threads)
        queries = [words.query() for _ in range(QUERIES)]
        times = query_times(Path(directory) / "long", queries)
        short = [words.drawn(SHORT) for _ in range(TEXTS)]
        short_rate, _, _ = indexed(Path(directory) / "short", options.documents, short, words, options.threads)
    print(f"With {SHORT} words each, {short_rate:,.0f} documents a CPU-second\n")
    verdicts = judge(rate, memories, weight, times)
    print(*verdicts, sep="\n")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def judge(rate: float, memories: Sequence[int], weight: float, times: Sequence[float]) -> list[Verdict]:
    half = len(memories) // 2
    early, late = max(memories[: half or 1]), max(memories[half:])
    slow = quantiles(times, n=20)[-1]
    return [
        Verdict(what=f"{rate:,.0f} documents a CPU-second, at least {RATE:,.0f}", holds=rate >= RATE),
        Verdict(
            what=f"{late / 1e6:,.0f} MB of memory in the second half, at most {MEMORY / 1e6:,.0f}", holds=late <= MEMORY
        ),
        Verdict(
            what=f"{late / early:.2f} of the {early / 1e6:,.0f} MB of the first half, at most {GROWTH}",
            holds=late <= early * GROWTH,
        ),
        Verdict(what=f"{weight:.2f} bytes on disk per byte of text, at most {DISK}", holds=weight <= DISK),
        Verdict(
            what=f"a query takes {median(times) * 1000:.1f} CPU-ms (median), {slow * 1000:.1f} (95th percentile), "
            f"at most {QUERY * 1000:.0f}",
            holds=slow <= QUERY,
        ),
    ]


class Vocabulary:
    """Random words with frequencies by Zipf's law."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._words = [self._spelled(rank) for rank in range(VOCABULARY)]
        self._sums = list(itertools.accumulate((rank + 2) ** -STEEPNESS for rank in range(VOCABULARY)))

    def _spelled(self, rank: int) -> str:
        """Make a word; frequent ones are short."""
        length = self._chance.randint(2, 4) if rank < 100 else self._chance.randint(4, 10)
        return "".join(self._chance.choices("etaoinshrdlucmfwygpbvk", k=length))

    def drawn(self, count: int) -> str:
        return " ".join(self._chance.choices(self._words, cum_weights=self._sums, k=count))

    def query(self) -> str:
        """Draw two or three words, as frequent as those in texts."""
        return self.drawn(self._chance.randint(2, 3))


def indexed(
    directory: Path, count: int, texts: Sequence[str], words: Vocabulary, threads: int
) -> tuple[float, list[int], float]:
    """Index documents; return documents a CPU-second, memory at every hundredth, and bytes on disk per byte of text."""
    index = TantivyIndex(directory, threads=threads)
    every, memories, size = max(count // 100, 1), [], 0
    started, spent = time.monotonic(), time.process_time()
    for number, document in enumerate(documents(count, texts, words), start=1):
        index.put(document)
        size += len(document.text)
        if number % index.acknowledge_every == 0:
            index.acknowledge()
        if number % every == 0:
            memories.append(memory())
    index.acknowledge()
    index.close()
    seconds, cpu = time.monotonic() - started, time.process_time() - spent
    on_disk = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
    print(
        f"{seconds:.1f} s by the clock, {count / seconds:,.0f} documents a second; {cpu:.1f} CPU-seconds, "
        f"{count / cpu:,.0f} documents each; {size / 1e6:,.0f} MB of text, {on_disk / 1e6:,.0f} MB on the disk"
    )
    return count / cpu, memories, on_disk / size


def documents(count: int, texts: Sequence[str], words: Vocabulary) -> Iterator[ExportedDocument]:
    titles = [words.drawn(6) for _ in range(TEXTS)]
    menu = [TextBlock(words.drawn(MENU), "nav", 0, 0.1)]
    for number in range(count):
        host = f"h{number % HOSTS}.test"
        url = f"http://{host}/{number}"
        yield ExportedDocument(
            version=number + 1,
            event=ChangeEvent.UPSERT,
            key=key_of(url),
            url=url,
            host=host,
            fetched=1_700_000_000.0 + number,
            status=200,
            content_type="text/html",
            title=titles[number % TEXTS],
            text=texts[number % TEXTS],
            blocks=menu,
            language="en",
            format="html",
            problem="",
            metadata={},
            digest=b"",
            duplicate_of=None,
            similarity=None,
            tier=None,
            anchors=[("other.test", titles[number % TEXTS][:20])],
            links=None,
            noarchive=False,
        )


def query_times(directory: Path, queries: Sequence[str]) -> list[float]:
    """Return the CPU-seconds of each query, with its page of ten hits and their snippets."""
    searcher = Searcher(directory)
    times = []
    for query in queries:
        started = time.process_time()
        searcher.search(query, SearchOptions())
        times.append(time.process_time() - started)
    return times


def memory() -> int:
    for line in Path(f"/proc/{os.getpid()}/status").read_text().splitlines():
        if line.startswith(ANON):
            return int(line.split()[1]) * 1024
    return 0
