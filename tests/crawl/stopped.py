"""Run `scrapy` and stop it by SIGTERM at a moment of its start: python -m tests.crawl.stopped MOMENT words…"""

from __future__ import annotations

import gc
import os
import signal
import sys

from scrapy import signals
from scrapy.cmdline import execute
from scrapy.crawler import Crawler


def stop() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


class Stop:
    """An extension that stops the crawl when the components are built, or at one of Scrapy's signals."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Stop:
        moment = sys.argv[1]
        if moment == "components":
            stop()
        elif moment != "before the loop":
            crawler.signals.connect(stop, signal=getattr(signals, moment), weak=False)
        return cls()


def on_collection(phase: str, information: dict[str, int]) -> None:
    """Stop when the crawl command collects garbage, which it does once, just before the event loop runs."""
    is_handled = signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    if is_handled and phase == "stop" and information["generation"] == 2:
        gc.callbacks.remove(on_collection)
        stop()


if __name__ == "__main__":
    if sys.argv[1] == "before the loop":
        gc.callbacks.append(on_collection)
    execute(["scrapy", *sys.argv[2:], "-s", 'EXTENSIONS={"__main__.Stop": 1}'])
