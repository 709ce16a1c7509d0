"""The methods of main-text extraction by name, and `extract`, which applies them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from crawler.errors import Misconfigured
from crawler.parse.main_text.filters import filters
from crawler.parse.main_text.learned import learned
from crawler.parse.main_text.libraries import everything, resiliparse, trafilatura, turbohtml
from crawler.parse.main_text.result import MainText, ParsedPage
from crawler.parse.main_text.slope import slope, windows
from crawler.parse.main_text.weighed import weighed

DEFAULT: Final = "weighed"

EXTRACTORS: Final[Mapping[str, Callable[[ParsedPage], MainText]]] = {
    "trees": learned,
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
}  # method → the package that it needs


def extract(source: ParsedPage, method: str = DEFAULT, second: str = "") -> MainText:
    """Extract the main text of a page. Where the method is not sure of its result, that of `second` is used instead."""
    found = _extractor(method)(source)
    return found if not second or found.is_sure else _extractor(second)(source)


def _extractor(name: str) -> Callable[[ParsedPage], MainText]:
    if name not in EXTRACTORS:
        raise Misconfigured(f"There is no main-text method {name!r}; the methods are {', '.join(EXTRACTORS)}")
    return EXTRACTORS[name]
