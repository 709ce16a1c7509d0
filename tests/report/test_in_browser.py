"""Reports of hostile pages, opened in a real browser: nothing runs, nothing is loaded, the DOM is what was written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import html5lib
import pytest

from crawler.report.host_page import host_page
from crawler.report.markup import visible
from crawler.report.page import crawl_page
from tests.report.browser import CHROMIUM, listening, opened, opened_together
from tests.report.hostile import hostile_data, hostile_store
from tests.report.payloads import payloads

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: apt-get install chromium")

BATCH = 20  # payloads in one crawl: a report lists so many hosts
# Payloads that end the page, or wait until a dialog is closed.
LEFT_OUT = ("alert", "plaintext", "<!--", "refresh", "<iframe", "<xmp")
COUNT = sum(1 for _ in payloads("http://x"))
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "header", "main", "footer", "nav", "section", "div", "span"),
    *("h1", "h2", "h3", "p", "ul", "li", "a", "dl", "dt", "dd", "small", "strong", "code", "pre", "bdi"),
    *("figure", "figcaption", "details", "summary", "table", "thead", "tbody", "tr", "th", "td"),
    *("svg", "desc", "text", "line", "polyline", "rect"),
}


def elements(markup: str) -> Iterator[Any]:
    """All elements of a document, as html5lib parses it."""
    tree = html5lib.parse(markup, treebuilder="etree", namespaceHTMLElements=False)
    return (node for node in tree.iter() if isinstance(node.tag, str))


def outline(markup: str) -> list[tuple[str, dict[str, str], str, str]]:
    """Elements with their attributes and texts; the browser adds a line feed to the last text."""
    return [
        (node.tag.rpartition("}")[2], dict(node.attrib), node.text or "", (node.tail or "").rstrip("\n"))
        for node in elements(markup)
    ]


def words_of(markup: str) -> str:
    """All text, and the values of title attributes."""
    return "\n".join(f"{text}\n{tail}\n{attributes.get('title', '')}" for _, attributes, text, tail in outline(markup))


def test_there_are_enough_payloads() -> None:
    assert len(set(payloads("http://127.0.0.1:1"))) == COUNT >= 200


def reports(batch: Sequence[str], directory: Path) -> tuple[Path, Path]:
    """The pages about a crawl and about a host whose web has these payloads wherever it can."""
    directory.mkdir()
    store = hostile_store(directory / "crawl.db", batch)
    try:
        crawl, host = hostile_data(store, f"data/{batch[0]}")
    finally:
        store.close()
    (directory / "crawl.html").write_text(crawl_page(crawl), encoding="utf-8")
    (directory / "host.html").write_text(host_page(host), encoding="utf-8")
    return directory / "crawl.html", directory / "host.html"


def test_no_payload_runs_or_loads_anything(tmp_path: Path) -> None:
    with listening() as listener:
        every = list(payloads(listener.address))
        batches = [every[first : first + BATCH] for first in range(0, COUNT, BATCH)]
        pages = [page for number, batch in enumerate(batches) for page in reports(batch, tmp_path / str(number))]
        doms, console = opened_together(pages, tmp_path)
        assert listener.asked == []
    assert list(console) == []
    for page, dom in zip(pages, doms, strict=True):
        assert outline(dom) == outline(page.read_text(encoding="utf-8"))
        assert_inert(dom)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, COUNT, BATCH))
def test_no_payload_runs_or_loads_anything_in_a_window_of_its_own(first: int, tmp_path: Path) -> None:
    with listening() as listener:
        batch = list(payloads(listener.address))[first : first + BATCH]
        for page in reports(batch, tmp_path / "reports"):
            seen = opened(page, tmp_path / f"profile-{page.stem}")
            assert outline(seen.dom) == outline(page.read_text(encoding="utf-8"))
            assert list(seen.console) == []
            assert_inert(seen.dom)
        assert listener.asked == []


@pytest.mark.parametrize("first", range(0, COUNT, BATCH))
def test_every_payload_is_shown_as_text(first: int, tmp_path: Path) -> None:
    batch = list(payloads("http://127.0.0.1:1"))[first : first + BATCH]
    _, host = reports(batch, tmp_path / "reports")
    shown = words_of(host.read_text(encoding="utf-8"))
    for payload in batch:
        assert visible(payload)[:60].strip() in shown


def assert_inert(dom: str) -> None:
    for tag, attributes, _, _ in outline(dom):
        assert tag in ALLOWED
        assert not [name for name in attributes if name.startswith("on") or name in {"src", "style", "srcset"}]
        assert attributes.get("href", "#").startswith("#")


def test_the_browser_test_detects_a_page_that_does_not_escape(tmp_path: Path) -> None:
    """Without this the test above would prove nothing."""
    with listening() as listener:
        harmful = [payload for payload in payloads(listener.address) if not any(word in payload for word in LEFT_OUT)]
        raw = "<!DOCTYPE html><title>x</title>" + "".join(f"<div>{payload}</div>" for payload in harmful)
        (tmp_path / "raw.html").write_text(raw, encoding="utf-8")
        (dom,), _ = opened_together([tmp_path / "raw.html"], tmp_path)
        assert listener.asked
    assert outline(dom) != outline(raw)
    with pytest.raises(AssertionError):
        assert_inert(dom)


def grown(value: Any) -> Any:
    """The data of a report with counts as large as those of a crawl of ten thousand million pages."""
    if isinstance(value, dict):
        return {name: grown(held) for name, held in value.items()}
    if isinstance(value, list):
        return [grown(held) for held in value]
    return value * 12_345_678_901 if type(value) is int and 0 < value < 1_000 else value


# For each text that is seen, the numbers with their units that stand on two lines. URLs and names may be broken anywhere.
BROKEN = """onload=()=>{const page=frames[0].document,broken=[];let node,count=0;
const walker=page.createTreeWalker(page.body,NodeFilter.SHOW_TEXT);
while(node=walker.nextNode()){if(node.parentNode.closest('bdi,code,pre,.url,svg'))continue;
for(const match of node.data.matchAll(/\\d[\\d.,:-]*(?: (?:[kMGTP]?B|s|min|h|days|%|UTC)(?![a-z]))?/g)){
const range=page.createRange();range.setStart(node,match.index);range.setEnd(node,match.index+match[0].length);
const lines=new Set(Array.from(range.getClientRects()).map(part=>Math.round(part.top)));count++;
if(lines.size>1)broken.push(match[0])}}
document.title=JSON.stringify([count,page.documentElement.scrollWidth,broken])}"""


def test_no_number_is_broken_on_a_phone(tmp_path: Path) -> None:
    store = hostile_store(tmp_path / "crawl.db", ["plain"])
    try:
        crawl, host = hostile_data(store, "data/crawl")
    finally:
        store.close()
    for name, page in (("crawl", crawl_page(grown(crawl))), ("host", host_page(grown(host)))):
        (tmp_path / f"{name}.html").write_text(page.replace("<details>", "<details open>"), encoding="utf-8")
        frame = f'<iframe width=390 height=900 style="border:0" src={name}.html></iframe>'
        (tmp_path / "frame.html").write_text(f"<!DOCTYPE html><script>{BROKEN}</script>{frame}")
        result = opened(tmp_path / "frame.html", tmp_path / name, "--allow-file-access-from-files")
        (title,) = [text for tag, _, text, _ in outline(result.dom) if tag == "title"]
        count, width, broken = json.loads(title)
        assert count > 30
        assert width <= 390
        assert broken == []


def test_a_page_is_no_wider_than_its_window_whatever_is_on_it(tmp_path: Path) -> None:
    long = [payload for payload in payloads("http://127.0.0.1:1") if len(payload) > 1_000]
    store = hostile_store(tmp_path / "crawl.db", [*long, "y" * 20_000])
    try:
        crawl, host = hostile_data(store, "data/" + "z" * 500)
    finally:
        store.close()
    frames, widths = [], (360, 1400)
    for name, page in (("crawl", crawl_page(crawl)), ("host", host_page(host))):
        (tmp_path / f"{name}.html").write_text(page.replace("<details>", "<details open>"), encoding="utf-8")
        frames += [f'<iframe width={width} height=900 style="border:0" src={name}.html></iframe>' for width in widths]
    measure = "onload=()=>document.title=Array.from(frames).map(f=>f.document.documentElement.scrollWidth)"
    (tmp_path / "frames.html").write_text(f"<!DOCTYPE html><script>{measure}</script>{''.join(frames)}")
    result = opened(tmp_path / "frames.html", tmp_path / "profile", "--allow-file-access-from-files")
    (title,) = [text for tag, _, text, _ in outline(result.dom) if tag == "title"]
    measured = [int(number) for number in title.split(",")]
    assert len(measured) == 4
    assert [found <= width for found, width in zip(measured, [*widths, *widths], strict=True)] == [True] * 4
