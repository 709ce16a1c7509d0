"""Whatever fails on the way, an engine ends with exactly what was put; only bad documents are refused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import urllib3

from crawler.errors import BadInput
from crawler.export.engines import ENGINES
from crawler.export.http import AUTHORIZATION, HttpOptions
from crawler.export.opensearch import OpenSearchSink
from crawler.export.sink import Sink, SinkDown
from crawler.export.solr import SolrSink
from crawler.export.vespa import VespaSink
from crawler.items import DeletedDocument, ExportedDocument, ExportEntry, Key, RejectedDocument, identifier
from tests.export.engines import SERVERS, Engine, Fault, Faults, OpenSearchServer, SolrServer, VespaServer
from tests.export.test_documents import exported

NAMES = sorted(SERVERS)
EVERYTHING = {Fault.AWAY: 0.15, Fault.LOST: 0.15, Fault.CUT: 0.1, Fault.GARBAGE: 0.1}
HOSTILE = 'a\ud800b\u2028c\x00d\r\n\x85\ufffe\U0001ffffe"\\</script>'


@pytest.fixture(autouse=True)
def nobody_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(AUTHORIZATION, raising=False)


def page(number: int, version: int, **facts: object) -> ExportedDocument:
    url = f"http://a.test/{number}"
    return exported(**{"key": Key(1, number), "url": url, "version": version, "title": f"Page {version}"} | facts)


def gone(number: int, version: int) -> DeletedDocument:
    return DeletedDocument(key=Key(1, number), url=f"http://a.test/{number}", version=version)


def name_of(number: int) -> str:
    return identifier(Key(1, number))


def history(seed: int, length: int = 1500, pages: int = 400) -> list[ExportEntry]:
    """Pages that are added, changed, deleted and added again; every 37th is never deleted, and always refused."""
    chance = Random(seed)
    entries: list[ExportEntry] = []
    for version in range(1, length + 1):
        number = chance.randrange(pages)
        if number % 37 == 0:
            entries.append(page(number, version, title=f"Page {version} poison"))
        else:
            entries.append(gone(number, version) if chance.random() < 0.2 else page(number, version))
    return entries


def expected_versions(entries: Sequence[ExportEntry]) -> dict[str, int]:
    """The documents that must be in the engine: id → version."""
    last = {identifier(entry.key): entry for entry in entries}
    return {
        key: entry.version
        for key, entry in last.items()
        if isinstance(entry, ExportedDocument) and "poison" not in entry.title
    }


def refused(entries: Sequence[ExportEntry]) -> set[str]:
    return {
        identifier(entry.key) for entry in entries if isinstance(entry, ExportedDocument) and "poison" in entry.title
    }


def deliver(entries: Sequence[ExportEntry], new_sink: Callable[[], Sink]) -> list[RejectedDocument]:
    """Export as the command does: resume after the last acknowledgement, until it succeeds."""
    rejected: list[RejectedDocument] = []
    done = 0
    for _ in range(200):
        sink = new_sink()
        try:
            while done < len(entries):
                part = entries[done : done + sink.acknowledge_every]
                for entry in part:
                    sink.put(entry)
                rejected += sink.acknowledge()
                done += len(part)
            return rejected
        except SinkDown:
            continue
        finally:
            sink.close()
    raise AssertionError("no end of it")


def versions(engine: Engine) -> dict[str, int]:
    return {key: version for key, (version, _) in engine.documents.items()}


@contextmanager
def served(
    name: str,
    faults: Faults | None = None,
    fields: Collection[str] | None = None,
    options: HttpOptions | None = None,
    attempts: int = 8,
) -> Iterator[tuple[Sink, Engine, list[float]]]:
    """A sink, its engine, and the waits of the sink in seconds."""
    engine = SERVERS[name](faults or Faults())
    waits: list[float] = []
    options = options or HttpOptions(jitter=lambda: 1.0)
    with engine.running():
        sink = ENGINES[name](engine.where, sleep=waits.append, fields=fields, attempts=attempts, options=options)
        with closing(sink):
            yield sink, engine, waits


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "faults",
    [
        Faults(),
        Faults(seed=1, items=0.3),
        Faults(seed=2, shares={Fault.AWAY: 0.3}),
        Faults(seed=3, shares={Fault.LOST: 0.2, Fault.CUT: 0.2}),
        Faults(seed=4, shares={Fault.GARBAGE: 0.2}),
        Faults(seed=5, items=0.3, shares=EVERYTHING),
        Faults(seed=6, items=0.3, shares=EVERYTHING, largest=30_000),
    ],
    ids=["well", "items", "away", "lost", "garbage", "everything", "everything and small requests"],
)
def test_an_engine_ends_with_what_was_put_whatever_fails(name: str, faults: Faults) -> None:
    engine = SERVERS[name](replace(faults))
    entries = history(faults.seed)
    with engine.running():
        rejected = deliver(entries, lambda: ENGINES[name](engine.where, sleep=lambda _: None, attempts=30))
    assert versions(engine) == expected_versions(entries)
    assert {each.id for each in rejected} == refused(entries)
    assert all(each.error.startswith("400") for each in rejected)


@pytest.mark.parametrize("name", NAMES)
def test_sending_everything_again_changes_nothing(name: str) -> None:
    entries = history(9)
    with served(name) as (sink, engine, _):
        for _ in range(2):
            for entry in entries:
                sink.put(entry)
            sink.acknowledge()
            assert versions(engine) == expected_versions(entries)


@pytest.mark.parametrize("name", NAMES)
def test_what_could_not_be_sent_is_sent_at_the_next_acknowledgement(name: str) -> None:
    with served(name, Faults(next=[Fault.AWAY] * 16), attempts=2) as (sink, engine, waits):
        sink.put(page(1, 1))
        with pytest.raises(SinkDown, match=f"{engine.where}: it answers 503"):
            sink.acknowledge()
        assert len(waits) == 1
        engine.faults.next.clear()
        assert sink.acknowledge() == []
        assert versions(engine) == {name_of(1): 1}


@pytest.mark.parametrize("name", NAMES)
def test_a_request_that_times_out_is_sent_again(name: str) -> None:
    options = HttpOptions(read=0.2, jitter=lambda: 1.0)
    with served(name, Faults(next=[Fault.HELD]), options=options) as (sink, engine, waits):
        sink.put(page(1, 1))
        sink.acknowledge()
        assert versions(engine) == {name_of(1): 1}
    assert waits == [1.0]


@pytest.mark.parametrize("name", NAMES)
def test_missing_credentials_are_an_error_without_retries(name: str) -> None:
    with served(name, Faults(authorization="Bearer x")) as (sink, _, waits):
        sink.put(page(1, 1))
        with pytest.raises(SinkDown, match="authentication is required"):
            sink.acknowledge()
    assert waits == []


@pytest.mark.parametrize("name", NAMES)
def test_a_malformed_answer_is_an_error(name: str) -> None:
    with served(name, Faults(shares={Fault.GARBAGE: 1.0})) as (sink, _, waits):
        sink.put(page(1, 1))
        with pytest.raises(SinkDown, match="<html>Welcome!"):
            sink.acknowledge()
    assert waits == []


@pytest.mark.parametrize("name", NAMES)
def test_hostile_texts_arrive_and_do_not_break_requests(name: str) -> None:
    texts = {"title": HOSTILE + "x" * 1_000_000, "text": HOSTILE, "anchors": [("b.test", HOSTILE)]}
    with served(name) as (sink, engine, _):
        sink.put(page(1, 1, **texts))
        sink.put(page(2, 2))
        assert sink.acknowledge() == []
        assert versions(engine) == {name_of(1): 1, name_of(2): 2}
        title = next(str(value) for key, value in engine.documents[name_of(1)][1].items() if key.startswith("title"))
        assert title.startswith("a\ufffdb\u2028c")
        assert title.endswith("x" * 1_000_000)
        body = engine.requests[-1 if name == "vespa" else 2 if name == "opensearch" else 0].body
        lines = {"opensearch": 4, "solr": 2, "vespa": 1}[name]
        assert len(body.decode().splitlines()) == lines


@pytest.mark.parametrize("name", NAMES)
def test_only_the_fields_that_were_chosen_are_sent(name: str) -> None:
    with served(name, fields={"title", "anchors"}) as (sink, engine, _):
        sink.put(page(1, 1))
        sink.acknowledge()
        (_, document) = engine.documents[name_of(1)]
    assert (
        set(document)
        == {
            "opensearch": {"id", "url", "title", "anchors", "version"},
            "solr": {"id", "url_s", "title_txt", "anchors_text_txt", "anchors_host_ss", "version_l"},
            "vespa": {"id", "url", "title", "anchors_text", "anchors_host", "version"},
        }[name]
    )


@pytest.mark.parametrize("name", NAMES)
def test_acknowledging_nothing_sends_no_request(name: str) -> None:
    with served(name) as (sink, engine, _):
        assert sink.acknowledge() == []
    assert engine.requests == []


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_limited_in_entries_and_bytes(name: str) -> None:
    with served(name) as (sink, engine, _):
        for number in range(1100):
            sink.put(page(number, number + 1))
        assert len(engine.requests) >= 2
        before = len(engine.requests)
        for number in range(4):
            sink.put(page(2000 + number, 2000 + number, text="x" * 3_000_000))
        assert len(engine.requests) >= before + 3
        sink.acknowledge()
        assert all(len(request.body) <= 5 << 20 for request in engine.requests)
        assert len(engine.documents) == 1104


@pytest.mark.parametrize("name", NAMES)
def test_a_document_that_is_too_large_is_refused_alone(name: str) -> None:
    with served(name, Faults(largest=50_000)) as (sink, engine, _):
        for number in range(100):
            sink.put(page(number, number + 1, text="x" * (60_000 if number == 70 else 1000)))
        (rejected,) = sink.acknowledge()
        assert (rejected.id, rejected.url, rejected.version) == (name_of(70), "http://a.test/70", 71)
        assert rejected.error.startswith("413")
        assert len(engine.documents) == 99


@pytest.mark.parametrize(
    "where",
    [
        "opensearch:http://a.test:9200",
        "solr:http://a.test:8983/solr",
        "vespa:http://a.test:8080/web",
        "opensearch:pages",
    ],
)
def test_a_place_with_an_incomplete_path_is_refused_with_an_example(where: str) -> None:
    name = where.partition(":")[0]
    with pytest.raises(BadInput, match=f"such as {name}:http://"):
        ENGINES[name](where, sleep=lambda _: None)


@pytest.mark.parametrize("index", ["Pages", "_all", "a,b", "pages*", "a:b", "-x"])
def test_a_name_that_no_index_can_have_is_refused(index: str) -> None:
    with pytest.raises(BadInput, match="is no name of an index"):
        OpenSearchSink(f"http://a.test/{index}", sleep=lambda _: None)


def test_opensearch_gets_its_index_with_types_only_if_it_is_missing() -> None:
    with served("opensearch") as (sink, engine, _):
        assert isinstance(engine, OpenSearchServer)
        for version in (1, 2):
            sink.put(page(1, version))
            sink.acknowledge()
        assert [request.method for request in engine.requests] == ["HEAD", "PUT", "POST", "POST"]
        assert engine.mappings["pages"]["dynamic"] is False
        with closing(OpenSearchSink(engine.where, sleep=lambda _: None)) as other:
            other.put(page(2, 3))
            other.acknowledge()
        assert [request.method for request in engine.requests][4:] == ["HEAD", "POST"]


def test_opensearch_keeps_the_later_version_in_whatever_order_they_arrive() -> None:
    with served("opensearch") as (sink, engine, _):
        for entry in (page(1, 5), page(2, 5), gone(3, 5)):
            sink.put(entry)
        sink.acknowledge()
        for entry in (page(1, 4), gone(2, 4), page(3, 4)):
            sink.put(entry)
        assert sink.acknowledge() == []
        assert versions(engine) == {name_of(1): 5, name_of(2): 5}


def test_only_failed_items_are_sent_to_opensearch_again() -> None:
    with served("opensearch", Faults(seed=1, items=0.3)) as (sink, engine, waits):
        for number in range(500):
            sink.put(page(number, number + 1))
        assert sink.acknowledge() == []
        sizes = [
            request.body.count(b'{"index":') for request in engine.requests if request.path.startswith("/pages/_bulk")
        ]
        assert sizes[0] == 500
        assert sizes == sorted(sizes, reverse=True)
        assert 100 < sizes[1] < 200
        assert len(engine.documents) == 500
    assert set(waits) <= {1.0, 2.0, 4.0}  # nearly every attempt made progress
    assert len(waits) == len(sizes) - 1


def test_the_export_to_opensearch_fails_when_no_item_gets_through() -> None:
    with served("opensearch", Faults(items=1.0), attempts=4) as (sink, _, waits):
        sink.put(page(1, 1))
        with pytest.raises(SinkDown, match=r"1 of 1 documents are not taken \(.*rejected_execution_exception"):
            sink.acknowledge()
    assert waits == [1.0, 2.0, 4.0]


def test_documents_are_not_rejected_when_the_index_is_missing() -> None:
    with served("opensearch") as (sink, engine, _):
        assert isinstance(engine, OpenSearchServer)
        sink.put(page(1, 1))
        sink.acknowledge()
        engine.indices.clear()
        for entry in (page(1, 2), gone(2, 3)):
            sink.put(entry)
            with pytest.raises(SinkDown, match="index_not_found_exception"):
                sink.acknowledge()


def test_acknowledged_documents_in_solr_are_searchable_and_durable() -> None:
    with served("solr") as (sink, engine, _):
        assert isinstance(engine, SolrServer)
        for number in range(500):
            sink.put(page(number, number + 1))
        assert len(engine.requests) == 1
        assert engine.documents == {}
        sink.acknowledge()
        sink.acknowledge()
        engine.lose_power()
        assert len(engine.documents) == 500
        assert [request.path for request in engine.requests] == [
            "/solr/pages/update?commitWithin=10000",
            "/solr/pages/update?commit=true",
        ]


def test_one_bad_document_for_solr_is_found_in_few_requests() -> None:
    with served("solr") as (sink, engine, _):
        for number in range(500):
            sink.put(page(number, number + 1, title="poison" if number == 321 else "good"))
        assert [each.id for each in sink.acknowledge()] == [name_of(321)]
        assert len(engine.documents) == 499
    assert len(engine.requests) <= 2 * 10 + 1  # two for each halving, and the commit


def test_field_names_for_solr_end_with_their_type() -> None:
    with served("solr") as (sink, engine, _):
        sink.put(
            page(1, 7, similarity=1.0, relevance=1.0, metadata={"canonical": "x" * 40_000, "author": "y" * 40_000})
        )
        assert sink.acknowledge() == []
        (_, document) = engine.documents[name_of(1)]
    assert document["fetched_at_dt"] == "1970-01-12T13:46:40.250000Z"
    assert (document["version_l"], document["similarity_d"], document["noarchive_b"]) == (7, 1.0, False)
    assert document["relevance_d"] == 1.0
    assert len(document["author_txt"]) == 40_000
    assert "canonical_s" not in document  # too long for a term


def test_vespa_gets_concurrent_requests_but_never_two_for_one_document() -> None:
    faults = Faults(next=[Fault.HELD] * 7)  # each is answered when the next arrives: a single connection would hang
    with served("vespa", faults) as (sink, engine, _):
        for version in range(1, 1000):
            sink.put(page(version % 50, version))
        sink.acknowledge()
        assert 2 <= engine.most_in_flight <= 8
        assert engine.most_for_one_path == 1
        assert sorted(versions(engine).values()) == list(range(950, 1000))


def test_vespa_gets_times_as_numbers() -> None:
    with served("vespa") as (sink, engine, _):
        assert isinstance(engine, VespaServer)
        sink.put(page(1, 1, tier=None))
        assert sink.acknowledge() == []
        (_, document) = engine.documents[name_of(1)]
    assert document["fetched_at"] == 1_000_000
    assert "tier" not in document


def test_the_schema_for_vespa_has_every_field_that_is_sent() -> None:
    with served("vespa") as (sink, engine, _):
        sink.put(page(1, 1, relevance=0.5))
        sink.acknowledge()
        (_, document) = engine.documents[name_of(1)]
    schema = (Path(__file__).resolve().parents[2] / "data/ops/vespa/page.sd").read_text()
    types = dict(re.findall(r"^ +field (\w+) type (\S+) ", schema, re.MULTILINE))
    assert types.keys() == document.keys()
    python = {"string": str, "long": int, "int": int, "double": float, "bool": bool, "array<string>": list}
    assert {name: python[kind] for name, kind in types.items()} == {name: type(document[name]) for name in types}


def test_sinks_keep_the_protocol() -> None:
    sinks: list[type[Sink]] = [OpenSearchSink, SolrSink, VespaSink]
    assert {kind.__name__ for kind in ENGINES.values()} == {kind.__name__ for kind in sinks}


def test_an_engine_runs_as_a_process_of_its_own() -> None:
    command = [
        sys.executable,
        "-m",
        "tests.export.engines",
        "opensearch",
        "--items",
        "0.3",
        "--lost",
        "0.2",
        "--seed",
        "3",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            origin = f"http://127.0.0.1:{int(process.stdout.readline())}"
            entries = history(3, 600)
            deliver(entries, lambda: OpenSearchSink(f"{origin}/pages", sleep=lambda _: None))
            with urllib3.HTTPConnectionPool("127.0.0.1", int(origin.rpartition(":")[2])) as pool:
                documents = json.loads(pool.request("GET", "/_all").data)
        finally:
            process.kill()
    assert {key: version for key, (version, _) in documents.items()} == expected_versions(entries)
