"""Compare encodings with the tests of html5lib, WPT, the Encoding Standard, chardet and w3lib."""

from __future__ import annotations

import base64
import codecs
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from crawler.parse.charset import Decoded, decode
from crawler.parse.encodings.labels import codec_of, decode_as, encoding_of_label
from crawler.parse.encodings.utf16 import is_markup_in_utf_32
from tests.conformance.scores import Known, Score, score
from tests.conftest import SHARED

DATA = SHARED / "encoding"
Results = Iterator[tuple[str, bool]]
Files = dict[str, tuple[bytes, str]]  # file → body and encoding

_NAMES = {
    "maccyrillic": "x-mac-cyrillic",
    "utf-8-sig": "UTF-8",
    "cp932": "Shift_JIS",
    "cp949": "EUC-KR",
    "iso-2022-kr": "ISO-2022-KR",
}
_DECLARATION = re.compile(rb"(<\?xml[^>]*?)\sencoding\s*=\s*(?:\"[^\">]*\"|'[^'>]*')")
_META = re.compile(rb"<meta\b[^>]*\bcharset\b[^>]*>", re.IGNORECASE)
_RELATION = re.compile(rb'<link rel="(match|mismatch)"')
_META_IN_TEXT = re.compile(rb"<(script|style|title)\b[^>]*>[^<]*<meta charset")
_W3LIB_DIFFERS = {
    "test_http_encoding_header": (3, "quotes are read as the MIME Sniffing Standard reads them, open or with a tail"),
    "test_html_body_declared_encoding": (
        3,
        "only the HTML Standard's meta elements count: no space after <, no other pragma",
    ),
    "test_html_body_declared_encoding_unicode": (2, "the same, and the first 1024 bytes count, in the body or not"),
    "test_resolve_encoding": (1, "latin-1 is no label of the standard"),
}


def scores() -> list[Score]:
    return [
        score("encodings: html5lib", 1.0, html5lib()),
        score("encodings: WPT", 1.0, wpt(), aside=wpt_aside()),
        score("encodings: labels", 1.0, labels()),
        score("encodings: chardet as is", 0.90, chardet(chardet_files()), chardet_known(chardet_files())),
        score("encodings: chardet undeclared", 0.90, chardet(undeclared()), chardet_known(undeclared())),
        score(
            "encodings: chardet undeclared, names", 0.80, chardet_names(undeclared()), chardet_names_known(undeclared())
        ),
        score("encodings: w3lib", 0.80, w3lib(), _W3LIB_DIFFERS),
    ]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


# ── declared encodings ──


def html5lib() -> Results:
    for number, row in enumerate(rows(DATA / "html5lib.jsonl"), 1):
        found = decode(base64.b64decode(row["body_b64"])).encoding
        yield f"{row['file']}, case {number}", found.lower() == row["encoding"].lower()


@cache
def wpt_files() -> dict[str, tuple[bytes, str | None]]:
    """Return file → body and the expected encoding, if its row has one."""
    found = rows(DATA / "wpt" / "cases.jsonl")
    return {row["file"]: ((DATA / "wpt" / row["file"]).read_bytes(), row["encoding"]) for row in found}


def wpt() -> Results:
    """Yield file and agreement; without an expected encoding, the page's relation to its reference decides."""
    for file, (body, encoding) in wpt_files().items():
        decoded = decode(body)
        relation = _RELATION.search(body)
        if encoding is not None:
            yield file, decoded.encoding.lower() == encoding.lower()
        else:
            yield file, relation is not None and ("Test: ж" in decoded.text) == (relation[1] == b"match")


def wpt_aside() -> Known:
    aside = {}
    for file, (body, encoding) in wpt_files().items():
        if encoding is None and _RELATION.search(body) is None:
            aside[file] = (1, "does not state its own encoding")
        elif encoding is None and _META_IN_TEXT.search(body) is not None:
            aside[file] = (
                1,
                "html5lib's tests want a meta tag in a script, a style or a title to count, as the prescan does",
            )
    return aside


