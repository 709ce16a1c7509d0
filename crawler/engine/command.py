"""How a command ends: with a documented exit code, and with one sentence if it failed."""

from __future__ import annotations

import sys
from collections.abc import Callable

from crawler.errors import CrawlError


def exit_code_of(run: Callable[[], int]) -> int:
    """Run a command and return its exit code; an error is printed as one sentence, not as a traceback."""
    try:
        return run()
    except CrawlError as error:
        print(f"orbweaver: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        return 0
