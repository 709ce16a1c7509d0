"""Tables of formats by magic number, content type and file extension."""

from __future__ import annotations

# Magic numbers; None: a format that is not read here.
MAGIC: tuple[tuple[bytes, str | None], ...] = (
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

BY_TYPE = {
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
BY_EXTENSION = {
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
# Formats in ZIP and in OLE2 containers, and all that have a magic number: a file that is declared as one of these but
# does not begin with it is in another format.
ZIPPED = frozenset(["docx", "xlsx", "xlsb", "pptx", "odt", "ods", "odp", "odg", "epub", "vsdx", "xps"])
COMPOUND = frozenset(["doc", "xls", "ppt", "msg", "pub"])
WITH_MAGIC = ZIPPED | COMPOUND | frozenset(["pdf", "rtf", "zip", "gz", "one", "wpd"])
