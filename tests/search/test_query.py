"""Any query gets an answer, and the best documents rank first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.errors import BadInput
from crawler.items import ExportedDocument, TextBlock
from crawler.search.index import TantivyIndex
from crawler.search.query import Searcher, SearchHit, SearchOptions
from tests.export.entries import document

ALL = SearchOptions(limit=100, per_host=0)
FILL = "And so it went on for a while, as such things do, until it came to an end. "

Made = Callable[[Iterable[ExportedDocument]], Searcher]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """An index of these documents."""

    def make(documents: Iterable[ExportedDocument]) -> Searcher:
        index = TantivyIndex(tmp_path / "search", full=True)
        for one in documents:
            index.put(one)
        index.acknowledge()
        index.close()
        return Searcher(tmp_path / "search")

    return make


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    directory = tmp_path_factory.mktemp("harbour")
    index = TantivyIndex(directory)
    index.put(document("http://a.test/fog", 1, title="Fog signals", text="A bell or a horn tells where the rock is."))
    index.put(
        document("http://a.test/bell", 2, title="The bell of the rock", text=f"{FILL}It was heard in fog. {FILL}")
    )
    index.put(document("http://b.test/", 3, title="Rock music", text="Louder than any horn.", language="de"))
    index.put(
        document("http://c.test/ja", 4, title="磯の観察", text="潮だまりの生きものを見る。磯に行く。", language="ja")
    )
    index.put(
        document("http://c.test/e", 5, title="L'Étoile du Nord", text="Le bateau s'appelle l'étoile.", language="fr")
    )
    index.acknowledge()
    index.close()
    return Searcher(directory)


def urls(hits: Iterable[SearchHit]) -> list[str]:
    return [hit.url for hit in hits]


def found(searching: Searcher, text: str, wanted: SearchOptions = ALL) -> list[str]:
    return [url.removeprefix("http://") for url in urls(searching.search(text, wanted).hits)]


# ── matching ──


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("horn", {"a.test/fog", "b.test/"}),
        ("HORN", {"a.test/fog", "b.test/"}),
        ('"bell of the rock"', {"a.test/bell"}),
        ('"rock bell"', set()),
        ("rock -fog", {"b.test/"}),
        ("+rock +louder", {"b.test/"}),
        ("louder OR heard", {"a.test/bell", "b.test/"}),
        ("title:fog", {"a.test/fog"}),
        ("etoile", {"c.test/e"}),
        ("ÉTOILE", {"c.test/e"}),
        ("e\u0301toile", {"c.test/e"}),
        ("l'étoile", {"c.test/e"}),
        ("潮だまり", {"c.test/ja"}),
        ("生きもの", {"c.test/ja"}),
        ("磯の観察", {"c.test/ja"}),
        ("潮だまりを歩く", {"c.test/ja"}),
        ('"生きもの"', {"c.test/ja"}),
        ("山", set()),
        ("b.test", {"b.test/"}),
        ("nothing", set()),
        ("🐝", set()),
    ],
)
def test_which_documents_a_query_finds(text: str, expected: set[str], harbour: Searcher) -> None:
    assert set(found(harbour, text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        '"rock',
        "rock:",
        "rock)",
        "(rock",
        "(" * 900 + "rock",
        "rock " + "(" * 9 + ")" * 9,
        "rock:horn",
        "http://rock",
        "rock^x",
        "rock^",
        "[rock TO",
        "IN [rock",
        "rock AND",
        "NOT rock",
        "-rock",
        "rock\x00horn",
        "\x1b[31m rock",
        "rock\ud800",
        "rock ' \" ’",
        "/rock/",
        "text:* rock",
        "version:rock",
        "rock \\",
        "rock " * 2_000,
        "rock " + "x" * 10_000,
    ],
)
def test_a_malformed_query_is_searched_for_its_words(text: str, harbour: Searcher) -> None:
    assert "b.test/" in found(harbour, text)


@given(st.text(st.characters(exclude_categories=())) | st.text("ab \"+-():^~*[]{}\\'/<>ANDORNOTIN", max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_every_query_gets_an_answer(harbour: Searcher, text: str) -> None:
    answer = harbour.search(text, SearchOptions())
    assert answer.matching >= len(answer.hits)


@pytest.mark.parametrize(
    "text",
    [
        '"' * 10_000,
        ":" * 10_000,
        "(" * 10_000,
        "NOT " * 3_000,
        "-" * 10_000,
        "潮" * 10_000,
        "rock OR " * 2_000,
        "\x00" * 10_000,
        "(" * 9 + "NOT " * 200 + "rock",
        "title:(" * 140,
    ],
)
def test_long_texts_do_no_harm(text: str, harbour: Searcher) -> None:
    count, hits = harbour.search(text, SearchOptions())
    assert len(hits) <= min(count, SearchOptions().limit)


def test_an_empty_index_has_no_answers(made: Made) -> None:
    assert made([]).search("anything", SearchOptions()) == (0, [])


def test_only_documents_of_a_host_or_in_a_language(harbour: Searcher) -> None:
    assert found(harbour, "horn", SearchOptions(host="B.test")) == ["b.test/"]
    assert found(harbour, "horn", SearchOptions(language="EN")) == ["a.test/fog"]
    assert found(harbour, "horn", SearchOptions(host="a.test", language="de")) == []


def test_only_documents_of_a_least_relevance(made: Made) -> None:
    texts = {"none": None, "least": 0.0, "half": 0.5, "most": 1.0}
    searching = made(
        document(f"http://a.test/{name}", number, title="Horn", relevance=relevance)
        for number, (name, relevance) in enumerate(texts.items(), start=1)
    )
    for least, names in ((None, [*texts]), (0.0, ["least", "half", "most"]), (0.5, ["half", "most"]), (0.51, ["most"])):
        hits = searching.search("horn", SearchOptions(per_host=0, min_relevance=least)).hits
        assert sorted(hit.url.rpartition("/")[2] for hit in hits) == sorted(names)
        assert all(hit.relevance == texts[hit.url.rpartition("/")[2]] for hit in hits)
        assert len({hit.score for hit in hits}) == 1


def test_no_document_of_a_crawl_without_a_topic_has_a_least_relevance(harbour: Searcher) -> None:
    assert found(harbour, "horn", SearchOptions(min_relevance=0.0)) == []
    assert [hit.relevance for hit in harbour.search("louder", ALL).hits] == [None]


# ── ranking ──


def test_titles_weigh_more_than_anchors_than_main_text_than_the_rest(made: Made) -> None:
    blocks = [TextBlock("lantern", "li", 0, 0.1)]
    searching = made(
        [
            document("http://d.test/rest", 1, title="Other", text=FILL, blocks=blocks),
            document("http://c.test/text", 2, title="Other", text=f"{FILL} lantern"),
            document("http://b.test/anchor", 3, title="Other", text=FILL, anchors=[("x.test", "lantern")]),
            document("http://a.test/title", 4, title="Lantern", text=FILL),
        ]
        + [document(f"http://e.test/{number}", 5 + number, title="Else", text=FILL) for number in range(20)]
    )
    assert found(searching, "lantern") == ["a.test/title", "b.test/anchor", "c.test/text", "d.test/rest"]


def test_documents_with_all_words_rank_before_those_that_repeat_some(made: Made) -> None:
    searching = made(
        [
            document("http://a.test/", 1, title="Page", text="bread " * 30),
            document("http://b.test/", 2, title="Page", text=f"{FILL * 5} Bread, and further on butter. {FILL * 5}"),
        ]
    )
    assert found(searching, "bread butter") == ["b.test/", "a.test/"]


def test_common_words_are_ignored_beside_rare_ones(made: Made) -> None:
    searching = made(
        [document(f"http://a.test/{number}", 1 + number, text=f"The page. {FILL}") for number in range(60)]
        + [document("http://b.test/", 90, text=f"The lantern. {FILL}")]
    )
    assert found(searching, "the lantern — for a while") == ["b.test/"]
    assert len(found(searching, "the", SearchOptions(limit=100, per_host=0))) == 61
    (hit,) = searching.search("the lantern", ALL).hits
    assert [hit.snippet.text[start:end] for start, end in hit.snippet.highlights] == ["lantern"]


def test_adjacent_words_count_more_than_words_apart(made: Made) -> None:
    searching = made(
        [
            document("http://a.test/", 1, title="Page", text=f"The bell. {FILL} The rock."),
            document("http://b.test/", 2, title="Page", text=f"The bell rock. {FILL} The."),
        ]
    )
    assert found(searching, "bell rock") == ["b.test/", "a.test/"]


def test_a_common_word_does_not_count_as_rare_because_few_titles_have_it(made: Made) -> None:
    searching = made(
        [
            document(f"http://a.test/{number}", 1 + number, title="Page", text=f"How it is. {FILL}")
            for number in range(20)
        ]
        + [
            document("http://b.test/", 40, title="How to get here", text=f"How it is. {FILL}"),
            document("http://c.test/", 41, title="Bowline", text=f"A knot. How it is tied. The bowline. {FILL}"),
        ]
    )
    assert found(searching, "how bowline")[0] == "c.test/"


def test_results_per_host_are_limited_and_the_others_counted(made: Made) -> None:
    searching = made(
        [document(f"http://big.test/{number}", number, title="Lantern", text="lantern") for number in range(1, 200)]
        + [document(f"http://small{number}.test/", 300 + number, text=f"lantern {FILL}") for number in range(5)]
    )
    answer = searching.search("lantern", SearchOptions(limit=10))
    assert [hit.host for hit in answer.hits[:2]] == ["big.test", "big.test"]
    assert len({hit.host for hit in answer.hits}) == 6
    assert [hit.more_from_host for hit in answer.hits] == [197, 197, 0, 0, 0, 0, 0]
    assert answer.matching == 204
    assert len(searching.search("lantern", SearchOptions(limit=10, per_host=0)).hits) == 10
    assert [hit.host for hit in searching.search("lantern", SearchOptions(limit=3, per_host=1)).hits].count(
        "big.test"
    ) == 1


def test_copies_are_shown_only_where_their_original_is_not(made: Made) -> None:
    original, copy, other = "http://a.test/", "http://b.test/copy", "http://c.test/copy"
    copies = [
        document(copy, 1, text="lantern lantern", duplicate_of=original),
        document(other, 2, text="lantern", duplicate_of=original),
    ]
    assert urls(made([*copies, document(original, 3, text=f"lantern {FILL}")]).search("lantern", ALL).hits) == [
        original
    ]
    assert urls(made([*copies, document(original, 3, text="changed")]).search("lantern", ALL).hits) == [copy]
    assert urls(made(copies).search("lantern", ALL).hits) == [copy]


# ── results ──


def test_a_hit_has_the_fields_of_its_document(harbour: Searcher) -> None:
    (hit,) = harbour.search("louder", SearchOptions()).hits
    assert (hit.url, hit.title, hit.host, hit.language) == ("http://b.test/", "Rock music", "b.test", "de")
    assert (hit.fetched_at, hit.format) == ("1970-01-12T13:46:40Z", "html")
    assert hit.snippet == ("Louder than any horn.", [(0, 6)])


def test_results_have_no_control_characters(made: Made) -> None:
    hostile = "lantern \x1b]0;owned\x07 \u202e [bold]x[/bold]\r\n\x9b31m \u2028 next"
    (hit,) = (
        made([document("http://a.test/\x1b[31m", title=hostile, text=hostile)]).search("lantern", SearchOptions()).hits
    )
    for text in (hit.title, hit.url, hit.snippet.text):
        assert text.isprintable()
    assert "[bold]x[/bold]" in hit.title


def test_a_directory_without_an_index_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--full"):
        Searcher(tmp_path)
    assert list(tmp_path.iterdir()) == []
