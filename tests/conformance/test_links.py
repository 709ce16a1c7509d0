"""Links are found as other projects' tests expect; where not, the reason is given."""

import pytest

from tests.conformance.links import SUITES, scored


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", SUITES)
def test_links_agree_with_other_suites(name):
    found = scored(name)
    assert found.unexplained == []
    assert found.holds, f"{found.agreed} of {found.cases}"
