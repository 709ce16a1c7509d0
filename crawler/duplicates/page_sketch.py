"""What is kept of a page so that near-duplicates of it can be found, and what is compared where that leaves doubts."""

from __future__ import annotations

import struct

import numpy as np

from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.minhash import Sketch, firsts
from crawler.duplicates.shingles import shingles
from crawler.duplicates.simhash import simhash_of_words
from crawler.duplicates.template import own_places, unpacked
from crawler.duplicates.words import Hashes, mixed, word_hashes


def page_sketch(text: str, template: bytes, rule: DuplicateRule) -> bytes:
    """MinHash and simhash of a text without its site's template; nothing if it has too few words."""
    return words_sketch(word_hashes(text), template, rule) if rule.threshold else b""


def page_shingles(text: str, template: bytes, rule: DuplicateRule) -> Hashes:
    """All shingles of a text without its site's template, sorted, each once."""
    return words_shingles(word_hashes(text), template, rule)


def words_sketch(words: Hashes, template: bytes, rule: DuplicateRule) -> bytes:
    """The same of words, or of what else a document consists of, such as tokens of a programming language."""
    if len(words) < rule.fewest_words:
        return b""
    runs = shingles(words, rule.shingle)
    if template:
        runs = runs[own_places(runs, unpacked(template))]
    sample = firsts(runs)
    return Sketch(sample.astype(np.uint16)).to_bytes() + struct.pack("<Q", sample_simhash(sample))


def sample_simhash(sample: Hashes) -> int:
    """Of the runs that a sketch is made of: by single words all pages that use the same few would meet."""
    return simhash_of_words(mixed(sample))


def words_shingles(words: Hashes, template: bytes, rule: DuplicateRule) -> Hashes:
    runs = np.unique(shingles(words, rule.shingle))
    return runs[own_places(runs, unpacked(template))]
