"""What is asked of the operating system is right here, and has a sensible answer where a call is missing."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest

from crawler import system
from crawler.errors import DiskTrouble

SLEEPING = [sys.executable, "-c", "import sys; sys.stdin.read()"]


@contextmanager
def sleeping() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(SLEEPING, stdin=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take /proc away."""

    def refuse(path: Path, *args: Any, **kwargs: Any) -> NoReturn:
        assert str(path).startswith("/proc/")
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))

    monkeypatch.setattr(Path, "read_text", refuse)
    monkeypatch.setattr(Path, "read_bytes", refuse)


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    assert system.usable_cores() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    assert system.usable_cores() == os.cpu_count()


def test_memory_is_told_also_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1_000_000 < system.resident_memory() < 2 * system.peak_memory()  # the kernel counts the two apart
    without_proc(monkeypatch)
    peak = system.peak_memory()
    assert peak <= system.resident_memory() <= system.peak_memory()
    monkeypatch.setattr(sys, "platform", "darwin")  # which counts in bytes
    assert system.peak_memory() < 1 << 30


def test_cpu_time_of_children_is_apart() -> None:
    before = system.cpu_seconds(of_children=True)
    subprocess.run([sys.executable, "-c", "sum(range(1_000_000))"], check=True)
    assert system.cpu_seconds(of_children=True) > before
    assert system.cpu_seconds() > 0


def test_the_limit_of_open_files_rises_as_far_as_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {"soft": 256, "hard": resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda name: (limits["soft"], limits["hard"]))

    def set_limit(name: int, values: tuple[int, int]) -> None:
        if values[0] > 20_000:  # such as a limit of the kernel that getrlimit does not tell
            raise ValueError("current limit exceeds maximum limit")
        limits["soft"] = values[0]

    monkeypatch.setattr(resource, "setrlimit", set_limit)
    assert system.raise_open_files(65_536) == 16_384
    limits.update(soft=256, hard=5_000)
    assert system.raise_open_files(65_536) == 5_000
    assert system.raise_open_files(65_536) == 5_000  # it is there already
    limits.update(soft=256, hard=300)
    assert system.raise_open_files(65_536) == 256


def test_limits_that_the_system_does_not_have_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: int, values: tuple[int, int]) -> NoReturn:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert system.limit_resources(1 << 30) == ["memory", "files", "core dumps"]
    assert not system.limit_cpu(1)


def test_the_state_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with sleeping() as process:
        assert system.state_of(process.pid) not in ("", system.STOPPED, system.ENDED)
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED)
        assert system.state_of(process.pid) == system.STOPPED
        assert system.command_of(process.pid) == " ".join(SLEEPING)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert system.state_of(process.pid) == system.ENDED
        with monkeypatch.context() as patched:
            without_proc(patched)
            assert system.state_of(process.pid) == system.UNKNOWN
            assert system.command_of(process.pid) == ""
    assert system.state_of(process.pid) == ""


@pytest.mark.parametrize("has_prctl", [True, False])
def test_a_process_gets_a_signal_when_its_parent_dies(has_prctl: bool, tmp_path: Path) -> None:
    """The parent of the waiting process is a process that the test kills."""
    waiting = (
        "import ctypes, os, signal, sys, time\n"
        "from crawler import system\n"
        f"if not {has_prctl}: ctypes.CDLL = lambda name: object()\n"
        "system.signal_when_parent_ends(signal.SIGTERM)\n"
        f"open({str(tmp_path / 'ready')!r}, 'w').close()\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {waiting!r}])"
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.kill()
        assert process.stdout.read() == b""  # the end of the pipe: the orphan is dead, too


def test_a_lock_has_one_holder_until_its_file_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("ab") as first, path.open("ab") as second:
        assert system.lock_file(first)
        assert not system.lock_file(second)
        first.close()
        assert system.lock_file(second)


def test_a_file_system_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> NoReturn:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with (tmp_path / "lock").open("ab") as file, pytest.raises(DiskTrouble, match="lock: the file system cannot lock"):
        system.lock_file(file)


def test_a_lock_for_reading_is_found_with_its_process(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(10))
    program = (
        "import fcntl, sys\n"
        f"file = open({str(tmp_path / 'file')!r}, 'rb+')\n"
        "fcntl.lockf(file, fcntl.LOCK_SH, 1, 3)\n"
        "fcntl.lockf(file, fcntl.LOCK_EX, 1, 5)\n"
        "print('locked', flush=True)\n"
        "sys.stdin.read()\n"
    )
    words = [sys.executable, "-c", program]
    with (
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process,
        (tmp_path / "file").open("rb") as file,
    ):
        assert process.stdout is not None
        process.stdout.readline()
        found = [system.reader_of_byte(file, byte) for byte in range(10)]
        assert found == [None, None, None, process.pid, *[None] * 6]
        process.kill()
        process.wait()
        assert system.reader_of_byte(file, 3) is None
