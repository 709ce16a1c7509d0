"""What libraries say while they read pages: counted by library, not shown. A damaged document is normal input."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Final

from crawler.errors import CrawlError
from crawler.monitor.terminal import escape_controls

# The loggers of libraries that read pages or write exports; `tests/monitor/test_library_output.py` finds missing ones.
LIBRARIES: Final = (
    *("PIL", "babel", "charset_normalizer", "courlan", "datasketch", "dateparser", "fontTools", "htmldate"),
    *("markdown_it", "matplotlib", "olefile", "protego", "pypdfium2", "resiliparse", "rich", "tld"),
    *("trafilatura", "tzlocal", "urllib3"),
)
_SHOWN: Final = 20  # last lines of native code that are shown if a command fails
_STDERR: Final = 2  # the file descriptor to which native code writes


class MessageCounter(logging.Handler):
    """Counts log records by the library that they come from."""

    def __init__(self, counts: Counter[str]) -> None:
        super().__init__()
        self._counts = counts

    def emit(self, record: logging.LogRecord) -> None:
        self._counts[record.name.partition(".")[0]] += 1


def count_library_messages(counts: Counter[str]) -> None:
    """From now on count the log records of libraries in `counts`, instead of writing them anywhere."""
    for name in LIBRARIES:
        library = logging.getLogger(name)
        for handler in list(library.handlers):
            if isinstance(handler, MessageCounter):
                library.removeHandler(handler)
        library.addHandler(MessageCounter(counts))
        library.propagate = False


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Keep what libraries log, and what their native code writes to the standard error, from the user's terminal.

    If the block fails with an error that is not one of ours, the last lines of native code are shown: they may say why.
    """
    count_library_messages(Counter())
    file = _temporary_file() if _is_standard(sys.stderr) else None  # else native code writes elsewhere anyway
    if file is None:
        yield
        return
    ours = sys.stderr
    ours.flush()
    with file as caught, os.fdopen(os.dup(_STDERR), "w", buffering=1, errors="replace") as terminal:
        os.dup2(caught.fileno(), _STDERR)
        sys.stderr = terminal
        try:
            yield
        except BaseException as error:
            if not isinstance(error, (KeyboardInterrupt, SystemExit, CrawlError)):
                caught.seek(0)
                for line in caught.read().decode(errors="replace").splitlines()[-_SHOWN:]:
                    terminal.write(escape_controls(line) + "\n")
            raise
        finally:
            with suppress(OSError):
                terminal.flush()
            os.dup2(terminal.fileno(), _STDERR)
            sys.stderr = ours


def _temporary_file() -> IO[bytes] | None:
    """Return a temporary file, if there is a place for it; messages of native code are the lesser evil."""
    try:
        return tempfile.TemporaryFile()
    except OSError:
        return None


def _is_standard(stream: object) -> bool:
    """Whether a stream writes to the file descriptor of the standard error."""
    try:
        return stream.fileno() == _STDERR  # type: ignore[attr-defined, no-any-return]
    except (AttributeError, OSError, ValueError):
        return False
