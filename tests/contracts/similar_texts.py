"""Pages made of words, whose texts are similar to a known degree."""

from __future__ import annotations

import random
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.page_sketch import page_shingles, page_sketch
from crawler.duplicates.template import template_fingerprint
from crawler.items import Page
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.store import Store
from tests.contracts.visits import POSITION, lease_url
from tests.samples import NOW, answer, new_url, visit_result, visited

RULE = DuplicateRule()
WORDS = [f"word{number}" for number in range(3_000)]


def words_of(seed: int, count: int = 400) -> list[str]:
    return random.Random(seed).choices(WORDS, k=count)


def edited(words: list[str], changes: int, seed: int = 1) -> list[str]:
    """With so many words replaced, far from each other: each is in five shingles."""
    words, step = list(words), len(words) // (changes + 1)
    for number in range(changes):
        words[(number + 1) * step] = f"edited{seed}x{number}"
    return words


ONE = words_of(1)
NEAR = edited(ONE, 2)  # .95
UNDECIDED = edited(ONE, 4)  # .90: a sketch does not decide whether it is similar enough
FAR = edited(ONE, 20)  # .60
A, A_PRINT, B, C = "http://a.test/x", "http://a.test/x?print=1", "http://b.test/copied", "http://c.test/one-more"


def similarity(one: list[str], other: list[str]) -> float:
    return jaccard(*(page_shingles(" ".join(words), b"", RULE) for words in (one, other)))


def text_page(words: list[str], template: bytes = b"", **facts: Any) -> Page:
    """A page with these words, sketched without the template of its host."""
    text = " ".join(words)
    digest = sha256(text.encode()).digest()
    return Page(
        text=text,
        body_digest=facts.pop("body_digest", digest),
        payload_digest=digest,
        text_digest=digest,
        sketch=page_sketch(text, template, RULE),
        template=template_fingerprint(template),
        **facts,
    )


def uncommitted(store: Store, url: str, words: list[str], **facts: Any) -> VisitResult:
    """The result of a visit to a page, ready to be committed."""
    store.urls.add([new_url(url)], NOW)
    visit = lease_url(store, url, NOW + 1)
    return visit_result(visited(visit, fetched=answer(visit.url), page=text_page(words)), position=POSITION, **facts)


def originals(store: Store) -> Mapping[str, str | None]:
    """Published URL → URL of its original, None if it is no duplicate."""
    return {row.url: row.duplicate_of for row in store.changes.published() if row.document is not None}
