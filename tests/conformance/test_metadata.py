"""Metadata of pages agree with annotated corpora."""

import pytest

from tests.conformance.metadata import scores
from tests.conftest import SHARED

SCORES = scores() if SHARED.is_dir() else []


@pytest.mark.needs_shared
@pytest.mark.parametrize("found", SCORES, ids=lambda found: found.name)
def test_metadata_agrees_with_annotated_corpora(found):
    assert found.holds, f"{found.agreed} of {found.cases}"
    assert found.unexplained == []
