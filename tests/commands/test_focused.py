"""Status, report and why show how a focused crawl stays on its topic, and why it visits what it does."""

from __future__ import annotations

import json
import math
import re
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import pytest

from crawler.focus.topic import Topic
from crawler.items import Kind, Reason, State
from tests.crawl.pages import pages_served
from tests.crawl.runner import rows, scrapy
from tests.crawl.topic_web import COMMON, WORDS, TopicWeb, write_topic

pytestmark = [pytest.mark.crawl, pytest.mark.xdist_group("focused")]  # one worker, one crawl

FETCHED = 120  # pages, of 240


class FocusedCrawl(NamedTuple):
    """A crawl for birds that was stopped when it had fetched half of the web."""

    settings: dict[str, object]
    directory: Path
    summary: str

    def urls(self, condition: str) -> list[str]:
        statement = f"SELECT url FROM urls WHERE kind = {Kind.PAGE:d} AND {condition} ORDER BY id"
        return [str(url) for (url,) in rows(self.directory, statement)]

    def output(self, *words: str, **settings: object) -> str:
        result = scrapy(*words, **self.settings | settings)
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout


def topic_of(words: dict[str, str]) -> Topic:
    """Learn birds from pages of all kinds that are like those of the web, so that relevance is calibrated."""
    examples: dict[str, list[str]] = {about: [] for about in words}
    for about, vocabulary in words.items():
        for number in range(24):
            chosen = vocabulary.split()[number % 7 :: 2]
            examples[about].append(f"{chosen[0]}\n{' '.join([*chosen, *COMMON[number % 5 :: 2]] * 3)}")
    others = [text for about, texts in examples.items() if about != "birds" for text in texts]
    return Topic.learn(examples["birds"], others, query="birds")


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> FocusedCrawl:
    directory = tmp_path_factory.mktemp("focused")
    web = TopicWeb()
    served: dict[str, dict[str, str]] = {host: {} for host in web.names}
    with pages_served(served, directory) as (settings, _):
        port = settings.pop("port")
        served.update(web.with_port(port))
        write_topic(directory / "crawl", "birds", topic_of(WORDS))
        seeds = ",".join(f"http://{host}:{port}/" for host in web.names)
        result = scrapy(
            "crawl", "focused", "-a", "topic=birds", "-a", f"seeds={seeds}", CRAWL_MAX_PAGES=FETCHED, **settings
        )
    assert (result.returncode, result.stderr) == (0, "")
    return FocusedCrawl(settings, directory / "crawl", result.stdout)


def test_the_crawl_says_in_summary_and_status_how_many_pages_were_on_topic(crawl: FocusedCrawl) -> None:
    data = json.loads(crawl.output("status", "--json"))["topic"]
    assert (data["name"], data["pages"]) == ("birds", FETCHED)
    assert 30 <= data["on_topic"] < FETCHED
    words = f"{data['on_topic']} of {FETCHED} pages ({100 * data['on_topic'] / FETCHED:.0f} %)"
    assert f"  On topic     {words}" in crawl.summary
    status = crawl.output("status")
    assert f"  topic birds: {words} on topic" in status
    assert re.search(r"^    [▁▂▃▄▅▆▇█]{32}  from the first page", status, re.MULTILINE)
    for what in ("best_sources", "best_sections"):
        assert len(data[what]) == 3
        assert all(f"{one['on_topic']} of {one['pages']}  {one['name']}" in status for one in data[what])
    assert f"scrapy crawl focused -s CRAWL_DIR={crawl.directory}" in status


def test_the_report_draws_the_harvest_curve(crawl: FocusedCrawl) -> None:
    data = json.loads(crawl.output("report", "--json"))["topic"]
    assert data["curve"][0] == {"pages": 0, "on_topic": 0}
    assert data["curve"][-1] == {"pages": FETCHED, "on_topic": data["on_topic"]}
    crawl.output("report")
    page = (crawl.directory / "report.html").read_text(encoding="utf-8")
    assert "Harvest curve" in page
    of_host = json.loads(crawl.output("report", "--json", "--host", "h1.test"))["topic"]
    assert 0 < of_host["pages"] < FETCHED


# ── why ──


