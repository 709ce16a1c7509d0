"""`scrapy show` and `scrapy export` read documents back from the archive."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import shutil
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import apsw
import pytest
from scrapy.settings import Settings

from crawler.commands import export
from crawler.monitor import progress_bar
from crawler.urls.keys import key_of
from tests.crawl.runner import error_line, polite_to, rows, scrapy, scrapy_bytes, seeds_file, started
from tests.samples import NOW
from tests.small_collection import Collection
from tests.webgraph.server import Served

pytestmark = [pytest.mark.crawl, pytest.mark.xdist_group("show and export")]  # one worker, one crawl

WEB = {
    "seed": 5,
    "hosts": 4,
    "pages": 60,
    "crawl_delay": 0,
    "error_share": 0.25,
    "coded_share": 0.6,
    "plain_share": 0.2,
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(WEB, tmp_path_factory.mktemp("web")) as web:
        yield web


@pytest.fixture(scope="module")
def crawled(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawl a generated web to its end, with an archive of several files."""
    directory = tmp_path_factory.mktemp("crawled")
    settings = polite_to(served, directory / "crawl", WARC_SEGMENT_BYTES=100_000)
    result = scrapy("crawl", "web", "-a", f"seeds={seeds_file(served, directory)}", **settings)
    assert result.returncode == 0, result.stderr
    return directory / "crawl"


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    made = Collection(tmp_path)
    yield made
    made.close()


def show(directory: Path, *words: str) -> tuple[int, bytes, str]:
    """Run `scrapy show`; return its exit code, standard output and standard error."""
    result = scrapy_bytes("show", *words, CRAWL_DIR=directory)
    return result.returncode, result.stdout, result.stderr.decode()


def shown(directory: Path, *words: str) -> bytes:
    code, output, messages = show(directory, *words)
    assert (code, messages) == (0, "")
    return output


def exported(directory: Path, *words: str) -> tuple[list[dict[str, Any]], str]:
    """Export as jsonl; return the objects and the messages."""
    result = scrapy("export", "--to", "jsonl", *words, CRAWL_DIR=directory)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()], result.stderr


def decoded_body(message: bytes) -> bytes:
    """Return the body of a response, decoded by another HTTP library."""

    class Connection:
        def makefile(self, mode: str) -> io.BytesIO:
            return io.BytesIO(message)

    response = HTTPResponse(Connection())  # type: ignore[arg-type]
    response.begin()
    body = response.read()
    return gzip.decompress(body) if response.getheader("Content-Encoding") == "gzip" else body


@contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    ends = os.openpty()
    try:
        yield ends
    finally:
        for end in ends:
            os.close(end)


def shown_on_a_terminal(directory: Path, *words: str) -> bytes:
    """Run `scrapy show` on a terminal; the output of these tests fits into its buffer."""
    with terminal() as (person, program):
        result = scrapy_bytes("show", *words, stdout=program, CRAWL_DIR=directory)
        assert (result.returncode, result.stderr) == (0, b"")
        return os.read(person, 100_000)


# ── usage ──


@pytest.mark.parametrize("name", ["show", "export"])
def test_help_contains_an_example(name: str) -> None:
    result = started(name, "--help")
    assert result.returncode == 0
    assert re.search(f"Examples?: scrapy {name} ", " ".join(result.stdout.split()))


@pytest.mark.parametrize(
    "words",
    [
        ("show",),
        ("show", "a", "b"),
        ("show", "a", "--version", "one"),
        ("show", "a", "--version", "1", "--all"),
        ("show", "a", "--text", "--headers"),
        ("export",),
        ("export", "--to", "jsonl", "more"),
        ("export", "--to", "jsonl", "--since", "yesterday"),
        ("export", "--to", "jsonl", "--since", "-1"),
        *(("export", "--to", "jsonl", f"--min-relevance={value}") for value in ("-0.1", "1.1", "nan", "half")),
    ],
)
def test_wrong_usage_is_exit_code_2(words: tuple[str, ...], tmp_path: Path) -> None:
    assert scrapy(*words, CRAWL_DIR=tmp_path / "x").returncode == 2


def test_an_unknown_export_format_is_refused_with_the_list_of_formats(crawled: Path) -> None:
    result = scrapy("export", "--to", "xml:file", CRAWL_DIR=crawled)
    assert result.returncode == 2
    assert "--to xml: name one of these: jsonl" in result.stderr


