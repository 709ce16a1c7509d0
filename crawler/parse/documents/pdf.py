"""Read PDF: paragraphs, headings, links, annotations, forms and attachments.

PDF stores the positions of letters, not the structure of the text. A heading is a short line in letters larger than
those of most of the text; a paragraph ends where the gap to the next line, the font size or the weight changes.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from crawler.parse.documents.broken_pdf import repair_pdf
from crawler.parse.documents.conversion import embed
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import MOST_PARTS, MOST_TEXT, Draft, TextRun
from crawler.parse.documents.xml_tree import local_name, parse_xml

_PROPERTIES = {
    "Author": "author",
    "Subject": "subject",
    "Keywords": "keywords",
    "Creator": "application",
    "Producer": "producer",
}
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-]\d\d)'?(\d\d)?|Z)?")
_MOST_LETTERS = 200_000  # per page
_MOST_LINKS_OF_PAGE = 1_000
_MOST_ATTACHED = 50
_LONGEST_XMP = 1 << 20
_MOST_ATTACHMENT = 16 << 20
_MOST_UNENDED = 500  # streams without an end: PDFium reads on from each, 8 seconds for 8,000 in 340 kB
_LARGER = 1.15  # font size relative to that of most text from which a line is a heading
_LONGEST_HEADING = 200
_BOLD = 600
_HEAVY = re.compile(r"bold|black|heavy|semibold", re.IGNORECASE)
_END_BYTES = 1_024  # the last bytes, which contain the end marker


class _Line(NamedTuple):
    text: str
    size: float
    is_bold: bool
    top: float
    bottom: float
    left: float


_Page = tuple[list[_Line], list[tuple[str, str]], list[str]]  # lines, links with their texts, other texts


def read(body: bytes, draft: Draft) -> None:
    if b"%%EOF" not in body[-_END_BYTES:]:
        draft.report_problem(Problem.TRUNCATED)
    if body.count(b"stream") - 2 * body.count(b"endstream") > _MOST_UNENDED:
        draft.report_problem(Problem.CORRUPT)
        return
    document = _open_pdf(body, draft)
    if document is None:
        return
    try:
        _read_properties(document, draft)
        _read_xmp(body, draft)
        pages = list(_pages(document, draft))
        body_size = _body_font_size(pages)
        for number, (lines, links, texts) in enumerate(pages, 1):
            with draft.section("page", number):
                _write_page(lines, links, body_size, draft)
                for text in texts:
                    draft.paragraph(text)
        _read_outline(document, draft)
        _read_attachments(document, draft)
        _read_xfa_form(document, draft)
    finally:
        document.close()


def _open_pdf(body: bytes, draft: Draft) -> Any:
    """Open a PDF; if its end is missing, repair it from the pages that are there."""
    with suppress(pypdfium2.PdfiumError):
        return _load_pdf(body)
    if pdfium.FPDF_GetLastError() == pdfium.FPDF_ERR_PASSWORD:
        draft.add_metadata("encrypted", "true")
        draft.report_problem(Problem.ENCRYPTED)
        return None
    draft.report_problem(Problem.CORRUPT)
    repaired = repair_pdf(body)
    with suppress(pypdfium2.PdfiumError):
        return _load_pdf(repaired) if repaired else None
    return None


def _load_pdf(body: bytes) -> Any:
    return pypdfium2.PdfDocument(body)


def _pages(document: Any, draft: Draft) -> Iterator[_Page]:
    """The pages, up to the limits on pages and text."""
    count, room = len(document), MOST_TEXT
    draft.add_metadata("pages", count)
    for number in range(min(count, MOST_PARTS)):
        page = _page(document, number, room, draft)
        yield page
        room -= sum(len(line.text) for line in page[0]) + sum(map(len, page[2]))
        if room <= 0:
            draft.report_problem(Problem.TOO_LARGE)
            return
    if count > MOST_PARTS:
        draft.report_problem(Problem.TOO_LARGE)


def _read_properties(document: Any, draft: Draft) -> None:
    found = document.get_metadata_dict(skip_empty=True)
    draft.title = found.get("Title", "")
    for name, key in _PROPERTIES.items():
        draft.add_metadata(key, found.get(name, ""))
    for name, key in (("CreationDate", "created"), ("ModDate", "modified")):
        draft.add_metadata(key, _iso_date(found.get(name, "")))
    if pdfium.FPDFDoc_GetJavaScriptActionCount(document) > 0:
        draft.add_metadata("has_js", "true")
    language = _utf16_string(lambda buffer, size: pdfium.FPDFCatalog_GetLanguage(document, buffer, size))
    draft.add_metadata("language", language)


def _read_xmp(body: bytes, draft: Draft) -> None:
    """Read title and authors from the last XMP packet: only there are several authors listed separately."""
    start = body.rfind(b"<x:xmpmeta")
    end = body.find(b"</x:xmpmeta>", start)
    root = parse_xml(body[start : min(end + 12, start + _LONGEST_XMP)]) if 0 <= start < end else None
    for element in root.iter("{*}creator", "{*}title") if root is not None else ():
        texts = [text for item in element.iter("{*}li") if (text := (item.text or "").strip())]
        if local_name(element) == "title":
            draft.title = draft.title or " ".join(texts[:1])
        elif len(texts) > 1 or "author" not in draft.metadata:
            draft.metadata.pop("author", None)
            draft.add_metadata("author", ", ".join(texts))


def _iso_date(date: str) -> str:
    """Convert a PDF date to ISO 8601; empty if it is not one.

    >>> _iso_date("D:20260102030405+01'00'"), _iso_date("D:2026"), _iso_date("yesterday")
    ('2026-01-02T03:04:05+01:00', '2026-01-01T00:00:00', '')
    """
    found = _DATE.match(date)
    if found is None:
        return ""
    year, month, day, hour, minute, second, zone, zone_minute = found.groups()
    moment = f"{year}-{month or '01'}-{day or '01'}T{hour or '00'}:{minute or '00'}:{second or '00'}"
    return f"{moment}{zone}:{zone_minute or '00'}" if zone else moment


def _page(document: Any, number: int, room: int, draft: Draft) -> _Page:
    if draft.is_full:
        return [], [], []
    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        draft.report_problem(Problem.CORRUPT)
        return [], [], []
    try:
        text_page = page.get_textpage()
    except pypdfium2.PdfiumError:
        draft.report_problem(Problem.CORRUPT)
        page.close()
        return [], [], []
    try:
        return (
            list(_lines(text_page, draft)),
            list(_links(document, page, text_page)),
            list(_annotations(page, room, draft)),
        )
    finally:
        text_page.close()
        page.close()


def _lines(text_page: Any, draft: Draft) -> Iterator[_Line]:
    count = text_page.count_chars()
    if count > _MOST_LETTERS:
        draft.report_problem(Problem.TOO_LARGE)
        count = _MOST_LETTERS
    if not count:
        return
    text = text_page.get_text_range(0, count, errors="replace")
    # The text has one character per letter, except for surrogate pairs.
    start = 0
    is_direct = len(text) == count
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if stripped:
            offset = start + line.index(stripped[0])
            index = offset if is_direct else _char_index(text_page, offset)
            yield _measure_line(text_page, stripped, index, min(index + len(stripped), count) - 1)
        start += len(line)


def _char_index(text_page: Any, offset: int) -> int:
    return max(int(pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, offset)), 0)


def _measure_line(text_page: Any, text: str, index: int, last: int) -> _Line:
    """A line with the size and position of its first letter; it is bold if its first and last letters are.

    PDFium marks hyphenation with U+FFFE, which is removed.
    """
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    pdfium.FPDFText_GetCharBox(text_page, index, left, right, bottom, top)
    is_bold = _is_bold(text_page, index) and _is_bold(text_page, last)
    size = float(pdfium.FPDFText_GetFontSize(text_page, index))
    height = top.value - bottom.value
    size = size if size > 1.5 else height  # size 1 scaled by a matrix
    return _Line(text.replace("\ufffe", ""), round(size, 1), is_bold, top.value, bottom.value, left.value)


def _is_bold(text_page: Any, index: int) -> bool:
    if pdfium.FPDFText_GetFontWeight(text_page, index) >= _BOLD:
        return True
    buffer, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    size = pdfium.FPDFText_GetFontInfo(text_page, index, buffer, 128, flags)
    return 0 < size <= 128 and _HEAVY.search(buffer.raw[:size].decode("utf-8", "replace")) is not None


def _body_font_size(pages: list[_Page]) -> float:
    sizes: Counter[float] = Counter()
    for lines, _, _ in pages:
        for line in lines:
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _write_page(lines: list[_Line], links: list[tuple[str, str]], body_size: float, draft: Draft) -> None:
    by_text = {text: url for url, text in links if len(text) > 2}
    wide_gap = _wide_gap(lines)
    full = 0.6 * max((len(line.text) for line in lines), default=0)
    paragraph: list[_Line] = []
    for line in lines:
        if paragraph and not _continues_paragraph(
            paragraph, line, wide_gap if len(paragraph[-1].text) >= full else 0.0
        ):
            _write_paragraph(paragraph, by_text, body_size, draft)
            paragraph = []
        paragraph.append(line)
    if paragraph:
        _write_paragraph(paragraph, by_text, body_size, draft)
    for url, text in links:
        draft.link(url, text)


def _wide_gap(lines: list[_Line]) -> float:
    """The largest gap within a paragraph on a page with wide line spacing; 0 if the spacing is not wide."""
    gaps = [last.bottom - line.top for last, line in pairwise(lines) if last.size == line.size]
    usual_gap = median(gaps) if len(gaps) > 2 else 0.0
    return 1.3 * usual_gap if lines and 0 < usual_gap < 1.5 * lines[-1].size else 0.0


def _continues_paragraph(paragraph: list[_Line], line: _Line, wide_gap: float) -> bool:
    """Whether a line belongs to the paragraph; the gap may be up to `wide_gap`, which is set after full lines."""
    last = paragraph[-1]
    if abs(last.size - line.size) > 0.6 or last.is_bold != line.is_bold:
        return False
    gap = last.bottom - line.top
    return -2 * line.size < gap < max(0.9 * max(line.size, 1.0), wide_gap)


def _write_paragraph(paragraph: list[_Line], links: dict[str, str], body_size: float, draft: Draft) -> None:
    text = " ".join(line.text for line in paragraph)
    first = paragraph[0]
    if body_size and first.size > _LARGER * body_size and len(text) <= _LONGEST_HEADING and any(map(str.isalpha, text)):
        ratio = first.size / body_size
        draft.heading(1 if ratio > 1.7 else 2 if ratio > 1.35 else 3, text)
    else:
        draft.paragraph(_link_anchors(text, links, is_bold=first.is_bold))


def _link_anchors(text: str, links: dict[str, str], *, is_bold: bool) -> list[TextRun]:
    """Split a text into runs, where the first occurrence of each link's text is linked."""
    runs, rest = [], text
    for anchor, url in links.items():
        before, found, after = rest.partition(anchor)
        if found:
            runs += [TextRun(before, is_bold), TextRun(found, is_bold, href=url)]
            rest = after
    return [*runs, TextRun(rest, is_bold)]


