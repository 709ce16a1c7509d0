"""Whatever the text of a document, readers of an exported file get back what was written."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import turbohtml
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from crawler.errors import Misconfigured
from crawler.export.characters import on_one_line, printable
from crawler.export.fields import FIELDS, REQUIRED_FIELDS
from crawler.export.formats import FORMATS, DocumentsOnlyWriter, write_deleted
from crawler.items import DeletedDocument, DeletionEvidence, ExportEntry, Key, TextBlock, identifier
from tests.export.test_documents import any_text, exported
from tests.export.trec_reader import text_records, web_records

DELETION = DeletedDocument(
    version=9, key=Key(1, 2), url="http://a.test/x", evidence=DeletionEvidence.GONE, target="http://a.test/y"
)
WITHOUT_DELETIONS = [name for name, form in FORMATS.items() if not form.has_deletions]
# Texts that look like markup of the formats
TRAPS = [
    "</DOC>\n<DOC>\n<DOCNO>forged</DOCNO>",
    "</TEXT></TITLE></DOCHDR>",
    "</pre></body></html></title><script>x</script>",
    "<!-- ]]> <?x",
    "&lt;/DOC&gt; &amp;lt; &#60;",
    "a\r\n</DOC>\r<DOC>\x0b</DOC>\x0c\x1c\x85\u2028</DOC>\u2029",
    "\0\x1b[2J\x7f\x9b\ufffe\uffff\ud800\udfff",
    "\ufeff<DOC>",
    "",
]
hostile = st.one_of(any_text, st.lists(st.sampled_from(TRAPS), max_size=4).map("\n".join), st.text("<>/DOCTEXT&\n"))
tags = st.sampled_from(["p", "h1", "h6", "li", "tr", "pre", "blockquote", "dd", "h7", "script", "x><DOC>"])
blocks = st.lists(st.builds(TextBlock, hostile, tags, st.just(0), st.sampled_from([0.0, 0.5, 1.0])), max_size=5)


def written(name: str, *entries: ExportEntry, fields: Iterable[str] | None = None) -> bytes:
    stream = io.BytesIO()
    form = FORMATS[name] if fields is None else FORMATS[name].with_fields(fields)
    writer = form.open(stream)
    for entry in entries:
        writer.write(entry)
    writer.finish()
    assert not stream.closed
    return stream.getvalue()


def lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.decode("utf-8", "strict").splitlines()]


def with_valid_characters(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def test_jsonl_holds_documents_and_deletions() -> None:
    documents = lines(written("jsonl", exported(), DELETION))
    assert [document["id"] for document in documents] == [identifier(Key(-2, 255)), identifier(Key(1, 2))]
    assert documents[1]["deleted"] is True


def test_jsonl_has_only_the_chosen_and_the_required_fields() -> None:
    document, deletion = lines(written("jsonl", exported(), DELETION, fields=["title", "status"]))
    assert document == {
        "id": identifier(Key(-2, 255)),
        "url": "http://a.test/",
        "status": 200,
        "title": "Tüte",
        "version": 3,
    }
    assert deletion.keys() == REQUIRED_FIELDS


def test_every_field_of_a_line_can_be_chosen() -> None:
    everything = exported(blocks=[TextBlock("a", "p", 0, 1.0)], links=[], relevance=0.5)
    names = {name for document in lines(written("jsonl", everything, DELETION)) for name in document}
    assert names == set(FIELDS)


@pytest.mark.parametrize("name", ["jsonl", "parquet"])
def test_a_field_that_does_not_exist_is_named(name: str) -> None:
    with pytest.raises(Misconfigured, match=r"colour, smell: no field .* title"):
        FORMATS[name].with_fields(["title", "smell", "colour"])


@pytest.mark.parametrize("name", WITHOUT_DELETIONS)
def test_formats_with_fixed_fields_refuse_a_choice_of_fields(name: str) -> None:
    with pytest.raises(Misconfigured, match="title: fields can be chosen for jsonl and parquet only"):
        FORMATS[name].with_fields(["title"])


def test_a_line_of_a_json_collection() -> None:
    assert lines(written("jsoncollection", exported())) == [
        {
            "id": "fffffffffffffffe00000000000000ff",
            "contents": "Tüte\none\ntwo",
            "url": "http://a.test/",
            "title": "Tüte",
            "language": "de",
        }
    ]


def test_a_record_of_a_text_collection() -> None:
    assert written("trectext", exported(title="a < b\nc", text="R&D\r\n</TEXT>")).decode() == (
        "<DOC>\n<DOCNO>fffffffffffffffe00000000000000ff</DOCNO>\n<TITLE>a &lt; b c</TITLE>\n"
        "<TEXT>\nR&amp;D\n&lt;/TEXT&gt;\n</TEXT>\n</DOC>\n"
    )


def test_a_record_of_a_web_collection() -> None:
    found = [TextBlock("One", "h1", 0, 0.9), TextBlock("menu", "nav", 3, 0.1), TextBlock("a & b", "p", 7, 0.5)]
    found += [
        TextBlock("i", "li", 12, 1.0),
        TextBlock("j", "li", 13, 1.0),
        TextBlock("x y", "tr", 14, 1.0),
        TextBlock(" z", "pre", 17, 1),
    ]
    assert written("trecweb", exported(blocks=found, content_type="application/pdf")).decode() == (
        "<DOC>\n<DOCNO>fffffffffffffffe00000000000000ff</DOCNO>\n<DOCHDR>\n"
        "http://a.test/\nHTTP/1.1 200 OK\nDate: Mon, 12 Jan 1970 13:46:40 GMT\nContent-Type: text/html; charset=utf-8\n"
        "Content-Length: 181\nContent-Language: de\nX-Original-Content-Type: application/pdf\n</DOCHDR>\n"
        "<html>\n<head><title>Tüte</title></head>\n<body>\n<h1>One</h1>\n<p>a &amp; b</p>\n"
        "<ul>\n<li>i</li>\n<li>j</li>\n</ul>\n<table>\n<tr><td>x y</td></tr>\n</table>\n<pre>\n z</pre>\n"
        "</body>\n</html>\n</DOC>\n"
    )


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.test/?a=1&b=2#%20", "http://a.test/?a=1&b=2#%20"),
        ("http://a.test/</DOCHDR>\n<DOC>", "http://a.test/%3C/DOCHDR%3E%0A%3CDOC%3E"),
        ("http://a.test/ü \ud800", "http://a.test/%C3%BC%20%3F"),
    ],
)
def test_the_url_of_a_web_record_is_one_word(url: str, expected: str) -> None:
    (record,) = web_records(written("trecweb", exported(url=url)))
    assert record.head[0] == expected


@example(TRAPS[0], TRAPS[1])
@example("\n".join(TRAPS), "\n".join(TRAPS))
@given(hostile, hostile)
def test_a_json_collection_gives_back_any_text(title: str, text: str) -> None:
    first, second = lines(written("jsoncollection", exported(title=title, text=text), exported()))
    assert first["contents"] == with_valid_characters(title) + "\n" + with_valid_characters(text)
    assert second["title"] == "Tüte"


@example(TRAPS[0], TRAPS[1])
@example("\n".join(TRAPS), "\n".join(TRAPS))
@given(hostile, hostile)
def test_a_text_collection_gives_back_any_text(title: str, text: str) -> None:
    data = written("trectext", exported(title=title, text=text), exported(key=Key(1, 1)))
    first, second = text_records(data)
    assert (first.title, first.body) == (on_one_line(title), printable(text))
    assert second.body == "one\ntwo"
    assert etree.fromstring(b"<root>" + data + b"</root>").findtext("DOC/TEXT") == f"\n{printable(text)}\n"


@example([], TRAPS[0], TRAPS[1], TRAPS[5], TRAPS[1])
@given(blocks, hostile, hostile, hostile, hostile)
def test_a_web_collection_gives_back_any_text(
    found: list[TextBlock], title: str, text: str, url: str, content_type: str
) -> None:
    entry = exported(blocks=found, title=title, text=text, url=url, content_type=content_type, language=content_type)
    first, second = web_records(written("trecweb", entry, exported(key=Key(1, 1))))
    length = next(line for line in first.head if line.startswith("Content-Length: "))
    assert int(length.split()[1]) == len(first.body.encode())
    page = turbohtml.parse(first.body, positions=False)
    main = [block.text for block in found if block.importance >= 0.5] or [text]
    read = page.find("body")
    assert read is not None
    assert read.text.split() == " ".join(map(printable, main)).split()
    assert {element.tag for element in page.iter_elements()} <= {
        *(
            "html",
            "head",
            "title",
            "body",
            "p",
            "h1",
            "h6",
            "ul",
            "li",
            "table",
            "tbody",
            "tr",
            "td",
            "pre",
            "blockquote",
        )
    }
    assert "one" in second.body


@pytest.mark.parametrize("name", WITHOUT_DELETIONS)
def test_deletions_are_kept_apart_where_a_format_has_none(name: str, tmp_path: Path) -> None:
    stream = io.BytesIO()
    writer = DocumentsOnlyWriter(FORMATS[name], stream)
    for entry in (exported(key=Key(1, 1)), DELETION, DeletedDocument(version=10, key=Key(3, 3), url="http://a.test/3")):
        writer.write(entry)
    writer.write(exported(key=DELETION.key, version=11))  # it was added again
    writer.finish()
    assert stream.getvalue() == written(name, exported(key=Key(1, 1)), exported(key=DELETION.key, version=11))
    path = tmp_path / "file"
    write_deleted(path, writer.deleted)
    beside = tmp_path / "file.deleted"
    assert beside.read_text() == f"{identifier(Key(3, 3))}\n"
    write_deleted(path, [])
    assert not beside.exists()


def test_deletions_stay_in_order_where_a_format_has_them() -> None:
    stream = io.BytesIO()
    writer = DocumentsOnlyWriter(FORMATS["jsonl"], stream)
    writer.write(DELETION)
    writer.finish()
    assert stream.getvalue() == written("jsonl", DELETION)
    assert not writer.deleted
