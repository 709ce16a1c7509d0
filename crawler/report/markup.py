"""Build HTML in which text from web pages cannot become markup.

A plain `str` is always escaped, here and nowhere else; only `Markup`, which only this module makes, is not. `element`
refuses to write scripts, event handlers and styles, and links other than to places on the same page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from html import escape
from typing import Final

LONGEST_SHOWN = 110  # characters of an untrusted text that are shown; the whole is in its `title`
LONGEST_TITLE = 2_000
LONGEST_READ = 20_000  # characters; the rest of a longer text is dropped
_NAME: Final = re.compile("[a-zA-Z][a-zA-Z0-9]*(-[a-z]+)*")
_WORDS: Final = """
a bdi body code dd desc details div dl dt figcaption figure footer h1 h2 h3 head header html li line main meta nav p
polyline pre rect section small span strong summary svg table tbody td text th thead title tr ul
"""
_ELEMENTS: Final = frozenset(_WORDS.split())
_VOID: Final = frozenset({"meta"})
_KEPT: Final = "\n\t\u200c\u200d"  # invisible characters that are kept: layout, and joiners that some scripts need
_CONTROLS: Final = {code: 0x2400 + code for code in range(32) if chr(code) not in _KEPT} | {0x7F: 0x2421}


class Markup:
    """Trusted HTML that is written without escaping."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text


Content = Markup | str | int | float | None | Iterable["Content"]


def element(name: str, *content: Content, **attributes: str | float | None) -> Markup:
    """Make an element; `class_` is written as class, `stroke_width` as stroke-width.

    >>> str(element("td", "1 < 2", class_="number", title='"'))
    '<td class="number" title="&quot;">1 &lt; 2</td>'
    """
    if name not in _ELEMENTS:
        raise ValueError(f"<{name}> does not occur in a report")
    attributes_text = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    if name in _VOID:
        return Markup(f"<{name}{attributes_text}>")
    return Markup(f"<{name}{attributes_text}>{''.join(map(_html_of, content))}</{name}>")


def _attribute(key: str, value: str | float) -> str:
    name = key.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(name) or name.startswith("on") or name in {"src", "style", "srcset", "action"}:
        raise ValueError(f"{name}= does not occur in a report")
    if name == "href" and not re.fullmatch("#[a-z-]+", str(value)):
        raise ValueError("a report has no links but to places on its own page")
    return f' {name}="{_escaped(str(value))}"'


def _html_of(content: Content) -> str:
    if content is None:
        return ""
    if isinstance(content, Markup):
        return str(content)
    if isinstance(content, str | int | float):
        return _escaped(str(content))
    return "".join(map(_html_of, content))


def _escaped(text: str) -> str:
    return escape(visible(text), quote=True)


def visible(text: str) -> str:
    """Show control characters and marks that hide text or reverse its direction as visible symbols.

    >>> visible("a\\0b"), visible("gpj\\u202eexe.")
    ('a␀b', 'gpj‹U+202E›exe.')
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _visible_symbol(char) for char in text.translate(_CONTROLS))


def _visible_symbol(char: str) -> str:
    is_space = unicodedata.category(char) == "Zs"
    return char if is_space or char in _KEPT else f"‹U+{ord(char):04X}›"


def stylesheet(css: str) -> Markup:
    """Make the style element; the CSS is ours and contains no text of pages."""
    if "<" in css:
        raise ValueError("a stylesheet has no markup")
    return Markup(f"<style>{css}</style>")


def untrusted(text: str, *, longest: int = LONGEST_SHOWN) -> Markup:
    """Show a text that others wrote, such as a title: shortened, and isolated from the direction of the text around it.

    >>> str(untrusted("<b>"))
    '<bdi>&lt;b&gt;</bdi>'
    """
    return _bdi(text, longest, None)


def url(text: str) -> Markup:
    """Show a URL as text, not as a link."""
    return _bdi(text, LONGEST_SHOWN, "url")


def _bdi(text: str, longest: int, class_: str | None) -> Markup:
    seen = visible(text[:LONGEST_READ])
    if len(seen) <= longest:
        return element("bdi", seen, class_=class_)
    return element("bdi", shorten_middle(seen, longest), class_=class_, title=seen[:LONGEST_TITLE])


def shorten_middle(text: str, longest: int) -> str:
    """Shorten a text in the middle, because its start and its end say most.

    >>> shorten_middle("abcdefghij", 7), shorten_middle("abc", 7)
    ('abcd…ij', 'abc')
    """
    if len(text) <= longest:
        return text
    kept = longest - 1
    return f"{text[: kept - kept // 3]}…{text[len(text) - kept // 3 :]}"


def document(title: str, css: str, body: Content) -> str:
    """Make a complete page; its Content-Security-Policy forbids it to load anything."""
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
