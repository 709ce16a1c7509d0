"""Fake search engines in memory, on loopback: as strict as the real ones are documented, with configurable failures.

python -m tests.export.engines opensearch --port 0 --items 0.3 --lost 0.2 --seed 7

prints the port and serves until it is killed; GET /_all answers with all documents.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import threading
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

MAX_TERM_BYTES = 32_766  # of Lucene
HELD = 30.0  # seconds after which an answer that is held back is sent in any case


class Fault(StrEnum):
    AWAY = "away"  # 503, and the request is not executed
    LOST = "lost"  # executed, and the connection closed without an answer
    CUT = "cut"  # executed, and the connection closed in the middle of the answer
    GARBAGE = "garbage"  # executed, and the answer is malformed
    HELD = "held"  # executed, and not answered before the next request has come


class ReceivedRequest(NamedTuple):
    method: str
    path: str  # with its query
    headers: Mapping[str, str]
    body: bytes
    port: int  # of the client: one for each connection


@dataclass
class Faults:
    """How often an engine fails: shares of all requests, and `items` of all documents."""

    seed: int = 0
    items: float = 0.0
    shares: dict[Fault, float] = field(default_factory=dict)
    next: list[Fault | None] = field(default_factory=list)  # faults of the next requests; after them they are random
    garbage: int = 5  # malformed answers in total: each ends an export
    status: int = 503  # of the fault AWAY
    retry_after: str = ""
    largest: int = 100 << 20  # bytes of a request
    authorization: str = ""  # the header that is required, if any
    refuse: str = "poison"  # a document with this word in its title is refused

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._lock = threading.Lock()

    def draw_request_fault(self) -> Fault | None:
        with self._lock:
            if self.next:
                return self.next.pop(0)
            drawn = self._random.random()
            for fault, share in self.shares.items():
                drawn -= share
                if drawn < 0:
                    self.garbage -= fault is Fault.GARBAGE
                    return None if fault is Fault.GARBAGE and self.garbage < 0 else fault
            return None

    def draw_item_status(self) -> int:
        """The status with which a document is refused for now, or 0 if it is accepted."""
        with self._lock:
            return self._random.choice((429, 503)) if self._random.random() < self.items else 0


class Engine(ThreadingHTTPServer):
    """What all fake engines have in common."""

    request_queue_size = 64

    def __init__(self, faults: Faults | None = None, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.faults = faults or Faults()
        self.lock = threading.Lock()
        self.requests: list[ReceivedRequest] = []
        self.arrived = threading.Condition()
        self._in_flight: Counter[str] = Counter()
        self.most_in_flight = 0  # the largest number of concurrent requests
        self.most_for_one_path = 0  # the same, for a single path

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    @abstractmethod
    def where(self) -> str:
        """The address to give to a sink."""

    @property
    @abstractmethod
    def documents(self) -> Mapping[str, tuple[int, dict[str, Any]]]:
        """The documents that a search finds: id → version, document."""

    @abstractmethod
    def execute(self, request: ReceivedRequest) -> tuple[int, object]:
        """Execute a request; returns status and answer."""

    @contextmanager
    def recorded(self, request: ReceivedRequest) -> Iterator[int]:
        """Record a request while it is executed; gives the number of requests so far."""
        with self.arrived:
            self.requests.append(request)
            self._in_flight[request.path] += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight.total())
            self.most_for_one_path = max(self.most_for_one_path, self._in_flight[request.path])
            self.arrived.notify_all()
            count = len(self.requests)
        try:
            yield count
        finally:
            with self.arrived:
                self._in_flight[request.path] -= 1

    def wait_for_more_than(self, count: int) -> None:
        with self.arrived:
            self.arrived.wait_for(lambda: len(self.requests) > count, HELD)

    def is_refused(self, title: object) -> bool:
        return self.faults.refuse in str(title).split()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that close their connection early."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            thread.join()
            self.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Engine

    def do_any(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        request = ReceivedRequest(self.command, self.path, dict(self.headers), body, self.client_address[1])
        with self.server.recorded(request) as count:
            self.answer(request, count)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_any  # noqa: N815

    def answer(self, request: ReceivedRequest, count: int) -> None:
        engine, faults = self.server, self.server.faults
        if self.path == "/_all":
            return self.say(200, engine.documents)
        if faults.authorization and self.headers["Authorization"] != faults.authorization:
            return self.say(401, {"error": "who are you?"})
        if len(request.body) > faults.largest:
            return self.say(413, {"error": "too large"})
        fault = faults.draw_request_fault()
        if fault is Fault.AWAY:
            return self.say(faults.status, {"error": "not now"})
        with engine.lock:
            status, answer = engine.execute(request)
        if fault is Fault.HELD:
            engine.wait_for_more_than(count)
        if fault is Fault.LOST:
            self.close_connection = True
            return None
        return self.say(status, answer, fault)

    def say(self, status: int, answer: object, fault: Fault | None = None) -> None:
        data = b"<html>Welcome!" if fault is Fault.GARBAGE else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        if status == self.server.faults.status and self.server.faults.retry_after:
            self.send_header("Retry-After", self.server.faults.retry_after)
        self.end_headers()
        if fault is Fault.CUT:
            data, self.close_connection = data[: len(data) // 2], True
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Do not log: the tests look at `requests` instead."""


