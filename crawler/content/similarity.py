"""Compare archived pages by their texts where sketches cannot decide, and find the template of a host."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.content.answers import ArchivedAnswer, parse_archived
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.page_sketch import page_shingles, page_sketch
from crawler.duplicates.template import find_template, pack_template
from crawler.parse.html import Reading
from crawler.parse.reading import text_of

TemplatedAnswer = tuple[ArchivedAnswer, bytes]  # an answer, and the template of its host


def compare(
    new: TemplatedAnswer, others: Sequence[TemplatedAnswer], reading: Reading, rule: DuplicateRule
) -> list[float]:
    """Return how similar a page is to each of the others: the Jaccard coefficient of their shingles."""
    shingles = page_shingles(_main_text(new[0], reading), new[1], rule)
    return [
        jaccard(shingles, page_shingles(_main_text(answer, reading), template, rule)) for answer, template in others
    ]


def learn_template(
    pages: Sequence[ArchivedAnswer], template: bytes | None, reading: Reading, rule: DuplicateRule
) -> tuple[bytes, list[bytes]]:
    """Return the template of a host, found in these pages if none is given, and their sketches without it."""
    texts = [_main_text(page, reading) for page in pages]
    if template is None:
        template = pack_template(find_template([page_shingles(text, b"", rule) for text in texts]))
    return template, [page_sketch(text, template, rule) for text in texts]


def _main_text(answer: ArchivedAnswer, reading: Reading) -> str:
    return text_of(parse_archived(answer, reading))
