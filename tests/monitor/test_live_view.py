"""The live view fits the terminal, shows all values, and escapes untrusted text."""

from __future__ import annotations

import doctest
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from crawler.frontier.census import Census
from crawler.items import Reason
from crawler.monitor import live_view
from crawler.monitor.judged_pages import harvest_data
from crawler.monitor.live_view import LiveFacts, LiveView, log_line
from crawler.monitor.record import HostGap
from crawler.monitor.vitals import Vitals

VITALS = Vitals(hosts=Census(visiting=11, ready=2, resting=190, waiting=9, queued=3211), in_flight=11, uncommitted=12)
FACTS = LiveFacts(
    directory="data/crawl",
    elapsed=75.0,
    pages=1204,
    visits=1377,
    new_urls=8120,
    bytes_received=35_640_000,
    duplicates=17,
    near_duplicates=5,
    pages_a_second=41.94,
    bytes_a_second=1_240_000,
    outcomes=[(Reason.OK, 1204), (Reason.REDIRECTED, 88), (Reason.NOT_FOUND, 40), (Reason.DNS_FAILED, 3)],
    failing=4,
    closest=HostGap("www.example.org", 5.0021, 5.0),
    limited_by="politeness: 212 hosts allow 42.1 visits a second",
    vitals=VITALS,
)
LOG = [f"19:00:0{n} INFO line {n} of the log" for n in range(6)]
HOSTILE = "\x1b[2J[red]\x9b1m\u202eevil\x07\r\n"


def drawn(facts: LiveFacts = FACTS, log: list[str] = LOG, *, width: int = 100, height: int = 24) -> list[str]:
    console = Console(record=True, width=width, height=height, force_terminal=True, markup=False, file=Nowhere())
    console.print(LiveView(facts, log), end="")
    return console.export_text().splitlines()


class Nowhere:
    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass


def test_the_live_view_shows_all_values() -> None:
    assert drawn() == [
        "1:15        41.9 pages/s · 1.24 MB/s · data/crawl",
        "Pages       1,204 · 1,377 visits · 8,120 new URLs · 35.6 MB",
        "Queue       3,211 URLs · 11 in flight · 12 to commit",
        "Hosts       2 ready · 190 resting · 4 failing · 11 fetching · 212 active",
        "Outcomes    1,204 ok · 88 redirected · 40 not_found · 3 dns_failed",
        "Duplicates  12 exact · 5 near",
        "Closest gap 5.002 s, 5.000 s required · www.example.org",
        "Limited by  politeness: 212 hosts allow 42.1 visits a second",
        *LOG,
    ]


def test_the_log_line_has_all_values() -> None:
    assert log_line(FACTS) == (
        "1:15; 1,204 pages (41.9/s, 1.24 MB/s); 1,377 visits; 8,120 new URLs; 35.6 MB; 17 duplicates (5 near); 3,211 "
        "URLs queued, 11 in flight, 12 to commit; hosts: 2 ready, 190 resting, 4 failing, 11 fetching, 212 active; "
        "1,204 ok, 88 redirected, 40 not_found, 3 dns_failed; closest gap 5.002 s, 5.000 s required; limited by "
        "politeness: 212 hosts allow 42.1 visits a second"
    )


@pytest.mark.parametrize("view", [lambda facts: "\n".join(drawn(facts)), log_line])
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"remaining": 125.0}, "about 2:05 left"),
        ({"max_pages": 5000}, "1,204 of 5,000"),
        ({"max_pages": 5000, "vitals": replace(VITALS, pages_of_others=96)}, "1,300 of 5,000"),
        ({"early": 2}, "(2 TOO EARLY)"),
        ({"harvest": harvest_data(1_020, 412, 1_000, 405)}, "412 of 1,020 pages (40 %), 40 % of the last 1,000 pages"),
        ({"vitals": Vitals(is_network_down=True)}, "our network, which seems to be down"),
    ],
)
def test_warnings_and_limits_are_shown_only_when_they_hold(view: Any, changes: dict[str, Any], expected: str) -> None:
    assert expected not in view(FACTS)
    assert expected in view(replace(FACTS, **changes))


def test_a_crawl_that_just_began_can_be_drawn() -> None:
    nothing = LiveFacts(directory="data/crawl", elapsed=0.0)
    assert "Closest gap none yet" in drawn(nothing)
    assert log_line(nothing).startswith("0:00; 0 pages (0.0/s, 0.00 MB/s); 0 visits")


@pytest.mark.parametrize("height", [1, 2, 5, 9, 12, 24, 100])
@pytest.mark.parametrize("width", [1, 10, 20, 40, 60, 80, 200])
def test_no_terminal_is_too_small(width: int, height: int) -> None:
    long = replace(FACTS, directory="d" * 300, limited_by="l" * 300, closest=HostGap("h" * 253, 5.0, 5.0))
    lines = drawn(long, [f"{'log ' * 80}"] * 6, width=width, height=height)
    assert len(lines) <= max(height - 1, 1)
    assert all(cell_len(text) <= width for text in lines)


def test_a_short_terminal_shows_the_numbers_and_the_last_lines_of_the_log() -> None:
    lines = drawn(height=12, width=60)
    assert len(lines) == 11
    assert lines[1] == "Pages       1,204 · 1,377 visits · 8,120 new URLs · 35.6 MB"
    assert lines[-3:] == LOG[-3:]


def test_a_narrow_terminal_leaves_out_parts_that_do_not_fit() -> None:
    lines = drawn(width=60)
    assert lines[3] == "Hosts       2 ready · 190 resting · 4 failing · 11 fetching"
    assert lines[4] == "Outcomes    1,204 ok · 88 redirected · 40 not_found"


def test_wide_characters_are_counted_as_the_terminal_does() -> None:
    lines = drawn(FACTS, ["19:00:00 INFO " + "潮だまり" * 20], width=60)
    assert cell_len(lines[-1]) <= 60


def test_untrusted_text_is_escaped_and_not_read_as_markup() -> None:
    hostile = replace(FACTS, directory=HOSTILE, closest=HostGap(HOSTILE, 5.0, 5.0), limited_by=HOSTILE)
    for text in (*drawn(hostile, [HOSTILE], width=200), log_line(replace(hostile, closest=None))):
        assert text.isprintable()
    view = "\n".join(drawn(hostile, [HOSTILE], width=200))
    assert view.count(r"\x1b[2J[red]\x9b1m\u202eevil\x07\r\n") == 4


def test_the_examples_are_true() -> None:
    assert doctest.testmod(live_view).failed == 0