class OpenSearchServer(Engine):
    """Indexes, bulk requests, and external versions that outlive deletions. Creates no index by itself."""

    def __init__(self, faults: Faults | None = None, port: int = 0) -> None:
        super().__init__(faults, port)
        self.mappings: dict[str, dict[str, Any]] = {}
        self.indices: dict[str, dict[str, tuple[int, dict[str, Any]]]] = {}
        self.versions: Counter[tuple[str, str]] = Counter()  # of deleted documents too

    @property
    def where(self) -> str:
        return f"{self.origin}/pages"

    @property
    def documents(self) -> Mapping[str, tuple[int, dict[str, Any]]]:
        return {key: document for index in self.indices.values() for key, document in index.items()}

    def execute(self, request: ReceivedRequest) -> tuple[int, object]:
        _, name, *rest = urlsplit(request.path).path.split("/")
        if rest == ["_bulk"] and request.method == "POST":
            return self._bulk(name, request)
        if request.method == "HEAD":
            return (200 if name in self.indices else 404), {}
        if request.method == "PUT" and not rest:
            return self._make(name, request)
        return 405, {"error": "no such thing"}

    def _make(self, name: str, request: ReceivedRequest) -> tuple[int, object]:
        if name in self.indices:
            return 400, {"error": {"type": "resource_already_exists_exception", "reason": name}, "status": 400}
        self.mappings[name] = json.loads(request.body)["mappings"]
        self.indices[name] = {}
        return 200, {"acknowledged": True, "shards_acknowledged": True, "index": name}

    def _bulk(self, name: str, request: ReceivedRequest) -> tuple[int, object]:
        if request.headers.get("Content-Type") not in ("application/x-ndjson", "application/json"):
            return 406, {"error": "Content-Type header is not supported"}
        if not request.body.endswith(b"\n"):
            return 400, _error("illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]")
        try:
            actions = list(_actions(request.body.decode("utf-8", "strict")))
        except (ValueError, KeyError, StopIteration) as error:
            return 400, _error("illegal_argument_exception", f"Malformed action/metadata line: {error!r}")
        items = [{kind: self._act(name, kind, given, source)} for kind, given, source in actions]
        failed = any("error" in result for item in items for result in item.values())
        return 200, {"took": 1, "errors": failed, "items": items}

    def _act(self, name: str, kind: str, given: dict[str, Any], source: dict[str, Any] | None) -> dict[str, Any]:
        key, version = given["_id"], given["version"]
        if name not in self.indices:
            return _error("index_not_found_exception", f"no such index [{name}]", 404)
        if len(key.encode()) > 512:
            return _error("illegal_argument_exception", "id is too long, must be no longer than 512 bytes", 400)
        if given["version_type"] != "external_gte" or set(given) != {"_id", "version", "version_type"}:
            return _error("illegal_argument_exception", f"this server does not know {given}", 400)
        if status := self.faults.draw_item_status():
            return _error("rejected_execution_exception", "queue capacity is used up", status)
        wrong = self._wrong(name, source) if source is not None else ""
        if wrong:
            return _error("mapper_parsing_exception", wrong, 400)
        if version < self.versions[name, key]:
            return _error("version_conflict_engine_exception", f"[{self.versions[name, key]}] is higher", 409)
        self.versions[name, key] = version
        before = self.indices[name].pop(key, None)
        if source is None:
            return {"_id": key, "result": "deleted" if before else "not_found", "status": 200 if before else 404}
        self.indices[name][key] = (version, source)
        return {"_id": key, "result": "updated" if before else "created", "status": 200 if before else 201}

    def _wrong(self, name: str, source: dict[str, Any]) -> str:
        """Why the mapping refuses a document; empty if it does not."""
        if self.is_refused(source.get("title")):
            return "failed to parse field [title]"
        for field_name, rule in self.mappings[name]["properties"].items():
            value = source.get(field_name)
            if value is not None and not rule.get("ignore_malformed") and not _fits(value, rule):
                return f"failed to parse field [{field_name}] of type [{rule.get('type')}]"
        return ""


