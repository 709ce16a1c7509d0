"""URLs are judged again after the scope has changed: those that it parked, and those found and not yet visited."""

from __future__ import annotations

import apsw

from crawler.items import Kind, Reason, Refusal, State
from crawler.stores.contract.urls import Judge, ScopeReview
from crawler.stores.sqlite.index_pages import fetched_twin
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.new_urls import LONGEST_DETAIL, SCOPE_CODES
from crawler.urls.hosts import reversed_name

_URLS_PER_REVIEW = 10_000  # URLs a transaction


def review(
    connection: apsw.Connection, ledger: HostLedger, judge: Judge, now: float, host: int | None, after: float
) -> tuple[float | None, ScopeReview]:
    """Judge a range of URLs again, of one host or of all; return where the next range begins, or None at the end."""
    place, of_host = ("id", "") if host is None else ("rest", "host = ?2 AND")
    # A URL with a `via` was discovered, not requested, whatever its reason is now.
    rows: list[tuple[float, int, int, str, int, int, int, str, int, int]] = connection.execute(
        f"""SELECT {place}, host, rest, url, depth, state, reason, detail, level,
                   EXISTS (SELECT 1 FROM seeds s WHERE s.url = urls.url) FROM urls
            WHERE {of_host} {place} > ?1 AND kind = {Kind.PAGE:d} AND (
                state = {State.PARKED:d} AND reason IN ({SCOPE_CODES}, {Reason.SAME_PAGE:d}, {Reason.OVER_BUDGET:d})
                OR state = {State.WAITING:d} AND visits = 0 AND via IS NOT NULL)
            ORDER BY {place} LIMIT {_URLS_PER_REVIEW}""",
        (after,) if host is None else (after, host),
    ).fetchall()  # type: ignore[assignment]
    opened: list[tuple[object, ...]] = []
    parked: list[tuple[object, ...]] = []
    closed = 0
    for _, host, rest, url, depth, state, reason, detail, level, is_seed in rows:
        refusal = None if is_seed else judge(url, depth)
        if refusal is None and state == State.PARKED and not is_seed and (twin := fetched_twin(connection, url)):
            refusal = Refusal(Reason.SAME_PAGE, twin)
        if reason == Reason.OVER_BUDGET and (refusal is not None or is_seed):
            ledger.remove_excess(host, 1)
        if refusal is None and state == State.PARKED and (is_seed or reason != Reason.OVER_BUDGET):
            if ledger.admit(host, force=bool(is_seed)):
                opened.append((State.WAITING, Reason.LINK, "", now, host, rest))
                ledger.add_waiting(host, now, level)
            else:
                parked.append((State.PARKED, Reason.OVER_BUDGET, "", now, host, rest))
        elif refusal is not None:
            verdict = (State.PARKED, refusal.reason, refusal.detail[:LONGEST_DETAIL])
            if verdict != (state, reason, detail):
                parked.append((*verdict, now, host, rest))
            closed += state == State.WAITING
    connection.executemany(
        "UPDATE urls SET state = ?, reason = ?, detail = ?, due = ? WHERE host = ? AND rest = ?", [*opened, *parked]
    )
    # The due time of a host whose URLs are all parked is corrected when it is loaded.
    after_these = rows[-1][0] if len(rows) == _URLS_PER_REVIEW else None
    return after_these, ScopeReview(opened=len(opened), closed=closed)


def hosts_of_site(connection: apsw.Connection, site: str) -> list[int]:
    """Return the hosts with this name or below it."""
    name = reversed_name(site)
    rows = connection.execute(
        "SELECT host FROM hosts WHERE reversed = ?1 OR (reversed > ?1 || '.' AND reversed < ?1 || '/')", (name,)
    )
    return [row[0] for row in rows]
