"""The role `survey` on SQLite: URLs, hosts and origins counted for reports."""

from __future__ import annotations

from collections.abc import Callable, Collection
from heapq import nsmallest
from typing import Any

import apsw

from crawler.frontier.politeness import HostClock
from crawler.items import Kind, Reason, RobotsFile, State
from crawler.stores.contract.survey import (
    CopyCounts,
    DepthCount,
    DocumentShare,
    DocumentTrait,
    HarvestCounts,
    HostRests,
    ListCoverage,
    OutcomeCount,
    RefusedCount,
    RestInterval,
    RestSummary,
    RobotsCounts,
    SegmentFill,
    SlowHost,
    StateCount,
    TimeSlice,
    TopicYields,
    VisitedUrl,
)
from crawler.stores.sqlite import survey_documents, survey_focus
from crawler.stores.sqlite.new_urls import SCOPE_CODES
from crawler.stores.sqlite.rows import CLOCK_COLUMNS, RULES_COLUMNS, clock_of, rules_of

_EXAMPLE_RANGE = 20_000  # URLs after the first one that are searched for further examples
Values = tuple[int | float | str | None, ...]

# When a URL was first visited. `visited` is the last visit; of several visits, the oldest document shows the first.
_FIRST_VISIT = """
iif(u.visits > 1,
    coalesce((SELECT min(d.fetched) FROM documents d WHERE d.host = u.host AND d.rest = u.rest), u.visited), u.visited)
"""

# Rests between archived responses of a host, from the end of the last one. A rest before a robots.txt is left out: the
# delay that it asks for is not known yet. So is a robots.txt that has moved: it may have come from another host.
_GAPS = f"""
SELECT d.host AS host, iif(d.kind = {Kind.ROBOTS:d}, NULL, d.started - max(d.fetched) OVER (
           PARTITION BY d.host ORDER BY d.started, d.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS gap
FROM documents d
WHERE NOT (d.kind = {Kind.ROBOTS:d} AND EXISTS (SELECT 1 FROM origins o WHERE o.host = d.host AND o.hops > 0))
"""