def labels() -> Results:
    for row in rows(DATA / "whatwg_labels.jsonl"):
        by_header = decode(b"\xe9", f"text/html; charset={row['label']}").encoding
        yield row["label"], encoding_of_label(row["label"]) == by_header == row["name"]


# ── detected encodings ──


@cache
def chardet_files() -> Files:
    found = rows(DATA / "chardet" / "cases.jsonl")
    return {row["file"]: ((DATA / "chardet" / row["file"]).read_bytes(), row["encoding"]) for row in found}


def undeclared() -> Files:
    return {file: (without_declarations(body), encoding) for file, (body, encoding) in chardet_files().items()}


def without_declarations(body: bytes) -> bytes:
    return _META.sub(b"", _DECLARATION.sub(rb"\1", body, count=1))


def chardet(files: Files) -> Results:
    for file, (body, encoding) in files.items():
        yield file, _text(decode(body).text) == pythons(body, encoding)


def pythons(body: bytes, encoding: str) -> str | None:
    """Return the text as Python's codec of this name decodes it."""
    try:
        return _text(body.decode(encoding, "replace"))
    except LookupError:
        return None


def standards(body: bytes, encoding: str) -> str | None:
    """Return the text as the Encoding Standard decodes this label."""
    name = _name(encoding)
    return _text(decode_as(name, body)) if name is not None else None


def chardet_known(files: Files) -> Known:
    return {file: (1, why) for file, (body, encoding) in files.items() if (why := _why(body, encoding))}


def _why(body: bytes, encoding: str) -> str:
    if pythons(body, encoding) is None:
        return "Python has no codec of this name"
    if is_markup_in_utf_32(body):
        return "browsers read no markup in UTF-32, according to WPT"
    if _text(decode(body).text) == standards(body, encoding):
        return "found, and decoded by the standard, which has other characters there than Python"
    return ""


def _text(text: str) -> str:
    return text.removeprefix("\ufeff")


def _name(encoding: str) -> str | None:
    return _NAMES.get(encoding.lower(), encoding_of_label(encoding))


def chardet_names(files: Files) -> Results:
    for file, (body, encoding) in files.items():
        yield file, decode(body).encoding == (_name(encoding) or encoding)


def chardet_names_known(files: Files) -> Known:
    """Return known differences: other names under which the text is the same."""
    alike = {file: (1, "has the same text under another name") for file, agrees in chardet(files) if agrees}
    return {**chardet_known(files), **alike}


# ── w3lib, with Python's names and its own rules ──


def w3lib() -> Results:
    for row in rows(DATA / "w3lib.jsonl"):
        test = row["test"].partition("::")[2]
        if not row["kwargs"]:  # we have no such options
            yield test, _agrees(row["fn"], [_plain(argument) for argument in row["args"]], row["result"])


def _plain(argument: Any) -> Any:
    return bytes.fromhex(argument["bytes_hex"]) if isinstance(argument, dict) else argument


def _agrees(function: str, arguments: list[Any], result: Any) -> bool:
    if function == "html_to_unicode":
        return decode(arguments[1], arguments[0]).text == result[1]
    if function == "resolve_encoding":
        return _codec(encoding_of_label(arguments[0])) == result
    if function == "http_content_type_encoding":
        return _codec(_by(decode(b"\xe9", arguments[0]), ["header"])) == result
    body = arguments[0].encode() if isinstance(arguments[0], str) else arguments[0]
    if function == "read_bom":
        return _reader(_by(decode(body), ["bom"])) == result[0]
    return _codec(_by(decode(body), ["meta", "xml"])) == result


def _by(decoded: Decoded, sources: Iterable[str]) -> str | None:
    return decoded.encoding if decoded.source in sources else None


def _codec(name: str | None) -> str | None:
    codec = codecs.lookup(codec_of(name)).name if name is not None else None
    return "gb18030" if codec == "gbk" else codec


def _reader(name: str | None) -> str | None:
    return re.sub("(utf-..)", r"\1-", name.lower()) if name is not None else None
