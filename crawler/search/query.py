"""Search the index: parse a query, rank documents, limit results per host, and fold duplicates."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from math import log
from pathlib import Path
from typing import NamedTuple

import tantivy
from tantivy import FieldType, Occur, Query

from crawler.errors import DiskTrouble
from crawler.items import identifier
from crawler.search.index import CHARACTERS, UNSPACED, WORDS, analyzers, open_index
from crawler.search.snippets import QueryWords, Snippet, snippet_of
from crawler.urls.keys import key_of

PER_HOST = 2
WEIGHTS = {"title": 3.0, "anchors": 2.0, "characters": 2.0, "text": 1.0, "url": 0.5, "rest": 0.3}
_MIN_IDF = log(2)  # the inverse document frequency of a word that half of the documents have
_SMALL_INDEX = 50  # documents; in smaller indexes no word counts as common
_PROXIMITY_FIELDS = ("title", "text")
_PROXIMITY_WEIGHT = 0.3  # factor of a field's weight for two adjacent words of the query
_MAX_QUERY_LENGTH = 1_000  # characters
_MAX_WORDS = 64
_MAX_PARENTHESES = 10  # Tantivy's parser is recursive: with very many, its stack overflows and the process dies
_MAX_ROUNDS = 50  # searches for one page of results, each without the hosts that have reached their limit
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SYNTAX_CHARACTERS = re.compile(r"""[-+^`:{}"'\[\]()!\\*~<>=/?|&\s]+""")
_QUERY_SYNTAX = re.compile(r"""["+*~^:\[\]{}()]|(?:^|\s)-\S|\b(?:AND|OR|NOT|IN)\b""")
# Bidirectional controls reverse the text beside them, even on the next line of a terminal.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Limits and filters of a search."""

    limit: int = 10
    per_host: int = PER_HOST  # at most so many of each host, 0 = no limit
    host: str = ""
    language: str = ""
    min_relevance: float | None = None  # to the topic of the crawl; None = all, also those without a relevance


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A document in the results. Its strings have no control characters, so they can be printed."""

    id: str
    url: str
    title: str
    host: str
    language: str
    format: str
    fetched_at: str
    published_at: str  # as the document declares it
    score: float
    relevance: float | None  # to the topic of the crawl; None = it had none
    snippet: Snippet
    more_from_host: int  # matching documents of the same host that are not shown


class SearchResult(NamedTuple):
    """The results of a query."""

    matching: int  # documents that match
    hits: Sequence[SearchHit]


class ParsedQuery(NamedTuple):
    """A query for Tantivy, in two forms."""

    matching: Query  # selects the documents; cheap, for counts
    best: Query  # selects the same documents and ranks them; costs more


class ScoredDocument(NamedTuple):
    """A document of a page of results, with its score."""

    score: float
    document: tantivy.Document


class Searcher:
    """Searches an index, as it was when the searcher was created."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._index = open_index(directory)
        self._searcher = self._index.searcher()
        self._analyzers = analyzers()

    @property
    def count(self) -> int:
        """The number of documents in the index."""
        return self._searcher.num_docs

    def search(self, text: str, options: SearchOptions) -> SearchResult:
        """Run a query. Any text is accepted: if it is malformed, its words are searched for."""
        text = normalize_query(text)
        words = plain_words(text)
        if has_query_syntax(text) and text.count("(") <= _MAX_PARENTHESES:
            with suppress(ValueError):  # it is malformed, or uses a field in a way that the field does not support
                return self._run(self._parse(text), words, options)
        try:
            return self._run(self._query_for_words(words), words, options)
        except ValueError as error:
            raise DiskTrouble(
                f"{self._directory}: the index cannot be searched ({error}). If this happens again, --full builds it "
                "anew."
            ) from error

    def _run(self, query: ParsedQuery, words: Sequence[str], options: SearchOptions) -> SearchResult:
        filters = self._filters(options)
        matching, best = _all_of(query.matching, *filters), _all_of(query.best, *filters)
        collected = self._collect_page(matching, best, options)
        shown = Counter(_text(document, "host") for _, document in collected)
        hosts = [host for host, count in shown.items() if 0 < options.per_host <= count]
        more = {host: self._count(matching, self._term("host", host)) - shown[host] for host in hosts}
        highlighted = self._words_to_highlight(words)
        return SearchResult(
            matching=self._count(matching),
            hits=[self._hit(score, document, highlighted, more) for score, document in collected],
        )

    def _parse(self, text: str) -> ParsedQuery:
        """A query in Tantivy's syntax: "a phrase", +must, -must_not, OR, title:word …"""
        query = self._index.parse_query(text, list(WEIGHTS), WEIGHTS, conjunction_by_default=True)
        return ParsedQuery(query, query)

    def _query_for_words(self, words: Sequence[str]) -> ParsedQuery:
        """Matches documents with any of the words; documents with all of them rank first."""
        rare = self._without_common(words)
        every = [self._word_query(word) for word in rare]
        bigrams = [self._word_query(bigram) for word in rare for bigram in character_bigrams(word)]
        some = Query.boolean_query([(Occur.Should, each) for each in every + bigrams])
        preferred = [Query.boolean_query([(Occur.Must, each) for each in every]), *self._proximity_queries(words)]
        best = [(Occur.Must, some), *((Occur.Should, each) for each in preferred)]
        return ParsedQuery(some, Query.boolean_query(best) if every else some)

    def _without_common(self, words: Sequence[str]) -> Sequence[str]:
        """The words without those that most documents have (stop words of this index), if any other is left."""
        return [word for word in words if not self._is_common(word)] or words

    def _is_common(self, word: str) -> bool:
        """Whether all terms of a word are in most documents; a word without terms, such as a dash, counts as common."""
        least = _MIN_IDF if self.count >= _SMALL_INDEX else 0.0
        terms = self._analyzers[WORDS].analyze(word)
        return all(self._idf_of(term) <= least for term in terms) and UNSPACED.search(word) is None

    def _proximity_queries(self, words: Sequence[str]) -> Iterator[Query]:
        """Phrases of words that are adjacent in the query; those of common words would cost too much."""
        for pair in pairwise(words):
            first, second = (self._analyzers[WORDS].analyze(word) for word in pair)
            if first and second and not any(map(self._is_common, pair)):
                for field in _PROXIMITY_FIELDS:
                    yield self._weighted(field, first + second, WEIGHTS[field] * _PROXIMITY_WEIGHT)

    def _word_query(self, word: str) -> Query:
        """A word in any field; if the tokenizer splits it, the phrase of its terms."""
        fields = []
        for field, weight in WEIGHTS.items():
            terms = self._analyzers[CHARACTERS if field == "characters" else WORDS].analyze(word)
            if terms:
                fields.append((Occur.Should, self._weighted(field, terms, weight)))
        return Query.boolean_query(fields) if fields else Query.empty_query()

    def _weighted(self, field: str, terms: list[str], weight: float) -> Query:
        """A query in one field, weighted by the terms' IDF in documents instead of that in the field.

        A word such as "how" is rare in titles, but that does not make it important.
        """
        query = self._in_field(field, terms)
        if field == "characters":
            return Query.boost_query(query, weight)
        idf = sum(self._idf_of(term) for term in terms)
        if field == "anchors":  # most documents have none, so any anchor counts as long, which BM25 would penalize
            return Query.const_score_query(query, weight * idf)
        field_idf = sum(_idf(self.count, self._searcher.doc_freq(field, term)) for term in terms)
        return Query.boost_query(query, weight * min(1.0, idf / field_idf))

    def _in_field(self, field: str, terms: list[str]) -> Query:
        if len(terms) == 1:
            return Query.term_query(self._index.schema, field, terms[0])
        return Query.phrase_query(self._index.schema, field, list(terms))

    def _idf_of(self, term: str) -> float:
        return _idf(self.count, max(self._searcher.doc_freq(field, term) for field in ("title", "text", "rest")))

    def _filters(self, options: SearchOptions) -> list[Query]:
        terms = {"host": options.host.lower(), "language": options.language.lower()}
        filters = [self._term(field, value) for field, value in terms.items() if value]
        return filters + ([self._at_least(options.min_relevance)] if options.min_relevance is not None else [])

    def _collect_page(self, matching: Query, best: Query, options: SearchOptions) -> list[ScoredDocument]:
        """The best documents within the limit per host, without duplicates.

        A host that has reached its limit is excluded from the next search.
        """
        page: list[ScoredDocument] = []
        seen: set[str] = set()
        originals: set[str] = set()
        shown: Counter[str] = Counter()
        for _ in range(_MAX_ROUNDS):
            full = [host for host, count in shown.items() if 0 < options.per_host <= count]
            excluded = [(Occur.MustNot, self._term("host", host)) for host in full]
            most = len(seen) + options.limit
            hits = self._searcher.search(Query.boolean_query([(Occur.Must, best), *excluded]), most, count=False).hits
            for score, address in hits:
                document = self._searcher.doc(address)
                name, host = _text(document, "id"), _text(document, "host")
                if name in seen:
                    continue
                seen.add(name)
                if 0 < options.per_host <= shown[host] or self._is_folded(document, matching, originals):
                    continue
                originals.add(_text(document, "duplicate_of") or _text(document, "url"))
                shown[host] += 1
                page.append(ScoredDocument(score, document))
                if len(page) == options.limit:
                    return page
            if len(hits) < most:
                return page
        return page

    def _is_folded(self, document: tantivy.Document, query: Query, originals: set[str]) -> bool:
        """Whether this is a duplicate whose original matches the query, too, or of which another copy is shown."""
        original = _text(document, "duplicate_of")
        return bool(original) and (
            original in originals or self._count(query, self._term("id", identifier(key_of(original)))) > 0
        )

    def _count(self, query: Query, *further: Query) -> int:
        return int(self._searcher.search(_all_of(query, *further), 1, count=True).count)  # type: ignore[attr-defined]

    def _term(self, field: str, value: str) -> Query:
        """A filter: it has no influence on scores."""
        return Query.boost_query(Query.term_query(self._index.schema, field, value), 0.0)

    def _at_least(self, relevance: float) -> Query:
        """A filter: it has no influence on scores, and excludes documents without a relevance."""
        wanted = Query.range_query(self._index.schema, "relevance", FieldType.Float, relevance, 1.0)
        return Query.boost_query(wanted, 0.0)

    def _words_to_highlight(self, words: Sequence[str]) -> QueryWords:
        """The words of a query by which snippets are chosen, and which they highlight."""
        rare = self._without_common(words)
        terms = dict.fromkeys(term for word in rare for term in self._analyzers[WORDS].analyze(word))
        runs = [run for word in rare for run in UNSPACED.findall(word)]
        return QueryWords(
            weights={term: self._idf_of(term) for term in terms},
            runs=tuple(dict.fromkeys([*runs, *(bigram for run in runs for bigram in character_bigrams(run))])),
            analyzer=self._analyzers[WORDS],
        )

    def _hit(self, score: float, document: tantivy.Document, words: QueryWords, more: Mapping[str, int]) -> SearchHit:
        fetched = document.get_first("fetched_at")
        return SearchHit(
            id=_text(document, "id"),
            url=blank_controls(_text(document, "url")),
            title=" ".join(blank_controls(_text(document, "title")).split()),
            host=blank_controls(_text(document, "host")),
            language=_text(document, "language"),
            format=_text(document, "format"),
            fetched_at=fetched.strftime("%Y-%m-%dT%H:%M:%SZ") if fetched is not None else "",
            published_at=blank_controls(_text(document, "published_at")),
            score=round(score, 3),
            relevance=document.get_first("relevance"),
            snippet=snippet_of(blank_controls(_text(document, "text")), words),
            more_from_host=more.get(_text(document, "host"), 0),
        )


def normalize_query(text: str) -> str:
    """A query in Unicode form NFC, without control characters and cut to length. An apostrophe is no quotation mark.

    >>> normalize_query("the keeper's \\x1b[1mround")
    'the keeper’s  [1mround'
    """
    return unicodedata.normalize("NFC", _CONTROL.sub(" ", text[:_MAX_QUERY_LENGTH])).replace("'", "’")


def has_query_syntax(text: str) -> bool:
    """Whether a query may use operators, fields or quotes.

    >>> [has_query_syntax(text) for text in ("fog -signal", "fog OR mist", "what is fog?", "e-mail")]
    [True, True, False, False]
    """
    return _QUERY_SYNTAX.search(text) is not None


def plain_words(text: str) -> list[str]:
    """The words of a query, without all characters that are query syntax.

    >>> plain_words('http://a.test/ AND (title:"fog signals" AND fog')
    ['http', 'a.test', 'and', 'title', 'fog', 'signals']
    """
    return list(dict.fromkeys(_SYNTAX_CHARACTERS.sub(" ", text).lower().split()))[:_MAX_WORDS]


def character_bigrams(word: str) -> list[str]:
    """The bigrams of characters in scripts without spaces, where a whole query may be one run of characters.

    >>> character_bigrams("潮だまり"), character_bigrams("tide"), character_bigrams("潮だ")
    (['潮だ', 'だま', 'まり'], [], [])
    """
    runs = [run for run in UNSPACED.findall(word) if len(run) > 2]
    return list(dict.fromkeys(run[at : at + 2] for run in runs for at in range(len(run) - 1)))[:_MAX_WORDS]


def blank_controls(text: str) -> str:
    """Replace each control character by a space, so that positions in the text stay valid."""
    return _UNPRINTABLE.sub(" ", text)


def _text(document: tantivy.Document, field: str) -> str:
    return str(document.get_first(field) or "")


def _all_of(query: Query, *further: Query) -> Query:
    return Query.boolean_query([(Occur.Must, each) for each in (query, *further)]) if further else query


def _idf(count: int, having: int) -> float:
    """The inverse document frequency of a word that `having` of `count` documents have, as in BM25."""
    return log(1 + (count - min(having, count) + 0.5) / (having + 0.5))
