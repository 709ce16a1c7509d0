"""How many connections and hosts a bandwidth needs."""

from __future__ import annotations

import doctest

import crawler.simulation.sizing as module
from crawler.simulation.sizing import Sizing, fit
from tests.defaults import politeness_with


def test_examples() -> None:
    assert doctest.testmod(module).failed == 0


def test_an_instant_web_without_delays_is_limited_by_the_bandwidth_alone() -> None:
    sizing = Sizing(bandwidth=1_000, page_bytes=10, latency=0.0, delay=0.0)
    found = fit(sizing, politeness_with(min_delay=0.0, own_hosts=("*",)), connections=1, hosts=1)
    assert (sizing.connections, sizing.hosts) == (0, 0)
    assert (found.rate, found.limited_by) == (100.0, "the bandwidth")


def test_a_slow_host_rests_longer_than_its_delay() -> None:
    sizing = Sizing(bandwidth=1_000, page_bytes=10, latency=4.0, delay=10.0)
    found = fit(sizing, politeness_with(min_delay=5.0, latency_factor=5.0, latency_cap=30.0), 1_000, 1_000)
    assert found.rest == 20.0
    assert found.hosts == 2_400
