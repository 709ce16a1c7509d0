"""The options of the default settings, for tests that change a few of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crawler import settings
from crawler.frontier.next_state import RevisitPolicy
from crawler.frontier.politeness import Politeness
from crawler.options import Options
from crawler.urls.scope import UrlOptions


def options_with(**changes: Any) -> Options:
    """Return the default options with some changed, by the names of settings or of groups of options."""
    given = {name: changes.pop(name) for name in list(changes) if name.isupper()}
    return replace(Options.of({**vars(settings), **given}), **changes)


DEFAULTS = options_with()
_WHOLE_WEB = options_with(SCOPE="any", CONTACT="me@a.test").urls


def politeness_with(**changes: Any) -> Politeness:
    return replace(DEFAULTS.politeness, **changes)


def revisits_with(**changes: Any) -> RevisitPolicy:
    return replace(DEFAULTS.revisit, **changes)


def urls_with(**changes: Any) -> UrlOptions:
    """Return the default options for URLs, for a crawl that may visit every host, with some changed."""
    return replace(_WHOLE_WEB, **changes)
