"""The metadata of a page is found, and implausible or hostile values are ignored."""

from __future__ import annotations

import doctest
import json
import time
from dataclasses import fields

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from crawler.parse.metadata import bylines, json_ld, metadata, page_dates, titles
from crawler.parse.metadata.bylines import names_in
from crawler.parse.metadata.json_ld import rank_things, things_in
from crawler.parse.metadata.metadata import Metadata, metadata_of
from crawler.parse.metadata.titles import best_title
from crawler.parse.page_scan import MOST_BOLD, MOST_HEADINGS, Heading

URL = "http://www.paper.example/a/b.html"


def read(html: str, url: str = URL, latest: float = float("inf")) -> Metadata:
    return metadata_of(turbohtml.parse(html, positions=False), url, url, latest=latest)


def ld(*things: object) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(thing)}</script>' for thing in things)


def meta(**metas: str) -> str:
    return "".join(f'<meta name="{name.replace("_", ":", 1)}" content="{text}">' for name, text in metas.items())


# ── titles ──


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>It rains</title>", "It rains"),
        ("<title>It rains | Paper</title>", "It rains"),
        ("<title>Paper: It rains</title><h1>It rains</h1>", "It rains"),
        ("<title>It rains - and pours | Paper</title>", "It rains - and pours"),
        ("<title>It rains - The Daily</title>" + meta(og_site_name="The Daily"), "It rains"),
        ("<title>x</title>" + meta(og_title="It rains - Paper"), "It rains"),
        ("<title>x</title>" + ld({"@type": "NewsArticle", "headline": "It &amp; rains"}), "It & rains"),
        ("<title>Paper » Archive » It rains today</title><h1>Paper</h1><h2>It rains today</h2>", "It rains today"),
        ("<title>It rains today</title><h1>Welcome</h1>", "It rains today"),
        ("<h1>It rains</h1>", "It rains"),
        ("<title>Paper</title>", "Paper"),
        ("", ""),
    ],
)
def test_the_title_is_the_headline_without_the_site(html: str, title: str) -> None:
    assert read(html).title == title


def test_the_text_of_the_title_element_is_kept_too() -> None:
    assert read("<title> It \n rains | Paper</title>").plain_title == "It rains | Paper"


def test_a_long_last_part_of_a_title_is_not_the_site() -> None:
    assert best_title("Rain falls on the hills - and nobody can say why it does", [], [], []).endswith("why it does")


# ── dates ──

PUBLISHED = {"@type": "Article", "datePublished": "2019-10-18T08:00:00+02:00", "dateModified": "2020-01-02"}


@pytest.mark.parametrize(
    ("html", "published"),
    [
        (ld(PUBLISHED), "2019-10-18T08:00:00+02:00"),
        (ld({"@graph": [{"@type": "WebSite"}, PUBLISHED]}), "2019-10-18T08:00:00+02:00"),
        (meta(article_published_time="2019-10-18"), "2019-10-18"),
        (meta(date="18.10.2019"), "2019-10-18"),
        ("<span itemprop=datePublished content=2019-10-18>x</span>", "2019-10-18"),
        ('<span property="schema:datePublished" content="2019-10-18"></span>', "2019-10-18"),
        ("<time datetime=2019-10-18>last week</time>", "2019-10-18"),
        ("<h1>It rains</h1><p>By Ada<p>18 October 2019", "2019-10-18"),
        ("<h1>It rains</h1><p>18.10.2019 – " + "It rains in the hills. " * 20, "2019-10-18"),
        ("<p>18 October 2019<h1>It rains</h1>", "2019-10-18"),
        ("<div><p class=entry-date>October 18, 2019</p></div>", "2019-10-18"),
        ("<p>On 18 October 2019 it rained.", ""),
        ("<h1>It rains</h1><p>" + "It rains in the hills. " * 20 + "It did on 18 October 2019.", ""),
        ("<h1>It rains</h1><p>Updated: 18 October 2019", ""),
        ("<h1>It rains</h1><p>© 18 October 2019 Paper", ""),
        ("<h1>It rains</h1></article><footer><time datetime=2019-10-18></footer>", ""),
        ("<h1>It rains</h1><div class=comment-list><time datetime=2019-10-18></div>", ""),
    ],
)
def test_the_publication_date_is_found_in_its_usual_places_only(html: str, published: str) -> None:
    assert read(html).published_iso == published


