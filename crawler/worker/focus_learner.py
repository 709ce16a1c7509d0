"""What a worker of a focused crawl has learned: its topic, and what links are worth. Used in the store's thread."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from crawler.content.relevance import FocusModel
from crawler.focus.links import LinkScorer
from crawler.focus.topic import Topic

logger = logging.getLogger(__name__)

_LINKS, _TOPIC = "links", "topic"
_PAGES_UNSTORED = 50  # observed pages whose words a kill may lose


class FocusLearner:
    """Implements `crawler.stores.contract.focus.CommitLearner`."""

    def __init__(self, topic: Topic) -> None:
        self._topic = topic
        self._links = LinkScorer(topic)
        self._topic_state = (-1, 0, b"")  # generation of the topic, pages observed, and its bytes
        self._told = (0, -1)  # the lessons and the generation of the topic that content processes know
        self.lessons = 0  # changes of what was learned, which the content processes may not know

    @property
    def topic(self) -> Topic:
        """The topic as it is now, with the pages that the crawl has shown."""
        return self._topic

    def learn(self, evidences: Sequence[bytes], rewards: Sequence[float]) -> None:
        self._links.learn_all(evidences, rewards)
        self.lessons += len(evidences)

    def observe(self, words: bytes) -> None:
        before = self._topic.generation
        self._topic.observe_words(words)
        self.lessons += self._topic.generation != before

    def rescore(self, evidences: Sequence[bytes]) -> Sequence[float]:
        return self._links.rescore(evidences)

    def explain(self, evidence: bytes) -> Mapping[str, float]:
        """Return the parts of a link's score."""
        return self._links.explain(evidence)

    def merge(self, first: Sequence[bytes], second: Sequence[bytes]) -> Sequence[bytes]:
        return self._links.merge_all(first, second)

    def url_evidence(self, url: str) -> bytes:
        return self._links.url_evidence(url)

    def mean_relevance(self) -> float:
        """Return the mean relevance of the pages that were fetched lately; also called outside of the store's thread."""
        return self._links.mean_reward

    def states(self, *, is_last: bool = False) -> Mapping[str, bytes]:
        return {_LINKS: self._links.state(), _TOPIC: self._topic_bytes(is_last=is_last)}

    def load_states(self, own: Mapping[str, bytes], others: Sequence[Mapping[str, bytes]]) -> None:
        """Take in what this worker and the others have learned; what is damaged, or of another version, is left out."""
        if self.lessons == 0 and _TOPIC in own:
            with _leaving_out("of words"):
                self._use(Topic.from_bytes(own[_TOPIC]).with_examples_of(self._topic))
        links, of_others = (
            own.get(_LINKS) or self._links.state(),
            [other[_LINKS] for other in others if _LINKS in other],
        )
        with _leaving_out("of links"):
            self._links.load_state(links)
            self._links.load_state(links, of_others)
        self.lessons += 1

    def retrain(self, topic: Topic) -> None:
        """Go on with a topic that was trained again, and with what this crawl has shown."""
        self._use(self._topic.with_examples_of(topic))
        self.lessons += 1

    def _use(self, topic: Topic) -> None:
        self._topic = topic
        self._links.use_topic(topic)

    def model(self) -> FocusModel:
        """Return all that a content process needs to judge pages."""
        self._told = (self.lessons, self._topic.generation)
        return FocusModel(self._topic.snapshot(), self._links.snapshot())

    def new_model(self) -> FocusModel | None:
        """Return what is new since the last model; None if nothing is."""
        lessons, generation = self._told
        if self.lessons == lessons:
            return None
        self._told = (self.lessons, self._topic.generation)
        topic = self._topic.snapshot() if self._topic.generation != generation else b""
        return FocusModel(topic, self._links.snapshot())

    def _topic_bytes(self, *, is_last: bool) -> bytes:
        """Return the topic with the words that were observed, as of at most so many pages ago."""
        generation, observations, _ = self._topic_state
        is_old = self._topic.observations - observations >= max(_PAGES_UNSTORED, observations // 16)
        if generation != self._topic.generation or is_old or is_last:
            self._topic_state = (self._topic.generation, self._topic.observations, self._topic.to_bytes())
        return self._topic_state[2]


@contextmanager
def _leaving_out(what: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        logger.warning("What the crawl had learned %s cannot be read, so it is learned anew: %s", what, error)
