"""make conformance: compare URLs, robots.txt, sitemaps, feeds, pages and documents with other projects' tests.

Prints how often we agree, and the reason of every difference.
"""

from __future__ import annotations

import sys

from tests.conformance import documents, encodings, extraction, feeds, links, metadata, robots, sitemaps
from tests.conformance.compare import Answer, Case, Comparison, compare
from tests.conformance.data import DATA
from tests.conformance.scores import Difference, Score
from tests.conformance.suites import SUITES

SCORED = (
    robots,
    sitemaps,
    feeds,
    encodings,
    links,
    metadata,
    extraction,
    documents,
)  # modules with scores(); each has its share of cases that must agree


def main() -> int:
    if not DATA.is_dir():
        print(f"The data of the other projects is not at {DATA}: nothing to compare")
        return 0
    return max(_compare_urls(), _compare_scores([found for module in SCORED for found in module.scores()]))


def _compare_urls() -> int:
    found = [compare(suite) for suite in SUITES]
    print(f"{'suite':<28}{'cases':>7}{'agree':>7}{'explained':>11}{'not comparable':>16}{'UNEXPLAINED':>13}")
    for comparison in found:
        print(_row(comparison))
    for comparison in found:
        _print_kinds(comparison)
    unexplained = sum(len(comparison.unexplained) for comparison in found)
    print(f"\n{'Every difference is explained' if not unexplained else f'{unexplained} differences are NOT explained'}")
    return 1 if unexplained else 0


def _compare_scores(scores: list[Score]) -> int:
    print(f"\n{'suite':<36}{'cases':>7}{'agree':>7}{'share':>9}{'needed':>9}")
    for found in scores:
        verdict = "" if found.holds else "  TOO FEW"
        share = found.agreed / found.cases if found.cases else 0.0
        print(f"{found.name:<36}{found.cases:>7}{found.agreed:>7}{share:>9.2%}{found.needed:>9.1%}{verdict}")
    for found in scores:
        _print_differences(found)
    is_good = all(found.holds and not found.unexplained for found in scores)
    print(f"\n{'All suites agree as often as needed' if is_good else 'NOT all suites agree as often as needed'}")
    return 0 if is_good else 1


def _print_differences(found: Score) -> None:
    if found.differences or found.set_aside:
        print(f"\n{found.name}")
    for difference in found.differences:
        print(_difference(difference, difference.why or "UNEXPLAINED"))
    for difference in found.set_aside:
        print(_difference(difference, f"set aside: {difference.why}"))


def _difference(found: Difference, why: str) -> str:
    return f"  {found.cases:>4}  {found.test}: {why}"


def _row(found: Comparison) -> str:
    return (
        f"{found.suite.name:<28}{found.cases:>7}{found.agreed:>7}{found.explained:>11}"
        f"{found.incomparable.total():>16}{len(found.unexplained):>13}"
    )


def _print_kinds(found: Comparison) -> None:
    if not (found.by_kind or found.incomparable or found.unexplained):
        return
    print(f"\n{found.suite.name}: a case may be of several kinds")
    for kind, cases in sorted(found.by_kind.items(), key=lambda item: -len(item[1])):
        print(f"  {len(cases):>4}  {kind.name}: {kind.why}")
        print(f"        {_shown(_simplest(cases))}")
    for reason, count in found.incomparable.most_common():
        print(f"  {count:>4}  not comparable: {reason}")
    for case in found.unexplained:
        print(f"  UNEXPLAINED  {_shown(case)}")


def _simplest(cases: list[Case]) -> Case:
    return min(cases, key=lambda case: len(case.given))


def _shown(case: Case) -> str:
    return f"{_quoted(case.given)}  ours {_quoted(case.ours)}  theirs {_quoted(case.theirs)}"


def _quoted(answer: Answer) -> str:
    text = ascii(answer)
    return text if len(text) <= 100 else f"{text[:97]}..."


if __name__ == "__main__":
    sys.exit(main())