@pytest.mark.parametrize(
    ("reason", "verdict"),
    [(Reason.OK, "on topic (FOCUS_KEEP=0.5)"), (Reason.OFF_TOPIC, "off topic, so it is not exported (FOCUS_KEEP=0.5)")],
)
def test_why_a_page_is_on_topic_or_not(crawl: FocusedCrawl, reason: Reason, verdict: str) -> None:
    url = crawl.urls(f"last_reason = {reason:d}")[-1]
    output = crawl.output("why", url)
    found = re.search(r"relevance (\d\.\d{3}) to the topic birds: (.+)", output)
    assert found is not None
    assert (float(found[1]) >= 0.5, found[2]) == (reason is Reason.OK, verdict)
    counted = re.search(r"words that count: (.+)", output)
    assert counted is not None
    weights = dict(re.findall(r"(\w+) ([+-]\d+\.\d\d)", counted[1]))
    birds = set(WORDS["birds"].split())
    assert {float(weights[word]) > 0 for word in weights.keys() & birds} <= {True}
    assert {float(weight) < 0 for word, weight in weights.items() if word not in {*birds, *COMMON}} <= {True}
    assert re.search(r"priority: level \d, step \d \(each from 0 to 7\), by its own relevance, \d\.\d{3}", output)


def test_why_says_when_the_threshold_has_changed_since_the_visit(crawl: FocusedCrawl) -> None:
    url = crawl.urls(f"last_reason = {Reason.OK:d}")[-1]
    assert "on topic, by the FOCUS_KEEP of its visit; now it is 1" in crawl.output("why", url, FOCUS_KEEP=1)


def test_why_a_waiting_url_has_its_place(crawl: FocusedCrawl) -> None:
    (number, url, level, step, score, source) = rows(
        crawl.directory,
        f"""SELECT u.id, u.url, u.level, u.step, e.score, v.url FROM urls u JOIN link_evidence e ON e.id = u.id
            JOIN urls v ON v.id = u.via WHERE u.state = {State.WAITING:d}
            AND EXISTS (SELECT 1 FROM urls o WHERE o.via = v.id AND o.visits > 0) ORDER BY e.score DESC LIMIT 1""",
    )[0]
    output = crawl.output("why", str(url))
    assert number
    assert f"priority: level {level}, step {step} (each from 0 to 7), by the worth of the links to it: " in output
    assert f"{score:.3f} when it was last computed" in output
    parts = re.search(r"(\d\.\d{3}) by what is known now: log-odds ([^;\n]+)(?:; × (\d\.\d\d))?", output)
    assert parts is not None
    log_odds = sum(map(float, re.findall(r"[+-]\d+\.\d\d", parts[2])))
    assert float(parts[1]) == pytest.approx(float(parts[3] or 1) / (1 + math.exp(-log_odds)), abs=0.02)
    assert re.search(r"from (1 page that links|\d+ pages that link) to it, with the relevance [01]\.\d\d", output)
    assert re.search(
        rf"{re.escape(str(source))} has the relevance \d\.\d{{3}}; it links to it by the anchor '\w+ \w+'", output
    )
    assert re.search(
        r"other links of that page: \d+ of \d+ were judged, \d+ on topic, mean relevance \d\.\d{3}", output
    )


# ── compare ──


def test_the_crawl_is_compared_with_an_unfocused_one(crawl: FocusedCrawl, tmp_path: Path) -> None:
    """Both curves are over the same pages; that of the focused crawl is in the order of its visits."""
    output = crawl.output("topic", "compare", "birds", "--plot", str(tmp_path / "harvest.png"))
    data = json.loads(crawl.output("topic", "compare", "birds", "--json"))
    assert f"Topic birds: {FETCHED} pages that this crawl has judged, {data['on_topic']} on topic" in output
    judged = rows(crawl.directory, "SELECT reason FROM documents WHERE relevance IS NOT NULL ORDER BY id")
    on_topic = [0, *accumulate(reason == Reason.OK for (reason,) in judged)]
    assert [point["focused"] for point in data["curves"]] == [on_topic[point["pages"]] for point in data["curves"]]
    assert data["unreached"] == 0
    assert data["never_fetched"] == len(crawl.urls(f"state = {State.WAITING:d} AND visits = 0"))
    assert data["curves"][-1] == {"pages": FETCHED, "focused": data["on_topic"], "unfocused": data["on_topic"]}
    assert (tmp_path / "harvest.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("fish",), 78, "This crawl is not about fish; its topic is birds."),
        (("birds", "--plot", "curves.gif"), 2, "--plot curves.gif: must end in .png, .svg, .pdf"),
        (("birds", "--query", "wings"), 2, "--query: not an option of compare"),
        ((), 2, "compare: name the topic"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    crawl: FocusedCrawl, words: tuple[str, ...], code: int, message: str
) -> None:
    result = scrapy("topic", "compare", *words, **crawl.settings)
    assert (result.returncode, result.stdout) == (code, "")
    assert message in result.stderr
