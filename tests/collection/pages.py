"""URLs and bodies of pages for the tests of exports."""

from __future__ import annotations

from crawler.collection.change_feed import Selection

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
WORDS = "It was a bright cold day in April and the clocks were striking thirteen as the man came slowly home again "
EVERYTHING = Selection()
HTML = {"Content_Type": "text/html; charset=utf-8"}


def body(words: str, lang: str = "en") -> bytes:
    return f"<html lang={lang}><title>{words}</title><p>{words} {WORDS}</p>".encode()
