"""Encodings are what other projects' tests expect; where not, the reason is given."""

import pytest

from tests.conformance.encodings import scores, without_declarations
from tests.conftest import SHARED

SCORES = scores() if SHARED.is_dir() else []
FLOORS = {  # shares reached, which may not fall; the score has the share needed
    "encodings: chardet as is": 0.93,
    "encodings: chardet undeclared": 0.93,
    "encodings: chardet undeclared, names": 0.92,
    "encodings: w3lib": 0.83,
}


@pytest.mark.needs_shared
@pytest.mark.parametrize("found", SCORES, ids=lambda found: found.name)
def test_encodings_agree_with_other_suites(found):
    assert found.unexplained == []
    assert found.holds, f"{found.agreed} of {found.cases}"
    assert found.agreed >= FLOORS.get(found.name, 1.0) * found.cases


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<?xml version='1.0' encoding='koi8-r'?><a>", b"<?xml version='1.0'?><a>"),
        (b'<?xml encoding="koi8-r" standalone="no"?><a encoding="x">', b'<?xml standalone="no"?><a encoding="x">'),
        (b"<META content='text/html; charset=big5' http-equiv=content-type><p>", b"<p>"),
        (b"<meta charset=big5><meta name=a><p>charset=big5", b"<meta name=a><p>charset=big5"),
    ],
)
def test_declarations_can_be_removed(body, expected):
    assert without_declarations(body) == expected