def _links(document: Any, page: Any, text_page: Any) -> Iterator[tuple[str, str]]:
    """The links of a page: the URL, and the text in the link's rectangle."""
    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    for _ in range(_MOST_LINKS_OF_PAGE):
        if not pdfium.FPDFLink_Enumerate(page, position, link):
            return
        action = pdfium.FPDFLink_GetAction(link)
        if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
            continue
        url = _utf8_string(lambda buffer, size, of=action: pdfium.FPDFAction_GetURIPath(document, of, buffer, size))
        box = pdfium.FS_RECTF()
        text = ""
        if pdfium.FPDFLink_GetAnnotRect(link, box):
            text = text_page.get_text_bounded(box.left, box.bottom, box.right, box.top, errors="replace")
        yield url, " ".join(text.split())


def _annotations(page: Any, room: int, draft: Draft) -> Iterator[str]:
    """The texts of annotations and form fields of a page; files attached to annotations are converted.

    Any number of annotations may share one text, so they have a limit of their own.
    """
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MOST_LINKS_OF_PAGE)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            for key in (b"Contents", b"V"):
                text = _utf16_string(
                    lambda buffer, size, of=annotation, name=key: pdfium.FPDFAnnot_GetStringValue(
                        of, name, buffer, size
                    )
                )
                room -= len(text)
                if room <= 0:
                    draft.report_problem(Problem.TOO_LARGE)
                    return
                yield text
            if pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_FILEATTACHMENT:
                _read_attachment(pdfium.FPDFAnnot_GetFileAttachment(annotation), draft)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _read_outline(document: Any, draft: Draft) -> None:
    with suppress(pypdfium2.PdfiumError, ValueError, RecursionError):
        titles = []
        for bookmark in document.get_toc(max_depth=5):
            titles.append(bookmark.get_title())
            if len(titles) >= 1_000:
                break
        with draft.section("part", "outline"):
            for title in titles:
                draft.item(title)


