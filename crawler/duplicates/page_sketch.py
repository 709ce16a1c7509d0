"""Compute what near-duplicate detection needs of a page: the stored sketch, and the exact shingles for close cases."""

from __future__ import annotations

import struct

import numpy as np

from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.minhash import Sketch, bin_minima
from crawler.duplicates.shingles import shingles
from crawler.duplicates.simhash import simhash_of_words
from crawler.duplicates.template import own_shingles_mask, unpack_template
from crawler.duplicates.words import Hashes, mix_bits, word_hashes


def page_sketch(text: str, template: bytes, rule: DuplicateRule) -> bytes:
    """MinHash and simhash of a text without its site's template; empty if it has too few words."""
    return words_sketch(word_hashes(text), template, rule) if rule.threshold else b""


def page_shingles(text: str, template: bytes, rule: DuplicateRule) -> Hashes:
    """The different shingles of a text without its site's template, sorted."""
    return words_shingles(word_hashes(text), template, rule)


def words_sketch(words: Hashes, template: bytes, rule: DuplicateRule) -> bytes:
    """The same sketch from hashed words, or from hashed tokens of source code."""
    if len(words) < rule.fewest_words:
        return b""
    runs = shingles(words, rule.shingle)
    if template:
        runs = runs[own_shingles_mask(runs, unpack_template(template))]
    sample = bin_minima(runs)
    return Sketch(sample.astype(np.uint16)).to_bytes() + struct.pack("<Q", sample_simhash(sample))


def sample_simhash(sample: Hashes) -> int:
    """The simhash of the shingles that a sketch sampled: with single words, pages that share a few would all match."""
    return simhash_of_words(mix_bits(sample))


def words_shingles(words: Hashes, template: bytes, rule: DuplicateRule) -> Hashes:
    """The same set of shingles from hashed words or tokens."""
    runs = np.unique(shingles(words, rule.shingle))
    return runs[own_shingles_mask(runs, unpack_template(template))]
