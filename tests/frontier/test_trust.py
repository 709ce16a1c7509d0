"""How far a host's word can be trusted."""

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
def test_each_observation_has_its_place(says_changed: bool, has_changed: bool, expected: Trust) -> None:
    assert UNKNOWN.after(says_changed=says_changed, has_changed=has_changed) == expected


@pytest.mark.parametrize(
    ("told", "believed"),
    [
        (Trust(), True),  # who is not known yet has credit
        (Trust(same_wrong=1), True),
        (Trust(same_wrong=2), False),
        (Trust(same_right=3, same_wrong=1), True),
        (Trust(same_right=3, same_wrong=2), False),
        (Trust(same_right=4, same_wrong=2), True),
        (Trust(same_right=30, same_wrong=9), False),
        (Trust(changed_wrong=60), True),  # that is another matter
    ],
)
def test_who_was_wrong_once_in_five_is_not_believed_that_a_page_is_the_same(told: Trust, believed: bool) -> None:
    assert told.believes_same is believed


@pytest.mark.parametrize(
    ("told", "believed"),
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
def test_who_was_wrong_half_of_the_time_is_not_believed_that_a_page_has_changed(told: Trust, believed: bool) -> None:
    assert told.believes_change is believed


def test_what_was_long_ago_fades() -> None:
    full = Trust(changed_right=MOST // 2, same_right=MOST // 2)
    assert full.after(says_changed=False, has_changed=True) == Trust(MOST // 4, 0, MOST // 4, 1)
    almost = full._replace(same_right=MOST // 2 - 1)
    assert almost.after(says_changed=False, has_changed=True) == almost._replace(same_wrong=1)


def test_an_honest_host_that_turns_liar_is_found_out_and_can_come_back() -> None:
    told = UNKNOWN
    for _ in range(1_000):
        told = told.after(says_changed=False, has_changed=False)
    lies = 0
    while told.believes_same:
        told, lies = told.after(says_changed=False, has_changed=True), lies + 1
    assert lies < MOST / 2
    truths = 0
    while not told.believes_same:
        told, truths = told.after(says_changed=False, has_changed=False), truths + 1
    assert truths < MOST


counts = st.builds(Trust, *[st.integers(0, MOST)] * 4)


@given(told=counts, says_changed=st.booleans(), has_changed=st.booleans())
def test_one_place_grows_by_one_and_no_count_is_ever_negative(
    told: Trust, says_changed: bool, has_changed: bool
) -> None:
    after = told.after(says_changed=says_changed, has_changed=has_changed)
    before = Trust(*(count // 2 for count in told)) if sum(told) >= MOST else told
    grown = [later - earlier for earlier, later in zip(before, after, strict=True)]
    assert min(after) >= 0
    assert sorted(grown) == [0, 0, 0, 1]
    place = grown.index(1)
    assert (place < 2) is says_changed
    assert (place % 2 == 0) is (says_changed == has_changed)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=300))
def test_no_more_observations_count_than_may(observed: list[tuple[bool, bool]]) -> None:
    told = UNKNOWN
    for says_changed, has_changed in observed:
        told = told.after(says_changed=says_changed, has_changed=has_changed)
    assert sum(told) <= MOST
    assert sum(told) == len(observed) or len(observed) > MOST


@given(told=counts)
def test_to_be_right_never_costs_trust_and_to_be_wrong_never_brings_it(told: Trust) -> None:
    if sum(told) >= MOST:
        return  # what fades, fades for both
    right = told.after(says_changed=False, has_changed=False)
    wrong = told.after(says_changed=True, has_changed=False)
    assert right.believes_same >= told.believes_same
    assert wrong.believes_change <= told.believes_change


def test_codes_of_witnesses_are_schema() -> None:
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