@pytest.mark.parametrize("words", [("show", "http://a.example/"), ("export", "--to", "jsonl")])
def test_reading_without_a_crawl_is_refused_and_creates_none(words: tuple[str, ...], tmp_path: Path) -> None:
    result = scrapy(*words, CRAWL_DIR=tmp_path / "nowhere")
    assert (result.returncode, result.stdout) == (69, "")
    assert "there is no crawl here" in error_line(result.stderr)
    assert not (tmp_path / "nowhere").exists()


# ── show ──


def test_every_page_is_shown_as_it_was_sent(served: Served, crawled: Path) -> None:
    urls = {served.web.page_at(url).behaviour: url for url in served.web.urls()}  # one of each behaviour
    assert {"normal", "gzip", "chunked"} <= urls.keys()
    for behaviour, url in urls.items():
        message = shown(crawled, url)
        assert message.startswith(b"HTTP/1.1 200 OK\r\n")
        assert hashlib.sha256(decoded_body(message)).hexdigest() == served.web.digest(url)
        assert (served.web.body(url) in message) == (behaviour in ("normal", "slow"))


def test_the_headers_alone_are_the_beginning_of_the_response(served: Served, crawled: Path) -> None:
    url = served.web.seeds()[0]
    head = shown(crawled, "--headers", url)
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert head.endswith(b"\r\n\r\n")
    assert shown(crawled, url).startswith(head)


def test_the_text_of_a_page_is_shown_without_markup(served: Served, crawled: Path) -> None:
    url = served.web.seeds()[0]
    text = shown(crawled, "--text", url).decode()
    first = served.web.body(url).decode().partition("<p>")[2].partition("</p>")[0]
    assert first in text
    assert "<" not in text


def test_the_text_of_a_text_file_is_its_body(served: Served, crawled: Path) -> None:
    pages = [page for page in served.web.pages_of_all_hosts() if page.is_plain]
    page = next((page for page in pages if page.charset != "utf-8"), pages[0])
    url = served.web.page_url(page)
    assert shown(crawled, "--text", url).decode() == served.web.body(url).decode(page.charset) + "\n"


def test_the_url_may_be_spelled_in_any_way(served: Served, crawled: Path) -> None:
    url = served.web.seeds()[0]
    assert shown(crawled, url.replace("http://h", "HTTP://H") + "#top") == shown(crawled, url)


def test_the_versions_of_a_url_are_counted_from_the_oldest(served: Served, crawled: Path) -> None:
    url = next(url for url in served.web.urls() if served.web.flaky(url) == ("500", 2))
    failed, failed_again, good = (shown(crawled, "--version", str(number), url) for number in (1, 2, 3))
    assert failed.startswith(b"HTTP/1.1 500 ")
    assert failed_again.startswith(b"HTTP/1.1 500 ")
    assert good.startswith(b"HTTP/1.1 200 ")
    assert shown(crawled, url) == good
    everything = shown(crawled, "--all", url)
    assert everything.startswith("── version 1 of 3: fetched ".encode())
    assert [everything.count(answer) for answer in (failed, good)] == [1 + (failed == failed_again), 1]
    for number in ("0", "4"):
        code, output, messages = show(crawled, "--version", number, url)
        assert (code, output) == (1, b"")
        assert f"there is no version {number}; it has 3" in error_line(messages)


def test_a_redirect_is_shown_too(served: Served, crawled: Path) -> None:
    followed = {url for (url,) in rows(crawled, "SELECT url FROM urls WHERE reason = 30")}
    source = next(url for url in served.web.redirects() if url in followed)
    assert b"\r\nLocation: " in shown(crawled, "--headers", source)


@pytest.mark.parametrize(
    ("reason", "explanation"),
    [
        ("ROBOTS_DENIED", "not archived: parked, robots.txt forbids it (robots_denied)"),
        ("NO_CONTACT", "not archived: parked, not an own host, and no CONTACT is given (no_contact)"),
    ],
)
def test_a_url_that_was_never_fetched_is_explained(reason: str, explanation: str, crawled: Path) -> None:
    ((url,), *_) = rows(crawled, "SELECT url FROM urls JOIN reasons ON code = reason WHERE name = ?", [reason])
    code, output, error = show(crawled, str(url))
    assert (code, output) == (1, b"")
    assert f"{url}: {explanation}; `scrapy why {url}` tells more." in error_line(error)


