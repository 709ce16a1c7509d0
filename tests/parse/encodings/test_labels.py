"""Labels mean what the Encoding Standard says; others are unknown."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parse.encodings import labels
from crawler.parse.encodings.labels import BEYOND_THE_STANDARD, NAMES, codec_of, decode_as, encoding_of_label

ASCII_COMPATIBLE = [
    name for name in (*NAMES, *BEYOND_THE_STANDARD) if not name.startswith(("UTF-16", "UTF-32", "ISO-2022", "repl"))
]


@pytest.mark.parametrize("name", NAMES)
def test_every_encoding_is_a_label_of_itself(name):
    assert encoding_of_label(name.upper()) == encoding_of_label(f"\t{name.lower()}\n") == name


@pytest.mark.parametrize(
    "label", ["", "utf", "utf_8", "utf-32", "latin-1", "johab", "ibm855", "zlib", "\xa0utf-8", "\u212aoi8-r"]
)
def test_other_labels_mean_nothing(label):
    assert encoding_of_label(label) is None


@pytest.mark.parametrize("name", BEYOND_THE_STANDARD)
def test_encodings_beyond_the_standard_have_no_label(name):
    assert encoding_of_label(name) in (None, "replacement")


@pytest.mark.parametrize(
    ("name", "body", "text"),
    [
        ("windows-1252", b"\x80\x81\xe9", "€\x81é"),
        ("windows-1255", b"\xca\xd9", "\u05ba\ufffd"),
        ("windows-874", b"\x80\x81\xa1\xdb", "€\x81ก\ufffd"),
        ("ISO-8859-6", b"\xa1\xc7", "\ufffdا"),
        ("ISO-8859-8-I", b"\xe0", "א"),
        ("KOI8-U", b"\xae\xa4", "ўє"),
        ("x-mac-cyrillic", b"\x80\xff", "А€"),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("GBK", b"\x80\xa8\x44", "€―"),
        ("gb18030", b"\x81\x30\x81\x30", "\x80"),
        ("Big5", b"\xf9\xda\x88\x62", "恒Ê̄"),
        ("Shift_JIS", b"\x81\x60\x5c\x7e", "～\\~"),
        ("EUC-KR", b"\x81\x41", "갂"),
        ("EUC-JP", b"\x8f\xa2\xb7", "～"),
        ("ISO-2022-JP", b"\x1b$B\x46\x7c\x1b(B.", "日."),
        ("UTF-16LE", b"a\0\x00\xd8b\0", "a\ufffdb"),
        ("IBM855", b"\xa0\xa2", "аб"),
        ("replacement", b"<script>", "\ufffd"),
        ("replacement", b"", ""),
    ],
)
def test_bytes_are_decoded_as_the_standard_says(name, body, text):
    assert decode_as(name, body) == text


@pytest.mark.parametrize("name", ASCII_COMPATIBLE)
def test_ascii_is_decoded_as_ascii(name):
    ascii_bytes = bytes(range(0x20, 0x7F)).replace(b"\\", b"")  # Johab has a currency sign there
    assert decode_as(name, ascii_bytes) == ascii_bytes.decode()


@pytest.mark.parametrize("name", ASCII_COMPATIBLE)
def test_an_invalid_byte_does_not_consume_markup(name):
    for bad in range(0x80, 0x100):
        assert decode_as(name, bytes([bad]) + b"<b>").endswith("b>")
        assert decode_as(name, bytes([bad]) + b"\n<b>").endswith("\n<b>")


@pytest.mark.parametrize("name", [*NAMES, *BEYOND_THE_STANDARD])
@given(body=st.binary())
def test_any_bytes_are_some_text_in_any_encoding(name, body):
    text = decode_as(name, body)
    assert text.encode("utf-8").decode("utf-8") == text  # no halves of surrogate pairs


@pytest.mark.parametrize(
    ("name", "character", "expected"),
    [
        ("windows-1251", "ж", b"\xe6"),
        ("Shift_JIS", "日", b"\x93\xfa"),
        ("GBK", "日", b"\xc8\xd5"),
        ("macintosh", "é", b"\x8e"),
        ("UTF-16LE", "é", b"\xc3\xa9"),
        ("replacement", "é", b"\xc3\xa9"),
    ],
)
def test_text_is_encoded_for_an_encoding(name, character, expected):
    assert character.encode(codec_of(name)) == expected


@pytest.mark.parametrize("name", [*NAMES, *BEYOND_THE_STANDARD])
def test_every_encoding_has_a_codec_for_encoding(name):
    assert "a".encode(codec_of(name)).endswith(b"a")


def test_the_examples_are_true():
    assert doctest.testmod(labels).failed == 0
