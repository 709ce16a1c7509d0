"""What is asked of the operating system beyond Python's portable functions, and what holds where it cannot answer.

All of it exists on Linux. Each function says what it returns or leaves undone on a system without the call.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import signal
import struct
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any, Final

from crawler.errors import DiskTrouble

STOPPED: Final = "T"  # by a signal; states of a process, as Linux abbreviates them
ENDED: Final = "Z"  # but its parent has not asked for the exit code yet
UNKNOWN: Final = "?"

_PR_SET_PDEATHSIG: Final = 1  # of prctl(2)
_LOOK_AT_PARENT_EVERY: Final = 1.0  # seconds
_FEWEST_FILES: Final = 1_024  # that are asked for


# ── processors, memory, limits ──


def usable_cores() -> int:
    """Return how many cores this process may use; where the system does not tell that, how many there are."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1


def cpu_seconds(*, of_children: bool = False) -> float:
    """Return the CPU time of this process, or of its children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN if of_children else resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_memory() -> int:
    """Return the largest resident memory that this process has had, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def resident_memory() -> int:
    """Return the resident memory of this process in bytes; where the system does not tell it, the peak."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return peak_memory()
    return pages * os.sysconf("SC_PAGE_SIZE")


def raise_open_files(wanted: int) -> int:
    """Raise the limit of open files up to a number, as far as the system allows; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    while max(soft, _FEWEST_FILES) < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (ValueError, OSError):  # some systems have a lower limit that they do not tell
            wanted //= 2
        else:
            return wanted
    return soft


def limit_resources(memory: int) -> list[str]:
    """Limit the address space of this process, and let it write no file; return what the system does not limit."""
    limits = {"memory": ("RLIMIT_AS", memory), "files": ("RLIMIT_FSIZE", 0), "core dumps": ("RLIMIT_CORE", 0)}
    return [what for what, (name, most) in limits.items() if not _set_limit(name, most, most)]


def limit_cpu(seconds: int) -> bool:
    """Have the system kill this process (SIGXCPU) after so much more CPU time; False if it cannot."""
    # The kernel counts from the start of the process.
    return _set_limit("RLIMIT_CPU", int(cpu_seconds()) + seconds + 1, resource.RLIM_INFINITY)


def _set_limit(name: str, soft: int, hard: int) -> bool:
    try:
        resource.setrlimit(getattr(resource, name), (soft, hard))
    except (AttributeError, ValueError, OSError):
        return False
    return True


# ── processes ──


def state_of(pid: int) -> str:
    """Return the state of a process, empty if there is none; where the system does not tell it, `UNKNOWN`."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:  # it is another user's
        pass
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return UNKNOWN
    return stat.rpartition(")")[2].split()[0]


def command_of(pid: int) -> str:
    """Return the command line of a process; empty if the system does not tell it."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    return b" ".join(words).decode("utf-8", "replace").strip()


def signal_when_parent_ends(number: signal.Signals) -> None:
    """Have this process get a signal when its parent dies.

    Where the system cannot do that, a thread looks every second whether the parent is still the same.
    """
    try:
        if ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number) == 0:
            return
    except (AttributeError, OSError):
        pass
    threading.Thread(target=_signal_without_parent, args=(os.getppid(), number), daemon=True).start()


def _signal_without_parent(parent: int, number: signal.Signals) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_AT_PARENT_EVERY)
    os.kill(os.getpid(), number)


# ── files ──


def lock_file(file: IO[Any], *, wait: bool = False) -> bool:
    """Lock an open file for this process, until it is closed; False if another process holds the lock.

    Raises `DiskTrouble` where files cannot be locked: two processes would write where only one may.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise DiskTrouble(
            f"{file.name}: the file system cannot lock files ({error.strerror}), so two crawls could write here at "
            "once. Nothing was changed; choose a directory on a local disk, or have the locks of the network drive "
            "turned on."
        ) from error
    return True


def reader_of_byte(file: IO[bytes], byte: int) -> int | None:
    """Return a process that has locked a byte of a file for reading, 0 if it cannot be seen from here; None if none has.

    A process that closes any file loses all its own locks (POSIX) on it: this is not for files that it works with.
    """
    query = struct.pack(_FLOCK, *_flock(fcntl.F_WRLCK, byte))
    kind, pid = _of_flock(struct.unpack(_FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, query)))
    return max(pid, 0) if kind == fcntl.F_RDLCK else None


# struct flock: on Linux type, whence, start, length, pid; on BSD and macOS start, length, pid, type, whence.
_IS_LINUX: Final = sys.platform == "linux"
_FLOCK: Final = "@hhqqi4x" if _IS_LINUX else "@qqihh"


def _flock(kind: int, byte: int) -> tuple[int, ...]:
    return (kind, os.SEEK_SET, byte, 1, 0) if _IS_LINUX else (byte, 1, 0, kind, os.SEEK_SET)


def _of_flock(fields: tuple[int, ...]) -> tuple[int, int]:
    """Return the type and the process of an answer."""
    return (fields[0], fields[4]) if _IS_LINUX else (fields[3], fields[2])
