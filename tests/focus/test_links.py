"""Links are scored by the topic at first, and by what the crawl has found as it goes on."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.focus.evidence import EVIDENCE_BYTES
from crawler.focus.link_facts import FACTS
from crawler.focus.links import LinkScorer
from crawler.focus.topic import Topic
from crawler.parse.links import HtmlLink, Position
from tests.focus.sample_links import Link, Page, evidence, scorer, scores, topic

ODD_TEXTS = ["", "\0", "\ud800 bird", "鳥の巣", "पक्षी", "bird " * 200_000, "x" * 1_000_000, " … ", "\N{BIRD}"]
ODD_URLS = ["", "no URL", "mailto:a@b.example", "http://", "https://[::1", "https://a.example/%ff%00/\ud800", "//a/b"]


# ── Scores ──


def test_the_words_of_the_topic_lead_before_anything_is_learned() -> None:
    off, in_url, in_anchor = scores(
        scorer(),
        [
            Link("https://a.example/1", "tax law"),
            Link("https://a.example/bird-nest", "more"),
            Link("https://a.example/2", "nest of birds"),
        ],
    )
    assert 0 < off < in_url < 1
    assert off < in_anchor


def test_links_of_relevant_pages_score_higher() -> None:
    link = [Link("https://a.example/1", "more")]
    assert scores(scorer(), link, Page(score=0.9)) > scores(scorer(), link, Page(score=0.1))


def test_words_around_a_link_count() -> None:
    bare, around = scores(
        scorer(), [Link("https://a.example/1"), Link("https://a.example/1", "", around="wings … bird")]
    )
    assert around > bare


def test_links_as_they_are_extracted_are_scored() -> None:
    [worth] = scorer().score(Page(), [HtmlLink("https://a.example/", "birds", "", "a", Position.NAVIGATION, "a … b")])
    assert 0 < worth.score < 1
    assert len(worth.evidence) == EVIDENCE_BYTES <= 96


def test_packed_scores_are_the_scores() -> None:
    links = [Link(f"https://a.example/{number}", word) for number, word in enumerate(["bird", "law", "nest"])]
    packed, evidences = scorer().score_packed(Page(), links)
    worths = scorer().score(Page(), links)
    assert struct.unpack("<3f", packed) == pytest.approx([worth.score for worth in worths])
    assert evidences == b"".join(worth.evidence for worth in worths)
    assert scorer().score_packed(Page(), []) == (b"", b"")
    assert scorer().score(Page(), []) == []


def test_scores_from_evidence_alone_are_the_scores() -> None:
    one = scorer()
    worths = one.score(Page(), [Link("https://a.example/birds", "bird"), Link("https://b.example/", "law")])
    assert one.rescore([worth.evidence for worth in worths]) == [worth.score for worth in worths]


def test_an_explanation_adds_up_to_the_score() -> None:
    one = scorer()
    learn_birds(one)
    [worth] = one.score(Page(), [Link("https://a.example/birds/gull", "gull", around="wings … nest")])
    parts = one.explain(worth.evidence)
    assert set(parts) == set(FACTS)
    assert 1 / (1 + math.exp(-sum(parts.values()))) == pytest.approx(worth.score)


def test_a_topic_that_was_learned_anew_is_followed() -> None:
    its_topic = topic()
    one = LinkScorer(its_topic)
    link = [Link("https://a.example/1", "the sparrow")]
    before = scores(one, link)
    for _ in range(64):
        its_topic.observe("the law and the tax of the land")
    assert its_topic.generation > 1
    assert scores(one, link) != before
    assert scores(one, link) == scores(LinkScorer(its_topic), link)


def test_another_topic_may_be_used() -> None:
    one, other = scorer(), Topic.learn((), query="tax law")
    link = [Link("https://a.example/1", "tax law")]
    scores(one, link)
    one.use_topic(other)
    assert scores(one, link) == scores(LinkScorer(other), link)


# ── Learning ──


def learn_birds(one: LinkScorer) -> None:
    for number in range(60):
        one.learn(evidence(one, f"https://a.example/zoo/{number}", "animal", page=Page("https://hub.example/")), 0.9)
        one.learn(evidence(one, f"https://a.example/law/{number}", "paragraph", page=Page("https://tax.example/")), 0.1)


def test_sections_sources_and_words_are_learned() -> None:
    one = scorer()
    learn_birds(one)
    section = scores(one, [Link("https://a.example/zoo/x", "more"), Link("https://a.example/law/x", "more")])
    word = scores(one, [Link("https://c.example/", "animal"), Link("https://c.example/", "paragraph")])
    from_hub = scores(one, [Link("https://c.example/")], Page("https://hub.example/"))
    from_tax = scores(one, [Link("https://c.example/")], Page("https://tax.example/"))
    assert section[0] > section[1]
    assert word[0] > word[1]
    assert from_hub > from_tax


def test_what_was_learned_changes_the_scores_of_waiting_urls() -> None:
    one = scorer()
    waiting = [evidence(one, f"https://a.example/{name}/z") for name in ("law", "zoo")]
    before = one.rescore(waiting)
    learn_birds(one)
    after = one.rescore(waiting)
    assert before[0] == pytest.approx(before[1])
    assert after[0] < after[1]


@pytest.mark.parametrize("host_relevance", [0.0, 0.05])
def test_a_host_whose_links_deceive_sinks_below_all_others(host_relevance: float) -> None:
    """Its links look best; their pages are off topic, while elsewhere one of five is on topic."""
    one, chance = scorer(), Random(7)
    for number in range(100):
        trap = evidence(one, f"https://trap.example/birds/nest-{number}", "birds nest wings", page=Page(score=0.9))
        one.learn(trap, host_relevance)
        if number % 5 == 0:
            other = evidence(one, f"https://h{number}.example/page", "page", page=Page(f"https://s{number}.example/"))
            one.learn(other, 0.9 if chance.random() < 0.2 else 0.1)
    [trap] = scores(one, [Link("https://trap.example/birds/nest-x", "birds nest wings")], Page(score=0.9))
    [fresh] = scores(one, [Link("https://fresh.example/page", "page")], Page("https://other.example/"))
    assert trap < fresh
    if not host_relevance:
        assert trap < 0.009  # the last of eight levels of log-odds


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf, -3.0, 12.0])
def test_odd_rewards_are_ignored_or_clipped(reward: float) -> None:
    one, other = scorer(), scorer()
    known = evidence(one, "https://a.example/", "bird")
    one.learn(known, reward)
    if not math.isnan(reward):
        other.learn(known, min(max(reward, 0.0), 1.0))
    assert one.state() == other.state()


@given(st.one_of(st.binary(max_size=2 * EVIDENCE_BYTES), st.binary(min_size=EVIDENCE_BYTES, max_size=EVIDENCE_BYTES)))
def test_any_bytes_may_be_given_as_evidence(data: bytes) -> None:
    one = scorer()
    marked = b"\1" + data[1:]
    for odd in (data, marked, data[: EVIDENCE_BYTES // 2]):
        one.learn(odd, 0.5)
        [score] = one.rescore([odd])
        assert 0 < score < 1
        assert all(math.isfinite(part) for part in one.explain(odd).values())
        assert len(one.merge(odd, data)) == EVIDENCE_BYTES


@pytest.mark.parametrize("text", ODD_TEXTS, ids=lambda text: ascii(text[:10]))
def test_any_text_may_be_an_anchor(text: str) -> None:
    [score] = scores(scorer(), [Link("https://a.example/", text, around=text)])
    assert 0 < score < 1


@pytest.mark.parametrize("url", [*ODD_URLS, "https://a.example/" + "a/" * 500_000])
@pytest.mark.parametrize("relevance", [0.5, math.nan, math.inf, -1.0])
def test_any_text_may_be_a_url(url: str, relevance: float) -> None:
    one = scorer()
    [worth] = one.score(Page(url, score=relevance), [Link(url, "bird", position="nowhere")])
    assert 0 < worth.score < 1
    assert len(one.url_evidence(url)) == EVIDENCE_BYTES


def test_a_url_alone_has_evidence() -> None:
    one = scorer()
    birds, law = one.rescore(
        [one.url_evidence("https://a.example/bird-nest"), one.url_evidence("https://a.example/law")]
    )
    assert birds > law


# ── Merging ──


def test_merging_takes_the_better_words_and_counts_all_pages() -> None:
    one = scorer()
    plain = evidence(one, "https://a.example/", "more", page=Page("https://x.example/", score=0.1))
    good = evidence(one, "https://a.example/", "birds", page=Page("https://y.example/", score=0.8))
    merged = one.merge(plain, good)
    assert merged == one.merge(good, plain)
    before, after = one.explain(good), one.explain(merged)
    assert after["anchor"] == before["anchor"]
    assert after["best page"] == before["best page"]
    assert after["links"] > before["links"] == 0


def test_a_page_counts_once_for_a_link() -> None:
    one = scorer()
    known = evidence(one, "https://a.example/", "bird")
    assert one.merge(known, known) == known
    nothing = one.url_evidence("https://a.example/")
    assert one.merge(nothing, known) == one.merge(known, nothing)
    assert one.explain(one.merge(known, nothing))["links"] == 0


def test_many_are_merged_as_one_is() -> None:
    one = scorer()
    pages = [Page(f"https://p{number}.example/", score=number / 10) for number in range(8)]
    rows = [
        evidence(one, "https://a.example/", "bird nest"[: number + 2], page=page) for number, page in enumerate(pages)
    ]
    assert one.merge_all(rows, rows[::-1]) == [one.merge(a, b) for a, b in zip(rows, rows[::-1], strict=True)]
    assert one.merge_all([], []) == []


# ── Snapshots and states ──


def test_a_snapshot_scores_as_the_learner_does() -> None:
    learner, other = scorer(), scorer()
    learn_birds(learner)
    snapshot = learner.snapshot()
    assert len(snapshot) <= 1_000_000
    other.restore(snapshot)
    links = [Link("https://a.example/zoo/x", "animal"), Link("https://a.example/law/x", "bird")]
    assert scores(other, links) == scores(learner, links)


def test_a_full_snapshot_is_below_a_megabyte() -> None:
    learner, chance = scorer(), Random(1)
    full = [
        evidence(learner, f"https://h{chance.random()}.example/a/b/c/d/e", f"w{chance.random()} bird") for _ in range(4)
    ]
    for _ in range(6_000):
        learner.learn(full[0][:12] + chance.randbytes(EVIDENCE_BYTES - 12), 0.5)
    assert 500_000 < len(learner.snapshot()) <= 1_000_000


def test_a_worker_goes_on_where_it_stopped() -> None:
    stopped, again, always = scorer(), scorer(), scorer()
    learn_birds(stopped)
    again.load_state(stopped.state())
    learn_birds(again)
    learn_birds(always)
    learn_birds(always)
    assert again.rewards == always.rewards == 240
    assert again.state() == always.state()


def test_workers_add_their_counts_and_average_their_weights() -> None:
    one, two, joined = scorer(), scorer(), scorer()
    for number in range(40):
        one.learn(evidence(one, f"https://a.example/zoo/{number}", "animal"), 0.9)
        two.learn(evidence(two, f"https://a.example/law/{number}", "paragraph"), 0.1)
    joined.load_state(one.state(), [two.state()])
    assert joined.rewards == one.rewards == 40
    links = [Link("https://a.example/zoo/x", "animal"), Link("https://a.example/law/x", "paragraph")]
    alone, together = scores(one, links), scores(joined, links)
    assert together[0] / together[1] > alone[0] / alone[1]


def test_what_others_learned_is_not_counted_as_ones_own() -> None:
    one, two = scorer(), scorer()
    learn_birds(two)
    known = evidence(one, "https://a.example/zoo/1", "animal")
    one.learn(known, 0.9)
    size = len(one.state())
    one.load_state(one.state(), [two.state()])
    one.learn(known, 0.9)
    assert one.rewards == 2
    assert len(one.state()) == size
    assert len(one.snapshot()) > size


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-3], lambda data: b"\xff" * len(data)])
def test_damaged_states_are_refused(damage) -> None:
    one = scorer()
    learn_birds(one)
    for load in (one.restore, one.load_state):
        with pytest.raises(ValueError, match=r"learned|weights|yield"):
            load(damage(one.state()))


def test_equal_crawls_learn_the_same_in_every_process() -> None:
    program = (
        "from tests.focus.test_links import *\n"
        "one = scorer(); learn_birds(one)\n"
        "import sys; sys.stdout.write(one.state().hex() + repr(scores(one, [Link('https://a.example/zoo/é', 'bird')])))"
    )
    states = {
        subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, env={"PYTHONHASHSEED": seed, "PATH": ""}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(states) == 1
    assert len(states.pop()) > 1_000
