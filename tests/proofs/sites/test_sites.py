"""The proof in a small profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proofs.sites.proof import prove

pytestmark = pytest.mark.crawl


def test_sites_are_listened_to(tmp_path: Path) -> None:
    findings = list(prove(tmp_path, 200))
    assert len(findings) == 5
    assert [finding for finding in findings if not finding.holds] == []