def test_a_declared_date_must_agree_with_the_one_in_the_url() -> None:
    url = "http://paper.example/2019/10/18/rain"
    assert read("", url).published_iso == "2019-10-18"
    assert read(ld(PUBLISHED), url).published_iso == "2019-10-18T08:00:00+02:00"
    assert read(meta(date="2021-05-05"), url).published_iso == "2019-10-18"  # the date of a later event


@pytest.mark.parametrize(
    "url", ["http://a.example/2019/13/45/", "http://a.example/item/20193456", "http://a.example/?d=2019-10-18"]
)
def test_a_number_in_a_url_is_no_date(url: str) -> None:
    assert read("", url).published is None


def test_dates_are_seconds_too() -> None:
    found = read(ld(PUBLISHED))
    assert (found.published, found.modified, found.modified_iso) == (1571378400.0, 1577923200.0, "2020-01-02")


@pytest.mark.parametrize(
    "date", ["99999-01-01", "0001-01-01T00:00:00Z", "1970-01-01", "1900-01-01", "NaN", "9" * 300, "2038-01-19"]
)
def test_implausible_dates_are_ignored(date: str) -> None:
    html = meta(article_published_time=date, article_modified_time=date) + ld(
        {"@type": "Article", "datePublished": date}
    )
    assert (read(html, latest=1.6e9).published, read(html, latest=1.6e9).modified) == (None, None)


def test_the_order_of_day_and_month_depends_on_the_country() -> None:
    assert read("<html lang=en-US><h1>It rains</h1><p>3/4/2019").published_iso == "2019-03-04"
    assert read("<html lang=fr><h1>It rains</h1><p>3/4/2019").published_iso == "2019-04-03"
    assert read("<html lang=en><h1>It rains</h1><p>3/4/2019").published_iso == ""


# ── authors ──


@pytest.mark.parametrize(
    ("html", "authors"),
    [
        (
            ld({"@type": "Article", "author": [{"name": "Ada Lovelace"}, {"name": "Alan Turing"}]}),
            ["Ada Lovelace", "Alan Turing"],
        ),
        (
            ld(
                {
                    "@graph": [
                        {"@type": "Article", "author": {"@id": "#a"}},
                        {"@type": "Person", "@id": "#a", "name": "Ada"},
                    ]
                }
            ),
            ["Ada"],
        ),
        (meta(author="Ada Lovelace and Alan Turing"), ["Ada Lovelace", "Alan Turing"]),
        ("<meta name=citation_author content='Lovelace, Ada'>", ["Ada Lovelace"]),
        (meta(author="https://social.example/ada"), []),
        (meta(author="admin"), []),
        ("<a rel=author href=/ada>Ada Lovelace</a>", ["Ada Lovelace"]),
        ("<p class=byline>Posted by <b>Ada Lovelace</b> on 4 May 2019", ["Ada Lovelace"]),
        ("<p class=author>Von Ada Lovelace | 4. Mai 2019", ["Ada Lovelace"]),
        ("<h1>It rains</h1><p>By<p>Ada Lovelace", ["Ada Lovelace"]),
        ("<h1>It rains</h1><p>By the river it rains, and nobody knows why that is so.", []),
        ("<div class=comments><p class=author>Ada Lovelace</div>", []),
        ("<p class=author-photo>Photo: Ada Lovelace", []),
    ],
)
def test_authors_are_found_in_their_usual_places_only(html: str, authors: list[str]) -> None:
    assert list(read(html).authors) == authors


def test_the_site_is_the_author_only_if_there_is_no_other() -> None:
    site = meta(og_site_name="The Daily", author="The Daily")
    assert list(read(site).authors) == ["The Daily"]
    assert list(read(site + "<p class=byline>By Ada Lovelace").authors) == ["Ada Lovelace"]


