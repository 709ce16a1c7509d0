"""A strict reader of TREC files, by the rules that all their readers share.

A record is enclosed by the lines `<DOC>` and `</DOC>`; its first line is its DOCNO. In a web collection a DOCHDR
follows, then the page; in a text collection TITLE and TEXT.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

_TAGS = re.compile(r"</?(?:DOC|DOCNO|DOCHDR|TITLE|TEXT)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    docno: str
    head: list[str] = field(default_factory=list)  # lines of a web record's header
    title: str = ""
    body: str


def web_records(data: bytes) -> list[Record]:
    return _distinct([_web_record(lines) for lines in _records(data)])


def text_records(data: bytes) -> list[Record]:
    return _distinct([_text_record(lines) for lines in _records(data)])


def _records(data: bytes) -> Iterator[list[str]]:
    lines = data.decode("utf-8", "strict").split("\n")
    assert lines.pop() == "", "the last line has no end"
    record: list[str] | None = None
    for line in lines:
        assert len(line.splitlines()) <= 1, "readers disagree about where this line ends"
        if line == "<DOC>":
            assert record is None, "a record inside a record"
            record = []
        elif line == "</DOC>":
            assert record is not None, "an end without a start"
            yield record
            record = None
        else:
            assert record is not None, "something between two records"
            assert "<DOC>" not in line
            assert "</DOC>" not in line
            record.append(line)
    assert record is None, "a record without an end"


def _web_record(lines: list[str]) -> Record:
    text = "\n".join(lines)
    assert _TAGS.findall(text) == ["<DOCNO>", "</DOCNO>", "<DOCHDR>", "</DOCHDR>"]
    assert lines[1] == "<DOCHDR>"
    end = lines.index("</DOCHDR>")
    return Record(docno=_docno(lines[0]), head=lines[2:end], body="\n".join([*lines[end + 1 :], ""]))


def _text_record(lines: list[str]) -> Record:
    text = "\n".join(lines)
    assert _TAGS.findall(text) == ["<DOCNO>", "</DOCNO>", "<TITLE>", "</TITLE>", "<TEXT>", "</TEXT>"]
    title = re.fullmatch("<TITLE>(.*)</TITLE>", lines[1])
    assert title is not None
    assert (lines[2], lines[-1]) == ("<TEXT>", "</TEXT>")
    return Record(docno=_docno(lines[0]), title=unescape(title[1]), body=unescape("\n".join(lines[3:-1])))


def _docno(line: str) -> str:
    found = re.fullmatch("<DOCNO>([0-9A-Za-z-]+)</DOCNO>", line)
    assert found is not None
    return found[1]


def _distinct(records: list[Record]) -> list[Record]:
    assert len({record.docno for record in records}) == len(records), "two records have one number"
    return records
