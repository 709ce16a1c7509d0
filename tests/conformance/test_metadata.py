"""What pages say about themselves is what their readers see."""

import pytest

from tests.conformance.metadata import scores
from tests.conftest import SHARED

SCORES = scores() if SHARED.is_dir() else []


@pytest.mark.needs_shared
@pytest.mark.parametrize("found", SCORES, ids=lambda found: found.name)
def test_pages_of_the_other_corpora(found):
    assert found.holds, f"{found.agreed} of {found.cases}"
    assert found.unexplained == []
