"""Markup in which everything that is not ours is text.

A plain `str` is always escaped, here and nowhere else; only an `Markup`, which only this module makes, is not. There are no scripts, no handlers of
events, and no links but to places on the same page, because `element` refuses to write them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from html import escape
from typing import Final

LONGEST_SHOWN = 110  # characters of a text from elsewhere; the whole is in its `title`
LONGEST_TITLE = 2_000
LONGEST_READ = 20_000  # nobody is shown the end of what is longer
_NAME: Final = re.compile("[a-zA-Z][a-zA-Z0-9]*(-[a-z]+)*")
_WORDS: Final = """
a bdi body code dd desc details div dl dt figcaption figure footer h1 h2 h3 head header html li line main meta nav p polyline
pre rect section small span strong summary svg table tbody td text th thead title tr ul
"""
_ELEMENTS: Final = frozenset(_WORDS.split())
_VOID: Final = frozenset({"meta"})
_KEPT: Final = "\n\t\u200c\u200d"  # of what cannot be seen: layout, and what some scripts are written with
_CONTROLS: Final = {code: 0x2400 + code for code in range(32) if chr(code) not in _KEPT} | {0x7F: 0x2421}


class Markup:
    """Markup that is ours."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text


Content = Markup | str | int | float | None | Iterable["Content"]


def element(name: str, *content: Content, **attributes: str | float | None) -> Markup:
    """An element; `class_` is written as class, `stroke_width` as stroke-width.

    >>> str(element("td", "1 < 2", class_="number", title='"'))
    '<td class="number" title="&quot;">1 &lt; 2</td>'
    """
    if name not in _ELEMENTS:
        raise ValueError(f"<{name}> does not occur in a report")
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{''.join(map(_written, content))}</{name}>")


def _attribute(key: str, value: str | float) -> str:
    name = key.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(name) or name.startswith("on") or name in {"src", "style", "srcset", "action"}:
        raise ValueError(f"{name}= does not occur in a report")
    if name == "href" and not re.fullmatch("#[a-z-]+", str(value)):
        raise ValueError("a report has no links but to places on its own page")
    return f' {name}="{_escaped(str(value))}"'


def _written(content: Content) -> str:
    if content is None:
        return ""
    if isinstance(content, Markup):
        return str(content)
    if isinstance(content, str | int | float):
        return _escaped(str(content))
    return "".join(map(_written, content))


def _escaped(text: str) -> str:
    return escape(visible(text), quote=True)


def visible(text: str) -> str:
    """The text with everything that would hide something, or turn it around, written out.

    >>> visible("a\\0b"), visible("gpj\\u202eexe.")
    ('a␀b', 'gpj‹U+202E›exe.')
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _shown(char) for char in text.translate(_CONTROLS))


def _shown(char: str) -> str:
    is_space = unicodedata.category(char) == "Zs"
    return char if is_space or char in _KEPT else f"‹U+{ord(char):04X}›"


def stylesheet(css: str) -> Markup:
    """Our own style; nothing in it comes from elsewhere."""
    if "<" in css:
        raise ValueError("a stylesheet has no markup")
    return Markup(f"<style>{css}</style>")


def untrusted(text: str, *, longest: int = LONGEST_SHOWN) -> Markup:
    """A title, a host name, a type: shortened if it is long, and whatever its direction, nothing beside it is moved.

    >>> str(untrusted("<b>"))
    '<bdi>&lt;b&gt;</bdi>'
    """
    return _bdi(text, longest, None)


def url(text: str) -> Markup:
    """A URL, to be read and not to be followed."""
    return _bdi(text, LONGEST_SHOWN, "url")


def _bdi(text: str, longest: int, class_: str | None) -> Markup:
    seen = visible(text[:LONGEST_READ])
    if len(seen) <= longest:
        return element("bdi", seen, class_=class_)
    return element("bdi", shorten_middle(seen, longest), class_=class_, title=seen[:LONGEST_TITLE])


def shorten_middle(text: str, longest: int) -> str:
    """Start and end tell most.

    >>> shorten_middle("abcdefghij", 7), shorten_middle("abc", 7)
    ('abcd…ij', 'abc')
    """
    if len(text) <= longest:
        return text
    kept = longest - 1
    return f"{text[: kept - kept // 3]}…{text[len(text) - kept // 3 :]}"


def document(title: str, css: str, body: Content) -> str:
    """A whole page that needs nothing from anywhere, and can load nothing."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name_="referrer", content="no-referrer"),
        element("meta", name_="robots", content="noindex"),
        element("meta", name_="color-scheme", content="light dark"),
        element("title", title),
        stylesheet(css),
    )
    return f"<!DOCTYPE html>\n{element('html', head, element('body', body), lang='en')}\n"
