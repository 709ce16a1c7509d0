"""Links from other hosts: their anchor text, the in-links of their targets, and the endorsements of sites.

Anchor text of links inside a host is navigation and is not stored. A link from another site raises the priority of a
URL and the budget of its site: once for each linking site, however many of its pages link.
"""

from __future__ import annotations

import array
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import apsw

from crawler.frontier.budgets import MOST_ENDORSERS
from crawler.frontier.priority import PriorityInputs, level_of
from crawler.items import Key, Link, Reason, State
from crawler.stores.sqlite.ledger import HostLedger
from crawler.stores.sqlite.new_urls import NewUrlRow, SeenCache

ANCHORS_PER_TARGET = 64

# The count in memory may be too low, because other processes write anchors, too; so it is checked here.
_INSERT_ANCHOR = f"""
INSERT INTO anchors (host, rest, source, text, site) SELECT ?1, ?2, ?3, ?4, ?5
WHERE (SELECT count(*) FROM anchors WHERE host = ?1 AND rest = ?2) < {ANCHORS_PER_TARGET}
ON CONFLICT DO NOTHING
"""

# In-links are recounted now and then, not updated with every link: most links do not change the level.
_RECOUNT = """
UPDATE urls SET inlinks = (SELECT count(DISTINCT a.site) FROM anchors a
                           WHERE a.host = ?1 AND a.rest = ?2 AND a.site <> ?3)
WHERE host = ?1 AND rest = ?2
RETURNING host, rest, state, due, level, depth, inlinks, hint, visits, changes
"""

_ENDORSE = """
INSERT INTO site_links SELECT ?1, ?2 WHERE (SELECT endorsers FROM sites WHERE site = ?1) < ?3
ON CONFLICT DO NOTHING RETURNING target
"""


class InlinkWriter:
    """Collects the links of a batch, and writes them at its end. It belongs to one transaction."""

    def __init__(
        self,
        connection: apsw.Connection,
        seen_cache: SeenCache,
        ledger: HostLedger,
        new: Mapping[tuple[int, int], NewUrlRow],
        now: float,
    ) -> None:
        self._connection = connection
        self._seen_cache = seen_cache
        self._ledger = ledger
        self._new = new  # URLs that this transaction has inserted
        self._now = now
        self._anchors: list[tuple[int, int, int, str, int]] = []
        self._recounted: dict[Key, int] = {}  # URLs whose in-links are recounted → their sites
        self._endorsed: dict[tuple[int, int], None] = {}  # (target site, linking site)

    def add(self, source: int, links: Sequence[Link]) -> None:
        """Add the links of a page on a host.

        Each further level takes twice as many in-links, so those of a URL are recounted only when its anchors have
        doubled.
        """
        seen_cache, connection = self._seen_cache, self._connection
        site = seen_cache.site_of(connection, source)
        for key, url, anchor, refused, mark in links:
            link_mark = mark ^ source
            if refused is not None and refused.reason is Reason.TOO_FAR:
                link_mark = ~link_mark  # on a shorter path it is another link
            if seen_cache.links.get(link_mark) == key[1]:
                continue
            seen_cache.links[link_mark] = key[1]
            if key[0] == source:
                continue
            text = hash(url)
            if seen_cache.urls.get(key, text) != text:  # another URL has this key
                continue
            target = seen_cache.site_of(connection, key[0])
            if target == site and not anchor:
                continue
            count = self._anchors_of(key)
            if count < ANCHORS_PER_TARGET:
                seen_cache.anchor_counts[key] = count + 1
                self._anchors.append((*key, source, anchor, site))
                if target != site:
                    self._endorse(target, site)
                    if (count + 1) & (count + 2) == 0 and not (count == 0 and self._has_counted_inlink(key)):
                        self._recounted[key] = target

    def _anchors_of(self, key: Key) -> int:
        count = self._seen_cache.anchor_counts.get(key)
        if count is None and key in self._new:
            return 0
        if count is None:
            count = self._connection.execute("SELECT count(*) FROM anchors WHERE host = ? AND rest = ?", key).get
        return count

    def _has_counted_inlink(self, key: Key) -> bool:
        """Whether the first in-link of a URL was counted when it was inserted."""
        row = self._new.get(key)
        return row is not None and bool(row.inlinks)

    def _endorse(self, target: int, site: int) -> None:
        pair = hash((target, site))
        if pair not in self._seen_cache.endorsements:
            self._seen_cache.endorsements.add(pair)
            self._endorsed[target, site] = None

    def write(self) -> None:
        """Write anchors, in-links and endorsements, in this order: in-links are counted from anchors."""
        self._connection.executemany(_INSERT_ANCHOR, self._anchors)
        self._queue_anchors()
        self._recount()
        self._write_endorsements()

    def _queue_anchors(self) -> None:
        """Queue pages with new anchor text for the change feed, which publishes all new anchors of a page at once.

        A URL that was just inserted has no page yet; its anchors are published with its first one.
        """
        targets = {anchor[:2]: None for anchor in self._anchors if anchor[3] and anchor[:2] not in self._new}
        if targets:
            packed = array.array("q", chain.from_iterable(targets)).tobytes()
            self._connection.execute(
                "INSERT INTO pending_anchors (version, targets) SELECT coalesce(max(version), 0), ? FROM changes",
                (packed,),
            )

    def _recount(self) -> None:
        raised: list[tuple[int, int, int]] = []
        rows: Any = self._connection.executemany(_RECOUNT, [(*key, site) for key, site in self._recounted.items()])
        for host, rest, state, due, old, *priority in rows:
            level = old if self._seen_cache.has_fixed_levels else level_of(PriorityInputs(*priority))
            if level != old:
                raised.append((level, host, rest))
                if state == State.WAITING:
                    self._ledger.add_waiting(host, due, level)
        self._connection.executemany("UPDATE urls SET level = ? WHERE host = ? AND rest = ?", raised)

    def _write_endorsements(self) -> None:
        """Write new endorsements; they raise the budget of a site, so it is reviewed if URLs are parked over budget."""
        values = [(*pair, MOST_ENDORSERS) for pair in self._endorsed]
        rows: Any = self._connection.executemany(_ENDORSE, values)
        self._connection.executemany(
            """UPDATE sites SET endorsers = endorsers + ?1, review = CASE WHEN excess > 0 THEN ?2 ELSE review END
               WHERE site = ?3""",
            [(count, self._now, target) for target, count in Counter(target for (target,) in rows).items()],
        )
