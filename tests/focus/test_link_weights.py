"""Weights begin with a prior and move by as much as rewards surprise."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from crawler.focus.link_weights import LinkWeights


def weights(*mean: float) -> LinkWeights:
    return LinkWeights(np.array(mean), np.full(len(mean), 0.25))


def test_a_fact_that_predicts_relevance_gains_weight() -> None:
    one, chance = weights(0.0, 0.0, 0.0), Random(3)
    for _ in range(400):
        telling, noise = chance.random(), chance.random()
        one.learn(np.array([1.0, telling, noise]), float(telling > 0.5))
    assert one.mean[1] > 1
    assert abs(one.mean[2]) < one.mean[1] / 3


def test_weights_move_less_the_more_they_have_learned() -> None:
    one = weights(0.0)
    moves = []
    for _ in range(20):
        before = one.mean[0]
        one.learn(np.ones(1), 1.0)
        moves.append(one.mean[0] - before)
    assert moves == sorted(moves, reverse=True)
    assert moves[-1] > 0


def test_the_mean_of_workers_counts_pages() -> None:
    one, two = weights(0.0), weights(0.0)
    for _ in range(30):
        one.learn(np.ones(1), 1.0)
    two.learn(np.ones(1), 0.0)
    mean = (30 * one.mean[0] + two.mean[0]) / 31
    one.average([two])
    assert one.mean[0] == pytest.approx(mean)
    assert one.pages == 30


def test_workers_that_have_learned_nothing_change_nothing() -> None:
    one = weights(0.5)
    one.average([weights(0.1)])
    assert one.mean.tolist() == [0.5]


def test_weights_are_read_as_they_were_written() -> None:
    one = weights(0.5, -1.0)
    one.learn(np.array([1.0, 0.3]), 1.0)
    again = LinkWeights.from_bytes(one.to_bytes(), 2)
    one.learn(np.array([1.0, 0.7]), 0.0)
    again.learn(np.array([1.0, 0.7]), 0.0)
    assert again.to_bytes() == one.to_bytes()
    with pytest.raises(ValueError, match="not the weights"):
        LinkWeights.from_bytes(one.to_bytes(), 3)


def test_a_weight_does_not_fall_below_its_least() -> None:
    one = LinkWeights(np.array([0.5, 0.5]), np.full(2, 0.25), np.array([0.1, -np.inf]))
    for _ in range(50):
        one.learn(np.array([1.0, 1.0]), 0.0)
    assert one.mean[0] == 0.1
    assert one.mean[1] < 0
