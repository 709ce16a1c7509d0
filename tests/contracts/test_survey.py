"""A survey counts the rows of one snapshot of the store, for reports."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.frontier.politeness import HostClock
from crawler.items import CrawlLimits, Kind, ListedUrl, Outcome, Reason, RobotsFile, State, Tier, Visit
from crawler.stores.contract.store import Store
from crawler.stores.contract.survey import (
    CopyCounts,
    DepthCount,
    DocumentShare,
    DocumentTrait,
    ListCoverage,
    Survey,
    TimeSlice,
)
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import DAY, REVISIT, commit, fetch, fetch_refused, fetch_robots, lease_url, page
from tests.samples import NOW, link, new_url, visit_to

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


@pytest.fixture
def survey(store: Store) -> Any:
    """Opens a new survey of the store for each method that is called."""

    class FreshSurvey:
        def __getattr__(self, name: str) -> Any:
            def call(*arguments: Any, **facts: Any) -> Any:
                with store.survey() as survey:
                    return getattr(survey, name)(*arguments, **facts)

            return call

    return FreshSurvey()


def same_rest(seconds: float) -> Any:
    """The same required rest for all hosts."""
    return lambda name, clock: seconds


# ── Snapshots ──


def test_a_survey_reads_one_snapshot(store: Store, opener: Opener) -> None:
    fetch(store, A, NOW)
    reader = opener(read_only=True)
    with reader.survey() as survey:
        before = survey.span()
        fetch(store, B, NOW + 5)
        assert (survey.span(), reader.crawl.account().known, len(reader.crawl.runs())) == (before, 1, 0)
    assert reader.crawl.account().known == 2
    reader.close()


def test_a_survey_does_not_block_writers(store: Store, opener: Opener) -> None:
    reader = opener(read_only=True)
    with reader.survey() as survey:
        survey.span()
        assert fetch(store, A, NOW).new_urls == 0
    reader.close()


def test_an_error_during_a_survey_leaves_the_store_usable(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.survey():
        raise ZeroDivisionError
    fetch(store, A, NOW)
    assert store.crawl.account().known == 1


def test_an_empty_crawl_can_be_surveyed(survey: Survey) -> None:
    assert survey.span() is None
    assert (
        survey.history(NOW, 1.0) == survey.state_counts(3) == survey.outcome_counts(3) == survey.depth_counts(9) == []
    )
    assert (
        survey.page_sizes()
        == survey.segment_fills()
        == survey.slowest_hosts(3)
        == survey.refused_counts([Reason.TOO_FAR], 3)
        == []
    )
    assert survey.rests(same_rest(1), 3) == (0, 0, [])
    assert survey.copy_counts(3, 3) == CopyCounts(0, [], 0, [])
    assert survey.list_coverage() == ListCoverage(0, 0, 0, 0)


# ── Time ──


def test_the_span_is_from_the_first_find_to_the_last_visit(store: Store, survey: Survey) -> None:
    store.urls.add([new_url(A), new_url(B)], NOW)
    commit(store, lease_url(store, A, NOW + 1), NOW + 20)
    assert survey.span() == (NOW, NOW + 20)
    assert survey.span(key_of(B).host) == (NOW, NOW)


def test_finds_visits_and_answers_are_counted_by_time_slice(store: Store, survey: Survey) -> None:
    fetch(store, A, NOW, page=page(links=(link(B), link(C, refused=Reason.OUT_OF_SCOPE))))
    commit(store, lease_url(store, B, NOW + 10), NOW + 25, page=page("b"))
    assert survey.history(NOW, 10.0) == [
        TimeSlice(0, found=3, refused=1, visited=1, answers=1, pages=1, bytes=8),
        TimeSlice(2, visited=1, answers=1, pages=1, bytes=8),
    ]
    assert survey.history(NOW, 10.0, key_of(B).host) == [
        TimeSlice(0, found=1),
        TimeSlice(2, visited=1, answers=1, pages=1, bytes=8),
    ]


def test_a_page_counts_as_visited_only_at_its_first_visit(store: Store, survey: Survey) -> None:
    fetch(store, A, NOW, page=page())
    fetch(store, A, NOW + REVISIT, page=page())
    assert [row.visited for row in survey.history(NOW, DAY)] == [1, 0]


def test_a_robots_txt_does_not_count_as_found(store: Store, survey: Survey) -> None:
    fetch_robots(store, A, NOW, [])
    assert survey.span() is None


# ── Reasons ──


def test_states_are_counted_with_examples(store: Store, survey: Survey) -> None:
    urls = [f"http://a.test/{number}" for number in range(5)]
    store.urls.add([new_url(url) for url in urls], NOW)
    store.urls.add([new_url(B, refused=link(B, refused=Reason.TOO_FAR).refused)], NOW)
    assert survey.state_counts(3) == [
        (State.WAITING, Reason.SEED, 5, urls[:3]),
        (State.PARKED, Reason.TOO_FAR, 1, [B]),
    ]
    assert survey.state_counts(0)[0].examples == []
    assert survey.state_counts(3, key_of(B).host) == [(State.PARKED, Reason.TOO_FAR, 1, [B])]


def test_outcomes_count_urls_by_their_last_visit_and_all_answers(store: Store, survey: Survey) -> None:
    fetch(store, A, NOW, page=page())
    fetch(store, B, NOW, page=page("b"))
    fetch_refused(store, A, NOW + REVISIT, Reason.NOT_FOUND, 404, page=page("c"))
    assert survey.outcome_counts(3) == [(Reason.OK, 1, 2, [B]), (Reason.NOT_FOUND, 1, 1, [A])]
    assert survey.outcome_counts(3, key_of(A).host) == [(Reason.NOT_FOUND, 1, 1, [A]), (Reason.OK, 0, 1, ())]


def test_depths_are_counted_up_to_the_deepest(store: Store, survey: Survey) -> None:
    store.urls.add([new_url(f"http://a.test/{depth}", depth=depth) for depth in (0, 1, 7, 9)], NOW)
    commit(store, lease_url(store, "http://a.test/0", NOW), NOW)
    assert survey.depth_counts(5) == [DepthCount(0, 1, 1), DepthCount(1, 1, 0), DepthCount(5, 2, 0)]


def test_refused_urls_are_counted_by_site(store: Store, survey: Survey) -> None:
    deep = [
        new_url(f"http://{name}.a.test/x", refused=link("x", refused=Reason.PATH_TOO_DEEP).refused) for name in "pq"
    ]
    store.urls.add([*deep, new_url("http://z.test/y", refused=link("y", refused=Reason.OVER_BUDGET).refused)], NOW)
    reasons = [Reason.PATH_TOO_DEEP, Reason.OVER_BUDGET, Reason.ROBOTS_DENIED]
    assert survey.refused_counts(reasons, 9) == [
        ("a.test", Reason.PATH_TOO_DEEP, 2, "http://p.a.test/x"),
        ("z.test", Reason.OVER_BUDGET, 1, "http://z.test/y"),
    ]
    assert len(survey.refused_counts(reasons, 1)) == 1


# ── Documents ──


@pytest.mark.parametrize(
    ("trait", "expected"),
    [
        (DocumentTrait.LANGUAGE, [DocumentShare("en", 2, 16), DocumentShare("", 1, 8)]),
        (DocumentTrait.FORMAT, [DocumentShare("html", 2, 16), DocumentShare("pdf", 1, 8)]),
        (DocumentTrait.CONTENT_TYPE, [DocumentShare("text/html", 2, 16), DocumentShare("application/pdf", 1, 8)]),
        (DocumentTrait.STATUS, [DocumentShare("200", 3, 24), DocumentShare("404", 1, 8)]),
    ],
)
def test_documents_are_counted_by_traits(
    trait: DocumentTrait, expected: list[DocumentShare], store: Store, survey: Survey
) -> None:
    html = {"format": "html", "language": "en"}
    fetch(store, A, NOW, page=page("a", content_type="text/html; charset=utf-8", **html))
    fetch(store, B, NOW, page=page("b", content_type="Text/HTML", **html))
    fetch(store, C, NOW, page=page("c", content_type="application/pdf", format="pdf"))
    fetch_refused(store, "http://d.test/", NOW, Reason.NOT_FOUND, 404, page=page("d", language="xx"))
    assert survey.document_shares(trait, 9) == expected
    assert survey.document_shares(trait, 1) == expected[:1]
    assert [row.answers for row in survey.document_shares(trait, 9, key_of(A).host)] == [1]


def test_page_sizes_are_counted_by_powers_of_two(store: Store, survey: Survey) -> None:
    for number, length in enumerate((0, 1, 1023, 1024)):
        fetch(store, f"http://a.test/{number}", NOW, body=b"x" * length, page=page(str(number)))
    assert survey.page_sizes() == [(0, 1), (1, 1), (10, 1), (11, 1)]


def test_contents_of_archive_files_are_counted(store: Store, survey: Survey) -> None:
    fetch(store, A, NOW, page=page())
    fetch(store, A, NOW + REVISIT, page=page(), is_revisit=True)
    assert survey.segment_fills() == [("x-000-00001.warc.gz", 2, 16, 60, 1)]


def test_copies_are_counted_by_tier_and_cluster(store: Store, survey: Survey) -> None:
    fetch(store, A, NOW, page=page("same", title="the first"))
    for number in range(4):
        fetch(store, f"http://b.test/{number}", NOW, page=page("same"))
    fetch(store, C, NOW, page=page("other"))
    counts = survey.copy_counts(5, 3)
    assert (counts.pages, counts.tiers, counts.clusters) == (6, [(Tier.BODY, 4)], 1)
    assert counts.largest == [(A, "the first", 4, [f"http://b.test/{number}" for number in range(3)])]


def test_a_page_that_is_no_longer_a_copy_is_not_counted(store: Store, survey: Survey) -> None:
    fetch(store, A, NOW, page=page("same"))
    fetch(store, B, NOW, page=page("same"))
    fetch(store, B, NOW + REVISIT, page=page("other"))
    assert survey.copy_counts(5, 3) == CopyCounts(2, [], 0, [])


# ── Politeness ──


def test_rests_are_measured_from_the_end_of_an_answer_to_the_start_of_the_next(store: Store, survey: Survey) -> None:
    for number, at in enumerate((0.0, 1.0, 5.0)):  # each takes 0.1 s
        fetch(store, f"http://a.test/{number}", NOW + at, page=page(str(number)))
    rests = survey.host_rests(key_of(A).host)
    assert rests is not None
    assert (rests.gaps, rests.shortest, rests.median) == (2, pytest.approx(0.9), pytest.approx(2.4))


def test_a_host_with_one_answer_has_no_rest(store: Store, survey: Survey) -> None:
    fetch(store, A, NOW)
    assert survey.host_rests(key_of(A).host) is None
    assert survey.rests(same_rest(1), 5).hosts == 0


def test_hosts_with_the_least_margin_come_first(store: Store, survey: Survey) -> None:
    for name, rest in (("a", 9.0), ("b", 2.0), ("c", 5.0)):
        for number in range(2):
            fetch(store, f"http://{name}.test/{number}", NOW + number * rest, page=page(f"{name}{number}"))

    def required_rest(name: str, clock: HostClock) -> float:
        assert clock.latency >= 0
        return 8.5 if name == "a.test" else 1.0

    rests = survey.rests(required_rest, 2)
    assert (rests.hosts, rests.short) == (3, 0)
    assert [(rest.host, rest.required, rest.gaps) for rest in rests.worst] == [("a.test", 8.5, 1), ("b.test", 1.0, 1)]
    assert survey.rests(same_rest(3), 9).short == 1


def test_the_rest_before_a_robots_txt_is_not_measured(store: Store, survey: Survey) -> None:
    fetch(store, A, NOW, page=page())
    commit(store, lease_robots(store, "http://a.test"), NOW + 0.2, page=page("rules"))
    fetch(store, "http://a.test/2", NOW + 5, page=page("2"))
    rests = survey.host_rests(key_of(A).host)
    assert rests is not None
    assert (rests.gaps, rests.shortest) == (1, pytest.approx(4.7))


def lease_robots(store: Store, origin: str) -> Visit:
    visit = visit_to(f"{origin}/robots.txt", kind=Kind.ROBOTS, origin=origin)
    assert store.frontier.lease("me", [visit], NOW).granted == [visit]
    return visit


# ── robots.txt ──


def commit_robots_file(store: Store, origin: str, **facts: Any) -> None:
    visit = lease_robots(store, origin)
    given: dict[str, Any] = {
        "status": 200,
        "body": b"Disallow: /x",
        "crawl_limits": CrawlLimits(crawl_delay=facts.pop("delay", None)),
    }
    known = RobotsFile(host=visit.key.host, origin=origin, fetched=NOW, expires=NOW + DAY, **given | facts)
    commit(store, visit, NOW, rules=known, page=None)


def test_origins_are_counted_by_the_state_of_their_robots_txt(store: Store, survey: Survey) -> None:
    commit_robots_file(store, "http://a.test", delay=3.0)
    commit_robots_file(store, "http://b.test", status=404, body=None)
    commit_robots_file(store, "http://c.test", status=503, body=None, held_until=NOW + 60)
    commit_robots_file(store, "http://d.test", status=200, body=b"")
    assert survey.robots_counts() == (4, 2, 1, 1, 1, 1, 0, 0)
    (known,) = survey.robots_files(key_of(A).host)
    assert (known.origin, known.body, known.crawl_limits.crawl_delay) == ("http://a.test", b"Disallow: /x", 3.0)


# ── Hosts ──


def test_the_last_visits_of_a_host_are_returned_latest_first(store: Store, survey: Survey) -> None:
    for number in range(3):
        fetch(store, f"http://a.test/{number}", NOW + number, page=page(str(number), title=f"page {number}"))
    failed = {"outcome": Outcome.FAILED, "reason": Reason.CONNECT_FAILED, "page": None, "status": 0}
    fetch(store, "http://a.test/3", NOW + 3, **failed)
    fetch(store, B, NOW + 9)
    assert survey.last_visits(key_of(A).host, 2) == [
        ("http://a.test/3", Kind.PAGE, NOW + 3, 0, Reason.CONNECT_FAILED, ""),
        ("http://a.test/2", Kind.PAGE, NOW + 2, 200, Reason.OK, "page 2"),
    ]


# ── Coverage ──


def test_coverage_counts_pages_found_by_links_and_by_lists(store: Store, survey: Survey) -> None:
    both, listed, linked = (f"http://a.test/{name}" for name in ("both", "listed", "linked"))
    fetch(store, A, NOW, page=page(links=(link(both), link(linked), link("http://x.test/elsewhere"))))
    sitemap = "http://a.test/sitemap.xml"
    fetch_robots(store, A, NOW, [link(sitemap)])
    entries = [ListedUrl(key_of(url), url, None) for url in (both, listed)]
    commit(store, lease_url(store, sitemap, NOW), NOW, page=page("map", kind=Kind.SITEMAP, listed=entries))
    # The front page is a seed, neither linked nor listed; the other host has no lists.
    assert survey.list_coverage() == ListCoverage(known=4, linked=2, listed=2, both=1)


def test_a_listed_page_that_another_host_links_to_counts_as_both(store: Store, survey: Survey) -> None:
    sitemap, listed = "http://a.test/sitemap.xml", "http://a.test/listed"
    fetch_robots(store, A, NOW, [link(sitemap)])
    entries = [ListedUrl(key_of(listed), listed, None)]
    commit(store, lease_url(store, sitemap, NOW), NOW, page=page("map", kind=Kind.SITEMAP, listed=entries))
    fetch(store, B, NOW + 1, page=page("b", links=(link(listed, "look"),)))
    assert survey.list_coverage() == ListCoverage(known=1, linked=1, listed=1, both=1)


def test_coverage_does_not_count_refused_pages(store: Store, survey: Survey) -> None:
    sitemap, far = "http://a.test/sitemap.xml", "http://a.test/far"
    fetch_robots(store, A, NOW, [link(sitemap)])
    entries = [ListedUrl(key_of(far), far, link(far, refused=Reason.TOO_FAR).refused)]
    commit(store, lease_url(store, sitemap, NOW), NOW, page=page("map", kind=Kind.SITEMAP, listed=entries))
    assert survey.list_coverage() == ListCoverage(0, 0, 0, 0)
