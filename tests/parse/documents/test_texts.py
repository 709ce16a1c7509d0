"""RTF, mail, Markdown, CSV, source code, XML and HTML are converted."""

import doctest

import pytest

from crawler.parse.documents import convert, csv, fields, markdown, text, zip_reader
from crawler.parse.documents.outlook import decompress_rtf
from tests.parse.documents.files import MESSAGE, RTF


def read(body: bytes, name: str = "a", content_type: str | None = None):
    return convert(body, f"http://site.example/{name}", content_type)


def test_rich_text():
    document = read(RTF)
    assert document.text.split("\n") == ["Spiders", "Some bold and café € Даhere", "one\ttwo", "after"]
    assert "<h1>Spiders</h1>\n<p>Some <b>bold</b> and café" in document.html
    assert document.links == [("http://a.example/rtf", "here")]
    assert (document.title, document.metadata["author"], document.metadata["created"]) == (
        "A letter",
        "Ann",
        "2026-01-02T03:04:00",
    )


@pytest.mark.parametrize(
    ("rtf", "expected"),
    [
        (rb"{\rtf1\ansi\ansicpg1250 \'bflu\'9d\par}", "żluť"),
        (rb"{\rtf1{\fonttbl{\f0\fcharset128 x;}}\f0\'93\'fa\'96\'7b\par}", "日本"),
        (rb"{\rtf1\mac\'8e\par}", "é"),
        (rb"{\rtf1\uc1\u-10179?\u-8704?\par}", "😀"),
        (rb"{\rtf1\uc1\u-10179? alone\par}", "\ufffd alone"),
        (rb"{\rtf1\uc2\u233ab after\par}", "é after"),
        (rb"{\rtf1 a\~b\_c\-d\{e\}\\\par}", "a\xa0b\u2011c\xadd{e}\\"),
        (rb"{\rtf1 shown{\v hidden}{\*\unknown skipped}{\pict 00ff00}{\deleted gone}\par}", "shown"),
        (rb"{\rtf1\pard{\pntext\'b7\tab}point\par}", "point"),
        (rb"{\rtf1\pard{\listtext 1.\tab}first\par}", "1. first"),
        (rb"{\rtf1 a\bin3 }}}b\par}", "ab"),
        (
            rb"{\rtf1\fromhtml1 {\*\htmltag <p>}text{\*\htmltag <b>}\htmlrtf {\b\htmlrtf0 bold{\*\htmltag </b>}}}",
            "textbold",
        ),
        (rb"{\rtf1 \'zz\par}", "'zz"),
    ],
)
def test_characters_of_rtf(rtf, expected):
    assert read(rtf).text == expected


def test_unclosed_and_deeply_nested_groups_are_reported():
    assert read(rb"{\rtf1 words " + b"{" * 100_000).problem == "corrupt"
    assert read(rb"{\rtf1 words").problem == "truncated"


def test_a_mail_message():
    document = read(MESSAGE)
    assert document.text.split("\n") == [
        "Grüße",
        "From: Ann <ann@a.example>",
        "To: Bob <bob@b.example>",
        "Date: Fri, 02 Jan 2026 03:04:05 +0000",
        "rich words here",
        "list.csv",
        "name\tage",
        "Cleo\t7",
    ]
    assert document.title == "Grüße"
    assert document.metadata["created"] == "2026-01-02T03:04:05+00:00"
    assert document.metadata["embedded"] == "list.csv"
    assert document.links == [("http://a.example/x", "here")]


def test_every_message_of_a_mailbox_is_read():
    line = b"From ann Fri Jan  2 03:04:05 2026\n"
    box = line + b"Subject: one\n\nfirst\n\n" + line + b"Subject: two\n\nsecond\n"
    document = read(box)
    assert (document.format, document.metadata["messages"]) == ("mbox", "2")
    assert document.text.split("\n") == ["one", "first", "two", "second"]


def test_a_message_attached_to_a_message_is_read():
    inner = b"Subject: inner\nFrom: Bob\n\nwords"
    outer = (
        b"Received: x\nFrom: Ann\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
        b"Content-Type: message/rfc822\n\n" + inner + b"\n--b--\n"
    )
    assert {"inner", "words"} <= set(read(outer).text.split("\n"))


def test_nested_parts_of_a_message_are_limited():
    body = b"Received: x\nFrom: Ann\nSubject: s\nMIME-Version: 1.0\n"
    for depth in range(200):
        body += b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (depth, depth)
    document = read(body)
    assert document.format == "eml"
    assert document.problem in ("too_large", "corrupt")


