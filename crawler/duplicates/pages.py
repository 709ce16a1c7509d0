"""What is kept of a page so that near-duplicates of it can be found, and what is compared where that leaves doubts."""

from __future__ import annotations

import struct

import numpy as np

from crawler.duplicates.cascade import Rule
from crawler.duplicates.minhash import sketch_of
from crawler.duplicates.shingles import shingles
from crawler.duplicates.simhash import simhash_of_words
from crawler.duplicates.template import own_places, unpacked
from crawler.duplicates.words import Hashes, word_hashes


def page_sketch(text: str, template: bytes, rule: Rule) -> bytes:
    """MinHash and simhash of a text without its site's template; nothing if it has too few words."""
    if not rule.threshold:
        return b""
    words = word_hashes(text)
    if len(words) < rule.fewest_words:
        return b""
    runs = shingles(words, rule.shingle)
    starts = words[: len(runs)]  # the words with which these begin
    if template:
        own = own_places(runs, unpacked(template))
        runs, starts = runs[own], starts[own]
    return sketch_of(runs).to_bytes() + struct.pack("<Q", simhash_of_words(starts))


def page_shingles(text: str, template: bytes, rule: Rule) -> Hashes:
    """All shingles of a text without its site's template, sorted, each once."""
    runs = np.unique(shingles(word_hashes(text), rule.shingle))
    return runs[own_places(runs, unpacked(template))]
