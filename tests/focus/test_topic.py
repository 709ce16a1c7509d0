"""A topic judges pages by its examples and by what was observed, and nothing that is read makes it fail."""

from __future__ import annotations

import doctest
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_digest

from crawler.focus import topic as module
from crawler.focus.topic import MAX_EXAMPLES, MAX_SAMPLE, Topic
from tests.focus.pages import bird_pages, screw_pages

BIRDS = Topic.learn(bird_pages(5), query="bird nest")
HOSTILE = [
    "", "\n", "\x00", "\ud800", "\ud800\udc00 bird", "鳥の巣", "𓅃 𓅄", "नीड़ पक्षी", "a" * 10**6, "bird " * 300_000,
    "\u0301\u0301", "\u202ebird", "ﷺ" * 5_000,
]  # fmt: skip


def separation(topic: Topic) -> tuple[float, float]:
    """Return the lowest score of a page on topic, and the highest of one that is not."""
    return min(map(topic.score, bird_pages(40, 7))), max(map(topic.score, screw_pages(40, 8)))


@pytest.mark.parametrize(
    "topic",
    [
        BIRDS,
        Topic.learn(bird_pages(5)),
        Topic.learn(bird_pages(1), query="bird nest"),
        Topic.learn(bird_pages(3), screw_pages(3)),
        Topic.learn(bird_pages(25), screw_pages(25)),
        Topic.learn((), screw_pages(5), query="bird nest wing egg"),
        Topic.learn((), screw_pages(5)),
    ],
    ids=["few", "without query", "one", "both", "many", "negative and query", "negative"],
)
def test_pages_on_topic_score_more_than_others(topic: Topic) -> None:
    on_topic, off_topic = separation(topic)
    assert on_topic > off_topic


@pytest.mark.parametrize(
    "topic",
    [Topic.learn(bird_pages(5), query="bird nest"), Topic.learn(bird_pages(25), screw_pages(25))],
    ids=["few", "many"],
)
def test_half_separates_what_is_on_topic_once_pages_were_observed(topic: Topic) -> None:
    for page in (*screw_pages(48, 3), *bird_pages(16, 4)):
        topic.observe(page)
    on_topic, off_topic = separation(topic)
    assert off_topic < 0.5 < on_topic


def test_credible_pages_complete_a_query() -> None:
    topic = Topic.learn((), query="bird nest wing")
    unmentioned = "flock\nhatch song flock perch egg beak feather species"
    assert topic.score(unmentioned) == topic.score("bolt\nsteel torque")
    for page in (*screw_pages(48, 3), *bird_pages(16, 4)):
        topic.observe(page)
    assert topic.score(unmentioned) > topic.score("bolt\nsteel torque")


@pytest.mark.parametrize(("positive", "negative", "query"), [([], [], ""), ([" "], [], "…"), ([], ["\ud800"], "\x00")])
def test_a_topic_without_anything_to_learn_from_is_refused(
    positive: list[str], negative: list[str], query: str
) -> None:
    with pytest.raises(ValueError, match="nothing to learn from"):
        Topic.learn(positive, negative, query)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text)[:12])
@pytest.mark.parametrize("topic", [BIRDS, Topic.learn(bird_pages(25), screw_pages(25))], ids=["few", "many"])
def test_no_text_makes_a_topic_fail(topic: Topic, text: str) -> None:
    assert 0 <= topic.score(text) <= 1
    assert all(np.isfinite(value) for _, value in topic.explain(text))
    assert len(topic.page_words(text)) <= 2_048
    Topic.from_bytes(topic.to_bytes()).observe(text)
    assert 0 <= Topic.learn([text, "bird"], [text], text).score(text) <= 1


@given(st.binary())
def test_words_that_are_none_are_observed_without_an_error(words: bytes) -> None:
    topic = Topic.from_bytes(BIRDS.to_bytes())
    for _ in range(8):
        topic.observe_words(words)
    assert topic.observations == 8
    assert 0 <= topic.score("bird") <= 1


def test_a_page_of_another_language_scores_little_and_is_learned_alike() -> None:
    topic = Topic.learn(["鳥\n鳥の巣は高い木の上にある", "巣\n鳥は巣で卵を温める"], query="鳥の巣")
    assert topic.score("鳥\n森の鳥の巣") > topic.score("螺子\n鋼の螺子と木の板") >= topic.score("screw\nsteel screw")


def test_a_topic_is_learned_anew_at_doublings_of_what_was_observed() -> None:
    topic = Topic.learn(bird_pages(5), query="bird nest")
    generations = []
    for page in screw_pages(64):
        topic.observe(page)
        generations.append(topic.generation)
    assert [generations.index(generation) + 1 for generation in sorted({*generations})] == [1, 8, 16, 32, 64]
    assert topic.observations == 64


def test_the_words_of_a_page_may_be_counted_in_another_process() -> None:
    topics = [Topic.learn(bird_pages(5), query="bird nest") for _ in range(2)]
    for page in screw_pages(20):
        topics[0].observe(page)
        topics[1].observe_words(BIRDS.page_words(page))
    assert topics[0].to_bytes() == topics[1].to_bytes()


