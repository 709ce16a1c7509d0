"""Which documents answer a question best, and which of their words show it?"""

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
from tantivy import Occur, Query

from crawler.errors import DiskTrouble
from crawler.items import identifier
from crawler.search.index import CHARACTERS, UNSPACED, WORDS, analyzers, open_index
from crawler.search.snippets import QueryWords, Snippet, snippet_of
from crawler.urls.keys import key_of

PER_HOST = 2
WEIGHTS = {"title": 3.0, "anchors": 2.0, "characters": 2.0, "text": 1.0, "url": 0.5, "rest": 0.3}
_TELLING = log(2)  # rarity of a word that half of the documents have
_FEW = 50  # documents, among which no word is common
_NEIGHBOURLY = ("title", "text")
_NEAR = 0.3  # of a field's weight, for two words beside each other
_LONGEST = 1_000  # characters of a question that are read
_MOST_WORDS = 64
_DEEPEST = 10  # parentheses: the library's parser follows them until its stack overflows, and the process with it
_MOST_ROUNDS = 50  # in which hosts that have their share are left out
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SYNTAX = re.compile(r"""[-+^`:{}"'\[\]()!\\*~<>=/?|&\s]+""")
_FORMAL = re.compile(r"""["+*~^:\[\]{}()]|(?:^|\s)-\S|\b(?:AND|OR|NOT|IN)\b""")
# Bidirectional controls turn around what stands beside them, even on the next line of a terminal.
_UNSEEMLY = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How many documents, and which."""

    limit: int = 10
    per_host: int = PER_HOST  # so many of each host, 0 = all
    host: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A document that was found. Its strings can be shown: nothing in them steers a terminal."""

    id: str
    url: str
    title: str
    host: str
    language: str
    format: str
    fetched_at: str
    published_at: str  # as far as it says so
    score: float
    snippet: Snippet
    more_from_host: int  # that are not shown


class SearchResult(NamedTuple):
    """What a question brings."""

    matching: int  # documents that have any of the words
    hits: Sequence[SearchHit]


class ParsedQuery(NamedTuple):
    """A question as the library takes it."""

    matching: Query  # which documents
    best: Query  # the same ones, in their order, which costs more


class ScoredDocument(NamedTuple):
    """A document of the page that is being filled."""

    score: float
    document: tantivy.Document


