"""HTML pages are parsed as browsers parse them, however they are written."""

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.parse import html
from crawler.parse.html import Html, Reading, looks_like_html, parse_html

URL = "http://example.com/dir/page"

PAGE = """<!DOCTYPE html>
<html lang="en-GB"><head><title>Spiders &amp;
   webs</title>
<link rel="canonical" href="/spiders"><link rel="stylesheet" href="/style.css">
<link rel="alternate" hreflang="de" href="/de/spinnen"><link rel="NEXT" href="?page=2">
<meta name="robots" content="noindex"></head>
<body><nav><a href="/">Home</a> <a href="/about">About</a></nav>
<main><h1>Spiders</h1><p>The orb-weaver builds <a href="web.html#radius">a
 round <b>web</b></a> every evening, and eats it in the morning. It waits in the middle, upside down,
with its feet on the radii, and feels whatever touches the threads.</p>
<p>See the <a href="https://other.test/x" rel="Nofollow ugc">other site</a>.</p></main>
<script>document.write('<a href="/script">no</a>')</script><style>a { color: red }</style>
<!-- <a href="/comment">no</a> --><template><a href="/template">no</a><p>no</p></template>
<map><area href="/area" alt="An area"></map><iframe src="/frame" title="A frame"></iframe>
</body></html>"""


def test_a_page():
    page = parse_html(PAGE.encode(), URL, "text/html; charset=utf-8")
    assert page.title == "Spiders & webs"
    assert (page.language, page.metadata.language_declared) == ("en", "en-GB")
    assert page.canonical == "http://example.com/spiders"
    assert (page.noindex, page.nofollow) == (True, False)
    assert page.encoding == "UTF-8"
    assert page.problem == ""
    assert [link.url for link in page.links[:3]] == [
        "http://example.com/de/spinnen",
        "http://example.com/dir/page?page=2",
        "http://example.com/",
    ]


def test_text_is_what_readers_see():
    page = parse_html(PAGE.encode(), URL)
    assert "The orb-weaver builds a round web every evening" in page.all_text
    assert "The orb-weaver builds a round web every evening" in page.main_text
    assert "Home" in page.all_text
    assert "Home" not in page.main_text
    for hidden in ("document.write", "color", "comment", "template", "no\n"):
        assert hidden not in page.all_text


def test_blocks_are_lines_and_inline_markup_does_not_split_words():
    markup = b"<table><tr><td>one<td>two</table><ul><li>a<li>b</ul><p>H<b>e</b>llo<br>world"
    assert parse_html(markup, URL).all_text == "one two\na\nb\nHello world"


def test_a_page_without_a_main_part_is_all_main():
    assert parse_html(b"<a href=/>short</a>", URL).main_text == "short"


def test_an_empty_body_is_an_empty_page():
    assert parse_html(b"", URL) == Html(encoding="windows-1252", encoding_source="fallback")


def test_an_svg_title_is_not_the_title():
    assert parse_html(b"<svg><title>Icon</title></svg><title>Page</title>", URL).title == "Page"


@pytest.mark.parametrize(
    ("content", "noindex", "nofollow"),
    [
        ("noindex", True, False),
        ("NOFOLLOW", False, True),
        ("none", True, True),
        ("index , follow", False, False),
        ("noindex,nofollow", True, True),
        ("noindexing", False, False),
        ("", False, False),
    ],
)
def test_meta_robots(content, noindex, nofollow):
    page = parse_html(f'<meta name="Robots" content="{content}">'.encode(), URL)
    assert (page.directives.noindex, page.directives.nofollow) == (noindex, nofollow)


def test_several_robots_tags_add_up_and_those_for_others_do_not_count():
    page = parse_html(
        b"<meta name=robots content=noindex><meta name=otherbot content=nofollow><meta name=robots content=nofollow>",
        URL,
    )
    assert (page.directives.noindex, page.directives.nofollow) == (True, True)
    page = parse_html(b"<meta name=otherbot content=none>", URL)
    assert (page.directives.noindex, page.directives.nofollow) == (False, False)


def test_control_characters_are_removed():
    page = parse_html(b"<title>a\0b&#1;c&#x9;d</title><a href=/x>e\0f&#2;g&#127;</a><p>h\0i&#3;j\x1b[0m\xc2\x85", URL)
    for text in (page.title, page.links[0].anchor, page.all_text, page.main_text):
        assert all(character == "\n" or character >= " " for character in text)
        assert not any("\x7f" <= character <= "\x9f" for character in text)
    assert page.title == "a\ufffdbc d"