def test_equal_input_gives_an_equal_topic_in_every_process() -> None:
    program = (
        "import hashlib\nfrom crawler.focus.topic import Topic\nfrom tests.focus.pages import bird_pages, screw_pages\n"
        "topic = Topic.learn(bird_pages(25), screw_pages(25), 'bird nest')\n"
        "for page in screw_pages(20): topic.observe(page)\n"
        "print(hashlib.sha256(topic.to_bytes()).hexdigest())"
    )
    root = Path(__file__).resolve().parents[2]
    found = {
        subprocess.run(
            [sys.executable, "-c", program], cwd=root, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


@pytest.mark.parametrize("observed", [0, 30])
def test_a_topic_comes_back_from_its_bytes(observed: int) -> None:
    topic = Topic.learn(bird_pages(5), screw_pages(3), "bird nest")
    for page in screw_pages(observed):
        topic.observe(page)
    again = Topic.from_bytes(topic.to_bytes())
    assert again.to_bytes() == topic.to_bytes()
    for page in (*bird_pages(40, 9), *screw_pages(40, 10)):
        assert again.score(page) == topic.score(page)
        again.observe(page)
        topic.observe(page)
    assert again.to_bytes() == topic.to_bytes()
    assert again.generation == topic.generation


def test_damaged_bytes_are_refused() -> None:
    data = BIRDS.to_bytes()
    for damaged in (b"", data[:9], data[:-1], data[:60] + b"!" + data[61:], b"topic 0\n" + data[8:]):
        with pytest.raises(ValueError, match=r"topic"):
            Topic.from_bytes(damaged)


def test_bytes_with_another_content_are_refused() -> None:
    for packed in (b"?", zlib.compress(b"\x80")):
        with pytest.raises(ValueError, match="another version"):
            Topic.from_bytes(b"topic 1\n" + xxh3_64_digest(packed) + packed)


def test_a_snapshot_scores_the_same_and_observes_nothing() -> None:
    topic = Topic.learn(bird_pages(300), screw_pages(300), "bird nest")
    copy = Topic.from_bytes(topic.snapshot())
    page = bird_pages(1, 5)[0]
    assert (copy.score(page), copy.explain(page)) == (topic.score(page), topic.explain(page))
    assert (copy.word_weight("wing"), copy.query_words) == (topic.word_weight("wing"), {"bird", "nest"})
    copy.observe(page)
    assert (copy.observations, copy.generation) == (0, topic.generation)
    assert len(topic.snapshot()) < 1_000_000
    with pytest.raises(ValueError, match="no examples"):
        topic.with_examples_of(copy)


def test_reviewed_pages_become_examples() -> None:
    topic = Topic.learn(bird_pages(2), query="bird")
    doubtful = "song\nsong song head thread head song"
    before = topic.score(doubtful)
    assert topic.with_examples([doubtful]).score(doubtful) > before
    assert topic.with_examples([], [doubtful]).score(doubtful) < before
    assert topic.score(doubtful) == before


def test_new_examples_keep_what_was_observed() -> None:
    crawled = Topic.learn(bird_pages(5), query="bird")
    for page in screw_pages(40):
        crawled.observe(page)
    trained = Topic.learn(screw_pages(5), query="screw")
    merged = crawled.with_examples_of(trained)
    assert merged.query_words == {"screw"}
    assert merged.observations == 40
    assert merged.generation > crawled.generation
    assert merged.score(screw_pages(1, 9)[0]) > 0.5 > merged.score(bird_pages(1, 9)[0])


def test_words_are_weighed() -> None:
    topic = Topic.learn(bird_pages(5), query="Bird nests")
    assert topic.query_words == {"bird", "nests"}
    assert topic.word_weight("nests") > 0.3
    assert topic.word_weight("wing") > 0
    assert topic.word_weight("unheard-of") == 0
    assert topic.word_weights(["nests", "?"]).tolist() == [topic.word_weight("nests"), 0.0]
    for page in screw_pages(16):
        topic.observe(page)
    assert topic.word_weight("wing") > 3 * topic.word_weight("the") > 0
    telling = [word for word, _ in topic.telling_words(5)]
    assert {"bird", "nests"} <= {*telling}
    assert "the" not in telling
    unlike = Topic.learn((), screw_pages(5)).telling_words(20)
    assert all(weight < 0 for _, weight in unlike)
    assert "screw" in {word for word, _ in unlike}


def test_explained_words_are_those_of_the_text_and_the_strongest_come_first() -> None:
    explained = Topic.learn(bird_pages(25), screw_pages(25)).explain("Wing\nA bird and a screw, unheard")
    assert {word for word, _ in explained} <= {"wing", "a", "bird", "and", "screw"}
    values = dict(explained)
    assert values["bird"] > 0 > values["screw"]
    assert [abs(value) for _, value in explained] == sorted((abs(value) for _, value in explained), reverse=True)


@pytest.mark.parametrize("count", [5, 25])
def test_examples_that_do_not_fit_are_seen(count: int) -> None:
    topic = Topic.learn([*bird_pages(count), screw_pages(1, 5)[0]], [*screw_pages(count), bird_pages(1, 6)[0]])
    scores = topic.example_scores()
    assert len(scores.positive) == len(scores.negative) == count + 1
    assert scores.positive[-1] < min(0.5, *scores.positive[:-1])
    assert scores.negative[-1] > max(scores.negative[:-1])


def test_memory_is_bounded() -> None:
    topic = Topic.learn((f"bird {number}" for number in range(MAX_EXAMPLES + 50)), query="bird")
    assert len(topic.example_scores().positive) == MAX_EXAMPLES
    for number in range(MAX_SAMPLE + 100):
        topic.observe(" ".join(f"w{number * 400 + word}" for word in range(400)))
    assert topic.observations == MAX_SAMPLE + 100
    assert len(topic.to_bytes()) < 4_000_000


def test_the_examples_in_docstrings_are_true() -> None:
    assert doctest.testmod(module).failed == 0
