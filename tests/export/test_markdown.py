"""Markdown files show the text of documents literally: no text becomes markup."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from crawler.errors import AlreadyRunning, DiskTrouble
from crawler.export.characters import on_one_line, printable
from crawler.export.markdown import MarkdownSink, directory_of, markdown_of
from crawler.items import DeletedDocument, Key, TextBlock, identifier
from tests.export.test_documents import any_text, exported
from tests.export.test_formats import TRAPS

KEY = Key(1, 2)
NAME = f"{identifier(KEY)}.md"
MARKS = [
    *("---", "# x", "> q", "- i", "+ i", "* i", "1. i", "2) i", "===", "***", "___", "~~~", "```", "| a |", ":-- | --"),
    *(
        "<b>x</b>",
        "<!-- c",
        "<http://a.test/>",
        "[a]: /b",
        "[a](b)",
        "![a](b)",
        "**b**",
        "_e_",
        "`c`",
        "&amp; &lt;",
        "\\",
    ),
    *("a #", "a \\", "#", "##", "## ##", "    code", "\tcode", "a  ", "~~s~~", "1.", "-", "[^1]: x", "a | b", "- | -"),
]
kinds = st.sampled_from(["p", "h1", "h3", "li", "tr", "pre", "blockquote", "div"])
hostile = st.one_of(
    any_text,
    st.sampled_from(MARKS + TRAPS),
    st.lists(st.sampled_from(MARKS + TRAPS), max_size=4).map("\n".join),
    st.text("#>+-=:|*_`~<&;[]()!\\ \n.1a"),
)
blocks = st.lists(st.builds(TextBlock, hostile, kinds, st.just(0), st.just(1.0)), max_size=6)


@pytest.fixture
def sink(tmp_path: Path) -> Iterator[MarkdownSink]:
    opened = MarkdownSink(tmp_path / "out")
    yield opened
    opened.close()


def files(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.name != ".lock")


def split_front_matter(text: str) -> tuple[dict[str, object], str]:
    """The front matter, whose values are JSON, and the body."""
    assert text.startswith("---\n")
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    pairs = [line.partition(": ") for line in head.split("\n")]
    assert len(text.splitlines()) == text.count("\n"), "readers disagree about where lines end"
    return {name: json.loads(value) for name, _, value in pairs}, body


def read(body: str) -> list[tuple[str, str]]:
    """The blocks that a parser of CommonMark and tables finds, as (kind, text); list items count as blocks."""
    found: list[tuple[str, str]] = []
    open_tags: list[str] = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(body):
        if token.nesting == 1:
            open_tags.append(token.tag)
        elif token.nesting == -1:
            open_tags.pop()
        elif token.type == "inline":
            tags = [tag for tag in open_tags if tag not in ("p", "ul")] or ["p"]
            assert len(tags) == 1, f"nested: {open_tags}"
            found += [(tags[0], line) for line in _texts(token)]
        else:
            assert token.type == "fence", token.type
            found.append(("pre", token.content.removesuffix("\n")))
    return found


def _texts(token: Token) -> list[str]:
    """The lines of a paragraph, which must consist of plain text."""
    assert token.children is not None
    assert {child.type for child in token.children} <= {"text", "text_special", "hardbreak"}
    return "".join("\n" if child.type == "hardbreak" else child.content for child in token.children).split("\n")


def test_a_file_has_front_matter_and_text() -> None:
    found = [TextBlock("One", "h2", 0, 0.9), TextBlock("menu", "nav", 3, 0.1), TextBlock("a * b", "p", 7, 0.5)]
    found += [TextBlock(text, tag, 0, 1.0) for text, tag in [("i", "li"), ("j", "li"), ("x y", "tr"), ("z", "tr")]]
    found += [TextBlock("``` x\n  y", "pre", 0, 1.0), TextBlock("said", "blockquote", 0, 1.0)]
    assert markdown_of(exported(blocks=found, title='He said: "x"')) == (
        '---\nurl: "http://a.test/"\ntitle: "He said: \\"x\\""\nfetched_at: "1970-01-12T13:46:40.250000Z"\n'
        'language: "de"\nauthor: "Ann"\npublished_at: "2019-10"\nversion: 3\n---\n\n'
        "## One\n\na \\* b\n\n- i\n- j\n\nx y  \nz\n\n````\n``` x\n  y\n````\n\n> said\n"
    )


def test_without_blocks_each_line_is_a_paragraph() -> None:
    assert split_front_matter(markdown_of(exported(text="one\n\n two")))[1] == "\none\n\ntwo\n"


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("kind", ["p", "h1", "li", "tr", "blockquote"])
def test_markup_characters_are_escaped(kind: str, mark: str) -> None:
    _, body = split_front_matter(
        markdown_of(exported(blocks=[TextBlock(mark, kind, 0, 1.0), TextBlock(mark, kind, 0, 1.0)]))
    )
    assert read(body) == [("p" if kind == "tr" else kind, on_one_line(mark))] * 2


@example([TextBlock("a\n---", "p", 0, 1.0), TextBlock("---", "p", 0, 1.0)], "---\n\n---", "x: y #")
@given(blocks, hostile, hostile)
def test_a_parser_finds_the_text_and_nothing_else(found: list[TextBlock], title: str, author: str) -> None:
    entry = exported(blocks=found, text="", title=title, metadata={"author": author})
    head, body = split_front_matter(markdown_of(entry))
    assert head["title"] == on_one_line(title)
    assert head.get("author", "") == printable(author)
    expected = []
    for block in found:
        text = printable(block.text).strip("\n") if block.tag == "pre" else on_one_line(block.text)
        if text and not text.isspace():
            expected.append(("p" if block.tag in ("tr", "div") else block.tag, text))
    assert read(body) == expected


def test_files_are_added_changed_and_removed_with_their_documents(tmp_path: Path, sink: MarkdownSink) -> None:
    sink.put(exported(key=KEY, text="old"))
    sink.put(exported(key=Key(3, 4), url="http://a.test/2"))
    sink.put(exported(key=KEY, text="new"))
    assert sink.acknowledge() == ()
    assert files(tmp_path / "out") == ["a.test", f"a.test/{NAME}", f"a.test/{identifier(Key(3, 4))}.md"]
    assert (tmp_path / "out/a.test" / NAME).read_text().endswith("\nnew\n")
    sink.put(DeletedDocument(version=4, key=KEY, url="http://a.test/"))
    assert files(tmp_path / "out") == ["a.test", f"a.test/{identifier(Key(3, 4))}.md"]
    sink.put(DeletedDocument(version=5, key=Key(3, 4), url="http://a.test/2"))
    sink.put(DeletedDocument(version=6, key=Key(7, 7), url="http://never.test/"))
    sink.put(exported(key=Key(5, 5), url="http://b.test/"))
    sink.acknowledge()
    assert files(tmp_path / "out") == ["b.test", f"b.test/{identifier(Key(5, 5))}.md"]


@pytest.mark.parametrize(
    ("url", "is_safe"),
    [
        ("http://www.example.com/", True),
        ("http://my_host.test/", True),
        ("http://127.0.0.1:80/", True),
        ("http://[::1]/", False),
        ("http://../etc/", False),
        ("http://./", False),
        ("http://.lock/", False),
        ("http://a\\b/", False),
        ("http://a.test./", False),
        ("http://A.test/", False),
        ("http://-x/", False),
        ("http://a\0b/", False),
        ("http://" + "a" * 254 + "/", False),
        ("http:///x", False),
        ("", False),
        ("http://a\n/", False),
    ],
)
def test_a_host_name_is_used_if_it_is_a_valid_directory_name(url: str, is_safe: bool) -> None:
    name = directory_of(url)
    assert name.startswith("_") is not is_safe
    assert Path("/root", name).resolve() == Path("/root", name)


@given(any_text)
def test_no_host_leaves_the_directory(host: str) -> None:
    name = directory_of(f"http://{host}/")
    assert name not in ("", ".", "..")
    assert not set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert len(name) <= 253


def test_links_are_not_followed(tmp_path: Path, sink: MarkdownSink) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / NAME).write_text("mine")
    (tmp_path / "out" / "a.test").symlink_to(outside)
    with pytest.raises(DiskTrouble, match="cannot be written"):
        sink.put(exported(key=KEY))
    assert [path.read_text() for path in outside.iterdir()] == ["mine"]


def test_a_deletion_through_a_link_deletes_nothing(tmp_path: Path, sink: MarkdownSink) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / NAME).write_text("mine")
    (tmp_path / "out" / "a.test").symlink_to(outside)
    with pytest.raises(DiskTrouble):
        sink.put(DeletedDocument(version=4, key=KEY, url="http://a.test/"))
    assert (outside / NAME).read_text() == "mine"


def test_a_link_in_the_place_of_a_file_is_replaced(tmp_path: Path, sink: MarkdownSink) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine")
    (tmp_path / "out" / "a.test").mkdir()
    (tmp_path / "out" / "a.test" / NAME).symlink_to(outside)
    sink.put(exported(key=KEY))
    sink.acknowledge()
    assert outside.read_text() == "mine"
    assert not (tmp_path / "out" / "a.test" / NAME).is_symlink()


def test_unfinished_files_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".md.part").write_text("half")
    MarkdownSink(tmp_path).close()
    assert files(tmp_path) == []


def test_a_second_export_into_the_directory_is_refused(tmp_path: Path, sink: MarkdownSink) -> None:
    with pytest.raises(AlreadyRunning, match="another export"):
        MarkdownSink(tmp_path / "out")
