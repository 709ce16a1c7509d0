"""`scrapy topic` trains, measures, explains and reviews topics, and refuses what it cannot do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from crawler.collection.topics import TOPIC_FACT, read_topic_file
from crawler.stores.open import open_store
from tests.crawl.runner import error_line, scrapy, scrapy_bytes
from tests.focus.pages import bird_pages, screw_pages
from tests.small_collection import Collection

pytestmark = [pytest.mark.crawl, pytest.mark.xdist_group("topic")]  # one worker, one crawl

BIRD, SCREW = "http://birds.test/0", "http://screws.test/0"


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a crawl that has archived pages on birds and on screws."""
    directory = tmp_path_factory.mktemp("collected")
    collection = Collection(directory)
    for host, pages in (("birds", bird_pages(12, 11)), ("screws", screw_pages(20, 12))):
        for number, page in enumerate(pages):
            title, _, text = page.partition("\n")
            body = f"<!doctype html><title>{title}</title><main><p>{text}.</main>"
            collection.add(f"http://{host}.test/{number}", body.encode(), Content_Type="text/html")
    collection.close()
    return directory


@pytest.fixture
def crawled(collected: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(collected, tmp_path / "crawl"))


@pytest.fixture
def trained(crawled: Path) -> Path:
    topic(crawled, "train", "birds", "--query", "bird nest", "--like", BIRD, "--unlike", SCREW)
    return crawled


def topic(directory: Path, *words: object, code: int = 0) -> str:
    result = scrapy("topic", *map(str, words), CRAWL_DIR=directory)
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout if code == 0 else result.stderr if code == 2 else error_line(result.stderr)


def labelled(path: Path) -> Path:
    rows = [(text, True) for text in bird_pages(10, 21)] + [(text, False) for text in screw_pages(10, 22)]
    path.write_text("\n".join(json.dumps({"text": text, "label": label}) for text, label in rows))
    return path


def test_a_topic_is_trained_from_query_urls_files_and_lines(crawled: Path, tmp_path: Path) -> None:
    (tmp_path / "bolt.txt").write_text(screw_pages(1, 5)[0])
    said = topic(
        crawled, "train", "birds", "--query", "bird nest", "--like", BIRD, labelled(tmp_path / "pages.jsonl"),
        "--unlike", tmp_path / "bolt.txt",
    )  # fmt: skip
    assert 'Topic birds: query "bird nest", 11 examples on topic, 11 off topic; words of 32 archived pages' in said
    assert "Telling words: " in said
    assert "11 of 11 off topic left out" in said
    assert f"Next: scrapy crawl focused -s CRAWL_DIR={crawled} -a topic=birds" in said
    assert topic(crawled, "list").strip() == 'birds  11 on topic, 11 off topic  query "bird nest"'
    assert json.loads(topic(crawled, "list", "--json")) == {
        "name": "birds", "query": "bird nest", "positive": 11, "negative": 11,
    }  # fmt: skip


def test_training_again_adds_examples_and_replaces_the_query(trained: Path, tmp_path: Path) -> None:
    topic(trained, "train", "birds", "--like", "http://birds.test/1", SCREW)
    assert topic(trained, "list").strip() == 'birds  3 on topic, 0 off topic  query "bird nest"'
    topic(trained, "train", "birds", "--query", "owl")
    assert topic(trained, "list").strip() == 'birds  3 on topic, 0 off topic  query "owl"'


