"""Is a page on topic? Learned from a query, from examples, and from the unlabelled pages that a crawl has fetched.

A score is calibrated: .5 means as likely on topic as not. The topic is learned anew whenever the number of observed
pages has doubled, since by then the frequencies of words have changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from crawler.focus.classifier import TopicExamples, TopicModel, fit_topic
from crawler.focus.topic_bytes import TopicKnowledge, read_topic, write_topic
from crawler.focus.word_frequencies import WordFrequencies
from crawler.focus.words import WordCounts, count_words, word_number, words_of_text

MAX_EXAMPLES: Final = 1_000  # of each kind
MAX_NAMES: Final = 20_000  # words of the examples that are kept by name
MAX_OBSERVED_WORDS: Final = 512  # distinct words of an observed page that count: the most frequent ones
MAX_SAMPLE: Final = 512  # observed pages whose words are kept
_FIRST_LESSON: Final = 8  # observed pages after which the topic is learned anew for the first time
_MAX_CACHED: Final = 1 << 15  # words whose weight is in memory by name
_HASH_RANGE: Final = 1 << 64


class ExampleScores(NamedTuple):
    """How likely each example is on topic, judged by the query and the other examples."""

    positive: list[float]
    negative: list[float]


class Topic:
    """Judges pages by a query and examples, and by the pages observed since."""

    def __init__(self, examples: TopicExamples, frequencies: WordFrequencies, sample: Sequence[bytes] = ()) -> None:
        self.generation = 0
        self._query = list(examples.query)
        self.query_words = frozenset(self._query)  # as the topic's own tokenizer gives them
        self._examples: TopicExamples | None = examples
        self._frequencies = frequencies
        self._sample = list(sample)
        self._learn_again()

    @classmethod
    def learn(cls, positive: Iterable[str], negative: Iterable[str] = (), query: str = "") -> Self:
        """Learn a topic; raises ValueError if neither the query nor an example has a word.

        >>> topic = Topic.learn(["The gull\\nA gull is a bird that nests on cliffs"], query="birds nest")
        >>> topic.score("The tern\\nTerns are birds that nest on cliffs") > topic.score("The bolt\\nIt is of steel")
        True
        """
        examples = TopicExamples([], [], list(dict.fromkeys(words_of_text(query))), [])
        examples = _with_texts(examples, positive, negative)
        if not examples.query and not examples.positive and not examples.negative:
            raise ValueError("nothing to learn from: neither the query nor an example has a word")
        return cls(examples, WordFrequencies())

    def with_examples(self, positive: Iterable[str], negative: Iterable[str] = ()) -> Self:
        """Return a topic that knows more examples, such as pages that a person has reviewed."""
        return self._with(_with_texts(self._known_examples(), positive, negative))

    def with_examples_of(self, other: Topic) -> Self:
        """Return a topic with the examples and the query of another one, and the pages observed by this one."""
        return self._with(other._known_examples())

    def _with(self, examples: TopicExamples) -> Self:
        frequencies = WordFrequencies(self._frequencies.pages, self._frequencies.counts)
        topic = type(self)(examples, frequencies, self._sample)
        topic.generation = self.generation + 1
        return topic

    def _known_examples(self) -> TopicExamples:
        if self._examples is None:
            raise ValueError("this is a copy of a topic that can only score: it has no examples")
        return self._examples

    # ── Judging ──

    def score(self, text: str) -> float:
        """Return how likely a page is on topic, from 0 to 1; its text is title, newline, main text."""
        return self._model.score(count_words(text))

    def judge(self, text: str) -> tuple[float, bytes]:
        """Return `score` and `page_words` of a text, whose words are counted once."""
        words = count_words(text)
        return self._model.score(words), _packed(words)

    def explain(self, text: str) -> list[tuple[str, float]]:
        """Return the words of a text that count, each with what it adds to the log odds, strongest first."""
        return self._model.explain(text)

    def word_weight(self, word: str) -> float:
        """Return how much a single word speaks for the topic, from -1 to 1; 0 for a word that is not known."""
        weight = self._word_weights.get(word)
        if weight is None:
            weight = self._weight_of_number.get(word_number(word), 0.0)
            if len(self._word_weights) < _MAX_CACHED:
                self._word_weights[word] = weight
        return weight

    def word_weights(self, words: Iterable[str]) -> NDArray[np.float64]:
        return np.fromiter(map(self.word_weight, words), np.float64)

    @property
    def weights_by_number(self) -> Mapping[int, float]:
        """The weights of single words by their numbers, of those that have one."""
        return self._weight_of_number

    def telling_words(self, count: int) -> list[tuple[str, float]]:
        """Return the words of query and examples that speak most for the topic, or if none does, against it."""
        names = dict.fromkeys([*self._known_examples().query, *self._known_examples().names])
        weights = sorted(((name, self.word_weight(name)) for name in names), key=lambda pair: (-abs(pair[1]), pair[0]))
        return ([pair for pair in weights if pair[1] > 0] or weights)[:count]

    def example_scores(self) -> ExampleScores:
        """Return the score that each example would have if it were not one."""
        examples = self._known_examples()
        scores = fit_topic(examples, self._frequencies, self._sample_words()).held_out_scores()
        return ExampleScores(scores[: len(examples.positive)], scores[len(examples.positive) :])

    # ── Observing ──

    @property
    def observations(self) -> int:
        """The number of pages observed."""
        return self._frequencies.pages

    def page_words(self, text: str) -> bytes:
        """Return the counted words of a page, at most 2 KB, for `observe_words` in another process."""
        return _packed(count_words(text))

    def observe(self, text: str) -> None:
        """Count a fetched page, of which nobody has said whether it is on topic."""
        self.observe_words(self.page_words(text))

    def observe_words(self, words: bytes) -> None:
        """Count a page by what `page_words` returned; a copy made by `snapshot` ignores it."""
        if self._examples is None:
            return
        words = words[: 4 * MAX_OBSERVED_WORDS]
        self._frequencies.observe(WordCounts.from_bytes(words).numbers.tolist())
        self._keep_in_sample(words)
        if self.observations >= _FIRST_LESSON and not self.observations & (self.observations - 1):
            self._learn_again()

    def _keep_in_sample(self, words: bytes) -> None:
        """Keep each observed page with the same probability, decided by its number (reservoir sampling)."""
        if len(self._sample) < MAX_SAMPLE:
            self._sample.append(words)
            return
        drawn = xxh3_64_intdigest(self.observations.to_bytes(8, "little")) * self.observations // _HASH_RANGE
        if drawn < MAX_SAMPLE:
            self._sample[drawn] = words

    # ── Learning and storing ──

    def _learn_again(self) -> None:
        assert self._examples is not None
        self.generation += 1
        self._use(fit_topic(self._examples, self._frequencies, self._sample_words()).model)

    def _sample_words(self) -> list[WordCounts]:
        return [WordCounts.from_bytes(words) for words in self._sample]

    def _use(self, model: TopicModel) -> None:
        self._model = model
        self._weight_of_number = model.word_weights()
        self._word_weights: dict[str, float] = {}

    def to_bytes(self) -> bytes:
        """Return everything that the topic knows."""
        frequencies = self._frequencies
        known = TopicKnowledge(self._model, self.generation, self._query, self._examples, frequencies, self._sample)
        return write_topic(known)

    def snapshot(self) -> bytes:
        """Return what scoring needs, for another process; less than 1 MB."""
        return write_topic(TopicKnowledge(self._model, self.generation, self._query, None, WordFrequencies(), []))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` or `snapshot` returned; raises ValueError if that is damaged."""
        known = read_topic(data)
        topic = cls.__new__(cls)
        topic.generation, topic._query, topic._examples = known.generation, list(known.query), known.examples
        topic.query_words = frozenset(topic._query)
        topic._frequencies, topic._sample = known.frequencies, list(known.sample)
        topic._use(known.model)
        return topic


def _with_texts(examples: TopicExamples, positive: Iterable[str], negative: Iterable[str]) -> TopicExamples:
    """Add texts to examples, up to the most of each kind; one without words teaches nothing."""
    names = dict.fromkeys(examples.names)
    kinds: list[list[WordCounts]] = []
    for known, texts in ((examples.positive, positive), (examples.negative, negative)):
        kinds.append(list(known))
        for text in islice(texts, MAX_EXAMPLES - len(known)):
            words = count_words(text)
            if len(words.numbers):
                kinds[-1].append(words)
                names.update(dict.fromkeys(words_of_text(text)))
    return TopicExamples(kinds[0], kinds[1], examples.query, list(islice(names, MAX_NAMES)))


def _packed(words: WordCounts) -> bytes:
    return words.most_frequent(MAX_OBSERVED_WORDS).to_bytes()
