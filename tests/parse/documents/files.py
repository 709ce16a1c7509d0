"""Builders of small valid files of each format."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Mapping

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
CONTENT_TYPES = f'<Types xmlns="{PACKAGE}/content-types"/>'


def zipped(files: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            head = tarfile.TarInfo(name)
            head.size = len(data)
            archive.addfile(head, io.BytesIO(data))
    return buffer.getvalue()


def relations(*related: tuple[str, str, str]) -> str:
    """A part with relationships of (id, kind, target); a target with a scheme is external."""
    rows = "".join(
        f'<Relationship Id="{identity}" Type="{RELATIONS}/{kind}" Target="{target}"'
        f"{' TargetMode=' + chr(34) + 'External' + chr(34) if ':' in target else ''}/>"
        for identity, kind, target in related
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{rows}</Relationships>'


def core(title: str = "", author: str = "") -> str:
    return (
        f'<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"'
        f' xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>{title}</dc:title><dc:creator>{author}</dc:creator>'
        "<dcterms:created>2026-01-02T03:04:05Z</dcterms:created></cp:coreProperties>"
    )


def docx(
    body: str, more: Mapping[str, str | bytes] | None = None, *related: tuple[str, str, str], title: str = ""
) -> bytes:
    return zipped(
        {
            "[Content_Types].xml": CONTENT_TYPES,
            "_rels/.rels": relations(("r1", "officeDocument", "word/document.xml")),
            "docProps/core.xml": core(title, "Ann"),
            "word/document.xml": (
                f'<w:document xmlns:w="{WORD}" xmlns:r="{RELATIONS}"><w:body>{body}</w:body></w:document>'
            ),
            "word/_rels/document.xml.rels": relations(*related),
            **(more or {}),
        }
    )


def paragraph(text: str, style: str = "", formatting: str = "") -> str:
    style = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    formatting = f"<w:rPr>{formatting}</w:rPr>" if formatting else ""
    return f'<w:p>{style}<w:r>{formatting}<w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def xlsx(rows: str, strings: str = "", styles: str = "", more: Mapping[str, str | bytes] | None = None) -> bytes:
    return zipped(
        {
            "[Content_Types].xml": CONTENT_TYPES,
            "_rels/.rels": relations(("r1", "officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{RELATIONS}"><sheets>'
            '<sheet name="Stock" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations(
                ("r1", "worksheet", "worksheets/sheet1.xml"), ("r2", "sharedStrings", "sharedStrings.xml"),
                ("r3", "styles", "styles.xml"),
            ),
            "xl/sharedStrings.xml": f'<sst xmlns="{SHEET}">{strings}</sst>',
            "xl/styles.xml": f'<styleSheet xmlns="{SHEET}">{styles}</styleSheet>',
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEET}" xmlns:r="{RELATIONS}"><sheetData>{rows}'
f'</sheetData>'
            "<headerFooter><oddHeader>&amp;CTop of &amp;P</oddHeader></headerFooter></worksheet>",
            **(more or {}),
        }
    )  # fmt: skip


def pptx(shapes: str, more: Mapping[str, str | bytes] | None = None, *related: tuple[str, str, str]) -> bytes:
    return zipped(
        {
            "[Content_Types].xml": CONTENT_TYPES,
            "_rels/.rels": relations(("r1", "officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f'<p:presentation xmlns:p="{SLIDE}" xmlns:r="{RELATIONS}"><p:sldIdLst>'
            '<p:sldId id="256" r:id="r1"/></p:sldIdLst></p:presentation>',
            "ppt/_rels/presentation.xml.rels": relations(("r1", "slide", "slides/slide1.xml")),
            "ppt/slides/slide1.xml": slide(shapes),
            "ppt/slides/_rels/slide1.xml.rels": relations(*related),
            **(more or {}),
        }
    )


def slide(shapes: str) -> str:
    return (
        f'<p:sld xmlns:p="{SLIDE}" xmlns:a="{DRAWING}" xmlns:r="{RELATIONS}"><p:cSld><p:spTree>{shapes}'
        f"</p:spTree></p:cSld>"
        "</p:sld>"
    )


def shape(text: str, kind: str = "") -> str:
    placeholder = f'<p:ph type="{kind}"/>' if kind else ""
    return (
        f"<p:sp><p:nvSpPr><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{text}</a:t>"
        f"</a:r></a:p></p:txBody></p:sp>"
    )


def odt(body: str, styles: str = "", kind: str = "text", more: Mapping[str, str | bytes] | None = None) -> bytes:
    spaces = (
        f'xmlns:office="{OFFICE}" xmlns:text="{TEXT}" xmlns:xlink="http://www.w3.org/1999/xlink"'
        ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
        'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
        ' xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"'
        ' xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'
        ' xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0"'
        ' xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"'
    )
    names = {"text": "text", "spreadsheet": "spreadsheet", "presentation": "presentation"}
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {spaces}><office:automatic-styles>"
            '<style:style style:name="T1"><style:text-properties fo:font-weight="bold"/></style:style>'
            f"</office:automatic-styles><office:body><office:{names[kind]}>{body}</office:{names[kind]}></office:body>"
            "</office:document-content>",
            "styles.xml": f"<office:document-styles {spaces}><office:master-styles>{styles}</office:master-styles>"
            "</office:document-styles>",
            "meta.xml": f"<office:document-meta {spaces}><office:meta><dc:title>On spiders</dc:title>"
            "<meta:initial-creator>Ann</meta:initial-creator></office:meta></office:document-meta>",
            **(more or {}),
        },
        zipfile.ZIP_STORED,
    )


def epub(chapters: Mapping[str, str]) -> bytes:
    items = "".join(f'<item id="c{number}" href="{name}"/>' for number, name in enumerate(chapters))
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": (
                '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
            ),
            "OPS/book.opf": '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>A book</dc:title>'
            f"<dc:creator>Ann</dc:creator></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"OPS/{name}": text for name, text in chapters.items()},
        },
        zipfile.ZIP_STORED,
    )


def pdf(
    pages: list[list[tuple[int, int, str]]], *, more: str = "", annotations: str = "", is_compressed: bool = False
) -> bytes:
    """A PDF of pages, each a list of lines of (font size, height on the page, text)."""
    objects = {1: f"<</Type/Catalog/Pages 2 0 R{more}>>", 3: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"}
    kids = []
    for number, lines in enumerate(pages):
        page, content = 10 + 2 * number, 11 + 2 * number
        kids.append(f"{page} 0 R")
        objects[page] = (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>/Contents {content} 0 R"
            f"{annotations}>>"
        )
        data = "".join(f"BT /F1 {size} Tf 50 {height} Td ({text}) Tj ET\n" for size, height, text in lines).encode(
            "latin-1"
        )
        stream = zlib.compress(data) if is_compressed else data
        kind = "/Filter/FlateDecode" if is_compressed else ""
        objects[content] = f"<</Length {len(stream)}{kind}>>\nstream\n{stream.decode('latin-1')}\nendstream"
    objects[2] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(kids)}]>>"
    objects[4] = "<</Title(A paper)/Author(Ann)/CreationDate(D:20260102030405Z)>>"
    return assembled(objects)


def pdf_with_circular_outline() -> bytes:
    """A PDF with a bookmark that comes after, and below, itself."""
    return assembled(
        {
            1: "<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>",
            2: "<</Type/Pages/Count 1/Kids[3 0 R]>>",
            3: "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]>>",
            4: "<</First 5 0 R/Last 5 0 R>>",
            5: "<</Title(A bookmark)/Parent 4 0 R/First 6 0 R/Last 6 0 R/Next 5 0 R>>",
            6: "<</Title(Another)/Parent 5 0 R/First 5 0 R>>",
        },
        trailer="",
    )


def assembled(objects: Mapping[int, str], trailer: str = "/Info 4 0 R") -> bytes:
    body, offsets = b"%PDF-1.7\n", {}
    for number, text in sorted(objects.items()):
        offsets[number] = len(body)
        body += f"{number} 0 obj\n{text}\nendobj\n".encode("latin-1")
    table = "xref\n0 1\n0000000000 65535 f \n" + "".join(
        f"{number} 1\n{offset:010} 00000 n \n" for number, offset in offsets.items()
    )
    end = f"trailer\n<</Root 1 0 R/Size {max(objects) + 1}{trailer}>>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + table.encode() + end.encode()


MESSAGE = (
    b"From: Ann <ann@a.example>\r\nTo: Bob <bob@b.example>\r\nSubject: =?utf-8?B?R3LDvMOfZQ==?=\r\n"
    b"Date: Fri, 02 Jan 2026 03:04:05 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=cut\r\n\r\n"
    b"--cut\r\nContent-Type: multipart/alternative; boundary=or\r\n\r\n"
    b"--or\r\nContent-Type: text/plain\r\n\r\nplain words\r\n"
    b"--or\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    b'<p>rich <b>words</b> <a href="http://a.example/x">here</a><script>bad()</script>\r\n--or--\r\n'
    b'--cut\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename="list.csv"\r\n\r\n'
    b"name;age\r\nCleo;7\r\n--cut--\r\n"
)
RTF = (
    rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}{\stylesheet{\s1 heading "
    rb"1;}{\s0 Normal;}}"
    rb"{\info{\title A letter}{\author Ann}{\creatim\yr2026\mo1\dy2\hr3\min4}}"
    rb"{\pard\s1 Spiders\par}\pard Some {\b bold} and caf\'e9 \u8364? {\f1\'c4\'e0}"
    rb'{\field{\*\fldinst HYPERLINK "http://a.example/rtf"}{\fldrslt here}}\par'
    rb"\pard\intbl one\cell two\cell\row\pard after\par}"
)
SAMPLES = {
    "a.docx": docx(paragraph("Some words of a text."), title="A text"),
    "a.xlsx": xlsx('<row r="1"><c r="A1" t="s"><v>0</v></c></row>', "<si><t>Some words of a sheet.</t></si>"),
    "a.pptx": pptx(shape("A slide", "title") + shape("Some words of a slide.")),
    "a.odt": odt("<text:h text:outline-level='1'>A text</text:h><text:p>Some words of a text.</text:p>"),
    "a.epub": epub({"one.xhtml": "<html><body><h1>One</h1><p>Some words of a book.</p></body></html>"}),
    "a.pdf": pdf([[(12, 700, "Some words of a page.")], [(12, 700, "And of another.")]]),
    "a.rtf": RTF,
    "a.eml": MESSAGE,
    "a.mbox": b"From ann Fri Jan  2 03:04:05 2026\r\n" + MESSAGE,
    "a.zip": zipped({"one.txt": "Some words of a file.", "two.docx": docx(paragraph("Inner words."))}),
    "a.tar": tarred({"one.txt": b"Some words of a file."}),
    "a.txt.gz": gzip.compress(b"Some words of a text.", mtime=0),
    "a.csv": b"name,age\nCleo,7\n",
    "a.md": b"# Title\n\nSome **words** and [a link](http://a.example/).\n\n- one\n- two\n",
    "a.xml": b"<?xml version='1.0'?><list><title>Things</title><item>one</item></list>",
    "a.txt": b"Some words of a text.\n\nAnd more at http://a.example/more.",
    "a.py": b"def hello():\n    return '<world>'\n",
    "a.html": b"<title>Page</title><h1>Head</h1><p>Words <b>bold</b></p>",
}
