"""The files of topics in a crawl directory: query and examples as the user gave them, and what was learned of them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace
from xxhash import xxh3_64_digest

from crawler.errors import AlreadyRunning, BadInput, DiskTrouble, Misconfigured, NoCrawl
from crawler.files import write_atomically
from crawler.focus.topic import MAX_EXAMPLES, Topic
from crawler.focus.words import words_of_text
from crawler.options import Options
from crawler.stores.open import open_store

TOPIC_FACT: Final = "topic"  # the fact of a store that names the topic of a focused crawl
TOPICS: Final = "topics"  # folder in a crawl directory
MAX_EXAMPLE: Final = 8_000  # characters of an example that are kept
_SUFFIX: Final = ".topic"
_FORMAT: Final = b"topic file 1\n"
_CHECK_SUM: Final = 8  # bytes
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class TopicExample(msgspec.Struct, frozen=True):
    """A page that the user says is on topic, or is not."""

    source: str  # URL, or path with the line
    is_positive: bool
    text: str  # title, newline, main text


class TopicFile(msgspec.Struct, frozen=True):
    """A topic as its file has it."""

    name: str
    query: str
    examples: tuple[TopicExample, ...]
    learned: bytes

    @classmethod
    def train(cls, name: str, query: str, examples: Iterable[TopicExample], pages: Iterable[str] = ()) -> TopicFile:
        """Learn a topic from its query and examples, and from unlabelled pages; ValueError if there is nothing."""
        query = _encodable(query)
        examples = tuple(
            replace(example, source=_encodable(example.source), text=_encodable(example.text[:MAX_EXAMPLE]))
            for example in _bounded(examples)
        )
        positive, negative = (texts_of(examples, is_positive=is_positive) for is_positive in (True, False))
        topic = Topic.learn(positive, negative, query)
        for page in pages:
            topic.observe(page)
        return cls(name, query, examples, topic.to_bytes())

    def topic(self) -> Topic:
        """Return the learned topic; it is learned again if another version has written it."""
        try:
            return Topic.from_bytes(self.learned)
        except ValueError:
            positive, negative = (texts_of(self.examples, is_positive=is_positive) for is_positive in (True, False))
            return Topic.learn(positive, negative, self.query)

    def merged_examples(self, new: Iterable[TopicExample]) -> list[TopicExample]:
        """Return these examples and new ones; of a source that has both, the new one."""
        return [*{example.source: example for example in (*self.examples, *new)}.values()]


def _encodable(text: str) -> str:
    """Return a text without lone surrogates, which no file can have."""
    return text.encode("utf-8", "replace").decode()


def _bounded(examples: Iterable[TopicExample]) -> list[TopicExample]:
    """Keep the newest examples of each kind, as many as a topic learns from; those without words teach nothing."""
    kinds: dict[bool, list[TopicExample]] = {True: [], False: []}
    for example in examples:
        if next(words_of_text(example.text), None) is not None:
            kinds[example.is_positive].append(example)
    return [example for kind in kinds.values() for example in kind[-MAX_EXAMPLES:]]


def texts_of(examples: Sequence[TopicExample], *, is_positive: bool) -> list[str]:
    """Return the texts of the examples of one kind."""
    return [example.text for example in examples if example.is_positive is is_positive]


def topic_path(directory: Path, name: str) -> Path:
    """Return where a crawl directory has the topic of this name; `Misconfigured` for what cannot be a name."""
    if not _NAME.fullmatch(name):
        raise Misconfigured(
            f"{name!r}: a topic's name has letters, digits, - and _, up to 64 of them. Nothing was changed."
        )
    return directory / TOPICS / f"{name}{_SUFFIX}"


def topic_names(directory: Path) -> list[str]:
    """Return the names of the topics of a crawl directory: none or one, unless files were copied into it."""
    return sorted(path.name.removesuffix(_SUFFIX) for path in (directory / TOPICS).glob(f"*{_SUFFIX}"))


def read_topic_file(directory: Path, name: str) -> TopicFile:
    """Read the file of a topic; raises `Misconfigured` if there is none, and `BadInput` if it is damaged."""
    path = topic_path(directory, name)
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise _no_topic(directory, name) from error
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}).") from error
    try:
        return _decoded(data)
    except (ValueError, zlib.error, msgspec.DecodeError) as error:
        raise BadInput(
            f"{path}: damaged, or written by another version ({error}). Restore it from a backup, or delete it and "
            f"train the topic again: scrapy topic train {name} …"
        ) from error


def _no_topic(directory: Path, name: str) -> Misconfigured:
    names = topic_names(directory)
    if names:
        return Misconfigured(
            f"{name}: {directory} has no such topic, but {', '.join(names)}. Name that, or use another CRAWL_DIR."
        )
    return Misconfigured(
        f"{name}: {directory} has no topic. To train it: scrapy topic train {name} --query WORDS --like URL-or-FILE."
    )


def load_topic(directory: Path, name: str) -> Topic:
    """Read a topic for a crawl; raises `Misconfigured` or `BadInput`, which say what to do."""
    return read_topic_file(directory, name).topic()


def write_topic_file(directory: Path, file: TopicFile) -> Path:
    """Write the file of a topic, so that a running crawl reads either the old one or the new one."""
    path = topic_path(directory, file.name)
    packed = zlib.compress(msgspec.msgpack.encode(file))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as output:
            output.write(_FORMAT + xxh3_64_digest(packed) + packed)
    except OSError as error:
        raise DiskTrouble(f"{path}: cannot be written ({error.strerror}). The topic is as it was before.") from error
    return path


def remove_topic_file(directory: Path, name: str) -> None:
    """Delete the file of a topic."""
    path = topic_path(directory, name)
    try:
        path.unlink()
    except FileNotFoundError as error:
        raise _no_topic(directory, name) from error
    except OSError as error:
        raise DiskTrouble(f"{path}: cannot be deleted ({error.strerror}).") from error


def _decoded(data: bytes) -> TopicFile:
    check_sum, packed = data[len(_FORMAT) :][:_CHECK_SUM], data[len(_FORMAT) + _CHECK_SUM :]
    if not data.startswith(_FORMAT):
        raise ValueError("it does not begin as a topic does")
    if xxh3_64_digest(packed) != check_sum:
        raise ValueError("its check sum is another one")
    return msgspec.msgpack.decode(zlib.decompress(packed), type=TopicFile)


def existing_topic(directory: Path, name: str) -> TopicFile | None:
    """Return the topic if it was trained before; `Misconfigured` if the crawl directory has another one."""
    topic_path(directory, name)  # refuses what cannot be a name
    names = topic_names(directory)
    if name in names:
        return read_topic_file(directory, name)
    if names:
        raise Misconfigured(
            f"{directory} has the topic {names[0]}, and a crawl has one. Nothing was changed: train {names[0]}, remove it "
            f"with `scrapy topic remove {names[0]}`, or use another CRAWL_DIR for {name}."
        )
    return None


def end_focus(options: Options, topic: str, now: float) -> None:
    """Let the crawl, if it was about this topic, go on without one: its URLs wait as in other crawls."""
    try:
        facts = _facts_of(options)
    except NoCrawl:
        return
    if facts.get(TOPIC_FACT) != topic:
        return
    store = open_store(
        options.store, budgets=options.budgets, group_of=options.politeness.group_of, order=options.order
    )
    try:
        if any(worker.lease_end > now for worker in store.partitions.workers()):
            raise AlreadyRunning("A crawl is running for this topic. Nothing was changed; stop it first.")
        store.focus.forget(now)
        store.crawl.set_facts({TOPIC_FACT: ""})
    finally:
        store.close()


def topic_of_crawl(options: Options) -> str:
    """Return the name of the topic of a focused crawl; empty if it has none, or there is no crawl yet."""
    try:
        return _facts_of(options).get(TOPIC_FACT, "")
    except NoCrawl:
        return ""


def _facts_of(options: Options) -> dict[str, str]:
    store = open_store(options.store, read_only=True)
    try:
        return dict(store.crawl.facts())
    finally:
        store.close()
