"""What stops a crawl: our disk, our settings, our input. The web is never an exception.

CrawlError
├── BadInput          65  a file that a person gave us
├── StoreUnreachable  69  the store cannot be opened or read
├── DiskTrouble       74  writing failed
├── AlreadyRunning    75  another crawl holds the directory
└── Misconfigured     78  a setting cannot be obeyed
"""

from __future__ import annotations

FINISHED_BADLY = 3  # exit code of a crawl that came to its end, but our own code failed on too many visits


class CrawlError(Exception):
    """Says what, where, what was kept and what to do, and carries the exit code of the command."""

    exit_code = 1


class BadInput(CrawlError):
    exit_code = 65


class StoreUnreachable(CrawlError):
    exit_code = 69


class NoCrawl(StoreUnreachable):
    """There is none yet."""


class DiskTrouble(CrawlError):
    exit_code = 74


class AlreadyRunning(CrawlError):
    exit_code = 75


class Misconfigured(CrawlError):
    exit_code = 78
