"""`scrapy crawl focused` fetches the pages of a topic before others, and keeps to it after kills."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.collection.topics import TopicFile, write_topic_file
from tests.crawl.pages import pages_served
from tests.crawl.runner import crawling, error_line, kill_all, rows, scrapy, wait_for
from tests.crawl.topic_web import TopicWeb

pytestmark = [pytest.mark.crawl, pytest.mark.timeout(240)]

WEB = TopicWeb()
BIRDS, TAXES = "gull heron plumage feather nest", "income levy deduction invoice fiscal"
PAGES = 80


def write_topic(directory: Path, query: str) -> None:
    write_topic_file(directory, TopicFile.train("birds", query, ()))


@contextmanager
def served(directory: Path, **settings: object) -> Iterator[tuple[list[str], dict[str, object], list[str]]]:
    """Serve the web; yield the words of a focused crawl, its settings, and the requests in order."""
    pages: dict[str, dict[str, str]] = {host: {} for host in WEB.names}
    with pages_served(pages, directory) as (given, requests):
        port = given.pop("port")
        for host, bodies in WEB.with_port(port).items():
            pages[host].update(bodies)
        write_topic(directory / "crawl", BIRDS)
        seeds = ",".join(f"http://{host}:{port}/" for host in WEB.names)
        words = ["crawl", "focused", "-a", "topic=birds", "-a", f"seeds={seeds}"]
        usual = {"CRAWL_MAX_PAGES": PAGES, "POLITENESS_MIN_DELAY": 0.05, "COMMIT_INTERVAL": 0.05}
        yield words, given | usual | settings, requests


def about_birds(requests: Sequence[str]) -> int:
    """Return how many of the pages requested are about birds."""
    pages = [request.partition("/") for request in requests if "robots" not in request]
    return sum(WEB.about[host, int(path.partition(".")[0] or 0)] == "birds" for host, _, path in pages)


def test_a_focused_crawl_finds_more_of_its_topic_than_one_in_the_order_found(tmp_path: Path) -> None:
    found = {}
    for order in ("priority", "fifo"):
        directory = tmp_path / order
        directory.mkdir()
        with served(directory, ORDER=order) as (words, settings, requests):
            result = scrapy(*words, **settings)
            assert result.returncode == 0, result.stderr
            found[order] = about_birds(requests)
            judged = rows(directory / "crawl", "SELECT count(*) FROM documents WHERE relevance IS NOT NULL")
            assert judged[0][0] >= PAGES
            evidence = rows(directory / "crawl", "SELECT count(*) > 0 FROM link_evidence")
            assert evidence == [(order == "priority",)]
    assert found["priority"] > 1.4 * found["fifo"]


@pytest.mark.parametrize("processes", [0, 2])
def test_pages_off_topic_are_archived_and_not_exported(processes: int, tmp_path: Path) -> None:
    with served(tmp_path, CONTENT_PROCESSES=processes) as (words, settings, requests):
        assert scrapy(*words, **settings).returncode == 0
        lines = scrapy("export", "--to", "jsonl", **settings).stdout.splitlines()
    reasons = rows(
        tmp_path / "crawl",
        """SELECT r.name, count(*), min(d.relevance), max(d.relevance) FROM documents d
           JOIN reasons r ON r.code = d.reason WHERE d.relevance IS NOT NULL GROUP BY 1 ORDER BY 1""",
    )
    (off, off_count, _, most), (on, on_count, least, _) = reasons
    assert (off, on) == ("OFF_TOPIC", "OK")
    assert most < 0.5 <= least
    assert on_count == about_birds(requests) == len(lines)
    assert all('"relevance":' in line for line in lines)
    assert off_count + on_count >= PAGES


def test_only_facts_of_pages_off_topic_are_kept_if_that_is_wanted(tmp_path: Path) -> None:
    with served(tmp_path, FOCUS_ARCHIVE="kept", CRAWL_MAX_PAGES=30) as (words, settings, _):
        assert scrapy(*words, **settings).returncode == 0
        shown = scrapy("show", words[-1].partition("=")[2].partition(",")[0], **settings)
    off_topic = rows(tmp_path / "crawl", "SELECT count(*) FROM documents WHERE has_body = 0")[0][0]
    assert off_topic > 5
    kinds: dict[str, list[str]] = {}
    relevance = []
    for path in (tmp_path / "crawl" / "warc").iterdir():
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                kinds.setdefault(record.rec_headers.get_header("WARC-Target-URI"), []).append(record.rec_type)
                text = record.raw_stream.read().decode()
                relevance += [line for line in text.splitlines() if line.startswith("relevance: ")]
    facts_alone = [url for url, found in kinds.items() if found == ["metadata"]]
    assert len(facts_alone) == off_topic
    assert (
        len(relevance) == rows(tmp_path / "crawl", "SELECT count(*) FROM documents WHERE relevance IS NOT NULL")[0][0]
    )
    assert shown.returncode == 1
    assert "off topic, so only its links and digests are archived (FOCUS_ARCHIVE=kept)" in error_line(shown.stderr)


def test_a_focused_crawl_that_was_killed_goes_on_with_what_it_knew(tmp_path: Path) -> None:
    with served(tmp_path, CRAWL_MAX_PAGES=0, COMMIT_INTERVAL=0.2) as (words, settings, requests):
        with crawling(*words, output=tmp_path / "output.txt", **settings) as process:
            wait_for(lambda: rows(tmp_path / "crawl", "SELECT count(*) > 30 FROM documents") == [(1,)])
            kill_all(process)
        state = rows(tmp_path / "crawl", "SELECT count(*) FROM rewards UNION ALL SELECT count(*) FROM focus")
        assert any(count for (count,) in state)
        before = len(requests)
        settings["CRAWL_MAX_PAGES"] = 30
        result = scrapy("crawl", "focused", **settings)  # the crawl knows its topic
        assert result.returncode == 0, result.stderr
        assert about_birds(requests[before:]) >= 10
    accounts = rows(tmp_path / "crawl", "SELECT known = waiting + leased + parked, leased FROM accounting")
    assert accounts == [(1, 0)]
    kept = "SELECT count(*) FROM link_evidence e LEFT JOIN urls u ON u.id = e.id WHERE u.visits IS NULL OR u.visits > 0"
    assert rows(tmp_path / "crawl", kept) == [(0,)]


def test_workers_share_a_focused_crawl(tmp_path: Path) -> None:
    with served(tmp_path, CONTENT_PROCESSES=1) as (words, settings, requests):
        result = scrapy(*words, "--workers", "2", timeout=200, **settings)
        assert result.returncode == 0, result.stderr
    assert about_birds(requests) > PAGES / 4
    assert rows(tmp_path / "crawl", "SELECT count(DISTINCT slot) FROM focus")[0][0] in (1, 2)


def test_a_topic_that_is_trained_again_is_taken_up_by_the_running_crawl(tmp_path: Path) -> None:
    given = {"CRAWL_MAX_PAGES": 0, "POLITENESS_MIN_DELAY": 0.2, "LOG_LEVEL": "INFO"}
    with served(tmp_path, **given) as (words, settings, _):  # noqa: SIM117 -- the second needs the first
        with crawling(*words, output=tmp_path / "output.txt", **settings):
            count = "SELECT count(*) FROM documents d WHERE relevance > 0.5 AND title LIKE '%{}%'"
            of = {name: count.format(name) for name in ("Gull", "Levy")}
            wait_for(lambda: rows(tmp_path / "crawl", of["Gull"])[0][0] > 0)
            assert rows(tmp_path / "crawl", of["Levy"]) == [(0,)]
            write_topic(tmp_path / "crawl", TAXES)
            wait_for(lambda: rows(tmp_path / "crawl", of["Levy"])[0][0] > 0)
    assert "The topic birds was trained again; the crawl goes on with it" in (tmp_path / "output.txt").read_text()


def test_a_crawl_begun_without_a_topic_can_be_given_one(tmp_path: Path) -> None:
    with served(tmp_path, CRAWL_MAX_PAGES=50) as (words, settings, requests):
        unfocused = ["crawl", "web", *words[4:]]
        assert scrapy(*unfocused, **settings).returncode == 0
        before = len(requests)
        assert scrapy(*words[:4], **settings).returncode == 0
        assert about_birds(requests[before:]) > about_birds(requests[:before])
        refused = scrapy("crawl", "web", **settings)
    assert refused.returncode == 78
    assert "This crawl is about the topic birds: go on with `scrapy crawl focused`" in error_line(refused.stderr)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-a", "topic=fish"], "scrapy topic train fish --query WORDS"),
        (["-a", "subject=birds"], "the spider focused has no such argument"),
    ],
)
def test_a_topic_that_there_is_not_is_refused(words: list[str], message: str, tmp_path: Path) -> None:
    result = scrapy("crawl", "focused", *words, CRAWL_DIR=tmp_path / "crawl", OWN_HOSTS="*.test")
    assert result.returncode in (2, 65, 78)
    assert message in error_line(result.stderr)


def test_a_focused_crawl_without_any_topic_says_how_to_train_one(tmp_path: Path) -> None:
    result = scrapy("crawl", "focused", "-a", "seeds=http://a.test/", CRAWL_DIR=tmp_path / "crawl", OWN_HOSTS="*.test")
    assert result.returncode == 78
    assert "train one first: scrapy topic train NAME --query WORDS" in error_line(result.stderr)
