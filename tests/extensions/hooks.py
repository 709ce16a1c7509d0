"""What strangers might get into the log, put there on purpose: a crawl runs with this as its COMMIT_STEP_HOOK."""

from __future__ import annotations

import logging

TITLE = "Free [red]prizes[/red] \x1b]0;mine\x07\x1b[2J\x9b31m\n1970-01-01 00:00:00 [crawler] INFO: nothing happened \u202egnp"
_has_said = False


def say_a_title(step: str) -> None:
    """Once, as a warning; and a line after each step."""
    global _has_said
    logger = logging.getLogger("strangers")
    if not _has_said:
        _has_said = True
        logger.warning("A page is called %s", TITLE)
    logger.info("This was %s, and a line that is longer than any terminal is wide: %s", step, "x" * 300)
