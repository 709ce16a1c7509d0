"""The methods by name, and the one way to ask them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from crawler.errors import Misconfigured
from crawler.parse.main_text.filters import filters
from crawler.parse.main_text.libraries import everything, resiliparse, trafilatura, turbohtml
from crawler.parse.main_text.result import MainText, ParsedPage
from crawler.parse.main_text.slope import slope, windows
from crawler.parse.main_text.weighed import weighed

DEFAULT: Final = "weighed"

EXTRACTORS: Final[Mapping[str, Callable[[ParsedPage], MainText]]] = {
    "weighed": weighed,
    "slope": slope,
    "windows": windows,
    "filters": filters,
    "turbohtml": turbohtml,
    "resiliparse": resiliparse,
    "trafilatura": trafilatura,
    "everything": everything,
}
REQUIRED_PACKAGES: Final = {
    "resiliparse": "resiliparse",
    "trafilatura": "trafilatura",
}  # packages that some methods are


def extract(source: ParsedPage, method: str = DEFAULT, second: str = "") -> MainText:
    """What a page is about. Where the method is not sure of its answer, `second` names another whose word counts."""
    found = _extractor(method)(source)
    return found if not second or found.is_sure else _extractor(second)(source)


def _extractor(name: str) -> Callable[[ParsedPage], MainText]:
    if name not in EXTRACTORS:
        raise Misconfigured(f"No method for the main text is called {name!r}; there are {', '.join(EXTRACTORS)}")
    return EXTRACTORS[name]
