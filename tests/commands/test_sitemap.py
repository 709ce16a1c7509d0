"""`scrapy sitemap` writes a sitemap of the files in a directory."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

import pytest
from scrapy.utils.sitemap import Sitemap

from crawler.commands import sitemap
from crawler.commands.sitemap import sitemaps_of
from crawler.parse.sitemaps import SitemapEntry, SitemapForm, parse_sitemap
from tests.crawl.runner import scrapy

BASE = "http://a.test/docs/"
NOW = 1_700_000_000.0
HOUR = 3600.0


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    ages = {"index.html": 1, "a & b.html": 30, "sub/index.htm": 100, "sub/ü.pdf": 500, ".git/config": 1, "old": 9000}
    for name, hours in ages.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, (NOW, NOW - hours * HOUR))
    (tmp_path / "secret").touch()
    (tree / "way-out").symlink_to(tmp_path / "secret")
    (tree / "nowhere").symlink_to(tmp_path / "nothing")
    return tree


def test_files_are_listed_with_their_times_and_change_frequencies(tree: Path) -> None:
    (text,) = sitemaps_of(tree, BASE, NOW)
    assert parse_sitemap(text.encode(), BASE).entries == [
        SitemapEntry(BASE + "a%20%26%20b.html", NOW - 30 * HOUR, "daily"),
        SitemapEntry(BASE, NOW - HOUR, "hourly"),
        SitemapEntry(BASE + "old", NOW - 9000 * HOUR, "yearly"),
        SitemapEntry(BASE + "sub/", NOW - 100 * HOUR, "weekly"),
        SitemapEntry(BASE + "sub/%C3%BC.pdf", NOW - 500 * HOUR, "monthly"),
    ]


def test_another_parser_reads_the_same_urls(tree: Path) -> None:
    result = scrapy("sitemap", str(tree), "--base", BASE)
    assert result.returncode == 0, result.stderr
    read = Sitemap(result.stdout.encode())
    assert read.type == "urlset"
    assert [entry["loc"] for entry in read] == [
        entry.loc for entry in parse_sitemap(result.stdout.encode(), BASE).entries
    ]


def written(tree: Path, target: Path) -> int:
    """Write a sitemap of the tree; return the exit code of the command."""
    command = sitemap.SitemapCommand()
    command.run([str(tree)], Namespace(base=BASE, to=str(target)))
    return int(command.exitcode)


def test_many_files_get_several_sitemaps_and_an_index(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sitemap, "MOST_ENTRIES", 2)
    target = tree / "sitemap.xml"
    assert written(tree, target) == 0
    index = parse_sitemap(target.read_bytes(), BASE)
    assert index.kind is SitemapForm.INDEX
    assert [entry.loc for entry in index.sitemaps] == [f"{BASE}sitemap-{number}.xml" for number in (1, 2, 3)]
    parts = [
        parse_sitemap((tree / entry.loc.rpartition("/")[2]).read_bytes(), BASE).entries for entry in index.sitemaps
    ]
    assert [len(part) for part in parts] == [2, 2, 1]
    assert "sitemap-3.xml: 1 URLs" in capsys.readouterr().err
    before = [path.read_bytes() for path in sorted(tree.glob("sitemap*"))]
    assert written(tree, target) == 0  # sitemaps are not listed in themselves
    assert [path.read_bytes() for path in sorted(tree.glob("sitemap*"))] == before


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("nowhere", "--base", BASE), 1, "is not a directory"),
        ((".", "--base", "ftp://a.test/"), 2, "not an http or https URL"),
        (("--base", BASE), 2, "name one directory"),
    ],
)
def test_wrong_arguments_are_refused(words: tuple[str, ...], code: int, message: str) -> None:
    result = scrapy("sitemap", *words)
    assert (result.returncode, "Traceback" in result.stderr) == (code, False)
    assert message in result.stderr + result.stdout
