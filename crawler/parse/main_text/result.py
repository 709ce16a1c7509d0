"""Input and output of the extraction methods: a parsed page in, its main text out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from turbohtml import Document

from crawler.items import TextBlock
from crawler.parse.clean_text import one_line
from crawler.parse.main_text.outline import Outline, blocks_of, outline

# Confidence from which a second method is not worth its time. Measured for `weighed`, where it helped: with trafilatura
# the mean F1 of three sets rose from .942 to .947, on the 7 % of the pages that are below. Of `trees` 27 % are below,
# with a mean F1 of .7, and no limit gains anything (docs/benchmarks.md). It stays as it is: which of two methods gave the
# text of an archived page depends on it.
MIN_CONFIDENCE = 0.93


@dataclass(frozen=True, kw_only=True)
class ParsedPage:
    """A page, decoded and parsed once by the caller; extraction methods must not change the document."""

    html: str
    document: Document
    url: str = ""

    @cached_property
    def parts(self) -> Outline:
        return outline(self.document)

    @cached_property
    def title(self) -> str:
        element = self.document.find("title")
        return one_line(element.text) if element is not None else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MainText:
    """The text blocks of a page with their importance, and the text of the important ones."""

    blocks: Sequence[TextBlock]
    text: str
    confidence: float = 1.0  # from 0 to 1, that the text is right
    weights: bytes = b""  # the importance of each block of the outline, from 0 to 255; content from 128 on

    @property
    def is_sure(self) -> bool:
        return self.confidence >= MIN_CONFIDENCE


NO_TEXT = MainText(blocks=(), text="", confidence=0.0)


def main_text(parts: Outline, importance: Sequence[float], confidence: float = 1.0) -> MainText:
    """Build the result from the importance of each part: the text of all blocks of at least 0.5, a line each."""
    blocks = blocks_of(parts, importance)
    text = "\n".join([block.text for block in blocks if block.importance >= 0.5])
    weights = bytes([min(int(256 * weight), 255) for part, weight in zip(parts, importance, strict=True) if part.text])
    return MainText(blocks=blocks, text=text, confidence=confidence, weights=weights)


def main_text_from_weights(parts: Outline, weights: bytes, *, with_blocks: bool = True) -> MainText | None:
    """Extract the main text with the weights of an earlier extraction; None if the number of blocks has changed."""
    pieces = [part for part in parts if part.text]
    if len(pieces) != len(weights):
        return None
    if with_blocks or any(part.tag in ("td", "th") for part in pieces):
        numbers = iter(weights)
        return main_text(parts, [next(numbers) / 255 if part.text else 0.0 for part in parts])
    text = "\n".join([part.text for part, weight in zip(pieces, weights, strict=True) if weight >= 128])
    return MainText(blocks=(), text=text, weights=weights)
