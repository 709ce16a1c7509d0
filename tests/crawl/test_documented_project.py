"""The examples of docs/extending.md work together as a Scrapy project of a user's own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawl.runner import command, polite_to, seeds_file
from tests.generated_docs import DOCS
from tests.test_docs import examples_in
from tests.webgraph.server import Served

pytestmark = pytest.mark.crawl


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Write the examples into the files of a project named shop."""
    spider, pipeline, settings, sink, *_ = (example.text for example in examples_in(DOCS / "extending.md", "python"))
    (tmp_path / "shop" / "spiders").mkdir(parents=True)
    for name, text in {
        "scrapy.cfg": "[settings]\ndefault = shop.settings\n",
        "shop/__init__.py": "",
        "shop/settings.py": settings,
        "shop/pipelines.py": pipeline,
        "shop/spiders/__init__.py": "",
        "shop/spiders/prices.py": spider,
        "print_sink.py": sink,
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(words: list[str], project: Path) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(words, cwd=project, capture_output=True, text=True, timeout=100, check=False)
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr
    return ended


def test_spider_pipeline_settings_and_sink_of_the_documents_work(served: Served, project: Path) -> None:
    settings = polite_to(served, Path("data/crawl"), LOG_LEVEL="INFO", CONTENT_PROCESSES=1)
    crawled = run(command("crawl", "prices", "-a", f"seeds={seeds_file(served, project)}", **settings), project)
    items = [json.loads(line) for line in (project / "prices.jsonl").read_text().splitlines()]
    assert {item["url"] for item in items} == set(served.web.urls())
    assert all(item["title"] in crawled.stderr for item in items)  # the pipeline logs it
    first, again = (run([sys.executable, "print_sink.py"], project).stdout for _ in range(2))
    assert {line.split()[-1] for line in first.splitlines()} == set(served.web.urls())
    assert again == ""
