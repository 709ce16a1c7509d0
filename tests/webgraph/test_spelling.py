"""All spellings of a link resolve to the same URL."""

from __future__ import annotations

from urllib.parse import urljoin

import can_ada
import pytest

from tests.webgraph.spelling import SPELLINGS, spelled

PAGES = [
    "http://a.test:8000/",
    "http://a.test:8000/p/1",
    "http://a.test:8000/archive/2004/07/1.html",
    "http://a.test:8000/view?id=1&x=1",
]
TARGETS = [*PAGES, "http://b.test:8000/p/2", "http://a.test:8000/list/3/", "http://a.test:8000/caf%C3%A9/4"]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("target", TARGETS)
def test_every_spelling_resolves_to_the_target(page: str, target: str) -> None:
    for number in range(len(SPELLINGS)):
        link = spelled(target, page, number / len(SPELLINGS))
        assert can_ada.parse(urljoin(page, link)).href.partition("#")[0] == target


def test_no_two_spellings_are_the_same() -> None:
    links = {
        spelled("http://a.test:8000/p/2", "http://a.test:8000/p/1", n / len(SPELLINGS)) for n in range(len(SPELLINGS))
    }
    assert len(links) == len(SPELLINGS)
