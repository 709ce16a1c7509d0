"""`scrapy duplicates` finds near-duplicates and clusters, and measures how well they are detected."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from crawler.commands.duplicates import DuplicatesCommand
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.page_sketch import page_shingles
from crawler.duplicates.template import pack_template
from crawler.stores.contract.similarity import TemplateResult
from crawler.stores.open import open_store
from crawler.urls.keys import key_of
from tests.commands.test_show_export import Collection
from tests.contracts.similar_texts import ONE, edited, words_of
from tests.crawl.runner import error_line, scrapy, started
from tests.samples import NOW

pytestmark = [pytest.mark.crawl, pytest.mark.xdist_group("duplicates")]  # one worker, one crawl

A, B, C, D = "http://a.test/x", "http://b.test/near", "http://c.test/copy", "http://d.test/other"
SHORT, SHORT_COPY = "http://a.test/short", "http://b.test/short"
PROGRAM, RENAMED, OTHER_PROGRAM = "http://a.test/sum.py", "http://b.test/total.py", "http://c.test/other.py"
CODE = """\
def total(prices, tax):
    result = 0
    for price in prices:
        if price > 0:
            result += price * (1 + tax)
        else:
            raise ValueError("negative")
    return result
"""
RENAMED_CODE = """\
# adds things up
def summed(numbers, rate):
    outcome = 0.0
    for number in numbers:   # one by one
        if number > 10:
            outcome += number * (17 + rate)
        else:
            raise ValueError("no such thing")
    return outcome
"""
OTHER_CODE = """\
import sys
class Tree:
    left = None
    while True:
        try:
            print([leaf for leaf in sys.path], file=sys.stderr, end="")
        except (KeyError, OSError) as error:
            del left[error]
    lambda *every: {every: every}
