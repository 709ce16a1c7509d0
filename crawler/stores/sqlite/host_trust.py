"""Statements of hosts about changes of their pages are checked, and counted as trust in each source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from crawler.frontier.trust import UNKNOWN, Source, Trust
from crawler.items import Kind, Visited
from crawler.stores.contract.commits import VisitResult

_REFUSAL_WEIGHT = 2  # wrong statements for which a refused HEAD counts: a server that refuses one refuses all
_HEAD_REFUSED = frozenset({1, 405, 501})  # statuses of answers to HEAD; 1 = none

_COLUMNS = "changed_right, changed_wrong, same_right, same_wrong"


def trust_of(connection: apsw.Connection, host: int) -> Mapping[Source, Trust]:
    """Return how often each source of a host was right about changes."""
    rows = connection.execute(f"SELECT source, {_COLUMNS} FROM trust WHERE host = ?", (host,))
    return {Source(source): Trust(*counts) for source, *counts in rows}


class TrustObservations:
    """Collects the checks of a batch, and writes them at its end. It belongs to one transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._trust: dict[tuple[int, Source], Trust] = {}

    def compare(self, url: int, visited: Visited, *, has_changed: bool) -> None:
        """Check the statements about a page that was fetched again in full against whether it has changed."""
        visit, page, fetched = visited.visit, visited.page, visited.fetched
        if page is None or fetched is None or visit.visited is None:
            return
        host, validators = visit.key.host, visit.validators
        if validators.etag and page.etag:
            self._observe(host, Source.VALIDATORS, validators.etag != page.etag, has_changed)
        elif validators.last_modified and page.last_modified:
            self._observe(host, Source.VALIDATORS, validators.last_modified != page.last_modified, has_changed)
        elif validators.length is not None and (length := fetched.header("content-length")) is not None:
            self._observe(host, Source.HEAD, length != str(validators.length), has_changed)
        self._compare_list(url, visited, visit.visited, fetched.started - visit.visited, has_changed=has_changed)

    def _compare_list(self, url: int, visited: Visited, before: float, elapsed: float, *, has_changed: bool) -> None:
        """Check what a sitemap or feed states about the page, if it was read after the last visit to the page."""
        row = self._connection.execute(
            """SELECT t.lastmod, t.interval, l.kind, l.visited FROM url_facts t JOIN urls l ON l.id = t.lister
               WHERE t.id = ?""",
            (url,),
        ).get
        if row is None or row[3] is None or row[3] < before:
            return
        modified, interval, kind, _ = row
        host = visited.visit.key.host
        if modified is not None:
            source = Source.FEED if kind == Kind.FEED else Source.LASTMOD
            self._observe(host, source, modified > before, has_changed)
        if interval is not None:
            self._observe(host, Source.CHANGEFREQ, elapsed >= interval, has_changed)

    def compare_heads(self, batch: Sequence[VisitResult]) -> None:
        """Check answers to HEAD against the answers to GET that followed."""
        for result in batch:
            visit, fetched = result.visited.visit, result.visited.fetched
            if not visit.head_status or fetched is None or fetched.request.startswith(b"HEAD "):
                continue
            if not fetched.status or fetched.status == 429 or fetched.status >= 500:
                continue  # a temporary failure
            is_same = visit.head_status // 100 == fetched.status // 100
            if visit.head_status in _HEAD_REFUSED and not is_same:
                for _ in range(_REFUSAL_WEIGHT):
                    self._observe(visit.key.host, Source.HEAD, says_changed=False, has_changed=True)
            else:
                self._observe(visit.key.host, Source.HEAD, says_changed=is_same, has_changed=True)

    def _observe(self, host: int, source: Source, says_changed: bool, has_changed: bool) -> None:
        trust = self._trust.get((host, source))
        if trust is None:
            row = self._connection.execute(
                f"SELECT {_COLUMNS} FROM trust WHERE host = ? AND source = ?", (host, source)
            ).get
            trust = Trust(*row) if row is not None else UNKNOWN
        self._trust[host, source] = trust.after(says_changed=says_changed, has_changed=has_changed)

    def write(self) -> None:
        """Write the trust of all sources that were checked."""
        self._connection.executemany(
            f"INSERT OR REPLACE INTO trust (host, source, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
            [(*key, *trust) for key, trust in self._trust.items()],
        )
