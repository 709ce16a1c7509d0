"""Choose archived pages for a person to review: those of which a topic doubts most whether they belong to it."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from crawler.collection.topic_examples import (
    Progress,
    archived_documents,
    drawing_order,
    newest_versions,
    text_of_document,
)
from crawler.errors import BadInput
from crawler.focus.topic import Topic
from crawler.options import Options
from crawler.parse.clean_text import one_line
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.open import open_store

MAX_REVIEWED: Final = 50  # pages that are shown in one review
_CANDIDATES: Final = 200  # pages whose texts are judged again by the topic as it is now
_THRESHOLD: Final = 0.5
_SHOWN: Final = 600  # characters of a page that are shown


class DoubtfulPage(NamedTuple):
    """A page that was judged, and is not an example yet."""

    url: str
    relevance: float
    text: str  # title, newline, main text

    @property
    def doubt(self) -> float:
        """Return how near the relevance is to the threshold; less is more doubtful."""
        return abs(self.relevance - _THRESHOLD)

    def lines(self) -> Iterator[str]:
        """Yield what a person needs to see of the page."""
        title, _, text = self.text.partition("\n")
        yield f"{one_line(title) or 'without a title'}  ({self.relevance:.2f})"
        yield f"{one_line(self.url)}"
        shown = one_line(text[: 2 * _SHOWN])
        yield shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN].rpartition(' ')[0]} …"


def doubtful_pages(options: Options, topic: Topic, known: Collection[str], progress: Progress) -> list[DoubtfulPage]:
    """Return the archived pages nearest to the threshold, without those that are examples; the most doubtful first.

    By the relevance that the crawl has stored, if it was focused, the nearest ones are chosen to be judged again; in
    other crawls, pages drawn evenly.
    """
    store = open_store(options.store, read_only=True)
    try:
        candidates = heapq.nsmallest(
            _CANDIDATES, (document for document in archived_documents(store) if document.url not in known), key=_first
        )
        pages = []
        candidates = newest_versions(candidates)
        for done, document in enumerate(candidates):
            progress("judging archived pages", done, len(candidates))
            text = text_of_document(store, options, document)
            if text is not None:
                pages.append(DoubtfulPage(document.url, topic.score(text), text))
    finally:
        store.close()
    return sorted(pages, key=lambda page: (page.doubt, page.url))[:MAX_REVIEWED]


def _first(document: DocumentRow) -> tuple[float, int]:
    """Return the place of a document among those to be judged again."""
    relevance = document.relevance
    return (1.0 if relevance is None else abs(relevance - _THRESHOLD)), drawing_order(document.url)


def read_url_list(path: Path) -> list[str]:
    """Read a file with a URL per line; # starts a comment."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error}); name a file with a URL per line.") from error
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
