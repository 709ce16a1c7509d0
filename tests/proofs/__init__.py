"""Whole crawls judged from outside: by the server's log, by the files that are left, by readers that are not ours."""
