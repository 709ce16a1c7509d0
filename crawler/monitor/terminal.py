"""What may be written to a terminal: it obeys control characters, and pages are written by strangers."""

from __future__ import annotations

from typing import IO

_SHOW_CURSOR = "\x1b[?25h"


def escape_controls(text: str, keep: str = "") -> str:
    r"""The text with everything that a terminal would obey, or that turns text around, spelled out.

    >>> escape_controls("a title\x1b]0;mine\x07\n\u202eand more")
    'a title\\x1b]0;mine\\x07\\n\\u202eand more'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape", "backslashreplace").decode() for c in text
    )


def can_redraw(stream: IO[str], kind: str | None) -> bool:
    """Whether a stream is a terminal of a kind that can draw over what it has drawn."""
    return stream.isatty() and kind not in (None, "", "dumb", "unknown")


def restore_cursor(stream: IO[str]) -> None:
    """Leave a terminal usable before a process that was drawing on it ends at once."""
    if stream.isatty():
        stream.write(_SHOW_CURSOR)
        stream.flush()
