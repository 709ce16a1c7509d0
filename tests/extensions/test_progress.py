"""The progress of a crawl, on a terminal and in a log file."""

from __future__ import annotations

import asyncio
import io
import logging
import re
from pathlib import Path

import pytest

from crawler.extensions import progress
from crawler.extensions.progress import Progress
from crawler.monitor.vitals import Vitals
from crawler.worker.session import Session
from tests.crawl.runner import command, polite_to, scrapy, seeds_file
from tests.defaults import options_with
from tests.monitor.screen import Screen, on_terminal
from tests.webgraph.server import Served

HOOK = "tests.extensions.hooks:say_a_title"
SPELLED = r"A page is called Free [red]prizes[/red] \x1b]0;mine\x07\x1b[2J\x9b31m"


class Written(io.StringIO):
    """Sets an event when three lines were written."""

    def __init__(self) -> None:
        super().__init__()
        self.enough = asyncio.Event()

    def write(self, text: str) -> int:
        if self.getvalue().count("\n") >= 2:
            self.enough.set()
        return super().write(text)


def test_without_a_terminal_a_line_is_logged_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handler = logging.StreamHandler(Written())
    monkeypatch.setattr(logging.root, "handlers", [handler])
    monkeypatch.setattr(progress.logger, "level", logging.INFO)
    monkeypatch.setattr(progress, "LINES_EVERY", 0.0)
    session = Session.open(options_with(CRAWL_DIR=str(tmp_path), CRAWL_MAX_PAGES=7))

    async def run() -> None:
        shown = Progress(session, Vitals)
        shown.open()
        await handler.stream.enough.wait()
        shown.close()

    try:
        asyncio.run(run())
    finally:
        session.close()
    first, second, *_ = handler.stream.getvalue().splitlines()
    assert first.startswith(
        "0:00; 0 of 7 pages (0.0/s, 0.00 MB/s); 0 visits; 0 new URLs; 0.0 MB; 0 duplicates (0 near); 0 URLs"
    )
    assert second.startswith("0:00; 0 of 7 pages")


@pytest.mark.crawl
@pytest.mark.parametrize(("rows", "columns"), [(24, 100), (12, 60)])
def test_a_terminal_shows_one_live_view_and_untrusted_text_does_not_disturb_it(
    rows: int, columns: int, served: Served, tmp_path: Path
) -> None:
    settings = polite_to(served, tmp_path / "crawl", LOG_LEVEL="INFO", COMMIT_STEP_HOOK=HOOK, COMMIT_INTERVAL=0.1)
    words = command("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", **settings)
    code, written = on_terminal(words, rows, columns, tmp_path / "output")
    assert code == 0
    screen = Screen(rows, columns)
    pictures = list(screen.show(written))
    for lines in pictures:
        assert sum(text.startswith("Closest gap") for text in lines) <= 1
        assert sum(text.startswith("Pages  ") for text in lines) <= 1
    whole = [lines for lines in pictures if any(text.startswith("Limited by") for text in lines)]
    assert whole
    assert any(re.search(r"^\d\d:\d\d:\d\d INFO This was ", text) for lines in whole for text in lines)
    left = "".join((*screen.scrolled, *pictures[-1]))
    assert "Closest gap" not in left
    assert "This was" not in left
    assert SPELLED in left  # warnings are printed again, in full
    assert left.count("nothing happened") == 1
    assert screen.has_cursor
    assert "60 pages" in (tmp_path / "output").read_text()


@pytest.mark.crawl
def test_log_lines_are_escaped_and_a_page_cannot_forge_one(served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl", COMMIT_STEP_HOOK=HOOK, CRAWL_MAX_PAGES=5)
    result = scrapy("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", **settings)
    assert result.returncode == 0
    assert SPELLED in result.stderr
    assert "\n  1970-01-01 00:00:00 [crawler] INFO: nothing happened \\u202egnp\n" in result.stderr
    assert result.stderr.replace("\n", "").isprintable()


@pytest.mark.crawl
def test_several_workers_on_a_terminal_have_a_line_each_and_their_output_is_escaped(
    served: Served, tmp_path: Path
) -> None:
    settings = polite_to(served, tmp_path / "crawl", COMMIT_STEP_HOOK=HOOK, POLITENESS_MIN_DELAY=0.3)
    words = command("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", "--workers", "2", **settings)
    code, written = on_terminal(words, 30, 200, tmp_path / "output")
    assert code == 0
    screen = Screen(30, 200)
    pictures = list(screen.show(written))
    assert any(re.match(r"2 workers: \d+ pages \(", text) for lines in pictures for text in lines)
    assert any(text.startswith("  worker 1 (process ") for lines in pictures for text in lines)
    left = "".join((*screen.scrolled, *pictures[-1]))
    assert re.search(r"\[[12]\] \S+ \S+ \[strangers\] WARNING: " + re.escape(SPELLED), left)
    assert "worker 1 (process" not in left
    assert screen.has_cursor
    assert "60 pages" in (tmp_path / "output").read_text()
