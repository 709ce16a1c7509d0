"""A sink for Solr: update commands in order, and a hard commit before anything is acknowledged.

Solr does not compare our versions: the last command wins. So requests are sent one after the other, each after the
answer to the previous one. (If an answer does not come in time, the request is sent again while Solr may still process
the first; only a Solr that takes longer than that for a batch could mix up two versions of a document.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from urllib.parse import quote

from crawler.export.batches import MAX_TERM_LENGTH, BulkBatches, BulkPiece, flatten, halves, selected_fields
from crawler.export.documents import safe_json
from crawler.export.http import ATTEMPTS, EngineAnswer, EngineClient, HttpOptions, parse_address
from crawler.items import DeletedDocument, ExportEntry, RejectedDocument

EXAMPLE = "http://127.0.0.1:8983/solr/pages"
_BATCH = 500
_TEXT_FIELDS = ("title", "text", "description", "author", "anchors_text", "blocks_text", "links_anchor")
_REFUSED = (400, 413)  # because of one document, which Solr does not name; or because of the size
_COMMIT = b'{"commit":{}}'


class SolrSink:
    """Sink for a core or collection whose schema has the usual dynamic fields (`*_txt`, `*_s`, `*_dt` …)."""

    acknowledge_every = 10 * _BATCH  # a commit is expensive: it writes and opens new index files

    def __init__(
        self,
        where: str,
        *,
        sleep: Callable[[float], None],
        fields: Collection[str] | None = None,
        attempts: int = ATTEMPTS,
        options: HttpOptions | None = None,
    ) -> None:
        place = parse_address(where, "solr", EXAMPLE, names=2)
        self._client = EngineClient(place, sleep, replace(options or HttpOptions(), attempts=attempts))
        self._path = "/" + quote("/".join(place.path), safe="/%") + "/update"
        self._fields = fields
        self._batches = BulkBatches(self._send, _BATCH)
        self._is_committed = True

    def put(self, entry: ExportEntry) -> None:
        self._batches.put(self._piece(entry))

    def acknowledge(self) -> Sequence[RejectedDocument]:
        """Do a hard commit: a soft one makes documents searchable, but a power failure loses them."""
        self._batches.flush()
        if not self._is_committed:
            self._check(self._client.send("POST", f"{self._path}?commit=true", _COMMIT))
            self._is_committed = True
        return self._batches.take_rejected()

    def close(self) -> None:
        self._client.close()

    def _piece(self, entry: ExportEntry) -> BulkPiece:
        facts = selected_fields(entry, self._fields)
        is_deletion = isinstance(entry, DeletedDocument)
        if is_deletion:
            command = f'"delete":{safe_json({"id": facts["id"]})}'
        else:
            command = f'"add":{safe_json({"doc": document_of(facts)})}'
        return BulkPiece(str(facts["id"]), entry.url, entry.version, is_deletion, command.encode())

    def _send(self, pieces: Sequence[BulkPiece]) -> list[RejectedDocument]:
        """Send a batch; if it is refused, halve it until the bad document is found. Repeated documents do no harm."""
        self._is_committed = False
        # One JSON object with repeated keys: Solr reads it as a list of commands.
        body = b"{" + b",\n".join(piece.data for piece in pieces) + b"}"
        answer = self._client.send("POST", f"{self._path}?commitWithin=10000", body)
        if answer.status not in _REFUSED:
            self._check(answer)
            return []
        if len(pieces) == 1:
            return [pieces[0].rejected(_error(answer))]
        if answer.status == 413:
            self._batches.limit_bytes(len(body) // 2)
        return [rejected for half in halves(pieces) for rejected in self._send(half)]

    def _check(self, answer: EngineAnswer) -> None:
        response = answer.json()
        header = response.get("responseHeader") if isinstance(response, dict) else None
        if answer.status != 200 or not isinstance(header, dict) or header.get("status") != 0:
            raise self._client.down(f"this is no answer to an update: {answer}")


def document_of(facts: dict[str, object]) -> dict[str, object]:
    """The fields as a Solr document: dynamic fields, with a suffix for the type.

    >>> document_of({"id": "1", "title": "Tea", "host": "a.example", "version": 7, "anchors": [{"text": "tea"}]})
    {'id': '1', 'title_txt': 'Tea', 'host_s': 'a.example', 'version_l': 7, 'anchors_text_txt': ['tea']}
    """
    fields = flatten(facts)
    return {
        name if name == "id" else f"{name}{_suffix(name, value)}": value
        for name, value in fields.items()
        if name in _TEXT_FIELDS or not (isinstance(value, str) and len(value) > MAX_TERM_LENGTH)
    }


def _suffix(name: str, value: object) -> str:
    if name in _TEXT_FIELDS:
        return "_txt"
    if name == "fetched_at":
        return "_dt"
    if isinstance(value, list):
        return f"{_suffix(name, value[0])}s"
    return {bool: "_b", int: "_l", float: "_d"}.get(type(value), "_s")


def _error(answer: EngineAnswer) -> str:
    response = answer.json()
    error = response.get("error") if isinstance(response, dict) else None
    return f"{answer.status} {error.get('msg')}" if isinstance(error, dict) else str(answer)
