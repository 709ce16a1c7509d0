"""Mistakes of newcomers: each ends with an exit code, and with the setting or command that helps."""

from __future__ import annotations

import gzip
import json
import os
import pty
import random
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import apsw
import pytest

from crawler.monitor.text import plural
from tests.crawl.pages import Pages, pages_served, seeds_of
from tests.crawl.runner import ROOT, command, rows, scrapy, started

pytestmark = pytest.mark.crawl

SITE: Pages = {"a.test": {"/": '<title>Top</title><a href="/one">1</a>', "/one": "<title>One</title>"}}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, object]:
    """A finished crawl with crawl.toml; returns the settings of its commands."""
    directory = tmp_path_factory.mktemp("crawled")
    with pages_served(SITE, directory) as (settings, _):
        port = settings.pop("port")
        assert scrapy("crawl", "web", "-a", f"seeds={seeds_of(SITE, port)}", **settings).returncode == 0
    (directory / "crawl" / "crawl.toml").write_text('SCOPE = "hosts"\n')
    return settings | {"root": f"http://a.test:{port}/"}


MISTAKES = [
    # words, settings, exit code, what the output names
    (["status"], {"CRAWLDIR": "x"}, 78, ["CRAWLDIR", "CRAWL_DIR"]),
    (["crawl", "web"], {"POLITENESS_DELAY": 1}, 78, ["POLITENESS_MIN_DELAY"]),
    (["crawl", "web"], {"MAX_PAGES": 1}, 78, ["CRAWL_MAX_PAGES"]),
    (["crawl", "web"], {"CONTACTS": "a@b.example"}, 78, ["CONTACT"]),
    (["search", "x"], {"URL_EXCLUDES": "x"}, 78, ["URL_EXCLUDE"]),
    (["crawl", "web"], {"CRAWL_MAX_PAGES": "many"}, 78, ["CRAWL_MAX_PAGES", "whole number"]),
    (["crawl", "web"], {"SCOPE": "host"}, 78, ["SCOPE", "hosts"]),
    (["crawl", "web"], {"URL_SKIP_ACTIONS": "maybe"}, 78, ["URL_SKIP_ACTIONS", "True or False"]),
    (["crawl", "web"], {"URL_EXCLUDE": "nowhere.txt"}, 78, ["URL_EXCLUDE", "nowhere.txt"]),
    (["crawl", "web"], {"POLITENESS_MIN_DELAY": 0.1}, 78, ["OWN_HOSTS"]),
    (["crawl", "web"], {"TWISTED_REACTOR_ENABLED": False}, 78, ["TWISTED_REACTOR_ENABLED"]),
    (["crawl", "web", "-a", "seed=x.txt"], {}, 2, ["seeds"]),
    (["crawl", "web", "-a", "url=x.txt"], {}, 2, ["url", "seeds"]),
    (["crawl"], {}, 2, ["name one spider", "web"]),
    (["crawl", "webb"], {}, 78, ["webb", "scrapy list"]),
    (["crawl", "web", "--workers", "0"], {}, 2, ["--workers"]),
    (["crawl", "web"], {}, 65, ["-a seeds=", "scrapy seed"]),
    (["crawl", "web", "-a", "seeds=nowhere.txt"], {}, 65, ["nowhere.txt", "no such file"]),
    (["crawl", "web", "-a", "seeds=example.org"], {}, 65, ["https://example.org/"]),
    (["crawl", "web", "-a", "seeds=https://example.org/"], {}, 78, ["CONTACT"]),
    (["crawl", "web", "-a", "seeds=http://127.0.0.1:9/"], {"CONTACT": "a@b.example", "CRAWL_HORIZON": 1}, 3,
     ["INTRANET_HOSTS=127.0.0.1", "INTRANET_NETWORKS=127.0.0.1/32"]),
    (["status"], {}, 69, ["scrapy seed", "scrapy crawl"]),
    (["status", "everything"], {}, 2, ["--host"]),
    (["search", "x"], {}, 69, ["scrapy crawl"]),
    (["export", "--to", "json"], {}, 2, ["jsonl"]),
    (["seed"], {}, 2, ["file"]),
    (["seed", "--all"], {}, 2, ["--now"]),
    (["seed", "nowhere.txt"], {}, 65, ["nowhere.txt"]),
    (["seed", "https://example.org/"], {}, 65, ["-a seeds=https://example.org/"]),
    (["crawl", "web", "--max-pages", "5"], {}, 2, ["--max-pages", "CRAWL_MAX_PAGES"]),
    (["crawl", "web", "--worker", "2", "--guess-schema"], {}, 2, ["--guess-scheme"]),
    (["crawl", "web"], {"CONTACT": "me"}, 78, ["CONTACT", "e-mail"]),
    (["crawl", "web"], {"SEEDS": "my.txt"}, 78, ["-a seeds="]),
    (["crawl", "web"], {"SPIDER_MODULES": "nowhere"}, 78, ["SPIDER_MODULES", "nowhere"]),
    (["crawl", "web", "--workers", "2"], {}, 65, ["-a seeds=", "scrapy seed"]),
    (["crawl", "web"], {"LOG_LEVEL": "LOUD"}, 78, ["LOG_LEVEL", "WARNING"]),
    (["crawl", "web"], {"LOG_FILE": "/nowhere/x.log"}, 78, ["LOG_FILE", "/nowhere/x.log"]),
    (["crawl", "web"], {"EXTENSIONS": "x"}, 2, ["EXTENSIONS=x", "JSON"]),
    (["crawl", "web", "-a", "seeds=/"], {}, 65, ["directory"]),
    (["fetch", "http://a.test/"], {}, 2, ["scrapy show URL"]),
    (["retry"], {}, 2, ["scrapy seed --now --failed"]),
    (["recrawl"], {}, 2, ["scrapy seed --now --all"]),
    (["stats"], {}, 2, ["scrapy status"]),
    (["resume"], {}, 2, ["scrapy crawl web"]),
]  # fmt: skip


