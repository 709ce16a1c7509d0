"""Pages that were judged by the topic of a focused crawl, counted for reports: the harvest, and where it came from.

The harvest is read from the index `documents_relevance` alone: .5 s for a million pages. Sources and sections need
three rows a page, so they are ranked by the pages that were judged last.
"""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import Any

import apsw

from crawler.focus.harvest import LAST_PAGES, HarvestPoint
from crawler.focus.hubs import RankedSource, SourceRanking
from crawler.focus.url_parts import section_of
from crawler.items import Reason
from crawler.stores.contract.survey import HarvestCounts, TopicSource, TopicYields

MOST_RANKED = 100_000  # pages by which sources and sections are ranked; 3 µs each, if the disk need not be read

# Pages that are not to be indexed for other reasons, and texts that were cut, are not judged.
IS_JUDGED = f"relevance IS NOT NULL AND reason IN ({Reason.OK:d}, {Reason.OFF_TOPIC:d})"

_EXTENT = f"SELECT min(id), max(id) FROM documents d WHERE {IS_JUDGED}"
_JUDGED = f"SELECT id, reason = {Reason.OK:d} FROM documents d WHERE {IS_JUDGED}"
_LAST = f"""
SELECT count(*), coalesce(sum(on_topic), 0) FROM (
    SELECT reason = {Reason.OK:d} AS on_topic FROM documents d WHERE id BETWEEN ?2 AND ?3 AND {IS_JUDGED} AND %s
    ORDER BY id DESC LIMIT ?4)
"""
# Of several versions of a page, the newest. The plus keeps SQLite from sorting all pages that were judged.
_YIELDS = f"""
SELECT u.via, u.url, d.reason = {Reason.OK:d}, d.relevance
FROM documents d JOIN urls u ON u.host = d.host AND u.rest = d.rest
WHERE d.id BETWEEN ?2 AND ?3 AND %s AND +d.relevance IS NOT NULL AND d.reason IN ({Reason.OK:d}, {Reason.OFF_TOPIC:d})
  AND NOT EXISTS (SELECT 1 FROM documents n WHERE n.host = d.host AND n.rest = d.rest
                  AND (n.fetched, n.id) > (d.fetched, d.id))
ORDER BY d.id DESC LIMIT ?4
"""


def harvest(connection: apsw.Connection, points: int, condition: str, host: int | None) -> HarvestCounts | None:
    """Count judged pages in slices of their numbers, which are in the order of fetching."""
    first, last = connection.execute(f"{_EXTENT} AND {condition}", (host,)).get
    if first is None:
        return None
    span = last - first + 1
    pages, on_topic = [0] * points, [0] * points
    rows: Any = connection.execute(f"{_JUDGED} AND {condition}", (host,))
    for number, is_on_topic in rows:
        place = (number - first) * points // span
        pages[place] += 1
        on_topic[place] += is_on_topic
    nearest = first + _slice_of_last(pages) * span // points
    last_pages, last_on_topic = connection.execute(_LAST % condition, (host, nearest, last, LAST_PAGES)).get
    return HarvestCounts(sum(pages), sum(on_topic), last_pages, last_on_topic, _curve(pages, on_topic))


def _slice_of_last(pages: list[int]) -> int:
    """Return the slice from which on there are as many pages as are looked at apart from all."""
    found, place = 0, len(pages)
    while place and found < LAST_PAGES:
        place -= 1
        found += pages[place]
    return place


def _curve(pages: list[int], on_topic: list[int]) -> list[HarvestPoint]:
    points = zip(accumulate(pages), accumulate(on_topic), strict=True)
    return list(dict.fromkeys([HarvestPoint(0, 0), *(HarvestPoint(*point) for point in points)]))


def topic_yields(connection: apsw.Connection, most: int, condition: str, host: int | None) -> TopicYields:
    """Rank the pages that link, and the sections, by what was fetched from them."""
    sources, sections = SourceRanking(), SourceRanking()
    from_sources, in_sections = Counter[str](), Counter[str]()
    first, last = connection.execute(f"{_EXTENT} AND {condition}", (host,)).get
    rows: Any = connection.execute(_YIELDS % f"({condition})", (host, first, last, MOST_RANKED))
    for via, url, is_on_topic, relevance in rows:
        section, source = section_of(url), str(via or "")  # 0 and NULL: none, or not known
        sources.count(source, relevance)
        sections.count(section, relevance)
        if is_on_topic:
            from_sources[source] += 1
            in_sections[section] += 1
    best = [_topic_source(one, from_sources) for one in sources.best(most)]
    return TopicYields(
        [one._replace(name=_url(connection, int(one.name))) for one in best],
        [_topic_source(one, in_sections) for one in sections.best(most)],
    )


def _topic_source(ranked: RankedSource, on_topic: Counter[str]) -> TopicSource:
    name, pages, relevance, shrunk_yield = ranked
    return TopicSource(name, pages, on_topic[name], relevance / pages, shrunk_yield)


def _url(connection: apsw.Connection, number: int) -> str:
    url: str = connection.execute("SELECT url FROM urls WHERE id = ?", (number,)).get
    return url
