"""How a topic is written into bytes, and read again: compressed, with a check sum."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_digest

from crawler.focus.classifier import TopicExamples, TopicModel
from crawler.focus.word_frequencies import WordFrequencies, WordTable
from crawler.focus.words import WordCounts

_FORMAT: Final = b"topic 1\n"
_CHECK_SUM: Final = 8  # bytes


class TopicKnowledge(NamedTuple):
    """Everything that a topic knows; a copy that only scores has no examples."""

    model: TopicModel
    generation: int
    query: Sequence[str]
    examples: TopicExamples | None
    frequencies: WordFrequencies
    sample: Sequence[bytes]


class _StoredTable(msgspec.Struct):
    numbers: bytes
    values: bytes
    other: float


class _StoredExamples(msgspec.Struct):
    positive: list[bytes]
    negative: list[bytes]
    names: list[str]


class _StoredTopic(msgspec.Struct):
    idf: _StoredTable
    weights: _StoredTable
    bias: float
    generation: int
    query: list[str]
    examples: _StoredExamples | None
    pages: int
    counted: bytes  # numbers of words
    counts: bytes  # pages that contain them
    sample: list[bytes]


def write_topic(known: TopicKnowledge) -> bytes:
    """Return a topic as bytes."""
    examples, counts = known.examples, known.frequencies.counts
    stored = _StoredTopic(
        idf=_stored_table(known.model.idf),
        weights=_stored_table(known.model.weights),
        bias=known.model.bias,
        generation=known.generation,
        query=list(known.query),
        examples=None if examples is None else _stored_examples(examples),
        pages=known.frequencies.pages,
        counted=np.fromiter(counts, "<u4", len(counts)).tobytes(),
        counts=np.fromiter(counts.values(), "<u4", len(counts)).tobytes(),
        sample=list(known.sample),
    )
    data = zlib.compress(msgspec.msgpack.encode(stored), 1)
    return _FORMAT + xxh3_64_digest(data) + data


def read_topic(data: bytes) -> TopicKnowledge:
    """Read what `write_topic` returned; raises ValueError if that is damaged, or something else."""
    if not data.startswith(_FORMAT):
        raise ValueError("this is not a topic, or one of another version")
    check_sum, packed = data[len(_FORMAT) :][:_CHECK_SUM], data[len(_FORMAT) + _CHECK_SUM :]
    if xxh3_64_digest(packed) != check_sum:
        raise ValueError("the topic is damaged: its check sum is another one")
    try:
        stored = msgspec.msgpack.decode(zlib.decompress(packed), type=_StoredTopic)
    except (zlib.error, msgspec.DecodeError) as error:
        raise ValueError(f"the topic was written by another version: {error}") from error
    counted, counts = _numbers(stored.counted), _numbers(stored.counts)
    return TopicKnowledge(
        model=TopicModel(_table(stored.idf), _table(stored.weights), stored.bias),
        generation=stored.generation,
        query=stored.query,
        examples=None if stored.examples is None else _examples(stored.examples, stored.query),
        frequencies=WordFrequencies(stored.pages, dict(zip(counted.tolist(), counts.tolist(), strict=True))),
        sample=stored.sample,
    )


def _stored_table(table: WordTable) -> _StoredTable:
    return _StoredTable(table.numbers.astype("<u4").tobytes(), table.values.astype("<f4").tobytes(), table.other)


def _stored_examples(examples: TopicExamples) -> _StoredExamples:
    positive, negative = ([words.to_bytes() for words in kind] for kind in (examples.positive, examples.negative))
    return _StoredExamples(positive, negative, list(examples.names))


def _table(stored: _StoredTable) -> WordTable:
    return WordTable(_numbers(stored.numbers), np.frombuffer(stored.values, "<f4").astype(np.float32), stored.other)


def _examples(stored: _StoredExamples, query: Sequence[str]) -> TopicExamples:
    positive, negative = (
        [WordCounts.from_bytes(words) for words in kind] for kind in (stored.positive, stored.negative)
    )
    return TopicExamples(positive, negative, query, stored.names)


def _numbers(data: bytes) -> NDArray[np.uint32]:
    return np.frombuffer(data, "<u4").astype(np.uint32)
