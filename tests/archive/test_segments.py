"""Segment files survive kills and full disks: append, commit, undo and recovery."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from crawler.archive.records import visit_records
from crawler.archive.segments import OPEN, SegmentWriter, recover
from crawler.errors import DiskTrouble
from crawler.items import WarcRecord
from tests.samples import NOW, answer, link, visit_to

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class SegmentRow:
    """The store's row of a segment file."""

    name: str
    length: int
    closed: bool = False


def writer_in(
    directory: Path, *, slot: int = 0, max_bytes: int = 10**9, step: Callable[[str], None] = lambda name: None
) -> SegmentWriter:
    return SegmentWriter(
        directory, prefix="t", slot=slot, max_bytes=max_bytes, now=lambda: NOW, facts=[("software", "test")], step=step
    )


def some_records(url: str = "http://a.test/") -> list[WarcRecord]:
    return visit_records(visit_to(url), answer(url), [link("http://b.test/")])


def write_and_commit(writer: SegmentWriter, records: list[WarcRecord]) -> list[tuple[int, int]]:
    places = writer.append(records)
    writer.sync()
    writer.committed()
    return places


def read_kinds(path: Path) -> list[str]:
    """Return the record types that an independent reader finds; it must find the file valid."""
    with path.open("rb") as stream:
        kinds = []
        for record in ArchiveIterator(stream, check_digests="raise"):
            record.raw_stream.read()
            kinds.append(record.rec_type)
        return kinds


VISIT = ["request", "response", "metadata"]


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


# ── writing ──


