"""The package, installed from its wheel into an environment of its own, works in somebody else's Scrapy project."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sysconfig
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.crawl.pages import Answer, pages_served, seeds_of
from tests.crawl.runner import ROOT
from tests.generated_docs import DOCS
from tests.test_docs import examples_in

pytestmark = [pytest.mark.crawl, pytest.mark.timeout(900)]

SITE = {
    "a.test": {
        "/": '<title>Top</title><a href="/one">1</a><a href="/moved">2</a>',
        "/one": "<title>One</title><p>A page.</p>",
        "/two": "<title>Two</title><p>Another page.</p>",
        "/moved": Answer(status=301, headers={"Location": "/two"}),
        "/robots.txt": "User-agent: *\nDisallow: /private",
    }
}
SPIDER = """
import scrapy


class Titles(scrapy.Spider):
    name = "titles"

    def parse(self, response):
        yield {"title": response.css("title::text").get()}
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """An environment that has the packages which we need, and not ours; pip in it works without a network.

    With ORBWEAVER_FULL_INSTALL it is empty, and pip installs our packages, too (`make prove-wheel`).
    """
    directory = tmp_path_factory.mktemp("environment")
    path = {"PATH": f"{directory / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    if os.environ.get("ORBWEAVER_FULL_INSTALL"):
        venv.create(directory, with_pip=True)
        return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | path
    venv.create(directory, with_pip=False)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(directory), "platbase": str(directory)}))
    # Packages in a directory that a .pth file names are found; .pth files in it, such as that of this checkout, are not.
    (packages / "ours.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (directory / "bin" / "pip").write_text(f'#!/bin/sh\nexec "{directory}/bin/python" -m pip "$@"\n')
    (directory / "bin" / "scrapy").write_text(f'#!/bin/sh\nexec "{directory}/bin/python" -m scrapy "$@"\n')
    for name in ("pip", "scrapy"):
        (directory / "bin" / name).chmod(0o755)
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_IGNORE_INSTALLED": "1"}
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "TMPDIR")}
    return kept | offline | path


