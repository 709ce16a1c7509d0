"""How reliable a host's statements about changes of its pages are."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier import trust
from crawler.frontier.trust import UNKNOWN, Source, Trust

MOST = 64  # observations that count


@pytest.mark.parametrize(
    ("says_changed", "has_changed", "expected"),
    [
        (True, True, Trust(changed_right=1)),
        (True, False, Trust(changed_wrong=1)),
        (False, False, Trust(same_right=1)),
        (False, True, Trust(same_wrong=1)),
    ],
)
def test_each_observation_raises_the_right_count(says_changed: bool, has_changed: bool, expected: Trust) -> None:
    assert UNKNOWN.after(says_changed=says_changed, has_changed=has_changed) == expected


@pytest.mark.parametrize(
    ("trust", "believed"),
    [
        (Trust(), True),  # an unknown host has credit
        (Trust(same_wrong=1), True),
        (Trust(same_wrong=2), False),
        (Trust(same_right=3, same_wrong=1), True),
        (Trust(same_right=3, same_wrong=2), False),
        (Trust(same_right=4, same_wrong=2), True),
        (Trust(same_right=30, same_wrong=9), False),
        (Trust(changed_wrong=60), True),  # that is another matter
    ],
)
def test_a_source_wrong_once_in_five_is_not_believed_that_a_page_is_the_same(trust: Trust, believed: bool) -> None:
    assert trust.believes_same is believed


@pytest.mark.parametrize(
    ("trust", "believed"),
    [
        (Trust(), True),
        (Trust(changed_wrong=4), True),
        (Trust(changed_wrong=5), False),
        (Trust(changed_right=1, changed_wrong=5), True),
        (Trust(changed_right=20, changed_wrong=24), True),
        (Trust(changed_right=20, changed_wrong=25), False),
        (Trust(same_wrong=60), True),
    ],
)
def test_a_source_wrong_half_the_time_is_not_believed_that_a_page_has_changed(trust: Trust, believed: bool) -> None:
    assert trust.believes_change is believed


def test_old_observations_fade() -> None:
    full = Trust(changed_right=MOST // 2, same_right=MOST // 2)
    assert full.after(says_changed=False, has_changed=True) == Trust(MOST // 4, 0, MOST // 4, 1)
    almost = full._replace(same_right=MOST // 2 - 1)
    assert almost.after(says_changed=False, has_changed=True) == almost._replace(same_wrong=1)


def test_trust_is_lost_by_wrong_statements_and_regained_by_right_ones() -> None:
    trust = UNKNOWN
    for _ in range(1_000):
        trust = trust.after(says_changed=False, has_changed=False)
    lies = 0
    while trust.believes_same:
        trust, lies = trust.after(says_changed=False, has_changed=True), lies + 1
    assert lies < MOST / 2
    truths = 0
    while not trust.believes_same:
        trust, truths = trust.after(says_changed=False, has_changed=False), truths + 1
    assert truths < MOST


counts = st.builds(Trust, *[st.integers(0, MOST)] * 4)


@given(trust=counts, says_changed=st.booleans(), has_changed=st.booleans())
def test_one_place_grows_by_one_and_no_count_is_ever_negative(
    trust: Trust, says_changed: bool, has_changed: bool
) -> None:
    after = trust.after(says_changed=says_changed, has_changed=has_changed)
    before = Trust(*(count // 2 for count in trust)) if sum(trust) >= MOST else trust
    grown = [later - earlier for earlier, later in zip(before, after, strict=True)]
    assert min(after) >= 0
    assert sorted(grown) == [0, 0, 0, 1]
    place = grown.index(1)
    assert (place < 2) is says_changed
    assert (place % 2 == 0) is (says_changed == has_changed)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=300))
def test_the_number_of_observations_is_limited(observed: list[tuple[bool, bool]]) -> None:
    trust = UNKNOWN
    for says_changed, has_changed in observed:
        trust = trust.after(says_changed=says_changed, has_changed=has_changed)
    assert sum(trust) <= MOST
    assert sum(trust) == len(observed) or len(observed) > MOST


@given(trust=counts)
def test_right_statements_never_lower_trust_and_wrong_ones_never_raise_it(trust: Trust) -> None:
    if sum(trust) >= MOST:
        return  # then all counts are halved in both cases
    right = trust.after(says_changed=False, has_changed=False)
    wrong = trust.after(says_changed=True, has_changed=False)
    assert right.believes_same >= trust.believes_same
    assert wrong.believes_change <= trust.believes_change


def test_the_codes_of_sources_never_change() -> None:
    assert {witness.name: int(witness) for witness in Source} == {
        "VALIDATORS": 1,
        "HEAD": 2,
        "LASTMOD": 3,
        "CHANGEFREQ": 4,
        "FEED": 5,
    }
    assert all(witness.meaning for witness in Source)


def test_the_examples_are_true() -> None:
    assert doctest.testmod(trust).failed == 0
