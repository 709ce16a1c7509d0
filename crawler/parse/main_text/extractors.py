"""The methods of main-text extraction by name, and `extract`, which applies them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from typing import Final, NamedTuple

from crawler.errors import Misconfigured
from crawler.parse.main_text.filters import filters
from crawler.parse.main_text.learned import learned
from crawler.parse.main_text.libraries import everything, resiliparse, trafilatura, turbohtml
from crawler.parse.main_text.result import MainText, ParsedPage
from crawler.parse.main_text.slope import slope, windows
from crawler.parse.main_text.weighed import weighed

DEFAULT: Final = "trees"
UNRECORDED: Final = "weighed"  # the default when archived pages had no record of theirs


class Method(NamedTuple):
    """A method of main-text extraction."""

    extract: Callable[[ParsedPage], MainText]
    version: int = 1  # to be raised when its texts become others, so that these are not taken for changes of pages


EXTRACTORS: Final[Mapping[str, Method]] = {
    "trees": Method(learned),
    "weighed": Method(weighed),
    "slope": Method(slope),
    "windows": Method(windows),
    "filters": Method(filters),
    "turbohtml": Method(turbohtml),
    "resiliparse": Method(resiliparse),
    "trafilatura": Method(trafilatura),
    "everything": Method(everything),
}
REQUIRED_PACKAGES: Final = {
    "resiliparse": "resiliparse",
    "trafilatura": "trafilatura",
}  # method → the package that it needs


def extract(source: ParsedPage, method: str = DEFAULT, second: str = "") -> MainText:
    """Extract the main text of a page. Where the method is not sure of its result, that of `second` is used instead."""
    found = _method(method).extract(source)
    return found if not second or found.is_sure else _method(second).extract(source)


def name_with_versions(method: str, second: str = "") -> str:
    """Return what is recorded of the extraction of a main text.

    >>> name_with_versions("trees", "trafilatura")
    'trees 1 trafilatura 1'
    """
    return " ".join(f"{name} {_method(name).version}" for name in (method, second) if name)


@cache
def recorded_methods(recorded: str) -> tuple[str, str] | None:
    """Return the methods of `name_with_versions`; None if one of them is not to be had any more.

    >>> recorded_methods("trees 1"), recorded_methods("slope 2 trafilatura 1"), recorded_methods("guess 1")
    (('trees', ''), ('slope', 'trafilatura'), None)
    """
    names = recorded.split()[::2]
    if not all(name in EXTRACTORS and find_spec(REQUIRED_PACKAGES.get(name, "crawler")) for name in names):
        return None
    return names[0], " ".join(names[1:])


def _method(name: str) -> Method:
    if name not in EXTRACTORS:
        raise Misconfigured(f"There is no main-text method {name!r}; the methods are {', '.join(EXTRACTORS)}")
    return EXTRACTORS[name]
