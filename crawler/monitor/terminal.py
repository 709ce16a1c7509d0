"""Write untrusted text to a terminal: control characters of a page must not steer it."""

from __future__ import annotations

from typing import IO

_SHOW_CURSOR = "\x1b[?25h"


def escape_controls(text: str, keep: str = "") -> str:
    r"""Escape everything that a terminal would obey, and marks that reverse the direction of text.

    >>> escape_controls("a title\x1b]0;mine\x07\n\u202eand more")
    'a title\\x1b]0;mine\\x07\\n\\u202eand more'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape", "backslashreplace").decode() for c in text
    )


def can_redraw(stream: IO[str], kind: str | None) -> bool:
    """Return whether a stream is a terminal that can redraw lines; `kind` is the value of TERM."""
    return stream.isatty() and kind not in (None, "", "dumb", "unknown")


def restore_cursor(stream: IO[str]) -> None:
    """Show the cursor again before a process that was drawing on a terminal exits at once."""
    if stream.isatty():
        stream.write(_SHOW_CURSOR)
        stream.flush()