def test_a_page_is_decoded_as_its_meta_declares():
    page = parse_html("<meta charset=windows-1251><title>Паук</title>".encode("cp1251"), URL)
    assert (page.title, page.encoding) == ("Паук", "windows-1251")


# ── hostile pages ──


def test_a_wide_cell_does_not_lengthen_the_text():
    markup = "<table><tr><td>" + "x" * 100_000 + "<td>y</tr>" + "<tr><td>a<td>b</tr>" * 2_000 + "</table>"
    page = parse_html(markup.encode(), URL)
    assert len(page.all_text) + len(page.main_text) < 2 * len(markup)


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"", "text/html", True),
        (b"%PDF", "TEXT/HTML ; charset=utf-8", True),
        (b"", "application/xhtml+xml", True),
        (b"<html>", "text/plain", False),
        (b"<html>", "application/json", False),
        (b"<!DOCTYPE html>", None, True),
        (b"<!doctype HTML public>", "", True),
        (b"\xef\xbb\xbf \n<HTML lang=en>", None, True),
        ("\ufeff<html>".encode("utf-16-le"), None, True),
        (b"<!-- a --> <!-- b --><head>", None, True),
        (b"<?xml version='1.0'?><html>", None, True),
        (b"<p>text", "nonsense", True),
        (b"<aside-is-no-a", None, False),
        (b"<?xml version='1.0'?><rss>", None, False),
        (b"plain <p>", None, False),
        (b"", None, False),
        (b"\x89PNG", None, False),
        (b"<!---->" * 290 + b"x", None, False),
    ],
)
def test_looks_like_html(body, content_type, expected):
    assert looks_like_html(body, content_type) is expected


TOKENS = st.sampled_from(
    [
        *(
            "<a href=",
            "<base href=",
            "<meta http-equiv=refresh content=",
            "<meta name=robots content=",
            "<link rel=canonical href=",
        ),
        *(
            "<template>",
            "</template>",
            "<table>",
            "<td>",
            "<svg>",
            "<math>",
            "<title>",
            "</title>",
            "<select>",
            "<frameset>",
            "<p>",
        ),
        *(
            "<!--",
            "-->",
            "<![CDATA[",
            "<script>",
            "</script>",
            ">",
            "'",
            '"',
            "/x",
            "http://[",
            "//",
            "&#0;",
            "&#xD800;",
            "&amp",
            "\0",
        ),
        *(
            "é",
            "\ufeff",
            "text",
            " ",
            "\n",
            "</body>",
            "<plaintext>",
            "<html lang=\0x>",
            "<noscript>",
            "<iframe src=x>",
            "0;url=x",
        ),
    ]
)


@settings(deadline=None)
@given(
    st.lists(TOKENS, max_size=25).map(lambda tokens: "".join(tokens).encode()) | st.binary(),
    st.sampled_from([URL, "", "x:y", "http://\ud800"]),
    st.none() | st.text(),
)
def test_any_bytes_are_a_page(body, url, content_type):
    page = parse_html(body, url, content_type)
    assert looks_like_html(body, content_type) in (True, False)
    for text in (page.title, page.all_text, page.main_text, page.language, *(link.anchor for link in page.links)):
        assert "\0" not in text
        text.encode("utf-8")


def test_the_examples_are_true():
    assert doctest.testmod(html).failed == 0


@pytest.mark.parametrize(
    ("body", "is_login"),
    [
        ("<p>Welcome<form><input type=password></form>", True),
        ("<p>Welcome<form><input TYPE=Password></form>", True),
        ("<p>Welcome<form><input type=text></form>", False),
        ("<p>" + "many words " * 40 + "<form><input type=password></form>", False),
        ("<template><input type=password></template><p>Welcome", False),
    ],
)
def test_a_page_with_a_password_field_and_few_words_is_a_login(body: str, is_login: bool) -> None:
    assert parse_html(body.encode(), "http://a.test/").is_login is is_login


def test_pages_without_a_recorded_method_are_read_as_the_default_was() -> None:
    assert Reading().as_recorded("").extractor == "weighed"
    assert Reading(second="turbohtml").as_recorded("") == Reading(extractor="weighed", second="turbohtml")
    assert Reading(extractor="slope").as_recorded("") == Reading(extractor="slope")
    assert Reading(extractor="slope").as_recorded("trees 1 turbohtml 1") == Reading(second="turbohtml")
    assert Reading(extractor="slope").as_recorded("guess 1") == Reading(extractor="slope")
