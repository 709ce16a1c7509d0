"""The settings of a run are told as they would be given, without passwords, and only where they matter."""

from __future__ import annotations

import doctest

from crawler.monitor import run_settings as module
from crawler.monitor import unreachable
from crawler.monitor.run_settings import settings_fact, settings_lines, settings_of_last_run


def test_the_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(module).failed == 0
    assert doctest.testmod(unreachable).failed == 0


def test_only_what_differs_is_told() -> None:
    facts = settings_fact({"SCOPE": "hosts", "OWN_HOSTS": "a.test,b.test", "BUDGET_HOST": "5", "CRAWL_DIR": "x"})
    defaults = {"SCOPE": "domains", "OWN_HOSTS": "", "BUDGET_HOST": 5.0, "CRAWL_DIR": "data/crawl"}
    lines = list(settings_lines(facts, defaults, {"SCOPE": "any", "OWN_HOSTS": ["a.test", "b.test"]}, "d/crawl.toml"))
    assert lines == [
        "settings of the last run: OWN_HOSTS=a.test,b.test SCOPE=hosts",
        "d/crawl.toml has SCOPE=any; the last run had hosts",
    ]


def test_a_crawl_of_a_version_that_kept_no_settings_tells_none() -> None:
    assert list(settings_lines({}, {"SCOPE": "domains"}, {"SCOPE": "any"}, "f")) == []
    assert settings_of_last_run({"settings": "broken"}) == settings_of_last_run({"settings": "[1]"}) == {}


def test_no_password_is_kept() -> None:
    facts = settings_fact({"STORE": "postgresql://me:secret@db.example/web", "PROXY_URL": "http://u:p@127.0.0.1:1"})
    assert "secret" not in facts["settings"]
    assert "u:p" not in facts["settings"]
