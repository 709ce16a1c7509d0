"""Compare documents of many formats with the strings that Tika's tests expect in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from crawler.parse.documents import Document, convert
from tests.conformance.scores import Score, score
from tests.conftest import SHARED

DATA = SHARED / "documents" / "tika"
Results = Iterator[tuple[str, bool]]

_MACRO = "the source code of a macro, which no reader of the document sees"
_KNOWN = {
    "testGroupWiseEml.eml": (1, "a part of a tag in their output"),
    "testODPMacro.odp": (1, _MACRO),
    "testODSMacro.ods": (1, _MACRO),
    "testODTMacro.odt": (3, _MACRO),
}
_THEIRS = (
    "expects what Tika adds: tags, classes, messages of its own, numbers that it normalises; or needs more than we read"
)


def scores() -> list[Score]:
    seen = list(results(only_seen=True))
    every = list(results(only_seen=False))
    differing = {test: (len(every), _THEIRS) for test, agrees in every if not agrees}
    return [
        score("documents: strings seen in the raw file", 0.80, seen, _KNOWN),
        score("documents: all strings", 0.0, every, differing),
    ]


@cache
def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / "cases.jsonl").read_text("utf-8").splitlines()]


@cache
def read(name: str) -> Document:
    return convert((DATA / name).read_bytes(), f"http://site.example/{name}")


def results(*, only_seen: bool) -> Results:
    """Yield file and whether a string is found, for all expected strings or only those seen in the raw file."""
    for case in cases():
        found = haystack(read(case["file"]))
        seen = case["seen_in_raw"] or [None] * len(case["contains"])
        for text, is_seen in zip(case["contains"], seen, strict=True):
            if is_seen or not only_seen:
                yield case["file"], folded(text) in found


def haystack(document: Document) -> str:
    """Return all text that we would index."""
    return folded("\n".join([document.title, document.text, *document.metadata.values()]))


def folded(text: str) -> str:
    return " ".join(text.split())
