"""Detect the format of a file: by its first bytes, its content, its content type, then its URL."""

from __future__ import annotations

import re

from crawler.parse.documents.format_names import BY_EXTENSION, BY_TYPE, COMPOUND, MAGIC, WITH_MAGIC, ZIPPED
from crawler.parse.encodings.utf16 import detect_utf16_or_utf32
from crawler.parse.html import looks_like_html

SNIFFED_BYTES = 4_096  # bytes that are examined, apart from the directories of containers
_NEVER_TEXT = ("image/", "audio/", "video/", "font/")

# Names of members of a ZIP file that identify a format; the first match counts.
_ZIP_MEMBER_FORMATS: tuple[tuple[bytes, str], ...] = (
    (b"word/document", "docx"),
    (b"xl/workbook.bin", "xlsb"),
    (b"xl/workbook", "xlsx"),
    (b"ppt/presentation", "pptx"),
    (b"visio/document", "vsdx"),
    (b"FixedDocSeq", "xps"),
    (b"META-INF/container.xml", "epub"),
    (b"word/", "docx"),
    (b"xl/", "xlsx"),
    (b"ppt/", "pptx"),
    (b"Documents/1/FixedDoc", "xps"),
)
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_IWORK = re.compile(rb"(?<![\w/.-])index\.(?:xml|apxl)")
_MIMETYPE = re.compile(rb"mimetype(application/[a-z0-9.+-]+)")
# Names of streams in the directory of an OLE2 file that identify a format.
_OLE_STREAM_FORMATS: tuple[tuple[str, str], ...] = (
    ("WordDocument", "doc"),
    ("PowerPoint Document", "ppt"),
    ("Workbook", "xls"),
    ("Book", "xls"),
    ("__properties_version1.0", "msg"),
    ("Quill", "pub"),
)
_MAIL_FIELD = re.compile(rb"[A-Za-z][A-Za-z0-9-]{1,60}:[ \t\r\n]")
_TYPICAL_MAIL_FIELD = re.compile(
    rb"^(?:Received|Return-Path|Message-ID|MIME-Version|From|Delivered-To|X-[A-Za-z-]{1,40}):",
    re.IGNORECASE | re.MULTILINE,
)
_MAILBOX = re.compile(
    rb"From [^\r\n]{1,300}\d\d:\d\d[^\r\n]{0,100}\r?\n[\w-]+: |From [^\r\n]{1,300} \d{4}\r?\n[\w-]+: "
)
_XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml\s|!DOCTYPE\s+(?!html)\w)", re.IGNORECASE)
_XML_16 = (b"\xff\xfe<\x00?\x00x\x00", b"\xfe\xff\x00<\x00?\x00x")
_NOT_TEXT = bytes(set(range(32)) - {9, 10, 12, 13, 27})


def format_of(body: bytes, url: str, content_type: str | None = None) -> str | None:
    """Detect the format of a file: its short name, or None if it is not a format that is read here.

    >>> format_of(b"%PDF-1.7", "http://example.com/a.doc", "text/html")
    'pdf'
    >>> format_of(b"GIF89a", "http://example.com/a.txt") is None
    True
    """
    declared = declared_format(content_type)
    if declared == "html" and body[:1] == b"<":  # the most common case
        return "html"
    beginning, ending = body[:SNIFFED_BYTES], BY_EXTENSION.get(_file_extension(url))
    start = beginning.lstrip(b"\xef\xbb\xbf \t\r\n\0")
    for magic, found in MAGIC:
        if (beginning.startswith(magic) or start.startswith(magic)) and (len(magic) > 2 or b"\0" in beginning):
            if found is None:
                return None
            return _format_in_container(found, body, declared or ending) if found in ("zip", "ole") else found
    if b"%PDF-" in beginning[:1_024] and "pdf" in (declared, ending):
        return "pdf"
    if beginning[4:8] == b"ftyp":
        return None
    if beginning[257:262] == b"ustar":
        return "tar"
    return _text_format(body, beginning, content_type, declared, ending)


def declared_format(content_type: str | None) -> str | None:
    """The format that a content type declares; None if it is not a known one.

    >>> declared_format("Text/CSV; charset=x"), declared_format("application/octet-stream")
    ('csv', None)
    """
    essence = (content_type or "").partition(";")[0].partition(",")[0].strip().lower()
    found = BY_TYPE.get(essence)
    if found is not None:
        return found
    if essence.endswith("+xml"):
        return "xml"
    if essence.endswith("+json"):
        return "json"
    return "text" if essence.startswith("text/") else None


