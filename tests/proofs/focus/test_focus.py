"""A focused crawl of a real web finds about as much as its simulation, also when it is killed."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest

from tests.proofs.focus.proof import crawl
from tests.proofs.focus.simulated import best_first, simulate
from tests.proofs.focus.web import TopicalWeb, harvest_curve

pytestmark = [pytest.mark.crawl, pytest.mark.needs_shared, pytest.mark.timeout(400)]
PAGES = 150


def test_a_killed_crawl_finds_about_as_much_as_its_simulation(tmp_path: Path) -> None:
    web = TopicalWeb("mdn", 4)
    topic = web.topics[0]
    learned = web.topic_of(topic, "few")
    most = PAGES + len(topic.given)
    killed = crawl(web, topic, learned, tmp_path / "killed", pages=most, kills=1)
    orders = {
        "killed": killed.order,
        "simulated": simulate(web, topic, learned, tmp_path, most),
        "best first": best_first(web, topic, learned, most),
        "in the order found": simulate(web, topic, learned, tmp_path / "fifo", most, ORDER="fifo"),
    }
    found = {name: fmean(harvest_curve(order, topic)[:PAGES]) for name, order in orders.items()}
    assert killed.kills == 1
    assert killed.with_evidence > 100
    assert found["killed"] > 0.7 * found["simulated"]
    assert found["simulated"] > 0.7 * found["best first"]
    assert found["killed"] > 1.3 * found["in the order found"]
