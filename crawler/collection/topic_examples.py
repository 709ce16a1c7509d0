"""Examples of a topic: archived URLs, files of text or HTML, labelled lines, and all pages of a finished crawl."""

from __future__ import annotations

import gzip
import heapq
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from xxhash import xxh3_64_intdigest

from crawler.collection.archive_reader import newest_archived, read_archived
from crawler.collection.topics import TopicExample, topic_of_crawl
from crawler.content.answers import ArchivedAnswer, parse_archived
from crawler.errors import BadInput, CrawlError, DiskTrouble, NoCrawl
from crawler.items import Reason
from crawler.monitor.text import in_directory
from crawler.options import Options
from crawler.parse.coding import MOST_DECODED
from crawler.parse.html import Reading
from crawler.parse.reading import ParsedBody, parse_body, text_of
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.schemes import is_web_url

MAX_FROM_CRAWL: Final = 1_000  # pages of another crawl that become examples
MAX_BACKGROUND: Final = 300  # archived pages from which frequencies of words are learned
_PAGES: Final = (".html", ".htm", ".xhtml")
_LINES: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_LABELS: Final = {
    **dict.fromkeys(("true", "1", "yes", "y", "positive", "relevant", "on", "like"), True),
    **dict.fromkeys(("false", "0", "no", "n", "negative", "irrelevant", "off", "unlike", "-1"), False),
}
_ON_TOPIC: Final = 0.5  # relevance from which a page of another focused crawl is an example
_READ_AT_ONCE: Final = 1_000  # documents
_READ_REASONS: Final = frozenset({Reason.OK, Reason.OFF_TOPIC})
_MOST_NAMED: Final = 5  # URLs that are named in an error
Progress = Callable[[str, int, int], None]  # step, amount done, total (0 = unknown)


