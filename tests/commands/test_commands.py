"""Output and exit codes of the commands crawl, seed, status, urls and why."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from crawler.commands import crawl, seed, status, urls, why
from crawler.frontier.budgets import Budgets
from crawler.items import Reason, Refusal
from crawler.stores.open import open_store
from crawler.stores.sqlite.schema import SCHEMA_VERSION
from crawler.urls.keys import key_of
from tests.crawl.runner import ROOT, error_line, polite_to, rows, scrapy, seeds_file, started
from tests.samples import NOW, acquire, link, new_url, visit_result, visit_to, visited
from tests.stores.versions import as_version_1
from tests.webgraph.server import Served

pytestmark = [pytest.mark.crawl, pytest.mark.xdist_group("commands")]  # one worker, one crawl

COMMANDS = {"crawl": crawl, "seed": seed, "status": status, "urls": urls, "why": why}


@pytest.fixture(scope="module")
def finished(served: Served, tmp_path_factory: pytest.TempPathFactory) -> tuple[Served, dict[str, object]]:
    """Crawl a generated web to its end."""
    directory = tmp_path_factory.mktemp("finished")
    settings = polite_to(served, directory / "crawl")
    result = scrapy("crawl", "web", "-a", f"seeds={seeds_file(served, directory)}", **settings)
    assert result.returncode == 0, result.stderr
    return served, settings


def why(url: str, settings: dict[str, object]) -> str:
    result = scrapy("why", url, **settings)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


# ── help ──


@pytest.mark.parametrize("name", COMMANDS)
def test_help_contains_an_example(name: str) -> None:
    result = started(name, "--help")
    assert result.returncode == 0
    assert f"Example: scrapy {name}" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    "words",
    [
        ("seed",),
        ("why",),
        ("why", "a", "b"),
        ("crawl",),
        ("crawl", "web", "web"),
        ("urls",),
        ("urls", "--rules", "http://a.example/"),
    ],
)
def test_wrong_usage_is_exit_code_2(words: tuple[str, ...], tmp_path: Path) -> None:
    assert scrapy(*words, CRAWL_DIR=tmp_path / "x").returncode == 2
    assert not (tmp_path / "x").exists()


# ── why ──


def test_why_a_page_was_fetched(finished: tuple[Served, dict[str, object]]) -> None:
    served, settings = finished
    output = why(next(url for url in served.web.urls() if url not in served.web.seeds()), settings)
    for part in (
        "as a link on",
        "waiting: fetched before, due again (revisit)",
        "status 200",
        "archived",
        "read as html, in UTF-8 by",
        "robots.txt of",
    ):
        assert part in output


def test_why_a_seed_is_known(finished: tuple[Served, dict[str, object]]) -> None:
    served, settings = finished
    assert "as a seed" in why(served.web.seeds()[0], settings)


def test_why_a_redirects_source_is_parked(finished: tuple[Served, dict[str, object]]) -> None:
    served, settings = finished
    followed = {str(url) for (url,) in rows(Path(str(settings["CRAWL_DIR"])), "SELECT url FROM urls WHERE reason = 30")}
    source, target = next((a, b) for a, b in served.web.redirects().items() if a in followed)
    output = why(source, settings)
    assert f"(redirected) → {target}" in output
    assert "by 1 redirects or preferred hosts, the last from" in why(target, settings) or "as a link on" in why(
        target, settings
    )


def test_why_a_disallowed_url_was_not_fetched(finished: tuple[Served, dict[str, object]]) -> None:
    served, settings = finished
    output = why(min(served.web.forbidden()), settings)
    assert "parked: robots.txt forbids it (robots_denied)" in output
    assert "forbids it (status 200" in output


def test_why_a_link_out_of_scope_was_not_followed(finished: tuple[Served, dict[str, object]]) -> None:
    _, settings = finished
    outside = rows(Path(str(settings["CRAWL_DIR"])), "SELECT url FROM urls WHERE reason IN (72, 73)")
    output = why(str(outside[0][0]), settings)
    assert "parked: not an own host, and no CONTACT is given (no_contact)" in output
    assert "as a link on" in output


def test_why_a_url_is_waiting(served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl")
    assert scrapy("seed", str(seeds_file(served, tmp_path)), **settings).returncode == 0
    output = why(served.web.seeds()[0], settings)
    assert "waiting: given as a seed (seed); due now" in output
    assert "priority: level 0 of 0 to 7: a seed, or what one redirects to (+0)" in output
    assert "robots.txt of" in output
    assert "not fetched yet" in output
    assert "may be visited now" in output


def test_why_shows_the_parts_of_a_priority_and_the_budgets(tmp_path: Path) -> None:
    directory = tmp_path / "crawl"
    directory.mkdir()
    store = open_store(f"sqlite:{directory / 'crawl.db'}", budgets=Budgets(domain=2))
    acquire(store, "me", 0, NOW, 60, 60)
    store.urls.add_seeds([new_url("http://seed.test/"), new_url("http://news.test/")], NOW)
    targets = [link(f"http://far.test/{number}") for number in range(4)]
    for source in ("http://seed.test/", "http://news.test/"):
        (visit,) = store.frontier.lease("me", [visit_to(source)], NOW).granted
        store.commits.commit([visit_result(visited(visit, *targets))], [], NOW)
    store.close()
    settings = {"CRAWL_DIR": directory, "BUDGET_DOMAIN": 2, "BUDGET_GROWTH": 0.25}
    output = why("http://far.test/0", settings)
    assert "priority: level 2 of 0 to 7: 1 links from a seed (+3), 2 other domains link to it (-1)" in output
    assert "far.test may be visited now" in output
    over = why("http://far.test/3", settings)
    assert "parked: its host or its domain has had its budget" in over
    assert "the domain far.test has 2 of 3 URLs; 2 more are parked" in over
    assert "2 other domains link to far.test; each raises its budgets by 25%" in over


def test_why_reports_a_host_whose_visits_of_today_are_used(tmp_path: Path) -> None:
    directory, now = tmp_path / "crawl", time.time()
    directory.mkdir()
    store = open_store(f"sqlite:{directory / 'crawl.db'}", budgets=Budgets(host_day=1))
    acquire(store, "me", 0, now, 60, 60)
    store.urls.add_seeds([new_url("http://a.test/1"), new_url("http://a.test/2")], now)
    store.frontier.lease("me", [visit_to("http://a.test/1"), visit_to("http://a.test/2")], now)
    store.close()
    output = why("http://a.test/2", {"CRAWL_DIR": directory, "BUDGET_HOST_DAY": 1})
    assert "a.test is visited again tomorrow: it has used its 1 visits for today; not before" in output


def test_why_reports_an_unknown_url(finished: tuple[Served, dict[str, object]]) -> None:
    served, settings = finished
    output = why(served.web.seeds()[0] + "nobody/links/here", settings)
    assert "is not known" in output
    assert "inside the scope" in output
    assert "would be parked" in why("http://another.example/", settings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no url at all", "is not a URL"),
        ("", "is not a URL"),
        ("mailto:a@b.example", "this is mailto"),
        ("http://", "not a URL"),
    ],
)
def test_why_reports_a_text_that_is_no_url(text: str, message: str, finished: tuple[Served, dict[str, object]]) -> None:
    assert message in why(text, finished[1])


def test_why_shows_the_canonical_form(finished: tuple[Served, dict[str, object]]) -> None:
    served, settings = finished
    spelled = served.web.seeds()[0].replace("http://h", "HTTP://H") + "#top"
    assert f"is the canonical form of {spelled}" in why(spelled, settings)


def test_why_shows_what_each_rule_changed_in_a_url(finished: tuple[Served, dict[str, object]]) -> None:
    served, settings = finished
    front = served.web.seeds()[0]
    output = why(front.replace("http://", "HTTP://") + "a/..//?utm_source=mail#top", settings)
    assert [line.split()[:2] for line in output.splitlines() if "→" in line] == [
        ["scheme_case", "→"],
        ["dot_segments", "→"],
        ["fragment", "→"],
        ["tracking", "→"],
        ["empty_query", "→"],
        ["slashes", "→"],
    ]
    assert output.startswith(f"{front}\n")
    assert f"slashes            → {front}\n" in output
    assert "as a seed" in output
    assert "→" not in why(front, settings)


def test_why_shows_the_detail_of_a_refusal(tmp_path: Path) -> None:
    refused = {
        "http://a.example/x": Refusal(Reason.EXCLUDED, "exclude.txt:1 http://a.example/"),
        "http://a.example:81/": Refusal(Reason.PORT_DENIED, "81"),
        "http://b.example/": Refusal(Reason.NO_CONTACT),
        "http://b.example/long": Refusal(Reason.EXCLUDED, "long.txt:1 ~" + "a" * 1_000),
    }
    store = open_store(f"sqlite:{tmp_path / 'crawl.db'}")
    store.urls.add([new_url(url, reason=Reason.LINK, refused=why_not) for url, why_not in refused.items()], NOW)
    store.close()
    outputs = {url: why(url, {"CRAWL_DIR": tmp_path}) for url in refused}
    message = "parked: a pattern of URL_EXCLUDE matches it (excluded) [exclude.txt:1 http://a.example/]\n"
    assert message in outputs["http://a.example/x"]
    assert "(port_denied) [81]\n" in outputs["http://a.example:81/"]
    assert "(no_contact)\n" in outputs["http://b.example/"]
    assert "[long.txt:1 ~aaa" in outputs["http://b.example/long"]


def test_why_shows_the_detail_for_an_unknown_url_that_would_be_refused(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("http://a.example/")
    (tmp_path / "exclude.txt").write_text("\n~/x/")
    settings = {"CRAWL_DIR": tmp_path, "CONTACT": "me@a.example", "URL_EXCLUDE": tmp_path / "exclude.txt"}
    assert scrapy("seed", str(tmp_path / "seeds"), **settings).returncode == 0
    assert (
        f"would be parked: a pattern of URL_EXCLUDE matches it: {tmp_path / 'exclude.txt'}:2 ~/x/ (excluded)."
        in why("http://a.example/x/y", settings)
    )
    assert "would be parked: outside the scope of the seeds: domains (out_of_scope)." in why(
        "http://b.example/", settings
    )


# ── two URLs with one key ──

FIRST, DOUBLE = "http://a.example/first", "http://a.example/double"


@pytest.fixture
def collided(tmp_path: Path) -> Path:
    """Make a store in which two URLs have the same key."""
    store = open_store(f"sqlite:{tmp_path / 'crawl.db'}")
    store.urls.add([new_url(FIRST, key=key_of(DOUBLE))], NOW)
    store.urls.add([new_url(DOUBLE)], NOW)
    store.close()
    return tmp_path


def test_why_names_the_url_with_which_another_collides(collided: Path) -> None:
    output = why(DOUBLE + "#top", {"CRAWL_DIR": collided})
    assert f"  cannot be kept: it has the same key as {FIRST}, which was found first.\n" in output
    assert output.startswith(f"{DOUBLE}\n  is the canonical form of {DOUBLE}#top\n")
    assert "waiting" not in output
    assert "seed" not in output


def test_status_reports_colliding_urls_and_still_adds_up(collided: Path) -> None:
    output = scrapy("status", CRAWL_DIR=collided).stdout
    assert "1 URL of 1 host known = 1 waiting + 0 leased + 0 parked" in output
    assert "1 more could not be kept, because another URL has the same key" in output
    data = json.loads(scrapy("status", "--json", CRAWL_DIR=collided).stdout)
    assert (data["known"], data["waiting"], data["collisions"]) == (1, 1, 1)


def test_status_tells_who_keeps_the_log_from_being_cut(tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("http://a.test/\n")
    assert scrapy("seed", str(tmp_path / "seeds.txt"), CRAWL_DIR=tmp_path).returncode == 0
    reading = (
        "import sys\n"
        "from crawler.stores.open import open_store\n"
        f"with open_store('sqlite:{tmp_path / 'crawl.db'}', read_only=True).survey() as survey:\n"
        "    survey.span()\n"
        "    print('reading', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    writer = apsw.Connection(str(tmp_path / "crawl.db"))
    words = [sys.executable, "-c", reading, "export", "PROXY_URL=http://me:PassWord@127.0.0.1:1"]
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        reader.stdout.readline()
        writer.execute("CREATE TABLE scratch (content)")
        for _ in range(7):
            writer.execute("INSERT INTO scratch VALUES (zeroblob(10000000))")
        with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as innocent:
            assert innocent.stdout is not None
            innocent.stdout.readline()  # it reads the newest state
            output = scrapy("status", CRAWL_DIR=tmp_path).stdout
            data = json.loads(scrapy("status", "--json", CRAWL_DIR=tmp_path).stdout)
            innocent.kill()
        reader.kill()
    assert re.search(rf"its log has grown to 7\d MB, because process {reader.pid} \(", output)
    assert "import sys\\nfrom crawler" in output
    assert data["log_bytes"] > 70_000_000
    assert data["old_readers"] == [{"pid": reader.pid, "command": " ".join(words).replace("me:PassWord", "***")}]
    assert "PassWord" not in output
    assert "no process needs it any more" in scrapy("status", CRAWL_DIR=tmp_path).stdout
    writer.close()


def test_status_mentions_no_collisions_where_there_are_none(finished: tuple[Served, dict[str, object]]) -> None:
    _, settings = finished
    assert "could not be kept" not in scrapy("status", **settings).stdout
    assert json.loads(scrapy("status", "--json", **settings).stdout)["collisions"] == 0


# ── status ──


def test_status_adds_up(finished: tuple[Served, dict[str, object]]) -> None:
    _, settings = finished
    data = json.loads(scrapy("status", "--json", **settings).stdout)
    assert data["known"] == data["waiting"] + data["leased"] + data["parked"]
    assert data["pages"] == 60
    assert sum(row["urls"] for row in data["reasons"]) == data["known"]
    assert "60 pages among" in scrapy("status", **settings).stdout


@pytest.mark.parametrize("words", [("status",), ("why", "http://a.example/")])
def test_reading_without_a_crawl_is_refused_and_creates_none(words: tuple[str, ...], tmp_path: Path) -> None:
    result = scrapy(*words, CRAWL_DIR=tmp_path / "nowhere")
    assert (result.returncode, result.stdout) == (69, "")
    assert "there is no crawl here" in error_line(result.stderr)
    assert not (tmp_path / "nowhere").exists()


# ── seeds ──

LONG = b"http://d.example/" + b"long" * 20_000
MESSY = b"\r\n".join(
    [
        b"\xef\xbb\xbf# a comment",
        b"http://a.example/",
        b"",
        b"   http://B.example/x#y  ",
        b"no url",
        b"ftp://c.example/",
        b"\xff\xfe broken",
        b"http://a.example/",
        LONG,
        b"http://e.example/",
    ]
)


def test_good_lines_of_a_seeds_file_are_seeded_and_bad_ones_reported_by_line(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_bytes(MESSY)
    result = scrapy("seed", str(tmp_path / "seeds"), CRAWL_DIR=tmp_path / "crawl")
    assert result.returncode == 0
    reported = [line for line in result.stderr.splitlines() if "not a URL" in line]
    assert [line.split(":")[1] for line in reported] == ["5", "6", "7", "9"]
    known = [url for (url,) in rows(tmp_path / "crawl", "SELECT url FROM urls ORDER BY url")]
    assert known == ["http://a.example/", "http://b.example/x", "http://e.example/"]
    assert "4 seeds read, 3 new, 4 bad lines" in result.stdout


def test_strict_seeding_refuses_the_whole_file(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_bytes(MESSY)
    result = scrapy("seed", "--strict", str(tmp_path / "seeds"), CRAWL_DIR=tmp_path / "crawl")
    assert result.returncode == 65
    assert "seeds:5:" in result.stderr
    assert "nothing was seeded" in result.stderr
    assert not (tmp_path / "crawl").exists()


def test_a_hundred_thousand_seeds_are_streamed(tmp_path: Path) -> None:
    with (tmp_path / "seeds").open("w") as file:
        file.writelines(f"http://h{n % 1000}.example/{n}\n" for n in range(100_000))
    result = scrapy("seed", str(tmp_path / "seeds"), CRAWL_DIR=tmp_path / "crawl")
    assert "100000 seeds read, 100000 new" in result.stdout
    assert rows(tmp_path / "crawl", "SELECT known, waiting FROM accounting") == [(100_000, 100_000)]


def test_bulk_seeding_loads_a_long_list_and_does_not_widen_the_scope(tmp_path: Path) -> None:
    file, crawl_dir = tmp_path / "list.txt", tmp_path / "crawl"
    file.write_text("".join(f"http://h{number % 7}.test/{number}\n" for number in range(30_000)) + "no url\n")
    result = scrapy("seed", "--bulk", str(file), CRAWL_DIR=crawl_dir)
    assert result.returncode == 0
    assert result.stdout == "30000 URLs read, 30000 new, 1 bad lines; 30000 URLs known.\n"
    assert f"{file}:30001: not a URL that can be crawled: 'no url'" in result.stderr
    assert rows(crawl_dir, "SELECT count(*) FROM seeds") == [(0,)]
    assert rows(crawl_dir, "SELECT DISTINCT state, reason, depth FROM urls") == [(0, Reason.LISTED, 1)]
    again = scrapy("seed", "--bulk", str(file), CRAWL_DIR=crawl_dir)
    assert again.stdout.startswith("30000 URLs read, 0 new")
    assert scrapy("seed", "--bulk", "--now", str(file), CRAWL_DIR=crawl_dir).returncode == 2


def test_a_missing_seeds_file_is_refused(tmp_path: Path) -> None:
    result = scrapy("seed", str(tmp_path / "nothing"), CRAWL_DIR=tmp_path / "crawl")
    assert result.returncode == 65
    assert "cannot be read (No such file or directory)" in error_line(result.stderr)


def test_seeds_that_are_neither_a_file_nor_a_url_are_refused(tmp_path: Path) -> None:
    result = scrapy("crawl", "web", "-a", "seeds=nothing.txt", CRAWL_DIR=tmp_path / "crawl")
    assert result.returncode == 65
    assert "Traceback" not in result.stderr


# ── settings ──


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SCOPE", "everything"),
        ("POLITENESS_MIN_DELAY", "soon"),
        ("POLITENESS_MIN_DELAY", "-1"),
        ("POLITENESS_MIN_DELAY", "nan"),
        ("POLITENESS_MIN_DELAY", "0.2"),
        ("CRAWL_MAX_PAGES", "1.5"),
        ("CRAWL_HORIZON", "tomorrow"),
        ("INTRANET_NETWORKS", "10.0.0.0/99"),
        ("DNS_HOSTS", "no/such/file"),
        ("STORE", "oracle:x"),
        ("COMMIT_STEP_HOOK", "nowhere:nothing"),
        ("CONTENT_PROCESSES", "-1"),
        ("CONTENT_HOOK", "nowhere:nothing"),
        ("FETCH_VERIFY_TLS", "perhaps"),
        ("CONTACT", "two\nlines"),
        ("URL_SORT_QUERY", "perhaps"),
        ("URL_MAX_LENGTH", "1"),
        ("URL_PORTS", "80,http"),
        ("URL_RULES", "no/such/file"),
        ("URL_INCLUDE", "no/such/file"),
        ("URL_EXCLUDE", "no/such/file"),
        ("CRAWL_MAX_DEPTH", "-1"),
    ],
)
def test_an_invalid_setting_is_refused_by_name(name: str, value: str, tmp_path: Path) -> None:
    result = scrapy("crawl", "web", **{"CRAWL_DIR": tmp_path / "crawl", name: value})
    assert result.returncode == 78
    assert name in error_line(result.stderr)


def test_without_a_contact_only_own_hosts_are_crawled(tmp_path: Path) -> None:
    result = scrapy("crawl", "web", "-a", "seeds=http://somebody.example/", CRAWL_DIR=tmp_path / "crawl")
    assert result.returncode == 78
    assert "CONTACT" in error_line(result.stderr)
    assert rows(tmp_path / "crawl", "SELECT leased FROM accounting") == [(0,)]


def test_an_unknown_spider_is_refused(tmp_path: Path) -> None:
    result = scrapy("crawl", "nobody", CRAWL_DIR=tmp_path / "crawl")
    assert result.returncode == 78
    assert "no spider 'nobody'" in error_line(result.stderr)


# ── directories and stores that cannot be used ──


def test_a_crawl_dir_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    result = scrapy("crawl", "web", CRAWL_DIR=tmp_path / "file")
    assert result.returncode == 78
    assert "is not a directory" in error_line(result.stderr)
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize("words", [("crawl", "web"), ("seed", "data/seeds/example.txt")])
def test_a_crawl_dir_that_cannot_be_written_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    # Root can write everywhere except in the kernel's own file systems.
    directory = Path("/proc/self/nowhere") if os.geteuid() == 0 else read_only(tmp_path)
    result = scrapy(*words, CRAWL_DIR=directory)
    assert result.returncode == 74
    assert "cannot be written" in error_line(result.stderr)


def read_only(tmp_path: Path) -> Path:
    tmp_path.chmod(0o500)
    return tmp_path / "crawl"


@pytest.mark.parametrize(
    "words",
    [
        ("crawl", "web"),
        ("status",),
        ("why", "http://a.example/"),
        ("urls", "http://a.example/"),
        ("seed", "data/seeds/example.txt"),
    ],
)
def test_a_newer_schema_is_refused_and_not_changed(words: tuple[str, ...], tmp_path: Path) -> None:
    assert scrapy("seed", "data/seeds/example.txt", CRAWL_DIR=tmp_path).returncode == 0
    connection = apsw.Connection(str(tmp_path / "crawl.db"))
    connection.pragma("user_version", SCHEMA_VERSION + 1)
    connection.close()
    before = (tmp_path / "crawl.db").read_bytes()
    result = scrapy(*words, CRAWL_DIR=tmp_path)
    assert result.returncode == 69
    assert "written by a newer Orbweaver" in error_line(result.stderr)
    assert (tmp_path / "crawl.db").read_bytes() == before


READERS = [
    ("status",),
    ("why", "http://www.example.com/"),
    ("show", "http://www.example.com/"),
    ("export", "--to", "jsonl"),
    ("urls", "http://www.example.com/"),
]


@pytest.mark.parametrize("words", READERS)
def test_reading_an_older_crawl_is_refused_with_advice_and_changes_nothing(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    assert scrapy("seed", "data/seeds/example.txt", CRAWL_DIR=tmp_path).returncode == 0
    as_version_1(tmp_path / "crawl.db")
    before = (tmp_path / "crawl.db").read_bytes()
    result = scrapy(*words, CRAWL_DIR=tmp_path)
    assert (result.returncode, result.stdout) == (69, "")
    assert "`scrapy crawl web` brings it forward, and keeps a copy." in error_line(result.stderr)
    assert (tmp_path / "crawl.db").read_bytes() == before
    assert not (tmp_path / "crawl.db.schema1").exists()


def test_seeding_an_older_crawl_migrates_it_and_keeps_a_copy(tmp_path: Path) -> None:
    assert scrapy("seed", "data/seeds/example.txt", CRAWL_DIR=tmp_path).returncode == 0
    as_version_1(tmp_path / "crawl.db")
    (tmp_path / "seeds").write_text("http://new.example/")
    result = scrapy("seed", str(tmp_path / "seeds"), CRAWL_DIR=tmp_path)
    assert "1 seeds read, 1 new" in result.stdout
    assert (tmp_path / "crawl.db.schema1").exists()
    assert scrapy("status", CRAWL_DIR=tmp_path).returncode == 0


@pytest.mark.parametrize(
    "words", [("crawl", "web"), ("status",), ("urls", "http://a.example/"), ("seed", "data/seeds/example.txt")]
)
def test_a_damaged_store_is_refused_and_not_changed(words: tuple[str, ...], tmp_path: Path) -> None:
    assert scrapy("seed", "data/seeds/example.txt", CRAWL_DIR=tmp_path).returncode == 0
    garbage = os.urandom(50_000)
    (tmp_path / "crawl.db").write_bytes(garbage)
    result = scrapy(*words, CRAWL_DIR=tmp_path)
    assert result.returncode == 69
    assert "the store is damaged" in error_line(result.stderr)
    assert (tmp_path / "crawl.db").read_bytes() == garbage


def test_a_damaged_page_is_found_after_an_unclean_stop(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("\n".join(f"http://h{n}.example/" for n in range(2000)))
    assert scrapy("seed", str(tmp_path / "seeds"), CRAWL_DIR=tmp_path).returncode == 0
    database = tmp_path / "crawl.db"
    (damaged := bytearray(database.read_bytes()))[40_960 : 40_960 + 8_192] = os.urandom(8_192)
    database.write_bytes(damaged)
    (tmp_path / "workers").mkdir()
    (tmp_path / "workers" / "0.lock").write_text('{"pid": 1, "since": 0}')
    result = scrapy("crawl", "web", CRAWL_DIR=tmp_path, OWN_HOSTS="*")
    assert result.returncode == 69
    assert "the store is damaged" in error_line(result.stderr)
    assert database.read_bytes() == damaged


def test_an_archive_file_that_lost_acknowledged_bytes_stops_the_start(served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl")
    assert scrapy("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", **settings).returncode == 0
    (segment,) = (tmp_path / "crawl" / "warc").iterdir()
    connection = apsw.Connection(str(tmp_path / "crawl" / "crawl.db"))
    connection.execute("UPDATE segments SET closed = 0")
    connection.close()
    os.truncate(segment, 1000)
    result = scrapy("crawl", "web", **settings)
    assert result.returncode == 74
    assert "bytes that were acknowledged are missing" in error_line(result.stderr)
    assert segment.stat().st_size == 1000


def test_the_sample_seeds_are_valid(tmp_path: Path) -> None:
    assert scrapy("seed", "--strict", "data/seeds/example.txt", CRAWL_DIR=tmp_path / "crawl").returncode == 0


# ── one host ──


def test_status_of_a_host_tells_the_politeness_of_the_crawl(finished: tuple[Served, dict[str, object]]) -> None:
    served, settings = finished
    url = next(iter(served.web.urls()))
    name = url.split("/")[2].partition(":")[0]
    directory = {"CRAWL_DIR": settings["CRAWL_DIR"]}  # and none of the crawl's other settings: its delays are stored
    text = scrapy("status", "--host", name, **directory)
    assert text.returncode == 0, text.stderr
    facts = json.loads(scrapy("status", "--host", name, "--json", **directory).stdout)
    assert facts["rest_parts"]["the least for any host"] == settings["POLITENESS_MIN_DELAY"]
    assert facts["rest"] == max(facts["rest_parts"].values()) < 5
    assert facts["clock"]["last_end"] > 0
    assert "after each response before the next request (" in text.stdout


def test_a_crawl_delay_beyond_the_limit_is_told_as_it_is_kept(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'crawl.db'}")
    store.urls.add([new_url("http://slow.test/")], NOW)
    store.close()
    connection = apsw.Connection(str(tmp_path / "crawl.db"))
    connection.execute("UPDATE hosts SET crawl_delay = 900")
    connection.close()
    shown = scrapy("status", "--host", "slow.test", CRAWL_DIR=tmp_path).stdout
    assert "waits 5 min after each response before the next request (Crawl-delay)" in shown
    assert "asks for a Crawl-delay of 15 min, of which 5 min are kept" in shown


def test_status_takes_no_arguments() -> None:
    result = scrapy("status", "www.example.com")
    assert result.returncode == 2
    assert "--host NAME" in result.stderr
