"""Seeds from the argument of a spider: a file, or URLs with commas between."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.engine.seeds import seeds_of_argument
from crawler.errors import BadInput
from tests.defaults import DEFAULTS

POLICY = DEFAULTS.urls.new_policy()


def urls_of(text: str) -> list[str]:
    return [seed.url for seed in seeds_of_argument(text, POLICY)]


def test_a_file_and_a_list_are_read(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text("http://a.test/\n# not this\nhttp://b.test/\n")
    assert urls_of(str(path)) == urls_of("http://a.test/,http://b.test/") == ["http://a.test/", "http://b.test/"]
    assert urls_of("") == []


def test_a_list_that_is_longer_than_any_name_of_a_file_is_read() -> None:
    assert len(urls_of(",".join(f"http://a.test/{number}" for number in range(1_000)))) == 1_000


def test_what_is_neither_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput, match="neither a file nor URLs"):
        urls_of("nothing.txt")
    assert "nothing.txt" in capsys.readouterr().err
