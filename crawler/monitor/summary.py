"""The summary that a crawl prints when it ends: as lines for people, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from crawler.items import Outcome
from crawler.monitor.judged_pages import harvest_words
from crawler.monitor.record import RunRecord
from crawler.monitor.text import command_lines, date_of, folded, in_directory, next_due, plural, span_of
from crawler.stores.contract.crawl import CrawlAccount
from crawler.system import cpu_seconds, peak_memory

_SHOWN = 5  # hosts in each list
_SUMS = (
    *(
        "visits",
        "pages",
        "hosts",
        "duplicates",
        "near_duplicates",
        "new_urls",
        "requests_before_their_time",
        "late_visits",
    ),
    "connections_opened",
)


def summary_data(reason: str, seconds: float, record: RunRecord) -> dict[str, Any]:
    """Return the summary of one crawl process as JSON has it."""
    return {
        "finished": reason,
        "seconds": round(seconds, 3),
        "visits": record.visits,
        "pages": record.pages,
        "hosts": len(record.hosts),
        "outcomes": [
            {"outcome": outcome.name.lower(), "reason": why.name.lower(), "visits": count, "meaning": why.meaning}
            for (outcome, why), count in record.outcomes.most_common()
        ],
        "duplicates": record.duplicates,
        "near_duplicates": record.near_duplicates,
        "harvest": record.judged.as_data(),
        "new_urls": record.new_urls,
        "spared": asdict(record.spared),
        "bytes": {"received": record.bytes_received, "archived": record.bytes_archived},
        "slowest_hosts": [
            {"host": name, "seconds": round(run.slowest, 3)}
            for name, run in sorted(record.hosts.items(), key=lambda item: -item[1].slowest)[:_SHOWN]
        ],
        "shortest_gaps": [
            {"host": name, "gap": round(run.shortest_gap, 4), "required": round(run.required, 4)}
            for name, run in sorted(
                ((name, run) for name, run in record.hosts.items() if run.shortest_gap is not None),
                key=lambda item: (item[1].shortest_gap or 0.0) - item[1].required,
            )[:_SHOWN]
            if run.shortest_gap is not None
        ],
        "requests_before_their_time": record.early,
        "late_visits": record.late,
        "limited_by": record.limited_by,
        "supply": record.supply,
        "connections_opened": record.connections,
        "library_messages": dict(record.library_messages.most_common()),
        "cpu_seconds": {
            "crawl": round(cpu_seconds(), 3),
            "content": round(cpu_seconds(of_children=True), 3),
        },
        "peak_memory": peak_memory(),
        "loop_lag": {"p50": record.lag(0.5), "p99": record.lag(0.99), "max": record.lag(1.0)},
    }


def merge_summaries(parts: Sequence[dict[str, Any]], lost: int, seconds: float) -> dict[str, Any]:
    """Merge the summaries of several workers; `lost` workers died and left none."""
    if not parts:
        parts = [summary_data("stopped", seconds, RunRecord())]
    whole = dict(parts[0])
    outcomes: Counter[tuple[str, str, str]] = Counter()
    for part in parts:
        for row in part["outcomes"]:
            outcomes[row["outcome"], row["reason"], row["meaning"]] += row["visits"]
    whole["outcomes"] = [
        {"outcome": outcome, "reason": reason, "visits": visits, "meaning": meaning}
        for (outcome, reason, meaning), visits in outcomes.most_common()
    ]
    for name in _SUMS:
        whole[name] = sum(part[name] for part in parts)
    for name in ("bytes", "cpu_seconds", "spared"):
        whole[name] = {key: round(sum(part[name][key] for part in parts), 3) for key in parts[0][name]}
    whole["harvest"] = _sum_harvests([part["harvest"] for part in parts if part["harvest"] is not None])
    for name in ("loop_lag",):
        whole[name] = {key: max(part[name][key] for part in parts) for key in parts[0][name]}
    said: Counter[str] = Counter()
    for part in parts:
        said.update(part["library_messages"])
    whole["library_messages"] = dict(said.most_common())
    slowest = [row for part in parts for row in part["slowest_hosts"]]
    gaps = [row for part in parts for row in part["shortest_gaps"]]
    whole["slowest_hosts"] = sorted(slowest, key=lambda row: -row["seconds"])[:_SHOWN]
    whole["shortest_gaps"] = sorted(gaps, key=lambda row: row["gap"] - row["required"])[:_SHOWN]
    whole["finished"] = Counter(part["finished"] for part in parts).most_common(1)[0][0]
    whole["peak_memory"] = max(part["peak_memory"] for part in parts)
    whole["limited_by"] = sorted({part["limited_by"] for part in parts if part["limited_by"]})
    whole["supply"] = {}
    whole["seconds"] = round(seconds, 3)
    whole["workers"] = {"ended": len(parts), "lost": lost, "pages": [part["pages"] for part in parts]}
    return whole


def _sum_harvests(harvests: Sequence[dict[str, int]]) -> dict[str, int] | None:
    """Add up the harvests of workers; the last pages are those of each."""
    if not harvests:
        return None
    return {name: sum(harvest[name] for harvest in harvests) for name in harvests[0]}


def summary_lines(
    data: dict[str, Any], account: CrawlAccount, where: str, now: float, as_called: Callable[[str], str]
) -> Iterator[str]:
    """Format the summary for people, 80 columns wide; if nothing was due, only say so, and what to do.

    `as_called` returns a command as the user calls it.
    """
    place = in_directory(where)
    if not data["visits"] and account.next_due is not None and account.next_due > now:
        due = account.next_due
        yield f"Nothing was due: the next visit is due in {span_of(due - now)}, {date_of(due)}."
        yield as_called(f"To visit pages before that: scrapy seed --now --all {place}")
        yield "(or, instead of --all: --host NAME, --failed, or a file of URLs)"
        return
    for line in _account_lines(data, account, now):
        yield from folded(as_called(line))
    yield from ("", "  Next")
    commands = (
        ("status", "the crawl in numbers"),
        ("why URL", "what happened to a URL, and why"),
        ("show URL --text", "a page as it was archived"),
        ("inspect URL", "what is read in a page"),
        ("export --to jsonl:pages.jsonl", "all pages, for an indexer"),
        ("report", "an HTML report of the crawl"),
        ("search WORDS", "search the pages"),
    )
    yield from command_lines([(as_called(f"scrapy {command} {place}"), what) for command, what in commands])


def _account_lines(data: dict[str, Any], account: CrawlAccount, now: float) -> Iterator[str]:
    crawl, received, archived = data["crawl"], data["bytes"]["received"], data["bytes"]["archived"]
    rate = data["pages"] / data["seconds"] if data["seconds"] else 0.0
    yield ""
    yield (
        f"{data['finished'].capitalize()} after {span_of(data['seconds'])}: {plural(data['pages'], 'page')}, "
        f"{rate:.1f} a second"
    )
    over = f", over {plural(data['connections_opened'], 'connection')}" if data["connections_opened"] else ""
    yield f"  Visits       {data['visits']:,} to {plural(data['hosts'], 'host')}{over}; {plural(data['new_urls'], 'new URL')}"
    for row in data["outcomes"]:
        mark = " " if row["outcome"] == Outcome.FETCHED.name.lower() else "·"
        yield f"    {mark} {row['visits']:7,}  {row['reason']:20} {row['meaning']}"
    if data["harvest"] is not None:
        yield f"  On topic     {harvest_words(data['harvest'])}"
    every, near = data["duplicates"], data["near_duplicates"]
    yield f"  Duplicates   {plural(every, 'page')}: {every - near:,} exact, {plural(near, 'near-duplicate')}"
    yield (
        f"  Bytes        {_size(received)} received; {_size(archived)} archived, with requests, headers and links, "
        "compressed"
    )
    yield from _savings_lines(data["spared"])
    if data["slowest_hosts"]:
        slow = ", ".join(f"{row['host']} {row['seconds']:.2f} s" for row in data["slowest_hosts"][:3])
        yield f"  Slowest      {slow}"
    if data["shortest_gaps"]:
        gap = data["shortest_gaps"][0]
        verdict = (
            "every delay was kept" if not data["requests_before_their_time"] else "SOME REQUESTS WERE SENT TOO EARLY"
        )
        yield (
            f"  Politeness   {verdict}; the closest was {gap['host']}: {gap['gap']:.3f} s between two requests, "
            f"{gap['required']:.3f} s required"
        )
    if "workers" in data:
        pages = " + ".join(f"{pages:,}" for pages in data["workers"]["pages"])
        lost = data["workers"]["lost"]
        gone = (
            f"; {plural(lost, 'worker')} died: their pages are in the collection, but not in these numbers"
            if lost
            else ""
        )
        yield f"  Workers      {pages} {'page' if pages == '1' else 'pages'}{gone}"
    if data["late_visits"]:
        yield (
            f"  Late         {plural(data['late_visits'], 'visit')} discarded, because other workers had taken them "
            "over"
        )
    if data["supply"].get("rate"):
        yield f"  Frontier     {supply_line(data['supply'], data['seconds'])}"
    yield (
        f"  Collection   {plural(crawl['pages'], 'page')} in {plural(crawl['archive_files'], 'file')}, "
        f"{_size(crawl['archive_bytes'])}; {plural(crawl['known'], 'URL')} known = {crawl['waiting']:,} waiting + "
        f"{crawl['leased']:,} leased + {crawl['parked']:,} parked"
    )
    yield f"  Later        {next_due(account, now)}"


def _savings_lines(saved: dict[str, int]) -> Iterator[str]:
    """Say what conditional and HEAD requests have saved."""
    if saved["unchanged"]:
        yield (
            f"  Unchanged    {plural(saved['unchanged'], 'page')}: {_size(saved['unchanged_bytes'])} not fetched again"
        )
    if saved["unwanted"]:
        yield (
            f"  Not read     {plural(saved['unwanted'], 'document')} of types that are not read: bodies of "
            f"{_size(saved['unwanted_bytes'])} not fetched"
        )
    if saved["heads"]:
        yield f"  HEAD         {plural(saved['heads'], 'request')}; {saved['followed']:,} were followed by a GET"


def supply_line(supply: dict[str, float], seconds: float) -> str:
    """Say whether the frontier had enough hosts to keep the connections busy."""
    share = min(supply["starved_seconds"] / seconds, 1.0) if seconds else 0.0
    hosts, rate = supply["hosts"], supply["rate"]
    allowed = (
        f"{hosts:,.0f} hosts, each visited every {supply['seconds_between_visits']:.1f} s, allow {rate:,.1f} visits a "
        "second"
    )
    if supply["rate_of_connections"] <= rate:
        return f"{allowed}, more than {supply['connections']:,.0f} connections can carry"
    return (
        f"{allowed}; {supply['connections']:,.0f} connections could carry {supply['rate_of_connections']:,.0f}, which "
        f"needs {supply['hosts_needed']:,.0f} hosts. For {share:.0%} of the time no host was ready"
    )


def _size(count: float) -> str:
    """
    >>> _size(512), _size(2_500_000)
    ('512 B', '2.5 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError("unreachable")