@given(st.text(max_size=300))
def test_names_in_any_byline_have_a_bounded_length(text: str) -> None:
    assert all(0 < len(name) <= bylines.LONGEST_NAME for name in names_in(text))


WORDS = ["By", "by", "VON", "Posted", "posté", "written", "x", "author:", "Texte", "Name", "–", "1", "\t"]


@given(st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_the_quick_test_overlooks_no_prefix(text: str) -> None:
    assert bylines.may_have_prefix(text) or bylines.BYLINE_PREFIX.match(f"{text} ") is None


# ── the rest ──


def test_other_declared_metadata_is_extracted() -> None:
    found = read(
        "<html lang=de-AT>"
        + meta(description="Rain, mostly", og_site_name="The Daily", keywords="rain, hills;rain", og_image="/rain.png")
        + "<link rel=canonical href=/c><link rel=alternate hreflang=en href=/en>"
        + "<link rel=alternate hreflang=x href=mailto:a@b.c>"
        + ld({"@type": "NewsArticle"}, {"@type": "WebSite", "name": "Daily"})
        + "<h1>It rains</h1><h2></h2><h3>Why?</h3><p><b>It</b> does <strong>so</strong><b>It</b>"
        + "<a rel='license nofollow' href=http://license.example/>free</a>"
    )
    assert found.language_declared == "de-AT"
    assert (found.description, found.site_name, found.kind) == ("Rain, mostly", "The Daily", "NewsArticle")
    assert list(found.keywords) == ["rain", "hills"]
    assert (found.image, found.canonical) == ("http://www.paper.example/rain.png", "http://www.paper.example/c")
    assert list(found.hreflang) == [("en", "http://www.paper.example/en")]
    assert list(found.headings) == [Heading(1, "It rains"), Heading(3, "Why?")]
    assert list(found.bold) == ["It", "so"]
    assert found.license == "http://license.example/"
    assert [thing["@type"] for thing in found.json_ld] == ["NewsArticle", "WebSite"]


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=fr>" + meta(og_locale="de_DE"), "fr"),
        ("<meta http-equiv=Content-Language content=pl>", "pl"),
        (meta(og_locale="de_DE"), "de_DE"),
        (ld({"@type": "Article", "inLanguage": "it"}), "it"),
        ("", ""),
    ],
)
def test_a_language_may_be_declared_in_many_places(html: str, language: str) -> None:
    assert read(html).language_declared == language


@pytest.mark.parametrize(
    "script",
    [
        '{"@type": "Article", "headline": "a\nb"}',
        '<!-- {"@type": "Article", "headline": "a b"} -->',
        '//<![CDATA[\n{"@type": "Article", "headline": "a b"}//]]>',
        '{"@type": "Article", "headline": "a b",};',
        '[[{"@type": ["http://schema.org/Article"], "headline": "a b"}]]',
    ],
)
def test_slightly_broken_json_is_read(script: str) -> None:
    assert [thing["headline"] for thing in things_in([script])] == ["a b"]


def test_a_page_that_lists_articles_is_about_none_of_them() -> None:
    one, other = (
        {"@type": "Article", "headline": name, "url": f"http://a.example/{name}"} for name in ("one", "other")
    )
    assert rank_things([one, other], frozenset(), "News") == []
    assert rank_things([one, other], frozenset({"http://a.example/other"}), "News") == [other]
    assert rank_things([one, other], frozenset(), "one | Paper") == [one]


# ── hostile pages ──

NUMBERS = '{"@type": "Article", "headline": "a", "x": [NaN, 1e999, -1e999, 123456789012345678901234567890]}'


def test_numbers_that_json_cannot_store_are_dropped() -> None:
    assert things_in([NUMBERS]) == [{"@type": "Article", "headline": "a", "x": [None] * 4}]


def test_surrogates_and_control_characters_are_dropped() -> None:
    html = ld({"@type": "Article", "headline": "a\x00\ud800b", "author": "\udfffAda"}) + meta(description="x\x01\x9fy")
    found = read(html)
    assert (found.title, list(found.authors), found.description) == ("ab", ["Ada"], "xy")
    json.dumps(found.json_ld, ensure_ascii=False).encode()


