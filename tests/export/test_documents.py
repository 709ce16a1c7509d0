"""A document is written as one line of JSON, whatever its text contains."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.export.documents import json_line
from crawler.items import ChangeEvent, DeletedDocument, DeletionEvidence, ExportedDocument, Key, TextBlock

any_text = st.text(st.characters(exclude_categories=()))  # surrogates too


def exported(**facts: Any) -> ExportedDocument:
    given: dict[str, Any] = {
        "version": 3,
        "key": Key(-2, 255),
        "url": "http://a.test/",
        "host": "a.test",
        "event": ChangeEvent.UPSERT,
        "links": None,
        "fetched": 1_000_000.25,
        "status": 200,
        "content_type": "text/html",
        "title": "Tüte",
        "text": "one\ntwo",
        "blocks": None,
        "language": "de",
        "format": "html",
        "problem": "",
        "metadata": {"author": "Ann", "published": "2019-10"},
        "digest": b"\x01\xff",
        "duplicate_of": "http://b.test/",
        "similarity": 0.94375,
        "tier": "compared",
        "anchors": [("b.test", "look")],
        "noarchive": False,
    }
    return ExportedDocument(**given | facts)


def test_a_line_has_all_fields_in_order() -> None:
    assert json_line(exported()).decode() == (
        '{"id":"fffffffffffffffe00000000000000ff","url":"http://a.test/","host":"a.test",'
        '"fetched_at":"1970-01-12T13:46:40.250000Z",'
        '"status":200,"content_type":"text/html","title":"Tüte","text":"one\\ntwo","language":"de",'
        '"format":"html","problem":"","description":"","author":"Ann","published_at":"2019-10","modified_at":"",'
        '"canonical":"",'
        '"digest":"01ff",'
        '"duplicate_of":"http://b.test/","similarity":0.944,"tier":"compared",'
        '"anchors":[{"host":"b.test","text":"look"}],"noarchive":false,"event":"upsert","version":3}\n'
    )


def test_blocks_come_with_their_weight() -> None:
    line = json_line(exported(blocks=[TextBlock("one", "h1", 0, 0.91234), TextBlock("two", "p", 3, 0.0)]))
    assert json.loads(line)["blocks"] == [
        {"text": "one", "tag": "h1", "importance": 0.912},
        {"text": "two", "tag": "p", "importance": 0.0},
    ]


@pytest.mark.parametrize(("relevance", "written"), [(0.123_449, "0.1234"), (1.0, "1.0"), (0.0, "0.0")])
def test_the_relevance_stands_after_the_tier(relevance: float, written: str) -> None:
    line = json_line(exported(relevance=relevance)).decode()
    assert f'"tier":"compared","relevance":{written},"anchors":' in line
    assert json_line(exported()).decode() == line.replace(f'"relevance":{written},', "")


def test_a_deletion_says_what_was_deleted() -> None:
    line = json_line(DeletedDocument(version=9, key=Key(1, 2), url="http://a.test/x", evidence=DeletionEvidence.GONE))
    assert json.loads(line) == {
        "id": "00000000000000010000000000000002",
        "url": "http://a.test/x",
        "deleted": True,
        "evidence": "gone",
        "target": None,
        "version": 9,
    }


@pytest.mark.parametrize(
    "character", ["\0", "\x1b", "\x7f", "\x85", "\x9b", "\u2028", "\u2029", "\r", "\v", "\f", "\x1c"]
)
def test_no_character_ends_a_line_early_or_reaches_a_terminal(character: str) -> None:
    line = json_line(exported(text=f"a{character}b")).decode()
    assert line.splitlines() == [line.removesuffix("\n")]
    assert character not in line
    assert json.loads(line)["text"] == f"a{character}b"


def test_lone_surrogates_are_replaced() -> None:
    line = json_line(exported(title="a\ud800b", text="\udfff", anchors=[("b.test", "\udc00")]))
    data = json.loads(line.decode())
    assert (data["title"], data["text"], data["anchors"][0]["text"]) == ("a\ufffdb", "\ufffd", "\ufffd")
    assert b"\\ud" not in line


@given(any_text, any_text)
def test_any_text_comes_back_from_one_line(title: str, text: str) -> None:
    line = json_line(exported(title=title, text=text)).decode("utf-8", "strict")
    assert len(line.splitlines()) == 1
    whole = [re.sub("[\ud800-\udfff]", "\ufffd", given) for given in (title, text)]
    assert [json.loads(line)[name] for name in ("title", "text")] == whole
