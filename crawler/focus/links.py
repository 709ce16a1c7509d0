"""What is a link worth? The score of a link: how likely the page that it leads to is on topic.

It is a logistic model over facts about the link: what the topic says of its words, how relevant the pages are that link
there, and what pages turned out to be that came from there before. Content processes score links by a snapshot; the
crawl process learns from the relevance of each fetched page, and never sees a text.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple, Protocol

import numpy as np

from crawler.focus.evidence import (
    EVIDENCE,
    EVIDENCE_BYTES,
    LINK_WORDS,
    Evidences,
    is_evidence,
    merge_evidences,
    pack_evidence,
    unpack_evidences,
)
from crawler.focus.link_facts import FACTS, Matrix
from crawler.focus.link_learner import LinkLearner
from crawler.focus.topic import Topic
from crawler.focus.url_parts import key_of, split_url
from crawler.focus.words import numbers_of_run, numbers_of_text, runs_of_short_texts, word_numbers

_MOST_CACHED: Final = 1 << 16  # links, and runs of characters, whose words are kept in memory
_LONGEST_TEXT: Final = 1_000  # characters of an anchor, or around a link, that are read
_POSITIONS: Final = {"content": 0, "navigation": 1, "footer": 2}
_KEY_SHIFT: Final = 28 - 16  # from numbers of words to keys in a yield table


class ScoredPage(Protocol):
    """A fetched page with its relevance."""

    @property
    def url(self) -> str: ...
    @property
    def score(self) -> float: ...


class ScoredLink(Protocol):
    """A link of that page."""

    @property
    def url(self) -> str: ...
    @property
    def anchor(self) -> str: ...
    @property
    def position(self) -> str: ...
    @property
    def around(self) -> str: ...


class Worth(NamedTuple):
    """The score of a link from 0 to 1, and the evidence for it."""

    score: float
    evidence: bytes


class LinkScorer:
    """Scores links by a topic and by what the crawl has learned."""

    def __init__(self, topic: Topic, ignored: Collection[str] = ()) -> None:
        """Begin with the prior weights; `ignored` are facts that do not count, to measure what they add."""
        self._topic = topic
        self._generation = -1
        self._own = self._all = LinkLearner(ignored)  # all: together with other workers

    def use_topic(self, topic: Topic) -> None:
        """Score by another topic, or another copy of it, from now on; what was learned of links stays."""
        self._topic, self._generation = topic, -1

    # ── Scoring ──

    def score(self, page: ScoredPage, links: Sequence[ScoredLink]) -> list[Worth]:
        """Score the links of a page."""
        evidences = self._evidences(page, links)
        packed, size = evidences.tobytes(), EVIDENCE_BYTES
        scores = self._scores(evidences).tolist()
        return [Worth(score, packed[at * size : at * size + size]) for at, score in enumerate(scores)]

    def score_packed(self, page: ScoredPage, links: Sequence[ScoredLink]) -> tuple[bytes, bytes]:
        """Score the links of a page: the scores as 32-bit floats, and the evidences, joined in the order of links."""
        evidences = self._evidences(page, links)
        return self._scores(evidences).astype("<f4").tobytes(), evidences.tobytes()

    def rescore(self, evidences: Sequence[bytes]) -> list[float]:
        """Score links again from their evidence, by what has been learned since."""
        scores: list[float] = self._scores(unpack_evidences(evidences)).tolist()
        return scores

    def explain(self, evidence: bytes) -> dict[str, float]:
        """Return how much each fact adds to the log-odds of a link's score."""
        facts = self._all.facts(unpack_evidences([evidence]))[0]
        return dict(zip(FACTS, (facts * self._all.weights.mean).tolist(), strict=True))

    def merge(self, first: bytes, second: bytes) -> bytes:
        """Merge the evidences of two links to one URL."""
        [merged] = self.merge_all([first], [second])
        return merged

    def merge_all(self, first: Sequence[bytes], second: Sequence[bytes]) -> list[bytes]:
        """Merge the evidences of two links each to many URLs: a pair costs 3 µs, alone 150."""
        both = unpack_evidences([*first, *second])
        one, two = both[: len(first)], both[len(first) :]
        scores = self._scores(both)
        is_second_better = scores[len(first) :] > scores[: len(first)]
        merged = merge_evidences(np.where(is_second_better, two, one), np.where(is_second_better, one, two))
        packed, size = merged.tobytes(), EVIDENCE_BYTES
        return [packed[at : at + size] for at in range(0, len(packed), size)]

    def _scores(self, evidences: Evidences) -> Matrix:
        return self._all.scores(evidences)

    # ── Learning ──

    @property
    def rewards(self) -> int:
        """The number of fetched pages that this worker has learned from."""
        return self._own.weights.pages

    @property
    def mean_reward(self) -> float:
        """The mean relevance of the pages that were learned from lately, by all workers."""
        return self._all.mean_reward

    def learn(self, evidence: bytes, reward: float) -> None:
        """Learn what the target of a link turned out to be: its relevance from 0 to 1."""
        self.learn_all([evidence], [reward])

    def learn_all(self, evidences: Sequence[bytes], rewards: Sequence[float]) -> None:
        """Learn from several pages at once: one costs 60 µs, alone 180."""
        found = [
            (evidence, min(max(float(reward), 0.0), 1.0))
            for evidence, reward in zip(evidences, rewards, strict=True)
            if is_evidence(evidence) and not math.isnan(reward)
        ]
        if not found:
            return
        unpacked, of_pages = unpack_evidences([evidence for evidence, _ in found]), [reward for _, reward in found]
        promised = self._all.learn(unpacked, of_pages)
        if self._own is not self._all:
            self._own.count(unpacked, of_pages, promised)

    def snapshot(self) -> bytes:
        """Return what `score` needs, for `restore` in another process: at most 1 MB."""
        return self._all.to_bytes()

    def restore(self, snapshot: bytes) -> None:
        """Score by this snapshot from now on; raises ValueError if it is damaged."""
        self._own = self._all = LinkLearner.from_bytes(snapshot)

    def state(self) -> bytes:
        """Return what this worker has learned."""
        return self._own.to_bytes()

    def load_state(self, own: bytes, others: Sequence[bytes] = ()) -> None:
        """Go on with what this worker had learned and what others have; raises ValueError if that is damaged."""
        self._own = self._all = LinkLearner.from_bytes(own)
        if others:
            self._all = self._own.joined_with([LinkLearner.from_bytes(other) for other in others])

    # ── Evidence ──

    def url_evidence(self, url: str) -> bytes:
        """Return the evidence of a URL to which no link is known, or none whose page was scored."""
        self._follow_topic()
        return self._known.get(("", url)) or self._describe("", url)

    def _evidences(self, page: ScoredPage, links: Sequence[ScoredLink]) -> Evidences:
        self._follow_topic()
        known = self._known
        packed = b"".join(
            [known.get((link.anchor, link.url)) or self._describe(link.anchor, link.url) for link in links]
        )
        evidences = np.frombuffer(packed, EVIDENCE).copy()
        relevance = min(max(page.score, 0.0), 1.0) if page.score == page.score else 0.0
        evidences["position"] = [_POSITIONS.get(link.position, 0) for link in links]
        evidences["around"] = self._weights_around([link.around for link in links])
        evidences["best"] = evidences["total"] = relevance
        evidences["links"] = 1
        evidences["sources"][:, 0] = key_of(page.url)
        return evidences

    def _follow_topic(self) -> None:
        """When the topic was learned anew, forget what it said of words before."""
        if self._generation == self._topic.generation:
            return
        self._generation = self._topic.generation
        self._weights = self._topic.weights_by_number
        self._query = frozenset(word_numbers(self._topic.query_words).tolist())
        self._run_weights = _RunWeights(self._weights)
        self._known: dict[tuple[str, str], bytes] = {}

    def _describe(self, anchor: str, url: str) -> bytes:
        """Return the evidence of a link without that of its page."""
        parts = split_url(url)
        in_anchor = dict.fromkeys(numbers_of_text(anchor[:_LONGEST_TEXT]))
        in_url = dict.fromkeys(numbers_of_text(parts.words))
        keys = [
            number >> _KEY_SHIFT or 1 for number in islice(dict.fromkeys([*in_anchor, *reversed(in_url)]), LINK_WORDS)
        ]
        packed = pack_evidence(
            query_in_anchor=len(self._query.intersection(in_anchor)),
            query_in_url=len(self._query.intersection(in_url)),
            anchor=self._weight(in_anchor),
            url=self._weight(in_url),
            sections=parts.sections,
            words=keys,
        )
        if len(self._known) >= _MOST_CACHED:
            self._known.clear()
        self._known[anchor, url] = packed
        return packed

    def _weight(self, numbers: Collection[int]) -> float:
        weights = self._weights
        return sum([weights.get(number, 0.0) for number in numbers]) / math.sqrt(len(numbers) or 1)

    def _weights_around(self, texts: Sequence[str]) -> list[float]:
        weight_of = self._run_weights.__getitem__
        return [
            sum(map(weight_of, runs)) / math.sqrt(len(runs)) if runs else 0.0
            for runs in runs_of_short_texts(texts, _LONGEST_TEXT)
        ]


class _RunWeights(dict[bytes, float]):
    """The weights of runs of characters, kept in memory."""

    def __init__(self, weights: Mapping[int, float]) -> None:
        super().__init__()
        self._weights = weights

    def __missing__(self, run: bytes) -> float:
        if len(self) >= _MOST_CACHED:
            self.clear()
        weight = self[run] = sum([self._weights.get(number, 0.0) for number in numbers_of_run(run)])
        return weight
