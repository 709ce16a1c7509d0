"""A page is read as browsers read it, however it is written."""

import doctest
from html import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.parse import html
from crawler.parse.html import MOST_LINKS, Html, HtmlLink, looks_like_html, parse_html

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


def links_of(markup, url=URL):
    return [link.url for link in parse_html(markup.encode(), url).links]


def test_a_page():
    page = parse_html(PAGE.encode(), URL, "text/html; charset=utf-8")
    assert page.title == "Spiders & webs"
    assert page.language == "en-GB"
    assert page.canonical == "http://example.com/spiders"
    assert (page.noindex, page.nofollow) == (True, False)
    assert page.encoding == "UTF-8"
    assert page.problem == ""
    assert page.links == [
        HtmlLink("http://example.com/de/spinnen", "", "alternate"),
        HtmlLink("http://example.com/dir/page?page=2", "", "next"),
        HtmlLink("http://example.com/", "Home", ""),
        HtmlLink("http://example.com/about", "About", ""),
        HtmlLink("http://example.com/dir/web.html", "a round web", ""),
        HtmlLink("https://other.test/x", "other site", "nofollow ugc"),
        HtmlLink("http://example.com/area", "An area", ""),
        HtmlLink("http://example.com/frame", "A frame", ""),
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
    assert parse_html(markup, URL).all_text == "one\ntwo\na\nb\nHello\nworld"


def test_a_page_without_a_main_part_is_all_main():
    assert parse_html(b"<a href=/>short</a>", URL).main_text == "short"


def test_an_empty_body_is_an_empty_page():
    assert parse_html(b"", URL) == Html(encoding="windows-1252")


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("", "http://example.com/dir/x"),
        ("<base target=_top><base href=/one/><base href=/two/>", "http://example.com/one/x"),
        ("<base href=//other.test/y/>", "http://other.test/y/x"),
        ("<base href=https://other.test>", "https://other.test/x"),
        ("<base href='file:///etc/'>", "http://example.com/dir/x"),
        ("<base href='javascript:1'><base href=/two/>", "http://example.com/dir/x"),
        ("<base href='http://['>", "http://example.com/dir/x"),
        ("<template><base href=/one/></template>", "http://example.com/dir/x"),
        (f"<base href='/{'x' * 70_000}/'>", "http://example.com/dir/x"),
    ],
)
def test_the_first_base_counts_if_it_leads_to_the_web(base, expected):
    assert links_of(f"<head>{base}</head><a href=x>x</a>") == [expected]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0;url=/next", ["http://example.com/next"]),
        ("5; URL='/next'; x", ["http://example.com/next"]),
        ('3,url = "/next"', ["http://example.com/next"]),
        ("1 /next", ["http://example.com/next"]),
        ("5", []),
        ("5;url=", []),
        ("now;url=/next", []),
        ("", []),
        ("0;url=javascript:1", []),
    ],
)
def test_a_refresh_is_a_link(content, expected):
    page = parse_html(f'<meta http-equiv="ReFresh" content="{escape(content)}">'.encode(), URL)
    assert [link.url for link in page.links] == expected
    assert all(link.rel == "refresh" for link in page.links)


def test_only_links_to_the_web_are_links():
    hrefs = [
        "mailto:a@b.c",
        "javascript:void(0)",
        "data:text/html,x",
        "file:///x",
        "tel:1",
        "ftp://a/",
        "http://[",
        "http://",
        "x" * 70_000,
    ]
    assert links_of(
        "".join(f"<a href='{href}'>x</a>" for href in hrefs) + "<a>none</a><a name=x>none</a><a href=/y>y</a>"
    ) == ["http://example.com/y"]


def test_a_url_is_listed_once_with_the_first_anchor_that_says_something():
    page = parse_html(b"<a href=/a><img></a><a href=/b>b</a><a href=/a#x>first</a><a href=/a>second</a>", URL)
    assert page.links == [HtmlLink("http://example.com/a", "first", ""), HtmlLink("http://example.com/b", "b", "")]


def test_a_link_that_is_followed_once_is_followed():
    page = parse_html(
        b"<a href=/a rel=nofollow>a</a><a href=/b>b</a><a href=/b rel=nofollow>b</a><a href=/a>a</a>", URL
    )
    assert [link.rel for link in page.links] == ["", ""]


def test_frames_and_svg_links_are_links():
    assert links_of("<frameset><frame src=/f></frameset>") == ["http://example.com/f"]
    assert links_of("<svg><a href=/s>x</a></svg>") == ["http://example.com/s"]


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


def test_control_characters_do_not_get_through():
    page = parse_html(b"<title>a\0b&#1;c&#x9;d</title><a href=/x>e\0f&#2;g&#127;</a><p>h\0i&#3;j\x1b[0m\xc2\x85", URL)
    for text in (page.title, page.links[0].anchor, page.all_text, page.main_text):
        assert all(character == "\n" or character >= " " for character in text)
        assert not any("\x7f" <= character <= "\x9f" for character in text)
    assert page.title == "a\ufffdbc d"