@pytest.mark.parametrize(("words", "settings", "code", "named"), MISTAKES, ids=lambda value: str(value)[:60])
def test_a_mistake_is_answered_with_what_helps(
    words: list[str], settings: dict[str, object], code: int, named: list[str], tmp_path: Path
) -> None:
    ended = scrapy(*words, **{"CRAWL_DIR": tmp_path / "crawl"} | settings)
    assert ended.returncode == code, ended.stderr
    for name in named:
        assert name in ended.stderr, ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.splitlines()) <= 6


@pytest.mark.parametrize("content", [random.Random(n).randbytes(20_000) for n in range(5)])
def test_seeds_of_random_bytes_are_told_in_few_lines(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "seeds").write_bytes(content)
    ended = scrapy("seed", str(tmp_path / "seeds"), CRAWL_DIR=tmp_path / "crawl")
    assert ended.returncode == 65
    assert "a binary file" in ended.stderr
    assert len(ended.stderr.splitlines()) <= 5


@pytest.mark.parametrize(
    "url",
    [
        "http://me:Pass@Word@127.0.0.1:1", "http://me:Pass Word@127.0.0.1:1", "http://me:PassWörd@127.0.0.1:1",
        "http://me:Pass/Word@127.0.0.1:1", "me:PassWord@127.0.0.1:1", "http:me:PassWord@127.0.0.1:1",
        "http://me:PassWord%0a@127.0.0.1:1",
    ],
)  # fmt: skip
def test_a_proxy_that_cannot_be_read_is_refused_without_its_password(url: str, tmp_path: Path) -> None:
    ended = scrapy("crawl", "web", CRAWL_DIR=tmp_path / "crawl", PROXY_URL=url)
    assert ended.returncode == 78
    assert "PROXY_URL" in ended.stderr
    assert "Word" not in ended.stderr
    assert "PassW" not in ended.stderr


