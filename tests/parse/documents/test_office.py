"""Office documents are converted with their headings, formatting, links and all their text."""

import doctest

import pytest

from crawler.parse.documents import Problem, cell_format, convert, numbering, sheets
from crawler.parse.documents.cell_format import format_value
from crawler.parse.documents.numbering import Counters, NumberingLevel
from tests.parse.documents.files import (
    DRAWING,
    RELATIONS,
    SHEET,
    WORD,
    docx,
    epub,
    odt,
    paragraph,
    pptx,
    relations,
    shape,
    slide,
    xlsx,
    zipped,
)

STYLES = (
    f'<w:styles xmlns:w="{WORD}"><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Mine"><w:name w:val="mine"/><w:basedOn w:val="H1"/></w:style>'
    '<w:style w:styleId="Loop"><w:name w:val="loop"/><w:basedOn w:val="Loop"/></w:style></w:styles>'
)
NUMBERS = (
    f'<w:numbering xmlns:w="{WORD}"><w:abstractNum w:abstractNumId="0">'
    '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>'
    "</w:abstractNum>"
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/>'
    "</w:lvl></w:abstractNum>"
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/>'
    "</w:lvlOverride></w:num>"
    "</w:numbering>"
)


def story(name: str, text: str) -> str:
    return f'<w:{name} xmlns:w="{WORD}">{text}</w:{name}>'


def numbered(text: str, number: int, depth: int = 0) -> str:
    return (
        f'<w:p><w:pPr><w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr></w:pPr>'
        f"<w:r><w:t>{text}</w:t></w:r></w:p>"
    )


def read(body: bytes):
    document = convert(body, "http://site.example/files/a")
    assert document.problem in (Problem.NONE, Problem.EMPTY)
    return document


def test_a_text_has_headings_and_formatting():
    body = paragraph("Spiders", "H1") + paragraph("Weavers", "Mine") + paragraph("strong", formatting="<w:b/>")
    body += paragraph("not", formatting='<w:b w:val="0"/>') + paragraph("same", "Loop")
    document = read(docx(body, {"word/styles.xml": STYLES}, ("s", "styles", "styles.xml")))
    lines = ["<h1>Spiders</h1>", "<h1>Weavers</h1>", "<p><b>strong</b></p>", "<p>not</p>", "<p>same</p>"]
    assert document.html.split("\n") == lines
    assert document.title == "Spiders"
    assert document.metadata["author"] == "Ann"
    assert document.metadata["created"] == "2026-01-02T03:04:05Z"


def test_the_title_property_comes_before_headings():
    assert read(docx(paragraph("Spiders", "Heading1"), title="The book")).title == "The book"


@pytest.mark.parametrize(
    ("part", "kind", "root", "where"),
    [
        ("header1.xml", "header", "hdr", 0),
        ("footer1.xml", "footer", "ftr", -1),
        ("footnotes.xml", "footnotes", "footnotes", -1),
        ("comments.xml", "comments", "comments", -1),
    ],
)
def test_headers_footers_notes_and_comments_are_read(part, kind, root, where):
    document = read(docx(paragraph("Text"), {f"word/{part}": story(root, paragraph("Around"))}, ("r9", kind, part)))
    assert sorted(document.text.split("\n")) == ["Around", "Text"]
    assert document.text.split("\n")[where] == "Around"
    assert f'<section data-part="{kind}">' in document.html


def test_links_of_a_text():
    body = (
        '<w:p><w:hyperlink r:id="l1"><w:r><w:t>related</w:t></w:r></w:hyperlink></w:p>'
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r>'
        '<w:instrText> HYPERLINK "http://b.example/field" </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>field</w:t></w:r><w:r>'
        '<w:fldChar w:fldCharType="end"/></w:r></w:p>'
        '<w:p><w:fldSimple w:instr="HYPERLINK &quot;other.html&quot;"><w:r><w:t>simple</w:t></w:r></w:fldSimple></w:p>'
        '<w:p><w:fldSimple w:instr="INCLUDEPICTURE &quot;http://b.example/p.png&quot;"/></w:p>'
    )
    document = read(
        docx(
            body, {}, ("l1", "hyperlink", "http://a.example/one"), ("t", "attachedTemplate", "http://c.example/t.dotx")
        )
    )
    assert document.links == [
        ("http://a.example/one", "related"),
        ("http://b.example/field", "field"),
        ("http://site.example/files/other.html", "simple"),
        ("http://b.example/p.png", "http://b.example/p.png"),
        ("http://c.example/t.dotx", "http://c.example/t.dotx"),
    ]


