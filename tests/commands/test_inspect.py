"""`scrapy inspect` shows what the crawler reads in a file or an archived page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.crawl.runner import ROOT, polite_to, rows, scrapy, seeds_file
from tests.webgraph.server import Served

pytestmark = pytest.mark.crawl

DEMO = ROOT / "data" / "demo-web"
PAGE = """<!doctype html><html lang=de><meta charset=windows-1252><title>Spinnen</title><meta name=author content="Ada Weber">
<nav><a href=/>Start</a><a href=/mehr>Mehr</a></nav><main><h1>Spinnen</h1>
<p>Die Kreuzspinne baut ihr Netz am Abend, sitzt die ganze Nacht in der Mitte und frisst es am Morgen wieder auf.</p>
<p>Für ein Netz braucht sie <b>kaum eine Stunde</b> und zwanzig Meter Faden; <a href=netz.html>so sieht es aus</a>, wenn es fertig ist.</p>
</main><footer>Impressum</footer>"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "spinnen.html"
    path.write_bytes(PAGE.encode("cp1252"))
    return path


def inspected(*words: object) -> str:
    result = scrapy("inspect", *map(str, words))
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_file_is_read_as_in_a_crawl(page: Path) -> None:
    output = inspected(page, "--url", "http://a.test/tiere/")
    for part in (
        "html, 483 bytes; Content-Type: text/html",
        "windows-1252 by its meta element",
        "de (declared de, detected de)",
        "Ada Weber",
        "kaum eine Stunde",
        "2 in navigation, 1 in content",
        "content    http://a.test/tiere/netz.html  so sieht es aus  (",
    ):
        assert part in output
    (paragraph,) = [line for line in output.splitlines() if "Die Kreuzspinne" in line]
    (footer,) = [line for line in output.splitlines() if "Impressum" in line]
    assert paragraph.split()[0] > "0.5" > footer.split()[0]
    assert "\x1b" not in output  # colours on a terminal only


def test_the_json_output_is_complete(page: Path) -> None:
    data = json.loads(inspected(page, "--json"))
    assert (data["format"], data["encoding"], data["encoding_source"]) == ("html", "windows-1252", "meta")
    assert data["text"].startswith("Spinnen\nDie Kreuzspinne baut")
    assert [link["position"] for link in data["links"]] == ["navigation", "navigation", "content"]
    assert {"text", "tag", "position", "importance"} == set(data["blocks"][0])
    assert data["metadata"]["headings"] == [{"level": 1, "text": "Spinnen"}]
    assert data["metadata"]["bold"] == ["kaum eine Stunde"]


def test_text_links_and_blocks_can_be_printed_alone(page: Path) -> None:
    assert inspected(page, "--text").startswith("Spinnen\nDie Kreuzspinne baut")
    assert "http://file.invalid/netz.html" in inspected(page, "--links")
    blocks = inspected(page, "--blocks")
    assert "frisst es am Morgen wieder auf." in blocks  # blocks are not cut
    assert "Encoding" not in blocks


def test_another_method_can_be_chosen_and_the_slope_curve_drawn(page: Path, tmp_path: Path) -> None:
    picture = tmp_path / "curve.png"
    output = inspected(page, "--method", "everything", "--plot", picture)
    assert "by everything" in output
    assert "Impressum" in inspected(page, "--text", "--method", "everything")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_documents_of_other_formats_are_inspected(tmp_path: Path) -> None:
    output = inspected(DEMO / "museum" / "files" / "keepers-handbook.docx")
    for part in ("docx, ", "Una Marsh", "h2         Trimming the wick", "/exhibits/fresnel-lens.html  the exhibit"):
        assert part in output
    table = json.loads(inspected(DEMO / "museum" / "files" / "volunteers-rota.xlsx", "--json"))
    assert "Ebba Finn" in table["text"]
    result = scrapy("inspect", str(DEMO / "museum" / "images" / "prisms.png"))
    assert (result.returncode, "no format that is read" in result.stdout) == (0, True)
    result = scrapy(
        "inspect", str(DEMO / "museum" / "files" / "volunteers-rota.xlsx"), "--plot", str(tmp_path / "x.png")
    )
    assert (result.returncode, "only pages have a slope curve" in result.stderr) == (65, True)


def test_an_archived_page_is_inspected(served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl", CRAWL_MAX_PAGES=3)
    assert scrapy("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", **settings).returncode == 0
    archived = "SELECT url FROM urls u JOIN documents d ON d.host = u.host AND d.rest = u.rest WHERE d.format = 'html'"
    url = str(rows(tmp_path / "crawl", archived)[0][0])
    result = scrapy("inspect", url, CRAWL_DIR=tmp_path / "crawl")
    assert (result.returncode, f"{url}, archived 20" in result.stdout) == (0, True)
    other = scrapy("inspect", "http://nowhere.test/", CRAWL_DIR=tmp_path / "crawl")
    assert (other.returncode, "not archived and not known" in other.stderr) == (1, True)


@pytest.mark.parametrize("words", [(), ("a", "b"), ("a", "--method", "magic")])
def test_wrong_usage_is_exit_code_2(words: tuple[str, ...]) -> None:
    assert scrapy("inspect", *words).returncode == 2


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    result = scrapy("inspect", str(tmp_path / "none.html"))
    assert result.returncode == 65
    assert "cannot be read (No such file or directory)" in result.stderr
