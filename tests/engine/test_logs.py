"""Untrusted text cannot control a terminal, and cannot look like a line of the log."""

from __future__ import annotations

import doctest
import io
import logging
import os
import sys
from pathlib import Path

import pytest

from crawler.engine.logs import MOST_WARNINGS, EscapingFormatter, LogTail
from crawler.monitor import terminal as module
from crawler.monitor.terminal import can_redraw, escape_controls, restore_cursor


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [red]text[/red]", "plain [red]text[/red]"),
        ("潮だまり é", "潮だまり é"),
        ("a\x1b[2Jb", r"a\x1b[2Jb"),
        ("\x9b31m", r"\x9b31m"),
        ("\x00\x07\x08\x7f", r"\x00\x07\x08\x7f"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("\u202eabc\u2066", r"\u202eabc\u2066"),
        ("\u2028\u200b", r"\u2028\u200b"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert escape_controls(text) == shown
    assert escape_controls(text).isprintable()
    escape_controls(text).encode()


def record(message: str, level: int = logging.INFO, **facts: object) -> logging.LogRecord:
    return logging.makeLogRecord({"msg": message, "levelno": level, "levelname": logging.getLevelName(level)} | facts)


def test_only_the_first_line_of_a_record_begins_at_the_margin() -> None:
    formatter = EscapingFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    try:
        raise ValueError("\x1b[2J\nINFO: forged")
    except ValueError:
        failure = sys.exc_info()
    lines = formatter.format(record("a\x1b\nINFO: forged", exc_info=failure)).split("\n")
    assert lines[0] == r"INFO: a\x1b"
    assert all(line.startswith("  ") and line.isprintable() for line in lines[1:])
    assert lines[-1] == "  INFO: forged"


def usual() -> logging.Handler:
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(EscapingFormatter(logging.Formatter("%(levelname)s: %(message)s")))
    return handler


def test_a_tail_has_the_last_lines_in_short_and_warnings_in_full() -> None:
    tail = LogTail(usual(), lines=2)
    for message in ("one", "two", "three\nmore"):
        tail.handle(record(message))
    tail.handle(record("four", logging.WARNING))
    assert [line.partition(" ")[2] for line in tail.lines] == [r"INFO three\nmore", "WARNING four"]
    assert list(tail.warnings) == ["WARNING: four"]


def test_a_tail_keeps_so_many_warnings_and_counts_the_others() -> None:
    tail = LogTail(usual(), lines=2)
    for number in range(MOST_WARNINGS + 3):
        tail.handle(record(str(number), logging.ERROR))
    assert (len(tail.warnings), tail.warnings[0], tail.lost) == (MOST_WARNINGS, "ERROR: 3", 3)


@pytest.mark.parametrize(("kind", "answer"), [("xterm", True), ("dumb", False), ("", False), (None, False)])
def test_only_a_terminal_that_can_move_its_cursor_is_drawn_on(kind: str | None, answer: bool, tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    with os.fdopen(ours, "rb", 0) as master, os.fdopen(theirs, "w") as terminal, (tmp_path / "file").open("w") as file:
        assert can_redraw(terminal, kind) is answer
        assert can_redraw(file, kind) is False
        restore_cursor(terminal)
        restore_cursor(file)
        assert os.read(master.fileno(), 100) == b"\x1b[?25h"
    assert (tmp_path / "file").read_bytes() == b""


def test_the_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(module).failed == 0
