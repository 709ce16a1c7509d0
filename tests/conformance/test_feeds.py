"""Feeds are read as feedparser's own tests expect; where not, the reason is given."""

import pytest

from tests.conformance.feeds import cases, read, scores
from tests.conftest import SHARED

SCORES = scores() if SHARED.is_dir() else []
FORMS = {"rss10": "rdf", "rss090": "rdf", "": "cdf"}
NOT_FEEDS = {"illformed_rss_empty_document.xml": "there is nothing in it"}


@pytest.mark.needs_shared
@pytest.mark.parametrize("found", SCORES, ids=lambda found: found.name)
def test_feeds_agree_with_feedparsers_tests(found):
    assert found.unexplained == []
    assert found.holds, f"{found.agreed} of {found.cases}"


@pytest.mark.needs_shared
def test_feeds_and_their_formats_are_recognized():
    for case in cases():
        feed, looks = read(case)
        version = case["summary"]["version"]
        form = FORMS.get(version, version.rstrip("0123456789nu")) if case["file"] not in NOT_FEEDS else ""
        assert (feed.form, looks) == (form, bool(form)), case["file"]