@pytest.fixture(scope="module")
def installed(environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The environment with our wheel in it."""
    wheels = tmp_path_factory.mktemp("wheels")
    run(["pip", "wheel", "--quiet", "--wheel-dir", str(wheels), str(ROOT)], wheels, environment)
    (wheel,) = wheels.glob("orbweaver-*.whl")
    run(["pip", "install", "--quiet", str(wheel)], wheels, environment)
    return environment


def run(
    words: list[str], directory: Path, environment: Mapping[str, str], code: int = 0
) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(
        words, cwd=directory, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.returncode == code, ended.stderr + ended.stdout
    return ended


def settings_words(settings: Mapping[str, object]) -> list[str]:
    return [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]


def new_project(directory: Path, environment: Mapping[str, str], *lines: str) -> Path:
    """Make a project as a user does, with these lines at the end of its settings, and a spider of its own."""
    run(["scrapy", "startproject", "shop", "shop"], directory, environment)
    project = directory / "shop"
    with (project / "shop" / "settings.py").open("a", encoding="utf-8") as file:
        file.write("\n".join(['ADDONS = {"crawler.addon.Orbweaver": 100}', *lines]) + "\n")
    (project / "shop" / "spiders" / "titles.py").write_text(SPIDER, encoding="utf-8")
    return project


def test_the_wheel_has_its_data_and_its_program(installed: Mapping[str, str], tmp_path: Path) -> None:
    code = (
        "import crawler; from crawler.files import data_folder as f; print(crawler.__file__, f('demo-web'), f('ops'))"
    )
    package, demo, ops = run(["python", "-c", code], tmp_path, installed).stdout.split()
    assert not package.startswith(str(ROOT))
    assert (Path(demo) / "sites.toml").is_file()
    assert (Path(ops) / "crontab").is_file()
    for words in (["orbweaver"], ["orbweaver", "--help"], ["python", "-m", "crawler"]):
        shown = run(words, tmp_path, installed).stdout
        assert shown.index("  crawl ") < shown.index("  why ") < shown.index("  startproject ")
    assert "orbweaver crawl [options] SPIDER" in run(["orbweaver", "crawl", "--help"], tmp_path, installed).stdout
    assert "did you mean `orbweaver status`" in run(["orbweaver", "statu"], tmp_path, installed, code=2).stderr


def test_the_program_crawls_from_any_directory_and_names_itself(installed: Mapping[str, str], tmp_path: Path) -> None:
    with pages_served(SITE, tmp_path) as (settings, _):
        seeds = f"seeds={seeds_of(SITE, settings.pop('port'))}"
        given = settings_words(settings)
        (tmp_path / "empty").mkdir()
        crawled = run(["orbweaver", "crawl", "web", "-a", seeds, *given], tmp_path / "empty", installed)
        workers = ["--workers", "2", *settings_words(settings | {"CRAWL_DIR": tmp_path / "second"})]
        run(["orbweaver", "crawl", "web", "-a", seeds, *workers], tmp_path / "empty", installed)
    assert "orbweaver status -s" in crawled.stdout
    assert "scrapy " not in crawled.stdout
    status = run(["orbweaver", "status", "--json", *given], tmp_path / "empty", installed)
    assert json.loads(status.stdout)["pages"] == 3
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.parametrize("words", [["scrapy", "crawl"], ["orbweaver", "crawl"], ["python", "-m", "crawler", "crawl"]])
def test_a_project_with_the_add_on_crawls_with_a_spider_of_its_own(
    words: list[str], installed: Mapping[str, str], tmp_path: Path
) -> None:
    project = new_project(tmp_path, installed)
    with pages_served(SITE, tmp_path) as (settings, requests):
        seeds = f"seeds={seeds_of(SITE, settings.pop('port'))}"
        given = settings_words(settings | {"CRAWL_DIR": "data/crawl"})
        run([*words, "titles", "-a", seeds, "-O", "items.jsonl", *given], project, installed)
        again = len(requests)
        run([*words, "titles", *given], project, installed)  # nothing is due, and it remembers
        assert len(requests) == again
    lines = [json.loads(line) for line in (project / "items.jsonl").read_text().splitlines()]
    assert sorted(line["title"] for line in lines if "id" not in line) == ["One", "Top", "Two"]
    assert sorted(line["title"] for line in lines if "id" in line) == ["One", "Top", "Two"]
    assert requests[0] == "a.test/robots.txt"
    status = run(["orbweaver", "status", "--json", *given], project, installed)
    assert json.loads(status.stdout)["pages"] == 3
    assert (project / "data" / "crawl" / "warc").is_dir()


def test_components_of_the_project_and_of_its_spiders_are_composed_with_ours(
    installed: Mapping[str, str], tmp_path: Path
) -> None:
    project = new_project(tmp_path, installed, 'ITEM_PIPELINES = {"shop.pipelines.Noting": 300}')
    (project / "shop" / "pipelines.py").write_text(
        "class Noting:\n    def process_item(self, item):\n        print(type(item).__name__)\n        return item\n"
        "class Other(Noting):\n    pass\n"
    )
    (project / "shop" / "spiders" / "other.py").write_text(
        SPIDER.replace("Titles", "OtherTitles").replace(
            'name = "titles"', 'name = "other"\n    custom_settings = {"ITEM_PIPELINES": {"shop.pipelines.Other": 5}}'
        )
    )
    with pages_served(SITE, tmp_path) as (settings, _):
        seeds = f"seeds={seeds_of(SITE, settings.pop('port'))}"
        for program in ("scrapy", "orbweaver"):
            for spider in ("titles", "other"):
                given = settings_words(settings | {"CRAWL_DIR": f"data/{program}-{spider}"})
                ended = run([program, "crawl", spider, "-a", seeds, *given], project, installed)
                assert ended.stdout.split().count("dict") == 6
                assert "Visited" not in ended.stdout.split()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("SCHEDULER", "scrapy.core.scheduler.Scheduler"),
        ("DOWNLOADER", "scrapy.core.downloader.Downloader"),
        ("DOWNLOAD_HANDLERS", {"http": "scrapy.core.downloader.handlers.http.HTTPDownloadHandler"}),
        ("ITEM_PIPELINES", {"crawler.pipelines.store.StorePipeline": None}),
    ],
)
def test_a_value_of_the_project_that_would_break_a_promise_is_named(
    setting: str, value: object, installed: Mapping[str, str], tmp_path: Path
) -> None:
    project = new_project(tmp_path, installed, f"{setting} = {value!r}")
    for program in ("scrapy", "orbweaver"):
        refused = run([program, "crawl", "titles", "-a", "seeds=http://a.test/"], project, installed, code=78)
        assert f"orbweaver: {setting}" in refused.stderr
        assert "Traceback" not in refused.stderr
        assert not (project / "data").exists()


def test_mistakes_are_told_in_one_sentence_under_scrapys_own_crawl(
    installed: Mapping[str, str], tmp_path: Path
) -> None:
    project = new_project(tmp_path, installed)
    for words, code, said in (
        (["-a", "seeds=https://example.org/"], 78, "CONTACT is not set"),
        (["-a", "seeds=nothing.txt"], 65, "there is no such file"),
        (["-s", "SCOPE=moon"], 78, "SCOPE='moon'"),
        (["-s", "CRAWL_DIR=/proc/crawl"], 74, "cannot be written"),
    ):
        refused = run(["scrapy", "crawl", "titles", *words], project, installed, code=code)
        assert said in refused.stderr.splitlines()[-1]
        assert "Traceback" not in refused.stderr


def test_a_project_without_the_add_on_is_left_alone(installed: Mapping[str, str], tmp_path: Path) -> None:
    run(["scrapy", "startproject", "plain", "plain"], tmp_path, installed)
    shown = run(["orbweaver", "settings", "--get", "BOT_NAME"], tmp_path / "plain", installed)
    assert shown.stdout == "orbweaver\n"
    own = run(["scrapy", "settings", "--get", "SCHEDULER"], tmp_path / "plain", installed)
    assert own.stdout == "scrapy.core.scheduler.Scheduler\n"
    assert "status" not in run(["scrapy"], tmp_path / "plain", installed).stdout


@pytest.mark.parametrize(
    "words",
    [["fetch", "URL"], ["view", "URL"], ["parse", "URL", "--spider", "titles"], ["shell", "URL", "-c", "1"], ["bench"]],
)
def test_commands_of_scrapy_begin_no_crawl_in_a_project_without_ours(
    words: list[str], installed: Mapping[str, str], tmp_path: Path
) -> None:
    project = new_project(tmp_path, installed)
    with pages_served(SITE, tmp_path) as (settings, requests):
        root = seeds_of(SITE, settings.pop("port"))
        given = [word.replace("URL", root) for word in words]
        refused = run(["scrapy", *given, *settings_words(settings)], project, installed, code=2)
    assert "orbweaver show URL" in refused.stderr.splitlines()[-1]
    assert "Traceback" not in refused.stderr
    assert requests == []
    assert not (tmp_path / "crawl").exists()


def section(title: str) -> str:
    text = (DOCS / "extending.md").read_text(encoding="utf-8")
    return re.split(r"^## ", text.partition(f"\n## {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def test_the_page_on_your_own_project_works_word_for_word(environment: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "orbweaver").symlink_to(ROOT)
    start = tmp_path / "work"
    start.mkdir()
    made, settings, crawled = re.findall(r"^```\w+\n(.*?)^```$", section("Your own project"), re.MULTILINE | re.DOTALL)
    run(["sh", "-e", "-c", made], start, environment)
    project = start / "shop"
    with (project / "shop" / "settings.py").open("a", encoding="utf-8") as file:
        file.write(settings)
    spider = examples_in(DOCS / "extending.md", "python")[0].text
    (project / "shop" / "spiders" / "prices.py").write_text(spider, encoding="utf-8")
    port = "--port 0 "  # so that several of these tests can run at once
    ended = run(["sh", "-e", "-c", crawled.replace("crawler.demo ", f"crawler.demo {port}")], project, environment)
    assert "Bowline" in ended.stdout
    assert "prices" in ended.stdout.splitlines()
    lines = [json.loads(line) for line in (project / "prices.jsonl").read_text().splitlines()]
    assert sum("id" in line for line in lines) == 95
    assert sum(list(line) == ["url", "title"] for line in lines) > 80


def test_the_other_examples_of_the_page_work_in_a_project(installed: Mapping[str, str], tmp_path: Path) -> None:
    _, visits, pipeline, middleware, _, sink, *_ = (
        example.text for example in examples_in(DOCS / "extending.md", "python")
    )
    project = new_project(
        tmp_path,
        installed,
        'ITEM_PIPELINES = {"shop.pipelines.TitlePipeline": -250}',
        'DOWNLOADER_MIDDLEWARES = {"shop.middlewares.NoArchivesMiddleware": 543}',
        'COMMANDS_MODULE = "crawler.commands"',
        "PAGE_ITEMS = False",
    )
    (project / "shop" / "pipelines.py").write_text(pipeline, encoding="utf-8")
    (project / "shop" / "middlewares.py").write_text(middleware, encoding="utf-8")
    (project / "shop" / "spiders" / "visits.py").write_text(visits, encoding="utf-8")
    (project / "print_sink.py").write_text(sink, encoding="utf-8")
    links = "".join(f'<a href="/{path}">{path}</a>' for path in ("one", "lost", "archive/old"))
    site = {"a.test": SITE["a.test"] | {"/": f"<title>Top</title>{links}", "/archive/old": "<title>Old</title>"}}
    with pages_served(site, tmp_path) as (settings, requests):
        root = seeds_of(site, settings.pop("port"))
        given = settings | {"LOG_LEVEL": "INFO", "CRAWL_DIR": "data/crawl"}
        words = ["scrapy", "crawl", "visits", "-a", f"seeds={root}", "-O", "missing.jsonl", *settings_words(given)]
        crawled = run(words, project, installed)
    assert all(f"{url} {title!r}" in crawled.stderr for url, title in ((root, "Top"), (f"{root}one", "One")))
    assert [json.loads(line) for line in (project / "missing.jsonl").read_text().splitlines()] == [
        {"missing": f"{root}lost", "named_by": root}
    ]
    assert "a.test/archive/old" not in requests
    first, again = (run(["python", "print_sink.py"], project, installed).stdout for _ in range(2))
    assert {line.split()[-1] for line in first.splitlines()} == {root, f"{root}one"}
    assert again == ""
