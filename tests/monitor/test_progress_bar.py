"""Long work shows itself without a terminal, too: a line every 15 seconds."""

from __future__ import annotations

import pytest

from crawler.monitor.progress_bar import LINES_EVERY, progress_lines


def test_a_line_is_printed_every_fifteen_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    now = 1_000.0
    show = progress_lines(lambda: now)
    for _ in range(61):
        show("exporting", int(now), 2_000)
        now += 1.0
    told = capsys.readouterr().err.splitlines()
    assert told == [f"exporting: {at:,} of 2,000, {at / 2000:.0%}" for at in (1_015, 1_030, 1_045, 1_060)]
    assert LINES_EVERY == 15.0


def test_a_total_that_is_not_known_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 20.0, 20.0])
    progress_lines(lambda: next(times))("reading", 5, 0)
    assert capsys.readouterr().err == "reading: 5\n"
