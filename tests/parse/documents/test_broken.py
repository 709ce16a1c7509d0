"""Any bytes give an answer."""

import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.parse.documents import Document, Problem, convert
from tests.conftest import SHARED
from tests.parse.documents.files import SAMPLES

CORPUS = SHARED / "documents" / "tika"
FILES = sorted(path.name for path in CORPUS.iterdir() if path.suffix != ".jsonl") if CORPUS.is_dir() else []
PLAIN = ("a.txt", "a.py", "a.csv", "a.md", "a.html", "a.eml", "a.mbox", "a.tar")  # who cuts them gets a shorter one
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def damaged(body: bytes, seed: int) -> bytes:
    chance, broken = random.Random(seed), bytearray(body)
    for _ in range(chance.choice([1, 5, 50])):
        broken[chance.randrange(len(broken))] = chance.randrange(256)
    return bytes(broken)


@pytest.mark.parametrize("name", SAMPLES)
def test_cut_files_give_what_is_there(name):
    body = SAMPLES[name]
    for tenth in range(10):
        document = convert(body[: len(body) * tenth // 10], f"http://a.example/{name}")
        assert isinstance(document, Document)
        if tenth and name not in PLAIN:
            assert document.problem in (Problem.TRUNCATED, Problem.CORRUPT, Problem.EMPTY), tenth


@pytest.mark.parametrize("name", SAMPLES)
def test_flipped_bytes_do_no_harm(name):
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


def compound(*names: str) -> bytes:
    """An OLE2 file of empty streams: a header, a table of sectors, a directory."""
    header = OLE + b"\0" * 16 + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + b"\0" * 6
    header += struct.pack("<IIIIIIIIII", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0, 0) + b"\xff" * 432
    table = struct.pack("<II", 0xFFFFFFFD, 0xFFFFFFFE) + b"\xff" * 504
    directory = entry("Root Entry", 5, child=1 if names else 0xFFFFFFFF)
    for number, name in enumerate(names, 1):
        directory += entry(name, 2, right=number + 1 if number < len(names) else 0xFFFFFFFF)
    return header + table + directory.ljust(512, b"\0")


def entry(name: str, kind: int, *, right: int = 0xFFFFFFFF, child: int = 0xFFFFFFFF) -> bytes:
    raw = name.encode("utf-16-le") + b"\0\0"
    return (
        raw.ljust(64, b"\0")
        + struct.pack("<HBBIII", len(raw), kind, 1, 0xFFFFFFFF, right, child)
        + b"\0" * 36
        + struct.pack("<IQ", 0xFFFFFFFE, 0)
    )


def test_an_encrypted_office_file_says_so():
    document = convert(compound("EncryptedPackage", "EncryptionInfo"), "http://a.example/a.docx")
    assert (document.problem, document.metadata["encrypted"]) == (Problem.ENCRYPTED, "true")


@pytest.mark.parametrize(
    ("name", "found"), [("WordDocument", "doc"), ("Workbook", "xls"), ("PowerPoint Document", "ppt"), ("Other", "ole")]
)
def test_old_office_files_are_known_by_their_streams(name, found):
    document = convert(compound(name), "http://a.example/file")
    assert document.format == found
    assert document.text == ""


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", FILES)
def test_damaged_files_of_the_corpus_do_no_harm(name):
    body = (CORPUS / name).read_bytes()
    for tenth in range(10):
        assert isinstance(convert(body[: len(body) * tenth // 10], f"http://a.example/{name}"), Document)
    for seed in range(5):
        assert isinstance(convert(damaged(body, seed), f"http://a.example/{name}"), Document)
