"""A terminal for tests: run a command on it, and replay what it wrote to see the screen at any time."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_PIECES = re.compile(r"\x1b\[\??([0-9;]*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n]+)|(\x1b)")


def on_terminal(words: Sequence[str], rows: int, columns: int, output: Path) -> tuple[int, str]:
    """Run a command on a terminal; return its exit code and what it wrote there. Its standard output goes to a file."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with output.open("wb") as file:
        process = subprocess.Popen(
            words, cwd=ROOT, stdin=theirs, stdout=file, stderr=theirs, env=environment | {"TERM": "xterm-256color"}
        )
    os.close(theirs)
    try:
        written = b"".join(_read(ours))
        return process.wait(30), written.decode()
    finally:
        os.close(ours)
        process.kill()
        process.wait()


def _read(terminal: int) -> Iterator[bytes]:
    """Read from a terminal until it is closed."""
    while True:
        try:
            yield os.read(terminal, 65_536)
        except OSError:
            return


class Screen:
    """A screen that understands the control sequences of rich; any other sequence is an error."""

    def __init__(self, rows: int, columns: int) -> None:
        self._columns = columns
        self._lines = [""] * rows
        self._row = self._column = 0
        self.scrolled: list[str] = []  # lines that were scrolled out at the top
        self.has_cursor = True

    def show(self, written: str) -> Iterator[list[str]]:
        """Replay what was written; yield the lines of the screen before each redrawing, and at the end."""
        for piece in _PIECES.finditer(written):
            numbers, command, back, feed, text, escape = piece.groups()
            assert escape is None, "a control sequence that must not be written"
            if back:
                if not written.startswith("\n", piece.end()):  # at the end of a line a terminal puts both
                    yield list(self._lines)
                self._column = 0
            elif feed:
                self._feed()
            elif text:
                self._write(text)
            else:
                self._obey(command, numbers)
        yield list(self._lines)

    def _feed(self) -> None:
        self._row += 1
        if self._row == len(self._lines):
            self.scrolled.append(self._lines.pop(0))
            self._lines.append("")
            self._row -= 1

    def _write(self, text: str) -> None:
        assert text.isprintable()
        for character in text:
            if self._column == self._columns:
                self._column = 0
                self._feed()
            line = self._lines[self._row].ljust(self._column)
            self._lines[self._row] = line[: self._column] + character + line[self._column + 1 :]
            self._column += 1

    def _obey(self, command: str, numbers: str) -> None:
        if command == "A":
            self._row = max(self._row - int(numbers or 1), 0)
        elif command == "K":
            assert numbers == "2"
            self._lines[self._row] = ""
        elif numbers == "25":
            self.has_cursor = command == "h"
        else:
            assert command == "m"
