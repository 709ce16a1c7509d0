"""A host that keeps little of what the links to its pages promised is believed less, and only such a host."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from crawler.focus import promises
from crawler.focus.promises import HostPromises

HOSTS = np.array([1, 2, 3, 2], np.uint32)


def kept(*pages: tuple[int, float, float]) -> HostPromises:
    found = HostPromises()
    for page in pages:
        found.add(*page)
    return found


def test_the_example_is_true() -> None:
    assert doctest.testmod(promises).failed == 0


def test_a_host_that_keeps_its_promises_is_believed() -> None:
    honest = kept(*[(1, 0.5, 1.0), (1, 0.5, 0.0)] * 50)
    assert honest.kept_shares(HOSTS).tolist() == [1.0] * 4


def test_a_site_whose_links_promise_little_is_no_trap() -> None:
    assert kept(*[(1, 0.002, 0.0)] * 100).kept_shares(HOSTS)[0] > 0.8


def test_a_host_that_becomes_better_is_believed_again() -> None:
    trap = [(1, 0.5, 0.0)] * 400
    better = kept(*trap, *[(1, 0.5, 0.6)] * 400)
    assert kept(*trap).kept_shares(HOSTS)[0] < 0.05
    assert better.kept_shares(HOSTS)[0] > 0.7


def test_what_workers_counted_is_added() -> None:
    one, other = kept(*[(2, 0.5, 0.0)] * 10), kept(*[(2, 0.5, 0.0)] * 10, (3, 0.9, 0.0))
    both = HostPromises()
    both.merge([one, other])
    assert both.kept_shares(HOSTS)[1] == pytest.approx(1 / 11)
    assert both.kept_shares(HOSTS)[2] == pytest.approx(1 / 1.9)


def test_bytes_are_read_back_as_they_were_and_damaged_ones_refused() -> None:
    found = kept((1, 0.3, 0.1), (2, 0.7, 0.2))
    data = found.to_bytes()
    again = HostPromises.from_bytes(data)
    assert again.kept_shares(HOSTS).tolist() == found.kept_shares(HOSTS).tolist()
    assert again.to_bytes() == data
    for damaged in (data[:-1], data[:-4] + np.array([np.nan], "<f4").tobytes(), data[:-4] + b"\xff\xff\xff\xff"):
        with pytest.raises(ValueError, match="promises"):
            HostPromises.from_bytes(damaged)


def test_memory_is_bounded() -> None:
    most = promises._MOST_HOSTS
    found = kept(*((host, 0.5, 0.0) for host in range(most + 10)))
    assert len(found.to_bytes()) == 12 * most
