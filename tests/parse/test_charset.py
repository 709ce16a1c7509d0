"""Any bytes become text, by the best evidence there is."""

import codecs
import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.parse import charset
from crawler.parse.charset import decode, decode_or_guess

META = b'<meta charset="%s"><p>'


@pytest.mark.parametrize(
    ("body", "content_type", "text", "encoding", "source"),
    [
        (codecs.BOM_UTF8 + "é".encode(), "text/html; charset=latin-1", "é", "utf-8", "bom"),
        (codecs.BOM_UTF16_LE + "é".encode("utf-16-le"), None, "é", "utf-16-le", "bom"),
        (codecs.BOM_UTF16_BE + "é".encode("utf-16-be"), None, "é", "utf-16-be", "bom"),
        ("é".encode(), "text/html; charset=UTF-8", "é", "utf-8", "header"),
        ("é".encode("cp1252"), 'text/html; charset="iso-8859-1"', "é", "cp1252", "header"),
        ("žluť".encode("cp1250"), "text/html;charset=windows-1250", "žluť", "cp1250", "header"),
        ("日本".encode("cp932"), "text/html; charset=Shift_JIS", "日本", "cp932", "header"),
        (b"\xe9", "text/html; charset=utf-8", "\ufffd", "utf-8", "header"),
        (META % b"koi8-r" + "да".encode("koi8-r"), None, '<meta charset="koi8-r"><p>да', "koi8-r", "meta"),
        (META % b"koi8-r" + "да".encode("koi8-r"), "text/html", '<meta charset="koi8-r"><p>да', "koi8-r", "meta"),
        (META % b"utf-16" + "é".encode(), None, '<meta charset="utf-16"><p>é', "utf-8", "meta"),
        ("né".encode(), None, "né", "utf-8", "utf-8"),
        (b"plain", "text/html", "plain", "utf-8", "utf-8"),
        (b"", None, "", "utf-8", "utf-8"),
        ("éé".encode()[:-1], None, "é\ufffd", "utf-8", "utf-8"),  # cut by a size limit
        (b"caf\xe9", None, "café", "cp1252", "fallback"),
        (b"\xe9t\xe9 \x80\x81", None, "été €\ufffd", "cp1252", "fallback"),
    ],
)
def test_evidence_is_weighed_in_order(body, content_type, text, encoding, source):
    assert decode(body, content_type) == (text, encoding, source)


@pytest.mark.parametrize(
    "label",
    [
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
        "../x",
        "\0",
    ],
)
def test_labels_the_web_does_not_know_are_ignored(label):
    assert decode("é".encode(), f"text/html; charset={label}") == ("é", "utf-8", "utf-8")
    assert decode(META % label.encode(errors="replace") + "é".encode()).source == "utf-8"


@settings(deadline=None)
@given(
    st.binary() | st.binary().map(codecs.BOM_UTF16_LE.__add__),
    st.none() | st.text() | st.sampled_from(sorted(charset._OF_THE_WEB)).map("a/b;charset=".__add__),
)
def test_every_body_has_a_text(body, content_type):
    decoded = decode(body, content_type)
    decoded.text.encode("utf-8")  # no lone surrogates either
    assert decoded.source in ("bom", "header", "meta", "utf-8", "fallback")


@pytest.mark.parametrize(
    ("body", "content_type", "encoding", "source"),
    [
        ("<p>今日はいい天気ですね".encode("euc_jp"), None, "euc_jp", "guess"),
        (b"<p>" * 50_000 + "今日はいい天気ですね<br>".encode("euc_jp") * 9_000, None, "euc_jp", "guess"),
        ("<p>今日はいい天気ですね<p>天".encode("euc_jp")[:-1], None, "euc_jp", "guess"),  # cut by a size limit
        ("<p>今日はいい天気ですね".encode("euc_jp"), "text/xml; charset=koi8-r", "koi8-r", "header"),
        ("<p>今日はいい天気ですね".encode(), None, "utf-8", "utf-8"),
        (b"<p>caf\xe9", None, "cp1252", "guess"),
        ("<p>яю, добрый вечер, страна".encode("cp1251"), None, "cp1251", "guess"),  # FF FE, which is no mark here
        (b"<p>" * 2_000 + b"caf\xe9<meta charset=utf-8><p>", None, "cp1252", "guess"),
    ],
)
def test_only_what_nothing_tells_is_guessed(body, content_type, encoding, source):
    decoded = decode_or_guess(body, content_type)
    assert (decoded.encoding, decoded.source) == (encoding, source)


@settings(deadline=None)
@given(st.binary())
def test_every_guess_is_a_text(body):
    decode_or_guess(body).text.encode("utf-8")


def test_the_examples_are_true():
    assert doctest.testmod(charset).failed == 0
