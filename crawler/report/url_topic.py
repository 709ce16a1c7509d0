"""Explain a URL of a focused crawl: the relevance of its page, or what the links to it are worth and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final

from crawler.collection.archive_reader import read_archived, read_outlinks
from crawler.collection.topics import TOPIC_FACT, load_topic
from crawler.content.answers import parse_archived
from crawler.errors import CrawlError
from crawler.focus.evidence import unpack_evidences
from crawler.focus.topic import Topic
from crawler.frontier.exploration import deepest_level
from crawler.frontier.priority import LEVELS, STEPS, Order
from crawler.items import Kind, Reason
from crawler.monitor.terminal import escape_controls
from crawler.options import Options
from crawler.parse.html import Html
from crawler.parse.reading import text_of
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.contract.focus import LinkEvidence
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import UrlRow
from crawler.urls.keys import key_of
from crawler.worker.focus_learner import FocusLearner

_WORDS: Final = 10  # of a page that are shown
_MOST_LINKS: Final = 1_000  # of a page whose targets are looked up
_ALL_KEPT: Final = 0.995  # of what links promised: a larger share is not shown
_SMALL_PART: Final = 0.005  # of a score that is not shown


class UrlTopic:
    """Explains URLs by the topic of a crawl, and by what its workers have learned."""

    def __init__(self, store: Store, options: Options) -> None:
        facts = store.crawl.facts()
        self._store = store
        self._options = options
        self._name = facts.get(TOPIC_FACT, "")
        self.decides_priority = bool(self._name) and facts.get("order") != Order.FIFO

    def relevance_lines(self, row: UrlRow) -> Iterator[str]:
        """Yield the relevance of the page that was fetched last, and its words that count."""
        document = self._judged(row.url)
        if document is None or document.relevance is None:
            return
        name = f"the topic {self._name}" if self._name else "a topic that the crawl had"
        yield f"relevance {document.relevance:.3f} to {name}: {self._verdict(document, document.relevance)}"
        if self._name:
            yield f"  {self._words(document, document.relevance)}"

    def priority_lines(self, row: UrlRow, unfocused: str) -> Iterator[str]:
        """Yield why a waiting URL has its priority; `unfocused` says what it is without links that were scored."""
        found, document = self._store.focus.evidence(row.key), self._judged(row.url)
        place = f"priority: level {row.level}, step {row.step} (each from 0 to {min(LEVELS, STEPS) - 1})"
        if row.due == 0:
            yield unfocused
        elif found is not None:
            yield from self._evidence_lines(row, place, found)
        elif row.visits and document is not None and document.relevance is not None:
            yield f"{place}, by its own relevance, {document.relevance:.3f}"
        else:
            yield f"{unfocused}; there is no evidence of what it is worth: no link to it was scored"

    def _evidence_lines(self, row: UrlRow, place: str, found: LinkEvidence) -> Iterator[str]:
        yield f"{place}, by the worth of the links to it: {found.score:.3f} when it was last computed"
        try:
            learner = self._learner()
        except CrawlError as error:
            yield f"  its parts are not known: {error}"
        else:
            (score,) = learner.rescore([found.evidence])
            yield f"  {score:.3f} by what is known now: {_parts(learner.explain(found.evidence), score)}"
            focus, relevance = self._options.focus, learner.mean_relevance()
            if row.level > deepest_level(focus.follow, relevance):
                yield (
                    f"  much less than the last pages were worth ({relevance:.3f} in the mean, FOCUS_FOLLOW={focus.follow:g}): "
                    f"if its host shows that it has little, such URLs get {100 * focus.explore:g} % of the visits"
                )
        yield f"  {_linking_pages(found.evidence)}"
        if row.via is not None and row.kind is Kind.PAGE:
            yield from self._source_lines(row.url, row.via)

    # ── the page that links ──

    def _source_lines(self, url: str, source: str) -> Iterator[str]:
        """Say what is known of the page on which a URL was found, and of its other links."""
        document = self._newest(source)
        if document is None:
            yield f"  {source} is not archived, so nothing is known of its links"
            return
        try:
            anchors = self._anchors(document)
        except CrawlError as error:
            yield f"  the links of {source} cannot be read: {error}"
            return
        judged = f"has the relevance {document.relevance:.3f}" if document.relevance is not None else "was not judged"
        anchor = anchors.get(url)
        words = "without anchor text" if anchor == "" else f"by the anchor {escape_controls(repr(anchor))}"
        yield f"  {source} {judged}; it links to it {words}" if anchor is not None else f"  {source} {judged}"
        yield f"  other links of that page: {self._yield_of([other for other in anchors if other != url])}"

    def _anchors(self, document: DocumentRow) -> Mapping[str, str | None]:
        """Return the links of an archived page, with their anchors; without, if its body is not archived."""
        directory, options = self._options.warc_directory, self._options
        if not document.has_body:
            return dict.fromkeys(read_outlinks(self._store, directory, document))
        answer = read_archived(self._store, directory, document)
        parsed = parse_archived(answer, options.reading)
        canonicalize = options.urls.new_policy().canonicalize
        found: dict[str, str | None] = {}
        for link in parsed.links:
            url = canonicalize(link.url, document.url)
            if url is not None and not found.get(url):
                found[url] = link.anchor
        return found

    def _yield_of(self, urls: Sequence[str]) -> str:
        """Say how relevant the pages are that these links led to."""
        judged = [document for url in urls[:_MOST_LINKS] if (document := self._judged(url)) is not None]
        if not judged:
            return f"none of {len(urls):,} was judged yet"
        on_topic = sum(document.reason is Reason.OK for document in judged)
        mean = fmean(document.relevance or 0.0 for document in judged)
        return f"{len(judged):,} of {len(urls):,} were judged, {on_topic:,} on topic, mean relevance {mean:.3f}"

    # ── pages ──

    def _verdict(self, document: DocumentRow, relevance: float) -> str:
        keep = self._options.focus.keep
        if document.reason not in (Reason.OK, Reason.OFF_TOPIC):
            return f"not judged by it, for another reason ({document.reason.name.lower()})"
        is_on_topic = document.reason is Reason.OK
        verdict = "on topic" if is_on_topic else "off topic, so it is not exported"
        if is_on_topic is (relevance >= keep):
            return f"{verdict} (FOCUS_KEEP={keep:g})"
        return f"{verdict}, by the FOCUS_KEEP of its visit; now it is {keep:g}"

    def _words(self, document: DocumentRow, relevance: float) -> str:
        if not document.has_body:
            return "its words are not known: only its links and digests are archived (FOCUS_ARCHIVE=kept)"
        try:
            topic, text = self._topic(), self._text(document)
        except CrawlError as error:
            return f"its words are not known: {error}"
        counted = ", ".join(f"{escape_controls(word)} {weight:+.2f}" for word, weight in topic.explain(text)[:_WORDS])
        now = topic.score(text)
        changed = f"; {now:.3f} by what is known now" if abs(now - relevance) >= _SMALL_PART else ""
        return f"words that count: {counted or 'none'}{changed}"

    def _text(self, document: DocumentRow) -> str:
        """Return the text by which a page was judged."""
        answer = read_archived(self._store, self._options.warc_directory, document)
        parsed = parse_archived(answer, self._options.reading.as_recorded(document.extractor))
        return f"{parsed.title if isinstance(parsed, Html) else document.title}\n{text_of(parsed)}"

    def _newest(self, url: str) -> DocumentRow | None:
        return next(iter(self._store.documents.versions(key_of(url))), None)

    def _judged(self, url: str) -> DocumentRow | None:
        document = self._newest(url)
        return document if document is not None and document.relevance is not None else None

    # ── what was learned ──

    def _topic(self) -> Topic:
        return self._learner().topic

    def _learner(self) -> FocusLearner:
        """Return what all workers have learned together, with the present examples of the topic."""
        learner = FocusLearner(load_topic(self._options.crawl.dir, self._name))
        states = dict(self._store.focus.states())
        if states:
            own = states.pop(min(states))
            learner.load_states(own, list(states.values()))
        return learner


def _linking_pages(evidence: bytes) -> str:
    """Say how many pages that link to a URL its score is from; links that would not raise it are left out."""
    (facts,) = unpack_evidences([evidence])
    pages = int(facts["links"])
    if not pages:
        return "no page that was scored links to it: it is judged by its URL"
    best, mean = float(facts["best"]), float(facts["total"]) / pages
    if pages == 1:
        return f"from 1 page that links to it, with the relevance {best:.2f}"
    return f"from {pages:,} pages that link to it, with the relevance {best:.2f} at most and {mean:.2f} on average"


def _parts(explained: Mapping[str, float], score: float) -> str:
    """Say from what a score is: parts of its log-odds, and the share of such scores that its host has kept.

    >>> _parts({"bias": -2.0, "anchor": 2.0, "URL": 0.001}, 0.5), _parts({"anchor": 0.0}, 0.25)
    ('log-odds anchor +2.00, bias -2.00', 'log-odds 0; × 0.50, the share that its host has kept of what links promised')
    """
    parts = sorted(explained.items(), key=lambda part: (-abs(part[1]), part[0]))
    words = ", ".join(f"{name} {part:+.2f}" for name, part in parts if abs(part) >= _SMALL_PART)
    kept = score * (1 + math.exp(-sum(explained.values())))
    promise = f"; × {kept:.2f}, the share that its host has kept of what links promised" if kept < _ALL_KEPT else ""
    return f"log-odds {words or '0'}{promise}"
