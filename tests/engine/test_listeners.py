"""Texts are sent and pages built only if somebody takes them."""

from __future__ import annotations

import pytest
from scrapy import signals
from scrapy.signalmanager import SignalManager

from crawler.engine.listeners import Listeners
from crawler.engine.signals import QuickSignals, is_heard


def listeners(manager: SignalManager, **facts: bool) -> Listeners:
    return Listeners(manager, **{"pages": True, "before_storage": False, "behind_storage": False} | facts)


def wants(found: Listeners) -> tuple[bool, bool, bool]:
    return found.take_items, found.want_pages, found.want_text


def receive(item: object) -> None:
    """Take an item."""


def test_nobody_listens_until_somebody_connects() -> None:
    manager = QuickSignals(object())
    found = listeners(manager)
    assert wants(found) == (False, False, False)
    manager.connect(receive, signals.item_dropped)
    assert wants(found) == (False, False, False)
    manager.connect(receive, signals.item_scraped)
    assert wants(found) == (True, True, True)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"before_storage": True}, (False, False, True)),
        ({"behind_storage": True}, (True, True, True)),
        ({"behind_storage": True, "pages": False}, (True, False, False)),
        ({"before_storage": True, "pages": False}, (False, False, True)),
    ],
)
def test_pipelines_of_the_user_listen(facts: dict[str, bool], expected: tuple[bool, bool, bool]) -> None:
    assert wants(listeners(QuickSignals(object()), **facts)) == expected


def test_with_signals_of_scrapy_somebody_may_always_listen() -> None:
    assert is_heard(SignalManager(object()), signals.item_scraped)
