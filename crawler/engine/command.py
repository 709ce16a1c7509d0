"""How a command ends: with an exit code that means something, and one sentence if it failed."""

from __future__ import annotations

import sys
from collections.abc import Callable

from crawler.errors import CrawlError


def failing_politely(act: Callable[[], int]) -> int:
    """The exit code of a command; what stops it is one sentence, not a traceback."""
    try:
        return act()
    except CrawlError as error:
        print(f"orbweaver: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        return 0
