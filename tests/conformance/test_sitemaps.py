"""Sitemaps are read as other crawlers read them; where not, the reason is given."""

import pytest

from tests.conformance.sitemaps import scores
from tests.conftest import SHARED

SCORES = scores() if SHARED.is_dir() else []


@pytest.mark.needs_shared
@pytest.mark.parametrize("found", SCORES, ids=lambda found: found.name)
def test_sitemaps_agree_with_other_suites(found):
    assert found.unexplained == []
    assert found.holds, f"{found.agreed} of {found.cases}"
