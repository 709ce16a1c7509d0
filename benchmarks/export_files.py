"""How many documents a second does one core write in each file format, and does its memory stay constant?

Documents have about 3,500 words; a fifth of the documents is not ASCII. The output is counted and discarded; making the
documents is not measured.
"""

from __future__ import annotations

import argparse
import io
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from msgspec.structs import replace

from benchmarks.measure import cores, peak_memory, pinned
from benchmarks.report import Verdict
from crawler.export.formats import FORMATS, FileFormat
from crawler.items import ChangeEvent, ExportedDocument, Key, TextBlock

WORDS, WORDS_A_BLOCK = 3_500, 50
PER_SECOND = 500  # documents, at least
GROWTH = 30e6  # bytes of memory in the second half, at most
DIFFERENT = 200  # distinct documents; they are repeated with other versions
_LETTERS = ("etaoinshrdlucmfwypvbgk", "оеаинтсрвлкмдпуяыьгзб")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--blocks", action="store_true", help="with the text in blocks, too")
    parser.add_argument("--formats", nargs="+", default=list(FORMATS), choices=list(FORMATS))


def main(options: argparse.Namespace) -> int:
    pinned(cores()[0])
    documents = made(Random(options.seed), with_blocks=options.blocks)
    size = sum(len(document.text.encode()) for document in documents) / len(documents)
    print(f"{options.documents:,} documents of {WORDS:,} words, {size / 1000:.1f} KB of text each\n")
    print(
        ""
        f"{'format':16}{'documents/s':>12}{'CPU-ms each':>13}{'MB/s of text':>14}{'KB each':>9}{'peak MB':>9}"
        f"{'grown MB':>10}"
    )
    verdicts = []
    for name in sorted(
        options.formats, key=lambda name: name == "parquet"
    ):  # last, because it needs most memory, and a peak never falls
        found = measured(FORMATS[name], documents, options.documents)
        print(
            f"{name:16}{found.rate:12,.0f}{found.seconds / found.documents * 1000:13.3f}{found.rate * size / 1e6:14.1f}"
            f"{found.written / found.documents / 1000:9.1f}{found.peak / 1e6:9.0f}{found.grown / 1e6:10.1f}"
        )
        verdicts += judge(name, found)
    print("", *verdicts, sep="\n")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The cost of writing a format."""

    documents: int
    seconds: float  # of processor time
    written: int  # bytes
    peak: int  # bytes of memory
    grown: int  # growth of the peak in the second half

    @property
    def rate(self) -> float:
        return self.documents / self.seconds


def measured(form: FileFormat, documents: Sequence[ExportedDocument], count: int) -> Measured:
    stream = Counting()
    writer = form.open(stream)
    seconds, half = 0.0, 0
    for version in range(count):
        document = replace(documents[version % len(documents)], version=version, key=Key(version, version))
        started = time.process_time()
        writer.write(document)
        seconds += time.process_time() - started
        if version == count // 2:
            half = peak_memory(os.getpid())
    started = time.process_time()
    writer.finish()
    seconds += time.process_time() - started
    peak = peak_memory(os.getpid())
    return Measured(documents=count, seconds=seconds, written=stream.count, peak=peak, grown=peak - half)


def judge(name: str, found: Measured) -> list[Verdict]:
    return [
        Verdict(what=f"{name}: {found.rate:,.0f} documents/s, at least {PER_SECOND}", holds=found.rate >= PER_SECOND),
        Verdict(
            what=f"{name}: {found.grown / 1e6:.1f} MB more in the second half, at most {GROWTH / 1e6:.0f}",
            holds=found.grown <= GROWTH,
        ),
    ]


class Counting(io.RawIOBase):
    """A file that counts the bytes written and discards them."""

    def __init__(self) -> None:
        self.count = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.count += len(data)
        return len(data)


def made(chance: Random, *, with_blocks: bool) -> list[ExportedDocument]:
    return [_document(number, chance, with_blocks=with_blocks) for number in range(DIFFERENT)]


def _document(number: int, chance: Random, *, with_blocks: bool) -> ExportedDocument:
    letters = _LETTERS[number % 5 == 0]
    vocabulary = ["".join(chance.choices(letters, k=chance.randrange(2, 10))) for _ in range(1_000)]
    words = chance.choices(vocabulary, k=WORDS)
    lines = [" ".join(words[start : start + WORDS_A_BLOCK]) for start in range(0, WORDS, WORDS_A_BLOCK)]
    return ExportedDocument(
        version=number,
        event=ChangeEvent.UPSERT,
        key=Key(number, number),
        url=f"http://h{number % 20}.test/{number}",
        host=f"h{number % 20}.test",
        fetched=1.7e9 + number,
        status=200,
        content_type="text/html; charset=utf-8",
        title=" ".join(words[:8]),
        text="\n".join(lines),
        blocks=[TextBlock(line, "p", 0, 0.9) for line in lines] if with_blocks else None,
        language="en",
        format="html",
        problem="",
        metadata={"author": "A. Nybody"},
        digest=chance.randbytes(32),
        duplicate_of=None,
        similarity=None,
        tier=None,
        anchors=[(f"h{n}.test", " ".join(words[:3])) for n in range(3)],
        links=None,
        noarchive=False,
    )
