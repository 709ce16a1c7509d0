"""Main-text extraction by other libraries, with their results mapped to our blocks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final, cast

from crawler.errors import Misconfigured
from crawler.parse.clean_text import nonempty_lines
from crawler.parse.main_text.outline import Outline, blocks_of, outline_of
from crawler.parse.main_text.result import MainText, ParsedPage, main_text

_RUN: Final = 4  # words of the n-grams by which a block is recognized in the library's text
_LEAST_SHARE_OF_RUNS: Final = 0.5  # n-grams of a block that must be there: libraries cut and join text differently


def everything(source: ParsedPage) -> MainText:
    """Take all text of the page as main text."""
    return main_text(source.parts, [1.0] * len(source.parts))


def turbohtml(source: ParsedPage) -> MainText:
    """Use turbohtml's best-scored container, but our text of it: turbohtml may draw a table 1,000 times as long."""
    container = source.document.main_content()
    text = "\n".join(part.text for part in outline_of(container) if part.text) if container is not None else ""
    return _match_blocks(source.parts, text)


def resiliparse(source: ParsedPage) -> MainText:
    extract = cast(
        "Callable[..., str]", _import_name("resiliparse", "resiliparse.extract.html2text", "extract_plain_text")
    )
    return _match_blocks(source.parts, extract(source.html, main_content=True, alt_texts=False))


def trafilatura(source: ParsedPage) -> MainText:
    extract = cast("Callable[..., str | None]", _import_name("trafilatura", "trafilatura", "extract"))
    return _match_blocks(source.parts, extract(source.html, fast=True, include_comments=False) or "")


def _import_name(package: str, module: str, name: str) -> object:
    try:
        return getattr(import_module(module), name)
    except ImportError as error:
        raise Misconfigured(
            f"The method needs the package {package}, which is not installed, or not all of it ({error})"
        ) from error


def _match_blocks(parts: Outline, text: str) -> MainText:
    """Keep the library's text as main text, and mark those of our blocks that occur in it."""
    text = nonempty_lines(text)
    known = set(text.split("\n"))
    words = text.split()
    runs = {tuple(words[start : start + _RUN]) for start in range(len(words) - _RUN + 1)}
    importance = [1.0 if part.text and _is_in_text(part.text, known, runs) else 0.0 for part in parts]
    return MainText(blocks=blocks_of(parts, importance), text=text)


def _is_in_text(text: str, known: set[str], runs: set[tuple[str, ...]]) -> bool:
    words = text.split()
    own = [tuple(words[start : start + _RUN]) for start in range(len(words) - _RUN + 1)]
    return text in known or (bool(own) and sum(run in runs for run in own) > _LEAST_SHARE_OF_RUNS * len(own))
