"""The promises of `make prove-urls` hold on a few thousand mutated URLs."""

import random

import pytest

from tests.urls.mutations import CORPUS, broken_promises, mutated, run


def test_five_thousand_mutated_urls_break_no_promise():
    found = run(seed=7, chunk=0, count=5_000)
    assert found.wrong == []
    assert 0.2 < found.canonical / found.cases < 0.9  # some are valid URLs and some are not


@pytest.mark.parametrize("text", CORPUS)
def test_no_url_of_the_corpus_breaks_a_promise(text):
    assert list(broken_promises(text, None)) == []
    assert list(broken_promises(text, "https://abc.com/a/b?c#d")) == []


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("http://abc.com/a/.b/../c", None),  # the fast parser stops searching for dots at the first segment with one
        ("/a/.b/./c", "http://abc.com/"),
        ("", "http://abc.com/a?"),  # the fast parser drops the empty query of a base
        ("#b", "http://abc.com/a?#c"),
        ("http://abc.com/////", None),  # nothing but empty segments, where they are not merged
    ],
)
def test_urls_that_once_broke_a_promise_break_none(text, base):
    assert list(broken_promises(text, base)) == []


def test_the_same_seed_gives_the_same_texts():
    once, again = ([mutated(random.Random(3), CORPUS) for _ in range(50)] for _ in range(2))
    assert once == again
