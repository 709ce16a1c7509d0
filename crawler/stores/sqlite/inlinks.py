"""What other hosts say of a URL, in words and by linking to it: gathered for a batch of pages, written at its end.

Words are kept as anchor text; a host's words for its own pages are navigation, and are not. A link from another site makes a
URL more important, and raises its site's budget: once for each site, however many of its pages link.
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

# What is counted in memory may be less than there are: other processes write, too.
_INSERT_ANCHOR = f"""
INSERT INTO anchors (host, rest, source, text, site) SELECT ?1, ?2, ?3, ?4, ?5
WHERE (SELECT count(*) FROM anchors WHERE host = ?1 AND rest = ?2) < {ANCHORS_PER_TARGET}
ON CONFLICT DO NOTHING
"""

# Counted anew, and not kept with every link: most change nothing.
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
    """Belongs to one transaction."""

    def __init__(
        self,
        connection: apsw.Connection,
        known: SeenCache,
        ledger: HostLedger,
        new: Mapping[tuple[int, int], NewUrlRow],
        now: float,
    ) -> None:
        self._connection = connection
        self._known = known
        self._ledger = ledger
        self._new = new  # URLs that this transaction has made known
        self._now = now
        self._anchors: list[tuple[int, int, int, str, int]] = []
        self._urls: dict[Key, int] = {}  # that are to be counted anew, with their sites
        self._sites: dict[tuple[int, int], None] = {}  # target, source

    def note(self, source: int, links: Sequence[Link]) -> None:
        """The links of a page on a host.

        A level is worth twice as many recommendations as the one before, so a URL's are counted anew only when its anchors
        have doubled.
        """
        known, connection = self._known, self._connection
        site = known.site_of(connection, source)
        for key, url, anchor, refused, mark in links:
            said = mark ^ source
            if refused is not None and refused.reason is Reason.TOO_FAR:
                said = ~said  # on a shorter way it is another link
            if known.links.get(said) == key[1]:
                continue
            known.links[said] = key[1]
            if key[0] == source:
                continue
            text = hash(url)
            if known.urls.get(key, text) != text:  # another URL has this key
                continue
            target = known.site_of(connection, key[0])
            if target == site and not anchor:
                continue
            count = self._anchors_of(key)
            if count < ANCHORS_PER_TARGET:
                known.anchor_counts[key] = count + 1
                self._anchors.append((*key, source, anchor, site))
                if target != site:
                    self._endorse(target, site)
                    if (count + 1) & (count + 2) == 0 and not (count == 0 and self._was_recommended(key)):
                        self._urls[key] = target

    def _anchors_of(self, key: Key) -> int:
        count = self._known.anchor_counts.get(key)
        if count is None and key in self._new:
            return 0
        if count is None:
            count = self._connection.execute("SELECT count(*) FROM anchors WHERE host = ? AND rest = ?", key).get
        return count

    def _was_recommended(self, key: Key) -> bool:
        """Whether its first recommendation was counted when the URL was made known."""
        row = self._new.get(key)
        return row is not None and bool(row.inlinks)

    def _endorse(self, target: int, site: int) -> None:
        pair = hash((target, site))
        if pair not in self._known.endorsements:
            self._known.endorsements.add(pair)
            self._sites[target, site] = None

    def write(self) -> None:
        """In this order: recommendations are counted by their anchors."""
        self._connection.executemany(_INSERT_ANCHOR, self._anchors)
        self._tell_later()
        self._recount()
        self._write_sites()

    def _tell_later(self) -> None:
        """Note which pages have new anchors: the feed tells of a page once, however many come in the meantime.

        Of what has just become known there is no page yet; when there is, its anchors are told with it.
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
        rows: Any = self._connection.executemany(_RECOUNT, [(*key, site) for key, site in self._urls.items()])
        for host, rest, state, due, old, *standing in rows:
            level = level_of(PriorityInputs(*standing))
            if level != old:
                raised.append((level, host, rest))
                if state == State.WAITING:
                    self._ledger.waits(host, due, level)
        self._connection.executemany("UPDATE urls SET level = ? WHERE host = ? AND rest = ?", raised)

    def _write_sites(self) -> None:
        """A site's budget grows with those that link to it, so that what was over it may be let in."""
        values = [(*pair, MOST_ENDORSERS) for pair in self._sites]
        rows: Any = self._connection.executemany(_ENDORSE, values)
        self._connection.executemany(
            """UPDATE sites SET endorsers = endorsers + ?1, review = CASE WHEN excess > 0 THEN ?2 ELSE review END
               WHERE site = ?3""",
            [(count, self._now, target) for target, count in Counter(target for (target,) in rows).items()],
        )
