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
    """As an extension: stops when the components are built, or at one of Scrapy's signals."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Stop:
        moment = sys.argv[1]
        if moment == "components":
            stop()
        elif moment != "before the loop":
            crawler.signals.connect(stop, signal=getattr(signals, moment), weak=False)
        return cls()


def on_collection(phase: str, information: dict[str, int]) -> None:
    """The crawl command collects garbage once, when it is ready and the loop does not run yet."""
    heard = signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    if heard and phase == "stop" and information["generation"] == 2:
        gc.callbacks.remove(on_collection)
        stop()


if __name__ == "__main__":
    if sys.argv[1] == "before the loop":
        gc.callbacks.append(on_collection)
    execute(["scrapy", *sys.argv[2:], "-s", 'EXTENSIONS={"__main__.Stop": 1}'])
