"""The demo web is complete, its server does what sites.toml says, and a crawl finds every page that can be reached."""

from __future__ import annotations

import errno
import gzip
import http.client
import json
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree as ET

import pytest

from crawler.demo import FOLDER, PORT, TYPES, DemoSite, read_sites, serving
from crawler.fetch.robots import RobotsRules
from crawler.parse.charset import decode
from tests.crawl.runner import ROOT, rows, scrapy

pytestmark = [pytest.mark.crawl, pytest.mark.xdist_group("demo")]  # one worker, one crawl

SITES = {site.host: site for site in read_sites()}
MUSEUM, KNOTS, TIDEPOOLS = "museum.saltmarsh.test", "knots.saltmarsh.test", "tidepools.saltmarsh.test"
SOURDOUGH, BEES, RAILWAY = "sourdough.hearthside.test", "bees.hearthside.test", "railway.hearthside.test"

FORBIDDEN = f"http://{MUSEUM}:{PORT}/members/"
ONLY_IN_THE_SITEMAP = f"http://{MUSEUM}:{PORT}/exhibits/keeper-portraits.html"
PICTURE = f"http://{MUSEUM}:{PORT}/images/prisms.png"  # linked, but of a content type that is not read
ONLY_BY_NOFOLLOW = f"http://{MUSEUM}:{PORT}/guestbook/photographs.html"


QUERIES = {
    query["words"]: query["first"]
    for query in tomllib.loads((FOLDER / "queries.toml").read_text(encoding="utf-8"))["queries"]
}


# ── The files ──


class Links(HTMLParser):
    """The URLs to which a page links, with nofollow links in a list of their own."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.followed: list[str] = []
        self.not_followed: list[str] = []
        self.feed(page.decode("latin-1"))  # all links are ASCII

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "a" and given.get("href"):
            nofollow = "nofollow" in (given.get("rel") or "")
            (self.not_followed if nofollow else self.followed).append(str(given["href"]))


def url_of(site: DemoSite, path: str) -> str:
    return f"http://{site.host}:{PORT}{path}"


def pages() -> dict[str, str]:
    """Return URL → file of all HTML pages."""
    return {
        url_of(site, path): answer.file
        for site in SITES.values()
        for path, answer in site.answers.items()
        if answer.file.endswith((".html", ".htm"))
    }


def links_of(url: str) -> Links:
    return Links((FOLDER / pages()[url]).read_bytes())


def test_the_demo_web_has_six_small_sites() -> None:
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    assert set(SITES) == {MUSEUM, KNOTS, TIDEPOOLS, SOURDOUGH, BEES, RAILWAY}
    assert 60 <= len(set(pages().values())) <= 95
    assert sum(path.stat().st_size for path in files) < 400_000
    assert max(path.stat().st_size for path in files) < 60_000


def test_every_file_is_served_and_every_answer_has_its_file() -> None:
    served = {answer.file for site in SITES.values() for answer in site.answers.values() if answer.file}
    there = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    assert served == there - {"sites.toml", "queries.toml"}
    assert {file.rpartition(".")[2] for file in served} == set(TYPES)
    for site in SITES.values():
        for path, answer in site.answers.items():
            assert answer.file or answer.status != 200, url_of(site, path)
            assert bool(answer.location) == (300 <= answer.status <= 399), url_of(site, path)


def test_every_query_has_its_page() -> None:
    assert len(QUERIES) == 20
    for url in QUERIES.values():
        assert SITES[str(urlsplit(url).hostname)].answer(urlsplit(url).path).file, url


def test_every_link_leads_to_an_answer_or_out_of_this_web() -> None:
    for page in pages():
        links = links_of(page)
        for link in links.followed + links.not_followed:
            target = urlsplit(urljoin(page, link))
            if not str(target.hostname).endswith(".example"):
                assert target.port == PORT, (page, link)
                assert target.path in SITES[str(target.hostname)].answers, (page, link)


def test_every_redirect_leads_to_an_answer() -> None:
    for site in SITES.values():
        for path, answer in site.answers.items():
            if answer.location:
                target = urlsplit(urljoin(url_of(site, path), answer.location))
                assert target.path in SITES[str(target.hostname)].answers, path


def test_every_page_has_text() -> None:
    for url, file in pages().items():
        text = re.sub(r"<[^>]*>", " ", (FOLDER / file).read_text(encoding="utf-8", errors="replace"))
        assert len(text.split()) > 80 or "/ja/" in url, url


def reachable() -> set[str]:
    """Return the pages that can be reached in full by links, without those that robots.txt or nofollow forbid."""
    found: set[str] = set()
    known = [url_of(site, "/") for site in SITES.values()]
    for url in known:
        target = urlsplit(url)
        site = SITES.get(str(target.hostname))
        if site is None or url.startswith(FORBIDDEN):
            continue
        answer = site.answer(target.path)
        next_urls = [answer.location] if answer.location else []
        if answer.status == 200 and not answer.cut:
            found.add(url)
            next_urls += links_of(url).followed if url in pages() else []
        for next_url in next_urls:
            absolute = urljoin(url, next_url)
            if absolute not in known:
                known.append(absolute)
    return found


def test_every_page_can_be_reached_except_those_that_are_hidden_on_purpose() -> None:
    hidden = {url for url in set(pages()) - reachable() if not url.startswith(FORBIDDEN)}
    assert hidden == {ONLY_IN_THE_SITEMAP, ONLY_BY_NOFOLLOW, f"http://{RAILWAY}:{PORT}/wiring/decoders.html"}
    assert any(
        urljoin(page, link) == FORBIDDEN for page in reachable() & set(pages()) for link in links_of(page).followed
    )


def test_robots_files_have_the_intended_rules() -> None:
    rules = {
        host: RobotsRules.parse((FOLDER / site.answers["/robots.txt"].file).read_bytes())
        for host, site in SITES.items()
        if site.answers["/robots.txt"].file
    }
    assert set(SITES) - set(rules) == {SOURDOUGH}
    forbidden = [
        url
        for url in pages()
        if (host := str(urlsplit(url).hostname)) in rules and not rules[host].allows(url, "orbweaver")
    ]
    assert sorted(forbidden) == [FORBIDDEN, f"{FORBIDDEN}minutes.html"]
    assert {host: delay for host in rules if (delay := rules[host].crawl_delay("orbweaver"))} == {TIDEPOOLS: 1}
    assert rules[MUSEUM].sitemaps == (f"http://{MUSEUM}:{PORT}/sitemap.xml",)


def test_the_sitemap_lists_one_page_that_is_not_linked() -> None:
    tree = ET.parse(FOLDER / "museum" / "sitemap.xml")
    listed = {str(element.text) for element in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")}
    assert listed <= set(pages())
    assert listed - reachable() == {ONLY_IN_THE_SITEMAP}


def test_the_pdf_is_valid() -> None:
    pdf = (FOLDER / "museum" / "files" / "fresnel-lens.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-1.4")
    assert pdf.endswith(b"%%EOF\n")
    table = int(pdf.rpartition(b"startxref\n")[2].split()[0])
    assert pdf[table:].startswith(b"xref\n0 7\n")
    for number, line in enumerate(pdf[table:].split(b"\n")[3:9], 1):
        assert pdf[int(line.split()[0]) :].startswith(b"%d 0 obj" % number)
    assert b"Fresnel" in pdf


# ── The server ──


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(list(SITES.values()), 0) as chosen:
        yield chosen


class HttpResponse(NamedTuple):
    """A response as the client reads it."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