def _actions(text: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any] | None]]:
    lines = iter(text.split("\n")[:-1])
    for line in lines:
        ((kind, given),) = json.loads(line).items()
        if kind not in ("index", "delete"):
            raise ValueError(kind)
        yield kind, given, json.loads(next(lines)) if kind == "index" else None


def _fits(value: Any, rule: Mapping[str, Any]) -> bool:
    match rule.get("type"):
        case "date":
            return datetime.fromisoformat(value) is not None
        case "short":
            return isinstance(value, int) and abs(value) < 1 << 15
        case "long":
            return isinstance(value, int)
        case "boolean":
            return isinstance(value, bool)
        case "keyword":
            return isinstance(value, str) and ("ignore_above" in rule or len(value.encode()) <= MAX_TERM_BYTES)
        case "text":
            return isinstance(value, str)
    return True


def _error(kind: str, reason: str, status: int = 400) -> dict[str, Any]:
    return {"error": {"type": kind, "reason": reason}, "status": status}


class SolrServer(Engine):
    """One core. Executes commands in order until one is wrong; nothing is visible or durable before a commit."""

    _types: Mapping[str, type | tuple[type, ...]] = {
        "s": str,
        "txt": (str, list),
        "dt": str,
        "l": int,
        "d": float,
        "b": bool,
    }

    def __init__(self, faults: Faults | None = None, port: int = 0) -> None:
        super().__init__(faults, port)
        self._written: dict[str, dict[str, Any]] = {}
        self._committed: dict[str, dict[str, Any]] = {}
        self.commits = 0

    @property
    def where(self) -> str:
        return f"{self.origin}/solr/pages"

    @property
    def documents(self) -> Mapping[str, tuple[int, dict[str, Any]]]:
        return {key: (document["version_l"], document) for key, document in self._committed.items()}

    def execute(self, request: ReceivedRequest) -> tuple[int, object]:
        split = urlsplit(request.path)
        if (request.method, split.path) != ("POST", "/solr/pages/update"):
            return 404, {"error": {"msg": "not found"}}
        if status := self.faults.draw_item_status():
            return status, {"error": {"msg": "not now"}}
        for command, given in json.loads(request.body, object_pairs_hook=_pairs):
            if wrong := self._act(command, given):
                return 400, {"responseHeader": {"status": 400}, "error": {"msg": wrong, "code": 400}}
        if parse_qs(split.query).get("commit") == ["true"]:
            self._commit()
        return 200, {"responseHeader": {"status": 0, "QTime": 1}}

    def _act(self, command: str, given: Any) -> str:
        values = dict(given)
        if command == "delete":
            self._written.pop(values["id"], None)
        elif command == "commit":
            self._commit()
        elif command == "add":
            document = dict(values["doc"])
            if wrong := self._wrong(document):
                return f"ERROR: [doc={document['id']}] {wrong}"
            self._written[document["id"]] = document
        else:
            return f"Unknown command '{command}'"
        return ""

    def _wrong(self, document: dict[str, Any]) -> str:
        if self.is_refused(document.get("title_txt")):
            return "Error adding field 'title_txt'"
        for name, value in document.items():
            ending = name.rpartition("_")[2]
            many = ending.endswith("s") and ending[:-1] in self._types
            kind = self._types.get(ending[:-1] if many else ending)
            if name != "id" and (
                kind is None or not all(isinstance(each, kind) for each in (value if many else [value]))
            ):
                return f"unknown field '{name}' or wrong type"
            if ending == "dt":
                datetime.fromisoformat(value)
            if ending == "s" and len(value.encode()) > MAX_TERM_BYTES:
                return f'Document contains at least one immense term in field="{name}"'
        return ""

    def _commit(self) -> None:
        self._committed = dict(self._written)
        self.commits += 1

    def lose_power(self) -> None:
        self._written = dict(self._committed)