class ExampleReader:
    """Reads the examples that a user names."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._missing: dict[str, str] = {}  # URLs that are not archived, and why

    def read(self, names: Sequence[str], *, is_positive: bool | None) -> list[TopicExample]:
        """Read URLs and files as examples of one kind; labels in a file count more than the kind.

        `BadInput` names what cannot be read; None for the kind means that only labelled lines can.
        """
        found = [example for name in names for example in self._examples(name, is_positive)]
        if self._missing:
            raise _not_archived(self._missing, self._options)
        return found

    def read_text(self, name: str) -> str:
        """Read the text of an archived URL or of a file, as a topic judges it."""
        if not _is_url(name):
            return _file_text(Path(name), self._options.reading)
        archived, _ = newest_archived(self._options, name)
        return archived_text(archived, self._options.reading)

    def _examples(self, name: str, is_positive: bool | None) -> Iterator[TopicExample]:
        if name.lower().endswith(_LINES):
            yield from _labelled_lines(Path(name), is_positive)
            return
        if is_positive is None:
            raise BadInput(
                f"{name}: has no labels. Name a .jsonl file with text and label, or use --like and --unlike."
            )
        try:
            yield TopicExample(self._source(name), is_positive, self.read_text(name))
        except (BadInput, DiskTrouble):
            raise
        except NoCrawl:
            self._missing[name] = f"{name}: not archived, since there is no crawl in {self._options.crawl.dir} yet."
        except CrawlError as error:
            self._missing[name] = str(error)

    def _source(self, name: str) -> str:
        if not _is_url(name):
            return str(Path(name).resolve())
        return self._options.urls.new_policy().canonicalize(name) or name


def examples_of_crawl(options: Options, progress: Progress) -> list[TopicExample]:
    """Return pages of a finished crawl as examples on topic, drawn evenly if there are very many.

    Of a focused crawl only those that were judged to be on its topic are taken.
    """
    return [
        TopicExample(document.url, is_positive=True, text=text)
        for document, text in archived_pages(options, MAX_FROM_CRAWL, progress)
        if document.relevance is None or document.relevance >= _ON_TOPIC
    ]


def archived_pages(options: Options, most: int, progress: Progress) -> Iterator[tuple[DocumentRow, str]]:
    """Yield pages of a collection with their texts, drawn evenly if there are more than `most`.

    Documents that cannot be read from the archive, and those without text, are left out.
    """
    store = open_store(options.store, read_only=True)
    try:
        drawn = heapq.nsmallest(most, archived_documents(store), key=lambda document: drawing_order(document.url))
        for done, document in enumerate(newest_versions(drawn)):
            progress("reading archived pages", done, len(drawn))
            text = text_of_document(store, options, document)
            if text is not None:
                yield document, text
    finally:
        store.close()


def archived_documents(store: Store) -> Iterator[DocumentRow]:
    """Yield the archived versions of pages that are no copies of others, also of those off topic."""
    after = 0
    while documents := store.documents.of_pages(after, _READ_AT_ONCE):
        for document in documents:
            if document.reason in _READ_REASONS and document.has_body and document.duplicate_of is None:
                yield document
        after = documents[-1].id


def newest_versions(documents: Iterable[DocumentRow]) -> list[DocumentRow]:
    """Return the newest of the versions of each URL, in the order of fetching."""
    ordered = sorted(documents, key=lambda document: document.id)
    return [*{document.url: document for document in ordered}.values()]


def drawing_order(url: str) -> int:
    """Return a number by which URLs are drawn: as good as random, and the same each time."""
    return xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))


def text_of_document(store: Store, options: Options, document: DocumentRow) -> str | None:
    """Return the text of a document as a topic judges it; None if it has none, or cannot be read."""
    try:
        text = archived_text(read_archived(store, options.warc_directory, document), options.reading)
    except CrawlError:
        return None
    return text if text.strip() else None


def background_pages(options: Options, progress: Progress) -> list[str]:
    """Return the texts of some archived pages, whatever they are about; none before a crawl has begun."""
    try:
        return [text for _, text in archived_pages(options, MAX_BACKGROUND, progress)]
    except NoCrawl:
        return []


def archived_text(archived: ArchivedAnswer, reading: Reading) -> str:
    """Return title, newline, main text of an archived answer."""
    return _topic_text(parse_archived(archived, reading))


def _topic_text(parsed: ParsedBody) -> str:
    return f"{parsed.title}\n{text_of(parsed)}"


def _file_text(path: Path, reading: Reading) -> str:
    """Read the text of a file, of HTML or of any other format that crawls read."""
    content_type = "text/html" if path.suffix.lower() in _PAGES else None
    url = f"http://file.invalid/{quote(path.name)}"
    text = _topic_text(parse_body(_bytes_of(path), url, content_type, reading=reading))
    if not text.strip():
        raise BadInput(f"{path}: has no text that Orbweaver can read; name a file of HTML, text or another document.")
    return text


def _bytes_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_DECODED)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}); name a file, or a URL that is archived.") from error


def _labelled_lines(path: Path, is_positive: bool | None) -> Iterator[TopicExample]:
    """Read a file with a JSON object per line, which has a text and perhaps a title and a label."""
    data = _bytes_of(path)
    try:
        if path.suffix == ".gz":
            with gzip.open(io.BytesIO(data)) as unpacked:
                data = unpacked.read(MOST_DECODED + 1)
            if len(data) > MOST_DECODED:
                raise BadInput(f"{path}: unpacks to more than {MOST_DECODED:,} bytes; divide it.")
        lines = data.decode("utf-8-sig").split("\n")  # only there: a text may have other ends of lines in it
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise BadInput(f"{path}: not UTF-8 or damaged ({error}).") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            row = _row(line, f"{path}, line {number}")
            kind = _label(row.get("label"), f"{path}, line {number}", is_positive)
            title = row.get("title")
            text = f"{title}\n{row['text']}" if isinstance(title, str) else row["text"]
            yield TopicExample(str(row.get("url") or f"{path.resolve()}:{number}"), kind, text)


def _row(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{place}: not JSON ({error}); each line must be an object with text and label.") from error
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise BadInput(f'{place}: must be an object with a text, such as {{"text": "…", "label": true}}.')
    return row


def _label(label: object, place: str, default: bool | None) -> bool:
    if label is None and default is not None:
        return default
    kind = _LABELS.get(str(label).strip().lower())
    if kind is None:
        raise BadInput(f"{place}: the label {label!r} must be true or false.")
    return kind


def _not_archived(missing: dict[str, str], options: Options) -> BadInput:
    """Name the URLs that are not archived, and the commands that fetch them."""
    named = " ".join([*missing.values()][:_MOST_NAMED])
    more = f" And {len(missing) - _MOST_NAMED} more." if len(missing) > _MOST_NAMED else ""
    where, spider = in_directory(options.crawl.dir), "focused" if topic_of_crawl(options) else "web"
    return BadInput(
        f"{named}{more} The topic was not changed, since only crawls fetch pages. Write these URLs into a file, a line "
        f"each, then: scrapy seed --now FILE {where} && scrapy crawl {spider} {where}"
    )


def _is_url(name: str) -> bool:
    return is_web_url(name) and not Path(name).is_file()