def get(host: str, path: str, port: int, *, method: str = "GET", **headers: str) -> HttpResponse:
    connection = http.client.HTTPConnection(SITES[host].address, port, timeout=30)
    try:
        return send(connection, host, path, port, method=method, **headers)
    finally:
        connection.close()


def send(
    connection: http.client.HTTPConnection, host: str, path: str, port: int, *, method: str = "GET", **headers: str
) -> HttpResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, headers={"Host": f"{host}:{port}"} | named)
    response = connection.getresponse()
    return HttpResponse(response.status, response.headers, response.read())


@pytest.mark.parametrize(
    ("host", "path", "status", "location"),
    [
        (MUSEUM, "/prices.html", 301, "/visit/opening-hours.html"),
        (MUSEUM, "/visit/ferry.html", 410, None),
        (MUSEUM, "/exhibits/storm-glass.html", 404, None),
        (KNOTS, "/king-of-knots", 301, "/knots/bowline"),
        (KNOTS, "/knots/bowline", 301, "http://knots.saltmarsh.test:{port}/loops/bowline.html"),
        (KNOTS, "/bends/hunters-bend.html", 302, "/bends/hunters-bend.html"),
        (SOURDOUGH, "/robots.txt", 404, None),
        (BEES, "/live/hive-scale", 500, None),
        (BEES, "/live/camera", 302, "/questions.html"),
        (RAILWAY, "/draw.html", 302, "/draw/result.html"),
        (RAILWAY, "/draw/result.html", 302, "/draw.html"),
        (RAILWAY, "/never/heard/of", 404, None),
        (RAILWAY, "/../sites.toml", 404, None),
        (RAILWAY, "/index.html", 404, None),
    ],
)
def test_status_and_location(host: str, path: str, status: int, location: str | None, port: int) -> None:
    got = get(host, path, port)
    assert (got.status, got.headers["Location"]) == (status, location and location.format(port=port))
    assert got.body


