"""Documents that are not HTML are read in content processes and archived as received."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawl.pages import Answer, Pages, pages_served, seeds_of
from tests.crawl.runner import ROOT, rows, scrapy, scrapy_bytes
from tests.parse.documents.files import SAMPLES, docx, paragraph, pdf

pytestmark = pytest.mark.crawl

OFFICE = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pdf": "application/pdf",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
BOMB = docx(paragraph("x"), {"word/media/big.xml": b"\0" * 150_000_000})
MACRO = docx(
    paragraph("The words of a letter with a program in it."), {"word/vbaProject.bin": b"\xd0\xcf\x11\xe0" * 99}
)


def as_file(body: bytes, kind: str) -> Answer:
    return Answer(body, headers={"Content-Type": kind})


def test_documents_of_all_formats_are_read_and_archived(tmp_path: Path) -> None:
    """Their links are followed; a document that cannot be read gets a problem code and affects no other document."""
    link = '<w:hyperlink r:id="rId9"><w:r><w:t>more</w:t></w:r></w:hyperlink>'
    letter = docx(
        paragraph("Spiders weave.", "Heading1") + f"<w:p>{link}</w:p>",
        None,
        ("rId9", "hyperlink", "http://a.test/more"),
    )
    whole = pdf([[(12, 700, "Words on a page.")]])
    answers: dict[str, Answer] = {
        "/letter.docx": as_file(letter, OFFICE["docx"]),
        "/page.pdf": as_file(whole, OFFICE["pdf"]),
        "/cut.pdf": as_file(whole[: len(whole) // 2], OFFICE["pdf"]),
        "/bomb.docx": as_file(BOMB, OFFICE["docx"]),
        "/macro.docm": as_file(MACRO, "application/vnd.ms-word.document.macroEnabled.12"),
        "/mislabelled.html": as_file(whole, "text/html"),
        "/table.xlsx": as_file(SAMPLES["a.xlsx"], OFFICE["xlsx"]),
        "/koi8.txt": as_file("Паук плетёт свою сеть каждый вечер и ест её утром.".encode("koi8-r"), "text/plain"),
    }
    index = "".join(f'<p><a href="{path}">{path}</a>' for path in answers)
    pages: Pages = {"a.test": {"/": index, **answers}}
    with pages_served(pages, tmp_path) as (settings, _):
        port = settings.pop("port")
        settings |= {"CRAWL_HORIZON": 0, "CONTENT_PROCESSES": 1}  # no server listens on the port that the letter names
        result = scrapy("crawl", "web", "-a", f"seeds={seeds_of(pages, port)}", **settings)
        assert result.returncode == 0, result.stderr
        known = rows(
            tmp_path / "crawl",
            """SELECT u.url, d.format, d.problem, d.encoding, d.encoding_source, d.title, d.metadata
               FROM documents d JOIN urls u USING (host, rest) WHERE d.kind = 0""",
        )
        found = {str(row[0]).partition(str(port))[2]: row[1:] for row in known}
        assert {path: row[:2] for path, row in found.items()} == {
            "/": ("html", ""),
            "/letter.docx": ("docx", ""),
            "/page.pdf": ("pdf", ""),
            "/cut.pdf": ("pdf", "truncated"),
            "/bomb.docx": ("docx", "bomb"),
            "/macro.docm": ("docx", ""),
            "/mislabelled.html": ("pdf", ""),
            "/table.xlsx": ("xlsx", ""),
            "/koi8.txt": ("text", ""),
        }
        assert found["/koi8.txt"][2:4] == ("KOI8-R", "detected")
        assert found["/letter.docx"][4] == "Spiders weave."
        assert json.loads(str(found["/macro.docm"][5]))["has_macro"] == "true"
        assert json.loads(str(found["/mislabelled.html"][5]))["declared"] == "text/html"
        assert rows(tmp_path / "crawl", "SELECT count(*) FROM urls WHERE url = 'http://a.test/more'") == [(1,)]
        raw = scrapy_bytes("show", f"http://a.test:{port}/bomb.docx", **settings).stdout
        assert raw.endswith(b"\r\n\r\n" + BOMB)
        view = scrapy("show", "--html", f"http://a.test:{port}/letter.docx", **settings).stdout
        assert "<h1>Spiders weave.</h1>" in view
        assert (
            "not all of it could be read: bomb" in scrapy("why", f"http://a.test:{port}/bomb.docx", **settings).stdout
        )


def test_the_blocks_of_documents_are_exported_with_their_weight(tmp_path: Path) -> None:
    words = "Spiders weave their webs in the evening, and eat them in the morning when they are wet with dew. " * 4
    pages: Pages = {
        "a.test": {
            "/": f'<nav><a href="/t.csv">table</a></nav><main><h1>Spiders</h1><p>{words}<p>{words}</main>'
            "<footer>Imprint</footer>",
            "/t.csv": as_file(b"name,legs\nspider,8\n", "text/csv"),
        }
    }
    with pages_served(pages, tmp_path) as (settings, _):
        port = settings.pop("port")
        assert scrapy("crawl", "web", "-a", f"seeds={seeds_of(pages, port)}", **settings).returncode == 0
        lines = scrapy("export", "--to", "jsonl", "--blocks", **settings).stdout.splitlines()
        assert "blocks" not in json.loads(scrapy("export", "--to", "jsonl", **settings).stdout.splitlines()[0])
    page, table = sorted(map(json.loads, lines), key=lambda line: len(line["url"]))
    weights = {block["text"][:7]: block["importance"] for block in page["blocks"]}
    assert weights["Spiders"] > 0.5 > weights["Imprint"]
    assert [block["text"] for block in table["blocks"]] == ["name legs", "spider 8"]
    assert table["format"] == "csv"


@pytest.mark.parametrize("path", ["a.docx", "a.pdf", "a.xlsx"])
def test_readers_work_within_the_limits_of_a_content_process(path: str) -> None:
    """The readers write no file and need less than 1 GiB of address space."""
    program = (
        "import resource, sys\n"
        "from crawler.parse.documents import convert\n"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "found = convert(sys.stdin.buffer.read(), 'http://a.test/' + sys.argv[1])\n"
        "print(found.format, found.problem or 'none', len(found.text) > 0)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, path], input=SAMPLES[path], capture_output=True, check=True, cwd=ROOT
    )
    assert ended.stdout.decode().split() == [path.rpartition(".")[2], "none", "True"]