def test_text_boxes_are_read_once_and_deleted_text_is_not():
    box = f"<w:txbxContent>{paragraph('In a box')}</w:txbxContent>"
    body = (
        '<w:p><w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<mc:Choice>{box}</mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
        "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins></w:p>"
    )
    assert read(docx(body)).text == "new\nIn a box"


def test_tables_are_rows():
    cells = "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("a", "b"))
    document = read(docx(f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"))
    assert (document.html, document.text) == ("<table>\n<tr><td>a</td><td>b</td></tr>\n</table>", "a\tb")


def test_numbers_before_paragraphs_are_counted():
    items = [("one", 1, 0), ("sub", 1, 1), ("sub", 1, 1), ("two", 1, 0), ("sub", 1, 1), ("anew", 3, 0), ("point", 2, 0)]
    document = read(
        docx(
            "".join(numbered(*item) for item in items),
            {"word/numbering.xml": NUMBERS},
            ("n", "numbering", "numbering.xml"),
        )
    )
    assert document.text.split("\n") == ["1. one", "1.a) sub", "1.b) sub", "2. two", "2.a) sub", "7. anew", "point"]
    assert "<ul>\n<li>point</li>\n</ul>" in document.html


def test_charts_and_embedded_files_are_read():
    chart = (
        '<c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:ser><c:tx><c:v>Flies</c:v></c:tx>'
        "<c:cat><c:v>May</c:v><c:v>June</c:v></c:cat><c:val><c:v>3</c:v><c:v>4</c:v></c:val></c:ser></c:chart>"
    )
    more = {
        "word/charts/chart1.xml": chart,
        "word/embeddings/in.docx": docx(paragraph("Inside")),
        "word/vbaProject.bin": b"x",
    }
    document = read(docx(paragraph("Text"), more, ("c", "chart", "charts/chart1.xml")))
    assert document.text.split("\n") == ["Text", "Flies\tMay\tJune", "Flies\t3\t4", "in.docx", "Inside"]
    assert (document.metadata["embedded"], document.metadata["has_macro"]) == ("in.docx", "true")


def test_cells_are_formatted_as_excel_shows_them():
    styles = (
        '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="4"/></cellXfs>'
    )
    rows = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>inline</t></is></c></row>'
        '<row r="2"><c r="A2" s="1"><v>44197</v></c><c r="B2" s="2"><v>1234.5</v></c><c r="C2"><v>0.1</v></c>'
        '<c r="D2" t="b"><v>1</v></c><c r="E2" t="str"><v>made</v></c></row>'
    )
    document = read(xlsx(rows, "<si><r><t>Fl</t></r><r><t>ies</t></r><rPh><t>no</t></rPh></si>", styles))
    assert document.text.split("\n") == ["Stock", "Flies\t\tinline", "2021-01-01\t1,234.50\t0.1\tTRUE\tmade", "Top of"]
    assert '<section data-sheet="Stock">' in document.html


def test_a_sheet_has_links_and_comments():
    comments = (
        f'<comments xmlns="{SHEET}"><commentList><comment><text><t>Really?</t></text></comment>'
        f"</commentList></comments>"
    )
    body = xlsx(
        '<row r="1"><c r="A1" t="inlineStr"><is><t>here</t></is></c></row>',
        more={
            "xl/worksheets/_rels/sheet1.xml.rels": relations(
                ("h", "hyperlink", "http://a.example/x"), ("c", "comments", "../comments1.xml")
            ),
            "xl/comments1.xml": comments,
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEET}" xmlns:r="{RELATIONS}"><sheetData>'
            f'<row r="1"><c r="A1" t="inlineStr">'
            '<is><t>here</t></is></c></row></sheetData><hyperlinks><hyperlink ref="A1" r:id="h"/></hyperlinks>'
            "</worksheet>",
        },
    )
    document = read(body)
    assert document.links == [("http://a.example/x", "here")]
    assert document.text.split("\n") == ["Stock", "here", "Really?"]


