"""Collect the numbers of one host into one dict: `scrapy report --host NAME --json` prints it.

Units as in `crawler.report.data`. It reveals nothing of other hosts or of the crawling machine, so that it can be
sent to the webmaster of the host.

    host, made, times           the host, when this was made, when its first URL was discovered and the last visited
    who                         user_agent, contact, and robots_token: the name by which robots.txt can address us
    totals                      URLs known and by state, requests, pages, failures, bytes
    asked                       limits in its robots.txt; our delays: least_rest at least, rest_now at the moment
    gaps                        between archived responses: how many, the shortest, the median; null if there are none
    robots                      the robots.txt of each of its origins, as last fetched
    history, statuses, states, outcomes     as in the report of a crawl
    denied                      how many URLs robots.txt denies, and examples
    last_visits                 the last visits, newest first
    topic                       of a focused crawl: its pages judged and on topic, the curve, best_sections; or null
"""

from __future__ import annotations

from typing import Any

from crawler.collection.topics import TOPIC_FACT
from crawler.items import ROBOTS_TOKEN, Reason, RobotsFile, State
from crawler.monitor.topic import topic_data
from crawler.options import Options
from crawler.report.data import (
    EXAMPLES,
    HARVEST_POINTS,
    crawl_limits_data,
    history_data,
    least_rest,
    outcomes_data,
    reason_data,
    shares_data,
    states_data,
)
from crawler.stores.contract.store import Store
from crawler.stores.contract.survey import DocumentTrait, StateCount, Survey, TimeSlice
from crawler.stores.contract.urls import HostRow

LAST_VISITS = 25
BEST_SECTIONS = 10
MOST_DENIED = 10  # examples
MOST_RULES = 65_536  # bytes of a robots.txt that are shown


def host_data(store: Store, options: Options, host: int, now: float) -> dict[str, Any] | None:
    """Collect the data of a host from one consistent state of the store; None if no URL of it is known."""
    with store.survey() as survey:
        row = store.urls.find_host(host, now)
        if row is None:
            return None
        span = survey.span(host)
        state_counts = survey.state_counts(MOST_DENIED, host)
        return {
            "host": row.name,
            "made": now,
            "times": {"first": span[0], "last": span[1]} if span is not None else {"first": None, "last": None},
            "who": {"user_agent": options.user_agent, "contact": options.contact, "robots_token": ROBOTS_TOKEN},
            "totals": _totals(row, state_counts),
            "asked": _limits(row, options),
            "gaps": _gaps(survey, host),
            "robots": [_robots_data(rules) for rules in survey.robots_files(host)],
            "history": _history(survey, host, span),
            "statuses": shares_data(survey, DocumentTrait.STATUS, host),
            "states": states_data([row._replace(examples=row.examples[:EXAMPLES]) for row in state_counts]),
            "outcomes": outcomes_data(survey, host),
            "denied": _denied(state_counts),
            "topic": _topic(survey, store.crawl.facts().get(TOPIC_FACT, ""), host),
            "last_visits": [
                visit._asdict() | {"kind": visit.kind.name.lower(), **reason_data(visit.reason)}
                for visit in survey.last_visits(host, LAST_VISITS)
            ],
        }


def _totals(row: HostRow, state_counts: list[StateCount]) -> dict[str, int]:
    states = {state.name.lower(): sum(part.urls for part in state_counts if part.state is state) for state in State}
    return {
        "known": row.known,
        **states,
        "requests": row.visits,
        "pages": row.pages,
        "failures": row.failures,
        "bytes": row.bytes,
    }


def _limits(row: HostRow, options: Options) -> dict[str, Any]:
    clock, politeness = row.clock, options.politeness
    return crawl_limits_data(clock) | {
        "least_rest": least_rest(politeness, row.name, clock),
        "rest_now": politeness.rest(row.name, clock),
        "parts": politeness.rest_parts(row.name, clock),
        "held_until": clock.held_until or None,
        "last_answer_took": clock.latency,
    }


def _gaps(survey: Survey, host: int) -> dict[str, float] | None:
    gaps = survey.host_rests(host)
    return gaps._asdict() if gaps is not None else None


def _robots_data(rules: RobotsFile) -> dict[str, Any]:
    return {
        "origin": rules.origin,
        "status": rules.status,
        "fetched": rules.fetched,
        "expires": rules.expires,
        "is_unavailable": rules.held_until > 0,
        "moved_to": rules.location,
        "text": rules.body[:MOST_RULES].decode("utf-8", "replace") if rules.body is not None else None,
    }


def _history(survey: Survey, host: int, span: tuple[float, float] | None) -> dict[str, Any]:
    if span is None:
        return {"since": None, "slice_seconds": None, "slices": []}

    def query(since: float, width: float) -> list[TimeSlice]:
        return survey.history(since, width, host)

    return history_data(query, *span)


def _topic(survey: Survey, name: str, host: int) -> dict[str, Any] | None:
    data = topic_data(survey, name, HARVEST_POINTS, BEST_SECTIONS, host)
    return {key: value for key, value in data.items() if key != "best_sources"} if data is not None else None


def _denied(state_counts: list[StateCount]) -> dict[str, Any]:
    rows = [row for row in state_counts if row.reason is Reason.ROBOTS_DENIED]
    return {
        "urls": sum(row.urls for row in rows),
        "examples": [url for row in rows for url in row.examples][:MOST_DENIED],
    }