def test_a_url_that_waits_for_its_first_visit_is_explained(tmp_path: Path) -> None:
    (tmp_path / "seeds").write_text("http://a.example/")
    assert scrapy("seed", str(tmp_path / "seeds"), CRAWL_DIR=tmp_path).returncode == 0
    code, _, messages = show(tmp_path, "http://a.example/")
    assert code == 1
    assert "not archived: waiting, given as a seed (seed) and not visited yet" in error_line(messages)


def test_an_unknown_url_is_explained(crawled: Path) -> None:
    code, output, messages = show(crawled, "http://nobody.example/")
    assert (code, output) == (1, b"")
    assert "not archived and not known" in error_line(messages)
    assert "`scrapy why http://nobody.example/`" in messages


@pytest.mark.parametrize("text", ["no url", "mailto:a@b.example", ""])
def test_a_text_that_is_no_url_is_explained(text: str, crawled: Path) -> None:
    code, output, messages = show(crawled, text)
    assert (code, output) == (1, b"")
    assert "`scrapy why` says what is wrong with it" in error_line(messages)


def test_a_colliding_url_is_not_shown_as_the_stored_one(collection: Collection) -> None:
    first, double = "http://a.test/first", "http://a.test/double"
    collection.add(first, b"<p>The first", Content_Type="text/html")
    connection = apsw.Connection(str(collection.directory / "crawl.db"))
    for table in ("urls", "documents"):  # no two real URLs with equal keys are known to us
        connection.execute(f"UPDATE {table} SET rest = ? WHERE rest = ?", (key_of(double).rest, key_of(first).rest))
    connection.close()
    code, output, messages = show(collection.directory, double)
    assert (code, output) == (1, b"")
    assert f"{double}: " in error_line(messages)
    assert first in messages


def test_a_missing_archive_file_is_an_error_of_one_line(served: Served, crawled: Path, tmp_path: Path) -> None:
    shutil.copytree(crawled, tmp_path / "crawl")
    url = served.web.seeds()[0]
    ((name,),) = rows(crawled, f"{FILE_OF} AND d.status = 200", [url])
    (tmp_path / "crawl" / "warc" / str(name)).unlink()
    code, output, messages = show(tmp_path / "crawl", url)
    assert (code, output) == (74, b"")
    assert str(name) in error_line(messages)


def test_a_format_without_text_is_reported(collection: Collection) -> None:
    collection.add("http://a.test/x.pdf", b"%PDF-1.4 ...", Content_Type="application/pdf")
    collection.add("http://a.test/bare", b"\0\1\2")
    code, output, messages = show(collection.directory, "--text", "http://a.test/x.pdf")
    assert (code, output) == (1, b"")
    assert "application/pdf has no text that Orbweaver can read" in error_line(messages)
    assert "a document without a type has no text" in show(collection.directory, "--text", "http://a.test/bare")[2]
    assert shown(collection.directory, "http://a.test/x.pdf").endswith(b"\r\n\r\n%PDF-1.4 ...")


def test_any_format_can_be_shown_as_html_without_active_content(collection: Collection) -> None:
    page = (
        b"<title>A &lt;b></title><script>evil()</script><h1>Webs</h1><p onclick=x()>See <a href=/y>this</a><img src=/z>"
    )
    collection.add("http://a.test/", page, Content_Type="text/html")
    collection.add("http://a.test/t.csv", b"a,b\n<1>,2\n", Content_Type="text/csv")
    collection.add("http://a.test/x.pdf", b"%PDF-1.4 ...", Content_Type="application/pdf")
    view = shown(collection.directory, "--html", "http://a.test/").decode()
    assert view.startswith("<!DOCTYPE html>")
    assert "<title>A &lt;b&gt;</title>" in view
    assert '<h1>Webs</h1>\n<p>See <a href="http://a.test/y">this</a></p>' in view
    assert "http://a.test/ as it was on 1970-01-12" in view
    assert "default-src 'none'" in view
    assert not any(word in view for word in ("evil", "onclick", "img"))
    assert (
        "<tr><td>&lt;1&gt;</td><td>2</td></tr>" in shown(collection.directory, "--html", "http://a.test/t.csv").decode()
    )
    assert "Not all of it could be read" in shown(collection.directory, "--html", "http://a.test/x.pdf").decode()


