"""A real web of texts, links and topics, divided among hosts: as pages to be served, and as data for a simulation."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from xxhash import xxh3_64_intdigest

from crawler.collection.topics import TopicFile, write_topic_file
from crawler.focus.topic import Topic
from tests.conftest import SHARED

DATA = SHARED / "focused"
_GAP = " … "  # in the words around a link, in place of its anchor
_CONTENT, _NAVIGATION, _FOOTER = range(3)


@dataclass(frozen=True, slots=True)
class WebTopic:
    """A topic of the web: what a user gives, and what is right."""

    name: str
    query: str
    relevant: frozenset[int]
    seeds: Sequence[int]
    few: Sequence[int]
    positive: Sequence[int]
    negative: Sequence[int]

    @property
    def given(self) -> frozenset[int]:
        """Pages that count neither as found nor as fetched."""
        return frozenset([*self.seeds, *self.few, *self.positive, *self.negative])


class TopicalWeb:
    """One of the webs, on so many hosts: a page's host is drawn by its number."""

    def __init__(self, name: str, hosts: int) -> None:
        with lzma.open(DATA / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            self.pages: list[dict[str, Any]] = [json.loads(line) for line in lines]
        self.topics = [WebTopic(topic, **_topic(facts)) for topic, facts in _topics(name).items()]
        self.names = [f"w{number}.test" for number in range(hosts)]

    def host_of(self, number: int) -> str:
        return self.names[xxh3_64_intdigest(str(number).encode()) % len(self.names)]

    @cached_property
    def paths(self) -> list[str]:
        """The path of each page: that of its URL, or the root."""
        return ["/" + page["url"].split("/", 3)[3] if page["url"].count("/") > 2 else "/" for page in self.pages]

    def url_of(self, number: int, port: object) -> str:
        return f"http://{self.host_of(number)}:{port}{self.paths[number]}"

    @cached_property
    def numbers(self) -> Mapping[tuple[str, str], int]:
        """The number of each page, by its host and path."""
        return {(self.host_of(number), path): number for number, path in enumerate(self.paths)}

    def text_of(self, number: int) -> str:
        page = self.pages[number]
        return f"{page['title']}\n{page['text']}"

    def topic_of(self, topic: WebTopic, mode: str) -> Topic:
        """Learn a topic from what a user gives in a mode."""
        if mode == "few":
            return Topic.learn([self.text_of(number) for number in topic.few], query=topic.query)
        positive, negative = ([self.text_of(number) for number in part] for part in (topic.positive, topic.negative))
        return Topic.learn(positive, negative)

    def served(self, port: object) -> dict[str, dict[str, str]]:
        """Return the pages as they are served: host → path → body."""
        pages: dict[str, dict[str, str]] = {host: {} for host in self.names}
        for number, page in enumerate(self.pages):
            pages[self.host_of(number)][self.paths[number]] = self._html(page, port)
        return pages

    def _html(self, page: Mapping[str, Any], port: object) -> str:
        parts = {
            place: "\n".join(self._link(link, port) for link in page["links"] if link[3] == place)
            for place in (_CONTENT, _NAVIGATION, _FOOTER)
        }
        return (
            f"<!doctype html><title>{escape(page['title'])}</title><nav>{parts[_NAVIGATION]}</nav><main><article>"
            f"<h1>{escape(page['title'])}</h1><p>{escape(page['text'])}</p>{parts[_CONTENT]}</article></main>"
            f"<footer>{parts[_FOOTER]}</footer>"
        )

    def _link(self, link: Sequence[Any], port: object) -> str:
        number, anchor, around, _ = link
        before, gap, after = around.partition(_GAP)
        url = escape(self.url_of(number, port))
        return f'<p>{escape(before)} <a href="{url}">{escape(anchor)}</a> {escape(after) if gap else ""}</p>'


def _topics(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((DATA / f"{name}.topics.json").read_text(encoding="utf-8"))
    return found


def _topic(facts: Mapping[str, Any]) -> dict[str, Any]:
    chosen = {name: facts[name] for name in ("query", "seeds", "few", "positive", "negative")}
    return chosen | {"relevant": frozenset(facts["relevant"])}


def harvest_curve(order: Iterator[int] | Sequence[int], topic: WebTopic) -> list[int]:
    """Return how many relevant pages were found after each fetch; given pages do not count."""
    found, curve, seen = 0, [], set(topic.given)
    for number in order:
        if number in seen:
            continue
        seen.add(number)
        found += number in topic.relevant
        curve.append(found)
    return curve


def topic_file(directory: Path, name: str, topic: Topic) -> None:
    """Write the file of a topic into a crawl directory."""
    write_topic_file(directory, TopicFile(name, "", (), topic.to_bytes()))
