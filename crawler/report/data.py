"""Collect the numbers of a crawl into one dict: `scrapy report --json` prints it, and the HTML page is drawn from it.

Times are seconds since the epoch, durations seconds, sizes bytes; what is not known is null. Keys are stable; new ones
may be added.

    directory, made                 the crawl's directory, and when this report was made
    times                           first, last: when the first URL was discovered, and the last activity
    totals                          known = waiting + leased + parked URLs, hosts, documents, pages, archive_bytes, …
    history                         slice_seconds, and slices: URLs discovered, queued and fetched up to the end of each
    runs                            the last runs: how each ended, pages_per_second …; runs_counted is the number of all
    settings, on_settings           of the last run; which are not usual or differ from crawl.toml, in words
    states, outcomes                URLs by state and reason; URLs and archived responses by outcome; examples
    politeness                      the hosts whose shortest gap between requests was closest to the required delay
    robots, spared                  origins by their robots.txt; what HEAD and conditional requests saved in all runs
    duplicates                      by tier, and the largest clusters
    depths, languages, formats, content_types, statuses, problems, sizes
    archive                         sizes of bodies as received, of their records, and of the WARC files
    slowest_hosts, slowest_in_runs  hosts by the time of their last response; by that of their slowest in any run
    refusals                        URLs that are not visited, by site and reason; is_trap marks traps
    coverage                        an estimate of how many pages were not discovered
    topic                           of a focused crawl: pages judged and on topic, of all and of the last ones, the curve,
                                    best_sources and best_sections; null if no page was judged
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from crawler.collection.topics import TOPIC_FACT
from crawler.frontier.politeness import HostClock, Politeness
from crawler.items import Reason, Tier
from crawler.monitor.text import account_data
from crawler.monitor.topic import topic_data
from crawler.options import Options
from crawler.report.coverage import coverage
from crawler.report.times import MOST_SLICES, slice_width
from crawler.stores.contract.store import Store
from crawler.stores.contract.survey import (
    CopyCounts,
    DocumentShare,
    DocumentTrait,
    RestInterval,
    StateCount,
    Survey,
    TimeSlice,
)

EXAMPLES = 3
WORST = 20  # hosts in each list
MOST = 30  # entries of each other list
MOST_RUNS = 120
HARVEST_POINTS = 100
DEEPEST = 30

TRAPS = frozenset(
    {
        Reason.PATH_TOO_DEEP,
        Reason.REPEATED_SEGMENT,
        Reason.TOO_MANY_PARAMETERS,
        Reason.URL_TOO_LONG,
        Reason.TOO_FAR,
        Reason.OVER_BUDGET,
        Reason.QUARANTINED,
        Reason.CRASHED,
    }
)
REFUSALS = TRAPS | {
    Reason.ROBOTS_DENIED,
    Reason.OUT_OF_SCOPE,
    Reason.NO_CONTACT,
    Reason.ADDRESS_DENIED,
    Reason.PORT_DENIED,
    Reason.EXCLUDED,
    Reason.NOT_INCLUDED,
    Reason.FILE_TYPE,
    Reason.ACTION,
    Reason.API_CALL,
    Reason.FILTER_FAILED,
    Reason.UNFILLED,
    Reason.MIDDLEWARE_REFUSED,
}


def crawl_data(store: Store, options: Options, now: float) -> dict[str, Any]:
    """Collect the data of the whole crawl from one consistent state of the store."""
    with store.survey() as survey:
        runs, state_counts = store.crawl.runs(), survey.state_counts(EXAMPLES)
        return {
            "directory": str(options.crawl.dir),
            "made": now,
            **_activity(survey),
            "totals": _totals(store),
            "runs": [run_data(run) for run in runs[-MOST_RUNS:]],
            "runs_counted": len(runs),
            "states": states_data(state_counts),
            "outcomes": outcomes_data(survey),
            "politeness": _politeness(survey, options.politeness, runs),
            "robots": survey.robots_counts()._asdict() | {"urls_denied": _denied(state_counts)},
            "spared": _spared(runs),
            "duplicates": _duplicates(survey.copy_counts(WORST, EXAMPLES)),
            "depths": [row._asdict() for row in survey.depth_counts(DEEPEST)],
            **{f"{trait.value}s".replace("statuss", "statuses"): shares_data(survey, trait) for trait in DocumentTrait},
            "sizes": [{"below": 2**power, "pages": pages} for power, pages in survey.page_sizes()],
            "archive": _archive(store, survey),
            "slowest_hosts": [row._asdict() for row in survey.slowest_hosts(WORST)],
            "slowest_in_runs": _slowest_in(runs),
            "refusals": [
                {
                    "site": row.site,
                    **reason_data(row.reason),
                    "is_trap": row.reason in TRAPS,
                    "urls": row.urls,
                    "example": row.example,
                }
                for row in survey.refused_counts(REFUSALS, MOST)
            ],
            "coverage": coverage(survey.list_coverage()),
            "topic": topic_data(survey, store.crawl.facts().get(TOPIC_FACT, ""), HARVEST_POINTS, WORST),
        }


def reason_data(reason: Reason) -> dict[str, str]:
    return {"reason": reason.name.lower(), "meaning": reason.meaning}


def _activity(survey: Survey) -> dict[str, Any]:
    span = survey.span()
    if span is None:
        return {
            "times": {"first": None, "last": None},
            "history": {"since": None, "slice_seconds": None, "slices": []},
        }
    return {"times": {"first": span[0], "last": span[1]}, "history": history_data(survey.history, *span)}


def history_data(query: Callable[[float, float], Sequence[TimeSlice]], first: float, last: float) -> dict[str, Any]:
    """Divide the time into slices: totals up to the end of each, and the rate within it."""
    width = slice_width(last - first)
    since = first - first % width
    counted = {row.number: row for row in query(since, width)}
    slices, known, refused, visited, answers, pages = [], 0, 0, 0, 0, 0
    # A wrong clock may have given times far off, so the number of slices is limited.
    for number in range(min(max(counted, default=-1) + 1, 2 * MOST_SLICES)):
        row = counted.get(number, TimeSlice(number))
        known, refused, visited = known + row.found, refused + row.refused, visited + row.visited
        answers, pages = answers + row.answers, pages + row.pages
        slices.append(
            {
                "end": since + (number + 1) * width,
                "discovered": known,
                "queued": max(known - refused - visited, 0),
                "fetched": answers,
                "pages": pages,
                "answers_in_slice": row.answers,
                "bytes_in_slice": row.bytes,
                "pages_per_second": round(row.pages / width, 4),
            }
        )
    return {"since": since, "slice_seconds": width, "slices": slices}


def _totals(store: Store) -> dict[str, Any]:
    return account_data(store.crawl.account(), store.archive.segments()) | {"store_bytes": store.crawl.size()}


def run_data(run: Mapping[str, Any]) -> dict[str, Any]:
    seconds, pages = run.get("seconds") or 0.0, run.get("pages") or 0
    return {
        "ended": run["ended"],
        "seconds": seconds,
        "finished": run.get("finished", ""),
        "visits": run.get("visits", 0),
        "pages": pages,
        "pages_per_second": round(pages / seconds, 3) if seconds else None,
        "new_urls": run.get("new_urls", 0),
        "bytes_received": run.get("bytes", {}).get("received", 0),
        "limited_by": run.get("limited_by", ""),
    }


def states_data(state_counts: Sequence[StateCount]) -> list[dict[str, Any]]:
    return [
        {"state": row.state.name.lower(), **reason_data(row.reason), "urls": row.urls, "examples": list(row.examples)}
        for row in state_counts
    ]


def outcomes_data(survey: Survey, host: int | None = None) -> list[dict[str, Any]]:
    return [
        {**reason_data(row.reason), "urls": row.urls, "answers": row.answers, "examples": list(row.examples)}
        for row in survey.outcome_counts(EXAMPLES, host)
    ]


def shares_data(survey: Survey, trait: DocumentTrait, host: int | None = None) -> list[dict[str, Any]]:
    return [_share(row) for row in survey.document_shares(trait, MOST, host)]


def _share(row: DocumentShare) -> dict[str, Any]:
    return {"name": row.name, "answers": row.answers, "bytes": row.bytes}


def least_rest(politeness: Politeness, name: str, clock: HostClock) -> float:
    """Return the shortest delay that a host requires; after a slow response or an error its delay is longer."""
    return politeness.rest(name, replace(clock, latency=0.0, last_bytes=0, backoff=0))


def crawl_limits_data(clock: HostClock) -> dict[str, Any]:
    delay, rate, visit_time = clock.crawl_limits
    return {
        "crawl_delay": delay,
        "request_rate": {"requests": rate.requests, "seconds": rate.seconds, "minutes_of_day": rate.window}
        if rate is not None
        else None,
        "visit_time": visit_time,
    }


def _politeness(survey: Survey, politeness: Politeness, runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    gaps = survey.rests(lambda name, clock: least_rest(politeness, name, clock), WORST)
    closest = sorted(
        (row for run in runs for row in run.get("shortest_gaps", ())), key=lambda row: row["gap"] - row["required"]
    )
    return {
        "hosts_with_gaps": gaps.hosts,
        "hosts_asked_too_soon": gaps.short,
        "requests_before_their_time": sum(run.get("requests_before_their_time", 0) for run in runs),
        "worst_hosts": [_gap(row, politeness) for row in gaps.worst],
        "closest_in_runs": closest[:WORST],
    }


def _gap(gap: RestInterval, politeness: Politeness) -> dict[str, Any]:
    return {
        "host": gap.host,
        "visits": gap.visits,
        **crawl_limits_data(gap.clock),
        "asked": gap.required,
        "rest_now": politeness.rest(gap.host, gap.clock),
        "gaps": gap.gaps,
        "shortest_gap": gap.shortest,
    }


def _denied(state_counts: Sequence[StateCount]) -> int:
    return sum(row.urls for row in state_counts if row.reason is Reason.ROBOTS_DENIED)


def _spared(runs: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    sums = Counter(
        {"unchanged": 0, "unchanged_bytes": 0, "heads": 0, "followed": 0, "unwanted": 0, "unwanted_bytes": 0}
    )
    for run in runs:
        sums.update({name: int(count) for name, count in run.get("spared", {}).items() if name in sums})
    return dict(sums)


def _duplicates(copied: CopyCounts) -> dict[str, Any]:
    tiers = dict(copied.tiers)
    count = sum(tiers.values())
    return {
        "pages": copied.pages,
        "duplicates": count,
        "share": round(count / copied.pages, 4) if copied.pages else None,
        "tiers": [
            {"tier": tier.name.lower(), "meaning": tier.meaning, "duplicates": tiers.get(tier, 0)} for tier in Tier
        ],
        "clusters": copied.clusters,
        "largest": [row._asdict() | {"examples": list(row.examples)} for row in copied.largest],
    }


def _archive(store: Store, survey: Survey) -> dict[str, Any]:
    lengths = {segment.name: segment for segment in store.archive.segments()}
    files = [
        row._asdict() | {"file_bytes": lengths[row.segment].length, "is_closed": lengths[row.segment].closed}
        for row in survey.segment_fills()
    ]
    return {
        "body_bytes": sum(row["body_bytes"] for row in files),
        "record_bytes": sum(row["record_bytes"] for row in files),
        "file_bytes": sum(segment.length for segment in lengths.values()),
        "reused": sum(row["reused"] for row in files),
        "files": files,
    }


def _slowest_in(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    slowest: dict[str, float] = {}
    for run in runs:
        for row in run.get("slowest_hosts", ()):
            slowest[row["host"]] = max(row["seconds"], slowest.get(row["host"], 0.0))
    return [
        {"host": host, "seconds": seconds}
        for host, seconds in sorted(slowest.items(), key=lambda item: (-item[1], item[0]))[:WORST]
    ]
