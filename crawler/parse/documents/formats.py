"""What kind of file is this? By its first bytes, then by what lies in it, then by its label, then by its URL."""

from __future__ import annotations

import re

from crawler.parse.html import looks_like_html

SNIFFED = 4_096  # bytes that are looked at, but for the directories of containers

# Beginnings that tell. None: nothing that we read.
_MAGIC: tuple[tuple[bytes, str | None], ...] = (
    (b"%PDF-", "pdf"),
    (b"{\\rtf", "rtf"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (b"\x1f\x8b\x08", "gz"),
    (b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3", "one"),
    (b"\xffWPC", "wpd"),
    (b"\x09\x08\x10\x00\x00\x06", "xls"),  # sheets of Excel without a container: versions 8, 5, 4, 3, 2
    (b"\x09\x08\x08\x00\x00\x05", "xls"),
    (b"\x09\x04\x06\x00", "xls"),
    (b"\x09\x02\x06\x00", "xls"),
    (b"\x09\x00\x04\x00", "xls"),
    (b"\x89PNG\r\n", None),
    (b"\xff\xd8\xff", None),  # JPEG
    (b"GIF8", None),
    (b"BM", None),
    (b"II*\x00", None),  # TIFF
    (b"MM\x00*", None),
    (b"RIFF", None),
    (b"OggS", None),
    (b"ID3", None),
    (b"fLaC", None),
    (b"\x1aE\xdf\xa3", None),  # Matroska
    (b"\x00\x00\x01\x00", None),  # icons
    (b"MZ", None),
    (b"\x7fELF", None),
    (b"\xca\xfe\xba\xbe", None),
    (b"\xcf\xfa\xed\xfe", None),
    (b"\x00asm", None),
    (b"wOFF", None),
    (b"wOF2", None),
    (b"\x00\x01\x00\x00\x00", None),  # TrueType
    (b"OTTO", None),
    (b"7z\xbc\xaf\x27\x1c", None),
    (b"Rar!\x1a\x07", None),
    (b"BZh", None),
    (b"\xfd7zXZ\x00", None),
    (b"\x28\xb5\x2f\xfd", None),  # Zstandard
    (b"SQLite format 3\x00", None),
    (b"%!PS", None),
)

_BY_TYPE = {
    "application/pdf": "pdf",
    "application/rtf": "rtf",
    "text/rtf": "rtf",
    "application/msword": "doc",
    "application/vnd.ms-word.document.macroenabled.12": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-excel.sheet.macroenabled.12": "xlsx",
    "application/vnd.ms-excel.sheet.binary.macroenabled.12": "xlsb",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.ms-powerpoint.presentation.macroenabled.12": "pptx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.template": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.presentationml.slideshow": "pptx",
    "application/vnd.openxmlformats-officedocument.presentationml.template": "pptx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.text-template": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.spreadsheet-template": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.oasis.opendocument.presentation-template": "odp",
    "application/vnd.oasis.opendocument.graphics": "odg",
    "application/vnd.sun.xml.writer": "odt",
    "application/vnd.sun.xml.calc": "ods",
    "application/vnd.sun.xml.impress": "odp",
    "application/epub+zip": "epub",
    "application/vnd.ms-outlook": "msg",
    "application/vnd.ms-visio.drawing": "vsdx",
    "application/vnd.ms-xpsdocument": "xps",
    "application/oxps": "xps",
    "application/x-mspublisher": "pub",
    "application/onenote": "one",
    "application/vnd.wordperfect": "wpd",
    "message/rfc822": "eml",
    "application/mbox": "mbox",
    "application/zip": "zip",
    "application/x-zip-compressed": "zip",
    "application/java-archive": "zip",
    "application/gzip": "gz",
    "application/x-gzip": "gz",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/xml": "xml",
    "application/xml": "xml",
    "image/svg+xml": "xml",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "application/json": "json",
    "application/ld+json": "json",
    "application/x-ndjson": "json",
    "text/plain": "text",
    "text/css": "code",
    "text/javascript": "code",
    "application/javascript": "code",
    "application/x-javascript": "code",
    "application/x-sh": "code",
    "application/sql": "code",
    "application/x-yaml": "code",
    "application/toml": "code",
}

_CODE = (
    "ada asm awk bas bash bat c cc clj cmake cmd coffee conf cpp cs css cxx d dart diff el erl ex exs f f90 for fs go"
    " gradle groovy h hh hpp hs hxx ini java jl js jsx kt less lisp lua m make mak ml mm nim pas patch php pl pm"
    " properties proto ps1 py pyi r rb rs s scala scm scss sh sql swift tcl tex toml ts tsx v vb vbs vhdl yaml yml zig"
)
_BY_ENDING = {
    **dict.fromkeys(_CODE.split(), "code"),
    **dict.fromkeys(("txt", "text", "log", "nfo", "rst", "adoc", "org", "srt", "vtt", "ics", "vcf"), "text"),
    **dict.fromkeys(("md", "markdown", "mkd"), "markdown"),
    **dict.fromkeys(("csv", "tsv", "tab"), "csv"),
    **dict.fromkeys(("json", "jsonl", "ndjson", "geojson", "ipynb"), "json"),
    **dict.fromkeys(("xml", "xsd", "xsl", "xslt", "svg", "rdf", "owl", "fb2", "dif", "kml", "gpx"), "xml"),
    **dict.fromkeys(("html", "htm", "xhtml", "xht", "shtml"), "html"),
    **dict.fromkeys(("doc", "dot"), "doc"),
    **dict.fromkeys(("xls", "xlt", "xla"), "xls"),
    **dict.fromkeys(("ppt", "pps", "pot"), "ppt"),
    **dict.fromkeys(("docx", "docm", "dotx", "dotm"), "docx"),
    **dict.fromkeys(("xlsx", "xlsm", "xltx", "xltm"), "xlsx"),
    **dict.fromkeys(("pptx", "pptm", "ppsx", "ppsm", "potx", "potm"), "pptx"),
    **dict.fromkeys(("eml", "mht", "mhtml"), "eml"),
    **dict.fromkeys(("mbox", "mbx"), "mbox"),
    **{name: name for name in ("pdf", "rtf", "odt", "ods", "odp", "odg", "epub", "msg", "xlsb", "zip", "pub", "wpd")},
    **{name: name for name in ("one", "vsdx", "xps")},
    "gz": "gz",
    "oxps": "xps",
    "jar": "zip",
}
# Formats that have a magic number: whatever else is called so is something else.
_WITH_MAGIC = frozenset(
    {
        "pdf",
        "rtf",
        "doc",
        "xls",
        "ppt",
        "docx",
        "xlsx",
        "xlsb",
        "pptx",
        "odt",
        "ods",
        "odp",
        "odg",
        "epub",
        "msg",
        "pub",
    }
    | {"zip", "gz", "one", "wpd", "vsdx", "xps"}
)
_ZIPPED = frozenset({"docx", "xlsx", "xlsb", "pptx", "odt", "ods", "odp", "odg", "epub", "vsdx", "xps"})
_COMPOUND = frozenset({"doc", "xls", "ppt", "msg", "pub"})
_NEVER_TEXT = ("image/", "audio/", "video/", "font/")

# Names in a ZIP file that tell; the first that is there counts.
_IN_ZIP: tuple[tuple[bytes, str], ...] = (
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
_IWORK = re.compile(rb"(?<![\w/.-])index\.(?:xml|apxl)")
_MIMETYPE = re.compile(rb"mimetype(application/[a-z0-9.+-]+)")
# Names of streams in an OLE2 file, as its directory has them.
_IN_OLE: tuple[tuple[str, str], ...] = (
    ("WordDocument", "doc"),
    ("PowerPoint Document", "ppt"),
    ("Workbook", "xls"),
    ("Book", "xls"),
    ("__properties_version1.0", "msg"),
    ("Quill", "pub"),
)
_MAIL_FIELD = re.compile(rb"[A-Za-z][A-Za-z0-9-]{1,60}:[ \t\r\n]")
_MAIL_TELLS = re.compile(
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
    """The short name of the format; None if it is nothing that we read.

    >>> format_of(b"%PDF-1.7", "http://example.com/a.doc", "text/html"), format_of(b"GIF89a", "http://example.com/a.txt")
    ('pdf', None)
    """
    beginning = body[:SNIFFED]
    declared, ending = declared_format(content_type), _BY_ENDING.get(_ending(url))
    start = beginning.lstrip(b"\xef\xbb\xbf \t\r\n\0")
    for magic, found in _MAGIC:
        if (beginning.startswith(magic) or start.startswith(magic)) and (len(magic) > 2 or b"\0" in beginning):
            if found is None:
                return None
            return _contained(found, body, declared or ending) if found in ("zip", "ole") else found
    if b"%PDF-" in beginning[:1_024] and "pdf" in (declared, ending):
        return "pdf"
    if beginning[4:8] == b"ftyp":
        return None
    if beginning[257:262] == b"ustar":
        return "tar"
    return _text_format(body, beginning, content_type, declared, ending)


def declared_format(content_type: str | None) -> str | None:
    """What its label calls it, if that means anything to us.

    >>> declared_format("Text/CSV; charset=x"), declared_format("application/octet-stream")
    ('csv', None)
    """
    essence = (content_type or "").partition(";")[0].partition(",")[0].strip().lower()
    found = _BY_TYPE.get(essence)
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
    """Of what has no mark of its own."""
    if not beginning or not _is_text(beginning):
        return None
    if declared == "html":
        return "html"
    if _XML.match(beginning) or beginning.startswith(_XML_16):
        return _xml_format(beginning)
    if declared is None and ending in (None, "html") and looks_like_html(body, None):
        return "html"
    if _MAILBOX.match(beginning):
        return "mbox"
    if declared in (None, "text", "eml", "mbox") and ending in (None, "text", "eml", "mbox") and _is_mail(beginning):
        return "eml"
    if declared not in (None, "text") and declared not in _WITH_MAGIC:
        return declared
    if declared is None and (content_type or "").lower().startswith(_NEVER_TEXT):
        return None
    if ending is not None and ending not in _WITH_MAGIC:
        return ending
    return "html" if declared is None and looks_like_html(body, None) else "text"


def _is_text(beginning: bytes) -> bool:
    if beginning.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    odd = len(beginning) - len(beginning.translate(None, _NOT_TEXT))
    return odd * 100 <= len(beginning)  # a stray control character makes nothing of a text


def _is_mail(beginning: bytes) -> bool:
    head = beginning.lstrip()
    return _MAIL_FIELD.match(head) is not None and len(set(_MAIL_TELLS.findall(head))) >= 2


def _xml_format(beginning: bytes) -> str:
    """XML that is an office document."""
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


def _ending(url: str) -> str:
    """In lower case, without the dot."""
    path = url.partition("#")[0].partition("?")[0]
    return path.rpartition("/")[2].rpartition(".")[2][:10].lower() if "." in path else ""


def _contained(found: str, body: bytes, called: str | None) -> str:
    """What is in a container; if it does not tell, for its directory is lost, what it is called."""
    inside = _in_zip(body) if found == "zip" else _in_ole(body)
    is_lost = found == "ole" or b"PK\x05\x06" not in body
    kinds = _ZIPPED if found == "zip" else _COMPOUND
    return called if inside == found and is_lost and called in kinds else inside


def _in_zip(body: bytes) -> str:
    """By the type that the first member says, else by the names of members."""
    typed = _MIMETYPE.search(body[:200])
    if typed is not None and (found := _BY_TYPE.get(typed[1].decode("ascii"))) is not None:
        return found
    # The directory at the end has all names; so have the headers before the data, if the end is missing.
    end = body.rfind(b"PK\x05\x06")
    start = max(end - int.from_bytes(body[end + 12 : end + 16], "little"), 0) if end >= 0 else 0
    directory = body[start:]
    is_package = b"[Content_Types].xml" in directory
    for name, found in _IN_ZIP:
        if name in directory and (is_package or end < 0 or found in ("epub", "xps")):
            return found
    is_iwork = b"QuickLook/" in directory and _IWORK.search(directory) is not None
    return "iwork" if is_iwork else "zip"


def _in_ole(body: bytes) -> str:
    from crawler.parse.documents.compound import top_names

    names = top_names(body)
    return next((found for name, found in _IN_OLE if name.lower() in names), "ole")
