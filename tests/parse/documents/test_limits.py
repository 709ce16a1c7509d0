"""Archives and XML neither grow beyond the limits nor include external files."""

import gzip
import io
import struct
import time
import zipfile

import pytest

from crawler.parse.documents import convert
from crawler.parse.documents.draft import Draft
from tests.parse.documents import files
from tests.parse.documents.files import docx, epub, odt, paragraph, tarred, xlsx, zipped

URL = "http://site.example/a.zip"
NESTED_ENTITIES = (
    "<!DOCTYPE l [<!ENTITY a 'ha'>"
    + "".join(f"<!ENTITY {name} '{f'&{before};' * 10}'>" for before, name in zip("abcdefghi", "bcdefghij", strict=True))
    + "]>"
)


def convert_quickly(body: bytes, url: str = URL):
    start = time.process_time()
    document = convert(body, url)
    assert time.process_time() - start < 5
    return document


def test_an_archive_lists_its_files_and_what_is_in_them():
    document = convert(
        zipped({"a.txt": "words", "b/c.docx": docx(paragraph("inner")), "d.png": b"\x89PNG\r\n\x1a\n"}), URL
    )
    assert document.text.split("\n") == ["a.txt", "b/c.docx", "d.png", "a.txt", "words", "b/c.docx", "inner"]
    assert document.metadata == {"files": "3", "embedded": "a.txt\nb/c.docx"}


@pytest.mark.parametrize(
    ("encoding", "name"), [("gbk", "审计压缩文件"), ("shift_jis", "日本語のファイル名です"), ("utf-8", "Größe")]
)
def test_names_may_be_in_any_encoding(encoding, name):
    raw = f"{name}.txt".encode(encoding)
    body = zipped({"?" * len(raw): "x"}).replace(b"?" * len(raw), raw)
    assert convert(body, URL).text.startswith(f"{name}.txt")


def test_a_large_file_in_an_archive_is_no_problem():
    document = convert(zipped({"a.txt": "some words " * 10_000}, zipfile.ZIP_STORED), URL)
    assert (document.problem, document.text.count("some words")) == ("", 10_000)


def test_names_with_parent_directories_write_no_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "../../evil.txt" in convert(zipped({"../../evil.txt": "x", "/etc/evil": "y"}), URL).text
    assert list(tmp_path.iterdir()) == []


def test_a_bomb_is_not_unpacked():
    document = convert_quickly(zipped({"a.txt": b"\0" * (150 << 20)}))
    assert (document.problem, document.text) == ("bomb", "")


def test_a_member_beyond_the_ratio_is_a_bomb():
    assert convert_quickly(zipped({"word/document.xml": " " * (20 << 20), "[Content_Types].xml": ""})).problem == "bomb"


def test_false_sizes_do_not_circumvent_the_limits():
    body = bytearray(zipped({"a.txt": b" " * (50 << 20)}))
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = body.index(mark) + at
        body[place : place + 4] = struct.pack("<I", 100)
    document = convert_quickly(bytes(body))
    assert len(document.text) < 100


def test_a_million_entries_are_not_listed():
    entry = b"PK\x01\x02" + b"\0" * 24 + struct.pack("<HHH", 1, 0, 0) + b"\0" * 12 + b"x"
    directory = entry * 1_000_000
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 65_535, 65_535, len(directory), 0, 0)
    assert convert_quickly(b"PK\x03\x04" + directory + end).problem == "too_large"


def test_nested_archives_are_limited():
    body = zipped({"deep.txt": "treasure"})
    for depth in range(20):
        body = zipped({f"level{depth}.zip": body})
    document = convert_quickly(body)
    assert document.problem == "too_large"
    assert "treasure" not in document.text


def test_many_archives_in_an_archive_share_one_limit():
    inner = zipped({f"{number}.txt": "x" for number in range(1_000)})
    document = convert_quickly(zipped({f"{number}.zip": inner for number in range(20)}, zipfile.ZIP_STORED))
    assert document.problem == "too_large"


def test_a_gzip_bomb_is_reported():
    assert convert_quickly(gzip.compress(b"\0" * (150 << 20))).problem == "bomb"


def test_an_encrypted_archive_is_reported():
    body = bytearray(zipped({"a.txt": "secret words"}))
    body[6] |= 1
    body[body.index(b"PK\x01\x02") + 8] |= 1
    document = convert(bytes(body), URL)
    assert (document.problem, document.text, document.metadata["encrypted"]) == ("encrypted", "a.txt", "true")


def test_an_archive_without_its_directory_is_read():
    body = zipped({"a.txt": "first words", "b.txt": "second words"})
    document = convert(body[: body.index(b"PK\x01\x02")], URL)
    assert document.problem == "truncated"
    assert {"first words", "second words"} <= set(document.text.split("\n"))


def test_the_directory_of_an_inner_archive_is_not_taken_for_ours():
    inner = zipped({"inner.txt": "inner words"})
    body = zipped({"a.txt": "outer words", "b.zip": inner}, zipfile.ZIP_STORED)
    document = convert(body[: body.rindex(b"PK\x05\x06", 0, -22) + 22], URL)
    assert document.problem == "truncated"
    assert "outer words" in document.text


def test_tar_archives():
    document = convert(tarred({"a.txt": b"words", "../b.txt": b"more"}), "http://site.example/a.tar")
    assert document.text.split("\n") == ["a.txt", "../b.txt", "a.txt", "words", "../b.txt", "more"]