def test_every_other_answer_is_the_file(port: int) -> None:
    for site in SITES.values():
        for path, answer in site.answers.items():
            if answer.status == 200 and not (answer.cut or answer.delay):
                got = get(site.host, path, port)
                assert got.status == 200, path
                expected = (FOLDER / answer.file).read_bytes()
                assert got.body.replace(f".test:{port}".encode(), f".test:{PORT}".encode()) == expected


@pytest.mark.parametrize(
    ("host", "path", "content_type"),
    [
        (MUSEUM, "/", "text/html; charset=utf-8"),
        (MUSEUM, "/files/fresnel-lens.pdf", "application/pdf"),
        (MUSEUM, "/images/prisms.png", "image/png"),
        (MUSEUM, "/sitemap.xml", "application/xml"),
        (MUSEUM, "/robots.txt", "text/plain; charset=utf-8"),
        (SOURDOUGH, "/recipes/country-loaf.txt", "text/plain; charset=utf-8"),
        (RAILWAY, "/history.htm", "text/html; charset=utf-8"),
    ],
)
def test_content_type(host: str, path: str, content_type: str, port: int) -> None:
    assert get(host, path, port).headers["Content-Type"] == content_type


@pytest.mark.parametrize(
    ("host", "path", "encoding", "source", "words"),
    [
        (MUSEUM, "/logbook/1903.html", "windows-1252", "header", "Étoile du Nord"),
        (SOURDOUGH, "/ru/borodinsky.html", "windows-1251", "meta", "Бородинский хлеб"),
        (TIDEPOOLS, "/ja/", "UTF-8", "header", "潮だまり"),
        (BEES, "/honey/cake.html", "UTF-8", "header", "G\ufffdteau au miel"),
    ],
)
def test_encodings_are_declared_in_header_or_page_or_wrongly(
    host: str, path: str, encoding: str, source: str, words: str, port: int
) -> None:
    got = get(host, path, port)
    decoded = decode(got.body, got.headers["Content-Type"])
    assert (decoded.encoding, decoded.source) == (encoding, source)
    assert words in decoded.text


def test_the_page_with_a_wrong_declaration_is_valid_in_its_encoding(port: int) -> None:
    assert "Gâteau au miel" in get(BEES, "/honey/cake.html", port).body.decode("cp1252")


def test_copies_are_exact(port: int) -> None:
    assert get(KNOTS, "/reef-knot.html", port).body == get(KNOTS, "/print/reef-knot.html", port).body
    assert get(TIDEPOOLS, "/tides-explained.html", port).body == get(MUSEUM, "/exhibits/tides.html", port).body


def test_gzip_is_sent_to_clients_that_accept_it(port: int) -> None:
    plain = get(MUSEUM, "/exhibits/", port)
    packed = get(MUSEUM, "/exhibits/", port, Accept_Encoding="gzip, deflate")
    assert (plain.headers["Content-Encoding"], packed.headers["Content-Encoding"]) == (None, "gzip")
    assert len(packed.body) < len(plain.body)
    assert gzip.decompress(packed.body) == plain.body


def test_one_page_is_shorter_than_announced(port: int) -> None:
    with pytest.raises(http.client.IncompleteRead) as cut:
        get(RAILWAY, "/wiring/decoders.html", port)
    assert cut.value.partial
    assert cut.value.expected


def test_one_page_is_slow(port: int) -> None:
    before = time.monotonic()
    assert get(RAILWAY, "/layouts/summit.html", port).status == 200
    assert time.monotonic() - before >= 0.5


def test_links_contain_the_port_of_the_server(port: int) -> None:
    body = get(MUSEUM, "/", port).body
    assert f"http://{KNOTS}:{port}/".encode() in body
    assert b":%d/" % PORT not in body or port == PORT


def test_a_connection_serves_one_request_after_another(port: int) -> None:
    connection = http.client.HTTPConnection(SITES[KNOTS].address, port, timeout=30)
    try:
        assert send(connection, KNOTS, "/", port, method="HEAD").body == b""
        first = connection.sock
        assert [send(connection, KNOTS, path, port).status for path in ("/", "/nothing", "/loops/")] == [200, 404, 200]
        assert send(connection, "stranger.test", "/", port).status == 421
        assert connection.sock is first
    finally:
        connection.close()


