"""A sink for OpenSearch and Elasticsearch: bulk requests in which an action that arrives twice or late has no effect.

Every action carries the version of the change feed as an external version: an engine that has a later one answers with
a conflict, which counts as success. What a bulk answer reports as done is in the transaction log on the disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto
from urllib.parse import quote

from crawler.errors import BadInput
from crawler.export.batches import MAX_TERM_LENGTH, BulkBatches, BulkPiece, halves, selected_fields
from crawler.export.documents import safe_json
from crawler.export.http import ATTEMPTS, EngineAnswer, EngineClient, HttpOptions, excerpt, parse_address
from crawler.items import DeletedDocument, ExportEntry, RejectedDocument

EXAMPLE = "http://127.0.0.1:9200/pages"
NDJSON = "application/x-ndjson"
_INDEX_NAME = re.compile(r"""(?![-_+.])[^A-Z\\/*?"<>| ,#:\x00-\x20]{1,255}""")
_RESPONSE_FILTER = "filter_path=errors,items.*.status,items.*.error"  # the rest of the response is not needed
# The index is closed, read-only (on a full disk), or missing: the documents are not at fault.
_INDEX_ERRORS = ("cluster_block_exception", "index_closed_exception", "index_not_found_exception")
_KEYWORD = {"type": "keyword", "ignore_above": MAX_TERM_LENGTH}
_TEXT = {"type": "text"}
_DATE = {"type": "date"}
_LENIENT_DATE = {"type": "date", "ignore_malformed": True}  # declared by pages, in any format
INDEX: Mapping[str, object] = {
    "mappings": {
        "dynamic": False,  # other fields are stored, but not indexed
        "properties": {
            **dict.fromkeys(("id", "url", "host", "content_type", "language", "format", "problem"), _KEYWORD),
            **dict.fromkeys(("canonical", "digest", "duplicate_of", "tier", "event"), _KEYWORD),
            **dict.fromkeys(("title", "text", "description", "author"), _TEXT),
            "fetched_at": _DATE,
            "published_at": _LENIENT_DATE,
            "modified_at": _LENIENT_DATE,
            "status": {"type": "short"},
            "similarity": {"type": "float"},
            "relevance": {"type": "float"},
            "noarchive": {"type": "boolean"},
            "version": {"type": "long"},
            "anchors": {"properties": {"host": _KEYWORD, "text": _TEXT}},
        },
    }
}


class BulkVerdict(Enum):
    """The result of one action of a bulk request."""

    DONE = auto()
    RETRY = auto()
    REFUSED = auto()
    NO_INDEX = auto()


class OpenSearchSink:
    """Sink for an index, which is created if it is missing."""

    acknowledge_every = 500
    may_create = True  # the index, if it is missing; False if it must have documents already

    def __init__(
        self,
        where: str,
        *,
        sleep: Callable[[float], None],
        fields: Collection[str] | None = None,
        attempts: int = ATTEMPTS,
        options: HttpOptions | None = None,
    ) -> None:
        place = parse_address(where, "opensearch", EXAMPLE)
        if not _INDEX_NAME.fullmatch(place.path[-1]):
            raise BadInput(
                f"{place}: “{excerpt(place.path[-1])}” is no name of an index (in small letters, without “*” and the "
                f"like). Nothing was exported; give one such as opensearch:{EXAMPLE}."
            )
        self._client = EngineClient(place, sleep, replace(options or HttpOptions(), attempts=attempts))
        self._path = "/" + quote("/".join(place.path), safe="/%")
        self._fields = fields
        self._batches = BulkBatches(self._send, self.acknowledge_every)
        self._index_exists = False

    def put(self, entry: ExportEntry) -> None:
        self._batches.put(self._piece(entry))

    def acknowledge(self) -> Sequence[RejectedDocument]:
        self._batches.flush()
        return self._batches.take_rejected()

    def close(self) -> None:
        self._client.close()

    def _piece(self, entry: ExportEntry) -> BulkPiece:
        facts = selected_fields(entry, self._fields)
        is_deletion = isinstance(entry, DeletedDocument)
        known = {"_id": facts["id"], "version": entry.version, "version_type": "external_gte"}
        lines = [{"delete": known}] if is_deletion else [{"index": known}, facts]
        data = "".join(f"{safe_json(line)}\n" for line in lines).encode()
        return BulkPiece(str(facts["id"]), entry.url, entry.version, is_deletion, data)

    def _send(self, pieces: Sequence[BulkPiece]) -> list[RejectedDocument]:
        """Send until every piece is done or refused; as long as some get through, the backoff starts over."""
        self._ensure_index()
        rejected: list[RejectedDocument] = []
        backoff = self._client.new_backoff()
        waiting = pieces
        while waiting:
            body = b"".join(piece.data for piece in waiting)
            answer = self._client.send("POST", f"{self._path}/_bulk?{_RESPONSE_FILTER}", body, NDJSON)
            if answer.status == 413:
                return rejected + self._send_smaller(waiting, len(body))
            items = self._items(answer, len(waiting))
            again: list[BulkPiece] = []
            for piece, item in zip(waiting, items, strict=True):
                verdict = _verdict(piece, item)
                if verdict is BulkVerdict.NO_INDEX:
                    raise self._client.down(_error(item))
                if verdict is BulkVerdict.REFUSED:
                    rejected.append(piece.rejected(_error(item)))
                elif verdict is BulkVerdict.RETRY:
                    again.append(piece)
                    trouble = _error(item)
            if again:
                if len(again) < len(waiting):
                    backoff.reset()
                backoff.wait(f"{len(again)} of {len(waiting)} documents are not taken ({trouble})", answer.retry_after)
            waiting = again
        return rejected

    def _send_smaller(self, pieces: Sequence[BulkPiece], size: int) -> list[RejectedDocument]:
        if len(pieces) == 1:
            return [pieces[0].rejected(f"413: the engine takes no request of {size} bytes")]
        self._batches.limit_bytes(size // 2)
        return [rejected for half in halves(pieces) for rejected in self._send(half)]

    def _items(self, answer: EngineAnswer, count: int) -> Sequence[Mapping[str, object]]:
        """The result of each action; `SinkDown` if the answer does not give them."""
        response = answer.json()
        items = response.get("items") if isinstance(response, dict) else None
        if answer.status != 200 or not isinstance(response, dict) or not isinstance(items, list) or len(items) != count:
            raise self._client.down(f"this is no answer to {count} actions: {answer}")
        if response.get("errors") is False:
            return [{"status": 200}] * count
        results = [result for item in items if isinstance(item, dict) for result in item.values()]
        if len(results) != count or not all(isinstance(result.get("status"), int) for result in results):
            raise self._client.down(f"this is no answer to {count} actions: {answer}")
        return results

    def _ensure_index(self) -> None:
        """Create the index with our mapping if it is missing: the engine would guess types from the first document."""
        if self._index_exists:
            return
        answer = self._client.send("HEAD", self._path, expected=(404,))
        if answer.status == 404 and not self.may_create:
            raise self._client.down("the index is gone, with what it had", "give --full to fill a new one")
        if answer.status == 404:
            answer = self._client.send("PUT", self._path, safe_json(INDEX).encode())
            if b"resource_already_exists_exception" in answer.body:  # by another process, or the first answer was lost
                answer = EngineAnswer(200, b"")
        if answer.status != 200:
            raise self._client.down(f"the index cannot be made ({answer})", "make it yourself")
        self._index_exists = True


def _verdict(piece: BulkPiece, item: Mapping[str, object]) -> BulkVerdict:
    status = item["status"]
    assert isinstance(status, int)
    if status < 300 or status == 409 or (status == 404 and piece.is_deletion and "error" not in item):
        return BulkVerdict.DONE
    if status == 429 or status >= 500:
        return BulkVerdict.RETRY
    error = item.get("error")
    kind = error.get("type") if isinstance(error, dict) else None
    return BulkVerdict.NO_INDEX if status in (401, 403, 404) or kind in _INDEX_ERRORS else BulkVerdict.REFUSED


def _error(item: Mapping[str, object]) -> str:
    """The engine's reason for refusing a document, with its cause.

    >>> error = {"type": "a", "reason": "no", "caused_by": {"type": "b", "reason": "bad date"}}
    >>> _error({"status": 400, "error": error})
    '400 a: no (b: bad date)'
    """
    error = item.get("error")
    if not isinstance(error, dict):
        return excerpt(f"{item['status']} {error or ''}")
    cause = error.get("caused_by")
    because = f" ({cause.get('type')}: {cause.get('reason')})" if isinstance(cause, dict) else ""
    return excerpt(f"{item['status']} {error.get('type')}: {error.get('reason')}{because}")
