"""Seeds come from files line by line, and bad lines are reported by number."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import BadInput
from crawler.items import Reason
from crawler.stores.contract.urls import NewUrl
from crawler.urls.keys import key_of
from crawler.worker import seeds
from crawler.worker.seeds import MAX_LINE, BadSeed, read_seeds, seeds_in


def urls_or_lines(found: Iterator[NewUrl | BadSeed]) -> list[str]:
    """Return each seed as its URL, or as the number of its bad line."""
    return [each.url if isinstance(each, NewUrl) else f"line {each.number}" for each in found]


def read(tmp_path: Path, content: bytes) -> list[str]:
    path = tmp_path / "seeds.txt"
    path.write_bytes(content)
    return urls_or_lines(read_seeds(str(path)))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"http://a.test", ["http://a.test/"]),
        (b"http://a.test/\n\n# comment\n  # another\n\t http://b.test/ \n", ["http://a.test/", "http://b.test/"]),
        (b"http://a.test/\r\nhttp://b.test/\r\n\r\n", ["http://a.test/", "http://b.test/"]),
        (b"\xef\xbb\xbfhttp://a.test/\nhttp://b.test/\n", ["http://a.test/", "http://b.test/"]),
        (b"\xef\xbb\xbf# comment\nhttp://b.test/\n", ["http://b.test/"]),
        (b"http://a.test/\n\xef\xbb\xbfhttp://b.test/\n", ["http://a.test/", "line 2"]),
        (b"HTTP://A.test:80/%7eb#c\n", ["http://a.test/~b"]),
        ("http://a.test/größe\n".encode(), ["http://a.test/gr%C3%B6%C3%9Fe"]),
        (b"\nnonsense\nmailto:a@a.test\n/relative\nhttp://a.test/\n", ["line 2", "line 3", "line 4", "http://a.test/"]),
        (b"http://a.test/\xff\xfe\n", ["http://a.test/%EF%BF%BD%EF%BF%BD"]),
        (b"http://a.test/#\n", ["http://a.test/"]),
    ],
)
def test_lines_of_a_file(tmp_path: Path, content: bytes, expected: list[str]) -> None:
    assert read(tmp_path, content) == expected


def test_a_seed_is_a_new_url(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("http://a.test/\n")
    assert list(read_seeds(str(tmp_path / "s"))) == [
        NewUrl(key=key_of("http://a.test/"), url="http://a.test/", reason=Reason.SEED)
    ]


@pytest.mark.parametrize("length", [MAX_LINE - 1, MAX_LINE, MAX_LINE + 1, 5 * MAX_LINE, 5 * MAX_LINE + 1])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_line_that_is_too_long_is_one_bad_line(tmp_path: Path, length: int, end: bytes) -> None:
    line = b"http://a.test/".ljust(length, b"x")
    *found, last = read(tmp_path, b"http://first.test/\n" + line + end + (b"http://last.test/\n" if end else b""))
    if end:
        assert last == "http://last.test/"
    else:
        found.append(last)
    is_whole = len(line + end) <= MAX_LINE
    assert found == ["http://first.test/", line.decode() if is_whole else "line 2"]


def test_a_comment_may_have_any_length(tmp_path: Path) -> None:
    assert read(tmp_path, b"#" + b" http://a.test/" * MAX_LINE + b"\nhttp://b.test/\n") == ["http://b.test/"]


def test_a_bad_line_is_named_by_file_and_number_and_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_text("http://a.test/\nnon\x1bsense" + "x" * 200)
    _, bad = read_seeds(str(path))
    assert isinstance(bad, BadSeed)
    assert str(bad).startswith(f"{path}:2: not a URL that can be crawled: 'non\\x1bsense")
    assert len(str(bad)) < len(str(path)) + 150
    assert str(bad).isprintable()


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_file_that_cannot_be_read_is_bad_input(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=r"cannot be read \(.*\)\. Nothing was seeded from it\.$"):
        list(read_seeds(str(tmp_path / name)))


def test_a_file_is_read_no_further_than_needed(tmp_path: Path) -> None:
    path = tmp_path / "endless"
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR)  # as long as this is open the pipe has no end: reading on would wait for ever
    try:
        os.write(pipe, b"http://a.test/\nhttp://b.test/\n")
        seeds = read_seeds(str(path))
        assert urls_or_lines(islice(seeds, 2)) == ["http://a.test/", "http://b.test/"]
        os.write(pipe, b"http://c.test/\n")
        assert urls_or_lines(islice(seeds, 1)) == ["http://c.test/"]
        seeds.close()  # type: ignore[attr-defined]
    finally:
        os.close(pipe)


def test_given_lines_are_read_one_at_a_time() -> None:
    taken = count()
    lines = (f"http://a.test/{number}" for number in taken)
    assert urls_or_lines(islice(seeds_in(lines, "here"), 3)) == [f"http://a.test/{number}" for number in range(3)]
    assert next(taken) == 3


def test_given_lines_follow_the_same_rules() -> None:
    found = list(seeds_in(["# no", "", "http://a.test/\r\n", "nonsense"], "here"))
    assert urls_or_lines(iter(found)) == ["http://a.test/", "line 4"]
    assert str(found[1]).startswith("here:4: ")


@given(lines=st.lists(st.binary(max_size=40), max_size=8))
def test_every_line_is_a_url_a_bad_line_or_nothing(
    lines: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("seeds") / "s"
    path.write_bytes(b"\n".join(lines))
    data = path.read_bytes()
    controls = sum((byte < 32 and byte not in b"\t\n\f\r") or byte == 127 for byte in data)
    if data.startswith(tuple(seeds._KINDS)) or controls > 8:
        with pytest.raises(BadInput):
            list(read_seeds(str(path)))
        return
    numbers = [each.number for each in read_seeds(str(path)) if isinstance(each, BadSeed)]
    assert numbers == sorted(set(numbers))
    assert all(1 <= number <= path.read_bytes().count(b"\n") + 1 for number in numbers)