def test_a_copy_is_shown_with_its_own_headers_and_the_body_of_the_first(collection: Collection) -> None:
    page = gzip.compress(b"<title>T</title><p>The same words in both places", mtime=0)
    collection.add("http://a.test/", page, Content_Type="text/html", Content_Encoding="gzip", X_Server="a")
    collection.add("http://b.test/", page, Content_Type="text/html", Content_Encoding="gzip", X_Server="b")
    ((holder,),) = rows(collection.directory, "SELECT body_of FROM documents WHERE body_of IS NOT NULL")
    assert holder == 1
    message = shown(collection.directory, "http://b.test/")
    assert b"X-Server: b\r\n" in message
    assert message.endswith(b"\r\n\r\n" + page)
    assert shown(collection.directory, "--text", "http://b.test/") == b"The same words in both places\n"


OFF_TOPIC = "http://a.test/off"


@pytest.mark.parametrize(
    "words",
    [
        *(("show", *option, OFF_TOPIC) for option in ((), ("--headers",), ("--text",), ("--html",))),
        ("show", "--version", "2", OFF_TOPIC),
        ("view", "--no-browser", OFF_TOPIC),
        ("inspect", OFF_TOPIC),
        ("duplicates", "find", OFF_TOPIC),
        ("shell", OFF_TOPIC, "-c", "response"),
    ],
    ids=" ".join,
)
def test_a_page_off_topic_whose_body_is_not_archived_is_explained(
    words: tuple[str, ...], collection: Collection
) -> None:
    collection.add(OFF_TOPIC, b"<p>On the topic still", relevance=0.7, Content_Type="text/html")
    collection.add(OFF_TOPIC, b"<p>Off it", at=NOW + 1, relevance=0.1, is_off_topic=True, Content_Type="text/html")
    result = scrapy(*words, CRAWL_DIR=collection.directory)
    assert (result.returncode, result.stdout) == (1, "")
    assert f"{OFF_TOPIC}: off topic, so only its links and digests are archived" in error_line(result.stderr)
    assert "Traceback" not in result.stderr


def test_versions_with_and_without_a_body_are_shown_together(collection: Collection) -> None:
    for at, is_off_topic in ((NOW, False), (NOW + 1, True), (NOW + 2, False)):
        page = f"<p>Fetched at {at:.0f}".encode()
        collection.add(OFF_TOPIC, page, at=at, relevance=0.5, is_off_topic=is_off_topic, Content_Type="text/html")
    first, second, third = shown(collection.directory, "--all", OFF_TOPIC).decode().split("── version ")[1:]
    assert first.endswith("<p>Fetched at 1000000\n")
    assert second.splitlines()[0].startswith("2 of 3: fetched 1970-01-12")
    assert second.splitlines()[1:] == ["[Only its links and digests are archived.]"]
    assert third.endswith("<p>Fetched at 1000002\n")
    assert shown(collection.directory, OFF_TOPIC).endswith(b"<p>Fetched at 1000002")


def test_a_head_with_bare_line_feeds_ends_at_its_empty_line(collection: Collection) -> None:
    url, head = "http://a.test/", b"HTTP/1.1 200 OK\nContent-Type: text/plain\n\n"
    with_crlf = b"one\r\n\r\ntwo"
    collection.add(url, with_crlf, Content_Type="text/plain")
    ((name, offset, length),) = rows(
        collection.directory, "SELECT s.name, d.offset, d.length FROM documents d JOIN segments s ON s.id = d.segment"
    )
    record = gzip.compress(b"WARC/1.1\r\nWARC-Type: response\r\n\r\n" + head + with_crlf + b"\r\n\r\n")
    with (collection.directory / "warc" / f"{name}.open").open("r+b") as file:
        assert isinstance(offset, int)
        assert isinstance(length, int)
        file.seek(offset)
        assert len(record) <= length
        file.write(record + bytes(length - len(record)))
    assert shown(collection.directory, "--headers", url) == head
    assert shown(collection.directory, "--text", url) == b"one\ntwo\n"