# ── The crawl ──


def demo(*words: object, timeout: float = 110) -> subprocess.CompletedProcess[str]:
    return subprocess.run(demo_words(*words), cwd=ROOT, timeout=timeout, capture_output=True, text=True, check=False)


def demo_words(*words: object) -> list[str]:
    return [sys.executable, "-m", "crawler.demo", *map(str, words)]


def logged_requests(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def archived(directory: Path) -> set[str]:
    """Return the complete pages in the archive, by their URLs as in the files."""
    found = rows(
        directory,
        "SELECT url FROM documents JOIN urls USING (host, rest) JOIN reasons ON code = documents.reason "
        "WHERE documents.kind = 0 AND documents.status = 200 AND name = 'OK'",
    )
    return {in_files(str(url)) for (url,) in found}


def in_files(url: str) -> str:
    """Return the URL as in the files, with the default port."""
    return re.sub(r"\.test:\d+/", f".test:{PORT}/", url)


class Crawled(NamedTuple):
    directory: Path
    result: subprocess.CompletedProcess[str]
    requests: list[dict[str, object]]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Run the demo to its end."""
    folder = tmp_path_factory.mktemp("demo")
    result = demo("--port", 0, "--crawl-dir", folder / "crawl", "--log", folder / "log")
    return Crawled(folder / "crawl", result, logged_requests(folder / "log"))


def test_a_run_ends_without_errors(crawled: Crawled) -> None:
    assert crawled.result.returncode == 0, crawled.result.stderr
    assert "Traceback" not in crawled.result.stderr
    assert "Crawling the demo web, 6 sites" in crawled.result.stdout
    assert rows(crawled.directory, "SELECT leased FROM accounting") == [(0,)]


def test_every_page_that_can_be_reached_is_archived(crawled: Crawled) -> None:
    found = archived(crawled.directory)
    assert reachable() - found == {PICTURE}
    assert found - reachable() == {ONLY_IN_THE_SITEMAP}


def test_announcements_of_the_feed_are_stored(crawled: Crawled) -> None:
    announced = rows(
        crawled.directory,
        "SELECT title, replace(url, rtrim(url, replace(url, '/', '')), '/') "
        "FROM announcements JOIN urls USING (host, rest)",
    )
    assert sorted(announced) == [
        ("A swarm on the clock tower", "/swarms.html"),
        ("What flowers in June", "/plants.html"),
    ]


def test_nothing_that_robots_txt_or_nofollow_forbids_was_requested(crawled: Crawled) -> None:
    targets = [(str(request["host"]), str(request["target"])) for request in crawled.requests]
    assert {host for host, _ in targets} == set(SITES)
    assert [target for _, target in targets if target.startswith(("/members/", "/guestbook/"))] == []
    denied = rows(crawled.directory, "SELECT url FROM urls JOIN reasons ON code = reason WHERE name = 'ROBOTS_DENIED'")
    assert {urlsplit(str(url)).path for (url,) in denied} == {"/members/", "/members/minutes.html"}


def test_robots_txt_is_the_first_request_to_each_host_and_made_once(crawled: Crawled) -> None:
    for host in SITES:
        targets = [request["target"] for request in crawled.requests if request["host"] == host]
        assert targets.index("/robots.txt") == 0
        assert targets.count("/robots.txt") == 1


@pytest.mark.parametrize(
    ("host", "path", "reason"),
    [
        (MUSEUM, "/prices.html", "REDIRECTED"),
        (MUSEUM, "/exhibits/storm-glass.html", "NOT_FOUND"),
        (MUSEUM, "/visit/ferry.html", "GONE"),
        (KNOTS, "/knots/bowline", "REDIRECTED"),
        (KNOTS, "/bends/hunters-bend.html", "REDIRECT_LOOP"),
        (BEES, "/live/hive-scale", "SERVER_ERROR"),
        (RAILWAY, "/wiring/decoders.html", "CUT_DISCONNECT"),
    ],
)
def test_failed_and_redirected_urls_have_their_reason(host: str, path: str, reason: str, crawled: Crawled) -> None:
    found = rows(
        crawled.directory,
        "SELECT name FROM urls JOIN reasons ON code = last_reason WHERE url LIKE ?",
        (f"http://{host}:%{path}",),
    )
    assert found == [(reason,)]


@pytest.fixture(scope="module")
def searched(crawled: Crawled) -> Path:
    """Search once, so that there is an index; return the crawl directory."""
    result = scrapy("search", "lighthouse", CRAWL_DIR=crawled.directory)
    assert result.returncode == 0, result.stderr
    return crawled.directory


@pytest.mark.parametrize(("words", "first"), QUERIES.items(), ids=QUERIES)
def test_the_expected_page_is_the_first_hit(words: str, first: str, searched: Path) -> None:
    result = scrapy("search", words, "--json", CRAWL_DIR=searched)
    assert (result.returncode, result.stderr) == (0, "")
    hits = [json.loads(line) for line in result.stdout.splitlines()]
    assert in_files(hits[0]["url"]) == first
    assert len(hits) <= 10
    for hit in hits:
        assert [other["host"] for other in hits].count(hit["host"]) <= 2


def test_copies_are_not_found_beside_their_originals(searched: Path) -> None:
    result = scrapy(
        "search", "reef knot bowline tide", "--json", "--limit", "100", "--per-host", "0", CRAWL_DIR=searched
    )
    found = {in_files(json.loads(line)["url"]) for line in result.stdout.splitlines()}
    copies = {f"http://{KNOTS}:{PORT}/print/bowline.html", f"http://{KNOTS}:{PORT}/loops/bowline.html"}
    assert len(found & copies) == 1
    assert len(found) > 20


def test_a_run_ends_with_a_search_that_finds_something(crawled: Crawled) -> None:
    *_, command, what = crawled.result.stdout.splitlines()
    assert what.strip() == "for example"
    words = shlex.split(command.partition(" scrapy ")[2])
    result = scrapy(*words)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0] == " 1. Bowline | Knot Locker"


def test_an_interrupted_run_stops_cleanly_and_the_next_one_finishes(tmp_path: Path) -> None:
    directory, log = tmp_path / "crawl", tmp_path / "log"
    words = demo_words("--port", 0, "--crawl-dir", directory, "--log", log)
    with (tmp_path / "output").open("wb") as output:
        process = subprocess.Popen(words, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    try:
        while len(logged_requests(log)) < 20:
            with pytest.raises(subprocess.TimeoutExpired):  # it is still running
                process.wait(timeout=0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
    assert rows(directory, "SELECT leased FROM accounting") == [(0,)]
    assert reachable() - archived(directory) > {PICTURE}
    ((seed,),) = rows(directory, "SELECT url FROM seeds LIMIT 1")
    again = demo("--port", urlsplit(str(seed)).port, "--crawl-dir", directory)
    assert again.returncode == 0, again.stderr
    assert reachable() - archived(directory) == {PICTURE}


def test_more_arguments_go_to_the_crawl_and_its_exit_code_is_returned(tmp_path: Path) -> None:
    result = demo("--port", 0, "--crawl-dir", tmp_path / "crawl", "--", "-s", "SCOPE=nonsense")
    assert result.returncode == 78
    assert "SCOPE='nonsense'" in result.stderr


def test_a_taken_port_is_an_error_of_one_line_with_exit_code_78(tmp_path: Path) -> None:
    with socket.create_server((SITES[TIDEPOOLS].address, 0)) as other:
        taken = other.getsockname()[1]
        result = demo("--port", taken, "--crawl-dir", tmp_path / "crawl")
    assert result.returncode == 78
    assert result.stderr.startswith(f"orbweaver: Port {taken} is taken on {SITES[TIDEPOOLS].address}")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(
    ("words", "code"), [(("--port", "70000"), 78), (("--log", "."), 65), (("--port", "some"), 2), (("--nothing",), 2)]
)
def test_wrong_arguments_are_refused(words: tuple[str, ...], code: int, tmp_path: Path) -> None:
    result = demo("--crawl-dir", tmp_path / "crawl", *words)
    assert result.returncode == code
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "crawl").exists()


def test_serve_only_prints_how_to_crawl_and_cleans_up(tmp_path: Path) -> None:
    words = demo_words("--serve-only", "--port", 0, "--crawl-dir", tmp_path / "crawl")
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        try:
            lines = [process.stdout.readline() for _ in range(9)]
            hosts_file = Path(str(re.search(r"in (\S+) \(DNS_HOSTS\)", lines[0])[1]))  # type: ignore[index]
            names = hosts_file.read_text()
            port = int(re.search(r":(\d+)/", lines[1])[1])  # type: ignore[index]
            front = get(MUSEUM, "/", port)
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()
    assert names.splitlines() == [f"{site.address} {site.host}" for site in SITES.values()]
    assert front.status == 200
    assert f"-s DNS_HOSTS={hosts_file}" in lines[-1]
    assert not hosts_file.parent.exists()
    with pytest.raises(ConnectionRefusedError) as refused:
        get(MUSEUM, "/", port)
    assert refused.value.errno == errno.ECONNREFUSED
