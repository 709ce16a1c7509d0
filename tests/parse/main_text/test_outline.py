"""Pages are divided into text blocks as readers see them, in linear time and without recursion."""

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from crawler.items import TextBlock
from crawler.parse.main_text.outline import blocks_of, outline
from tests.parse.main_text.pages import ARTICLE

LONG = "A sentence that is long enough to be running text, since it goes on for more than eighty characters."


def parts_of(html):
    return outline(turbohtml.parse(html, positions=False))


def texts_of(html):
    return [part.text for part in parts_of(html) if part.text]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>H<b>e</b>llo <i>wor</i>ld", ["Hello world"]),
        ("<p> a \n b <p>c", ["a b", "c"]),
        ("<div>before<p>inside</p>after</div>", ["before", "inside", "after"]),
        ("one<br>two", ["one two"]),
        ("one<br> <br>two<br><br><br>three", ["one", "two", "three"]),
        ("<ul><li>a<li>b</ul>", ["a", "b"]),
        ("<table><tr><td>a<td>b<tr><td>c</table>", ["a", "b", "c"]),
        ("<pre>a\n  b\n</pre>", ["a\n  b"]),
        ("<pre>a<br>b</pre>", ["a\nb"]),
        ("a<span> </span>b", ["a b"]),
        ("<my-card>a</my-card><my-card>b</my-card>", ["a", "b"]),
        ("a<img alt='no'>b", ["ab"]),
        ("a\x00\x07<p>e\u0301", ["a", "é"]),
    ],
)
def test_blocks(html, expected):
    assert texts_of(html) == expected


@pytest.mark.parametrize("tag", ["script", "style", "noscript", "template", "svg", "textarea", "select", "iframe"])
def test_what_is_not_text_for_readers_is_left_out(tag):
    assert texts_of(f"<title>no</title><p>{LONG}</p><{tag}>no</{tag}><p>b</p>") == [LONG, "b"]


def test_noscript_is_read_where_there_is_no_other_running_text():
    assert texts_of(f"<body><p>Loading</p><noscript><p>{LONG}</p></noscript>") == ["Loading", LONG]


def test_encoded_data_is_not_text():
    assert texts_of("<p>a</p><p>" + "QmFzZTY0" * 50 + "</p><pre>b</pre>") == ["a", "b"]


def test_elements_without_text_are_left_out_and_those_with_one_block_are_that_block():
    parts = parts_of("<div class=a><div></div><p id=b>text</p><img></div>")
    assert [(part.tag, part.names, part.text) for part in parts] == [
        ("html", "", ""), ("body", "", ""), ("div", "a", ""), ("p", " #b", "text"),
    ]  # fmt: skip


def test_parents_come_first():
    parts = parts_of(ARTICLE)
    assert all(part.parent < number for number, part in enumerate(parts))
    assert all(not parts[part.parent].text for part in parts[1:])


@pytest.mark.parametrize("last", ["<br>", "<script></script>", "<img>", "<b>x</b>", "<p>x</p>", "<pre>x</pre>"])
def test_a_link_ends_where_it_ends(last):
    *_, block = parts_of(f"<div><a href=x>link {last}</a></div><div>text</div>")
    assert (block.text, block.link_size) == ("text", 0)


@pytest.mark.parametrize("last", ["<br>", "<script></script>", "<a>x</a>", "<p>x</p>"])
def test_preformatted_text_ends_where_it_ends(last):
    assert texts_of(f"<pre>a {last}</pre><p>b  c</p>")[-1] == "b c"


def test_the_size_of_text_in_links_is_computed():
    [block] = [part for part in parts_of("<p>ab <a href=x>cde</a><a href=y><b>f</b></a>") if part.text]
    assert (block.size, block.link_size) == (7, 4)


@pytest.mark.parametrize(
    ("attributes", "names"),
    [
        ("class='a b' id=c role=main itemprop=articleBody", "$articleBody @main a b #c"),
        ("hidden", "! "),
        ("style='color: red; DISPLAY : none'", "! "),
        ("aria-hidden=true class=x", "! x"),
        ("aria-hidden=false style='display:block'", ""),
    ],
)
def test_names_of_an_element_include_role_itemprop_and_hiddenness(attributes, names):
    assert parts_of(f"<div {attributes}>text</div>")[-1].names == names


def test_a_block_has_its_position_in_the_text():
    parts = parts_of("<h1>ab</h1><p>c d</p><p>e</p>")
    assert blocks_of(parts, [0.1] * len(parts)) == [
        TextBlock("ab", "h1", 0, 0.1), TextBlock("c d", "p", 2, 0.1), TextBlock("e", "p", 5, 0.1),
    ]  # fmt: skip


def test_adjacent_cells_of_a_row_are_joined_if_both_or_neither_are_content():
    parts = parts_of("<table><tr><td>a<td>b<td>c<tr><td>d</table>")
    weights = {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0}
    found = blocks_of(parts, [weights.get(part.text, 0.0) for part in parts])
    assert [(block.text, block.tag, block.importance) for block in found] == [
        ("a b", "tr", 1.0), ("c", "tr", 0.0), ("d", "tr", 0.0),
    ]  # fmt: skip


def test_the_document_is_not_changed():
    document = turbohtml.parse(ARTICLE, positions=False)
    before = document.html
    outline(document)
    assert document.html == before


@given(st.text())
def test_any_text_has_an_outline(text):
    for part in parts_of(text):
        assert part.size == len(part.text)
        assert 0 <= part.link_size <= part.size


@given(st.lists(st.sampled_from(["<div>", "</div>", "<p>", "<a>", "</a>", "<table>", "<td>", "<pre>", "x ", "<br>"])))
def test_any_markup_has_an_outline_with_all_its_words(pieces):
    words = "".join(text for text in texts_of("".join(pieces))).split()
    assert "".join(words) == "x" * pieces.count("x ")


def test_a_menu_is_one_block_if_it_is_mostly_links():
    menu = "<nav>Go <ul><li><a href=/>Home</a><li><a href=/about>About us</a></ul></nav>"
    parts = [part for part in outline(turbohtml.parse(f"<p>x</p>{menu}", positions=False)) if part.text]
    assert [(part.tag, part.text, part.link_size) for part in parts] == [("p", "x", 0), ("nav", "Go Home About us", 12)]
    entries = outline(turbohtml.parse(menu, positions=False), menus_whole=False)
    assert [part.text for part in entries if part.text] == ["Go", "Home", "About us"]
    story = f"<nav><p>{'words of a story ' * 20}</p><a href=/>Home</a></nav>"
    assert [part.tag for part in outline(turbohtml.parse(story, positions=False)) if part.text] == ["p", "nav"]


def test_nested_menus_do_not_take_quadratic_time():
    parts = outline(turbohtml.parse("<nav>x " * 20_000, positions=False))
    assert sum(part.size for part in parts) == 20_000