def _read_attachments(document: Any, draft: Draft) -> None:
    for index in range(min(pdfium.FPDFDoc_GetAttachmentCount(document), _MOST_ATTACHED)):
        _read_attachment(pdfium.FPDFDoc_GetAttachment(document, index), draft)


def _read_attachment(file: Any, draft: Draft) -> None:
    if not file:
        return
    name = _utf16_string(lambda buffer, size: pdfium.FPDFAttachment_GetName(file, buffer, size))
    needed = ctypes.c_ulong()
    pdfium.FPDFAttachment_GetFile(file, None, 0, needed)
    if not 0 < needed.value <= min(_MOST_ATTACHMENT, draft.budget.unpacked):
        draft.add_name("embedded", name)
        draft.paragraph(name)
        return
    buffer = ctypes.create_string_buffer(needed.value)
    pdfium.FPDFAttachment_GetFile(file, buffer, needed.value, needed)
    draft.budget.unpacked -= len(buffer.raw)
    embed(draft, name, buffer.raw)


def _read_xfa_form(document: Any, draft: Draft) -> None:
    """Read XFA forms, whose content is XML apart from the pages."""
    for index in range(min(max(pdfium.FPDF_GetXFAPacketCount(document), 0), 20)):
        needed = ctypes.c_ulong()
        pdfium.FPDF_GetXFAPacketContent(document, index, None, 0, needed)
        if not 0 < needed.value <= _MOST_ATTACHMENT:
            continue
        buffer = ctypes.create_string_buffer(needed.value)
        pdfium.FPDF_GetXFAPacketContent(document, index, buffer, needed.value, needed)
        root = parse_xml(buffer.raw)
        if root is None:
            continue
        with draft.section("part", "form"):
            for element in root.iter("{*}text", "{*}speak"):
                draft.paragraph((element.text or "").strip())
            for element in root.iter("{*}p"):
                draft.paragraph(" ".join("".join(element.itertext()).split()))


def _utf16_string(ask: Any) -> str:
    """Call a PDFium function that writes UTF-16 into a buffer whose size it returns first."""
    size = ask(None, 0)
    if not 2 < size <= 1 << 20:
        return ""
    buffer = ctypes.create_string_buffer(size)
    ask(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")


def _utf8_string(ask: Any) -> str:
    size = ask(None, 0)
    if not 1 < size <= 1 << 16:
        return ""
    buffer = ctypes.create_string_buffer(size)
    ask(buffer, size)
    return buffer.raw[: size - 1].decode("utf-8", "replace")
