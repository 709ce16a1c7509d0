"""Archived answers are read back by segment and offset."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from crawler.archive.reading import read_block, read_block_at
from crawler.archive.records import visit_records
from crawler.archive.segments import SegmentWriter
from crawler.errors import DiskTrouble
from tests.samples import NOW, answer, link, visit_to

URL = "http://a.test/"
BODY = b"\r\n\r\nbody\r\n\r\n"


@pytest.fixture
def writer(tmp_path: Path) -> SegmentWriter:
    return SegmentWriter(tmp_path, prefix="t", slot=0, max_bytes=10**9, now=lambda: NOW, facts=[])


def write(writer: SegmentWriter, body: bytes) -> list[tuple[int, int]]:
    places = writer.append(visit_records(visit_to(URL), answer(URL, body=body), []))
    writer.sync()
    writer.committed()
    return places


@pytest.mark.parametrize("body", [BODY, b"", bytes(range(256)), b"x" * 100_000])
def test_a_block_comes_back_as_it_was_whether_the_file_is_open_or_ended(
    writer: SegmentWriter, tmp_path: Path, body: bytes
) -> None:
    write(writer, b"another")
    request, response, _ = write(writer, body)
    name = writer.name
    for _ in range(2):
        assert read_block(tmp_path, name, *response) == answer(URL).head + body
        assert read_block(tmp_path, name, *request) == answer(URL).request
        writer.finish()


@pytest.mark.parametrize(("shift", "size"), [(1, None), (0, 20), (0, 0), (1_000_000, None)])
def test_an_offset_without_a_record_gives_a_clear_error(
    writer: SegmentWriter, tmp_path: Path, shift: int, size: int | None
) -> None:
    _, (offset, length), _ = write(writer, BODY)
    name = writer.finish()
    with pytest.raises(DiskTrouble, match=rf"{name}: no WARC record at byte {offset + shift} \("):
        read_block(tmp_path, name, offset + shift, length if size is None else size)


@pytest.mark.parametrize("links", [0, 1, 20_000])
def test_a_record_whose_length_is_not_known_is_read_to_its_end(
    writer: SegmentWriter, tmp_path: Path, links: int
) -> None:
    """Random addresses, so that the record is longer than one read."""
    chance = Random(7)
    found = [link(f"http://a.test/{chance.getrandbits(128):x}") for _ in range(links)]
    places = writer.append(visit_records(visit_to(URL), answer(URL, body=BODY), found))
    write(writer, b"another")
    (offset, length), name = places[2], writer.finish()
    block = read_block_at(tmp_path, name, offset)
    assert block == read_block(tmp_path, name, offset, length)
    assert block.count(b"outlink: http://a.test/") == links


@pytest.mark.parametrize("shift", [1, 1_000_000])
def test_without_a_record_at_an_offset_it_says_so(writer: SegmentWriter, tmp_path: Path, shift: int) -> None:
    write(writer, BODY)
    name = writer.finish()
    with pytest.raises(DiskTrouble, match=rf"{name}.*: no WARC record at byte {shift} \("):
        read_block_at(tmp_path, name, shift)


def test_a_record_that_was_cut_off_gives_a_clear_error(writer: SegmentWriter, tmp_path: Path) -> None:
    *_, (offset, _) = write(writer, BODY)
    path = tmp_path / writer.finish()
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DiskTrouble, match="the file ends within it"):
        read_block_at(tmp_path, path.name, offset)


def test_a_missing_file_gives_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(DiskTrouble, match=r"gone\.warc\.gz.*: no WARC record at byte 5 \(.*No such file"):
        read_block(tmp_path, "gone.warc.gz", 5, 10)
