"""Commands of Scrapy work on what is archived, or are refused; none contacts a host or changes the crawl."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.crawl.pages import Answer, Pages, pages_served, seeds_of
from tests.crawl.runner import scrapy, started

pytestmark = pytest.mark.crawl

SITE: Pages = {
    "a.test": {
        "/": '<title>Top</title><script src="http://a.test/x.js"></script><a href="/one">1</a><a href="/moved">2</a>',
        "/one": "<title>One</title><p>A page.</p>",
        "/moved": Answer(status=301, headers={"Location": "/one"}),
    }
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, object]]:
    """A finished crawl whose server is gone; the root of its pages, and settings that would contact it."""
    directory = tmp_path_factory.mktemp("crawled")
    with pages_served(SITE, directory) as (settings, _):
        port = settings.pop("port")
        assert scrapy("crawl", "web", "-a", f"seeds={seeds_of(SITE, port)}", **settings).returncode == 0
    return f"http://a.test:{port}", settings


def state_of(settings: Mapping[str, object]) -> dict[str, str]:
    """Return the digests of all files of a crawl; those of SQLite's shared memory change when it is read."""
    directory = Path(str(settings["CRAWL_DIR"]))
    files = (path for path in directory.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal")))
    return {str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def run(crawled: tuple[str, dict[str, object]], *words: str, **more: object) -> subprocess.CompletedProcess[str]:
    """Run a command, and check that the crawl is what it was."""
    root, settings = crawled
    before = state_of(settings)
    ended = started(*[word.replace("ROOT", root) for word in words], **settings | more)
    assert state_of(settings) == before
    assert "Traceback" not in ended.stderr
    return ended


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("shell", "ROOT/", "-c", "response.css('title::text').get()"), "Top"),
        (("shell", "ROOT/moved", "-c", "response.url.split('/')[-1]"), "one"),
        (("shell", "ROOT/moved", "--no-redirect", "-c", "response.status"), "301"),
        (("shell", "ROOT/", "-c", "[fetch(response.urljoin('/one')), type(response).__name__]"), "HtmlResponse"),
        (("shell", "ROOT/one", "-c", "settings['SCOPE']"), "domains"),
    ],
)
def test_the_shell_has_the_archived_answer(
    words: tuple[str, ...], printed: str, crawled: tuple[str, dict[str, object]]
) -> None:
    ended = run(crawled, *words)
    assert ended.returncode == 0, ended.stderr
    assert printed in ended.stdout
    assert ended.stderr == ""


def test_the_shell_reads_local_files(crawled: tuple[str, dict[str, object]], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<title>Local</title>")
    assert run(crawled, "shell", str(page), "-c", "response.css('title::text').get()").stdout == "Local\n"


def test_what_is_not_archived_leaves_the_console_as_it_is(crawled: tuple[str, dict[str, object]]) -> None:
    ended = run(crawled, "shell", "ROOT/", "-c", "[fetch('ROOT/nowhere'), response.css('title::text').get()]")
    assert (ended.returncode, ended.stdout) == (0, "[None, 'Top']\n")
    assert "not archived" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["shell", "view"])
