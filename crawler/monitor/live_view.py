"""Show the state of a running crawl: as a live view on a terminal, and as one line for a log.

The functions here format values that they are given; they read no clock and no store. Host names and log lines may
contain text of web pages: control characters in them are escaped, and they are never interpreted as markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from crawler.items import Reason
from crawler.monitor.judged_pages import harvest_words
from crawler.monitor.record import HostGap
from crawler.monitor.terminal import escape_controls
from crawler.monitor.vitals import Vitals

OUTCOMES = 6  # the most frequent reasons, which are shown
TAIL = 6  # log lines that are shown
_LABEL = 12  # width of the label before each row
_BETWEEN = " · "


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFacts:
    """The values that the live view shows."""

    directory: str
    elapsed: float
    remaining: float | None = None  # seconds until a limit is reached
    max_pages: int = 0
    pages: int = 0
    visits: int = 0
    new_urls: int = 0
    duplicates: int = 0
    near_duplicates: int = 0  # those of the duplicates that are not exact
    harvest: Mapping[str, int] | None = None  # of a focused crawl, as in the summary
    bytes_received: int = 0
    pages_a_second: float = 0.0
    bytes_a_second: float = 0.0
    outcomes: Sequence[tuple[Reason, int]] = ()
    failing: int = 0  # hosts whose last visit failed
    closest: HostGap | None = None
    early: int = 0  # requests sent before the politeness delay was over
    limited_by: str = ""
    vitals: Vitals = field(default_factory=Vitals)


@dataclass(frozen=True, slots=True)
class LiveView:
    """The live view: as many rows as fit on the terminal, the most important first, then the last log lines."""

    facts: LiveFacts
    log: Sequence[str] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, height = options.max_width, max(console.height - 1, 1)
        rows = list(_rows(self.facts))[:height]
        for label, parts in rows:
            yield _line(label, _fitting(parts, width - _LABEL))
        room = min(height - len(rows), TAIL)
        for line in self.log[-room:] if room > 0 else ():
            yield _cut(Text(escape_controls(line), style="dim"))


def log_line(facts: LiveFacts) -> str:
    """Format the same values as one line, for logs and output that is no terminal."""
    vitals, hosts = facts.vitals, facts.vitals.hosts
    parts = [
        f"{clock(facts.elapsed)}{_left(facts)}",
        f"{_pages(facts)} pages ({facts.pages_a_second:.1f}/s, {facts.bytes_a_second / 1e6:.2f} MB/s)",
        f"{facts.visits:,} visits",
        f"{facts.new_urls:,} new URLs",
        _received(facts),
        *([f"on topic: {harvest_words(facts.harvest)}"] if facts.harvest is not None else []),
        f"{facts.duplicates:,} duplicates ({facts.near_duplicates:,} near)",
        f"{hosts.queued:,} URLs queued, {vitals.in_flight:,} in flight, {vitals.uncommitted:,} to commit",
        f"hosts: {', '.join(_hosts(facts))}",
    ]
    if facts.outcomes:
        parts.append(", ".join(_outcomes(facts)))
    if facts.closest is not None:
        parts.append(f"closest gap {_gap(facts.closest)}{_warning(facts)}")
    if limit := _limit(facts):
        parts.append(f"limited by {limit}")
    return escape_controls("; ".join(parts))


def clock(seconds: float) -> str:
    """
    >>> clock(0.4), clock(75), clock(3_600 * 30 + 61)
    ('0:00', '1:15', '30:01:01')
    """
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def _rows(facts: LiveFacts) -> Iterator[tuple[str, list[str]]]:
    """Yield each row as its label and its parts; parts that do not fit are left out."""
    vitals = facts.vitals
    yield (
        clock(facts.elapsed),
        [
            f"{facts.pages_a_second:.1f} pages/s",
            f"{facts.bytes_a_second / 1e6:.2f} MB/s",
            *([_left(facts).removeprefix(", ")] if facts.remaining is not None else []),
            facts.directory,
        ],
    )
    yield "Pages", [_pages(facts), f"{facts.visits:,} visits", f"{facts.new_urls:,} new URLs", _received(facts)]
    yield (
        "Queue",
        [
            f"{vitals.hosts.queued:,} URLs",
            f"{vitals.in_flight:,} in flight",
            f"{vitals.uncommitted:,} to commit",
            *([f"{vitals.workers - 1} other workers"] if vitals.workers > 1 else []),
        ],
    )
    yield "Hosts", list(_hosts(facts))
    yield "Outcomes", list(_outcomes(facts)) or ["none yet"]
    if facts.harvest is not None:
        yield "On topic", [harvest_words(facts.harvest)]
    exact = facts.duplicates - facts.near_duplicates
    yield "Duplicates", [f"{exact:,} exact", f"{facts.near_duplicates:,} near"]
    gap = [f"{_gap(facts.closest)}{_warning(facts)}", facts.closest.host] if facts.closest is not None else ["none yet"]
    yield "Closest gap", gap
    yield "Limited by", [_limit(facts) or "not known yet"]


def _pages(facts: LiveFacts) -> str:
    if not facts.max_pages:
        return f"{facts.pages:,}"
    return f"{facts.pages + facts.vitals.pages_of_others:,} of {facts.max_pages:,}"


def _received(facts: LiveFacts) -> str:
    return f"{facts.bytes_received / 1e6:,.1f} MB"


def _left(facts: LiveFacts) -> str:
    return f", about {clock(facts.remaining)} left" if facts.remaining is not None else ""


def _hosts(facts: LiveFacts) -> Iterator[str]:
    hosts = facts.vitals.hosts
    yield f"{hosts.ready:,} ready"
    yield f"{hosts.resting:,} resting"
    yield f"{facts.failing:,} failing"
    yield f"{hosts.visiting:,} fetching"
    yield f"{hosts.active:,} active"


def _outcomes(facts: LiveFacts) -> Iterator[str]:
    for reason, count in facts.outcomes:
        yield f"{count:,} {reason.name.lower()}"


def _gap(gap: HostGap) -> str:
    return f"{gap.seconds:.3f} s, {gap.required:.3f} s required"


def _warning(facts: LiveFacts) -> str:
    return f" ({facts.early:,} TOO EARLY)" if facts.early else ""


def _limit(facts: LiveFacts) -> str:
    return "our network, which seems to be down" if facts.vitals.is_network_down else facts.limited_by


def _fitting(parts: Sequence[str], width: int) -> str:
    """Join as many parts as fit into the width, at least one.

    >>> _fitting(["1 ok", "2 gone", "3 busy"], 15)
    '1 ok · 2 gone'
    """
    shown = escape_controls(parts[0])
    for part in parts[1:]:
        longer = f"{shown}{_BETWEEN}{escape_controls(part)}"
        if Text(longer).cell_len > width:
            break
        shown = longer
    return shown


def _line(label: str, words: str) -> Text:
    return _cut(Text.assemble((f"{label:{_LABEL}}", "bold"), words))


def _cut(text: Text) -> Text:
    text.no_wrap, text.overflow = True, "ellipsis"
    return text
