"""PDF pages are converted to headings, paragraphs and links."""

import doctest
import zlib

import pytest

from crawler.parse.documents import convert, pdf
from tests.parse.documents import files

URL = "http://site.example/a.pdf"
LINK = "/Annots[<</Type/Annot/Subtype/Link/Rect[50 698 300 720]/A<</S/URI/URI(http://a.example/p)>>>>]"


def test_a_page_has_headings_paragraphs_and_links():
    lines = [(24, 760, "Spiders"), (12, 700, "They weave webs"), (12, 686, "of silk."), (12, 600, "Another paragraph.")]
    document = convert(files.pdf([lines], annotations=LINK), URL)
    assert document.html.split("\n") == [
        '<section data-page="1">',
        "<h1>Spiders</h1>",
        '<p><a href="http://a.example/p">They weave webs</a> of silk.</p>',
        "<p>Another paragraph.</p>",
        "</section>",
    ]
    assert document.links == [("http://a.example/p", "They weave webs")]
    assert (document.title, document.problem) == ("A paper", "")
    assert document.metadata == {"author": "Ann", "created": "2026-01-02T03:04:05", "pages": "1"}


def test_wide_line_spacing_does_not_split_paragraphs():
    rows = ["Spiders weave their webs in the evening and", "eat them in the morning, when they are wet", "with dew."]
    lines = [(12, 760 - 20 * row, text) for row, text in enumerate(rows)]
    more = [
        (12, 680 - 20 * row, text)
        for row, text in enumerate(["Some weave none, and hunt on the ground as", "wolves do."])
    ]
    assert convert(files.pdf([lines + more]), URL).text.split("\n") == [
        " ".join(rows),
        "Some weave none, and hunt on the ground as wolves do.",
    ]
    items = [(12, 760 - 20 * row, f"{row} spider") for row in range(5)]
    assert (
        len(convert(files.pdf([[(12, 790, "A line that is much longer than others"), *items]]), URL).text.split("\n"))
        == 6
    )


@pytest.mark.parametrize("is_compressed", [True, False])
def test_the_pages_of_a_truncated_file_are_read(is_compressed):
    pages = [[(12, 700, f"Words of page {number}.")] for number in range(5)]
    body = files.pdf(pages, is_compressed=is_compressed)
    document = convert(body[: body.rindex(b"14 0 obj")], URL)
    assert document.problem == "truncated"
    assert document.text == "Words of page 0.\nWords of page 1."


def test_objects_in_object_streams_are_recovered():
    page = "<</Type/Page/MediaBox[0 0 600 800]/Resources<</Font<</F1 6 0 R>>>>/Contents 4 0 R>>"
    font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    head = f"5 0 6 {len(page) + 1} "
    packed = zlib.compress(f"{head}{page} {font}".encode())
    words = b"BT /F1 12 Tf 50 700 Td (Some words.) Tj ET"
    body = b"%%PDF-1.5\n4 0 obj\n<</Length %d>>\nstream\n%b\nendstream\nendobj\n" % (len(words), words)
    body += b"7 0 obj\n<</Type/ObjStm/N 2/First %d/Filter/FlateDecode/Length %d>>\nstream\n" % (len(head), len(packed))
    document = convert(body + packed + b"\nendstream\nendobj\n", URL)
    assert (document.problem, document.text) == ("truncated", "Some words.")


def test_scripts_are_recorded_not_run():
    script = "/Names<</JavaScript<</Names[(a)<</S/JavaScript/JS(app.alert\\(1\\))>>]>>>>"
    document = convert(files.pdf([[(12, 700, "Words")]], more=script), URL)
    assert document.metadata["has_js"] == "true"


def test_an_encrypted_file_is_reported():
    keys = "/Encrypt<</Filter/Standard/V 1/R 2/Length 40/P -4/O<" + "11" * 32 + ">/U<" + "22" * 32 + ">>>/ID[<00><00>]"
    document = convert(
        files.assembled({1: "<</Type/Catalog/Pages 2 0 R>>", 2: "<</Type/Pages/Count 0/Kids[]>>"}, keys), URL
    )
    assert (document.problem, document.metadata["encrypted"]) == ("encrypted", "true")


def test_pages_are_limited():
    document = convert(files.pdf([[(12, 700, "x")]] * 510), URL)
    assert (document.problem, document.text.count("x")) == ("too_large", 500)


@pytest.mark.parametrize(
    "objects",
    [
        {1: "<</Type/Catalog/Pages 2 0 R>>", 2: "<</Type/Pages/Count 1/Kids[2 0 R]>>"},
        {1: "<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R>>", 2: "<</Type/Pages/Count 0/Kids[]>>",
         5: "<</First 6 0 R/Last 6 0 R>>", 6: "<</Title(a)/Next 6 0 R/First 5 0 R/Parent 5 0 R>>"},
        {1: "<</Type/Catalog/Pages 1 0 R>>"},
        {1: "<</Type/Catalog/Pages 2 0 R>>", 2: "<</Type/Pages/Count 999999999/Kids[]>>"},
    ],
    ids=["cyclic pages", "cyclic outline", "cyclic catalog", "missing pages"],
)  # fmt: skip
def test_cyclic_structures_come_to_an_end(objects):
    assert convert(files.assembled(objects, ""), URL).format == "pdf"


def test_xmp_metadata_cannot_read_files():
    packet = (
        '<?xpacket?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
        '<x:xmpmeta xmlns:x="x"><creator><li>a &e; b</li></creator></x:xmpmeta>'
    )
    document = convert(files.pdf([[(12, 700, "Words")]]) + packet.encode() + b"\n%%EOF", URL)
    assert "root:" not in str(document)


def test_the_examples_hold():
    assert doctest.testmod(pdf).failed == 0