def _pairs(pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Keeps a JSON object as a list of pairs, since a key may occur more than once."""
    return pairs


class VespaServer(Engine):
    """A Vespa with one document type."""

    _path = re.compile(r"/document/v1/web/page/docid/([0-9a-f]+)")
    _no_text = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufdd0-\ufddf\U0001fffe\U0001ffff]")

    def __init__(self, faults: Faults | None = None, port: int = 0) -> None:
        super().__init__(faults, port)
        self._documents: dict[str, dict[str, Any]] = {}

    @property
    def where(self) -> str:
        return f"{self.origin}/web/page"

    @property
    def documents(self) -> Mapping[str, tuple[int, dict[str, Any]]]:
        return {key: (document["version"], document) for key, document in self._documents.items()}

    def execute(self, request: ReceivedRequest) -> tuple[int, object]:
        path = urlsplit(request.path).path
        found = self._path.fullmatch(path)
        if not found:
            return 404, {"message": "Nothing at this path"}
        key = found[1]
        if status := self.faults.draw_item_status():
            return status, {"pathId": path, "message": "not now"}
        answer = {"pathId": path, "id": f"id:web:page::{key}"}
        if request.method == "DELETE":
            return (200 if self._documents.pop(key, None) else 404), answer
        if request.method != "POST":
            return 405, {"pathId": path, "message": "no such method"}
        fields = json.loads(request.body)["fields"]
        if (
            self.is_refused(fields.get("title"))
            or any(map(self._is_no_text, fields.values()))
            or None in fields.values()
        ):
            return 400, answer | {"message": "Could not parse document: illegal value"}
        self._documents[key] = fields
        return 200, answer

    def _is_no_text(self, value: object) -> bool:
        if isinstance(value, list):
            return any(map(self._is_no_text, value))
        return isinstance(value, str) and self._no_text.search(value) is not None


SERVERS: Mapping[str, type[Engine]] = {"opensearch": OpenSearchServer, "solr": SolrServer, "vespa": VespaServer}


def main() -> None:
    parser = argparse.ArgumentParser(description="A fake search engine in memory that fails as often as requested.")
    parser.add_argument("engine", choices=SERVERS)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--items", type=float, default=0.0, help="share of documents that are answered with 429 or 503")
    for fault in Fault:
        if fault is not Fault.HELD:
            parser.add_argument(f"--{fault}", type=float, default=0.0, help="share of requests")
    parser.add_argument("--refuse", default="poison", help="a document with this word in its title is refused")
    options = parser.parse_args()
    shares = {fault: getattr(options, fault) for fault in Fault if fault is not Fault.HELD}
    faults = Faults(seed=options.seed, items=options.items, shares=shares, refuse=options.refuse)
    server = SERVERS[options.engine](faults, options.port)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
