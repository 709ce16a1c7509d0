"""Run a crawl to its end, or kill it and all its workers a while after its first page."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.crawl.runner import crawling, kill_all, rows


def run_or_kill(
    words: Sequence[str], settings: Mapping[str, object], directory: Path, after: float | None, timeout: float
) -> bool:
    """Run a crawl; kill it `after` seconds from its first page, if given. Returns whether it ended by itself."""
    with crawling(*words, output=directory / "output.txt", **settings) as process:
        deadline = time.monotonic() + timeout
        if after is not None:
            before = archived_answers(directory / "crawl")
            while (
                process.poll() is None
                and archived_answers(directory / "crawl") == before
                and time.monotonic() < deadline
            ):
                time.sleep(0.05)
            time.sleep(after)
            if process.poll() is None:
                kill_all(process)
                process.wait()
                return False
        code = process.wait(timeout=timeout)
        assert code == 0, (directory / "output.txt").read_text()
        return True


def archived_answers(directory: Path, condition: str = "TRUE") -> int:
    """Return the number of documents so far, of those that fulfil a condition; 0 before there is a store."""
    if not (directory / "crawl.db").exists():
        return 0
    tables = rows(directory, "SELECT count(*) FROM sqlite_schema WHERE name = 'documents'")
    if tables != [(1,)]:
        return 0
    return int(str(rows(directory, f"SELECT count(*) FROM documents WHERE {condition}")[0][0]))
