"""A sink for Vespa: one request per document, several in flight, but never two for the same document.

Vespa does not compare our versions: the last operation wins. So a batch has each document once, and the next batch
starts when all requests of this one are answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from urllib.parse import quote

from crawler.export.batches import BulkBatches, BulkPiece, flatten, selected_fields
from crawler.export.documents import safe_json
from crawler.export.http import ATTEMPTS, EngineAnswer, EngineClient, HttpOptions, parse_address
from crawler.items import DeletedDocument, ExportEntry, RejectedDocument

EXAMPLE = "http://127.0.0.1:8080/web/page"
IN_FLIGHT = 8
# Characters for which Vespa refuses a document: control characters and noncharacters.
_REFUSED_CHARACTERS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ufdd0-\ufdef\ufffe\uffff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
    + "]"
)


class VespaSink:
    """Sink for a document type whose schema has our fields, or those that were chosen."""

    acknowledge_every = 500

    def __init__(
        self,
        where: str,
        *,
        sleep: Callable[[float], None],
        fields: Collection[str] | None = None,
        attempts: int = ATTEMPTS,
        options: HttpOptions | None = None,
    ) -> None:
        place = parse_address(where, "vespa", EXAMPLE, names=2)
        options = replace(options or HttpOptions(), attempts=attempts)
        self._client = EngineClient(place, sleep, options, IN_FLIGHT)
        *above, namespace, document_type = (quote(part, safe="%") for part in place.path)
        self._path = "/" + "/".join((*above, "document/v1", namespace, document_type, "docid"))
        # Vespa's timeout is shorter than ours, so that a request that we repeat is not overtaken by its first attempt.
        self._timeout = f"timeout={options.read * 0.8:g}s"
        self._fields = fields
        self._threads = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="vespa")
        self._batches = BulkBatches(self._send, self.acknowledge_every)

    def put(self, entry: ExportEntry) -> None:
        self._batches.put(self._piece(entry))

    def acknowledge(self) -> Sequence[RejectedDocument]:
        self._batches.flush()
        return self._batches.take_rejected()

    def close(self) -> None:
        self._threads.shutdown()
        self._client.close()

    def _piece(self, entry: ExportEntry) -> BulkPiece:
        facts = selected_fields(entry, self._fields)
        is_deletion = isinstance(entry, DeletedDocument)
        data = (
            b""
            if isinstance(entry, DeletedDocument)
            else safe_json({"fields": document_of(facts, entry.fetched)}).encode()
        )
        return BulkPiece(str(facts["id"]), entry.url, entry.version, is_deletion, data)

    def _send(self, pieces: Sequence[BulkPiece]) -> list[RejectedDocument]:
        sent = [self._threads.submit(self._send_one, piece) for piece in pieces]
        try:
            return [rejected for each in sent if (rejected := each.result())]
        finally:
            for each in sent:
                each.cancel()
            wait(sent)

    def _send_one(self, piece: BulkPiece) -> RejectedDocument | None:
        method, expected = ("DELETE", (404,)) if piece.is_deletion else ("POST", ())
        answer = self._client.send(method, f"{self._path}/{piece.id}?{self._timeout}", piece.data, expected=expected)
        if answer.status in (400, 413):
            return piece.rejected(_error(answer))
        response = answer.json()
        if answer.status not in (200, *expected) or not isinstance(response, dict) or "pathId" not in response:
            raise self._client.down(f"this is no answer to a document: {answer}")
        return None


def document_of(facts: dict[str, object], fetched: float) -> dict[str, object]:
    """The fields as a Vespa document: dates as numbers, texts without control characters.

    >>> document_of({"id": "1", "fetched_at": "1970-01-01T00:01:40.500000Z", "title": "a\\x00b"}, 100.5)
    {'id': '1', 'fetched_at': 100, 'title': 'a b'}
    """
    fields = {name: _clean_text(value) for name, value in flatten(facts).items()}
    return fields | {"fetched_at": int(fetched)} if "fetched_at" in fields else fields


def _clean_text(value: object) -> object:
    if isinstance(value, str):
        return _REFUSED_CHARACTERS.sub(" ", value)
    return [_clean_text(each) for each in value] if isinstance(value, list) else value


def _error(answer: EngineAnswer) -> str:
    response = answer.json()
    return f"{answer.status} {response.get('message')}" if isinstance(response, dict) else str(answer)
