"""A COMMIT_STEP_HOOK that logs a hostile page title, as a web page could bring it into the log."""

from __future__ import annotations

import logging

TITLE = (
    "Free [red]prizes[/red] \x1b]0;mine\x07\x1b[2J\x9b31m\n"
    "1970-01-01 00:00:00 [crawler] INFO: nothing happened \u202egnp"
)
_has_said = False


def say_a_title(step: str) -> None:
    """Log the title once, as a warning, and a long line after each step."""
    global _has_said
    logger = logging.getLogger("strangers")
    if not _has_said:
        _has_said = True
        logger.warning("A page is called %s", TITLE)
    logger.info("This was %s, and a line that is longer than any terminal is wide: %s", step, "x" * 300)