def test_slides_have_titles_notes_and_tables():
    notes = slide(shape("Say this"))
    table = (
        "<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>a</a:t></a:r></a:p></a:txBody></a:tc>"
        "<a:tc><a:txBody><a:p><a:r><a:t>b</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>"
    )
    layout = slide(shape("Click to edit", "body") + shape("Footer", "ftr") + shape("Logo"))
    document = read(
        pptx(
            shape("Spiders", "title") + f"<p:grpSp>{shape('In a group')}</p:grpSp>" + table,
            {"ppt/notesSlides/n1.xml": notes, "ppt/slideLayouts/l1.xml": layout},
            ("n", "notesSlide", "../notesSlides/n1.xml"),
            ("l", "slideLayout", "../slideLayouts/l1.xml"),
        )
    )
    assert document.text.split("\n") == ["Spiders", "In a group", "a\tb", "Say this", "Footer", "Logo"]
    assert document.html.startswith('<section data-slide="1">\n<h2>Spiders</h2>')
    assert (document.title, document.metadata["slides"]) == ("Spiders", "1")


def test_links_of_slides():
    linked = (
        f'<p:sp xmlns:a="{DRAWING}"><p:txBody><a:p><a:r><a:rPr b="1"><a:hlinkClick r:id="h"/></a:rPr>'
        f"<a:t>go</a:t></a:r></a:p>"
        "</p:txBody></p:sp>"
    )
    document = read(pptx(linked, {}, ("h", "hyperlink", "http://a.example/go")))
    assert document.links == [("http://a.example/go", "go")]
    assert '<a href="http://a.example/go"><b>go</b></a>' in document.html


def test_opendocument_texts():
    body = (
        '<text:h text:outline-level="2">Spiders</text:h><text:p>Some<text:s text:c="2"/>'
        '<text:span text:style-name="T1">bold</text:span>'
        '<text:a xlink:href="http://a.example/odt">link</text:a><text:note><text:note-body><text:p>Note</text:p>'
        "</text:note-body></text:note></text:p>"
        "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
        '<table:table table:name="t"><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>'
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
    )
    document = read(
        odt(body, "<style:master-page><style:footer><text:p>Foot</text:p></style:footer></style:master-page>")
    )
    assert document.text.split("\n") == ["Spiders", "Some  boldlink", "Note", "item", "a\tb", "Foot"]
    assert "<h2>Spiders</h2>\n<p>Some  <b>bold</b>" in document.html
    assert (document.title, document.metadata["author"]) == ("On spiders", "Ann")
    assert document.links == [("http://a.example/odt", "link")]


def test_filler_rows_and_cells_of_opendocument_sheets_are_not_repeated():
    body = (
        '<table:table table:name="S"><table:table-row table:number-rows-repeated="2"><table:table-cell>'
        "<text:p>x</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1048574"><table:table-cell/></table:table-row></table:table>'
    )
    assert read(odt(body, kind="spreadsheet")).text == "S\nx\nx"


def test_opendocument_slides():
    body = (
        '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Spiders</text:p>'
        "</draw:text-box></draw:frame>"
        "<draw:frame><draw:text-box><text:p>words</text:p></draw:text-box></draw:frame>"
        "<presentation:notes><draw:frame><draw:text-box><text:p>note</text:p></draw:text-box></draw:frame>"
        "</presentation:notes></draw:page>"
    )
    document = read(odt(body, kind="presentation"))
    assert document.text == "Spiders\nwords\nnote"
    assert document.html.startswith('<section data-slide="1">\n<h2>Spiders</h2>')


def test_chapters_are_read_in_the_order_of_the_spine():
    document = read(epub({"b.xhtml": "<h1>First</h1><p>words", "a.xhtml": "<h1>Second</h1>"}))
    assert document.text == "First\nwords\nSecond"
    assert (document.title, document.metadata["author"], document.metadata["chapters"]) == ("A book", "Ann", "2")


