"""Two crawl directories on one store share the crawl: neither takes the other for dead, and nothing is lost."""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crawl.pages import pages_served
from tests.crawl.runner import crawling, polite_to, scrapy, seeds_file, wait_for
from tests.webgraph.server import Served

pytestmark = pytest.mark.crawl

WEB = {"seed": 22, "hosts": 8, "pages": 80, "robots": False, "error_share": 0.0, "slow_share": 0.0}


@contextmanager
def web(tmp_path: Path) -> Iterator[tuple[str, dict[str, object], Served]]:
    """Serve a web; yield its seeds, and settings for one store."""
    with Served(WEB, tmp_path) as served:
        more = {
            "STORE": f"sqlite:{tmp_path / 'shared.db'}",
            "PARTITION_LEASE": 3,
            "FETCH_TIMEOUT": 3,
            "CRAWL_HORIZON": 2,
        }
        settings = polite_to(served, tmp_path, **more | {"POLITENESS_MIN_DELAY": 0.3, "POLITENESS_LATENCY_CAP": 1})
        yield f"seeds={seeds_file(served, tmp_path)}", settings, served


def pages_fetched(served: Served) -> Counter[str]:
    pages = set(served.web.urls())
    return Counter(entry.url for entry in served.log() if entry.url in pages and entry.status == 200)


def slots_of(directory: Path) -> set[str]:
    return {path.name for path in (directory / "workers").glob("[0-9]*.lock")}


def archive_of(directory: Path, pattern: str = "*") -> list[Path]:
    return list((directory / "warc").glob(f"{pattern}.warc.gz*"))


def test_both_crawl_at_once_and_visit_every_page_once(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    outputs = [tmp_path / "first.txt", tmp_path / "second.txt"]
    with web(tmp_path) as (seeds, settings, served):
        words, here = ("crawl", "web", "-a", seeds), settings | {"CRAWL_DIR": first}
        with crawling(*words, output=outputs[0], **here) as one:
            wait_for(lambda: pages_fetched(served).total() > 5)
            with crawling("crawl", "web", output=outputs[1], **settings | {"CRAWL_DIR": second}) as two:
                assert [one.wait(100), two.wait(100)] == [0, 0]
        fetched = pages_fetched(served)
    assert fetched == Counter(served.web.urls())
    assert (slots_of(first), slots_of(second)) == ({"0.lock"}, {"1.lock"})
    for output in outputs:
        assert "not been heard of" not in output.read_text()
        assert "did not end well" not in output.read_text()
    for directory in (first, second):
        assert archive_of(directory)
        assert not list((directory / "warc").glob("*.open"))


def test_one_that_is_killed_recovers_its_own_worker_and_no_other(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    outputs = [tmp_path / f"{name}.txt" for name in ("first", "second", "again")]
    with web(tmp_path) as (seeds, settings, served):
        there = settings | {"CRAWL_DIR": second}
        with crawling("crawl", "web", "-a", seeds, output=outputs[0], **settings | {"CRAWL_DIR": first}) as one:
            wait_for(lambda: pages_fetched(served).total() > 5)
            with crawling("crawl", "web", output=outputs[1], **there) as two:
                wait_for(lambda: archive_of(second, "*-001-*"))
                two.send_signal(signal.SIGKILL)
                two.wait()
            with crawling("crawl", "web", output=outputs[2], **there) as again:
                assert [one.wait(100), again.wait(100)] == [0, 0]
        fetched = pages_fetched(served)
    assert set(fetched) == set(served.web.urls())
    assert fetched.total() - len(fetched) <= served.web.hosts  # at most one visit of each host was under way
    assert (slots_of(first), slots_of(second)) == ({"0.lock"}, {"1.lock"})
    assert "did not end well" in outputs[2].read_text()
    assert "did not end well" not in outputs[0].read_text()


def test_a_copy_of_a_directory_does_not_take_the_place_of_its_worker(tmp_path: Path) -> None:
    first, copy = tmp_path / "first", tmp_path / "copy"
    with web(tmp_path) as (seeds, settings, served):
        with crawling("crawl", "web", "-a", seeds, output=tmp_path / "1.txt", **settings | {"CRAWL_DIR": first}) as one:
            wait_for(lambda: pages_fetched(served).total() > 5)
            shutil.copytree(first, copy)
            refused = scrapy("crawl", "web", **settings | {"CRAWL_DIR": copy})
            assert refused.returncode == 75
            assert "is a copy" in refused.stderr
            shutil.rmtree(copy / "workers")
            assert scrapy("crawl", "web", timeout=100, **settings | {"CRAWL_DIR": copy}).returncode == 0
            assert one.wait(100) == 0
        assert pages_fetched(served) == Counter(served.web.urls())


def test_pages_of_the_other_directory_are_read_and_compared(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(400)]
    texts = {f"/{n}": " ".join([*words[: 200 + n], f"own{n}", *words[200 + n :]]) for n in range(20)}
    pages = {
        f"{name}.test": {"/": "".join(f'<a href="{path}">{path}</a>' for path in texts)}
        | {path: f"<title>{name}</title><p>{text} {name}" for path, text in texts.items()}
        for name in "ab"
    }
    with pages_served(pages, tmp_path) as (settings, _):
        port = settings.pop("port")
        for name in "ab":
            own = settings | {"CRAWL_DIR": tmp_path / name, "STORE": f"sqlite:{tmp_path / 'shared.db'}"}
            ended = scrapy("crawl", "web", "-a", f"seeds=http://{name}.test:{port}/", timeout=100, **own)
            assert (ended.returncode, ended.stderr) == (0, "")
        shown = scrapy("show", f"http://a.test:{port}/1", "--text", **own)  # archived by the first
        exported = scrapy("export", "--to", f"jsonl:{tmp_path / 'all.jsonl'}", **own)
    assert "own1" in shown.stdout
    assert exported.returncode == 0, exported.stderr
    assert exported.stderr.startswith("42 documents, ")
