"""Documents for Solr: commands in their order, and a commit before anything counts as taken.

Solr does not compare versions of ours: the last command holds. They are sent one request after the other, each after the
answer to the one before. (If an answer does not come in time, the request is sent again while Solr may still be at the first;
only a Solr that takes longer than that for a batch could mix up two versions of a document.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from urllib.parse import quote

from crawler.export.batches import LONGEST_TERM, BulkBatches, BulkPiece, chosen, flat, halves
from crawler.export.documents import safe_json
from crawler.export.http import ATTEMPTS, EngineAnswer, EngineClient, HttpOptions, place_of
from crawler.items import DeletedDocument, ExportEntry, RejectedDocument

EXAMPLE = "http://127.0.0.1:8983/solr/pages"
_BATCH = 500
_TEXTS = ("title", "text", "description", "author", "anchors_text", "blocks_text", "links_anchor")
_REFUSED = (400, 413)  # for one document of them, which is not named; or for their size
_COMMIT = b'{"commit":{}}'


class SolrSink:
    """Sink for a core or collection whose schema has the usual dynamic fields (`*_txt`, `*_s`, `*_dt` …)."""

    every = 10 * _BATCH  # a commit writes and opens a new index: not for every batch

    def __init__(
        self,
        where: str,
        *,
        sleep: Callable[[float], None],
        fields: Collection[str] | None = None,
        attempts: int = ATTEMPTS,
        options: HttpOptions | None = None,
    ) -> None:
        place = place_of(where, "solr", EXAMPLE, names=2)
        self._client = EngineClient(place, sleep, replace(options or HttpOptions(), attempts=attempts))
        self._path = "/" + quote("/".join(place.path), safe="/%") + "/update"
        self._fields = fields
        self._batches = BulkBatches(self._send, _BATCH)
        self._is_committed = True

    def put(self, entry: ExportEntry) -> None:
        self._batches.put(self._piece(entry))

    def acknowledge(self) -> Sequence[RejectedDocument]:
        """A hard commit: a soft one shows the documents to who searches, and loses them with the power."""
        self._batches.flush()
        if not self._is_committed:
            self._check(self._client.send("POST", f"{self._path}?commit=true", _COMMIT))
            self._is_committed = True
        return self._batches.take_rejected()

    def close(self) -> None:
        self._client.close()

    def _piece(self, entry: ExportEntry) -> BulkPiece:
        facts = chosen(entry, self._fields)
        is_deletion = isinstance(entry, DeletedDocument)
        if is_deletion:
            command = f'"delete":{safe_json({"id": facts["id"]})}'
        else:
            command = f'"add":{safe_json({"doc": document_of(facts)})}'
        return BulkPiece(str(facts["id"]), entry.url, entry.version, is_deletion, command.encode())

    def _send(self, pieces: Sequence[BulkPiece]) -> list[RejectedDocument]:
        """A refused batch is halved until the bad document stands alone; what was taken of it before is only repeated."""
        self._is_committed = False
        # One object with the same names again and again: Solr reads it as a list of commands.
        body = b"{" + b",\n".join(piece.data for piece in pieces) + b"}"
        answer = self._client.send("POST", f"{self._path}?commitWithin=10000", body)
        if answer.status not in _REFUSED:
            self._check(answer)
            return []
        if len(pieces) == 1:
            return [pieces[0].rejected(_error(answer))]
        if answer.status == 413:
            self._batches.at_most(len(body) // 2)
        return [rejected for half in halves(pieces) for rejected in self._send(half)]

    def _check(self, answer: EngineAnswer) -> None:
        said = answer.json()
        header = said.get("responseHeader") if isinstance(said, dict) else None
        if answer.status != 200 or not isinstance(header, dict) or header.get("status") != 0:
            raise self._client.down(f"this is no answer to an update: {answer}")


def document_of(facts: dict[str, object]) -> dict[str, object]:
    """With the type of each field at the end of its name.

    >>> document_of({"id": "1", "title": "Tea", "host": "a.example", "version": 7, "anchors": [{"text": "tea"}]})
    {'id': '1', 'title_txt': 'Tea', 'host_s': 'a.example', 'version_l': 7, 'anchors_text_txt': ['tea']}
    """
    fields = flat(facts)
    return {
        name if name == "id" else f"{name}{_suffix(name, value)}": value
        for name, value in fields.items()
        if name in _TEXTS or not (isinstance(value, str) and len(value) > LONGEST_TERM)
    }


def _suffix(name: str, value: object) -> str:
    if name in _TEXTS:
        return "_txt"
    if name == "fetched_at":
        return "_dt"
    if isinstance(value, list):
        return f"{_suffix(name, value[0])}s"
    return {bool: "_b", int: "_l", float: "_d"}.get(type(value), "_s")


def _error(answer: EngineAnswer) -> str:
    said = answer.json()
    error = said.get("error") if isinstance(said, dict) else None
    return f"{answer.status} {error.get('msg')}" if isinstance(error, dict) else str(answer)
