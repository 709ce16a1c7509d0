"""Rows for the URLs that visits found: links, and targets of redirects."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from crawler.frontier.priority import PriorityInputs, level_of
from crawler.items import Kind, Link, Reason, Visit, Visited
from crawler.stores.sqlite.new_urls import NewUrlRow, SeenCache, initial_state, whole_second
from crawler.stores.sqlite.originals import OriginalPage


def found_rows(
    connection: apsw.Connection,
    via: int,
    visited: Visited,
    links: Sequence[Link],
    original: OriginalPage | None,
    seen_cache: SeenCache,
    now: float,
    *,
    follow: bool,
) -> list[NewUrlRow]:
    """Return rows for the URLs that a visit found: links, and a redirect's target.

    Links of a copy are left out, unless `follow` is set and the original has other links.
    """
    visit, page, target = visited.visit, visited.page, visited.location
    rows: list[NewUrlRow] = []
    is_followed = original is None or (follow and page is not None and original.links_digest != page.links_digest)
    if page is not None and is_followed:
        rows = link_rows(connection, via, visit, links, seen_cache, now, counts_inlinks=original is None)
    if target is not None:
        state, reason, detail = initial_state(target.refused, Reason.REDIRECT_TARGET)
        at = whole_second(now)
        rows.append(
            NewUrlRow(
                *target.key,
                url=target.url,
                state=state,
                reason=reason,
                kind=visit.kind,
                level=visit.level,
                due=at,
                depth=visit.depth,
                hops=visit.hops + 1,
                via=via,
                found=at,
                detail=detail,
            )
        )
    return rows


def link_rows(
    connection: apsw.Connection,
    via: int,
    visit: Visit,
    links: Sequence[Link],
    seen_cache: SeenCache,
    now: float,
    *,
    counts_inlinks: bool,
) -> list[NewUrlRow]:
    depth, at, own_host = visit.depth + 1, whole_second(now), visit.key.host
    levels = level_of(PriorityInputs(depth)), level_of(PriorityInputs(depth, 1))
    new = [link for link in links if seen_cache.urls.get(link[0]) != hash(link[1])]
    followed = initial_state(None, Reason.LINK)
    seen_cache.add_hosts(connection, [(link[0][0], link[1]) for link in new])
    site = seen_cache.site_of(connection, own_host)
    # kind, level, due, depth, hops, via, found: keywords would take twice the time, and pages have many links
    inside = (Kind.PAGE, levels[0], at, depth, 0, via, at)
    outside = (Kind.PAGE, levels[1], at, depth, 0, via, at)
    rows: list[NewUrlRow] = []
    for (host, rest), url, _, refused, _ in new:
        state, reason, detail = initial_state(refused, Reason.LINK) if refused is not None else followed
        if counts_inlinks and host != own_host and seen_cache.site_of(connection, host) != site:
            rows.append(NewUrlRow(host, rest, url, state, reason, *outside, detail, 1))
        else:
            rows.append(NewUrlRow(host, rest, url, state, reason, *inside, detail))
    return rows