"""


NEAR = edited(ONE, 4)  # .90


def html(words: list[str], title: str = "") -> bytes:
    paragraphs = [" ".join(words[at : at + 50]) for at in range(0, len(words), 50)]
    return f"<!doctype html><title>{title}</title><main>{''.join(f'<p>{text}.' for text in paragraphs)}</main>".encode()


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("crawled")
    collection = Collection(directory)
    for url, body in {
        A: html(ONE),
        B: html(NEAR),
        C: html(ONE),
        D: html(words_of(4)),
        SHORT: html(words_of(5, 30), "first"),
        SHORT_COPY: html(words_of(5, 30), "second"),
    }.items():
        collection.add(url, body, Content_Type="text/html")
    for url, source in {PROGRAM: CODE, RENAMED: RENAMED_CODE, OTHER_PROGRAM: OTHER_CODE}.items():
        collection.add(url, source.encode(), Content_Type="text/x-python")
    collection.close()
    return directory


def printed(directory: Path, *words: object, code: int = 0) -> str:
    result = scrapy("duplicates", *map(str, words), CRAWL_DIR=directory)
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
    return result.stdout


def data(directory: Path, *words: object) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed(directory, *words, "--json").splitlines()]


# ── find ──


def test_near_duplicates_of_a_url_are_found_with_similarity_and_differences(crawled: Path) -> None:
    copy, near = data(crawled, "find", A)
    assert (copy["url"], copy["similarity"], copy["tier"]) == (C, 1.0, "body")
    assert (copy["added"], copy["removed"]) == ([], [])
    assert copy["duplicate_of"] == A
    assert (near["url"], near["tier"]) == (B, "compared")
    assert 0.88 < near["similarity"] < 0.92
    assert near["added"] == ["edited1x0", "edited1x1", "edited1x2", "edited1x3"]
    assert near["removed"] == [ONE[80], ONE[160], ONE[240], ONE[320]]


def test_the_text_output_names_the_evidence_and_the_verdict_of_the_crawl(crawled: Path) -> None:
    text = printed(crawled, "find", A)
    assert f"100.0%  {C}" in text
    assert f"the same bytes; in the crawl a duplicate of {A} (100.0%)" in text
    assert "almost the same words, both texts compared; in the crawl " in text
    assert "words: + edited1x0 edited1x1 edited1x2 edited1x3  − word" in text
    assert "\x1b" not in text


def test_near_duplicates_of_a_file_are_found_as_those_of_a_page(crawled: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(html(NEAR, "another title"))
    found = data(crawled, "find", path)
    assert [(row["url"], row["tier"]) for row in found] == [(B, "text"), (A, "compared"), (C, "compared")]


@pytest.mark.parametrize(("threshold", "count"), [("0.95", 1), ("0.85", 2), ("0.001", 2)])
def test_any_threshold_may_be_given(crawled: Path, threshold: str, count: int) -> None:
    assert len(data(crawled, "find", A, "--threshold", threshold)) == count


def test_no_more_results_are_shown_than_requested(crawled: Path) -> None:
    assert len(data(crawled, "find", A, "--most", "1")) == 1
    assert "and about 1 more: --most" in printed(crawled, "find", A, "--most", "1")


def test_a_document_without_near_duplicates_is_no_failure(crawled: Path) -> None:
    assert printed(crawled, "find", D) == f"Nothing in the collection is 80% or more like {D}.\n"
    assert data(crawled, "find", D) == []


def test_of_short_documents_only_exact_copies_are_found_which_is_reported(crawled: Path) -> None:
    text = printed(crawled, "find", SHORT)
    assert f"{SHORT} has fewer than 40 words: only exact copies were looked for." in text
    assert f"100.0%  {SHORT_COPY}" in text
    assert "the same words" in text


def test_a_missing_page_file_or_crawl_is_an_error_of_one_line(crawled: Path, tmp_path: Path) -> None:
    result = scrapy("duplicates", "find", "http://nowhere.test/", CRAWL_DIR=crawled)
    assert result.returncode == 1
    assert "not archived" in error_line(result.stderr)
    result = scrapy("duplicates", "find", str(tmp_path / "nowhere"), CRAWL_DIR=crawled)
    assert result.returncode == 65
    assert "cannot be read" in error_line(result.stderr)
    result = scrapy("duplicates", "find", A, CRAWL_DIR=tmp_path)
    assert result.returncode == 69
    assert "there is no crawl here" in error_line(result.stderr)


def test_the_template_of_a_host_does_not_count_as_similarity(tmp_path: Path) -> None:
    shared, own = words_of(7, 300), words_of(8, 200)
    collection = Collection(tmp_path)
    collection.add(A, html(shared + own), Content_Type="text/html")
    collection.add(B, html(own), Content_Type="text/html")
    collection.close()
    assert data(tmp_path, "find", A) == []
    store = open_store(f"sqlite:{tmp_path / 'crawl.db'}")
    template = pack_template(page_shingles(" ".join(shared), b"", DuplicateRule()))
    store.similarity.store_template(TemplateResult(host=key_of(A).host, template=template, mark=1, sketches={}), NOW)
    store.close()
    (found,) = data(tmp_path, "find", A)
    assert found["url"] == B
    assert found["similarity"] > 0.95


# ── clusters ──


def test_all_clusters_of_the_collection_are_found(crawled: Path) -> None:
    (found,) = data(crawled, "clusters", "--threshold", "0.85")
    assert (found["cluster"], found["size"]) == (1, 3)
    assert [document["url"] for document in found["documents"]] == [A, B, C]
    assert [document["counted"] for document in found["documents"]] == [True, True, True]
    assert found["documents"][1]["added"] == ["edited1x0", "edited1x1", "edited1x2", "edited1x3"]
    assert "added" not in found["documents"][0]


def test_the_text_output_is_a_table_of_clusters(crawled: Path) -> None:
    lines = printed(crawled, "clusters", "--threshold", "0.85").splitlines()
    assert lines[0].startswith("1 cluster with 3 of ")
    assert lines[2:4] == ["   1  3 documents", f"{'':14}{A}"]
    assert lines[4].split() == [lines[4].split()[0], B]
    assert lines[4].split()[0].endswith("%")
    assert "words: + edited1x0" in lines[5]
    assert lines[6].split() == ["100.0%", C]


def test_the_threshold_is_that_of_the_setting_unless_given(crawled: Path) -> None:
    assert [row["size"] for row in data(crawled, "clusters", "-s", "DUPLICATE_THRESHOLD=0.85")] == [3]
    assert [row["size"] for row in data(crawled, "clusters", "-s", "DUPLICATE_THRESHOLD=0.97")] == [2]


def test_clusters_by_sketch_need_no_archive(crawled: Path, tmp_path: Path) -> None:
    """With --by-sketch no text is read; without it, missing archive files are reported."""
    for name in ("crawl.db", "crawl.db-wal"):
        if (crawled / name).exists():
            (tmp_path / name).write_bytes((crawled / name).read_bytes())
    (found,) = data(tmp_path, "clusters", "--threshold", "0.8", "--by-sketch")
    assert [document["counted"] for document in found["documents"]] == [True, False, False]
    assert all("added" not in document for document in found["documents"])
    result = scrapy("duplicates", "clusters", "--threshold", "0.8", CRAWL_DIR=tmp_path)
    assert result.returncode == 74
    assert f"{A}: not read: " in result.stderr
    assert "could not be read" in error_line(result.stderr)
    assert "3 documents" in result.stdout


def test_a_collection_without_near_duplicates_has_no_clusters(tmp_path: Path) -> None:
    collection = Collection(tmp_path)
    collection.add(A, html(ONE), Content_Type="text/html")
    collection.close()
    assert printed(tmp_path, "clusters") == "No two of 1 documents are 90% or more alike.\n"
    assert data(tmp_path, "clusters") == []


def test_a_collection_without_sketches_is_reported(tmp_path: Path) -> None:
    collection = Collection(tmp_path)
    collection.add(SHORT, html(words_of(5, 30)), Content_Type="text/html")
    collection.close()
    result = scrapy("duplicates", "clusters", CRAWL_DIR=tmp_path)
    assert result.returncode == 0
    assert "No page of this collection has a sketch" in result.stderr


@pytest.fixture
def files(tmp_path: Path) -> Path:
    directory = tmp_path / "files"
    (directory / "below").mkdir(parents=True)
    (directory / ".hidden").mkdir()
    (directory / "one.txt").write_text(" ".join(ONE))
    (directory / "below" / "near.txt").write_text(" ".join(edited(ONE, 1)))
    (directory / ".hidden" / "copy.txt").write_text(" ".join(ONE))
    (directory / "other.txt").write_text(" ".join(words_of(2)))
    (directory / "short.txt").write_text("too short to tell")
    return directory


def test_directories_of_files_are_searched_recursively(files: Path, tmp_path: Path) -> None:
    (found,) = data(tmp_path / "no crawl", "clusters", files)
    assert [document["url"] for document in found["documents"]] == [
        str(files / "below" / "near.txt"),
        str(files / "one.txt"),
    ]
    result = scrapy("duplicates", "clusters", str(files / "one.txt"), str(files / "short.txt"))
    assert result.stdout == "No two of 1 documents are 90% or more alike.\n"
    assert result.stderr == "1 documents have fewer than 40 words and were left out.\n"


def test_missing_files_are_an_error_of_one_line(tmp_path: Path) -> None:
    for name in (tmp_path / "nothing", tmp_path):
        result = scrapy("duplicates", "clusters", str(name))
        assert result.returncode == 65
        assert str(name) in error_line(result.stderr)


def test_control_characters_in_file_names_are_not_printed(tmp_path: Path) -> None:
    for name in ("a\x1b[2Jone", "b\nsecond", "c\x9b31m"):
        (tmp_path / name).write_text(" ".join(ONE))
    text = printed(tmp_path, "clusters", tmp_path)
    assert "3 documents" in text
    assert all(line.isprintable() for line in text.splitlines())
    text = printed(tmp_path, "clusters", tmp_path, "--json")
    assert text.removesuffix("\n").isprintable()
    assert json.loads(text)["documents"][0]["url"].endswith("a\x1b[2Jone")


def test_temporary_files_are_deleted(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    data(tmp_path, "clusters", files)
    assert [path.name for path in temporary.iterdir() if path.name.startswith("duplicates-")] == []


# ── code ──


def test_renamed_identifiers_do_not_make_programs_different(crawled: Path) -> None:
    found = data(crawled, "find", PROGRAM, "--features", "code")
    assert [(row["url"], row["similarity"]) for row in found] == [(RENAMED, 1.0)]
    assert "adds" in found[0]["added"]
    assert data(crawled, "find", PROGRAM) == []  # they have different words


def test_programs_of_the_collection_are_clustered(crawled: Path) -> None:
    (found,) = data(crawled, "clusters", "--features", "code")
    assert [document["url"] for document in found["documents"]] == [PROGRAM, RENAMED]


def test_programs_in_files_are_clustered(tmp_path: Path) -> None:
    for name, source in {"one.py": CODE, "two.py": RENAMED_CODE, "three.py": OTHER_CODE}.items():
        (tmp_path / name).write_text(source)
    (found,) = data(tmp_path, "clusters", tmp_path, "--features", "code")
    assert [Path(document["url"]).name for document in found["documents"]] == ["one.py", "two.py"]


# ── evaluate ──


def pairs() -> Iterator[dict[str, Any]]:
    for number in range(10):
        words = words_of(number)
        yield {"a": " ".join(words), "b": " ".join(edited(words, 1)), "duplicate": True}
        yield {"a": " ".join(words), "b": " ".join(edited(words, 40)), "duplicate": False}


def test_pairs_with_their_own_texts_are_evaluated(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs()))
    rows = data(tmp_path, "evaluate", path, "--threshold", "0.87")
    assert [row["threshold"] for row in rows if row["chosen"]] == [0.87]
    assert len(rows) == 12
    assert all(row["duplicates"] == 10 for row in rows)
    (chosen,) = [row for row in rows if row["chosen"]]
    assert chosen["sketch"] == chosen["cascade"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert rows[-1]["cascade"]["recall"] == 0.0  # none of them is a copy
    text = printed(tmp_path, "evaluate", path)
    assert "20 pairs of 30 documents; at 0.9, 10 are near-duplicates" in text
    assert "cascade           1.0000  1.0000  1.0000" in text


def test_pairs_may_refer_to_documents_in_another_file_and_both_may_be_compressed(tmp_path: Path) -> None:
    texts = {"x": ONE, "y": edited(ONE, 1), "z": words_of(2)}
    with gzip.open(tmp_path / "texts.jsonl.gz", "wt") as file:
        file.writelines(json.dumps({"id": name, "text": " ".join(words)}) + "\n" for name, words in texts.items())
    with gzip.open(tmp_path / "pairs.jsonl.gz", "wt") as file:
        file.write('{"a": "x", "b": "y", "jaccard5": 0.975}\n{"a": "x", "b": "z"}\n')
    picture = tmp_path / "quality.png"
    words = ("evaluate", tmp_path / "pairs.jsonl.gz", "--documents", tmp_path / "texts.jsonl.gz", "--plot", picture)
    rows = data(tmp_path, *words)
    assert [row["duplicates"] for row in rows] == [1] * 10 + [0]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_pairs_that_refer_to_missing_documents_are_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"a": "x", "b": "y"}\n')
    result = scrapy("duplicates", "evaluate", str(path))
    assert result.returncode == 0
    assert "--documents" in result.stderr


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"a": "x", "b": "y"}\n\n{"a": 1}\n', 'line 3 has neither a text nor a number under "b"'),
        (b"", "there is no pair in it"),
        (b"\xff\xfe", "is not UTF-8"),
    ],
)
def test_invalid_files_of_pairs_are_refused(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(content)
    result = scrapy("duplicates", "evaluate", str(path))
    assert result.returncode == 65
    assert complaint in error_line(result.stderr)


def test_a_file_that_cannot_be_decompressed_or_is_missing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl.gz"
    path.write_bytes(b"{}")
    for named in (path, tmp_path / "nowhere"):
        result = scrapy("duplicates", "evaluate", str(named))
        assert result.returncode == 65
        assert "cannot be read" in error_line(result.stderr)


# ── usage ──


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "name what to do: find, clusters, evaluate"),
        (("search",), "name what to do"),
        (("find",), "name one URL or file"),
        (("find", "x", "y"), "name one URL or file"),
        (("evaluate",), "name one file of pairs"),
        (("clusters", "--threshold", "0.3"), "must be from 0.5 to 1"),
        (("find", "x", "--threshold", "0"), "must be from above 0 to 1"),
        (("find", "x", "--threshold", "nan"), "must be from above 0 to 1"),
        (("find", "x", "--most", "0"), "must be at least 1"),
        (("find", "x", "--by-sketch"), "--by-sketch: not an option of find"),
        (("clusters", "--plot", "x.png"), "--plot: not an option of clusters"),
        (("evaluate", "x", "--features", "code"), "--features: not an option of evaluate"),
        (("evaluate", "x", "--plot", "x.gif"), "must end in"),
    ],
)
def test_wrong_usage_is_refused(words: tuple[str, ...], complaint: str) -> None:
    command, parser = DuplicatesCommand(), ArgumentParser(conflict_handler="resolve")
    command.settings = Settings()
    command.add_options(parser)
    opts, args = parser.parse_known_args(words)
    with pytest.raises(UsageError, match=re.escape(complaint)):
        command.run(args, opts)


def test_an_unknown_verb_is_exit_code_2() -> None:
    result = scrapy("duplicates", "search")
    assert result.returncode == 2
    assert "name what to do: find, clusters, evaluate" in result.stdout + result.stderr


def test_every_verb_is_explained_with_an_example() -> None:
    text = started("duplicates", "--help").stdout
    for verb in ("find", "clusters", "evaluate"):
        (paragraph,) = [part for part in text.split("\n\n") if part.startswith(f"{verb}: ")]
        assert f"Example: scrapy duplicates {verb} " in " ".join(paragraph.split())


def test_the_commands_work_while_a_crawl_writes(tmp_path: Path) -> None:
    collection = Collection(tmp_path)
    collection.add(A, html(ONE), Content_Type="text/html")
    collection.add(B, html(NEAR), Content_Type="text/html")
    try:
        before = [path.stat().st_mtime_ns for path in sorted(tmp_path.glob("crawl.db"))]
        assert [row["url"] for row in data(tmp_path, "find", A)] == [B]
        assert [row["size"] for row in data(tmp_path, "clusters", "--threshold", "0.8")] == [2]
        assert [path.stat().st_mtime_ns for path in sorted(tmp_path.glob("crawl.db"))] == before
        collection.add(C, html(ONE), Content_Type="text/html")
    finally:
        collection.close()
    assert len(data(tmp_path, "find", A)) == 2


def test_sketches_with_another_shingle_length_are_refused(crawled: Path, tmp_path: Path) -> None:
    directory = tmp_path / "crawl"
    shutil.copytree(crawled, directory)
    store = open_store(f"sqlite:{directory / 'crawl.db'}")
    store.crawl.set_facts({"sketches": "runs of 3 words"})
    store.close()
    result = scrapy("duplicates", "clusters", CRAWL_DIR=directory)
    assert (result.returncode, result.stdout) == (78, "")
    assert (
        "DUPLICATE_SHINGLE: the sketches of this crawl are of runs of 3 words, and not of runs of 5 words"
        in result.stderr
    )


def test_another_method_is_measured_beside_ours(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    words = [f"word{number}" for number in range(300)]
    pairs = [(words, [*words[:number], f"x{number}", *words[number + 1 :]]) for number in (50, 150)]
    pairs += [(words, [f"other{number}" for number in range(300)])]
    path.write_text("".join(json.dumps({"a": " ".join(a), "b": " ".join(b)}) + "\n" for a, b in pairs))
    (row,) = [row for row in data(tmp_path, "evaluate", path, "--method", "datasketch") if row["threshold"] == 0.9]
    assert row["datasketch"] == row["cascade"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert "\ndatasketch " in printed(tmp_path, "evaluate", path, "--method", "datasketch")
    assert "datasketch" not in printed(tmp_path, "evaluate", path)
    assert scrapy("duplicates", "find", "--method", "datasketch", "x").returncode == 2
