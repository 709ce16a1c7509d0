"""A hook that the crawl process can import and a content process cannot: it dies before its first page."""

from __future__ import annotations

import os
import sys

from crawler.items import Visited

if sys.argv[0].endswith("content/process.py"):
    os.abort()


def hook(visited: Visited) -> None:
    """Never reached."""