def _text_format(
    body: bytes, beginning: bytes, content_type: str | None, declared: str | None, ending: str | None
) -> str | None:
    """Detect the format of a file without a magic number."""
    if declared == "html":
        return "html" if beginning else None  # in any encoding
    is_wide = "utf-16" in (content_type or "").lower() or detect_utf16_or_utf32(beginning) is not None
    if not beginning or not (is_wide or _is_text(beginning)):
        return None
    if _XML.match(beginning) or beginning.startswith(_XML_16):
        return _xml_format(beginning)
    if declared is None and (content_type or "").lower().startswith(_NEVER_TEXT):
        return None
    is_called_nothing = declared is None and ending in (None, "html")
    if (is_called_nothing or declared in WITH_MAGIC) and looks_like_html(body, None):
        return "html"
    if _MAILBOX.match(beginning):
        return "mbox"
    if declared in (None, "text", "eml", "mbox") and ending in (None, "text", "eml", "mbox") and _is_mail(beginning):
        return "eml"
    if declared not in (None, "text") and declared not in WITH_MAGIC:
        return declared
    if ending is not None and ending not in WITH_MAGIC:
        return ending
    return "html" if declared is None and looks_like_html(body, None) else "text"


def _is_text(beginning: bytes) -> bool:
    if beginning.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    odd = len(beginning) - len(beginning.translate(None, _NOT_TEXT))
    return odd * 100 <= len(beginning)  # a few control characters are tolerated in text


def _is_mail(beginning: bytes) -> bool:
    head = beginning.lstrip()
    return _MAIL_FIELD.match(head) is not None and len(set(_TYPICAL_MAIL_FIELD.findall(head))) >= 2


def _xml_format(beginning: bytes) -> str:
    """Detect which kind of XML a file is: an office format, XHTML, or other XML."""
    text = beginning.replace(b"\0", b"")
    if b"urn:schemas-microsoft-com:office:spreadsheet" in text:
        return "spreadsheetml"
    if b"schemas.microsoft.com/office/2006/xmlPackage" in text:
        return "docx-flat"
    if b"schemas.microsoft.com/office/word/2003/wordml" in text:
        return "wordml"
    if b"urn:oasis:names:tc:opendocument:xmlns:office" in text and b"<office:document" in text:
        return "odf-flat"
    return "html" if b"<html" in text else "xml"


def _file_extension(url: str) -> str:
    """The file extension in a URL or path, in lower case, without the dot."""
    path = url.partition("#")[0].partition("?")[0]
    return path.rpartition("/")[2].rpartition(".")[2][:10].lower() if "." in path else ""


def _format_in_container(found: str, body: bytes, called: str | None) -> str:
    """The format in a ZIP or OLE2 container; if its directory is lost, the declared format or extension (`called`)."""
    inside = _format_in_zip(body) if found == "zip" else _format_in_ole(body)
    is_lost = found == "ole" or b"PK\x05\x06" not in body
    kinds = ZIPPED if found == "zip" else COMPOUND
    return called if inside == found and is_lost and called in kinds else inside


def _format_in_zip(body: bytes) -> str:
    """The format in a ZIP file by its mimetype member, else by the names of members."""
    typed = _MIMETYPE.search(body[:200])
    kind = typed[1].decode("ascii") if typed is not None else ""
    found = BY_TYPE.get(kind) or ("odt" if kind.startswith(_OPEN_DOCUMENT) else None)
    if found is not None:
        return found
    # The directory at the end has all names; if it is missing, the local headers have them.
    end = body.rfind(b"PK\x05\x06")
    start = max(end - int.from_bytes(body[end + 12 : end + 16], "little"), 0) if end >= 0 else 0
    directory = body[start:]
    is_package = b"[Content_Types].xml" in directory
    for name, inside in _ZIP_MEMBER_FORMATS:
        if name in directory and (is_package or end < 0 or inside in ("epub", "xps")):
            return inside
    if b"META-INF/manifest.xml" in directory and b"content.xml" in directory:
        return "odt"
    is_iwork = b"QuickLook/" in directory and _IWORK.search(directory) is not None
    return "iwork" if is_iwork else "zip"


def _format_in_ole(body: bytes) -> str:
    from crawler.parse.documents.ole_file import top_names  # olefile is loaded for such files only

    names = top_names(body)
    return next((found for name, found in _OLE_STREAM_FORMATS if name.lower() in names), "ole")
