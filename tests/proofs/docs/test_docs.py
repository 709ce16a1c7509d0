"""Every linked page of a real documentation site is fetched, and only once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.proofs.docs.packages import Unavailable, site_of
from tests.proofs.docs.proof import prove
from tests.proofs.docs.site import Site


@pytest.fixture
def python_documentation() -> Site:
    try:
        return site_of("python3-doc")
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.mark.crawl
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("part", "pages"),
    [("tutorial", 15), pytest.param("", 400, marks=pytest.mark.slow)],
    ids=["the tutorial", "the whole"],
)
def test_every_page_of_the_python_documentation_is_fetched_once(part, pages, python_documentation):
    findings = prove(replace(python_documentation, home=python_documentation.home / part))
    assert not findings.wrong
    assert findings.linked > pages  # the package has over 500 pages: the walk has found them
    assert findings.requests == findings.linked + len(findings.not_found) + 1  # and robots.txt
