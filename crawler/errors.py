"""Errors that stop a command, with their exit codes. What a web server does is a value (`Outcome`), never an exception.

CrawlError
├── BadInput          65  an input file is malformed
├── StoreUnreachable  69  the store cannot be opened or read
├── DiskTrouble       74  writing failed
├── AlreadyRunning    75  another crawl has locked the directory
└── Misconfigured     78  a setting has an impossible value
"""

from __future__ import annotations

FINISHED_BADLY = 3  # exit code of a crawl that finished, but in which our own code failed on too many visits


class CrawlError(Exception):
    """An error that says what failed, where, what was kept and what to do; it carries the command's exit code."""

    exit_code = 1


class BadInput(CrawlError):
    exit_code = 65


class StoreUnreachable(CrawlError):
    exit_code = 69


class NoCrawl(StoreUnreachable):
    """The crawl directory holds no crawl yet."""


class DiskTrouble(CrawlError):
    exit_code = 74


class AlreadyRunning(CrawlError):
    exit_code = 75


class Misconfigured(CrawlError):
    exit_code = 78
