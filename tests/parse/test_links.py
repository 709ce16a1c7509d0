"""Links are found wherever browsers would find them, with anchor text, rel, position and context."""

import doctest
from html import escape

import pytest

from crawler.parse import links
from crawler.parse.html import Reading, parse_html
from crawler.parse.links import LONGEST_ANCHOR, MOST_LINKS, HtmlLink, Position, urls_in

URL = "http://example.com/dir/page"

PAGE = """<!DOCTYPE html>
<head><link rel="stylesheet" href="/style.css"><link rel="alternate" hreflang="de" href="/de/spinnen">
<link rel="NEXT" href="?page=2"></head>
<body><nav><a href="/">Home</a> <a href="/about">About</a></nav>
<main><p>The orb-weaver builds <a href="web.html#radius">a
 round <b>web</b></a> every evening, and eats it in the morning.</p>
<p>See the <a href="https://other.test/x" rel="Nofollow ugc">other site</a>.</p></main>
<form action="/search"><input name=q></form><form action="/order" method="POST"></form>
<script>document.write('<a href="/script">no</a>')</script><!-- <a href="/comment">no</a> -->
<template><a href="/menu">Menu</a></template>
<map><area href="/area" alt="An area"></map><iframe src="/frame" title="A frame"></iframe>
<footer><a href="/imprint">Imprint</a></footer></body>"""


def links_of(markup, url=URL):
    return [link.url for link in parse_html(markup.encode(), url).links]


def test_a_page():
    content, navigation, footer = Position.CONTENT, Position.NAVIGATION, Position.FOOTER
    around = "The orb-weaver builds … every evening, and eats it in the morning."
    assert parse_html(PAGE.encode(), URL).links == [
        HtmlLink("http://example.com/de/spinnen", "", "alternate", "link", content, ""),
        HtmlLink("http://example.com/dir/page?page=2", "", "next", "link", content, ""),
        HtmlLink("http://example.com/", "Home", "", "a", navigation, ""),
        HtmlLink("http://example.com/about", "About", "", "a", navigation, ""),
        HtmlLink("http://example.com/dir/web.html", "a round web", "", "a", content, around),
        HtmlLink("https://other.test/x", "other site", "nofollow ugc", "a", content, "See the … ."),
        HtmlLink("http://example.com/search", "", "", "form", content, ""),
        HtmlLink("http://example.com/menu", "Menu", "", "a", content, ""),
        HtmlLink("http://example.com/area", "An area", "", "area", content, ""),
        HtmlLink("http://example.com/frame", "A frame", "", "iframe", content, ""),
        HtmlLink("http://example.com/imprint", "Imprint", "", "a", footer, ""),
    ]


@pytest.mark.parametrize(
    ("markup", "position"),
    [
        ("<a href=/x>x</a>", Position.CONTENT),
        ("<div class=wrapper><p><a href=/x>x</a>", Position.CONTENT),
        ("<nav><ul><li><a href=/x>x</a>", Position.NAVIGATION),
        ("<main><nav><a href=/x>x</a>", Position.NAVIGATION),
        ("<nav><main><a href=/x>x</a>", Position.CONTENT),
        ("<header><a href=/x>x</a>", Position.NAVIGATION),
        ("<article><header><a href=/x>x</a>", Position.CONTENT),
        ("<aside><p><a href=/x>x</a>", Position.NAVIGATION),
        ("<div role=navigation><a href=/x>x</a>", Position.NAVIGATION),
        ("<div role=contentinfo><a href=/x>x</a>", Position.FOOTER),
        ("<div class='site-footer dark'><a href=/x>x</a>", Position.FOOTER),
        ("<div id=footer><div class=menu><a href=/x>x</a>", Position.NAVIGATION),
        ("<ul class='top-menu'><li><a href=/x>x</a>", Position.NAVIGATION),
        ("<div id=breadcrumb><a href=/x>x</a>", Position.NAVIGATION),
        ("<div class=sidebar><a href=/x>x</a>", Position.NAVIGATION),
        ("<body class='has-sidebar menu'><p><a href=/x>x</a>", Position.CONTENT),
        ("<div class=menubutton-is-another-word><a href=/x>x</a>", Position.CONTENT),
    ],
)
def test_the_nearest_ancestor_that_indicates_one_gives_the_position(markup, position):
    assert [link.position for link in parse_html(markup.encode(), URL).links] == [position]


def test_the_words_around_a_link_are_those_of_its_block():
    markup = (
        "<p>before</p><p>one <i>two <a href=/x>link</a></i>, three</p><p>" + "w " * 30 + "<a href=/y>y</a>" + " v" * 30
    )
    first, second = parse_html(markup.encode(), URL).links
    assert first.around == "one two … , three"
    assert second.around == " ".join(["w"] * 10 + ["…"] + ["v"] * 10)


