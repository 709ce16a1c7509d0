"""A document as it is compared with others: its words, or the tokens of a program; from the archive or from a file."""

from __future__ import annotations

import codecs
import hashlib
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from crawler.content.answers import ArchivedAnswer, plain_of
from crawler.content.readers import words_digest
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.page_sketch import words_shingles, words_sketch
from crawler.duplicates.source_code.code import tokens_of
from crawler.duplicates.words import Hashes, token_hashes, word_hashes
from crawler.errors import BadInput
from crawler.parse.charset import decode
from crawler.parse.coding import MOST_DECODED
from crawler.parse.html import Reading
from crawler.parse.reading import parse_body, text_of

CODE_FORMATS = frozenset(["code", "text"])  # of documents that may be programs
_PAGES = (".html", ".htm", ".xhtml")
_BEGINNING = 8_192  # bytes


class ComparedFeatures(Enum):
    """What of documents is compared."""

    WORDS = "words"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparableDocument:
    """What there is to compare."""

    name: str  # URL, or path
    text: str
    words: Hashes  # in code, tokens
    template: bytes = b""  # of its host
    body_digest: bytes = b""

    @property
    def text_digest(self) -> bytes:
        return words_digest(self.text)

    def sketch(self, rule: DuplicateRule) -> bytes:
        """As it is kept; empty if it has too few words."""
        return words_sketch(self.words, self.template, rule)

    def shingles(self, rule: DuplicateRule) -> Hashes:
        return words_shingles(self.words, self.template, rule)

    def similarity(self, other: ComparableDocument, rule: DuplicateRule) -> float:
        """What they have in common, counted."""
        return jaccard(self.shingles(rule), other.shingles(rule))


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentReader:
    """Reads documents as they are to be compared."""

    reading: Reading
    features: ComparedFeatures

    def answer(self, archived: ArchivedAnswer, template: bytes = b"") -> ComparableDocument:
        """One that is archived. A template is made of words, so it is none of a program's tokens."""
        body, content_type = plain_of(archived)
        return self._compared(body, archived.url, content_type, archived.url, template)

    def file(self, path: Path) -> ComparableDocument:
        """One in a file, or `BadInput` if that cannot be read."""
        try:
            with path.open("rb") as file:
                body = file.read(MOST_DECODED)
        except OSError as error:
            raise BadInput(
                f"{path}: cannot be read ({error.strerror}); name a file, or a URL that is archived."
            ) from error
        content_type = "text/html" if path.suffix.lower() in _PAGES else None
        return self._compared(body, f"http://file.invalid/{quote(path.name)}", content_type, str(path), b"")

    def _compared(
        self, body: bytes, url: str, content_type: str | None, name: str, template: bytes
    ) -> ComparableDocument:
        digest = hashlib.sha256(body).digest()
        if self.features is ComparedFeatures.CODE:
            text = decode(body, content_type).text if _is_text(body) else ""
            filename = unquote(urlsplit(url).path).rpartition("/")[2]
            return ComparableDocument(
                name=name, text=text, words=token_hashes(tokens_of(text, filename=filename)), body_digest=digest
            )
        text = text_of(parse_body(body, url, content_type, reading=self.reading))
        return ComparableDocument(name=name, text=text, words=word_hashes(text), template=template, body_digest=digest)


def _is_text(body: bytes) -> bool:
    """Whether it can be a program as somebody wrote it, and not as a machine runs it."""
    return b"\0" not in body[:_BEGINNING] or body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
