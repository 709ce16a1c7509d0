"""What hosts say of their pages, and whether it was true: gathered for a batch, written at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from crawler.frontier.trust import UNKNOWN, Source, Trust
from crawler.items import Kind, Visited
from crawler.stores.contract.commits import VisitResult

_REFUSED = 2  # lies that one refusal to answer HEAD is worth: who does it once does it always
_NO_HEADS = frozenset({1, 405, 501})  # answers to HEAD that are none

_COLUMNS = "changed_right, changed_wrong, same_right, same_wrong"


def trust_of(connection: apsw.Connection, host: int) -> Mapping[Source, Trust]:
    rows = connection.execute(f"SELECT source, {_COLUMNS} FROM trust WHERE host = ?", (host,))
    return {Source(source): Trust(*counts) for source, *counts in rows}


class TrustObservations:
    """Belongs to one transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._trust: dict[tuple[int, Source], Trust] = {}

    def compare(self, url: int, visited: Visited, *, has_changed: bool) -> None:
        """A page that was held was fetched again, whole: did those who spoke of it know?"""
        visit, page, fetched = visited.visit, visited.page, visited.fetched
        if page is None or fetched is None or visit.visited is None:
            return
        host, held = visit.key.host, visit.validators
        if held.etag and page.etag:
            self._note(host, Source.VALIDATORS, held.etag != page.etag, has_changed)
        elif held.last_modified and page.last_modified:
            self._note(host, Source.VALIDATORS, held.last_modified != page.last_modified, has_changed)
        elif held.length is not None and (length := fetched.header("content-length")) is not None:
            self._note(host, Source.HEAD, length != str(held.length), has_changed)
        self._compare_list(url, visited, visit.visited, fetched.started - visit.visited, has_changed=has_changed)

    def _compare_list(self, url: int, visited: Visited, before: float, elapsed: float, *, has_changed: bool) -> None:
        """What a sitemap or a feed said of the page, if it was read since the page was last visited."""
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
            self._note(host, source, modified > before, has_changed)
        if interval is not None:
            self._note(host, Source.CHANGEFREQ, elapsed >= interval, has_changed)

    def compare_heads(self, batch: Sequence[VisitResult]) -> None:
        """Did GET say what HEAD had said?"""
        for settled in batch:
            visit, fetched = settled.visited.visit, settled.visited.fetched
            if not visit.head_status or fetched is None or fetched.request.startswith(b"HEAD "):
                continue
            if not fetched.status or fetched.status == 429 or fetched.status >= 500:
                continue  # trouble of the moment
            is_same = visit.head_status // 100 == fetched.status // 100
            if visit.head_status in _NO_HEADS and not is_same:
                for _ in range(_REFUSED):
                    self._note(visit.key.host, Source.HEAD, says_changed=False, has_changed=True)
            else:
                self._note(visit.key.host, Source.HEAD, says_changed=is_same, has_changed=True)

    def _note(self, host: int, source: Source, says_changed: bool, has_changed: bool) -> None:
        trust = self._trust.get((host, source))
        if trust is None:
            row = self._connection.execute(
                f"SELECT {_COLUMNS} FROM trust WHERE host = ? AND source = ?", (host, source)
            ).get
            trust = Trust(*row) if row is not None else UNKNOWN
        self._trust[host, source] = trust.after(says_changed=says_changed, has_changed=has_changed)

    def write(self) -> None:
        self._connection.executemany(
            f"INSERT OR REPLACE INTO trust (host, source, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
            [(*key, *trust) for key, trust in self._trust.items()],
        )
