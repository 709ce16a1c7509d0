"""The role `focus`: URLs of a focused crawl wait where the worth of the links to them puts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from crawler.items import Key


class CommitLearner(Protocol):
    """Learns during commits what links are worth and which words are frequent. Belongs to the store's thread."""

    def learn(self, evidences: Sequence[bytes], rewards: Sequence[float]) -> None:
        """Take in what the targets of links turned out to be."""

    def observe(self, words: bytes) -> None:
        """Take in the words of a page that was fetched."""

    def rescore(self, evidences: Sequence[bytes]) -> Sequence[float]:
        """Return what links are worth by all that was learned."""

    def merge(self, first: Sequence[bytes], second: Sequence[bytes]) -> Sequence[bytes]:
        """Return the evidences of URLs to each of which there are two links."""

    def url_evidence(self, url: str) -> bytes:
        """Return the evidence of a URL to which no link is known."""

    def states(self, *, is_last: bool = False) -> Mapping[str, bytes]:
        """Return all that this worker has learned, in parts; what is costly may be of some pages ago, but the last."""

    def load_states(self, own: Mapping[str, bytes], others: Sequence[Mapping[str, bytes]]) -> None:
        """Take in what this worker and the others have learned."""


class LinkEvidence(NamedTuple):
    """What is known of a URL that waits for its first visit."""

    score: float  # when it was last computed
    evidence: bytes


class WaitingPlace(NamedTuple):
    """A place in the queue of a host, from which scores are computed again."""

    level: int = 0
    step: int = 0
    due: float = 0.0
    id: int = 0  # of the URL


class RescoredUrls(NamedTuple):
    """The result of scoring waiting URLs of a host again."""

    urls: int
    moved: int  # of these, URLs that wait in another place now
    next: WaitingPlace | None  # where to go on; None = all of the host were scored


class FocusStore(Protocol):
    """Keeps the evidence about waiting URLs, and what each worker has learned."""

    def begin(self, learner: CommitLearner, slot: int) -> None:
        """From now on place URLs by the worth of their links, and teach the learner by each commit.

        It is given first what the worker of this slot, and the others, learned before.
        """

    def save(self, *, is_last: bool = False) -> None:
        """Store what the learner has learned, if that is more than was stored; take in what others have."""

    def evidence(self, key: Key) -> LinkEvidence | None:
        """Return what is known of a URL that waits for its first visit; None if that is nothing."""

    def states(self) -> Mapping[int, Mapping[str, bytes]]:
        """Return what each worker had learned when it last stored that, by slot, in parts."""

    def rescore(self, host: int, after: WaitingPlace, most: int, now: float) -> RescoredUrls:
        """Score waiting URLs of a host again, `most` from a place on, and move those whose place changes."""

    def next_hosts(self, owner: str, now: float, most: int) -> list[int]:
        """Return the hosts of a worker that are due next, by level."""

    def place_waiting(self, after: int, most: int, now: float) -> int | None:
        """Place waiting URLs without evidence, in the order of their numbers, by what the URLs themselves say.

        Returns the number of the last one; None if there are no more.
        """

    def forget(self, now: float) -> None:
        """Drop all evidence and all that was learned, and put URLs back where an unfocused crawl has them.

        Takes several transactions; after an interruption it must be repeated.
        """