class SqliteSurvey:
    """Implements `crawler.stores.contract.survey.Survey` inside a transaction that its caller has opened."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def span(self, host: int | None = None) -> tuple[float, float] | None:
        first, found, visited = self._one(
            f"""SELECT min(found), max(found), max(visited) FROM urls
                WHERE {_of("host", host)} AND kind <> {Kind.ROBOTS:d}""",
            (host,),
        )
        return (first, max(found, visited or found)) if first is not None else None

    def history(self, since: float, width: float, host: int | None = None) -> list[TimeSlice]:
        values, counts = (host, since, width), dict[int, dict[str, int]]()
        for names, statement in (
            (
                ("found", "refused"),
                f"""SELECT cast((found - ?2) / ?3 AS INTEGER), count(*),
                           count(*) FILTER (WHERE state = {State.PARKED:d} AND visited IS NULL)
                    FROM urls WHERE {_of("host", host)} AND kind <> {Kind.ROBOTS:d} GROUP BY 1""",
            ),
            (
                ("visited",),
                f"""SELECT cast(({_FIRST_VISIT} - ?2) / ?3 AS INTEGER), count(*)
                    FROM urls u
                    WHERE {_of("u.host", host)} AND u.visited IS NOT NULL AND kind <> {Kind.ROBOTS:d} GROUP BY 1""",
            ),
            (
                ("answers", "pages", "bytes"),
                f"""SELECT cast((fetched - ?2) / ?3 AS INTEGER), count(*),
                           count(*) FILTER (WHERE {survey_documents.IS_PAGE}), sum(body_bytes)
                    FROM documents WHERE {_of("host", host)} GROUP BY 1""",
            ),
        ):
            for number, *sums in self._all(statement, values):
                counts.setdefault(max(number, 0), {}).update(zip(names, sums, strict=True))
        return [TimeSlice(number, **sums) for number, sums in sorted(counts.items())]

    def state_counts(self, examples: int, host: int | None = None) -> list[StateCount]:
        rows = self._all(
            f"""SELECT state, reason, count(*), min(id), max(id) FROM urls WHERE {_of("host", host)}
                GROUP BY state, reason ORDER BY state, 3 DESC, reason""",
            (host,),
        ).fetchall()
        return [
            StateCount(
                State(state),
                Reason(reason),
                urls,
                self._examples(host, f"state = {state:d} AND reason = {reason:d}", first, last, examples),
            )
            for state, reason, urls, first, last in rows
        ]

    def outcome_counts(self, examples: int, host: int | None = None) -> list[OutcomeCount]:
        answers = survey_documents.reason_counts(self._connection, _of("host", host), host)
        rows = self._all(
            f"""SELECT last_reason, count(*), min(id), max(id) FROM urls
                WHERE {_of("host", host)} AND last_reason IS NOT NULL GROUP BY last_reason ORDER BY 2 DESC, 1""",
            (host,),
        ).fetchall()
        counts = [
            OutcomeCount(
                Reason(reason),
                urls,
                answers.pop(reason, 0),
                self._examples(host, f"last_reason = {reason:d}", first, last, examples),
            )
            for reason, urls, first, last in rows
        ]
        return counts + [OutcomeCount(Reason(reason), 0, count, ()) for reason, count in sorted(answers.items())]

    def _examples(self, host: int | None, condition: str, first: int, last: int, most: int) -> list[str]:
        """Return the first URLs that meet a condition, as far as they are found quickly, and the last."""
        found = self._all(
            f"""SELECT url FROM urls NOT INDEXED
                WHERE id BETWEEN ?2 AND ?3 AND {_of("host", host)} AND {condition} ORDER BY id LIMIT ?4""",
            (host, first, min(last, first + _EXAMPLE_RANGE), most),
        ).fetchall()
        urls = [url for (url,) in found]
        if len(urls) < most:
            urls.append(self._one("SELECT url FROM urls WHERE id = ?", (last,)))
        return list(dict.fromkeys(urls))[:most]

    def depth_counts(self, deepest: int) -> list[DepthCount]:
        rows = self._all(
            f"""SELECT min(depth, ?) AS depth, count(*), count(visited) FROM urls
                WHERE kind = {Kind.PAGE:d} GROUP BY 1 ORDER BY 1""",
            (deepest,),
        )
        return [DepthCount(*row) for row in rows]

    # ── hosts ──

    def rests(self, required: Callable[[str, HostClock], float], most: int) -> RestSummary:
        hosts = short = 0

        def measured() -> Any:
            nonlocal hosts, short
            for name, visits, gaps, shortest, *columns in self._all(
                f"""SELECT h.name, h.visits, g.gaps, g.shortest, {CLOCK_COLUMNS}
                    FROM (SELECT host, count(*) AS gaps, min(gap) AS shortest FROM ({_GAPS})
                          WHERE gap IS NOT NULL GROUP BY host) g
                    JOIN hosts h ON h.host = g.host"""
            ):
                clock = clock_of(columns)
                rest = RestInterval(name, clock, visits, gaps, shortest, required(name, clock))
                hosts, short = hosts + 1, short + (shortest < rest.required)
                yield rest

        worst = nsmallest(most, measured(), key=lambda rest: (rest.shortest - rest.required, rest.host))
        return RestSummary(hosts, short, worst)

    def host_rests(self, host: int) -> HostRests | None:
        gaps = f"(SELECT gap FROM ({_GAPS} AND d.host = ?1) WHERE gap IS NOT NULL)"
        count, shortest = self._one(f"SELECT count(*), min(gap) FROM {gaps}", (host,))
        if not count:
            return None
        middle = f"SELECT avg(gap) FROM (SELECT gap FROM {gaps} ORDER BY gap LIMIT ?2 OFFSET ?3)"
        median = self._one(middle, (host, 2 - count % 2, (count - 1) // 2))
        return HostRests(count, shortest, median)

    def slowest_hosts(self, most: int) -> list[SlowHost]:
        rows = self._all(
            "SELECT name, latency, visits FROM hosts WHERE latency > 0 ORDER BY latency DESC, name LIMIT ?", (most,)
        )
        return [SlowHost(*row) for row in rows]

    def last_visits(self, host: int, most: int) -> list[VisitedUrl]:
        rows = self._all(
            """SELECT url, kind, visited, coalesce(status, 0), last_reason,
                      coalesce((SELECT d.title FROM documents d WHERE d.host = u.host AND d.rest = u.rest
                                ORDER BY d.fetched DESC, d.id DESC LIMIT 1), '')
               FROM urls u WHERE host = ? AND visited IS NOT NULL AND last_reason IS NOT NULL
               ORDER BY visited DESC, id DESC LIMIT ?""",
            (host, most),
        )
        return [
            VisitedUrl(url, Kind(kind), visited, status, Reason(reason), title)
            for url, kind, visited, status, reason, title in rows
        ]

    # ── robots.txt and scope ──

    def robots_counts(self) -> RobotsCounts:
        return RobotsCounts(
            *self._one(
                """SELECT count(*), count(*) FILTER (WHERE status BETWEEN 200 AND 299),
                          count(*) FILTER (WHERE length(body) > 0),
                          count(*) FILTER (WHERE coalesce(length(body), 0) = 0 AND status >= 400 AND held_until = 0),
                          count(*) FILTER (WHERE held_until > 0), count(crawl_delay),
                          count(nullif(request_rate, '')), count(nullif(visit_time, ''))
                   FROM origins"""
            )
        )

    def robots_files(self, host: int) -> list[RobotsFile]:
        rows = self._all(f"SELECT {RULES_COLUMNS} FROM origins WHERE host = ? ORDER BY origin", (host,))
        return [rules_of(row) for row in rows]

    def refused_counts(self, reasons: Collection[Reason], most: int) -> list[RefusedCount]:
        codes = ",".join(str(int(reason)) for reason in sorted(reasons))
        rows = self._all(
            f"""SELECT s.name, r.reason, r.urls, u.url
                FROM (SELECT h.site AS site, u.reason AS reason, count(*) AS urls, min(u.id) AS first
                      FROM urls u JOIN hosts h ON h.host = u.host
                      WHERE u.state = {State.PARKED:d} AND u.reason IN ({codes}) GROUP BY 1, 2) r
                JOIN sites s ON s.site = r.site JOIN urls u ON u.id = r.first
                ORDER BY r.urls DESC, s.name, r.reason LIMIT ?""",
            (most,),
        )
        return [RefusedCount(site, Reason(reason), urls, example) for site, reason, urls, example in rows]

    def list_coverage(self) -> ListCoverage:
        """Count pages found by links and by lists.

        `via` is a list if that came before the first link to the page; then its anchors from other hosts prove a link.
        """
        return ListCoverage(
            *self._one(
                f"""SELECT count(*), coalesce(sum(linked), 0), coalesce(sum(listed), 0),
                           coalesce(sum(linked AND listed), 0)
                    FROM (SELECT coalesce(v.kind, {Kind.ROBOTS:d}) = {Kind.PAGE:d}
                                 OR EXISTS (SELECT 1 FROM anchors a WHERE a.host = u.host AND a.rest = u.rest)
                                 AS linked,
                                 t.lister IS NOT NULL
                                 OR EXISTS (SELECT 1 FROM announcements n WHERE n.host = u.host AND n.rest = u.rest)
                                 AS listed
                          FROM urls u LEFT JOIN url_facts t ON t.id = u.id LEFT JOIN urls v ON v.id = u.via
                          WHERE u.kind = {Kind.PAGE:d}
                            AND NOT (u.state = {State.PARKED:d} AND u.reason IN ({SCOPE_CODES}))
                            AND u.host IN (SELECT m.host FROM url_facts l JOIN urls m ON m.id = l.id
                                           WHERE l.lister IS NOT NULL))"""
            )
        )

    # ── documents ──

    def document_shares(self, trait: DocumentTrait, most: int, host: int | None = None) -> list[DocumentShare]:
        return survey_documents.document_shares(self._connection, trait, most, _of("host", host), host)

    def page_sizes(self) -> list[tuple[int, int]]:
        return survey_documents.page_sizes(self._connection)

    def segment_fills(self) -> list[SegmentFill]:
        return survey_documents.segment_fills(self._connection)

    def copy_counts(self, most: int, examples: int) -> CopyCounts:
        return survey_documents.copy_counts(self._connection, most, examples)

    # ── topic ──

    def harvest(self, points: int, host: int | None = None) -> HarvestCounts | None:
        return survey_focus.harvest(self._connection, points, _of("d.host", host), host)

    def topic_yields(self, most: int, host: int | None = None) -> TopicYields:
        return survey_focus.topic_yields(self._connection, most, _of("d.host", host), host)

    def _one(self, statement: str, values: Values = ()) -> Any:
        return self._connection.execute(statement, values).get

    def _all(self, statement: str, values: Values = ()) -> Any:
        return self._connection.execute(statement, values)


def _of(column: str, host: int | None) -> str:
    """Return the condition on a host, which is the first value of the statement."""
    return "?1 IS NULL" if host is None else f"{column} = ?1"
