"""A crawl on a terminal, and one whose log goes to a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.crawl.runner import command, polite_to, scrapy, seeds_file
from tests.extensions.screen import Screen, on_terminal
from tests.web.server import Served

pytestmark = pytest.mark.crawl

HOOK = "tests.extensions.hooks:say_a_title"
SPELLED = r"A page is called Free [red]prizes[/red] \x1b]0;mine\x07\x1b[2J\x9b31m"


@pytest.mark.parametrize(("rows", "columns"), [(24, 100), (12, 60)])
def test_a_terminal_shows_one_whole_picture_and_what_strangers_wrote_does_nothing_to_it(
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
    assert SPELLED in left  # warnings are told again, in full
    assert left.count("nothing happened") == 1
    assert screen.has_cursor
    assert "60 pages" in (tmp_path / "output").read_text()


def test_elsewhere_lines_of_the_log_are_harmless_and_begin_where_they_should(served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl", COMMIT_STEP_HOOK=HOOK, CRAWL_MAX_PAGES=5)
    result = scrapy("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", **settings)
    assert result.returncode == 0
    assert SPELLED in result.stderr
    assert "\n  1970-01-01 00:00:00 [crawler] INFO: nothing happened \\u202egnp\n" in result.stderr
    assert result.stderr.replace("\n", "").isprintable()
