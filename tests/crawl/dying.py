"""A CONTENT_HOOK kills every content process that imports it; the crawl process can import it."""

from __future__ import annotations

import os
import sys

from crawler.items import Visited

if sys.argv[0].endswith("content/process.py"):
    os.write(2, b"something is missing\n")
    os.abort()


def hook(visited: Visited) -> None:
    """Never reached."""
