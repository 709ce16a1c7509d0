"""Truncated, damaged and random files are converted without an exception."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.parse.documents import Document, Problem, convert
from tests.conftest import SHARED
from tests.parse.documents import compound_files as made
from tests.parse.documents.files import SAMPLES as MODERN_SAMPLES

CORPUS = SHARED / "documents" / "tika"
FILES = sorted(path.name for path in CORPUS.iterdir() if path.suffix != ".jsonl") if CORPUS.is_dir() else []
SAMPLES = {
    **MODERN_SAMPLES,
    "a.doc": made.compound(made.word("Some words of a text.\r", headings={0: 1})),
    "a.ppt": made.compound(made.slides("Title", "Some words of a slide.", "http://a.example/")),
    "a.xls": made.compound({"Workbook": made.workbook()}),
    "a.msg": made.compound(made.outlook_message()),
}
ENDLESS_FORMATS = (
    "a.txt",
    "a.py",
    "a.csv",
    "a.md",
    "a.html",
    "a.eml",
    "a.mbox",
    "a.tar",
)  # a truncated file is a valid shorter one
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def damaged(body: bytes, seed: int) -> bytes:
    chance, broken = random.Random(seed), bytearray(body)
    for _ in range(chance.choice([1, 5, 50])):
        broken[chance.randrange(len(broken))] = chance.randrange(256)
    return bytes(broken)


@pytest.mark.parametrize("name", SAMPLES)
def test_truncated_files_are_read_and_reported(name):
    body = SAMPLES[name]
    for tenth in range(10):
        document = convert(body[: len(body) * tenth // 10], f"http://a.example/{name}")
        assert isinstance(document, Document)
        if tenth and name not in ENDLESS_FORMATS:
            assert document.problem in (Problem.TRUNCATED, Problem.CORRUPT, Problem.EMPTY), tenth


@pytest.mark.parametrize("name", SAMPLES)
def test_changed_bytes_do_no_harm(name):
    for seed in range(60):
        assert isinstance(convert(damaged(SAMPLES[name], seed), f"http://a.example/{name}"), Document)


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=300),
    st.sampled_from(
        [
            b"",
            b"%PDF-1.4\n",
            rb"{\rtf1 ",
            b"PK\x03\x04",
            OLE,
            b"\xffWPC",
            b"\x09\x08\x10\x00\x00\x06",
            b"\x1f\x8b\x08",
            b"<?xml ",
        ]
    ),
    st.sampled_from(["", "a.md", "a.csv", "a.eml", "a.one", "a.tar"]),
    st.sampled_from([None, "text/html", "application/pdf", "message/rfc822", ";;;"]),
)
def test_any_bytes_give_an_answer(body, beginning, name, content_type):
    assert isinstance(convert(beginning + body, f"http://a.example/{name}", content_type), Document)


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", FILES)
def test_damaged_files_of_the_corpus_do_no_harm(name):
    body = (CORPUS / name).read_bytes()
    for tenth in range(10):
        assert isinstance(convert(body[: len(body) * tenth // 10], f"http://a.example/{name}"), Document)
    for seed in range(5):
        assert isinstance(convert(damaged(body, seed), f"http://a.example/{name}"), Document)
