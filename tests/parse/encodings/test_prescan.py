"""Declared encodings are found where the HTML Standard finds them."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parse.encodings import prescan
from crawler.parse.encodings.prescan import encoding_in_meta, encoding_in_xml

FILLER = b"<!-- %s -->" % (b"x" * 1_100)
SPACES = b"\t\n\f\r "


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"<meta charset=koi8-r>", "KOI8-R"),
        (b"<META CHARSET='KOI8-R'/>", "KOI8-R"),
        (b"<meta\n/charset\n=\n' koi8-r '>", "KOI8-R"),
        (b"<meta a charset=koi8-r charset=big5>", "KOI8-R"),
        (b"<meta content='a; charset=koi8-r' http-equiv=Content-Type>", "KOI8-R"),
        (b"<meta http-equiv=content-type content='charset charset = \"koi8-r\"'>", "KOI8-R"),
        (b'<meta http-equiv=content-type content="charset=\'koi8-r">', None),
        (b"<meta http-equiv=refresh content='charset=koi8-r'>", None),
        (b"<meta content='charset=koi8-r'>", None),
        (b"<meta charset=bogus><meta charset=koi8-r>", "KOI8-R"),
        (b"<meta charset=bogus http-equiv=content-type content='charset=koi8-r'>", None),
        (b"<meta charset=koi8-r", None),
        (b"<metas charset=koi8-r>", None),
        (b"< meta charset=koi8-r>", None),
        (b"<p title='<meta charset=koi8-r>'>", None),
        (b"<p title=<meta charset=koi8-r>", None),
        (b"<p ='<meta charset=koi8-r>", None),
        (b"<!--><meta charset=koi8-r>", "KOI8-R"),
        (b"<!-- <meta charset=koi8-r> ", None),
        (b"<![CDATA[<meta charset=koi8-r>]]>", None),
        (b"<?php '<meta charset=koi8-r>' ?>", None),
        (b"<script>'<meta charset=koi8-r>'</script>", "KOI8-R"),
        (b"<meta charset=utf-16be>", "UTF-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=iso-2022-kr>", "replacement"),
    ],
)
def test_the_beginning_is_scanned_as_the_standard_says(body, encoding):
    assert encoding_in_meta(body) == encoding


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (FILLER + b"<meta charset=koi8-r>", "KOI8-R"),
        (b"<html><head>" + FILLER + b"<META CHARSET=koi8-r></head>", "KOI8-R"),
        (b"<script>if (a<b) '" + FILLER + b"'</script><title><p></title><meta charset=koi8-r>", "KOI8-R"),
        (FILLER + b"<script>'<meta charset=koi8-r>'</script>", None),
        (FILLER + b"</head><meta charset=koi8-r>", None),
        (FILLER + b"<p><meta charset=koi8-r>", None),
        (b"<div>" + FILLER + b"<meta charset=koi8-r>", None),
        (b"<template></template>" + FILLER + b"<meta charset=koi8-r>", None),
        (b"<meta charset='&#107;oi8-r'>", "KOI8-R"),
        (FILLER * 100 + b"<meta charset=koi8-r>", None),
    ],
)
def test_a_long_head_is_read_as_a_parser_reads_it(body, encoding):
    assert encoding_in_meta(body) == encoding


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"<?xml version='1.0' encoding='koi8-r'?>", "KOI8-R"),
        (b'<?xml encoding = "KOI8-R" standalone="no"?>', "KOI8-R"),
        (b"<?xml version='1.0' encoding='utf-16'?>", "UTF-8"),
        (b"<?xml version='1.0' encoding=koi8-r?>", None),
        (b"<?xml version='1.0'?><a encoding='koi8-r'>", None),
        (b" <?xml encoding='koi8-r'?>", None),
        (b"<?xml-stylesheet encoding='koi8-r'?>", None),
        (b"<?xml encoding='koi8-r'", None),
        ("<?xml?>".encode("utf-16-le"), "UTF-16LE"),
        ("<?xml?>".encode("utf-16-be"), "UTF-16BE"),
    ],
)
def test_an_xml_declaration_is_read_at_the_very_beginning(body, encoding):
    assert encoding_in_xml(body) == encoding


# ── the standard's algorithm, byte by byte: slow, but easily compared with the text of the standard ──


class EndOfData(Exception):
    """The scan has reached the end of the data."""


class Scan:
    """The prescan as the HTML Standard describes it."""

    def __init__(self, data):
        self.data, self.position = data, 0

    def byte(self):
        if self.position >= len(self.data):
            raise EndOfData
        return self.data[self.position : self.position + 1]

    def skip(self, these):
        while self.byte() in these:
            self.position += 1

    def skip_past(self, ending):
        found = self.data.find(ending, self.position)
        if found < 0:
            raise EndOfData
        self.position = found + len(ending)

    def attribute(self):
        self.skip([bytes([space]) for space in SPACES + b"/"])
        if self.byte() == b">":
            return None
        name = b""
        while not (self.byte() == b"=" and name) and self.byte() not in SPACES + b"/>":
            name += self.byte()
            self.position += 1
        if self.byte() in SPACES:
            self.skip([bytes([space]) for space in SPACES])
        if self.byte() != b"=":
            return name.lower(), b""
        self.position += 1
        return name.lower(), self.value()

    def value(self):
        self.skip([bytes([space]) for space in SPACES])
        value, quote = b"", self.byte()
        if quote in b"\"'":
            self.position += 1
            start = self.position
            self.skip_past(quote)
            return self.data[start : self.position - 1].lower()
        while self.byte() not in SPACES + b">":
            value += self.byte()
            self.position += 1
        return value.lower()

    def attributes(self):
        found = {}
        while (attribute := self.attribute()) is not None:
            found.setdefault(*attribute)
        return found

    def metas(self):
        found = []
        try:
            while True:
                self.step(found)
        except EndOfData:
            return found

    def step(self, found):
        self.byte()
        rest = self.data[self.position :]
        if rest.startswith(b"<!--"):
            self.position += 2
            self.skip_past(b"-->")
        elif rest[:5].lower() == b"<meta" and rest[5:6] and rest[5:6] in SPACES + b"/":
            self.position += 5
            found.append(self.attributes())
        elif rest[:1] == b"<" and rest[1:].removeprefix(b"/")[:1].isalpha():
            while self.byte() not in SPACES + b">":
                self.position += 1
            self.attributes()
        elif rest[:2] in (b"<!", b"</", b"<?"):
            self.skip_past(b">")
        else:
            self.position += 1


def prescan_by_the_standard(data):
    for attributes in Scan(data).metas():
        name = prescan.encoding_in_meta_element(
            {name.decode("latin-1"): value.decode("latin-1") for name, value in attributes.items()}
        )
        if name is not None:
            return name
    return None


PARTS = [
    b"<",
    b">",
    b"/",
    b"=",
    b"'",
    b'"',
    b" ",
    b"!",
    b"--",
    b"?",
    b"a",
    b"\xe9",
    b"<!--",
    b"-->",
    b"<p ",
    b"</p",
    b"<meta ",
]
PARTS += [
    b"charset",
    b"koi8-r",
    b"big5",
    b"<meta charset=koi8-r>",
    b"content='charset=big5'",
    b"http-equiv=content-type",
]


@given(st.lists(st.sampled_from(PARTS), max_size=30).map(b"".join))
def test_the_fast_prescan_agrees_with_the_standards_algorithm(data):
    assert prescan.prescan_beginning(data) == prescan_by_the_standard(data)


def test_the_examples_are_true():
    assert doctest.testmod(prescan).failed == 0