def test_a_file_begins_with_what_made_it_and_gets_its_name_when_it_ends(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    assert (writer.name, writer.length, contents(tmp_path)) == ("", 0, {})
    write_and_commit(writer, some_records())
    assert writer.name == "t-000-00001.warc.gz"
    assert list(contents(tmp_path)) == [writer.name + OPEN]
    assert writer.finish() == "t-000-00001.warc.gz"
    assert list(contents(tmp_path)) == ["t-000-00001.warc.gz"]
    assert read_kinds(tmp_path / "t-000-00001.warc.gz") == ["warcinfo", *VISIT]
    assert (writer.name, writer.length, writer.records) == ("", 0, 0)


def test_append_returns_the_offsets_of_the_records(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    first, second = some_records(), some_records("http://a.test/b")
    places = write_and_commit(writer, first) + write_and_commit(writer, second)
    data = (tmp_path / (writer.name + OPEN)).read_bytes()
    assert [data[offset : offset + length] for offset, length in places] == [record.data for record in first + second]
    assert (writer.length, writer.records) == (len(data), 7)
    writer.finish()


def test_files_are_numbered_and_named_after_their_slot(tmp_path: Path) -> None:
    writer = writer_in(tmp_path, slot=12)
    for _ in range(2):
        write_and_commit(writer, some_records())
        writer.finish()
    assert sorted(contents(tmp_path)) == ["t-012-00001.warc.gz", "t-012-00002.warc.gz"]


def test_a_file_is_full_when_it_is_long_enough(tmp_path: Path) -> None:
    writer = writer_in(tmp_path, max_bytes=1_000)
    assert not writer.is_full
    while writer.length < 1_000:
        assert not writer.is_full
        writer.append(some_records())
    assert writer.is_full
    writer.finish()
    assert not writer.is_full


def test_synced_bytes_are_in_the_file(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    writer.sync()  # without a file there is nothing to do
    writer.append(some_records())
    writer.sync()
    assert (tmp_path / (writer.name + OPEN)).stat().st_size == writer.length
    writer.finish()


def test_what_was_not_committed_can_be_undone(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    writer.undo()  # without a file there is nothing to do
    write_and_commit(writer, some_records())
    committed = (writer.length, writer.records)
    writer.append(some_records("http://a.test/undone"))
    writer.sync()
    writer.undo()
    assert (writer.length, writer.records) == committed
    (offset, _), *_ = write_and_commit(writer, some_records("http://a.test/c"))
    assert offset == committed[0]
    name = writer.finish()
    assert read_kinds(tmp_path / name) == ["warcinfo", *VISIT, *VISIT]


def test_undoing_before_the_first_commit_leaves_a_valid_file(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    writer.append(some_records())
    writer.undo()
    assert writer.records == 1
    warcinfo = writer.length
    (offset, _), *_ = write_and_commit(writer, some_records())
    assert offset == warcinfo
    assert read_kinds(tmp_path / writer.finish()) == ["warcinfo", *VISIT]


def test_a_length_that_may_be_committed_is_in_the_file_after_an_undo(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    writer.append(some_records())
    writer.sync()
    writer.undo()
    writer.sync()
    assert (tmp_path / (writer.name + OPEN)).stat().st_size == writer.length
    writer.finish()


def test_a_file_with_nothing_committed_leaves_nothing(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    assert writer.finish() == ""
    writer.append(some_records())
    writer.finish()
    assert contents(tmp_path) == {}


def test_ending_cuts_off_what_was_not_committed(tmp_path: Path) -> None:
    writer = writer_in(tmp_path)
    write_and_commit(writer, some_records())
    length = writer.length
    writer.append(some_records())
    path = tmp_path / writer.finish()
    assert path.stat().st_size == length
    assert read_kinds(path) == ["warcinfo", *VISIT]


def test_the_step_callback_is_called_before_and_after_the_rename(tmp_path: Path) -> None:
    steps: list[tuple[str, list[str]]] = []
    writer = writer_in(tmp_path, step=lambda step: steps.append((step, list(contents(tmp_path)))))
    write_and_commit(writer, some_records())
    name = writer.finish()
    assert steps == [("before rename", [name + OPEN]), ("after rename", [name])]


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(st.sampled_from(["append", "commit", "undo", "finish"]), max_size=12))
def test_whatever_happens_the_files_hold_exactly_what_was_committed(
    acts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("warc")
    writer = writer_in(directory)
    committed: dict[str, int] = {}
    waiting = 0
    for act in [*acts, "finish"]:
        if act == "append":
            writer.append(some_records())
            waiting += 1
        elif act == "commit" and writer.name:
            writer.sync()
            writer.committed()
            committed[writer.name] = committed.get(writer.name, 0) + waiting
            waiting = 0
        elif act == "undo":
            writer.undo()
            waiting = 0
        elif act == "finish":
            writer.finish()
            waiting = 0
    assert {path.name: read_kinds(path) for path in directory.iterdir()} == {
        name: ["warcinfo", *VISIT * count] for name, count in committed.items()
    }


# ── recovery ──


def killed_writer(directory: Path, *, slot: int = 0) -> SegmentRow:
    """Leave the file of a worker that died with bytes beyond the committed length in it."""
    writer = writer_in(directory, slot=slot)
    write_and_commit(writer, some_records())
    known = SegmentRow(writer.name, writer.length)
    name = writer.finish()
    path = (directory / name).rename(directory / (name + OPEN))
    with path.open("ab") as file:
        file.write(b"".join(record.data for record in some_records())[:-7])
    return known


def test_a_torn_tail_is_cut_off_and_the_rename_finished(tmp_path: Path) -> None:
    known = killed_writer(tmp_path)
    beyond = (tmp_path / (known.name + OPEN)).stat().st_size - known.length
    assert recover(tmp_path, 0, [known]) == ([known.name], beyond)
    assert list(contents(tmp_path)) == [known.name]
    assert read_kinds(tmp_path / known.name) == ["warcinfo", *VISIT]


def test_a_renamed_file_only_needs_to_be_closed(tmp_path: Path) -> None:
    known = killed_writer(tmp_path)
    recover(tmp_path, 0, [known])
    before = contents(tmp_path)
    assert recover(tmp_path, 0, [known]) == ([known.name], 0)
    assert recover(tmp_path, 0, [SegmentRow(known.name, known.length, closed=True)]) == ([], 0)
    assert contents(tmp_path) == before


def test_a_file_that_the_store_does_not_know_is_removed(tmp_path: Path) -> None:
    path = tmp_path / f"t-000-00007.warc.gz{OPEN}"
    path.write_bytes(b"never acknowledged")
    assert recover(tmp_path, 0, []) == ([], 18)
    assert contents(tmp_path) == {}


def test_an_empty_directory_needs_nothing(tmp_path: Path) -> None:
    assert recover(tmp_path, 0, []) == ([], 0)


@pytest.mark.parametrize("suffix", [OPEN, ""])
def test_acknowledged_bytes_that_are_missing_stop_everything(tmp_path: Path, suffix: str) -> None:
    known = killed_writer(tmp_path)
    path = (tmp_path / (known.name + OPEN)).rename(tmp_path / (known.name + suffix))
    path.write_bytes(path.read_bytes()[: known.length - 10])
    before = contents(tmp_path)
    with pytest.raises(DiskTrouble, match=rf"{known.name}.*: 10 bytes that were acknowledged are missing"):
        recover(tmp_path, 0, [known])
    assert contents(tmp_path) == before


def test_a_file_that_is_missing_stops_everything(tmp_path: Path) -> None:
    with pytest.raises(DiskTrouble, match="100 bytes that were acknowledged are missing"):
        recover(tmp_path, 0, [SegmentRow("t-000-00001.warc.gz", 100)])
    assert contents(tmp_path) == {}


def test_what_is_missing_in_one_file_leaves_all_others_as_they_are(tmp_path: Path) -> None:
    torn = killed_writer(tmp_path)
    (tmp_path / f"t-000-00008.warc.gz{OPEN}").write_bytes(b"unknown")
    (tmp_path / f"t-000-00009.warc.gz{OPEN}").write_bytes(b"short")
    before = contents(tmp_path)
    with pytest.raises(DiskTrouble, match="Nothing was changed"):
        recover(tmp_path, 0, [torn, SegmentRow("t-000-00009.warc.gz", 100)])
    assert contents(tmp_path) == before


def test_files_of_other_slots_and_ended_ones_are_never_touched(tmp_path: Path) -> None:
    living = [killed_writer(tmp_path, slot=slot) for slot in (1, 10, 100)]
    (tmp_path / "t-000-00001.warc.gz").write_bytes(b"ended long ago")
    before = contents(tmp_path)
    assert recover(tmp_path, 0, [SegmentRow("t-000-00001.warc.gz", 14, closed=True)]) == ([], 0)
    assert contents(tmp_path) == before
    assert recover(tmp_path, 1, living[:1])[0] == [living[0].name]
    after = contents(tmp_path)
    assert {name: data for name, data in before.items() if "-001-" not in name}.items() <= after.items()


@settings(deadline=None, max_examples=30)
@given(beyond=st.binary(max_size=200), renamed=st.booleans())
def test_recovering_twice_is_recovering_once(
    beyond: bytes, renamed: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("warc")
    known = SegmentRow("t-000-00001.warc.gz", 50)
    (directory / (known.name + ("" if renamed else OPEN))).write_bytes(b"x" * 50 + beyond)
    recover(directory, 0, [known])
    once = contents(directory)
    assert once == {known.name: b"x" * 50}
    assert recover(directory, 0, [known]) == ([known.name], 0)
    assert contents(directory) == once


# ── trouble with the disk ──


def test_a_missing_directory_gives_a_clear_error(tmp_path: Path) -> None:
    writer = writer_in(tmp_path / "gone")
    with pytest.raises(DiskTrouble, match=r"gone.*: writing the archive failed \(No such file or directory\)\. What"):
        writer.append(some_records())
    assert writer.name == ""


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / f"t-000-00001.warc.gz{OPEN}").write_bytes(b"of somebody else")
    with pytest.raises(DiskTrouble, match="File exists"):
        writer_in(tmp_path).append(some_records())
    assert (tmp_path / f"t-000-00001.warc.gz{OPEN}").read_bytes() == b"of somebody else"


# A process that may not write more than 20,000 bytes to a file: the effect of a full disk, without one.
FULL_DISK = """
import os, resource, signal, sys
from pathlib import Path
from crawler.errors import DiskTrouble
from crawler.items import WarcRecord
from tests.archive.test_segments import some_records, write_and_commit, writer_in

writer = writer_in(Path(sys.argv[1]))
write_and_commit(writer, some_records())
print(writer.length, flush=True)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
try:
    writer.append([WarcRecord(type="response", id="", data=os.urandom(size)) for size in map(int, sys.argv[3:])])
    writer.sync()
except DiskTrouble as error:
    print(error, flush=True)
if sys.argv[2] == "undo":
    writer.undo()
    print(writer.length, flush=True)
os._exit(0)  # as a kill would
"""


def on_a_full_disk(directory: Path, then: str, sizes: list[int]) -> tuple[int, str, list[str]]:
    command = [sys.executable, "-c", FULL_DISK, str(directory), then, *map(str, sizes)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    committed, message, *more = result.stdout.splitlines()
    return int(committed), message, more


disks_fill_with = pytest.mark.parametrize(
    "sizes", [[300] * 100, [90_000], [7_000, 7_000, 90_000]], ids=["small", "big", "both"]
)


@disks_fill_with
def test_a_full_disk_gives_a_clear_error_and_the_next_start_cuts_the_file(tmp_path: Path, sizes: list[int]) -> None:
    committed, message, _ = on_a_full_disk(tmp_path, "die", sizes)
    assert "writing the archive failed (File too large). What was committed is kept; check the disk" in message
    (path,) = tmp_path.iterdir()
    assert path.stat().st_size > committed
    known = SegmentRow(path.name.removesuffix(OPEN), committed)
    recover(tmp_path, 0, [known])
    assert read_kinds(tmp_path / known.name) == ["warcinfo", *VISIT]


@disks_fill_with
def test_the_file_can_be_cut_back_while_the_disk_is_full(tmp_path: Path, sizes: list[int]) -> None:
    committed, _, (length,) = on_a_full_disk(tmp_path, "undo", sizes)
    (path,) = tmp_path.iterdir()
    assert int(length) == path.stat().st_size == committed
    assert read_kinds(path) == ["warcinfo", *VISIT]