@pytest.mark.parametrize("option", ["--query", "--like", "--unlike", "--from"])
def test_each_kind_of_knowledge_alone_is_enough(option: str, collected: Path, tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text(bird_pages(1)[0])
    given = {"--query": "bird nest", "--from": collected}.get(option, tmp_path / "page.txt")
    assert "Topic birds: " in topic(tmp_path, "train", "birds", option, given)
    count = {"--query": 0, "--from": 32}.get(option, 1)
    assert len(read_topic_file(tmp_path, "birds").examples) == count


def test_a_crawl_has_one_topic_until_it_is_removed(trained: Path) -> None:
    refused = topic(trained, "train", "screws", "--query", "screw", code=78)
    assert f"{trained} has the topic birds, and a crawl has one" in refused
    assert "scrapy topic remove birds" in refused
    store = open_store(f"sqlite:{trained / 'crawl.db'}")
    store.crawl.set_facts({TOPIC_FACT: "birds"})
    store.close()
    assert "removed" in topic(trained, "remove", "birds")
    store = open_store(f"sqlite:{trained / 'crawl.db'}", read_only=True)
    assert store.crawl.facts()[TOPIC_FACT] == ""
    store.close()
    assert "no topic: " in topic(trained, "list")
    assert "Topic screws: " in topic(trained, "train", "screws", "--query", "screw")


def test_the_quality_on_labelled_pages_is_measured(trained: Path, tmp_path: Path) -> None:
    said = topic(trained, "test", "birds", labelled(tmp_path / "pages.jsonl")).splitlines()
    assert said[0] == "20 pages, 10 on topic; average precision 1.000"
    assert len(said) == 12
    found = json.loads(topic(trained, "test", "birds", "--like", BIRD, "--unlike", SCREW, "--json"))
    assert found["average_precision"] == 1.0
    assert [row["threshold"] for row in found["thresholds"]] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert "one of the kinds is missing" in topic(trained, "test", "birds", "--like", BIRD, code=65)


def test_a_page_without_words_that_count_says_so(trained: Path, tmp_path: Path) -> None:
    page = tmp_path / "other.txt"
    page.write_text("zyzzyva qoph", encoding="utf-8")
    assert topic(trained, "explain", "birds", page).splitlines()[1:] == ["None of its words counts."]


def test_the_words_of_a_page_are_explained(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("A bird\nA bird and a nest")
    for page in (BIRD, tmp_path / "page.txt"):
        said = topic(trained, "explain", "birds", page).splitlines()
        assert said[0].startswith(f"{page}: relevance ")
        assert any(line.endswith("  bird") for line in said)
    found = json.loads(topic(trained, "explain", "birds", BIRD, "--json"))
    assert found["relevance"] > 0.5
    assert found["words"]["bird"] > 0


def test_reviewed_urls_become_examples(trained: Path, tmp_path: Path) -> None:
    (tmp_path / "yes").write_text("# reviewed\nhttp://birds.test/3\n\nhttp://birds.test/4\n")
    (tmp_path / "no").write_text("http://screws.test/3\n")
    said = topic(trained, "review", "birds", "--yes", tmp_path / "yes", "--no", tmp_path / "no")
    assert said.startswith("3 reviewed pages are examples now.\n")
    assert topic(trained, "list").startswith("birds  3 on topic, 2 off topic")
    (tmp_path / "no").write_text("http://screws.test/none\n")
    assert "http://screws.test/none: not archived" in topic(
        trained, "review", "birds", "--no", tmp_path / "no", code=65
    )


def test_pages_are_reviewed_one_by_one_the_most_doubtful_first(trained: Path) -> None:
    result = scrapy_bytes("topic", "review", "birds", given=b"y\n?\nn\ns\nq\n", CRAWL_DIR=trained)
    assert result.returncode == 0
    shown = [line for line in result.stdout.decode().splitlines() if line.startswith("http://")]
    assert len(shown) == 4
    assert not {BIRD, SCREW} & {*shown}
    assert result.stderr.decode().count("1 of 30: on topic?") == 1
    assert result.stderr.decode().count("2 of 30: on topic?") == 2
    examples = {example.source: example.is_positive for example in read_topic_file(trained, "birds").examples}
    assert examples == {BIRD: True, SCREW: False, shown[0]: True, shown[1]: False}


def test_a_review_without_an_answer_changes_nothing(trained: Path) -> None:
    before = (trained / "topics" / "birds.topic").read_bytes()
    result = scrapy_bytes("topic", "review", "birds", CRAWL_DIR=trained)
    assert (result.returncode, b"No page was reviewed" in result.stdout) == (0, True)
    assert (trained / "topics" / "birds.topic").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name what to do: train, list"),
        (["learn"], "name what to do"),
        (["train"], "train: name the topic"),
        (["train", "birds"], "give --query, --like, --unlike or --from"),
        (["train", "birds", "--json", "--query", "x"], "--json: not an option of train"),
        (["list", "birds"], "list: takes no name"),
        (["remove", "birds", "owls"], "remove: name the topic"),
        (["test", "birds"], "test: name files with labelled pages"),
        (["explain", "birds"], "explain: name the topic, and a URL or file"),
        (["review", "birds", "--query", "x"], "--query: not an option of review"),
    ],
)
def test_wrong_usage_is_refused(words: list[str], message: str, tmp_path: Path) -> None:
    assert message in topic(tmp_path, *words, code=2)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["explain", "birds", "x"], 78, "has no topic. To train it: scrapy topic train birds"),
        (["remove", "birds"], 78, "has no topic"),
        (["train", "a/b", "--query", "x"], 78, "a topic's name has letters"),
        (["train", "birds", "--query", "…"], 65, "birds: nothing to learn from"),
        (["train", "birds", "--like", "http://a.test/"], 65, "http://a.test/: not archived"),
        (["train", "birds", "--like", "none.html"], 65, "none.html: cannot be read"),
        (["train", "birds", "--from", "none"], 65, "--from none: no such directory"),
        (["train", "birds", "--from", "."], 69, "there is no crawl here"),
    ],
)
def test_what_cannot_be_read_is_named(words: list[str], code: int, message: str, tmp_path: Path) -> None:
    assert message in topic(tmp_path, *words, code=code)
    assert not (tmp_path / "topics").exists()


def test_a_damaged_topic_is_named(trained: Path) -> None:
    (trained / "topics" / "birds.topic").write_bytes(b"?")
    for words in (["list"], ["explain", "birds", BIRD], ["train", "birds", "--query", "x"]):
        assert "birds.topic: damaged" in topic(trained, *words, code=65)


def test_texts_that_no_file_can_have_and_other_ends_of_lines_are_read(tmp_path: Path) -> None:
    rows = [{"text": "A gull \ud800 nests"}, {"text": "A gull flies\u2028and nests"}]
    lines = tmp_path / "birds.jsonl"
    lines.write_text("\ufeff" + "".join(json.dumps(row, ensure_ascii=row is rows[0]) + "\n" for row in rows), "utf-8")
    said = topic(tmp_path / "crawl", "train", "birds", "--like", lines)
    assert "2 examples on topic" in said


def test_a_line_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    lines = tmp_path / "deep.jsonl"
    lines.write_text("[" * 100_000 + "\n", "utf-8")
    refused = scrapy("topic", "train", "birds", "--like", str(lines), CRAWL_DIR=tmp_path / "crawl")
    assert refused.returncode == 65
    assert "line 1: not JSON" in error_line(refused.stderr)
