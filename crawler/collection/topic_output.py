"""What `scrapy topic` prints: what was learned, the quality on labelled pages, and the words that count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crawler.collection.topics import TopicExample, TopicFile
from crawler.focus.evaluation import THRESHOLDS, ThresholdQuality, average_precision, threshold_quality
from crawler.focus.topic import Topic
from crawler.monitor.text import plural
from crawler.parse.clean_text import one_line

MAX_MISFITS = 10  # examples that do not fit and are listed
_TELLING_WORDS = 12
_EXPLAINED_WORDS = 20
_FEWEST_CHECKED = 3  # examples that can be judged by what the others teach
_THRESHOLD = 0.5  # as FOCUS_KEEP has it
_LONGEST_SOURCE = 100


def trained_lines(file: TopicFile, topic: Topic) -> Iterator[str]:
    """Yield what was learned: telling words, examples that do not fit, and the quality at the threshold."""
    positive = [example for example in file.examples if example.is_positive]
    negative = [example for example in file.examples if not example.is_positive]
    query = f'query "{one_line(file.query)}", ' if file.query.strip() else ""
    pages = plural(topic.observations, "archived page")
    yield f"Topic {file.name}: {query}{plural(len(positive), 'example')} on topic, {len(negative)} off topic; words of {pages}"
    telling = ", ".join(f"{word} {weight:.2f}" for word, weight in topic.telling_words(_TELLING_WORDS))
    yield f"Telling words: {telling}"
    yield from _example_lines(positive, negative, topic)


def _example_lines(positive: Sequence[TopicExample], negative: Sequence[TopicExample], topic: Topic) -> Iterator[str]:
    """Judge each example by what the others teach."""
    if len(positive) + len(negative) < _FEWEST_CHECKED:
        yield f"Threshold: pages that score {_THRESHOLD} or more are on topic; nothing to check it with, for want of examples"
        return
    scores = topic.example_scores()
    found = threshold_quality(
        [*scores.positive, *scores.negative], [True] * len(positive) + [False] * len(negative), _THRESHOLD
    )
    right = sum(score >= _THRESHOLD for score in scores.positive)
    left_out = sum(score < _THRESHOLD for score in scores.negative)
    yield (
        f"Threshold: from {_THRESHOLD} on, {right} of {len(positive)} examples on topic are kept, and {left_out} of "
        f"{len(negative)} off topic left out (F1 {found.f1:.2f}), each judged by what the others teach"
    )
    misfits = [
        *((score, example) for score, example in zip(scores.positive, positive, strict=False) if score < _THRESHOLD),
        *((score, example) for score, example in zip(scores.negative, negative, strict=False) if score >= _THRESHOLD),
    ]
    misfits.sort(key=lambda row: -abs(row[0] - _THRESHOLD))
    if misfits:
        yield "Examples that do not fit:"
    for score, example in misfits[:MAX_MISFITS]:
        kind = "on topic" if example.is_positive else "off topic"
        yield f"  {score:.2f}  given as {kind}  {_shown(example)}"
    if len(misfits) > MAX_MISFITS:
        yield f"  and {len(misfits) - MAX_MISFITS} more"


def _shown(example: TopicExample) -> str:
    return one_line(example.source)[-_LONGEST_SOURCE:]


def list_line(file: TopicFile) -> str:
    """Return one line on a topic."""
    positive = sum(example.is_positive for example in file.examples)
    query = f'  query "{one_line(file.query)}"' if file.query.strip() else ""
    return f"{file.name}  {positive} on topic, {len(file.examples) - positive} off topic{query}"


def quality_lines(scores: Sequence[float], labels: Sequence[bool]) -> Iterator[str]:
    """Yield average precision, and precision and recall by threshold."""
    rows = [threshold_quality(scores, labels, threshold) for threshold in THRESHOLDS]
    yield f"{plural(len(labels), 'page')}, {sum(labels)} on topic; average precision {average_precision(scores, labels):.3f}"
    yield f"{'threshold':>9}{'pages':>8}{'precision':>11}{'recall':>8}{'F1':>7}"
    for row in rows:
        yield f"{row.threshold:9.1f}{row.kept:8,}{row.precision:11.3f}{row.recall:8.3f}{row.f1:7.3f}"
    best = max(rows, key=lambda row: row.f1)
    yield f"The best F1 is at {best.threshold:.1f}; FOCUS_KEEP sets the threshold of a crawl."


def quality_row(row: ThresholdQuality) -> dict[str, float]:
    """Return the figures of a threshold for JSON."""
    return {**row._asdict(), "f1": row.f1}


def explained_lines(name: str, score: float, words: Sequence[tuple[str, float]]) -> Iterator[str]:
    """Yield the score of a page, and the words that count most."""
    yield f"{one_line(name)}: relevance {score:.3f}"
    if not words:
        yield "None of its words counts."
        return
    yield f"{'log odds':>9}  word"
    for word, value in words[:_EXPLAINED_WORDS]:
        yield f"{value:+9.2f}  {one_line(word)}"
    if len(words) > _EXPLAINED_WORDS:
        yield f"{sum(value for _, value in words[_EXPLAINED_WORDS:]):+9.2f}  {len(words) - _EXPLAINED_WORDS} more words together"
