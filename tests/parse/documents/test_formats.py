"""The format of a file is detected by its bytes, then by its content type and name."""

import doctest

import pytest

from crawler.parse.documents import convert, format_of, formats
from tests.parse.documents.files import SAMPLES, docx, epub, odt, paragraph, pptx, shape, xlsx, zipped

EXPECTED = {"a.txt.gz": "gz", "a.txt": "text", "a.py": "code", "a.md": "markdown"}


@pytest.mark.parametrize("name", SAMPLES)
def test_each_format_is_known_by_its_name(name):
    assert format_of(SAMPLES[name], f"http://a.example/{name}") == EXPECTED.get(name, name.rpartition(".")[2])


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (docx(paragraph("x")), "docx"),
        (xlsx(""), "xlsx"),
        (pptx(shape("x")), "pptx"),
        (odt(""), "odt"),
        (odt("", kind="spreadsheet"), "ods"),
        (odt("", kind="presentation"), "odp"),
        (epub({"a.xhtml": ""}), "epub"),
        (zipped({"word/notes.txt": "no package"}), "zip"),
        (b"%PDF-1.4\n", "pdf"),
        (b"\n\n%PDF-1.4\n", "pdf"),
        (b"{\\rtf1 x}", "rtf"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\0", "gz"),
        (b"From ann Fri Jan  2 03:04:05 2026\r\nSubject: x\r\n\r\nx", "mbox"),
        (b"Received: from a\r\nMessage-ID: <1>\r\nSubject: x\r\n\r\nx", "eml"),
        (b"<?xml version='1.0'?><a/>", "xml"),
        ("<?xml version='1.0'?><a/>".encode("utf-16"), "xml"),
        (b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><p>x</html>", "html"),
        (b"<!doctype html><p>x", "html"),
        (b"words", "text"),
        (b"MZ\x90\0\x03\0\0\0", None),
        (b"MZ is how a note may begin", "text"),
        (b"\x7fELF\x02\x01\x01\0", None),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"\xff\xd8\xff\xe0", None),
        (b"\0\0\0\x18ftypmp42", None),
        (b"\x01\x02\x03\x04\x05\x06", None),
        (b"", None),
    ],
)
def test_the_format_is_detected_from_the_bytes_alone(body, found):
    assert format_of(body, "http://a.example/file") == found


@pytest.mark.parametrize(
    ("body", "content_type", "found"),
    [
        (b"%PDF-1.4\n", "text/html", "pdf"),
        (b"MZ\x90\0\x03\0", "text/html", None),
        (b"a,b\n", "text/csv; charset=utf-8", "csv"),
        (b"a,b\n", "application/pdf", "text"),
        (b"<p>page", "application/pdf", "html"),
        ("<p>page".encode("utf-16-le"), "text/html; charset=utf-16", "html"),
        (b"\0\1\2", "text/html", "html"),
        (b"", "text/html", None),
        (b"<!doctype html>page", "text/plain", "text"),
        (b"words", "image/png", None),
        (b"body { }", "text/css", "code"),
        (b"{}", "application/vnd.api+json", "json"),
    ],
)
def test_the_content_type_counts_where_the_bytes_do_not_decide(body, content_type, found):
    assert format_of(body, "http://a.example/file", content_type) == found


def test_a_wrong_content_type_is_recorded():
    document = convert(SAMPLES["a.pdf"], "http://a.example/a", "text/html; charset=utf-8")
    assert (document.format, document.metadata["declared"]) == ("pdf", "text/html")
    assert "declared" not in convert(SAMPLES["a.pdf"], "http://a.example/a", "application/pdf").metadata
    assert "declared" not in convert(SAMPLES["a.md"], "http://a.example/a.md", "text/plain").metadata


def test_unsupported_and_empty_files_are_reported():
    assert convert(b"\x89PNG\r\n\x1a\n", "http://a.example/a.pdf").problem == "unsupported"
    assert convert(b"", "http://a.example/a.pdf").problem == "empty"


def test_the_examples_hold():
    assert doctest.testmod(formats).failed == 0
