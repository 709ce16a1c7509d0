"""Scrapy's signals, sent only if something is connected to them."""

from __future__ import annotations

from typing import Any

from scrapy.signalmanager import SignalManager


class QuickSignals(SignalManager):
    """Skips signals without receivers: Scrapy looks for some ten times a page, which takes 0.25 of 2.2 ms.

    Receivers must be connected through `crawler.signals`, as Scrapy's documentation says; one that was connected with
    pydispatch directly is not called.
    """

    def __init__(self, sender: Any) -> None:
        super().__init__(sender)
        self._connected: set[Any] = set()

    def connect(self, receiver: Any, signal: Any, **kwargs: Any) -> None:
        self._connected.add(signal)
        super().connect(receiver, signal, **kwargs)

    def send_catch_log(self, signal: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return super().send_catch_log(signal, **kwargs) if signal in self._connected else []

    async def send_catch_log_async(self, signal: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return await super().send_catch_log_async(signal, **kwargs) if signal in self._connected else []
