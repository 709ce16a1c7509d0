"""Every linked page of a real documentation site is fetched, and only once."""

from __future__ import annotations

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
def test_every_page_of_the_python_documentation_is_fetched_once(python_documentation):
    findings = prove(python_documentation)
    assert not findings.wrong
    assert findings.linked > 400  # the package has over 500 pages: the walk did find them
    assert findings.requests == findings.linked + len(findings.not_found) + 1  # and robots.txt