def test_two_links_with_the_same_text_have_their_own_context():
    markup = b"<p>first <a href=/x>here</a> then second <a href=/y>here</a> last</p>"
    assert [link.around for link in parse_html(markup, URL).links] == [
        "first … then second here last",
        "first here then second … last",
    ]


def test_a_short_link_is_not_found_in_other_words():
    markup = b"<p>It is an old text about an <a href=/a>a</a> and the text <a href=/x>x</a> too</p>"
    assert [link.around for link in parse_html(markup, URL).links] == [
        "It is an old text about an … and the text x too",
        "is an old text about an a and the text … too",
    ]


def test_a_form_that_is_sent_by_get_is_marked():
    markup = b"<form action=/s><form action=/p method=post></form><form method=GET action=/t></form><form></form>"
    assert [(link.url, link.tag) for link in parse_html(b"<form></form>" + markup, URL).links] == [
        ("http://example.com/s", "form"),
        ("http://example.com/t", "form"),
    ]


@pytest.mark.parametrize("title", ["", " title=Find"])
def test_a_form_that_is_also_a_link_is_a_link(title):
    page = parse_html(f"<form action=/s{title}></form><a href=/s>Search</a>".encode(), URL)
    assert [link.tag for link in page.links] == ["a"]


@pytest.mark.parametrize("rel", ["nofollow", "sponsored", "ugc"])
def test_a_link_without_nofollow_wins_over_one_with_it(rel):
    for markup in (f"<a href=/x rel={rel}>a</a><a href=/x>b</a>", f"<a href=/x>b</a><a href=/x rel={rel}>a</a>"):
        assert [link.rel for link in parse_html(markup.encode(), URL).links] == [""]


def test_control_characters_are_removed_from_a_rel():
    (link,) = parse_html(b'<a href=/x rel="&#27;]0;x&#7; NoFollow">x</a>', URL).links
    assert link.rel == "]0;x nofollow"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no URL", []),
        ("http://a.test/x.", ["http://a.test/x"]),
        ("<http://a.test/x>; https://b.test", ["http://a.test/x", "https://b.test"]),
        ("(see http://a.test/x_(y))", ["http://a.test/x_(y)"]),
        ("xhttp://a.test/", []),
        ("http://a.test/?q=1&r=2#f...", ["http://a.test/?q=1&r=2#f"]),
    ],
)
def test_urls_in_plain_text(text, expected):
    assert [url for _, url in urls_in(text)] == expected
    assert all(text.startswith(url, start) for start, url in urls_in(text))


def test_nested_elements_do_not_take_quadratic_time():
    nested = "".join(f"<div>text <a href=/{number}>a</a>" for number in range(4_000))
    page = parse_html((nested + "x" * 1_000_000).encode(), URL)
    assert len(page.links) == 4_000
    assert page.links[-1].around == ""


def test_the_examples_are_true():
    assert doctest.testmod(links).failed == 0


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


def test_a_url_is_listed_once_with_its_first_anchor_that_is_not_empty():
    page = parse_html(b"<a href=/a><img></a><a href=/b>b</a><a href=/a#x>first</a><a href=/a>second</a>", URL)
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://example.com/a", "first"),
        ("http://example.com/b", "b"),
    ]


def test_a_link_that_is_followed_once_is_followed():
    page = parse_html(
        b"<a href=/a rel=nofollow>a</a><a href=/b>b</a><a href=/b rel=nofollow>b</a><a href=/a>a</a>", URL
    )
    assert [link.rel for link in page.links] == ["", ""]


def test_frames_and_svg_links_are_links():
    assert links_of("<frameset><frame src=/f></frameset>") == ["http://example.com/f"]
    assert links_of("<svg><a href=/s>x</a></svg>") == ["http://example.com/s"]


def test_anchors_are_short():
    assert len(parse_html(b"<a href=/x>" + b"word " * 1000, URL).links[0].anchor) <= LONGEST_ANCHOR


def test_a_page_without_a_valid_url_has_no_links():
    assert links_of("<a href=x>x</a><a href=http://example.com/>y</a>", url="not a url") == []


def test_a_link_below_100_000_elements_is_found():
    page = parse_html(b"<div>" * 100_000 + b"<a href=/deep>x</a>", URL)
    assert [link.url for link in page.links] == ["http://example.com/deep"]


def test_links_beyond_the_limit_are_dropped_and_reported():
    page = parse_html(b"".join(b"<a href=/%d>link</a>" % number for number in range(200_000)), URL)
    assert [link.url for link in page.links] == [f"http://example.com/{number}" for number in range(MOST_LINKS)]
    assert page.problem == "too many links"


