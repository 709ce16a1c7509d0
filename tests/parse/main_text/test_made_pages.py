"""Pages that are made for learning hold the blocks that they are said to hold."""

from __future__ import annotations

import pytest

from benchmarks.extraction_sets import MarkedPage
from benchmarks.made_pages import MadePage, PageMaker, put_into
from benchmarks.main_text_labels import CONTENT, OTHER, UNKNOWN, labels_of
from tests.parse.main_text.pages import ARTICLE, source_of
from tests.parse.main_text.pages import CONTENT as TEXT

SEEDS = [str(seed) for seed in range(40)]


def blocks_of(html: str) -> list[str]:
    return [part.text for part in source_of(html).parts if part.text]


def known(made: MadePage) -> dict[str, int]:
    return dict.fromkeys(made.other, OTHER) | dict.fromkeys(made.content, CONTENT)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_made_page_is_the_same_again_and_holds_what_it_is_about(seed: str) -> None:
    made, again = PageMaker(seed).whole_page(), PageMaker(seed).whole_page()
    assert made == again
    blocks = blocks_of(made.html)
    assert made.content
    assert [text for text in made.content if text not in blocks] == []
    page = MarkedPage(set="made", name=seed, kind="", domain="", html=made.html)
    labels = labels_of(page, source_of(made.html).parts, known(made))
    assert CONTENT in labels
    assert OTHER in labels
    assert [
        block for block, label in zip(blocks, labels, strict=True) if block in made.content and label != CONTENT
    ] == []


def test_what_is_put_into_an_article_is_no_content() -> None:
    text = "\n".join(TEXT)
    for seed in SEEDS:
        made = put_into(ARTICLE, text, is_product=False, seed=seed)
        page = MarkedPage(set="made", name=seed, kind="", domain="", html=made.html, text=text)
        blocks, labels = blocks_of(made.html), labels_of(page, source_of(made.html).parts, known(made))
        assert not made.content
        assert {label for block, label in zip(blocks, labels, strict=True) if block in made.other} <= {OTHER}
        assert {label for block, label in zip(blocks, labels, strict=True) if block in TEXT} <= {CONTENT, UNKNOWN}
    assert made.html != ARTICLE


def test_a_table_is_put_behind_a_paragraph_of_a_product() -> None:
    said = "The kettle boils a litre of water in two minutes."
    html = f"<body><p>Our shop is open from eight to eight, on Sundays, too.</p><p>{said}</p><p>Ours.</p></body>"
    made = put_into(html, said, is_product=True, seed="1")
    assert made.html.startswith(html[: html.index(said) + len(said) + len("</p>")])
    assert made.content
    assert [text for text in made.content if text not in blocks_of(made.html)] == []
    assert put_into(html, "Another text.", is_product=True, seed="1").html == html
