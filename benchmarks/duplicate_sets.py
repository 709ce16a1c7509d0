"""Sets of labelled pairs of real documents for the evaluation of near-duplicate detection.

Revisions of MDN's pages: all pairs, with the similarities that came with the collection. Pages from Debian's
documentation packages, as the crawler reads them: each with a copy for each kind of edit, and unedited pairs, some of
which are similar all the same: neighbours in a manual, one page in several half-finished translations.
The similarity is the exact Jaccard coefficient of their 5-word shingles.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.edited_texts import WORD, Editor
from crawler.duplicates.evaluation import DocumentPairs
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.shingles import shingle_set
from crawler.duplicates.words import word_hashes
from crawler.parse.html import parse_html
from tests.proofs.docs.packages import site_of

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "neardup"
PACKAGES = ("python3-doc", "postgresql-doc-15", "debian-handbook")
PAGES = 300  # of each package
FEWEST, MOST = 200, 2_000  # words of a document
_SEED = 2009


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corpus(DocumentPairs):
    """Document pairs with their exact similarities."""

    name: str
    texts: Sequence[str]
    similarities: NDArray[np.float64]


class Document(NamedTuple):
    """A page of a package."""

    package: str
    page: str
    text: str


def revisions() -> Corpus:
    """Read the revisions of MDN's pages; pairs that are not listed have a similarity below .2, and count as 0."""
    with gzip.open(DATA / "mdn_revisions_docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = {row["id"]: row["text"] for row in map(json.loads, lines)}
    numbers = {name: number for number, name in enumerate(documents)}
    listed = [(numbers[row["a"]], numbers[row["b"]], row["jaccard5"]) for row in listed_pairs()]
    all_of_them = np.zeros((len(numbers), len(numbers)))
    for one, other, similarity in listed:
        all_of_them[min(one, other), max(one, other)] = similarity
    ones, others = np.triu_indices(len(numbers), k=1)
    return _corpus("revisions of MDN's pages", list(documents.values()), ones, others, all_of_them[ones, others])


def listed_pairs() -> list[dict[str, object]]:
    with (DATA / "mdn_revisions_pairs.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def edited_pages(seed: int = _SEED, pages: int = PAGES) -> Corpus:
    """Make edited copies of Debian's documentation pages. Raises `Unavailable` where the packages cannot be had."""
    chance = Random(seed)
    documents = [document for package in PACKAGES for document in documents_of(package, pages, chance)]
    texts = [document.text for document in documents]
    editor = Editor(chance, [word for text in texts for word in WORD.findall(text)])
    pairs = list(_unedited_pairs(documents, chance))
    for number, document in enumerate(documents):
        copies = editor.copies(document.text)
        pairs += [(number, len(texts) + copy) for copy in range(len(copies))]
        texts += copies
    ones, others = (np.array(side, dtype=np.intp) for side in zip(*pairs, strict=True))
    return _corpus("edited pages of Debian's documentation", texts, ones, others)


def _corpus(
    name: str,
    texts: Sequence[str],
    one: NDArray[np.intp],
    other: NDArray[np.intp],
    similarities: NDArray[np.float64] | None = None,
) -> Corpus:
    sets = [shingle_set(text) for text in texts]
    if similarities is None:
        counted = [jaccard(sets[left], sets[right]) for left, right in zip(one, other, strict=True)]
        similarities = np.array(counted)
    words = [word_hashes(text) for text in texts]
    return Corpus(name=name, texts=texts, words=words, sets=sets, one=one, other=other, similarities=similarities)


def documents_of(package: str, number: int, chance: Random) -> list[Document]:
    """Sample pages of a package, in their order; long ones are cut."""
    home = site_of(package).home
    files = sorted(home.rglob("*.html"))
    found: list[Document] = []
    for file in chance.sample(files, len(files)):
        if len(found) == number:
            break
        page = file.relative_to(home).as_posix()
        text = _beginning(parse_html(file.read_bytes(), f"http://{package}.test/{page}").main_text, _length(chance))
        if len(WORD.findall(text)) >= FEWEST:
            found.append(Document(package, page, text))
    return sorted(found)


def _length(chance: Random) -> int:
    return round(FEWEST * (MOST / FEWEST) ** chance.random())


def _beginning(text: str, words: int) -> str:
    """Return the first words of a text, up to the end of their line."""
    found = list(WORD.finditer(text))
    if len(found) <= words:
        return text
    return text[: found[words - 1].end()] + text[found[words - 1].end() :].partition("\n")[0]


def _unedited_pairs(documents: Sequence[Document], chance: Random) -> Iterator[tuple[int, int]]:
    """Yield neighbours in a package, pages of one name in several of its folders, and random pairs."""
    yield from pairwise(range(len(documents)))
    by_name: dict[tuple[str, str], list[int]] = {}
    for number, document in enumerate(documents):
        by_name.setdefault((document.package, document.page.rpartition("/")[2]), []).append(number)
    for numbers in by_name.values():
        yield from combinations(numbers, 2)
    for number in range(len(documents)):
        for _ in range(2):
            yield number, chance.choice([*range(number), *range(number + 1, len(documents))])
