"""A small web of pages about birds, taxes, engines and bread; pages link mostly to others about the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

from crawler.collection.topics import TopicFile, write_topic_file
from crawler.focus.topic import Topic

WORDS = {
    "birds": "gull tern heron plumage feather wing nest egg beak flight warbler chick migration colony roost",
    "taxes": "income levy deduction invoice fiscal audit revenue duty refund bracket ledger payroll tariff claim",
    "engines": "piston valve boiler crank turbine throttle gasket cylinder torque camshaft exhaust bearing fuel",
    "bread": "flour yeast dough knead crust oven rye sourdough loaf proof crumb gluten starter bake salt",
}
COMMON = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "that",
    "for",
    "it",
    "with",
    "as",
    "was",
    "on",
    "are",
    "by",
    "this",
    "be",
    "from",
    "at",
    "which",
    "not",
    "have",
    "its",
    "they",
    "more",
    "when",
]


def write_topic(directory: Path, name: str, topic: Topic) -> Path:
    """Write the file of a topic into a crawl directory."""
    return write_topic_file(directory, TopicFile(name, "", (), topic.to_bytes()))


class TopicWeb:
    """Pages by host and path, and what each is about."""

    def __init__(self, hosts: int = 4, pages: int = 60, seed: int = 1, kin: float = 0.75) -> None:
        self._random = Random(seed)
        self.names = [f"h{number}.test" for number in range(hosts)]
        self._count = pages
        self.about = {(host, number): self._topic(number) for host in self.names for number in range(pages)}
        self._kin = kin
        self._titles = {key: self._title(topic) for key, topic in self.about.items()}
        links = {key: self._links(key) for key in self.about}
        self.pages: Mapping[str, Mapping[str, str]] = {
            host: {self.path(number): self._page((host, number), links[host, number]) for number in range(pages)}
            for host in self.names
        }

    def path(self, number: int) -> str:
        return f"/{number}.html" if number else "/"

    def _topic(self, number: int) -> str:
        """A fourth of the pages are about birds, and so is none of the front pages."""
        return "taxes" if number == 0 else self._random.choice(list(WORDS))

    def _title(self, topic: str) -> str:
        return " ".join(self._random.sample(WORDS[topic].split(), 2)).title()

    def _links(self, key: tuple[str, int]) -> list[tuple[str, int]]:
        host, number = key
        kin = [other for other, topic in self.about.items() if topic == self.about[key] and other != key]
        tree = [(host, child) for child in range(4 * number + 1, min(4 * number + 5, self._count))]
        others = list(self.about)
        drawn = [self._random.choice(kin if self._random.random() < self._kin else others) for _ in range(5)]
        return [*tree, *drawn]

    def _page(self, key: tuple[str, int], links: list[tuple[str, int]]) -> str:
        words = WORDS[self.about[key]].split()
        text = " ".join(self._random.choice(words if self._random.random() < 0.3 else COMMON) for _ in range(150))
        items = "".join(
            f'<li><a href="//{host}:PORT{self.path(number)}">{self._titles[host, number]}</a>' for host, number in links
        )
        return f"<title>{self._titles[key]}</title><h1>{self._titles[key]}</h1><p>{text}.<ul>{items}</ul>"

    def with_port(self, port: object) -> dict[str, dict[str, str]]:
        return {
            host: {path: body.replace("PORT", str(port)) for path, body in pages.items()}
            for host, pages in self.pages.items()
        }
