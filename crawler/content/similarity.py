"""Texts read again: where sketches leave in doubt whether two pages say the same, and where a host's template is learned."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.content.answers import ArchivedAnswer, read_again
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
    """How similar a page is to each of others: the Jaccard coefficient of their shingles."""
    own = page_shingles(_text(new[0], reading), new[1], rule)
    return [jaccard(own, page_shingles(_text(answer, reading), template, rule)) for answer, template in others]


def learn_template(
    pages: Sequence[ArchivedAnswer], template: bytes | None, reading: Reading, rule: DuplicateRule
) -> tuple[bytes, list[bytes]]:
    """The template of a host, learned from these pages if it is not known, and their sketches without it."""
    texts = [_text(page, reading) for page in pages]
    if template is None:
        template = pack_template(find_template([page_shingles(text, b"", rule) for text in texts]))
    return template, [page_sketch(text, template, rule) for text in texts]


def _text(answer: ArchivedAnswer, reading: Reading) -> str:
    return text_of(read_again(answer, reading))
