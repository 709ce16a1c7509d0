"""How many documents of a thousand words are sketched per CPU-second, by our code and by libraries?

From the same texts to a MinHash sketch of 200 values of their 5-word shingles; the libraries get the distinct shingles
in the form they need. All take turns; CPU time is counted, and the fastest round of each.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec

from benchmarks.edited_texts import WORD
from crawler.duplicates.minhash import PERMUTATIONS, sketch
from crawler.duplicates.shingles import SHINGLE_WORDS

OURS, THEIRS = "ours", "datasketch, update_batch with sha1"
WORDS = 1_000  # of a document
Side = Callable[[str], object]


def thousands(texts: Iterable[str], number: int) -> list[str]:
    """Cut documents of a thousand words from texts, at most `number`."""
    found: list[str] = []
    for text in texts:
        words = list(WORD.finditer(text))
        starts = range(0, len(words) - WORDS + 1, WORDS)
        found += [text[words[at].start() : words[at + WORDS - 1].end()] for at in starts]
    return found[:number]


def sides() -> dict[str, Side]:
    from datasketch import MinHash

    empty = MinHash(num_perm=PERMUTATIONS)  # its permutations are drawn once, not for each document

    def datasketch(text: str) -> object:
        found = empty.copy()
        found.update_batch([run.encode() for run in runs_of(text)])
        return found

    found: dict[str, Side] = {OURS: sketch, THEIRS: datasketch}
    if find_spec("rensa"):
        from rensa import RMinHash

        def rensa(text: str) -> object:
            found = RMinHash(num_perm=PERMUTATIONS, seed=1)
            found.update(runs_of(text))
            return found.digest()

        found["rensa, RMinHash"] = rensa
    return found


def runs_of(text: str) -> list[str]:
    words = WORD.findall(text.lower())
    return list({" ".join(words[at : at + SHINGLE_WORDS]) for at in range(len(words) - SHINGLE_WORDS + 1)})


def rates(documents: Sequence[str], rounds: int) -> dict[str, float]:
    """Return the documents per CPU-second of each side."""
    methods = sides()
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    for number in range(rounds):
        for name in sorted(methods, reverse=bool(number % 2)):
            seconds[name].append(_seconds(methods[name], documents))
    return {name: len(documents) / min(found) for name, found in seconds.items()}


def _seconds(side: Side, documents: Sequence[str]) -> float:
    gc.collect()  # garbage of other code is not counted
    started = time.process_time()
    for document in documents:
        side(document)
    return time.process_time() - started
