"""A slot has one holder, and remembers whether it ended well."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawler.errors import AlreadyRunning
from crawler.worker.slots import SlotLock, already_running, free_slots
from tests.samples import NOW

ROOT = Path(__file__).resolve().parents[2]
HOLD = """
import sys
from pathlib import Path
from crawler.worker.slots import SlotLock
lock = SlotLock.take(Path(sys.argv[1]), int(sys.argv[2]))
lock.sign(1_000_000.0)
print("held", flush=True)
sys.stdin.readline()
lock.release()
"""


@contextmanager
def held_by_another(directory: Path, number: int) -> Iterator[subprocess.Popen[str]]:
    """Start a process that holds a slot until it reads a line, or is killed."""
    command = [sys.executable, "-c", HOLD, str(directory), str(number)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def taken(directory: Path, number: int = 0) -> SlotLock:
    lock = SlotLock.take(directory, number)
    assert lock is not None
    return lock


def test_a_slot_is_taken_once_even_in_one_process(tmp_path: Path) -> None:
    first = taken(tmp_path / "workers")
    assert first.number == 0
    assert SlotLock.take(tmp_path / "workers", 0) is None
    other = taken(tmp_path / "workers", 1)
    first.release()
    other.release()
    taken(tmp_path / "workers").release()


def test_a_slot_of_a_living_process_cannot_be_taken(tmp_path: Path) -> None:
    with held_by_another(tmp_path, 3) as process:
        assert SlotLock.take(tmp_path, 3) is None
        process.communicate("end\n")
    lock = taken(tmp_path, 3)
    assert not lock.was_unclean
    lock.release()


def test_a_killed_process_frees_its_slot_and_was_unclean(tmp_path: Path) -> None:
    with held_by_another(tmp_path, 3) as process:
        process.kill()
        process.wait()
        lock = taken(tmp_path, 3)
        assert lock.was_unclean
        lock.release()
    again = taken(tmp_path, 3)
    assert not again.was_unclean
    again.release()


def test_a_new_slot_and_one_that_was_never_signed_are_clean(tmp_path: Path) -> None:
    for _ in range(2):
        lock = taken(tmp_path)
        assert not lock.was_unclean
        lock.drop()


def test_a_slot_that_is_dropped_stays_unclean_for_its_next_holder(tmp_path: Path) -> None:
    lock = taken(tmp_path)
    lock.sign(NOW)
    lock.drop()
    for _ in range(2):
        lock = taken(tmp_path)
        assert lock.was_unclean
        lock.drop()


def test_trying_a_slot_leaves_its_holder_and_its_lock_file_alone(tmp_path: Path) -> None:
    with held_by_another(tmp_path, 0):
        before = (tmp_path / "0.lock").read_text()
        assert SlotLock.take(tmp_path, 0) is None
        assert (tmp_path / "0.lock").read_text() == before != ""
        assert SlotLock.take(tmp_path, 0) is None


def test_the_message_says_who_is_running_and_since_when(tmp_path: Path) -> None:
    workers = tmp_path / "workers"
    with held_by_another(workers, 0) as process:
        error = already_running(workers)
    assert isinstance(error, AlreadyRunning)
    assert error.exit_code == 75
    assert str(error).startswith(
        f"{tmp_path}: a crawl is already running here (process {process.pid}, since 1970-01-12"
    )
    assert "Nothing was changed" in str(error)


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", '{"pid": 1, "since": "x"}', '"x"'])
def test_an_unreadable_lock_file_names_another_process(tmp_path: Path, text: str) -> None:
    (tmp_path / "0.lock").write_text(text)
    assert "(another process)" in str(already_running(tmp_path))
    assert "(another process)" in str(already_running(tmp_path, 1))


def test_free_slots_are_those_of_others_whose_process_is_gone(tmp_path: Path) -> None:
    assert list(free_slots(tmp_path, but=0)) == []
    mine, clean, dead = (taken(tmp_path, number) for number in (0, 1, 2))
    dead.sign(NOW)
    dead.drop()
    clean.release()
    (tmp_path / "notes.lock").write_text("not a slot")
    with held_by_another(tmp_path, 7):
        free = list(free_slots(tmp_path, but=0))
        assert [(lock.number, lock.was_unclean) for lock in free] == [(1, False), (2, True)]
        assert list(free_slots(tmp_path, but=0)) == []  # they are held now
        for lock in free:
            lock.release()
    mine.release()