JSON_LD = '<script type="application/ld+json">'


@pytest.mark.parametrize(
    "html",
    [
        JSON_LD + '{"@type": "Article", "headline": "' + "x" * 10_000_000 + '"}</script>',
        JSON_LD + "[" * 100_000 + "]" * 100_000 + "</script>",
        JSON_LD + '{"@graph":' * 40_000 + "1" + "}" * 40_000 + "</script>",
        JSON_LD + '{"a": 1' + "," * 400_000 + "</script>",
        JSON_LD + '{"@type": "Article", "x": ' + "9" * 100_000 + "}</script>",
        (JSON_LD + '{"@type": "Article"}</script>') * 20_000,
        "".join(f'<meta name="n{number}" content=x>' for number in range(100_000)),
        '<meta name=author content="a, b"><meta name=date content=x>' * 50_000,
        '<meta name=keywords content="' + "a, " * 1_000_000 + '">',
        '<meta name="' + "a " * 1_000_000 + '" content=x>',
        "<b class='date author'>x</b>" * 100_000,
        "<div class='author date' itemprop='datePublished author'>" * 50_000 + "by X",
        "<h1>a<div>" * 50_000,
        "<b>a" * 20_000,
        "<div class=comment>" * 50_000 + "<i class='author date'>by X</i>" * 100,
        "<title>" + "a - " * 500_000 + "</title>",
        "<h1>x</h1>" + "<p> </p>" * 200_000,
        "<link rel=alternate hreflang=de href=/x>" * 100_000,
        "<h1>T</h1><p class=byline>" + "by von a " * 200_000,
        "<time>" * 100_000,
    ],
)
def test_hostile_pages_take_little_time_and_give_bounded_metadata(html: str) -> None:
    document = turbohtml.parse(html, positions=False)
    before = time.process_time()
    found = metadata_of(document, URL, URL)
    assert time.process_time() - before < 2  # the slowest takes a tenth of that
    assert len(found.headings) <= MOST_HEADINGS
    assert len(found.bold) <= MOST_BOLD
    assert len(json.dumps([getattr(found, field.name) for field in fields(found)])) < 500_000


def test_the_document_stays_as_it_is() -> None:
    html = "<title>a | b</title>" + ld(PUBLISHED) + "<h1>a</h1><p class=byline>By Ada <b>x</b><table><tr><td>x</table>"
    document = turbohtml.parse(html, positions=False)
    before = document.html
    metadata_of(document, URL, URL)
    assert document.html == before


PIECES = st.sampled_from(
    [
        "<title>",
        "<h1>",
        "</h1>",
        "<time datetime='",
        "'>",
        "<meta name=date content='",
        JSON_LD,
        "</script>",
        "{",
        '"@type":',
    ],
)


def assert_that_it_can_be_written(found: Metadata) -> None:
    text = json.dumps([getattr(found, field.name) for field in fields(found)], ensure_ascii=False)
    assert text.encode().decode() == text  # no halves of surrogate pairs


@given(st.lists(PIECES | st.text(max_size=20), max_size=30), st.text(max_size=30))
def test_any_page_gives_an_answer(pieces: list[str], url: str) -> None:
    found = read("".join(pieces), url)
    assert_that_it_can_be_written(found)


@given(
    st.recursive(
        st.none() | st.floats() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "@type",
                        "@graph",
                        "@id",
                        "author",
                        "headline",
                        "name",
                        "datePublished",
                        "url",
                        "mainEntity",
                        "image",
                    ]
                ),
                inner,
            )
        ),
    )
)
def test_any_json_gives_an_answer(thing: object) -> None:
    found = read(ld(thing, {"@type": "Article", "author": thing, "datePublished": thing, "headline": thing}))
    assert_that_it_can_be_written(found)


@pytest.mark.parametrize("module", [bylines, json_ld, metadata, page_dates, titles])
def test_the_examples_are_true(module: object) -> None:
    assert doctest.testmod(module).failed == 0