def with_external_entity(kind: str, path: str) -> bytes:
    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{path}">]>'
    document = (
        f'{entity}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f"<w:body><w:p><w:r><w:t>a&e;b</w:t></w:r></w:p></w:body></w:document>"
    )
    return {
        "docx": docx("", {"word/document.xml": document}),
        "xlsx": xlsx("", more={"xl/sharedStrings.xml": f"{entity}<sst><si><t>a&e;b</t></si></sst>"}),
        "odt": odt(
            "",
            more={
                "content.xml": (
                    f"{entity}<o:document-content xmlns:o='o' xmlns:t='t'><o:body>"
                    f"<t:p>a&e;b</t:p></o:body></o:document-content>"
                )
            },
        ),
        "epub": epub({"a.xhtml": f"<?xml version='1.0'?>{entity}<html><p>a&e;b</p></html>"}),
        "xml": f"<?xml version='1.0'?>{entity}<a>a&e;b</a>".encode(),
        "svg": f"<?xml version='1.0'?>{entity}<svg><text>a&e;b</text></svg>".encode(),
    }[kind]


@pytest.mark.parametrize("kind", ["docx", "xlsx", "odt", "epub", "xml", "svg"])
def test_entities_cannot_include_files(kind, tmp_path):
    canary = tmp_path / "canary.txt"
    canary.write_text("the canary sings")
    document = convert(with_external_entity(kind, str(canary)), f"http://site.example/a.{kind}")
    assert "canary sings" not in str(document)


@pytest.mark.parametrize(
    "body",
    [
        f"<?xml version='1.0'?>{NESTED_ENTITIES}<l>&j;</l>".encode(),
        f"<?xml version='1.0'?>{NESTED_ENTITIES}<l t='&j;'/>".encode(),
        docx("", {"word/document.xml": f"{NESTED_ENTITIES}<l t='&j;'>&j;</l>"}),
        odt("", more={"content.xml": f"{NESTED_ENTITIES}<l t='&j;'>&j;</l>"}),
    ],
    ids=["xml", "attribute", "docx", "odt"],
)
def test_entity_expansion_is_not_performed(body):
    document = convert_quickly(body)
    assert document.text.count("ha") < 100_000
    assert len(document.html) < 1 << 20


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b" " * (10 << 20), "a.txt"),
        (b"x" * (10 << 20), "a.txt"),
        (b"a,b\n" * 1_000_000, "a.csv"),
        (b"[" * 1_000_000, "a.md"),
        (b"**" * 1_000_000, "a.md"),
        (b"http://" * 1_000_000, "a.txt"),
        (b"From: a\nReceived: b\n" + b"X: " + b"=?utf-8?q?a?= " * 200_000 + b"\n\nx", "a.eml"),
        (rb"{\rtf1 " + rb"\b x" * 500_000 + b"}", "a.rtf"),
        (b"<?xml version='1.0'?>" + b"<a>" * 500_000, "a.xml"),
        (b"<!doctype html>" + b"<table><tr><td>" * 30_000 + b"x", "a.html"),
        (b"<!doctype html><p>" + b"<b>" * 30_000 + b"x", "a.html"),
        (b"%PDF-1.4\n" + b"1 0 obj<</Type/Page>>" * 100_000, "a.pdf"),
        (b"%PDF-1.4\n" + b"1 0 obj<</Type/ObjStm/N 9/First 9>>stream\n" * 200_000, "a.pdf"),
        (b"From a 12:00 2026\nX: y\n\n" * 30_000, "a.mbox"),
        (b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3" + b"\x08\x7f\0\0a\0b\0" * 50_000, "a.one"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hostile_files_are_converted_in_bounded_time(body, name):
    document = convert_quickly(body, f"http://site.example/{name}")
    assert len(document.text) <= 3 << 20
    assert len(document.html) <= 30 << 20


def test_empty_cells_before_a_far_column_are_limited():
    rows = "".join(f'<row r="{number}"><c r="XFD{number}"><v>1</v></c></row>' for number in range(1, 3_000))
    document = convert_quickly(xlsx(rows))
    assert len(document.html) < 20 << 20


def test_converting_does_not_change_the_body():
    body = zipped({"a.txt": "x"})
    before = bytes(body)
    convert(body, URL)
    assert io.BytesIO(body).getvalue() == before


def test_pdf_annotations_that_share_a_text_are_limited():
    objects = {1: "<</Type/Catalog/Pages 2 0 R>>", 3: "(" + "x" * 30_000 + ")"}
    pages = range(10, 20)
    objects[2] = f"<</Type/Pages/Count {len(pages)}/Kids[{' '.join(f'{number} 0 R' for number in pages)}]>>"
    notes = "<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/Contents 3 0 R>>" * 200
    for number in pages:
        objects[number] = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Annots[{notes}]>>"
    document = convert(files.assembled(objects, ""), "http://a.example/a.pdf")
    assert document.problem == "too_large"
    assert len(document.text) <= 3 << 20


def test_metadata_fields_are_limited_and_printable():
    custom = "".join(f'<property name="n{number}\x9b"><v>x</v></property>' for number in range(1_000))
    more = {"docProps/custom.xml": f"<Properties>{custom}</Properties>"}
    document = convert(files.docx(files.paragraph("x"), more), "http://a.example/a.docx")
    assert len(document.metadata) <= 200
    assert all(key.isprintable() for key in document.metadata)


def test_cells_beyond_the_limit_are_dropped():
    draft = Draft("http://a.example/")
    draft.row(["é" * 1_000_000] * 10_000)
    assert len(draft.text) <= 3 << 20
    draft.row([""] * 1_000_000)
    assert draft.is_full
