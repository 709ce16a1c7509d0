"""Files of the older Office programs (OLE2) are converted."""

import doctest
import struct

import pytest

from crawler.parse.documents import Document, Problem, binary_records, convert, properties
from tests.parse.documents import compound_files as made
from tests.parse.documents.compound_files import compound, sheet_record

URL = "http://site.example/file"
TEXT = 'Spiders\rSome bold words and \x13 HYPERLINK "http://a.example/doc" \x14a link\x15.\rone\x07two\x07\x07after\r'


def read(body: bytes) -> Document:
    document = convert(body, URL)
    assert document.problem == ""
    return document


def test_a_text_of_word():
    start = TEXT.index("bold")
    document = read(compound(made.word(TEXT, headings={0: 1}, bold=(start, start + 4))))
    assert document.format == "doc"
    assert (
        '<h1>Spiders</h1>\n<p>Some <b>bold</b> words and <a href="http://a.example/doc">a link</a>.</p>'
        in document.html
    )
    assert document.title == "Spiders"
    assert document.links == [("http://a.example/doc", "a link")]


def test_a_document_without_its_table_stream_is_read():
    streams = made.word(TEXT)
    document = convert(compound({"WordDocument": streams["WordDocument"]}), URL)
    assert document.text.startswith("Spiders\nSome bold words and a link.")


def test_a_document_without_its_directory_is_read():
    body = compound(made.word(TEXT))
    moved = made.SIGNATURE + body[8:512] + made.word(TEXT)["WordDocument"]
    document = convert(moved, URL)
    assert document.problem in (Problem.CORRUPT, Problem.TRUNCATED)
    assert (document.format, document.text.split("\n")[0]) == ("doc", "Spiders")


def test_an_encrypted_document_is_reported():
    document = convert(compound(made.word("secret\r", flags=0x0100)), URL)
    assert (document.problem, document.text, document.metadata["encrypted"]) == ("encrypted", "", "true")


def test_slides_of_powerpoint():
    document = read(compound(made.slides("Spiders", "Some words.", "http://a.example/ppt")))
    assert document.format == "ppt"
    assert document.html.split("\n") == [
        '<section data-slide="1">',
        "<h2>Spiders</h2>",
        "<p>Some words.</p>",
        "</section>",
    ]
    assert document.links == [("http://a.example/ppt", "go")]


@pytest.mark.parametrize("body", [made.workbook(), compound({"Workbook": made.workbook()})], ids=["bare", "contained"])
def test_a_workbook_of_excel(body):
    document = read(body)
    assert document.format == "xls"
    assert document.text.split("\n") == [
        "Stock",
        "Flies\t\tSpider",
        "2021-01-01\t1,234.50\tmade\tTRUE",
        "charted",
        "Top",
    ]
    assert document.links == [("http://a.example/xls", "Flies")]


def test_an_encrypted_workbook_is_reported():
    document = convert(sheet_record(0x809, b"\x00\x06\x05\x00" + b"\0" * 12) + sheet_record(0x2F, b"\0" * 6), URL)
    assert (document.problem, document.metadata["encrypted"]) == ("encrypted", "true")


def test_an_outlook_message():
    document = read(compound(made.outlook_message()))
    assert document.format == "msg"
    words = document.text.replace("\0", "").split("\n")
    assert words == [
        "Grüße",
        "From: Ann <ann@a.example>",
        "Date: 2021-01-01T00:00:00+00:00",
        "Some words.",
        "list.csv",
        "name\tage",
        "Cleo\t7",
    ]
    assert document.metadata["embedded"] == "list.csv"


def test_a_publication():
    text = "Some words.\r".encode("utf-16-le")
    listing = b"\x18\0TEXT" + b"\0" * 10 + struct.pack("<II", 600, len(text))
    contents = (b"\0" * 0x20 + listing).ljust(600, b"\0") + text
    document = read(compound({"Quill/QuillSub/CONTENTS": contents}))
    assert (document.format, document.text) == ("pub", "Some words.")


def test_properties():
    streams = {
        **made.word("Words\r"),
        "\x05SummaryInformation": made.properties({2: "A title", 4: "Ann"}),
        "Macros/VBA/dir": b"x",
    }
    document = read(compound(streams))
    assert (document.title, document.metadata["author"], document.metadata["has_macro"]) == ("A title", "Ann", "true")


@pytest.mark.parametrize("count", [0, 1, 500, 0xFFFFFFFF])
def test_a_false_count_of_properties_does_no_harm(count):
    data = bytearray(made.properties({2: "A title"}))
    data[52:56] = struct.pack("<I", count)
    assert len(list(properties.property_sets(bytes(data)))) == 1


def test_embedded_files_and_storages_are_read():
    inner = "/MBD0001/"
    package = (
        b"\0\0\0\0"
        b"\2\0list.csv\0C:\\list.csv\0"
        b"\0\0\3\0" + struct.pack("<I", 5) + b"path\0" + struct.pack("<I", 4) + b"a;b\n"
    )
    streams = {**made.word("Outer\r"), f"ObjectPool{inner}\x01Ole10Native": package}
    streams |= {f"ObjectPool{inner}{name}": data for name, data in made.word("Inner words\r").items()}
    document = read(compound(streams))
    assert {"Outer", "list.csv", "C:\\list.csv", "a\tb", "Inner words"} <= set(document.text.split("\n"))
    assert document.metadata["embedded"] == "list.csv"


def test_an_encrypted_package_is_reported():
    document = convert(compound({"EncryptedPackage": b"", "EncryptionInfo": b""}), "http://a.example/a.docx")
    assert (document.problem, document.metadata["encrypted"]) == (Problem.ENCRYPTED, "true")


@pytest.mark.parametrize(
    ("name", "found"), [("WordDocument", "doc"), ("Workbook", "xls"), ("PowerPoint Document", "ppt"), ("Other", "ole")]
)
def test_formats_in_ole2_are_detected_by_their_streams(name, found):
    document = convert(compound({name: b""}), URL)
    assert (document.format, document.text) == (found, "")


def test_a_cyclic_directory_does_no_harm():
    names = {f"s{number:03}": b"" for number in range(12)}
    body = bytearray(compound(names))
    at = body.index("s000".encode("utf-16-le"))
    body[at + 68 : at + 72] = struct.pack("<I", 1)  # its own left neighbour
    assert isinstance(convert(bytes(body), URL), Document)


def test_word_95_files_with_one_byte_characters_are_read():
    main = bytearray(0x300)
    struct.pack_into("<HHHH", main, 0, 0xA5DC, 0x65, 0, 0x0419)
    text = "Пауки\rплетут\r".encode("cp1251")
    struct.pack_into("<II", main, 0x18, 0x300, 0x300 + len(text))
    assert read(compound({"WordDocument": bytes(main) + text})).text == "Пауки\nплетут"


@pytest.mark.parametrize("module", [binary_records, properties])
def test_the_examples_hold(module):
    assert doctest.testmod(module).failed == 0
