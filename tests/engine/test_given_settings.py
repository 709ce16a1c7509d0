"""Settings that are misspelled are refused with what was meant; the file of a crawl lies between -s and the project."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings
from scrapy.utils.project import ENVVAR

from crawler.engine import given_settings as module
from crawler.engine.given_settings import apply_given, nearest_name
from crawler.errors import Misconfigured


@pytest.fixture(autouse=True)
def our_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVVAR, "crawler.settings")
    module.known_names.cache_clear()


def settings(directory: Path, **given: Any) -> Settings:
    made = Settings()
    made.setmodule("crawler.settings")
    made.update({"CRAWL_DIR": str(directory)} | given, priority="cmdline")
    return made


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("CRAWLDIR", "CRAWL_DIR"),
        ("crawl_dir", "CRAWL_DIR"),
        ("CRAWL_DIRECTORY", "CRAWL_DIR"),
        ("POLITENES_MIN_DELAY", "POLITENESS_MIN_DELAY"),
        ("MAX_PAGES", "CRAWL_MAX_PAGES"),
        ("OWN_HOST", "OWN_HOSTS"),
        ("CONTACTS", "CONTACT"),
        ("USER_AGNT", "USER_AGENT"),  # one of Scrapy's
        ("URL_IGNORE", "URL_INCLUDE"),  # begins as ours do
        *[(name, None) for name in ("MONGO_URI", "REDIS_URL", "SENTRY_DSN", "ZYTE_API_KEY", "DELTAFETCH_ENABLED")],
    ],
)
def test_the_name_that_was_probably_meant(name: str, meant: str | None, tmp_path: Path) -> None:
    assert nearest_name(name) == meant
    if meant is not None:
        with pytest.raises(Misconfigured, match=rf"-s {name}: .* Did you mean {meant}\?"):
            apply_given(settings(tmp_path, **{name: 1}))


def test_names_that_are_like_no_other_are_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    apply_given(settings(tmp_path, MONGO_URI="x", CRAWL_MAX_PAGES=3, LOG_FILE="x"))
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert "-s MONGO_URI" in told[0]


def test_settings_of_scrapys_downloader_are_answered_with_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apply_given(settings(tmp_path, DOWNLOAD_DELAY=2, USER_AGENT="x"))
    told = capsys.readouterr().err
    assert "POLITENESS_MIN_DELAY" in told
    assert "CONTACT" in told
    for name, instead in module._NOT_USED.items():
        assert {name, instead} <= module.known_names()


def test_in_another_project_they_are_warnings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shop_of_mine.py").write_text("CRAWL_SHOP = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(ENVVAR, "shop_of_mine")
    module.known_names.cache_clear()
    apply_given(settings(tmp_path, CRAWLDIR="x", CRAWL_SHOP=2))
    assert "did you mean CRAWL_DIR?" in capsys.readouterr().err


def test_the_file_of_a_crawl_lies_between_the_command_line_and_the_rest(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text(
        'SCOPE = "hosts"\nPOLITENESS_MIN_DELAY = 7\nOWN_HOSTS = ["a.test", "b.test"]\nBUDGET_HOST = 5\n'
    )
    given = settings(tmp_path, BUDGET_HOST=9)
    given.set("POLITENESS_MIN_DELAY", 20, priority="spider")
    apply_given(given)
    found = [given[name] for name in ("SCOPE", "POLITENESS_MIN_DELAY", "OWN_HOSTS", "BUDGET_HOST")]
    assert found == ["hosts", 7, ["a.test", "b.test"], 9]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('SCOP = "hosts"', "SCOP: there is no such setting. Did you mean SCOPE?"),
        ("SCOPE = hosts", "not a TOML file"),
        ('[SCOPE]\nmode = "hosts"', "is a table"),
        ('CRAWL_DIR = "elsewhere"', "CRAWL_DIR cannot be set here"),
        ('TWISTED_REACTOR = "other"', "TWISTED_REACTOR cannot be set here"),
        ("\xff", "not a TOML file"),
        ("CONTACT = 5", "CONTACT = 5 must be a text"),
        ("OWN_HOSTS = [1, 2]", "OWN_HOSTS = [1, 2] must be a text"),
        ("CRAWL_MAX_PAGES = true", "CRAWL_MAX_PAGES = True must be a number"),
        ("SITEMAPS = 1", "SITEMAPS = 1 must be true or false"),
        ('SEEDS = "my.txt"', "-a seeds="),
        ('LOG_LEVEL = "LOUD"', "must be one of DEBUG"),
        ("ITEM_PIPELINES = 3", "must be a JSON object"),
        ('LOG_FILE = "/nowhere/x.log"', "a directory that there is"),
        ('LOG_FORMATTER = "x.y"', "the path of a class"),
    ],
)
def test_what_is_wrong_in_the_file_is_named(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text(text, encoding="latin-1")
    with pytest.raises(Misconfigured) as caught:
        apply_given(settings(tmp_path))
    assert str(tmp_path / "crawl.toml") in str(caught.value)
    assert said in str(caught.value)


def test_the_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(module).failed == 0
