"""Files of topics are written and read, and examples come from files, from labelled lines and from crawls."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from crawler.collection.topic_examples import ExampleReader, archived_pages, background_pages, examples_of_crawl
from crawler.collection.topic_output import list_line, quality_lines, trained_lines
from crawler.collection.topics import (
    MAX_EXAMPLE,
    TopicExample,
    TopicFile,
    load_topic,
    read_topic_file,
    remove_topic_file,
    topic_names,
    topic_path,
    write_topic_file,
)
from crawler.errors import BadInput, DiskTrouble, Misconfigured
from crawler.focus.topic import MAX_EXAMPLES
from crawler.options import Options
from tests.defaults import options_with
from tests.focus.pages import bird_pages, screw_pages
from tests.small_collection import Collection


def on_topic(source: str, text: str) -> TopicExample:
    return TopicExample(source, is_positive=True, text=text)


def off_topic(source: str, text: str) -> TopicExample:
    return TopicExample(source, is_positive=False, text=text)


POSITIVE = [on_topic(f"bird {number}", text) for number, text in enumerate(bird_pages(6))]
NEGATIVE = [off_topic(f"screw {number}", text) for number, text in enumerate(screw_pages(6))]
FILE = TopicFile.train("birds", "bird nest", [*POSITIVE, *NEGATIVE])


def test_a_topic_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = write_topic_file(tmp_path, FILE)
    assert (path, topic_names(tmp_path)) == (tmp_path / "topics" / "birds.topic", ["birds"])
    assert read_topic_file(tmp_path, "birds") == FILE
    assert load_topic(tmp_path, "birds").to_bytes() == FILE.learned


def test_a_topic_that_another_version_has_learned_is_learned_again(tmp_path: Path) -> None:
    write_topic_file(tmp_path, TopicFile("birds", FILE.query, FILE.examples, b"topic 0"))
    topic = load_topic(tmp_path, "birds")
    assert topic.score(bird_pages(1, 9)[0]) == FILE.topic().score(bird_pages(1, 9)[0])


def test_observed_pages_are_learned_with_the_examples() -> None:
    assert TopicFile.train("birds", "bird", POSITIVE, screw_pages(20)).topic().observations == 20


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = write_topic_file(tmp_path, FILE)
    data = path.read_bytes()
    for damaged in (b"", data[:-1], b"x" + data, data[:100] + b"!" + data[101:]):
        path.write_bytes(damaged)
        with pytest.raises(
            BadInput, match=r"birds\.topic: damaged, or written by another version .*train the topic again"
        ):
            load_topic(tmp_path, "birds")


def test_a_topic_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"owls: .* has no topic. To train it: scrapy topic train owls"):
        load_topic(tmp_path, "owls")
    write_topic_file(tmp_path, FILE)
    for ask in (load_topic, remove_topic_file):
        with pytest.raises(Misconfigured, match=r"owls: .* has no such topic, but birds"):
            ask(tmp_path, "owls")
    remove_topic_file(tmp_path, "birds")
    assert topic_names(tmp_path) == []


@pytest.mark.parametrize("name", ["", "../birds", "a/b", "birds\n", ".birds", "a" * 65, "vögel"])
def test_a_name_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="a topic's name has letters"):
        topic_path(tmp_path, name)


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "topics").write_text("a file, and no directory")
    with pytest.raises(DiskTrouble, match="The topic is as it was before"):
        write_topic_file(tmp_path, FILE)


def test_examples_are_bounded_and_those_without_words_are_left_out() -> None:
    many = [on_topic(str(number), f"bird {number}") for number in range(MAX_EXAMPLES + 5)]
    file = TopicFile.train("birds", "", [*many, off_topic("long", "x " * 9_000), on_topic("…", "…")])
    assert len(file.examples) == MAX_EXAMPLES + 1
    assert file.examples[0].source == "5"
    assert len(file.examples[-1].text) == MAX_EXAMPLE
    scores = file.topic().example_scores()
    assert (len(scores.positive), len(scores.negative)) == (MAX_EXAMPLES, 1)


def test_an_example_that_is_given_again_replaces_itself() -> None:
    again = off_topic("bird 2", "no bird")
    merged = FILE.merged_examples([again, on_topic("new", "owl")])
    assert len(merged) == 13
    assert merged[2] == again


def test_what_was_learned_is_told() -> None:
    misfit = on_topic("http://bolt.example/", screw_pages(1, 9)[0])
    file = TopicFile.train("birds", "bird nest", [*POSITIVE, misfit, *NEGATIVE], screw_pages(16, 3))
    lines = [*trained_lines(file, file.topic())]
    assert lines[0] == 'Topic birds: query "bird nest", 7 examples on topic, 6 off topic; words of 16 archived pages'
    assert "nest 1.00" in lines[1]
    assert "of 7 examples on topic are kept, and 6 of 6 off topic left out" in lines[2]
    assert lines[3] == "Examples that do not fit:"
    assert any(line.endswith("given as on topic  http://bolt.example/") for line in lines[4:])
    assert list_line(file) == 'birds  7 on topic, 6 off topic  query "bird nest"'


def test_a_query_alone_has_nothing_to_be_checked_with() -> None:
    file = TopicFile.train("birds", "bird nest", [])
    assert "for want of examples" in [*trained_lines(file, file.topic())][-1]


def test_quality_is_told_by_threshold() -> None:
    lines = [*quality_lines([0.95, 0.6, 0.2], [True, False, True])]
    assert lines[0] == "3 pages, 2 on topic; average precision 0.833"
    assert lines[6].split() == ["0.5", "2", "0.500", "0.500", "0.500"]
    assert lines[-1].startswith("The best F1 is at 0.1")


# ── Examples from places ──


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Options:
    directory = tmp_path_factory.mktemp("crawled")
    collection = Collection(directory)
    for number, page in enumerate([*bird_pages(4), *bird_pages(1), *screw_pages(2)]):
        title, _, text = page.partition("\n")
        body = f"<!doctype html><title>{title}</title><main><p>{text}.</main>"
        collection.add(f"http://a.test/{number}", body.encode(), Content_Type="text/html")
    collection.add("http://a.test/empty", b"<!doctype html>", Content_Type="text/html")
    collection.close()
    return options_with(CRAWL_DIR=directory)


def test_an_archived_page_is_an_example(options: Options) -> None:
    [example] = ExampleReader(options).read(["http://A.test:80/0"], is_positive=False)
    title, _, text = bird_pages(1)[0].partition("\n")
    assert example == off_topic("http://a.test/0", f"{title}\n{text}.")


def test_urls_that_are_not_archived_are_named_together_with_what_fetches_them(options: Options, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        ExampleReader(options).read(["http://a.test/x", "http://a.test/0", "http://b.test/"], is_positive=True)
    assert "http://a.test/x: not archived and not known" in str(caught.value)
    assert "http://b.test/: not archived" in str(caught.value)
    assert f"scrapy seed --now FILE -s CRAWL_DIR={options.crawl.dir} && scrapy crawl web" in str(caught.value)
    with pytest.raises(BadInput, match=r"http://a\.test/0: not archived, since there is no crawl"):
        ExampleReader(options_with(CRAWL_DIR=tmp_path)).read(["http://a.test/0"], is_positive=True)


def test_files_are_examples(options: Options, tmp_path: Path) -> None:
    (tmp_path / "owl.html").write_text("<title>Owl</title><main><p>The owl is a bird that hunts at night.</main>")
    (tmp_path / "gull.txt").write_text("The gull is a bird that nests on cliffs.")
    reader = ExampleReader(options)
    html, text = reader.read([str(tmp_path / "owl.html"), str(tmp_path / "gull.txt")], is_positive=True)
    assert (html.source, html.text) == (str(tmp_path / "owl.html"), "Owl\nThe owl is a bird that hunts at night.")
    assert "The gull is a bird" in text.text
    (tmp_path / "empty.txt").write_text("")
    for name, message in (("empty.txt", "has no text"), ("none.txt", "cannot be read"), (".", "cannot be read")):
        with pytest.raises(BadInput, match=message):
            reader.read([str(tmp_path / name)], is_positive=True)
    with pytest.raises(BadInput, match="has no labels"):
        reader.read([str(tmp_path / "gull.txt")], is_positive=None)


@pytest.mark.parametrize("is_packed", [False, True])
def test_labelled_lines_are_examples(options: Options, tmp_path: Path, *, is_packed: bool) -> None:
    rows = [
        {"text": "owl", "title": "Owl", "label": True},
        {"text": "bolt", "label": "irrelevant", "url": "u"},
        {"text": "?"},
    ]
    data = "\n\n".join(map(json.dumps, rows)).encode()
    path = tmp_path / ("pages.jsonl.gz" if is_packed else "pages.jsonl")
    path.write_bytes(gzip.compress(data) if is_packed else data)
    assert ExampleReader(options).read([str(path)], is_positive=True) == [
        on_topic(f"{path}:1", "Owl\nowl"),
        off_topic("u", "bolt"),
        on_topic(f"{path}:5", "?"),
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "line 1: not JSON"),
        (b"[]", "line 1: must be an object with a text"),
        (b'{"text": 1}', "line 1: must be an object with a text"),
        (
            b'{"text": "a", "label": true}\n{"text": "a", "label": "maybe"}',
            "line 2: the label 'maybe' must be true or false",
        ),
        (b'{"text": "a"}', "line 1: the label None must be true or false"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_bad_lines_are_named(data: bytes, message: str, options: Options, tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_bytes(data)
    with pytest.raises(BadInput, match=message):
        ExampleReader(options).read([str(tmp_path / "pages.jsonl")], is_positive=None)


def test_a_damaged_packed_file_is_named(options: Options, tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a", "label": true}')[:-3])
    with pytest.raises(BadInput, match="damaged"):
        ExampleReader(options).read([str(tmp_path / "pages.jsonl.gz")], is_positive=None)


def test_all_pages_of_a_crawl_are_examples_but_copies_and_empty_ones(options: Options) -> None:
    examples = examples_of_crawl(options, lambda *_: None)
    assert [example.source for example in examples] == [f"http://a.test/{number}" for number in (0, 1, 2, 3, 5, 6)]
    assert all(example.is_positive for example in examples)
    assert background_pages(options, lambda *_: None) == [example.text for example in examples]


def test_of_many_pages_the_same_ones_are_drawn_each_time(options: Options) -> None:
    drawn = [[document.url for document, _ in archived_pages(options, 3, lambda *_: None)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert 1 < len(drawn[0]) <= 3


def test_before_a_crawl_there_are_no_pages(tmp_path: Path) -> None:
    assert background_pages(options_with(CRAWL_DIR=tmp_path), lambda *_: None) == []