def test_as_many_links_as_allowed_are_no_problem():
    markup = b"".join(b"<a href=/%d>link</a>" % number for number in range(MOST_LINKS))
    page = parse_html(markup + markup, URL)
    assert (len(page.links), page.problem) == (MOST_LINKS, "")


def test_repeated_links_beyond_the_limit_on_elements_are_not_read():
    page = parse_html(b"<a href=/x>x</a>" * 200_000, URL)
    assert (len(page.links), page.problem) == (1, "too many links")


def test_a_20_mb_attribute_is_no_link():
    assert links_of(f"<a href='{'x' * 20_000_000}'>long</a><a href=/y>y</a>") == ["http://example.com/y"]


def test_50_000_attributes_do_not_hide_a_link():
    attributes = " ".join(f"a{number}=1" for number in range(50_000))
    assert links_of(f"<a {attributes} href=/x>x</a>") == ["http://example.com/x"]


def test_nested_links_do_not_take_quadratic_time():
    nested = "".join(f"<a href=/{number}><object>" for number in range(3_000))
    page = parse_html((nested + "<br>" * 100_000 + "x" * 1_000_000).encode(), URL)
    assert len(page.links) == 3_000
    assert page.links[0].anchor == "x" * 200


@pytest.mark.parametrize(
    ("charset", "href", "expected"),
    [
        ("windows-1251", "/s?q=Россия", "http://a.test/s?q=%D0%EE%F1%F1%E8%FF"),
        ("windows-1251", "/путь?a=b", "http://a.test/%D0%BF%D1%83%D1%82%D1%8C?a=b"),  # paths are always in UTF-8
        ("windows-1251", "/#?q=я", "http://a.test/"),
        # A character that the encoding lacks becomes an escaped reference, as in browsers.
        ("iso-8859-1", "?q=ü&amp;x=Ω#é", "http://a.test/?q=%FC&x=%26%23937%3B"),
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
def test_links_to_feeds_have_the_rel_feed(tag: str, rel: str) -> None:
    assert [(link.url, link.rel) for link in parse_html(tag.encode(), "http://a.test/").links] == [
        ("http://a.test/f", rel)
    ]


DATA = """<script type="application/ld+json">
{"@graph": [{"@type": "Article", "url": "/article", "image": "http://example.com/i.png",
  "author": {"url": "//a.test/me"}},
 {"@id": "http://example.com/page", "sameAs": ["https://b.test/", "javascript:1", 7, null],
  "name": "http://name.test/"}]}
</script><script type="application/ld+json">{"url": "http://never.test/</script><a href=/page>Page</a>"""


def test_urls_of_json_ld_are_links_if_the_option_is_set():
    assert links_of(DATA) == ["http://example.com/page"]
    page = parse_html(DATA.encode(), URL, reading=Reading(links_in_data=True))
    assert [(link.url, link.tag) for link in page.links] == [
        ("http://example.com/page", "a"),
        ("http://example.com/article", "json-ld"),
        ("http://a.test/me", "json-ld"),
        ("https://b.test/", "json-ld"),
    ]


def test_deep_json_ld_does_no_harm():
    deep = f'<script type="application/ld+json">{"[" * 100_000}</script><a href=/x>x</a>'
    page = parse_html(deep.encode(), URL, reading=Reading(links_in_data=True))
    assert [link.url for link in page.links] == ["http://example.com/x"]


def test_urls_in_the_text_are_links_if_the_option_is_set():
    markup = "<p>See http://c.test/x. Or <a href=/y>https://example.com/y</a><script>'http://script.test/'</script>"
    assert links_of(markup) == ["http://example.com/y"]
    page = parse_html(markup.encode(), URL, reading=Reading(links_in_text=True))
    assert [(link.url, link.tag) for link in page.links] == [
        ("http://example.com/y", "a"),
        ("http://c.test/x", "text"),
        ("https://example.com/y", "text"),
    ]


@pytest.mark.parametrize(
    ("markup", "skip", "followed"),
    [
        ("<a href=/x>x</a>", ("nofollow",), True),
        ("<a href=/x rel='noopener nofollow'>x</a>", ("nofollow",), False),
        ("<a href=/x rel='nofollow'>x</a>", (), True),
        ("<a href=/x rel='sponsored'>x</a>", ("nofollow", "sponsored"), False),
        ("<a href=/x rel='ugc'>x</a>", ("nofollow", "sponsored"), True),
        ("<a href=/x rel='nofollowing'>x</a>", ("nofollow",), True),
        ("<form action=/x></form>", (), False),
    ],
)
def test_forms_and_links_with_a_skipped_rel_are_not_followed(markup, skip, followed):
    reading = Reading(skip_rel=skip)
    (link,) = parse_html(markup.encode(), URL, reading=reading).links
    assert reading.follows(link) is followed
