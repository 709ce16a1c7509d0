"""The scope, filters or canonicalization of a crawl may change between two runs, or by new seeds while it runs."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from crawler.urls.hosts import origin_of
from tests.crawl.pages import Pages, pages_served
from tests.crawl.runner import crawling, polite_to, rows, scrapy, seeds_file, wait_for
from tests.crawl.test_web import pages_in
from tests.webgraph.log import Entry, refetches
from tests.webgraph.server import Served

pytestmark = pytest.mark.crawl

PART = "~/(p|list)/[0-9]"  # matches some paths of the generated web
JUDGED = "judging the URLs that were found again"
OPENED = "URLs are in the scope now and wait"


class Runs:
    """Consecutive crawls of a generated web in one directory, with the requests of each."""

    def __init__(self, served: Served, directory: Path) -> None:
        self.served = served
        self.directory = directory
        self.settings = polite_to(served, directory / "crawl", LOG_LEVEL="INFO")
        self.messages = ""
        self.logs: list[list[Entry]] = []

    def crawl(self, seeds: str = "", **settings: object) -> set[str]:
        """Run a crawl; return the URLs that it requested, without robots.txt."""
        before = len(self.served.log())
        words = ("-a", f"seeds={seeds}") if seeds else ()
        result = scrapy("crawl", "web", *words, **self.settings | settings)
        assert result.returncode == 0, result.stderr
        self.messages = result.stderr
        self.logs.append(self.served.log()[before:])
        return {entry.url for entry in self.logs[-1] if not entry.is_robots}

    def refetched(self) -> dict[str, int]:
        return refetches(entry for log in self.logs for entry in log)

    def urls(self, condition: str) -> set[str]:
        found = "SELECT url FROM urls u JOIN reasons r ON r.code = u.reason WHERE u.kind = 0 AND "
        return {str(url) for (url,) in rows(self.directory / "crawl", found + condition)}

    def write(self, name: str, text: str) -> Path:
        (self.directory / name).write_text(text)
        return self.directory / name


@pytest.fixture
def runs(served: Served, tmp_path: Path) -> Runs:
    return Runs(served, tmp_path)


@pytest.fixture
def seeds(served: Served, tmp_path: Path) -> str:
    return str(seeds_file(served, tmp_path))


def part_of(urls: set[str]) -> set[str]:
    return {url for url in urls if "/p/" in url or "/list/" in url}


# ── filters ──


def test_urls_that_are_no_longer_excluded_are_fetched_and_no_others_again(runs: Runs, seeds: str) -> None:
    pages = set(runs.served.web.urls())
    first = runs.crawl(seeds, URL_EXCLUDE=runs.write("exclude.txt", PART))
    assert part_of(first) == set()
    assert first & pages
    parked = runs.urls("state = 2 AND name = 'EXCLUDED'")
    assert parked
    assert parked == part_of(parked)
    explanation = scrapy("why", min(parked), **runs.settings).stdout
    assert (
        f"parked: a pattern of URL_EXCLUDE matches it (excluded) [{runs.directory}/exclude.txt:1 {PART}]" in explanation
    )
    second = runs.crawl()
    assert JUDGED in runs.messages
    assert f"{len(parked)} {OPENED}, 0 are not and are parked" in runs.messages
    assert second & pages == pages - first
    assert runs.refetched() == {}
    assert pages_in(runs.directory) == len(pages)


def test_urls_found_before_they_were_excluded_are_never_requested(runs: Runs, seeds: str) -> None:
    first = runs.crawl(seeds, CRAWL_MAX_PAGES=12)
    found = runs.urls("state = 0 AND visits = 0 AND name <> 'SEED'")
    assert part_of(found)
    assert found - part_of(found)
    second = runs.crawl(URL_EXCLUDE=runs.write("exclude.txt", PART))
    assert part_of(second) == set()
    assert runs.urls("state = 2 AND name = 'EXCLUDED'") >= part_of(found)
    assert found - part_of(found) <= second | runs.urls("name = 'ROBOTS_DENIED'")
    third = runs.crawl()
    assert first | second | third >= set(runs.served.web.urls())
    assert runs.refetched() == {}


def test_urls_beyond_the_depth_limit_are_fetched_once_it_is_lifted(runs: Runs, seeds: str) -> None:
    first = runs.crawl(seeds, CRAWL_MAX_DEPTH=1)
    far = runs.urls("name = 'TOO_FAR'")
    assert far
    assert first.isdisjoint(far)
    assert runs.urls("depth > 1 AND visits > 0") == set()
    second = runs.crawl()
    assert far <= second | runs.urls("name = 'ROBOTS_DENIED'")
    assert pages_in(runs.directory) == 60
    assert runs.refetched() == {}


def test_a_page_far_from_one_seed_and_near_another_is_visited(tmp_path: Path) -> None:
    pages: Pages = {
        "a.test": {"/": '<a href="/1">1</a>', "/1": '<a href="/2">2</a>', "/2": "the end"},
        "b.test": {"/": '<a href="http://a.test:PORT/2">2</a>'},
    }
    with pages_served(pages, tmp_path) as (settings, requests):
        port = settings.pop("port")
        pages["b.test"]["/"] = str(pages["b.test"]["/"]).replace("PORT", str(port))  # type: ignore[index]
        for host in ("a.test", "b.test"):
            seeds = f"seeds=http://{host}:{port}/"
            assert scrapy("crawl", "web", "-a", seeds, **settings, CRAWL_MAX_DEPTH=1).returncode == 0
    assert "b.test/" in requests
    assert "a.test/2" in requests


# ── new seeds ──


def test_seeding_a_site_opens_all_links_to_it_that_were_found_before(runs: Runs) -> None:
    pages = Counter(map(origin_of, runs.served.web.urls()))
    (first, _), *_ = pages.most_common()
    runs.crawl(f"{first}/", SCOPE="hosts")
    parked = runs.urls("state = 2 AND name = 'OUT_OF_SCOPE'")
    (second, count), *_ = Counter(map(origin_of, parked)).most_common()
    links = {url for url in parked if origin_of(url) == second}
    assert count > 3
    seed = max(links)
    assert scrapy("seed", str(runs.write("more.txt", seed)), **runs.settings).returncode == 0
    requests = runs.crawl(SCOPE="hosts")
    assert f"{count - 1} {OPENED}, 0 are not" in runs.messages
    assert JUDGED not in runs.messages
    assert links <= requests | runs.urls("name = 'ROBOTS_DENIED'")
    assert {origin_of(url) for url in requests} <= {first, second}
    assert runs.urls("state = 2 AND name = 'OUT_OF_SCOPE'") >= parked - links
    assert runs.refetched() == {}
    assert runs.crawl(SCOPE="hosts") == set()
    assert OPENED not in runs.messages


@pytest.mark.parametrize("where", ["before the seed was added", "while the seed was added"])
def test_seeding_a_site_while_a_crawl_runs_opens_all_links_to_it(where: str, tmp_path: Path) -> None:
    """Some links were committed when the seed was added; others were just being extracted, from the page /gate."""
    links = "".join(f'<a href="http://b.test:PORT/{number}">x</a>' for number in range(3))
    early, late = (links, "") if where == "before the seed was added" else ("", links)
    a = {"/": f'<a href="/gate">g</a><a href="http://b.test:PORT/known">x</a>{early}', "/gate": f"<p>gate{late}"}
    pages: Pages = {"a.test": a, "b.test": dict.fromkeys(("/", "/0", "/1", "/2", "/known"), "<p>nothing")}
    with pages_served(pages, tmp_path) as (settings, requests):
        port = settings.pop("port")
        a |= {path: body.replace("PORT", str(port)) for path, body in a.items()}
        settings |= {"SCOPE": "hosts", "CONTENT_PROCESSES": 1}
        settings |= {"CONTENT_HOOK": "tests.crawl.hooks:wait_at_the_gate", "CONTENT_TIMEOUT": 100}
        directory, words = tmp_path / "crawl", ("crawl", "web", "-a", f"seeds=http://a.test:{port}/")
        environment = os.environ | {"TMPDIR": str(tmp_path)}
        with crawling(*words, output=tmp_path / "output.txt", environment=environment, **settings) as process:
            wait_for(lambda: "a.test/gate" in requests)
            (tmp_path / "more.txt").write_text(f"http://b.test:{port}/")
            assert scrapy("seed", str(tmp_path / "more.txt"), **settings).returncode == 0
            judged = "SELECT 1 FROM crawl WHERE name = 'judged_seed' AND value = '2'"
            wait_for(lambda: rows(directory, judged) != [])
            (tmp_path / "open").touch()
            assert process.wait(timeout=60) == 0, (tmp_path / "output.txt").read_text()
        # Nothing remains for a later run.
        assert scrapy("crawl", "web", **settings | {"CONTENT_HOOK": ""}).returncode == 0
    assert {"b.test/", "b.test/0", "b.test/1", "b.test/2", "b.test/known"} <= set(requests)
    assert len(requests) == len(set(requests))


# ── a finished crawl ──


@pytest.fixture(scope="module")
def finished(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("finished")
    seeds = seeds_file(served, directory)
    settings = polite_to(served, directory / "crawl")
    assert scrapy("crawl", "web", "-a", f"seeds={seeds}", **settings).returncode == 0
    return directory / "crawl"


@pytest.fixture
def again(finished: Path, runs: Runs) -> Runs:
    """Copy a finished crawl, to be run again."""
    shutil.copytree(finished, runs.directory / "crawl")
    return runs


def test_a_run_with_the_same_settings_changes_and_logs_nothing(again: Runs) -> None:
    before = rows(again.directory / "crawl", "SELECT * FROM urls")
    assert again.crawl() == set()
    assert again.crawl(str(again.served.web.seeds()[0])) == set()
    for message in (JUDGED, OPENED, "spelled"):
        assert message not in again.messages
    assert rows(again.directory / "crawl", "SELECT * FROM urls") == before


@pytest.mark.parametrize("setting", ["URL_SORT_QUERY", "URL_RULES"])
def test_changed_canonicalization_rules_are_warned_of_once(setting: str, again: Runs) -> None:
    value = again.write("rules.txt", "site0.test drop x") if setting == "URL_RULES" else False
    for is_warned in (True, False):
        again.crawl(**{setting: value, "LOG_LEVEL": "WARNING"})
        assert ("URLs are spelled by other rules than in the last crawl" in again.messages) == is_warned
        assert JUDGED not in again.messages


# ── starts that are refused ──

BROKEN = {
    "URL_RULES": ("# rules\nsite0.test dorp x", ":2: 'dorp' is none of"),
    "URL_INCLUDE": ("\n\nh000.site0.test/\n", ":3: 'h000.site0.test/' is no beginning of a URL"),
    "URL_EXCLUDE": ("~(/p/", ":1: '(/p/' is no regular expression"),
}


@pytest.mark.parametrize("setting", BROKEN)
@pytest.mark.parametrize("command", ["crawl", "seed"])
def test_an_invalid_file_of_rules_or_patterns_is_refused_before_anything_happens(
    command: str, setting: str, runs: Runs, seeds: str
) -> None:
    text, message = BROKEN[setting]
    before = len(runs.served.log())
    words = ("crawl", "web", "-a", f"seeds={seeds}") if command == "crawl" else ("seed", seeds)
    result = scrapy(*words, **runs.settings | {setting: runs.write("broken.txt", text)})
    assert (result.returncode, result.stdout) == (78, "")
    assert "Traceback" not in result.stderr
    assert f"orbweaver: {runs.directory}/broken.txt{message}" in result.stderr
    assert len(runs.served.log()) == before
    assert not (runs.directory / "crawl").exists()


def test_an_invalid_file_of_patterns_leaves_the_store_as_it_was(again: Runs) -> None:
    store = again.directory / "crawl" / "crawl.db"
    before = store.read_bytes()
    broken = again.write("broken.txt", "~(")
    assert scrapy("crawl", "web", **again.settings | {"URL_EXCLUDE": broken}).returncode == 78
    assert store.read_bytes() == before


def test_a_start_that_is_refused_without_a_contact_parks_nothing(runs: Runs, seeds: str) -> None:
    runs.crawl(seeds, CRAWL_MAX_PAGES=5)
    before = rows(runs.directory / "crawl", "SELECT * FROM urls")
    nameless = runs.settings | {"OWN_HOSTS": "", "POLITENESS_MIN_DELAY": 5}
    result = scrapy("crawl", "web", **nameless)
    assert result.returncode == 78
    assert "CONTACT" in result.stderr
    assert rows(runs.directory / "crawl", "SELECT * FROM urls") == before