def test_anchors_are_short():
    assert len(parse_html(b"<a href=/x>" + b"word " * 1000, URL).links[0].anchor) <= 200


def test_the_page_says_in_which_encoding_it_is():
    page = parse_html("<meta charset=windows-1251><title>Паук</title>".encode("cp1251"), URL)
    assert (page.title, page.encoding) == ("Паук", "windows-1251")


def test_a_page_from_nowhere_leads_nowhere():
    assert links_of("<a href=x>x</a><a href=http://example.com/>y</a>", url="not a url") == []


# What pages do to those who read them


def test_a_link_below_100_000_elements_is_found():
    page = parse_html(b"<div>" * 100_000 + b"<a href=/deep>x</a>", URL)
    assert [link.url for link in page.links] == ["http://example.com/deep"]


def test_links_beyond_the_limit_are_left_out_and_that_is_said():
    page = parse_html(b"".join(b"<a href=/%d>link</a>" % number for number in range(200_000)), URL)
    assert [link.url for link in page.links] == [f"http://example.com/{number}" for number in range(MOST_LINKS)]
    assert page.problem == "too many links"


def test_as_many_links_as_allowed_are_no_problem():
    markup = b"".join(b"<a href=/%d>link</a>" % number for number in range(MOST_LINKS))
    page = parse_html(markup + markup, URL)
    assert (len(page.links), page.problem) == (MOST_LINKS, "")


def test_the_same_link_over_and_over_is_given_up():
    page = parse_html(b"<a href=/x>x</a>" * 200_000, URL)
    assert (len(page.links), page.problem) == (1, "too many links")


def test_a_20_mb_attribute_is_no_link():
    assert links_of(f"<a href='{'x' * 20_000_000}'>long</a><a href=/y>y</a>") == ["http://example.com/y"]


def test_50_000_attributes_do_not_hide_a_link():
    attributes = " ".join(f"a{number}=1" for number in range(50_000))
    assert links_of(f"<a {attributes} href=/x>x</a>") == ["http://example.com/x"]


def test_links_inside_links_are_not_read_over_and_over():
    nested = "".join(f"<a href=/{number}><object>" for number in range(3_000))
    page = parse_html((nested + "<br>" * 100_000 + "x" * 1_000_000).encode(), URL)
    assert len(page.links) == 3_000
    assert page.links[0].anchor == "x" * 200


def test_a_wide_cell_does_not_widen_the_text():
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
    ("charset", "href", "expected"),
    [
        ("windows-1251", "/s?q=Россия", "http://a.test/s?q=%D0%EE%F1%F1%E8%FF"),
        ("windows-1251", "/путь?a=b", "http://a.test/%D0%BF%D1%83%D1%82%D1%8C?a=b"),  # paths are UTF-8 everywhere
        ("windows-1251", "/#?q=я", "http://a.test/"),
        (
            "iso-8859-1",
            "?q=ü&amp;x=Ω#é",
            "http://a.test/?q=%FC&x=%26%23937%3B",
        ),  # what it does not have, as browsers do
        ("shift_jis", "?q=日本", "http://a.test/?q=%93%FA%96%7B"),
        ("utf-8", "?q=ü", "http://a.test/?q=%C3%BC"),
        ("utf-16", "?q=ü", "http://a.test/?q=%C3%BC"),
    ],
)
def test_a_query_is_written_in_the_encoding_of_its_page(charset, href, expected):
    body = f"<a href='{href}'>x</a>".encode(charset, "xmlcharrefreplace")
    page = parse_html(body, "http://a.test/", f"text/html; charset={charset}")
    assert [link.url for link in page.links] == [expected]


@pytest.mark.parametrize(
    ("tag", "rel"),
    [
        ('<link rel="alternate" type="application/rss+xml" href="/f">', "feed"),
        ('<link rel="ALTERNATE home" type="Application/Atom+XML; charset=utf-8" href="/f">', "feed"),
        ('<link rel="alternate" type="application/feed+json" href="/f">', "feed"),
        ('<link rel="alternate" type="text/html" hreflang="de" href="/f">', "alternate"),
        ('<a rel="alternate" type="application/rss+xml" href="/f">f</a>', "alternate"),
    ],
)
def test_feeds_of_a_page_are_told_apart(tag: str, rel: str) -> None:
    assert [(link.url, link.rel) for link in parse_html(tag.encode(), "http://a.test/").links] == [
        ("http://a.test/f", rel)
    ]


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
def test_a_page_that_asks_for_a_password_and_says_little_is_a_login(body: str, is_login: bool) -> None:
    assert parse_html(body.encode(), "http://a.test/").is_login is is_login