def test_compressed_rtf_of_outlook():
    # A reference to the start of the initial dictionary, "{\rtf1\ansi", then literals.
    packed_text = bytes.fromhex("0000000000000000") + b"LZFu" + b"\0\0\0\0" + b"\x01" + b"\x00\x04" + b"abc"
    assert decompress_rtf(packed_text).startswith(b"{\\rtf1")
    assert decompress_rtf(b"\0" * 8 + b"MELA" + b"\0" * 4 + b"{\\rtf1 x}") == b"{\\rtf1 x}"
    assert decompress_rtf(b"") == b""


def test_markdown():
    source = (
        b"Title\n=====\n\nSome *words*\nand `code`.\n\n> quoted\n\n1. one\n2. two\n\n"
        b"```\nraw <b>\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    document = read(source, "a.md")
    assert document.html.split("\n") == [
        "<h1>Title</h1>", "<p>Some <i>words</i><br>and code.</p>", "<blockquote>quoted</blockquote>", "<ul>",
        "<li>one</li>", "<li>two</li>", "</ul>", "<pre>raw &lt;b&gt;</pre>", "<table>", "<tr><td>a</td><td>b</td></tr>",
        "<tr><td>1</td><td>2</td></tr>", "</table>",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"a,b\n1,2\n", "a\tb\n1\t2"),
        (b"a;b,c\n1;2,5\n", "a\tb,c\n1\t2,5"),
        (b"a\tb\n1\t2\n", "a\tb\n1\t2"),
        (b'"a ""q""","b\nc"\n', 'a "q"\tb c'),
        ("größe;zahl\n".encode("utf-16"), "größe\tzahl"),
    ],
)
def test_csv_in_several_dialects(source, expected):
    assert read(source, "a.csv").text == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "koi8-r", "windows-1251"])
def test_text_in_any_encoding(encoding):
    words = "Добрый вечер, мы говорим о пауках и о паутине. Пауки плетут паутину каждый вечер."
    assert read(words.encode(encoding), "a.txt").text == words


def test_source_code_stays_as_it_is():
    assert read(b"if a < b:\n    c()\n", "a.py").html == "<pre>if a &lt; b:<br>    c()<br></pre>"


def test_only_what_readers_see_of_html_is_kept():
    page = (
        b"<html lang=de><head><title>Page</title><meta name=author content=Ann><base href=http://b.example/x/></head>"
        b"<body onload=x()><script>bad()</script><style>p{}</style><h2>Head</h2>"
        b"<p onclick=x()>Words <b>bold</b><br>line <a href=y>link</a>"
        b"<table><tr><th>a<th>b<tr><td>1<td>2</table><ul><li>item</ul><pre> x\n  y</pre>"
        b"<iframe srcdoc='<p>framed'></iframe></body></html>"
    )
    document = read(page)
    assert document.html.split("\n") == [
        "<h2>Head</h2>", '<p>Words <b>bold</b><br>line <a href="http://b.example/x/y">link</a></p>', "<table>",
        "<tr><th>a</th><th>b</th></tr>", "<tr><td>1</td><td>2</td></tr>", "</table>", "<ul>", "<li>item</li>", "</ul>",
        "<pre>x<br>  y</pre>", "<p>framed</p>",
    ]  # fmt: skip
    assert document.title == "Page"
    assert {"author": "Ann", "language": "de"}.items() <= document.metadata.items()


def test_layout_tables_are_not_written_as_tables():
    document = read(b"<!doctype html><table><tr><td><h1>Head</h1><p>one<p>two</td></tr></table>")
    assert document.html.split("\n") == ["<h1>Head</h1>", "<p>one</p>", "<p>two</p>"]


def test_deeply_nested_html_is_read():
    assert read(b"<!doctype html>" + b"<div>" * 50_000 + b"deep").text == "deep"


def test_the_text_of_xml_elements_is_read():
    document = read(
        b"<?xml version='1.0'?><a><title>T</title><b>one<c>two</c>three</b><d href='http://a.example/'>x</d></a>"
    )
    assert document.text.split("\n") == ["T", "one", "two", "three", "x"]
    assert (document.title, document.links) == ("T", [("http://a.example/", "x")])


def test_links_of_xml_are_resolved_like_those_of_pages():
    document = read(b"<?xml version='1.0'?><a><b href='https:/a.example/y'>x</b><c href='other'>y</c></a>")
    assert document.links == [("https://a.example/y", "x")]


@pytest.mark.parametrize("module", [csv, fields, markdown, zip_reader, text])
def test_the_examples_hold(module):
    assert doctest.testmod(module).failed == 0
