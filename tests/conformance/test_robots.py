"""robots.txt is read as the other parsers' tests demand; where not, the reason is given."""

import pytest

from tests.conformance.robots import scores
from tests.conftest import SHARED

SCORES = scores() if SHARED.is_dir() else []


@pytest.mark.needs_shared
@pytest.mark.parametrize("found", SCORES, ids=lambda found: found.name)
def test_robots_verdicts_and_directives_agree_with_other_suites(found):
    assert found.unexplained == []
    assert found.holds, f"{found.agreed} of {found.cases}"
