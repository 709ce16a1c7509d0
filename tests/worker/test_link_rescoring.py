"""URLs that wait are scored again: the first ones of each host before all others, and none is forgotten."""

from __future__ import annotations

import doctest

from crawler.stores.contract.focus import WaitingPlace
from crawler.worker import link_rescoring
from crawler.worker.link_rescoring import RescorePlan

TOP = WaitingPlace()


def taken(plan: RescorePlan) -> list[tuple[int, WaitingPlace]]:
    found = []
    while (one := plan.take()) is not None:
        found.append(one)
    return found


def test_the_example_is_true() -> None:
    assert doctest.testmod(link_rescoring).failed == 0


def test_the_first_urls_of_all_hosts_come_before_further_ones() -> None:
    plan = RescorePlan()
    plan.go_on(1, WaitingPlace(0, 1, 0.0, 5))
    plan.begin([2, 1, 2])
    assert taken(plan) == [(2, TOP), (1, TOP), (1, WaitingPlace(0, 1, 0.0, 5))]


def test_further_urls_are_taken_in_the_order_of_their_places() -> None:
    plan = RescorePlan()
    places = {1: WaitingPlace(5, 0, 0.0, 1), 2: WaitingPlace(0, 7, 0.0, 2), 3: WaitingPlace(0, 2, 9.0, 3)}
    for host, place in places.items():
        plan.go_on(host, place)
    assert [host for host, _ in taken(plan)] == [3, 2, 1]


def test_of_two_places_of_a_host_the_better_one_is_kept() -> None:
    plan = RescorePlan()
    plan.go_on(1, WaitingPlace(3, 0, 0.0, 1))
    plan.go_on(1, WaitingPlace(6, 0, 0.0, 1))
    assert taken(plan) == [(1, WaitingPlace(3, 0, 0.0, 1))]


def test_the_hosts_with_the_worst_places_are_left_out_when_there_are_too_many() -> None:
    plan = RescorePlan()
    most = link_rescoring._MOST_HOSTS
    for host in range(most + 5):
        plan.go_on(host, WaitingPlace(0, 0, float(host), host))
    assert {host for host, _ in taken(plan)} == set(range(most))