def test_a_password_in_the_file_of_a_crawl_is_shown_nowhere(crawled: Mapping[str, object]) -> None:
    directory = Path(str(crawled["CRAWL_DIR"]))
    file = directory / "crawl.toml"
    before = file.read_text()
    file.write_text(before + 'PROXY_URL = "http://me:PassWord@127.0.0.1:1"\n')
    told = [scrapy(*words, CRAWL_DIR=directory) for words in (["status"], ["why", str(crawled["root"])], ["report"])]
    file.write_text(before)
    assert "PROXY_URL=http://***@127.0.0.1:1" in told[0].stdout
    for ended in told:
        assert "PassWord" not in ended.stdout + ended.stderr
    assert "PassWord" not in (directory / "report.html").read_text()


def test_names_of_extensions_are_not_taken_for_misspelled_ones(tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("http://a.test/\n")
    names = {"MYEXT_ENABLED": 1, "ES_HOSTS": "x"}
    ended = scrapy("seed", str(tmp_path / "seeds.txt"), CRAWL_DIR=tmp_path / "crawl", **names)
    assert ended.returncode == 0
    assert [line.split()[3] for line in ended.stderr.splitlines()] == ["MYEXT_ENABLED:", "ES_HOSTS:"]


def test_what_is_mended_after_an_unreachable_seed_is_visited_again(tmp_path: Path) -> None:
    """The advice of the first run, followed word for word."""
    with pages_served(SITE, tmp_path) as (settings, requests):
        seeds = seeds_of(SITE, settings.pop("port"))
        private = settings | {"INTRANET_HOSTS": "", "INTRANET_NETWORKS": ""}
        ended = scrapy("crawl", "web", "-a", f"seeds={seeds}", **private)
        assert ended.returncode == 3
        (advice,) = [line for line in ended.stderr.splitlines() if "seed --now --failed" in line]
        command = shlex.split(advice.partition("scrapy ")[2].partition(", and")[0])
        assert scrapy(*command).returncode == 0
        assert scrapy("crawl", "web", **settings).returncode == 0
        assert "a.test/one" in requests


def test_a_setting_of_scrapys_downloader_is_answered_with_ours(tmp_path: Path) -> None:
    ended = scrapy("crawl", "web", CRAWL_DIR=tmp_path / "crawl", DOWNLOAD_DELAY=2)
    assert "POLITENESS_MIN_DELAY" in ended.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [(gzip.compress(b"http://a.test/" * 99, mtime=0), "gzip"), (b"%PDF-1.7\n\0\0", "a PDF")],
    ids=["gzip", "pdf"],
)
def test_a_binary_file_of_seeds_is_told_in_few_lines(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "seeds").write_bytes(content)
    for words in (["seed", str(tmp_path / "seeds")], ["crawl", "web", "-a", f"seeds={tmp_path / 'seeds'}"]):
        ended = scrapy(*words, CRAWL_DIR=tmp_path / "crawl")
        assert ended.returncode == 65
        assert said in ended.stderr
        assert len(ended.stderr.splitlines()) <= 5


