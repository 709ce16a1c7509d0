"""Read mail messages and mailboxes: header fields, text and attachments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime

from crawler.parse.charset import decode
from crawler.parse.clean_text import one_line
from crawler.parse.documents.conversion import embed
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import MOST_PARTS, Draft
from crawler.parse.documents.html import read_html
from crawler.parse.documents.text import read_text

_FROM_LINE = re.compile(rb"(?:\A|(?<=\n))From [^\r\n]*\r?\n")
_SHOWN = ("From", "To", "Cc", "Date")
_MOST_ATTACHED = 200
_DEEPEST = 20  # nesting of parts
_LONGEST_FIELD = 10_000


def read(body: bytes, draft: Draft) -> None:
    starts = [(found.start(), found.end()) for found in _FROM_LINE.finditer(body)] if body.startswith(b"From ") else []
    if starts:
        _read_mailbox(body, starts, draft)
    else:
        read_message(message_from_bytes(body), draft)


def _read_mailbox(body: bytes, starts: list[tuple[int, int]], draft: Draft) -> None:
    draft.add_metadata("messages", len(starts))
    if len(starts) > MOST_PARTS:
        draft.report_problem(Problem.TOO_LARGE)
    ends = [start for start, _ in starts[1:]] + [len(body)]
    for number, ((_, start), end) in enumerate(zip(starts, ends, strict=True), 1):
        if number > MOST_PARTS or draft.is_full:
            break
        message = draft.inner_draft(str(number))
        with draft.section("message", number):
            read_message(message_from_bytes(body[start:end]), message)
        for name in message.metadata.get("embedded", "").split("\n"):
            draft.add_name("embedded", name)


def read_message(message: Message, draft: Draft) -> None:
    subject = header_field(message, "Subject")
    draft.title = draft.title or subject
    draft.heading(1, subject)
    for name in _SHOWN:
        value = header_field(message, name)
        if value:
            draft.paragraph(f"{name}: {value}")
    draft.add_metadata("author", header_field(message, "From"))
    draft.add_metadata("created", _iso_date(header_field(message, "Date")))
    _MessageParts(draft).read(message, 0)


class _MessageParts:
    """Reads the parts of one message."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._attached = 0

    def read(self, part: Message, depth: int) -> None:
        if depth > _DEEPEST or self._draft.is_full:
            self._draft.report_problem(Problem.TOO_LARGE)
            return
        if part.get_content_type() == "multipart/alternative":
            self.read(_best_alternative(part), depth + 1)
        elif part.is_multipart() and part.get_content_type() == "message/rfc822":
            for message in _subparts(part):
                message = _decode_attached_message(message, part)
                inner = self._draft.inner_draft("message")
                with self._draft.section("message", header_field(message, "Subject")):
                    read_message(message, inner)
        elif part.is_multipart():
            for inner_part in _subparts(part):
                self.read(inner_part, depth + 1)
        else:
            self._read_leaf(part)

    def _read_leaf(self, part: Message) -> None:
        kind, name = part.get_content_type(), _file_name(part)
        data = part.get_payload(decode=True)
        if not isinstance(data, bytes):
            return
        is_attached = part.get_content_disposition() == "attachment" or (name and not kind.startswith("text/"))
        if is_attached:
            self._attached += 1
            if self._attached <= _MOST_ATTACHED:
                embed(self._draft, name or kind, data, kind)
        elif kind == "text/html":
            read_html(_decoded(data, part), self._draft.inner_draft(name))
        elif kind in ("text/plain", "message/delivery-status"):
            read_text(_decoded(data, part), self._draft)
        else:
            embed(self._draft, name or kind, data, kind)


def _subparts(part: Message) -> Iterator[Message]:
    payload = part.get_payload()
    for inner in payload if isinstance(payload, list) else ():
        if isinstance(inner, Message):
            yield inner


def _decode_attached_message(message: Message, part: Message) -> Message:
    """Decode an attached message in base64: RFC 2046 §5.2.1 forbids that, but some programs do it."""
    if str(part.get("Content-Transfer-Encoding", "")).strip().lower() != "base64":
        return message
    message["Content-Transfer-Encoding"] = "base64"
    data = message.get_payload(decode=True)
    return message_from_bytes(data) if isinstance(data, bytes) else message


def _best_alternative(part: Message) -> Message:
    """Choose from alternative parts the last that is HTML or multipart (RFC 2046 §5.1.4), else the last one."""
    parts = list(_subparts(part))
    for inner in reversed(parts):
        payload = inner.get_payload()
        if inner.is_multipart() or (inner.get_content_type() == "text/html" and str(payload).strip()):
            return inner
    return parts[-1] if parts else Message()


def header_field(message: Message, name: str) -> str:
    """A header field of a message, with encoded words decoded."""
    value = message.get(name)
    if value is None:
        return ""
    text = str(value)[:_LONGEST_FIELD]
    try:
        pieces = decode_header(text)
    except (HeaderParseError, ValueError):
        return one_line(text)
    return one_line("".join(_decode_word(piece, charset) for piece, charset in pieces))


def _decode_word(piece: bytes | str, charset: str | None) -> str:
    if isinstance(piece, str):
        return _without_surrogates(piece)
    return decode(piece, f"text/plain; charset={charset}" if charset else None).text


def _without_surrogates(text: str) -> str:
    """Decode a field that is not ASCII: the email package represents such bytes as surrogates."""
    if text.isascii():
        return text
    return decode(text.encode("utf-8", "surrogateescape")).text


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename() or ""
    except (LookupError, ValueError, TypeError):
        return ""
    try:
        return "".join(_decode_word(piece, charset) for piece, charset in decode_header(name))
    except (HeaderParseError, ValueError):
        return name


def _decoded(data: bytes, part: Message) -> str:
    charset = str(part.get_param("charset", "") or "")
    return decode(data, f"text/plain; charset={charset}" if charset else None).text


def _iso_date(date: str) -> str:
    try:
        return parsedate_to_datetime(date).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
