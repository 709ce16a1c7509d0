"""Seeds from the argument of a spider: a file, or URLs with commas between."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from crawler.engine.seeds import seeds_of_argument
from crawler.errors import BadInput
from crawler.worker.seeds import with_scheme
from tests.defaults import DEFAULTS

POLICY = DEFAULTS.urls.new_policy()


def urls_of(text: str) -> list[str]:
    return [seed.url for seed in seeds_of_argument(text, POLICY.canonicalize)]


def test_a_file_and_a_list_are_read(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text("http://a.test/\n# not this\nhttp://b.test/\n")
    assert urls_of(str(path)) == urls_of("http://a.test/,http://b.test/") == ["http://a.test/", "http://b.test/"]
    assert urls_of("") == []


def test_a_list_that_is_longer_than_any_name_of_a_file_is_read() -> None:
    assert len(urls_of(",".join(f"http://a.test/{number}" for number in range(1_000)))) == 1_000


@pytest.mark.parametrize(
    ("text", "meant"),
    [("nothing", None), ("example.org", "https://example.org/"), ("localhost:8080/x", "https://localhost:8080/x")],
)
def test_what_is_neither_is_refused_with_the_url_that_was_meant(text: str, meant: str | None) -> None:
    with pytest.raises(BadInput, match="there is no such file") as caught:
        urls_of(text)
    assert (meant in str(caught.value)) if meant else ("Did you mean" not in str(caught.value))


def test_a_scheme_can_be_guessed() -> None:
    found = seeds_of_argument("example.org,http://a.test/,localhost:8080/x", with_scheme(POLICY.canonicalize))
    assert [seed.url for seed in found] == ["https://example.org/", "http://a.test/", "https://localhost:8080/x"]


@pytest.mark.parametrize("start", [b"\x1f\x8b\x08", b"%PDF-1.4", b"PK\x03\x04", b"\xff\xfeh\0", b"\x7fELF"])
def test_a_binary_file_is_refused_in_one_line(start: bytes, tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_bytes(start + bytes(2000) + bytes(range(256)) * 100)
    with pytest.raises(BadInput) as caught:
        urls_of(str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value).splitlines()) == 1


def test_seeds_can_come_from_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("http://a.test/\n",))
    writer.start()
    found = list(seeds_of_argument(str(tmp_path / "pipe"), DEFAULTS.urls.new_policy().canonicalize))
    writer.join()
    assert [seed.url for seed in found] == ["http://a.test/"]