def test_a_scheme_can_be_guessed(tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("example.org\nwww.example.com/a\n")
    ended = scrapy("seed", "--guess-scheme", str(tmp_path / "seeds.txt"), CRAWL_DIR=tmp_path / "crawl")
    assert (ended.returncode, ended.stderr) == (0, "")
    found = rows(tmp_path / "crawl", "SELECT url FROM urls ORDER BY url")
    assert found == [("https://example.org/",), ("https://www.example.com/a",)]


def test_a_crawl_with_nothing_due_says_only_that_and_what_to_do(crawled: Mapping[str, object]) -> None:
    settings = {name: value for name, value in crawled.items() if name != "root"}
    ended = scrapy("crawl", "web", **settings, SCOPE="domains")  # as the first run, before its file said something else
    assert ended.returncode == 0
    said, command, others = ended.stdout.splitlines()
    assert said.startswith("Nothing was due: ")
    assert "scrapy seed --now --all" in command
    assert max(len(said), len(others)) <= 80


def test_status_why_and_report_tell_where_the_last_run_and_the_file_differ(crawled: Mapping[str, object]) -> None:
    root = str(crawled["root"])
    for words in (["status"], ["why", root]):
        told = scrapy(*words, CRAWL_DIR=crawled["CRAWL_DIR"]).stdout
        assert "crawl.toml has SCOPE=hosts; the last run had domains" in told
        assert "settings of the last run: " in told
    assert scrapy("report", CRAWL_DIR=crawled["CRAWL_DIR"]).returncode == 0
    report = (Path(str(crawled["CRAWL_DIR"])) / "report.html").read_text()
    assert "crawl.toml has SCOPE=hosts" in report


def test_the_file_of_a_crawl_counts_more_than_the_project_and_less_than_the_command_line(
    crawled: Mapping[str, object],
) -> None:
    assert scrapy("settings", "--get", "SCOPE", CRAWL_DIR=crawled["CRAWL_DIR"]).stdout == "hosts\n"
    assert scrapy("settings", "--get", "SCOPE", CRAWL_DIR=crawled["CRAWL_DIR"], SCOPE="any").stdout == "any\n"


def test_a_host_everything_and_what_failed_are_visited_again(tmp_path: Path) -> None:
    pages: Pages = {**SITE, "b.test": {"/": "<title>B</title>"}}
    with pages_served(pages, tmp_path) as (settings, requests):
        port = settings.pop("port")
        assert scrapy("crawl", "web", "-a", f"seeds={seeds_of(pages, port)}", **settings).returncode == 0
        for words, again in ((["--host", "b.test"], {"b.test/"}), (["--all"], {"a.test/", "a.test/one", "b.test/"})):
            made = scrapy("seed", "--now", *words, **settings)
            assert (made.returncode, made.stderr) == (0, "")
            assert f"{plural(len(again), 'more URL is', 'more URLs are')} due now" in made.stdout
            before = len(requests)
            assert scrapy("crawl", "web", **settings).returncode == 0
            assert set(requests[before:]) == again
        assert "Nothing has failed" in scrapy("seed", "--now", "--failed", **settings).stdout
        unknown = scrapy("seed", "--now", "--host", "c.test", **settings)
    assert unknown.returncode == 1
    assert "c.test" in unknown.stdout


def test_what_failed_is_tried_again_at_once_when_the_cause_is_gone(tmp_path: Path) -> None:
    with pages_served(SITE, tmp_path) as (settings, requests):
        seeds = f"seeds={seeds_of(SITE, settings.pop('port'))}"
        refused = settings | {"INTRANET_HOSTS": "", "INTRANET_NETWORKS": ""}
        ended = scrapy("crawl", "web", "-a", seeds, **refused)
        assert (ended.returncode, requests) == (3, [])
        assert "INTRANET_HOSTS=a.test" in ended.stderr
        assert scrapy("seed", "--now", "--failed", **settings).returncode == 0
        assert scrapy("crawl", "web", **settings).returncode == 0
    assert set(requests) == {"a.test/robots.txt", "a.test/", "a.test/one"}


def test_very_many_urls_are_visited_again_only_if_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text("".join(f"http://a.test/{number}\n" for number in range(10_001)))
    assert scrapy("seed", "--bulk", str(tmp_path / "urls.txt"), CRAWL_DIR=tmp_path / "crawl").returncode == 0
    later(tmp_path / "crawl")
    refused = scrapy("seed", "--now", "--all", CRAWL_DIR=tmp_path / "crawl")
    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    assert "10,001 more URLs are due" in scrapy("seed", "--now", "--all", "--yes", CRAWL_DIR=tmp_path / "crawl").stdout


def later(directory: Path) -> None:
    """Make all URLs of a crawl due in an hour, as if they had been visited."""

    connection = apsw.Connection(str(directory / "crawl.db"))
    connection.execute("UPDATE urls SET due = due + 3600")
    connection.close()


def test_init_makes_a_crawl_that_the_next_command_continues(tmp_path: Path) -> None:
    with pages_served(SITE, tmp_path) as (settings, requests):
        seeds = seeds_of(SITE, settings.pop("port"))
        directory = tmp_path / "birds"
        given = settings | {"CRAWL_DIR": directory}
        words = ["init", str(directory), "--contact", "a@b.example", "--seeds", seeds, "--scope", "hosts"]
        made = scrapy(*words, **settings)
        assert (made.returncode, made.stderr) == (0, "")
        assert f"scrapy crawl web -s CRAWL_DIR={directory}" in made.stdout
        assert scrapy("crawl", "web", **given).returncode == 0
        assert "a.test/one" in requests
        assert scrapy("settings", "--get", "SCOPE", CRAWL_DIR=directory).stdout == "hosts\n"
        again = scrapy(*words, **settings)
        assert again.returncode == 78
        assert "is yours" in again.stderr


def test_init_asks_on_a_terminal(tmp_path: Path) -> None:
    directory = tmp_path / "asked"
    main, terminal = pty.openpty()
    os.write(main, b"a@b.example\nhttps://birds.example/\neverywhere\n\n")
    words = command("init", str(directory))
    made = subprocess.run(words, cwd=ROOT, stdin=terminal, capture_output=True, text=True, timeout=60, check=False)
    os.close(main)
    os.close(terminal)
    assert made.returncode == 0, made.stderr
    assert "CONTACT" in made.stderr
    text = (directory / "crawl.toml").read_text()
    assert 'CONTACT = "a@b.example"' in text
    assert 'SCOPE = "domains"' in text
    assert made.stderr.count("How far links are followed") == 2  # the first answer was none


def test_the_workers_of_a_crawl_leave_its_record_to_their_supervisor(tmp_path: Path) -> None:
    with pages_served(SITE, tmp_path) as (settings, _):
        seeds = f"seeds={seeds_of(SITE, settings.pop('port'))}"
        assert scrapy("crawl", "web", "--workers", "2", "-a", seeds, **settings).returncode == 0
    ((summary,),) = rows(tmp_path / "crawl", "SELECT summary FROM runs")
    assert json.loads(summary)["pages"] == 2


def test_the_password_of_a_feed_is_not_logged(tmp_path: Path) -> None:
    with pages_served(SITE, tmp_path) as (settings, _):
        seeds = f"seeds={seeds_of(SITE, settings.pop('port'))}"
        feed = "ftp://me:PassWord@127.0.0.1:1/pages.jsonl"
        refused = scrapy("crawl", "web", "--workers", "2", "-O", feed, "-a", seeds, **settings)
        ended = scrapy("crawl", "web", "-O", feed, "-a", seeds, **settings)
    assert (refused.returncode, ended.returncode) == (78, 74)
    for stderr in (refused.stderr, ended.stderr):
        assert "ftp://***@127.0.0.1:1/pages.jsonl" in stderr
        assert "PassWord" not in stderr


def test_usage_is_told_under_the_name_that_was_called(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "crawler", "crawl"]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert "orbweaver crawl [options] SPIDER" in ended.stderr
    assert "scrapy" not in ended.stderr
    assert "Exception ignored" not in ended.stderr


def test_the_first_start_does_not_speak_of_a_last_crawl(tmp_path: Path) -> None:
    with pages_served(SITE, tmp_path) as (settings, _):
        seeds = f"seeds={seeds_of(SITE, settings.pop('port'))}"
        ended = started("crawl", "web", "-a", seeds, **settings | {"LOG_LEVEL": "INFO"})
    assert ended.returncode == 0
    assert "last crawl" not in ended.stderr
