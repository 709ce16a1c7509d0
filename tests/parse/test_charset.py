"""Any bytes are decoded to text, by the strongest evidence of their encoding."""

import codecs
import doctest
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.parse import charset
from crawler.parse.charset import Source, decode
from crawler.parse.encodings.labels import BEYOND_THE_STANDARD, NAMES

META = b'<meta charset="%s"><p>'
XML = b"<?xml version='1.0' encoding='%s'?><a>"
JAPANESE = "今日はいい天気ですね"
RUSSIAN = "Добрый вечер, страна"


@pytest.mark.parametrize(
    ("body", "content_type", "text", "encoding", "source"),
    [
        (codecs.BOM_UTF8 + "é".encode(), "text/html; charset=latin1", "é", "UTF-8", "bom"),
        (codecs.BOM_UTF8 * 2, None, "\ufeff", "UTF-8", "bom"),
        (codecs.BOM_UTF16_LE + "é".encode("utf-16-le"), None, "é", "UTF-16LE", "bom"),
        (codecs.BOM_UTF16_BE + "é".encode("utf-16-be"), None, "é", "UTF-16BE", "bom"),
        (codecs.BOM_UTF32_LE + "é".encode("utf-32-le"), None, "é", "UTF-32LE", "bom"),
        (codecs.BOM_UTF32_BE + "é".encode("utf-32-be"), None, "é", "UTF-32BE", "bom"),
        ("é".encode(), "text/html; charset=UTF-8", "é", "UTF-8", "header"),
        ("é".encode("cp1252"), 'text/html; charset="iso-8859-1"', "é", "windows-1252", "header"),
        ("é".encode("utf-16-le"), "text/plain; charset=utf-16", "é", "UTF-16LE", "header"),
        (b"\xe9", "text/html; charset=utf-8", "\ufffd", "UTF-8", "header"),  # as in browsers
        (META % b"koi8-r" + b"\xc4\xc1", None, '<meta charset="koi8-r"><p>да', "KOI8-R", "meta"),
        (META % b"koi8-r" + b"\xc4\xc1", "text/html", '<meta charset="koi8-r"><p>да', "KOI8-R", "meta"),
        (META % b"utf-16" + "é".encode(), None, '<meta charset="utf-16"><p>é', "UTF-8", "meta"),
        (META % b"x-user-defined" + b"\xe9", None, '<meta charset="x-user-defined"><p>é', "windows-1252", "meta"),
        (XML % b"koi8-r" + b"\xc4\xc1", None, (XML % b"koi8-r").decode() + "да", "KOI8-R", "xml"),
        ("né".encode(), None, "né", "UTF-8", "utf-8"),
        ("éé".encode()[:-1], None, "é\ufffd", "UTF-8", "utf-8"),  # cut by a size limit
        (b"plain", "text/html", "plain", "windows-1252", "fallback"),
        (b"", None, "", "windows-1252", "fallback"),
        (b"caf\xe9", None, "café", "windows-1252", "fallback"),
        (b"caf\xc3", None, "cafÃ", "windows-1252", "fallback"),  # one byte is no evidence of UTF-8
        (b"\xa9 \x80\x81", None, "© €\x81", "windows-1252", "fallback"),
    ],
)
def test_the_encoding_is_determined_by_the_strongest_evidence(body, content_type, text, encoding, source):
    assert decode(body, content_type) == (text, encoding, source)


@pytest.mark.parametrize(
    ("content_type", "source"),
    [
        (None, "xml"),
        ("application/rss+xml", "xml"),
        ("application/xhtml+xml", "xml"),
        ("text/plain", "xml"),  # it is XML, whatever the server declares
        ("text/html", "meta"),  # in HTML the declaration comes last
    ],
)
def test_in_xml_the_declaration_comes_first_and_in_html_the_meta_element(content_type, source):
    body = XML % b"koi8-r" + META % b"windows-1251" + "да".encode()
    assert decode(body, content_type).source == source


def test_the_declaration_counts_in_html_that_has_no_meta_element():
    assert decode(XML % b"koi8-r", "text/html")[1:] == ("KOI8-R", "xml")


@pytest.mark.parametrize("content_type", ["text/plain", "application/json", "text/css; charset=bogus", "text/xml"])
def test_meta_elements_count_in_html_only(content_type):
    assert decode(META % b"koi8-r" + "é".encode(), content_type).source == "utf-8"


