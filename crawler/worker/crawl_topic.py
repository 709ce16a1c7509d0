"""The topic of a crawl: a file in its directory, which may be trained again while the crawl runs."""

from __future__ import annotations

from pathlib import Path

from crawler.collection.topics import load_topic, topic_names, topic_path
from crawler.errors import Misconfigured
from crawler.focus.topic import Topic


class CrawlTopic:
    """The file of a topic, and whether it has changed since it was read."""

    def __init__(self, directory: Path, name: str) -> None:
        self.name = name
        self._directory = directory
        self._path = topic_path(directory, name)
        self._read_as: tuple[int, int] | None = None

    @classmethod
    def of(cls, directory: Path, name: str) -> CrawlTopic:
        """Return the topic of a crawl directory; without a name, the only one that it has."""
        names = topic_names(directory)
        if not name and len(names) == 1:
            return cls(directory, names[0])
        if not name:
            have = f"name one of {', '.join(names)}" if names else "train one first"
            raise Misconfigured(
                f"A focused crawl needs a topic, -a topic=NAME; {have}: scrapy topic train NAME --query WORDS. Nothing "
                "was crawled."
            )
        return cls(directory, name)

    def read(self) -> Topic:
        """Read the topic; raises `CrawlError` if that cannot be done."""
        self._read_as = self._state()
        return load_topic(self._directory, self.name)

    def has_changed(self) -> bool:
        """Whether the file was written since it was read; one that is gone has not changed."""
        state = self._state()
        return state is not None and state != self._read_as

    def _state(self) -> tuple[int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ino
