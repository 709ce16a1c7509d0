"""Read Rich Text Format: groups, control words, and text in any of the old code pages."""

from __future__ import annotations

import re
from copy import copy
from itertools import groupby

from crawler.parse.documents.compound import read_package
from crawler.parse.documents.conversion import embed
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import Draft, TextRun
from crawler.parse.documents.fields import hyperlink
from crawler.parse.documents.html import read_html

_TOKEN = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,32})(?P<value>-?\d{1,10})? ?|\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<symbol>[^a-zA-Z'])"
    rb"|(?P<open>\{)|(?P<close>\})|(?P<text>[^\\{}\r\n]{1,4096})|[\r\n]+|\\"
)
_MOST_TOKENS = 1_000_000  # about two seconds
_DEEPEST = 2_000
_CHARSETS = {
    77: "mac_roman", 78: "cp932", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "big5hkscs",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
_CODE_PAGES = {10000: "mac_roman", 10001: "cp932", 10007: "mac_cyrillic", 65001: "utf-8", 936: "gbk", 950: "big5hkscs"}
_CHARACTERS = {
    "par": "", "tab": "\t", "line": "\n", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "emdash": "—", "endash": "–", "bullet": "•", "emspace": "\u2003", "enspace": "\u2002", "qmspace": "\u2005",
    "zwj": "\u200d", "zwnj": "\u200c", "softline": "\n",
}  # fmt: skip
_SYMBOLS = {b"~": "\xa0", b"_": "\u2011", b"-": "\xad", b"{": "{", b"}": "}", b"\\": "\\", b"\n": "\n", b"\r": "\n"}
_SKIPPED_DESTINATIONS = frozenset(
    [
        "colortbl",
        "pict",
        "themedata",
        "datastore",
        "latentstyles",
        "listtable",
        "listoverridetable",
        "rsidtbl",
        "generator",
        "xmlnstbl",
        "wgrffmtfilter",
        "mmathPr",
        "falt",
        "panose",
        "bkmkstart",
        "bkmkend",
        "fontemb",
        "filetbl",
        "sp",
        "pgdsctbl",
        "revtbl",
        "template",
        "passwordhash",
        "userprops",
        "objclass",
        "objname",
        "nonshppict",
        "atndate",
        "atnref",
    ]
)
# Destinations marked as optional (\*) that are read nevertheless.
_SHOWN_DESTINATIONS = frozenset(
    ["shpinst", "shptxt", "annotation", "shppict", "htmltag", "field", "footnote", "do", "dptxbxtext"]
)
_PROPERTIES = {
    "title": "title", "subject": "subject", "author": "author", "operator": "modified_by", "keywords": "keywords",
    "doccomm": "description", "company": "company", "manager": "manager", "category": "category",
}  # fmt: skip
_COLLECTED_DESTINATIONS = frozenset({"info", "stylesheet", "fonttbl", "fldinst", "atnid", "atnauthor", "objdata"})
_TIMES = {"creatim": "created", "revtim": "modified"}
_STORIES = frozenset(["header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf", "footnote"])
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_MOST_OBJECT = 8 << 20
_NO_DIGIT = re.compile(r"[^0-9a-fA-F]+")


class _State:
    """The state of a group: inherited from the outer group and restored at its end."""

    __slots__ = (
        "bold",
        "encoding",
        "field",
        "hidden",
        "href",
        "in_comment",
        "italic",
        "skip",
        "target",
        "unicode_skip",
    )

    def __init__(self) -> None:
        self.bold = self.italic = self.hidden = False
        self.target = ""  # the destination of text; "" is the document
        self.encoding = ""
        self.href = ""
        self.unicode_skip = 1
        self.field: _Field | None = None
        self.skip = False
        self.in_comment = False


class _Field:
    """A field: its instruction, collected before its result."""

    def __init__(self) -> None:
        self.instruction = ""


def read(body: bytes, draft: Draft) -> None:
    reader = _Reader(draft)
    reader.read(body)


class _Reader:
    """Processes the tokens of a file and writes its text to the draft."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._state = _State()
        self._stack: list[_State] = []
        self._default = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._levels: dict[int, int] = {}  # style → heading level
        self._style = 0
        self._is_new_group = self._is_optional_group = False  # a group has just begun; it is marked as optional
        self._characters_to_skip = 0  # fallback characters after a Unicode one, for old programs
        self._bytes = bytearray()
        self._runs: list[TextRun] = []
        self._cells: list[list[TextRun]] = []
        self._level = 0
        self._is_item = self._in_table = False
        self._collected: dict[str, list[str]] = {}
        self._time: dict[str, int] = {}
        self._is_html = self._is_rtf_only = False
        self._html: list[str] = []

    def read(self, body: bytes) -> None:
        position = count = 0
        while position < len(body):
            token = _TOKEN.match(body, position)
            if token is None:
                break
            position = token.end()
            count += 1
            if count > _MOST_TOKENS:
                self._draft.report_problem(Problem.TOO_LARGE)
                break
            if self._draft.is_full:
                break
            kind = token.lastgroup
            if kind == "value" or kind == "word":
                word = token["word"].decode("ascii")
                value = int(token["value"]) if token["value"] else None
                if word == "bin" and value is not None:
                    position += max(min(value, len(body)), 0)
                else:
                    self._process_word(word, value)
            elif kind == "text":
                self._add_bytes(token["text"])
            elif kind == "hex":
                self._add_bytes(bytes([int(token["hex"], 16)]))
            elif kind == "symbol":
                self._process_symbol(token["symbol"])
            elif kind == "open":
                self._open_group()
            elif kind == "close":
                self._close_group()
        if self._stack:
            self._draft.report_problem(Problem.TRUNCATED)
        self._write_paragraph()
        self._write_row()
        if self._is_html:
            read_html("".join(self._html), self._draft)

    # ── groups ──

    def _open_group(self) -> None:
        self._flush()
        if len(self._stack) >= _DEEPEST:
            raise ValueError("too many nested groups")
        self._stack.append(self._state)
        self._state = copy(self._state)
        self._is_new_group, self._is_optional_group = True, False

    def _close_group(self) -> None:
        self._flush()
        if not self._stack:
            return
        ended, self._state = self._state, self._stack.pop()
        if ended.target != self._state.target:
            self._end_destination(ended.target)
        if ended.in_comment and not self._state.in_comment:
            self._runs.append(TextRun(" "))
        self._is_new_group = False

    def _begin_destination(self, target: str) -> None:
        self._state.target = target
        self._collected[target] = []

    def _end_destination(self, target: str) -> None:
        """Process the collected text of a destination other than the document, at the end of its group."""
        text = "".join(self._collected.pop(target, []))
        if target in _PROPERTIES:
            if target == "title":
                self._draft.title = self._draft.title or text
            else:
                self._draft.add_metadata(_PROPERTIES[target], text)
        elif target in _TIMES:
            self._draft.add_metadata(_TIMES[target], _iso_date(self._time))
        elif target == "fldinst" and self._state.field is not None:
            self._state.field.instruction += text
        elif target == "objdata":
            self._read_object(text)
        elif target == "stylesheet entry":
            found = _HEADING.match(text.strip())
            if found is not None:
                self._levels[self._style] = int(found[1])
        elif target in ("atnid", "atnauthor"):
            self._runs.append(TextRun(f" {text} "))
        elif target == "listtext":
            self._is_item = not any(character.isalnum() for character in text)
            if not self._is_item:
                self._runs.append(TextRun(f"{text.strip()} "))

    # ── control words ──

    def _process_word(self, word: str, value: int | None) -> None:
        is_first, is_optional = self._is_new_group, self._is_optional_group
        self._is_new_group = False
        self._flush()
        if is_first and self._process_destination(word, is_optional=is_optional):
            return
        if self._state.skip:
            return
        if word == "u" and value is not None:
            self._add_text(chr(value % 65_536))
            self._characters_to_skip = self._state.unicode_skip
        elif word in _CHARACTERS and word != "par":
            self._add_text(_CHARACTERS[word])
        else:
            self._set_formatting(word, value)
            self._process_structure(word)

    def _process_destination(self, word: str, *, is_optional: bool) -> bool:
        """Process the first control word of a group as its destination; False if it is an ordinary control word."""
        state = self._state
        if state.skip:
            return True
        if word in _PROPERTIES or word in _TIMES:
            self._time = {}
            if state.target == "info":
                self._begin_destination(word)
                return True
        if word in _COLLECTED_DESTINATIONS:
            self._begin_destination(word)
        elif word in ("listtext", "pntext"):
            self._begin_destination("listtext")
        elif word == "field":
            state.field = _Field()
        elif word == "fldrslt" and state.field is not None:
            state.href = hyperlink(state.field.instruction) or state.href
        elif word == "htmltag":
            state.target = "html"
        elif word in _STORIES or word == "annotation":
            state.in_comment = word == "annotation"
            if not self._in_table and not state.in_comment:
                self._write_paragraph()
        elif word in _SKIPPED_DESTINATIONS or (is_optional and word not in _SHOWN_DESTINATIONS):
            state.skip = True
        elif state.target == "stylesheet":
            self._style = 0
            self._begin_destination("stylesheet entry")
            return False
        else:
            return False
        return True

    def _set_formatting(self, word: str, value: int | None) -> None:
        state, is_on = self._state, value != 0
        if word == "b":
            state.bold = is_on
        elif word == "i":
            state.italic = is_on
        elif word in ("v", "deleted"):
            state.hidden = is_on
        elif word == "plain":
            state.bold = state.italic = state.hidden = False
            state.encoding = ""
        elif word == "f" and value is not None:
            self._font = value
            state.encoding = self._fonts.get(value, "")
        elif word == "deff" and value is not None:
            self._font = value
        elif word == "fcharset" and value is not None:
            if value in _CHARSETS:
                self._fonts[self._font] = _CHARSETS[value]
        elif word in ("cpg", "ansicpg") and value is not None:
            encoding = _known_encoding(_CODE_PAGES.get(value, f"cp{value}"))
            if word == "cpg":
                self._fonts[self._font] = encoding
            else:
                self._default = encoding
        elif word in ("mac", "pc", "pca"):
            self._default = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}[word]
        elif word == "uc" and value is not None:
            state.unicode_skip = max(min(value, 10), 0)
        elif word in ("yr", "mo", "dy", "hr", "min") and value is not None:
            self._time[word] = value
        elif word == "s" and value is not None:
            self._style = value
            self._level = self._levels.get(value, 0) if state.target == "" else 0
        elif word == "outlinelevel" and value is not None and state.target == "" and 0 <= value < 9:
            self._level = value + 1
        elif word == "fromhtml":
            self._is_html = True
        elif word == "htmlrtf":
            self._is_rtf_only = is_on
        elif word in ("nofpages", "nofwords") and value is not None:
            self._draft.add_metadata({"nofpages": "pages", "nofwords": "words"}[word], value)

    def _process_structure(self, word: str) -> None:
        if self._state.target:
            return
        if word in ("par", "sect", "page"):
            if self._is_html and not self._is_rtf_only:
                self._html.append("\n")
            elif self._in_table:
                self._runs.append(TextRun("\n"))
            else:
                self._write_paragraph()
        elif word == "pard":
            self._level, self._in_table = 0, False
        elif word == "intbl":
            self._in_table = True
        elif word in ("cell", "nestcell"):
            self._cells.append(self._runs)
            self._runs = []
        elif word in ("row", "nestrow"):
            self._write_row()

    def _process_symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._is_optional_group = self._is_new_group
            return
        self._is_new_group = False
        if symbol in _SYMBOLS and not self._state.skip:
            self._flush()
            if symbol in (b"\n", b"\r"):
                self._process_structure("par")
            else:
                self._add_text(_SYMBOLS[symbol])

    # ── text ──

    def _add_bytes(self, text: bytes) -> None:
        self._is_new_group = False
        if self._characters_to_skip:
            skipped = min(self._characters_to_skip, len(text))
            self._characters_to_skip -= skipped
            text = text[skipped:]
        if not self._state.skip:
            self._bytes += text

    def _flush(self) -> None:
        """Decode the collected bytes of a run at once: a character may have two bytes."""
        self._characters_to_skip = 0
        if self._bytes:
            text = bytes(self._bytes).decode(self._state.encoding or self._default, "replace")
            self._bytes.clear()
            self._add_text(text)

    def _add_text(self, text: str) -> None:
        state = self._state
        if state.hidden or state.skip:
            return
        if state.target == "html" or (self._is_html and state.target == ""):
            if not self._is_rtf_only:
                self._html.append(text)
        elif state.target == "":
            self._runs.append(TextRun(text, state.bold, state.italic, state.href))
        else:
            self._collected.setdefault(state.target, []).append(text)

    def _write_paragraph(self) -> None:
        runs, self._runs = _join_surrogates(self._runs), []
        is_item, self._is_item = self._is_item, False
        if self._level:
            self._draft.heading(self._level, runs)
        elif is_item:
            self._draft.item(runs)
        else:
            self._draft.paragraph(runs)

    def _write_row(self) -> None:
        if self._cells:
            self._draft.row([_join_surrogates(cell) for cell in self._cells])
            self._cells = []

    def _read_object(self, text: str) -> None:
        """Read an OLE 1 object: names, then the data of the object."""
        digits = _NO_DIGIT.sub("", text[: 2 * _MOST_OBJECT])
        data = bytes.fromhex(digits[: len(digits) // 2 * 2])
        at = data.find(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
        if at >= 0:
            embed(self._draft, "object", data[at:])
        elif (found := data.find(b"Package\0")) >= 0:
            read_package(data[found + 8 + 12 :], self._draft)


def _join_surrogates(runs: list[TextRun]) -> list[TextRun]:
    """Join surrogate pairs that were written as two characters, and replace lone surrogates."""
    whole = []
    for formatting, parts in groupby(runs, key=lambda run: run[1:]):
        text = "".join([run.text for run in parts])
        whole.append(TextRun(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), *formatting))
    return whole


def _known_encoding(encoding: str) -> str:
    try:
        "".encode(encoding)
    except LookupError:
        return "cp1252"
    return encoding


def _iso_date(time: dict[str, int]) -> str:
    if not time.get("yr"):
        return ""
    day = f"{time['yr']:04}-{time.get('mo', 1):02}-{time.get('dy', 1):02}"
    return f"{day}T{time.get('hr', 0):02}:{time.get('min', 0):02}:00"
