"""URLs are read as the standards' tests demand; where other projects read them otherwise, it is known why."""

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

# The share of cases that agree as they are: an explanation is no excuse for a new difference.
AGREEING = {
    "crawler_commons_normalizer": 0.75,
    "nutch_normalizers": 0.6,
    "nutch_urlfilter": 0.95,
    "urlcanon": 0.7,
    "urlcanon_parsing": 0.5,
    "webarchive_commons": 0.35,  # half of its cases decode for reading
    "w3lib": 0.55,
    "courlan": 0.45,
    "tracking_params_global": 0.4,
    "clearurls_providers": 0.05,  # nearly all of its sites have no line with us
}


def named(suite):
    return suite.name


@needs_shared
@pytest.mark.parametrize("suite", [suite for suite in SUITES if not suite.kinds], ids=named)
def test_urls_hosts_and_domains_are_read_as_the_standards_tests_demand(suite):
    rows = list(suite.rows())
    assert [row for row in rows if row.ours != row.theirs] == []


@needs_shared
@pytest.mark.parametrize("suite", [suite for suite in SUITES if suite.kinds], ids=named)
def test_it_is_known_why_another_project_reads_a_url_otherwise(suite):
    found = compare(suite)
    assert found.unexplained == []
    assert found.agreed >= AGREEING[suite.name] * (found.agreed + found.explained)
    assert found.cases > 0


@needs_shared
@pytest.mark.parametrize("path", sorted(DATA.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_text_in_the_data_has_at_most_one_canonical_form(path):
    canonical = [canonicalize(text) for case in read(path.stem) for text in texts(case)]
    assert [canonicalize(url) for url in canonical if url] == [url for url in canonical if url]


def test_every_suite_has_a_name_of_its_own_and_every_kind_a_reason():
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
        ("http://abc.com/", "http://www.abc.com/"),  # they would have to add what they are known to drop
        ("http://abc.com/", None),
        (None, "http://abc.com/"),
        ("http://abc.com/#b", "http://abc.com/"),  # it is we who are known to drop it
    ],
)
def test_what_no_kind_makes_equal_is_not_explained(ours, theirs):
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