@pytest.mark.parametrize(
    "label",
    [
        *(
            "bogus",
            "base64",
            "zlib",
            "rot13",
            "hex",
            "idna",
            "punycode",
            "unicode_escape",
            "utf-7",
            "undefined",
            "mbcs",
        ),
        *("../x", "\0", "", "utf_8", "utf-32", "cp855", "johab", "ebcdic-cp-us", "\u212aoi8-r"),
    ],
)
def test_labels_the_standard_does_not_know_are_ignored(label):
    assert decode("é".encode(), f"text/html; charset={label}") == ("é", "UTF-8", "utf-8")
    assert decode(META % label.encode(errors="replace") + "é".encode()).source == "utf-8"
    assert decode(XML % label.encode(errors="replace") + "é".encode()).source == "utf-8"


@pytest.mark.parametrize(
    ("content_type", "encoding"),
    [
        ("text/html;charset=koi8-r", "KOI8-R"),
        ("Text/HTML ; CHARSET=KOI8-R ; a=b", "KOI8-R"),
        ('text/html; charset="koi8-r"', "KOI8-R"),
        ('text/html; charset="koi8-r', "KOI8-R"),
        ('text/html; a="b; charset=big5;"; charset=koi8-r', "KOI8-R"),
        ('text/html; a="b\\"; charset=big5;"; charset=koi8-r', "KOI8-R"),
        ("text/html; charset=koi8-r; charset=big5", "KOI8-R"),
        ("text/html; charset=koi8-r, text/html; charset=big5", "KOI8-R"),
        ("text/html; xcharset=koi8-r", None),
        ("text/html; charset=bogus; charset=koi8-r", None),
        ("text/html; charset", None),
        ("text/html charset=koi8-r", None),
    ],
)
def test_the_first_charset_of_the_header_counts(content_type, encoding):
    decoded = decode(b"", content_type)
    assert (decoded.encoding if decoded.source == "header" else None) == encoding


@pytest.mark.parametrize(
    ("body", "content_type", "encoding", "source"),
    [
        (f"<p>{JAPANESE}".encode("euc_jp"), None, "EUC-JP", "detected"),
        (f"<p>{JAPANESE}".encode("euc_jp"), "text/xml; charset=koi8-r", "KOI8-R", "header"),
        (f"<p>{JAPANESE}".encode(), None, "UTF-8", "utf-8"),
        (f"<p>{RUSSIAN}".encode("cp1251"), "text/plain", "windows-1251", "detected"),
        (f"яю, {RUSSIAN}".encode("cp1251")[2:], None, "windows-1251", "detected"),
        (f"{JAPANESE}\n".encode("iso2022_jp"), None, "ISO-2022-JP", "detected"),
        ("안녕하세요\n".encode("iso2022_kr"), None, "ISO-2022-KR", "detected"),
        ("<p>Gute Nacht".encode("utf-16-le"), None, "UTF-16LE", "detected"),
        ("Gute Nacht".encode("utf-32-be"), None, "UTF-32BE", "detected"),
    ],
)
def test_the_encoding_is_detected_only_if_not_declared(body, content_type, encoding, source):
    decoded = decode(body, content_type)
    assert (decoded.encoding, decoded.source) == (encoding, source)


def test_a_byte_order_mark_counts_at_the_beginning_only():
    body = f"<p>яю, {RUSSIAN}".encode("cp1251")  # with FF FE inside
    assert decode(body)[1:] == ("windows-1251", "detected")


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (codecs.BOM_UTF32_LE + "<p>".encode("utf-32-le"), "UTF-16LE"),
        (codecs.BOM_UTF32_BE + "<p>".encode("utf-32-be"), "windows-1252"),
        ("<p>".encode("utf-32-le"), "windows-1252"),
        ("<p>".encode("utf-32-be"), "windows-1252"),
    ],
)
def test_markup_in_utf_32_is_read_as_browsers_do(body, encoding):
    assert decode(body).encoding == encoding


MARKS = [codecs.BOM_UTF8, codecs.BOM_UTF32_LE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE]
LABELS = st.sampled_from([*NAMES, *BEYOND_THE_STANDARD, "undefined"])


@settings(deadline=None)
@given(
    st.binary() | st.sampled_from([*MARKS, b"\x1b$B", META, XML]).flatmap(lambda start: st.binary().map(start.__add__)),
    st.none() | st.text() | LABELS.map("text/html;charset=".__add__),
)
def test_every_body_has_a_text(body, content_type):
    decoded = decode(body, content_type)
    decoded.text.encode("utf-8")  # no lone surrogates either
    assert decoded.source in get_args(Source)
    assert decoded.encoding in NAMES or decoded.encoding in BEYOND_THE_STANDARD


def test_the_examples_are_true():
    assert doctest.testmod(charset).failed == 0