def test_what_is_not_archived_is_told_in_one_sentence(command: str, crawled: tuple[str, dict[str, object]]) -> None:
    ended = run(crawled, command, "ROOT/nowhere")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("orbweaver: ")
    assert "not archived" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_view_shows_the_archived_page_and_loads_nothing(crawled: tuple[str, dict[str, object]]) -> None:
    ended = run(crawled, "view", "ROOT/", "--no-browser")
    page = Path(ended.stdout.split()[-1])
    shown = page.read_text(encoding="utf-8")
    page.unlink()
    assert "Top" in shown
    assert "script" not in shown.replace("Security-Policy", "")
    assert "default-src 'none'" in shown


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("fetch", "ROOT/"), "scrapy show URL"),
        (("fetch", "--nolog", "--headers", "ROOT/new"), "scrapy crawl web"),
        (("parse", "ROOT/", "--spider", "web", "-d", "2"), "scrapy shell URL"),
        (("bench",), "make bench"),
    ],
)
def test_what_would_go_around_the_frontier_is_refused_with_what_to_use(
    words: tuple[str, ...], named: str, crawled: tuple[str, dict[str, object]], tmp_path: Path
) -> None:
    ended = run(crawled, *words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert named in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    fresh = run(crawled, *words, CRAWL_DIR=tmp_path / "crawl")
    assert fresh.returncode == 2
    assert not (tmp_path / "crawl").exists()


def test_spiders_and_settings_are_listed(crawled: tuple[str, dict[str, object]]) -> None:
    assert run(crawled, "list").stdout == "focused\nweb\n"
    assert run(crawled, "settings", "--get", "SCOPE").stdout == "domains\n"


CHECKED = '''
from scrapy import Spider

from crawler.items import Visited
from crawler.spiders.web import WebSpider


class Checked(Spider):
    name = "checked"

    def parse(self, response):
        """Yield the title.

        @url ROOT/
        @returns items 1 1
        @scrapes title
        """
        yield {"title": response.css("title::text").get()}


class CheckedVisits(WebSpider):
    name = "checked_visits"

    def parse(self, response, **kwargs):
        """Yield a fact of the visit's result.

        @url ROOT/one
        @returns items 1 1
        """
        for result in super().parse(response):
            assert isinstance(result, Visited)
            yield {"status": result.fetched.status}


class Unchecked(Spider):
    name = "unchecked"

    def parse(self, response):
        """Is never called, because its page is not archived.

        @url ROOT/nowhere
        @returns items 0 0
        """
'''


def test_contracts_are_checked_on_archived_pages(
    crawled: tuple[str, dict[str, object]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "checked_spiders.py").write_text(CHECKED.replace("ROOT", crawled[0]), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    ended = run(crawled, "check", "checked", "checked_visits", "web", SPIDER_MODULES="crawler.spiders,checked_spiders")
    assert ended.returncode == 0, ended.stderr
    assert "Ran 3 contracts" in ended.stderr
    before = state_of(crawled[1])
    failed = started("check", "unchecked", **crawled[1] | {"SPIDER_MODULES": "checked_spiders"})
    assert failed.returncode == 1
    assert "not archived" in failed.stderr
    assert state_of(crawled[1]) == before


def test_a_spider_is_generated_into_the_project_or_the_directory(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "crawler", "genspider", "birds", "https://birds.example/"]
    made = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert "start_urls" in (tmp_path / "birds.py").read_text()


def test_a_project_and_a_spider_are_made(tmp_path: Path) -> None:
    made = started("startproject", "shop", str(tmp_path / "shop"))
    assert made.returncode == 0
    assert (tmp_path / "shop" / "shop" / "settings.py").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("import nothing_like_it", "settings.py, line 1) cannot be read: ModuleNotFoundError: No module named"),
        ("DELAY = (", "settings.py, line 1) cannot be read: SyntaxError: "),
        ('ADDONS = {"crawler.addon.Orb": 100}', "cannot be read: NameError: "),
    ],
)
def test_settings_of_a_project_that_cannot_be_read_are_told_in_one_sentence(
    settings: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = shop_settings.settings\n")
    (tmp_path / "shop_settings").mkdir()
    (tmp_path / "shop_settings" / "settings.py").write_text(settings)
    words = [sys.executable, "-m", "crawler", "status"]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (78, "")
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_spiders_and_settings_of_the_add_on_are_listed_in_a_project_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = garden.settings\n")
    (tmp_path / "garden").mkdir()
    (tmp_path / "garden" / "settings.py").write_text(
        'ADDONS = {"crawler.addon.Orbweaver": 100}\nCOMMANDS_MODULE = "crawler.commands"\n'
    )
    words = [sys.executable, "-m", "scrapy"]
    for command, printed in ((["list"], "focused\nweb\n"), (["settings", "--get", "CRAWL_DIR"], "data/crawl\n")):
        ended = subprocess.run([*words, *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, printed, "")
