"""URLs are read as the standards' tests demand; differences from other projects are explained."""

import doctest

import pytest

from crawler.urls.canonical import canonicalize
from tests.conformance import compare as comparing
from tests.conformance import samples
from tests.conformance.compare import Case, Incomparable, Kind, Suite, compare, explanation
from tests.conformance.data import DATA, read, texts
from tests.conformance.kinds import FRAGMENT, NO_HOST, SECURE, WWW
from tests.conformance.suites import SUITES

needs_shared = pytest.mark.needs_shared

# The share of cases that must agree without an explanation: an explanation must not hide a new difference.
AGREEING = {
    "crawler_commons_normalizer": 0.75,
    "nutch_normalizers": 0.6,
    "nutch_urlfilter": 0.95,
    "urlcanon": 0.7,
    "urlcanon_parsing": 0.5,
    "webarchive_commons": 0.35,  # half of its cases are decoded for display
    "w3lib": 0.55,
    "courlan": 0.45,
    "tracking_params_global": 0.4,
    "clearurls_providers": 0.05,  # we have no lines for nearly all of its sites
}


def named(suite):
    return suite.name


@needs_shared
@pytest.mark.parametrize("suite", [suite for suite in SUITES if not suite.kinds], ids=named)
def test_urls_hosts_and_domains_agree_with_the_tests_of_the_standards(suite):
    rows = list(suite.rows())
    assert [row for row in rows if row.ours != row.theirs] == []


@needs_shared
@pytest.mark.parametrize("suite", [suite for suite in SUITES if suite.kinds], ids=named)
def test_every_difference_from_another_project_is_explained(suite):
    found = compare(suite)
    assert found.unexplained == []
    assert found.agreed >= AGREEING[suite.name] * (found.agreed + found.explained)
    assert found.cases > 0


@needs_shared
@pytest.mark.parametrize("path", sorted(DATA.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_text_in_the_data_has_at_most_one_canonical_form(path):
    canonical = [canonicalize(text) for case in read(path.stem) for text in texts(case)]
    assert [canonicalize(url) for url in canonical if url] == [url for url in canonical if url]


def test_every_suite_has_a_unique_name_and_every_kind_a_reason():
    assert len({suite.name for suite in SUITES}) == len(SUITES)
    assert all(kind.why and (kind.ours or kind.theirs) for suite in SUITES for kind in suite.kinds)


def test_a_difference_is_explained_by_the_fewest_kinds():
    case = Case("https://www.abc.com/#a", "https://www.abc.com/", "http://abc.com/#a")
    assert explanation(case, [NO_HOST, WWW, SECURE, FRAGMENT]) == (WWW, SECURE, FRAGMENT)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("http://abc.com/", "http://abc.com/b"),
        ("http://abc.com/b", "http://abc.com/"),
        ("http://abc.com/", "http://www.abc.com/"),  # the kind covers only that they drop it
        ("http://abc.com/", None),
        (None, "http://abc.com/"),
        ("http://abc.com/#b", "http://abc.com/"),  # the kind covers only that we drop it
    ],
)
def test_a_difference_that_no_kind_removes_is_not_explained(ours, theirs):
    assert explanation(Case("http://abc.com/", ours, theirs), [NO_HOST, WWW, SECURE, FRAGMENT]) == ()


def test_a_kind_that_changes_nothing_explains_nothing():
    idle = Kind("idle", "it does nothing", ours=lambda answer, case: answer)
    assert explanation(Case("a", "a", "a"), [idle]) == ()


def test_every_row_is_counted_once():
    rows = [
        Case("a", "a", "a"),
        Case("a", "a", "b"),
        Case("https://a/", "https://a/", "http://a/"),
        Incomparable("a", "b"),
    ]
    found = compare(Suite("four rows", lambda: rows, [SECURE]))
    assert (found.cases, found.agreed, found.explained, found.incomparable.total()) == (4, 1, 1, 1)
    assert found.unexplained == [rows[1]]


@pytest.mark.parametrize("module", [comparing, samples], ids=lambda module: module.__name__)
def test_the_examples_are_true(module):
    assert doctest.testmod(module).failed == 0