class Searcher:
    """Reads an index as it was when this was made."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._index = open_index(directory)
        self._searcher = self._index.searcher()
        self._analyzers = analyzers()

    @property
    def count(self) -> int:
        """Documents that are there."""
        return self._searcher.num_docs

    def search(self, question: str, wanted: SearchOptions) -> SearchResult:
        """Any text is a question. One that is not well-formed is one for its words."""
        question = readable(question)
        words = plain_words(question)
        if is_formal(question) and question.count("(") <= _DEEPEST:
            with suppress(ValueError):  # it is not well-formed, or asks for what fields cannot do
                return self._found(self._formal(question), words, wanted)
        try:
            return self._found(self._plain(words), words, wanted)
        except ValueError as error:
            raise DiskTrouble(
                f"{self._directory}: the index cannot be searched ({error}). If this happens again, --full builds it anew."
            ) from error

    def _found(self, asked: ParsedQuery, words: Sequence[str], wanted: SearchOptions) -> SearchResult:
        filters = self._filters(wanted)
        matching, best = _both(asked.matching, *filters), _both(asked.best, *filters)
        collected = self._collected(matching, best, wanted)
        shown = Counter(_text(document, "host") for _, document in collected)
        hosts = [host for host, count in shown.items() if 0 < wanted.per_host <= count]
        more = {host: self._count(matching, self._term("host", host)) - shown[host] for host in hosts}
        sought = self._sought(words)
        return SearchResult(
            matching=self._count(matching),
            hits=[self._hit(score, document, sought, more) for score, document in collected],
        )

    def _formal(self, question: str) -> ParsedQuery:
        """As the library reads it: "a phrase", +must, -must_not, OR, title:word …"""
        query = self._index.parse_query(question, list(WEIGHTS), WEIGHTS, conjunction_by_default=True)
        return ParsedQuery(query, query)

    def _plain(self, words: Sequence[str]) -> ParsedQuery:
        """Documents with some of the words, and those that have all of them before the others."""
        telling = self._telling(words)
        every = [self._word(word) for word in telling]
        pairs = [self._word(pair) for word in telling for pair in pairs_of(word)]
        some = Query.boolean_query([(Occur.Should, each) for each in every + pairs])
        preferred = [Query.boolean_query([(Occur.Must, each) for each in every]), *self._neighbours(words)]
        best = [(Occur.Must, some), *((Occur.Should, each) for each in preferred)]
        return ParsedQuery(some, Query.boolean_query(best) if every else some)

    def _telling(self, words: Sequence[str]) -> Sequence[str]:
        """Without words that most documents have, if there are others: everything has an "and"."""
        return [word for word in words if self._is_telling(word)] or words

    def _is_telling(self, word: str) -> bool:
        """By its rarest part; a dash has none."""
        least = _TELLING if self.count >= _FEW else 0.0
        terms = self._analyzers[WORDS].analyze(word)
        return any(self._rarity_of(term) > least for term in terms) or UNSPACED.search(word) is not None

    def _neighbours(self, words: Sequence[str]) -> Iterator[Query]:
        """Words that stand beside each other in the question, and do so in a document. Common ones would cost too much."""
        for pair in pairwise(words):
            first, second = (self._analyzers[WORDS].analyze(word) for word in pair)
            if first and second and all(map(self._is_telling, pair)):
                for field in _NEIGHBOURLY:
                    yield self._weighed(field, first + second, WEIGHTS[field] * _NEAR)

    def _word(self, word: str) -> Query:
        """In any field. One that is parts to the tokenizer is a phrase of these."""
        fields = []
        for field, weight in WEIGHTS.items():
            terms = self._analyzers[CHARACTERS if field == "characters" else WORDS].analyze(word)
            if terms:
                fields.append((Occur.Should, self._weighed(field, terms, weight)))
        return Query.boolean_query(fields) if fields else Query.empty_query()

    def _weighed(self, field: str, terms: list[str], weight: float) -> Query:
        """By how rare the words are in documents: few titles have a "how" in them, which does not make it tell much."""
        query = self._in_field(field, terms)
        if field == "characters":
            return Query.boost_query(query, weight)
        rarity = sum(self._rarity_of(term) for term in terms)
        if field == "anchors":  # most documents have none, and beside those any is long, which the library punishes
            return Query.const_score_query(query, weight * rarity)
        own = sum(_rarity(self.count, self._searcher.doc_freq(field, term)) for term in terms)
        return Query.boost_query(query, weight * min(1.0, rarity / own))

    def _in_field(self, field: str, terms: list[str]) -> Query:
        if len(terms) == 1:
            return Query.term_query(self._index.schema, field, terms[0])
        return Query.phrase_query(self._index.schema, field, list(terms))

    def _rarity_of(self, term: str) -> float:
        return _rarity(self.count, max(self._searcher.doc_freq(field, term) for field in ("title", "text", "rest")))

    def _filters(self, wanted: SearchOptions) -> list[Query]:
        terms = {"host": wanted.host.lower(), "language": wanted.language.lower()}
        return [self._term(field, value) for field, value in terms.items() if value]

    def _collected(self, matching: Query, best: Query, wanted: SearchOptions) -> list[ScoredDocument]:
        """The best, but not too many of a host. One that has its share is left out of the next look."""
        page: list[ScoredDocument] = []
        seen: set[str] = set()
        originals: set[str] = set()
        shown: Counter[str] = Counter()
        for _ in range(_MOST_ROUNDS):
            full = [host for host, count in shown.items() if 0 < wanted.per_host <= count]
            rest = [(Occur.MustNot, self._term("host", host)) for host in full]
            most = len(seen) + wanted.limit
            found = self._searcher.search(Query.boolean_query([(Occur.Must, best), *rest]), most, count=False).hits
            for score, address in found:
                document = self._searcher.doc(address)
                name, host = _text(document, "id"), _text(document, "host")
                if name in seen:
                    continue
                seen.add(name)
                if 0 < wanted.per_host <= shown[host] or self._is_folded(document, matching, originals):
                    continue
                originals.add(_text(document, "duplicate_of") or _text(document, "url"))
                shown[host] += 1
                page.append(ScoredDocument(score, document))
                if len(page) == wanted.limit:
                    return page
            if len(found) < most:
                return page
        return page

    def _is_folded(self, document: tantivy.Document, query: Query, originals: set[str]) -> bool:
        """Whether the document that stands for this one is found, too, or another that it stands for."""
        original = _text(document, "duplicate_of")
        return bool(original) and (
            original in originals or self._count(query, self._term("id", identifier(key_of(original)))) > 0
        )

    def _count(self, query: Query, *further: Query) -> int:
        return int(self._searcher.search(_both(query, *further), 1, count=True).count)  # type: ignore[attr-defined]

    def _term(self, field: str, value: str) -> Query:
        """Has no influence on scores."""
        return Query.boost_query(Query.term_query(self._index.schema, field, value), 0.0)

    def _sought(self, words: Sequence[str]) -> QueryWords:
        """What to look for in texts."""
        telling = self._telling(words)
        terms = dict.fromkeys(term for word in telling for term in self._analyzers[WORDS].analyze(word))
        runs = [run for word in telling for run in UNSPACED.findall(word)]
        return QueryWords(
            weights={term: self._rarity_of(term) for term in terms},
            runs=tuple(dict.fromkeys([*runs, *(pair for run in runs for pair in pairs_of(run))])),
            analyzer=self._analyzers[WORDS],
        )

    def _hit(self, score: float, document: tantivy.Document, words: QueryWords, more: Mapping[str, int]) -> SearchHit:
        fetched = document.get_first("fetched_at")
        return SearchHit(
            id=_text(document, "id"),
            url=seemly(_text(document, "url")),
            title=" ".join(seemly(_text(document, "title")).split()),
            host=seemly(_text(document, "host")),
            language=_text(document, "language"),
            format=_text(document, "format"),
            fetched_at=fetched.strftime("%Y-%m-%dT%H:%M:%SZ") if fetched is not None else "",
            published_at=seemly(_text(document, "published_at")),
            score=round(score, 3),
            snippet=snippet_of(seemly(_text(document, "text")), words),
            more_from_host=more.get(_text(document, "host"), 0),
        )


def readable(question: str) -> str:
    """Composed, without control characters, of a length that somebody may have typed. An apostrophe is no quotation mark.

    >>> readable("the keeper's \\x1b[1mround")
    'the keeper’s  [1mround'
    """
    return unicodedata.normalize("NFC", _CONTROL.sub(" ", question[:_LONGEST])).replace("'", "’")


def is_formal(question: str) -> bool:
    """Whether it may mean more than its words.

    >>> is_formal('fog -signal'), is_formal("fog OR mist"), is_formal("what is fog?"), is_formal("e-mail")
    (True, True, False, False)
    """
    return _FORMAL.search(question) is not None


def plain_words(question: str) -> list[str]:
    """Without all that has a meaning in questions.

    >>> plain_words('http://a.test/ AND (title:"fog signals" AND fog')
    ['http', 'a.test', 'and', 'title', 'fog', 'signals']
    """
    return list(dict.fromkeys(_SYNTAX.sub(" ", question).lower().split()))[:_MOST_WORDS]


def pairs_of(word: str) -> list[str]:
    """Neighbours in scripts without spaces: a whole question may be one run of them.

    >>> pairs_of("潮だまり"), pairs_of("tide"), pairs_of("潮だ")
    (['潮だ', 'だま', 'まり'], [], [])
    """
    runs = [run for run in UNSPACED.findall(word) if len(run) > 2]
    return list(dict.fromkeys(run[at : at + 2] for run in runs for at in range(len(run) - 1)))[:_MOST_WORDS]


def seemly(text: str) -> str:
    """As long as before, each character that does something other than being seen a space."""
    return _UNSEEMLY.sub(" ", text)


def _text(document: tantivy.Document, field: str) -> str:
    return str(document.get_first(field) or "")


def _both(query: Query, *further: Query) -> Query:
    return Query.boolean_query([(Occur.Must, each) for each in (query, *further)]) if further else query


def _rarity(count: int, having: int) -> float:
    """What finding a word tells, as BM25 has it."""
    return log(1 + (count - min(having, count) + 0.5) / (having + 0.5))
