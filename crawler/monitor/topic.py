"""Describe how well a focused crawl stays on its topic: the harvest, its curve, the best sources and sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from crawler.monitor.judged_pages import harvest_data, harvest_words
from crawler.stores.contract.survey import Survey, TopicSource

_BARS: Final = "▁▂▃▄▅▆▇█"


def topic_data(survey: Survey, name: str, points: int, most: int, host: int | None = None) -> dict[str, Any] | None:
    """Return the harvest of a crawl or a host as JSON has it; None if no page was judged by a topic."""
    harvest = survey.harvest(points, host)
    if harvest is None:
        return None
    yields = survey.topic_yields(most, host)
    return {
        "name": name,
        **harvest_data(harvest.pages, harvest.on_topic, harvest.last_pages, harvest.last_on_topic),
        "curve": [point._asdict() for point in harvest.curve],
        "best_sources": [_source_data(one) for one in yields.sources],
        "best_sections": [_source_data(one) for one in yields.sections],
    }


def _source_data(source: TopicSource) -> dict[str, Any]:
    return source._asdict() | {
        "relevance": round(source.relevance, 4),
        "shrunk_yield": round(source.shrunk_yield, 4),
    }


def topic_lines(data: Mapping[str, Any]) -> Iterator[str]:
    """Format the same for people."""
    name = f"topic {data['name']}" if data["name"] else "topic of an earlier run"
    yield f"{name}: {harvest_words(data)} on topic"
    yield f"  {bars_of_harvest(data['curve'])}  from the first page to the last; ▁ none, █ all on topic"
    for what, sources in (("sources", data["best_sources"]), ("sections", data["best_sections"])):
        for place, source in enumerate(sources):
            label = f"best {what}" if place == 0 else ""
            yield f"  {label:13} {source['on_topic']:,} of {source['pages']:,}  {source['name']}"


def harvest_shares(curve: Sequence[Mapping[str, int]]) -> list[float]:
    """Return the share of pages on topic between each two points of the harvest curve.

    >>> harvest_shares([{"pages": 0, "on_topic": 0}, {"pages": 4, "on_topic": 1}, {"pages": 6, "on_topic": 3}])
    [0.25, 1.0]
    """
    return [
        (after["on_topic"] - before["on_topic"]) / (after["pages"] - before["pages"])
        for before, after in pairwise(curve)
    ]


def bars_of_harvest(curve: Sequence[Mapping[str, int]]) -> str:
    """Draw the share of pages on topic between each two points of the harvest curve as a bar.

    >>> bars_of_harvest([{"pages": 0, "on_topic": 0}, {"pages": 4, "on_topic": 1}, {"pages": 6, "on_topic": 3}])
    '▃█'
    """
    highest = len(_BARS) - 1
    return "".join(_BARS[round(share * highest)] for share in harvest_shares(curve))