def test_bytes_that_are_not_text_are_not_shown_on_a_terminal(collection: Collection) -> None:
    collection.add("http://a.test/x.png", b"\x89PNG\x00\x1b[2J", Content_Type="image/png")
    collection.add("http://a.test/", b"<p>plain", Content_Type="text/html", X_Evil="\x1b[2J")
    collection.add("http://a.test/t", b"text \x1b[2J", Content_Type="text/plain")
    seen = shown_on_a_terminal(collection.directory, "http://a.test/x.png")
    assert b"image/png" in seen
    assert b"[9 bytes of image/png are not plain text and are not shown on a terminal." in seen
    assert b"PNG\x00" not in seen
    seen = shown_on_a_terminal(collection.directory, "http://a.test/")
    assert b"X-Evil: \\x1b[2J" in seen
    assert b"<p>plain" in seen
    assert shown_on_a_terminal(collection.directory, "--text", "http://a.test/t") == b"text [2J\r\n"
    assert shown(collection.directory, "--text", "http://a.test/t") == b"text [2J\n"


# ── export ──

FILE_OF = (
    "SELECT s.name FROM documents d JOIN segments s ON s.id = d.segment JOIN urls u USING (host, rest) WHERE u.url = ?"
)


def test_an_export_contains_every_page_as_it_was_served(served: Served, crawled: Path) -> None:
    objects, messages = exported(crawled)
    web = served.web
    assert sorted(found["url"] for found in objects) == sorted(web.urls())
    for found in objects:
        page = web.page_at(found["url"])
        body = web.body(found["url"])
        assert found["digest"] == web.digest(found["url"])
        assert (found["status"], found["duplicate_of"]) == (200, None)
        assert found["content_type"] == ("text/plain" if page.is_plain else "text/html")
        if page.is_plain:
            assert found["text"] == body.decode(page.charset)
        else:
            assert body.decode(page.charset).partition("<p>")[2].partition("</p>")[0] in found["text"]
            assert f"<title>{found['title']}</title>" in body.decode(page.charset)
    versions = [found["version"] for found in objects]
    assert versions == sorted(set(versions))
    assert messages.splitlines()[-1] == f"{len(objects)} documents, 0 duplicates, up to version {versions[-1]}"


def test_an_export_agrees_with_the_store(crawled: Path) -> None:
    objects, _ = exported(crawled)
    stored = {
        url: facts
        for url, *facts in rows(
            crawled,
            """SELECT u.url, d.text_digest, d.title, d.language, d.fetched
               FROM documents d JOIN urls u USING (host, rest) WHERE d.kind = 0 AND d.status = 200 AND d.reason = 20""",
        )
    }
    for found in objects:
        digest, title, language, fetched = stored[found["url"]]
        words = " ".join(found["text"].split())
        assert digest in (b"", hashlib.sha256(words.encode()).digest())
        assert (found["title"], found["language"]) == (title, language)
        assert found["fetched_at"].endswith("Z")
        assert datetime.fromisoformat(found["fetched_at"]).timestamp() == pytest.approx(fetched, abs=1e-5)
    assert len({found["id"] for found in objects}) == len(objects)
    assert all(len(bytes.fromhex(found["id"])) == 16 for found in objects)
    anchors = {found["url"]: {(anchor["host"], anchor["text"]) for anchor in found["anchors"]} for found in objects}
    stored_anchors = rows(
        crawled,
        """SELECT u.url, h.name, a.text FROM anchors a JOIN urls u ON u.host = a.host AND u.rest = a.rest
           JOIN hosts h ON h.host = a.source""",
    )
    assert {(url, *pair) for url, pairs in anchors.items() for pair in pairs} == {
        row for row in stored_anchors if row[0] in anchors
    }
    assert any(anchors.values())


def test_an_export_to_a_file_equals_that_to_the_standard_output(crawled: Path, tmp_path: Path) -> None:
    written = scrapy("export", "--to", f"jsonl:{tmp_path / 'all.jsonl'}", CRAWL_DIR=crawled)
    assert (written.returncode, written.stdout) == (0, "")
    assert (tmp_path / "all.jsonl").read_text() == scrapy("export", "--to", "jsonl:-", CRAWL_DIR=crawled).stdout
    assert [path.name for path in tmp_path.iterdir()] == ["all.jsonl"]


def test_an_export_to_a_missing_directory_is_an_error_of_one_line(crawled: Path, tmp_path: Path) -> None:
    result = scrapy("export", "--to", f"jsonl:{tmp_path / 'no' / 'x.jsonl'}", CRAWL_DIR=crawled)
    assert (result.returncode, result.stdout) == (74, "")
    assert f"{tmp_path / 'no' / 'x.jsonl'}: cannot be written (No such file" in error_line(result.stderr)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [("export", "--to", "jsonl"), ("show", "--all")])
