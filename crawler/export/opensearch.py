"""Documents for OpenSearch and Elasticsearch: in bulk, and whatever arrives twice or late changes nothing.

Every action carries the version of the change feed as an external version: an engine that holds a later one answers with
a conflict, and then there is nothing to do. What a bulk answer reports as done is in the transaction log on the disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto
from urllib.parse import quote

from crawler.errors import BadInput
from crawler.export.batches import LONGEST_TERM, BulkBatches, BulkPiece, chosen, halves
from crawler.export.documents import safe_json
from crawler.export.http import ATTEMPTS, EngineAnswer, EngineClient, HttpOptions, place_of, plain
from crawler.items import DeletedDocument, ExportEntry, RejectedDocument

EXAMPLE = "http://127.0.0.1:9200/pages"
NDJSON = "application/x-ndjson"
_NAME = re.compile(r"""(?![-_+.])[^A-Z\\/*?"<>| ,#:\x00-\x20]{1,255}""")
_ANSWER = "filter_path=errors,items.*.status,items.*.error"  # we know the rest
# The index is closed, read-only (a full disk does that), or not there: no document is at fault.
_OF_THE_INDEX = ("cluster_block_exception", "index_closed_exception", "index_not_found_exception")
_KEYWORD = {"type": "keyword", "ignore_above": LONGEST_TERM}
_TEXT = {"type": "text"}
_DATE = {"type": "date"}
_SAID_DATE = {"type": "date", "ignore_malformed": True}  # as pages say it, if they do
INDEX: Mapping[str, object] = {
    "mappings": {
        "dynamic": False,  # what is not named here is kept, and not searched
        "properties": {
            **dict.fromkeys(("id", "url", "host", "content_type", "language", "format", "problem"), _KEYWORD),
            **dict.fromkeys(("canonical", "digest", "duplicate_of", "tier", "event"), _KEYWORD),
            **dict.fromkeys(("title", "text", "description", "author"), _TEXT),
            "fetched_at": _DATE,
            "published_at": _SAID_DATE,
            "modified_at": _SAID_DATE,
            "status": {"type": "short"},
            "similarity": {"type": "float"},
            "noarchive": {"type": "boolean"},
            "version": {"type": "long"},
            "anchors": {"properties": {"host": _KEYWORD, "text": _TEXT}},
        },
    }
}


class BulkVerdict(Enum):
    """What became of one action of a bulk request."""

    DONE = auto()
    AGAIN = auto()
    REFUSED = auto()
    NO_INDEX = auto()


class OpenSearchSink:
    """Sink for an index, which is made if it is missing."""

    every = 500
    may_create = True  # an index that is missing; False if it is to have something already

    def __init__(
        self,
        where: str,
        *,
        sleep: Callable[[float], None],
        fields: Collection[str] | None = None,
        attempts: int = ATTEMPTS,
        options: HttpOptions | None = None,
    ) -> None:
        place = place_of(where, "opensearch", EXAMPLE)
        if not _NAME.fullmatch(place.path[-1]):
            raise BadInput(
                f"{place}: “{plain(place.path[-1])}” is no name of an index (in small letters, without “*” and the like). "
                f"Nothing was exported; give one such as opensearch:{EXAMPLE}."
            )
        self._client = EngineClient(place, sleep, replace(options or HttpOptions(), attempts=attempts))
        self._path = "/" + quote("/".join(place.path), safe="/%")
        self._fields = fields
        self._batches = BulkBatches(self._send, self.every)
        self._is_there = False

    def put(self, entry: ExportEntry) -> None:
        self._batches.put(self._piece(entry))

    def acknowledge(self) -> Sequence[RejectedDocument]:
        self._batches.flush()
        return self._batches.take_rejected()

    def close(self) -> None:
        self._client.close()

    def _piece(self, entry: ExportEntry) -> BulkPiece:
        facts = chosen(entry, self._fields)
        is_deletion = isinstance(entry, DeletedDocument)
        known = {"_id": facts["id"], "version": entry.version, "version_type": "external_gte"}
        lines = [{"delete": known}] if is_deletion else [{"index": known}, facts]
        data = "".join(f"{safe_json(line)}\n" for line in lines).encode()
        return BulkPiece(str(facts["id"]), entry.url, entry.version, is_deletion, data)

    def _send(self, pieces: Sequence[BulkPiece]) -> list[RejectedDocument]:
        """Until all are done or refused. Patience ends when nothing more gets through, not when much is to be repeated."""
        self._make_index()
        rejected: list[RejectedDocument] = []
        patience = self._client.patience()
        waiting = pieces
        while waiting:
            body = b"".join(piece.data for piece in waiting)
            answer = self._client.send("POST", f"{self._path}/_bulk?{_ANSWER}", body, NDJSON)
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
                elif verdict is BulkVerdict.AGAIN:
                    again.append(piece)
                    trouble = _error(item)
            if again:
                if len(again) < len(waiting):
                    patience.renew()
                patience.wait(f"{len(again)} of {len(waiting)} documents are not taken ({trouble})", answer.retry_after)
            waiting = again
        return rejected

    def _send_smaller(self, pieces: Sequence[BulkPiece], size: int) -> list[RejectedDocument]:
        if len(pieces) == 1:
            return [pieces[0].rejected(f"413: the engine takes no request of {size} bytes")]
        self._batches.at_most(size // 2)
        return [rejected for half in halves(pieces) for rejected in self._send(half)]

    def _items(self, answer: EngineAnswer, count: int) -> Sequence[Mapping[str, object]]:
        """What became of each action: nothing to look at if all went well. `SinkDown` if that is not known."""
        said = answer.json()
        items = said.get("items") if isinstance(said, dict) else None
        if answer.status != 200 or not isinstance(said, dict) or not isinstance(items, list) or len(items) != count:
            raise self._client.down(f"this is no answer to {count} actions: {answer}")
        if said.get("errors") is False:
            return [{"status": 200}] * count
        results = [result for item in items if isinstance(item, dict) for result in item.values()]
        if len(results) != count or not all(isinstance(result.get("status"), int) for result in results):
            raise self._client.down(f"this is no answer to {count} actions: {answer}")
        return results

    def _make_index(self) -> None:
        """Left to itself the engine would guess the types of our fields from the first document."""
        if self._is_there:
            return
        answer = self._client.send("HEAD", self._path, fine=(404,))
        if answer.status == 404 and not self.may_create:
            raise self._client.down("the index is gone, with what it had", "give --full to fill a new one")
        if answer.status == 404:
            answer = self._client.send("PUT", self._path, safe_json(INDEX).encode())
            if b"resource_already_exists_exception" in answer.body:  # another was faster, or an answer was lost
                answer = EngineAnswer(200, b"")
        if answer.status != 200:
            raise self._client.down(f"the index cannot be made ({answer})", "make it yourself")
        self._is_there = True


def _verdict(piece: BulkPiece, item: Mapping[str, object]) -> BulkVerdict:
    status = item["status"]
    assert isinstance(status, int)
    if status < 300 or status == 409 or (status == 404 and piece.is_deletion and "error" not in item):
        return BulkVerdict.DONE
    if status == 429 or status >= 500:
        return BulkVerdict.AGAIN
    error = item.get("error")
    kind = error.get("type") if isinstance(error, dict) else None
    return BulkVerdict.NO_INDEX if status in (401, 403, 404) or kind in _OF_THE_INDEX else BulkVerdict.REFUSED


def _error(item: Mapping[str, object]) -> str:
    """What the engine has against it: the last cause says most.

    >>> _error({"status": 400, "error": {"type": "a", "reason": "no", "caused_by": {"type": "b", "reason": "bad date"}}})
    '400 a: no (b: bad date)'
    """
    error = item.get("error")
    if not isinstance(error, dict):
        return plain(f"{item['status']} {error or ''}")
    cause = error.get("caused_by")
    because = f" ({cause.get('type')}: {cause.get('reason')})" if isinstance(cause, dict) else ""
    return plain(f"{item['status']} {error.get('type')}: {error.get('reason')}{because}")