def test_an_encrypted_opendocument_is_reported():
    manifest = '<manifest:file-entry xmlns:manifest="x"><manifest:encryption-data/></manifest:file-entry>'
    document = convert(odt("", more={"META-INF/manifest.xml": manifest}), "http://a.example/")
    assert (document.problem, document.metadata["encrypted"]) == (Problem.ENCRYPTED, "true")


def test_a_flat_file_of_word():
    flat = (
        '<?xml version="1.0"?><pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">'
        f"{story('body', paragraph('Flat'))}</pkg:package>"
    )
    document = read(flat.encode())
    assert (document.format, document.text) == ("docx-flat", "Flat")


def test_a_workbook_of_2003():
    rows = '<Row><Cell><Data>a</Data></Cell><Cell ss:Index="3"><Data>b</Data></Cell></Row>'
    book = (
        '<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"'
        ' xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">'
        f'<Worksheet ss:Name="One"><Table>{rows}</Table></Worksheet></Workbook>'
    )
    assert read(book.encode()).text == "One\na\t\tb"


def test_drawings_of_visio_and_pages_of_xps():
    vsdx = zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "visio/document.xml": "<VisioDocument/>",
            "visio/pages/pages.xml": f'<Pages xmlns:r="{RELATIONS}"><Page Name="Plan"><Rel r:id="r1"/></Page></Pages>',
            "visio/pages/_rels/pages.xml.rels": relations(("r1", "page", "page1.xml")),
            "visio/pages/page1.xml": "<PageContents><Shape><Text>Web<cp/>bing</Text></Shape></PageContents>",
        }
    )
    xps = zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "FixedDocSeq.fdseq": "<x/>",
            "Documents/1/Pages/1.fpage": '<FixedPage><Glyphs OriginY="1" UnicodeString="two"/>'
            '<Glyphs OriginY="1" UnicodeString="words"/>'
            '<Glyphs OriginY="2" UnicodeString="line"/></FixedPage>',
        }
    )
    assert (read(vsdx).format, read(vsdx).text) == ("vsdx", "Plan\nWebbing")
    assert (read(xps).format, read(xps).text) == ("xps", "two words\nline")


@pytest.mark.parametrize(
    ("value", "pattern", "text"),
    [
        (1234567.891, "#,##0", "1,234,568"),
        (0.5, "0.0%", "50.0%"),
        (12345.678, "0.00E+00", "1.23E+04"),
        (5, "000", "005"),
        (1500, "0.0,", "1.5"),
        (-3, "0;(0);zero", "(3)"),
        (0, '0;(0);"none"', "none"),
        (12, '"No. "0', "No. 12"),
        (3.5, "[Red]$0.00", "$3.50"),
        (3.5, "[$€-407] 0.00", "€ 3.50"),
        (44197, "m/d/yy", "1/1/21"),
        (44197.5, "d-mmm-yyyy h:mm AM/PM", "1-Jan-2021 12:00 PM"),
        (0.75, "h:mm:ss", "18:00:00"),
        (1.5, "[h]:mm", "36:00"),
        (44197.0, "dddd, mmmm dd", "Friday, January 01"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (-1, "yyyy-mm-dd", "-1"),
        (0.25, "# ?/?", "0.25"),
        (7.0, "@", "7"),
        (2.5, "0.##", "2.5"),
        (2.0, "0.##", "2"),
    ],
)
def test_number_formats(value, pattern, text):
    assert format_value(value, pattern) == text


def test_dates_may_count_from_1904():
    assert format_value(0, "yyyy-mm-dd", since_1904=True) == "1904-01-01"


def test_numbering_levels_restart_unless_defined_otherwise():
    levels = {
        0: NumberingLevel("upperRoman", "%1"),
        1: NumberingLevel("decimal", "%1-%2", restarts=False),
        2: NumberingLevel("decimal", "%1.%3", is_legal=True),
    }
    counters = Counters(levels)
    assert [counters.next(depth) for depth in (0, 1, 0, 1, 2)] == ["I", "I-1", "II", "II-2", "2.1"]


@pytest.mark.parametrize("module", [cell_format, numbering, sheets])
def test_the_examples_hold(module):
    assert doctest.testmod(module).failed == 0