def test_an_output_that_cannot_be_written_is_an_error_of_one_line(
    words: tuple[str, ...], served: Served, crawled: Path
) -> None:
    url = [served.web.seeds()[0]] if words[0] == "show" else []
    with Path("/dev/full").open("wb") as full:
        result = scrapy_bytes(*words, *url, stdout=full.fileno(), CRAWL_DIR=crawled)
    assert result.returncode == 74
    assert "cannot be written (No space left on device)" in error_line(result.stderr.decode())


def test_a_closed_pipe_ends_an_export_quietly(crawled: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    result = scrapy_bytes("export", "--to", "jsonl", stdout=writer, CRAWL_DIR=crawled)
    os.close(writer)
    assert (result.returncode, result.stderr) == (0, b"")


def test_documents_that_cannot_be_read_are_named_and_the_others_exported(
    served: Served, crawled: Path, tmp_path: Path
) -> None:
    shutil.copytree(crawled, tmp_path / "crawl")
    gone, damaged, *others = sorted(path.name for path in (crawled / "warc").iterdir())
    assert others
    (tmp_path / "crawl" / "warc" / gone).unlink()
    data = bytearray((crawled / "warc" / damaged).read_bytes())
    data[-20_000:] = bytes(20_000)
    (tmp_path / "crawl" / "warc" / damaged).write_bytes(data)
    result = scrapy("export", "--to", f"jsonl:{tmp_path / 'rest'}", CRAWL_DIR=tmp_path / "crawl")
    assert result.returncode == 74
    objects = [json.loads(line) for line in (tmp_path / "rest").read_text().splitlines()]
    left_out = {
        line.partition(": left out: ")[0]: line for line in result.stderr.splitlines() if ": left out: " in line
    }
    assert {found["url"] for found in objects} | left_out.keys() == set(served.web.urls())
    assert not {found["url"] for found in objects} & left_out.keys()
    assert {name for name in (gone, damaged, *others) if any(name in line for line in left_out.values())} == {
        gone,
        damaged,
    }
    assert f"{len(left_out)} documents could not be read" in error_line(result.stderr)
    assert result.stderr.splitlines()[-1].startswith(f"{len(objects)} documents, 0 duplicates, up to version ")


def test_changes_since_a_version_are_exported(collection: Collection) -> None:
    for path in ("stays", "changes", "goes"):
        collection.add(f"http://a.test/{path}", f"<p>{path}".encode(), Content_Type="text/html")
    objects, messages = exported(collection.directory)
    assert len(objects) == 3
    version = messages.split()[-1]
    collection.add("http://a.test/changes", b"<p>new", at=NOW + 1, Content_Type="text/html")
    collection.add("http://a.test/goes", b"<p>sorry", at=NOW + 2, status=410, Content_Type="text/html")
    changed, goes = exported(collection.directory, "--since", version)[0]
    assert (changed["url"], changed["text"]) == ("http://a.test/changes", "new")
    assert goes == {
        "id": objects[2]["id"],
        "url": "http://a.test/goes",
        "deleted": True,
        "evidence": "gone",
        "target": None,
        "version": goes["version"],
    }
    assert goes["version"] > changed["version"] > int(version)
    now, messages = exported(collection.directory)
    assert [(found["url"], found["text"]) for found in now] == [
        ("http://a.test/stays", "stays"), ("http://a.test/changes", "new")
    ]  # fmt: skip
    assert messages == f"2 documents, 0 duplicates, up to version {goes['version']}\n"
    nothing, messages = exported(collection.directory, "--since", str(goes["version"]))
    assert (nothing, messages) == ([], f"0 documents, 0 duplicates, up to version {goes['version']}\n")


def test_a_version_beyond_the_newest_is_refused(crawled: Path, tmp_path: Path) -> None:
    result = scrapy("export", "--to", f"jsonl:{tmp_path / 'x'}", "--since", "1000000", CRAWL_DIR=crawled)
    assert result.returncode == 65
    assert "--since 1000000: the newest version of this crawl is" in error_line(result.stderr)
    assert list(tmp_path.iterdir()) == []


def test_copies_are_exported_with_the_text_and_the_url_of_the_first(collection: Collection) -> None:
    page = b"<title>T</title><p>The same words in both places"
    collection.add("http://a.test/", page + b'<a href="http://b.test/">over there</a>', Content_Type="text/html")
    collection.add("http://b.test/", page, Content_Type="text/html")
    collection.add("http://c.test/", page, Content_Type="text/html")
    (_, first, copy), messages = exported(collection.directory)
    assert (first["duplicate_of"], copy["duplicate_of"]) == (None, "http://b.test/")
    assert first["text"] == copy["text"] == "The same words in both places"
    assert first["digest"] == copy["digest"] == hashlib.sha256(page).hexdigest()
    assert first["anchors"] == [{"host": "a.test", "text": "over there"}]
    assert messages.startswith("3 documents, 1 duplicates, up to version ")


def test_formats_without_text_are_exported_with_empty_text(collection: Collection) -> None:
    collection.add("http://a.test/x.pdf", b"%PDF-1.4 ...", Content_Type="application/pdf")
    ((found,), _) = exported(collection.directory)
    assert (found["content_type"], found["title"], found["text"]) == ("application/pdf", "", "")


def test_only_documents_of_a_least_relevance_are_exported(collection: Collection) -> None:
    for path, relevance in (("low", 0.25), ("high", 0.75), ("none", None)):
        collection.add(f"http://a.test/{path}", f"<p>{path}".encode(), relevance=relevance, Content_Type="text/html")
    objects, _ = exported(collection.directory)
    assert {found["text"]: found.get("relevance") for found in objects} == {"low": 0.25, "high": 0.75, "none": None}
    assert ["relevance" in found for found in objects] == [True, True, False]
    objects, messages = exported(collection.directory, "--min-relevance", "0.5", "--fields", "text,relevance")
    assert [(found["text"], found["relevance"]) for found in objects] == [("high", 0.75)]
    assert messages == "1 documents, 0 duplicates, up to version 3\n"


def test_no_character_of_a_document_breaks_its_line(collection: Collection) -> None:
    hostile = "a\0b\x85c\u2028d\x1be\x0cf\ud800g"
    body = hostile.encode("utf-16-le", "surrogatepass")
    collection.add("http://a.test/16", body, Content_Type="text/plain; charset=utf-16le")
    collection.add(
        "http://a.test/8", hostile.encode("utf-8", "surrogatepass"), Content_Type="text/plain; charset=utf-8"
    )
    objects, _ = exported(collection.directory)
    for found in objects:
        assert found["text"].startswith("abc\nde\nf")  # line separators are kept, other control characters dropped
        assert found["text"].endswith("\ufffdg")


def test_committed_documents_of_a_running_crawl_are_exported(collection: Collection) -> None:
    collection.add("http://a.test/", b"<p>here", Content_Type="text/html")
    assert [path.suffix for path in (collection.directory / "warc").iterdir()] == [".open"]
    before = (collection.directory / "crawl.db").stat()
    objects, _ = exported(collection.directory)
    assert [found["text"] for found in objects] == ["here"]
    assert (collection.directory / "crawl.db").stat().st_mtime_ns == before.st_mtime_ns


def test_a_long_export_reports_its_progress(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(export, "_SHOWN_EVERY", 2)
    monkeypatch.setattr(progress_bar, "LINES_EVERY", 0.0)
    for number in range(5):
        collection.add(f"http://a.test/{number}", b"<p>here", Content_Type="text/html")
    running = export.ExportCommand()
    running.settings = Settings({"CRAWL_DIR": str(collection.directory)})
    running.settings.setmodule("crawler.settings", priority="default")
    parser = ArgumentParser()
    running.add_options(parser)
    running.run([], parser.parse_args(["--to", f"jsonl:{tmp_path / 'out'}"]))
    messages = ["exporting: 2 of 5, 40%", "exporting: 4 of 5, 80%", "5 documents, 4 duplicates, up to version 5"]
    assert (running.exitcode, capsys.readouterr().err.splitlines()) == (0, messages)


def test_an_export_of_an_empty_crawl_is_empty(collection: Collection, tmp_path: Path) -> None:
    result = scrapy("export", "--to", f"jsonl:{tmp_path / 'none'}", CRAWL_DIR=collection.directory)
    assert (result.returncode, result.stderr) == (0, "0 documents, 0 duplicates, up to version 0\n")
    assert (tmp_path / "none").read_bytes() == b""
