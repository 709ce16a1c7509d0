"""A crawl of hostile pages, with attack payloads in every value that a report could show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crawler.items import Kind, Outcome, Page, Reason, RobotsFile
from crawler.options import Options
from crawler.report.data import crawl_data
from crawler.report.host_data import host_data
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.keys import key_of
from tests.contracts.visits import commit, fetch
from tests.defaults import options_with
from tests.samples import NOW, acquire, link, visit_to

HOST = "a.test"


def options_of(directory: str, **settings: object) -> Options:
    return options_with(**{"CRAWL_DIR": directory, "CONTACT": "https://us.test/"} | settings)


def hostile_store(path: Path, payloads: Sequence[str]) -> Store:
    store = open_store(f"sqlite:{path}", durable=False)
    acquire(store, "me", 0, NOW, 60, 60)
    _store_robots(store, payloads)
    for number, payload in enumerate(payloads):
        _store_visits(store, number, payload)
    store.crawl.add_run(_summary(payloads), NOW + 60)
    return store


def _store_visits(store: Store, number: int, payload: str) -> None:
    """Store pages of a host named by the payload; of others a page, a duplicate, a failure, a trap, a denied URL."""
    at = NOW + number
    for part in range(2):
        fetch(
            store,
            f"http://{payload.replace('/', chr(92))}.x/{part}",
            at + part,
            page=_page(payload, f"{number} {part}"),
        )
    fetch(store, f"http://{HOST}/{number}?{payload}", at, page=_page(payload, f"{number}"))
    fetch(store, f"http://b.test/{number}?{payload}", at, page=_page(payload, f"{number}"))
    failed = {"outcome": Outcome.FAILED, "reason": Reason.BAD_HTTP, "detail": payload, "page": None, "status": 0}
    fetch(store, f"http://b.test/failed?{number}{payload}", at, **failed)
    trap = link(f"http://{payload.replace('/', chr(92))}.y/trap", payload, Reason.REPEATED_SEGMENT)
    denied = link(f"http://{HOST}/denied?{number}{payload}", payload, Reason.ROBOTS_DENIED)
    fetch(store, f"http://c.test/{number}", at, page=_page(payload, f"c{number}", links=(trap, denied)))


def _page(payload: str, body: str, **facts: Any) -> Page:
    return Page(
        title=payload,
        content_type=payload,
        format=payload,
        language=payload,
        problem=payload,
        encoding=payload,
        metadata={"description": payload, "author": payload, "canonical": payload},
        body_digest=body.encode(),
        payload_digest=body.encode(),
        **facts,
    )


def _store_robots(store: Store, payloads: Sequence[str]) -> None:
    origin = f"http://{HOST}"
    visit = visit_to(f"{origin}/robots.txt", kind=Kind.ROBOTS, origin=origin)
    assert store.frontier.lease("me", [visit], NOW).granted == [visit]
    known = RobotsFile(
        host=key_of(f"{origin}/").host,
        origin=origin,
        status=200,
        body="\n".join(payloads).encode("utf-8", "replace"),
        fetched=NOW,
        expires=NOW + 60,
        location=payloads[0],
    )
    commit(store, visit, NOW, rules=known, page=None)


def _summary(payloads: Sequence[str]) -> dict[str, Any]:
    """The summary of a run, which names hosts, too."""
    return {
        "finished": payloads[0],
        "limited_by": payloads[0],
        "seconds": 10.0,
        "pages": 5,
        "slowest_hosts": [{"host": payload, "seconds": 1.0 + number} for number, payload in enumerate(payloads)],
        "shortest_gaps": [{"host": payload, "gap": 1.0, "required": 1.0} for payload in payloads],
    }


def hostile_data(store: Store, directory: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the report data of the crawl and of its host with a plain name."""
    options = options_of(directory)
    of_host = host_data(store, options, key_of(f"http://{HOST}/").host, NOW + 90)
    assert of_host is not None
    return crawl_data(store, options, NOW + 90), of_host
