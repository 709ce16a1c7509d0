"""`scrapy simulate` predicts how fast and how fair a crawl would be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.crawl.runner import scrapy

pytestmark = pytest.mark.crawl

SMALL = ("simulate", "--hosts", "30", "--pages", "5", "--hours", "0.1")


def test_a_simulation_prints_the_course_of_a_crawl_and_writes_nothing(tmp_path: Path) -> None:
    result = scrapy(*SMALL, CRAWL_DIR=tmp_path / "crawl")
    assert result.returncode == 0, result.stderr
    assert "Simulated 0." in result.stdout
    assert "none was shorter than required" in result.stdout
    assert result.stderr == ""
    assert not (tmp_path / "crawl").exists()


def test_settings_apply_as_in_a_crawl(tmp_path: Path) -> None:
    quick, slow = (
        json.loads(scrapy(*SMALL, "--json", CRAWL_DIR=tmp_path, POLITENESS_MIN_DELAY=delay).stdout) for delay in (1, 20)
    )
    assert slow["last_visit"] > 5 * quick["last_visit"] or not slow["done"]
    assert quick["gaps"]["shorter_than_required"] == slow["gaps"]["shorter_than_required"] == 0


@pytest.mark.parametrize(("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_a_simulation_can_be_plotted(suffix: str, magic: bytes, tmp_path: Path) -> None:
    picture = tmp_path / f"crawl{suffix}"
    result = scrapy(*SMALL, "--delay", "10:0.5", "--plot", str(picture))
    assert result.returncode == 0, result.stderr
    assert picture.read_bytes().startswith(magic)
    assert list(tmp_path.iterdir()) == [picture]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--hosts", "0"), "must be at least 1"),
        (("--busy", "2"), "must be from 0 to 1"),
        (("--delay", "10:0.9", "--delay", "20:0.9"), "more than 1 in all"),
        (("--outage", "3:1"), "the first before the second"),
        (("--plot", "crawl.gif"), "must end in"),
        (("crawl",), "takes options only"),
    ],
)
def test_wrong_usage_is_refused(words: tuple[str, ...], complaint: str) -> None:
    result = scrapy("simulate", *words)
    assert result.returncode == 2
    assert complaint in result.stderr + result.stdout


def test_a_plot_that_cannot_be_written_is_exit_code_74(tmp_path: Path) -> None:
    result = scrapy(*SMALL, "--plot", str(tmp_path / "nowhere" / "crawl.png"))
    assert result.returncode == 74
    assert "cannot be written" in result.stderr


def test_sizing_answers_the_question_of_the_textbook(tmp_path: Path) -> None:
    result = scrapy("simulate", "--sizing", CRAWL_DIR=tmp_path / "crawl")
    assert result.returncode == 0, result.stderr
    assert "1,000 pages a second" in result.stdout
    assert "  500 connections: " in result.stdout
    assert "  10,000 hosts: " in result.stdout
    assert "  10,500 hosts with these settings" in result.stdout  # the rest begins when the answer has ended
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(
    ("settings", "rate", "limit"),
    [
        ({}, 1000, "the bandwidth"),
        ({"CONCURRENT_REQUESTS": 100}, 200, "CONCURRENT_REQUESTS=100"),
        ({"FRONTIER_MOST_HOSTS": 2_100}, 200, "FRONTIER_MOST_HOSTS=2,100"),
        ({"POLITENESS_MIN_DELAY": 99.5}, 200, "FRONTIER_MOST_HOSTS=20,000"),
    ],
)
def test_sizing_names_what_limits_a_crawl_with_these_settings(
    settings: dict[str, object], rate: float, limit: str
) -> None:
    found = json.loads(scrapy("simulate", "--sizing", "--json", **settings).stdout)
    assert (found["connections"], found["hosts"]) == (500, 10_000)
    assert found["with_these_settings"]["pages_per_second"] == pytest.approx(rate)
    assert found["with_these_settings"]["limited_by"] == limit


def test_sizing_takes_other_figures(tmp_path: Path) -> None:
    words = ("--bandwidth", "1e6", "--page-bytes", "25000", "--latency", "0.25", "--delay", "5", "--json")
    found = json.loads(scrapy("simulate", "--sizing", *words).stdout)
    assert (found["pages_per_second"], found["connections"], found["hosts"]) == (40, 10, 200)
