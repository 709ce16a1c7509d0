"""Read a document, archived or in a file, in the form in which it is compared: words, or tokens of a program."""

from __future__ import annotations

import codecs
import hashlib
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from crawler.content.answers import ArchivedAnswer, plain_body_of
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

CODE_FORMATS = frozenset(["code", "text"])  # documents of these formats may be programs
_PAGES = (".html", ".htm", ".xhtml")
_CHECKED_BYTES = 8_192  # at the beginning of a file, for zero bytes


class ComparedFeatures(Enum):
    """The features by which documents are compared: words, or tokens of source code."""

    WORDS = "words"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparableDocument:
    """A document with its hashed words, from which sketch and shingles are computed."""

    name: str  # URL or path
    text: str
    words: Hashes  # of code, hashed tokens
    template: bytes = b""  # of its host
    body_digest: bytes = b""

    @property
    def text_digest(self) -> bytes:
        return words_digest(self.text)

    def sketch(self, rule: DuplicateRule) -> bytes:
        """The sketch as stores keep it; empty if the document has too few words."""
        return words_sketch(self.words, self.template, rule)

    def shingles(self, rule: DuplicateRule) -> Hashes:
        return words_shingles(self.words, self.template, rule)

    def similarity(self, other: ComparableDocument, rule: DuplicateRule) -> float:
        """The exact Jaccard coefficient of both documents' shingles."""
        return jaccard(self.shingles(rule), other.shingles(rule))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparableReader:
    """Reads documents in the form in which they are compared."""

    reading: Reading
    features: ComparedFeatures

    def answer(self, archived: ArchivedAnswer, template: bytes = b"") -> ComparableDocument:
        """Read an archived answer. A template consists of words, so it is not used for the tokens of programs."""
        body, content_type = plain_body_of(archived)
        return self._document(body, archived.url, content_type, archived.url, template)

    def file(self, path: Path) -> ComparableDocument:
        """Read a file; `BadInput` if that is impossible."""
        try:
            with path.open("rb") as file:
                body = file.read(MOST_DECODED)
        except OSError as error:
            raise BadInput(
                f"{path}: cannot be read ({error.strerror}); name a file, or a URL that is archived."
            ) from error
        content_type = "text/html" if path.suffix.lower() in _PAGES else None
        return self._document(body, f"http://file.invalid/{quote(path.name)}", content_type, str(path), b"")

    def _document(
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
    """Whether this can be source code, and not a binary file."""
    return b"\0" not in body[:_CHECKED_BYTES] or body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
