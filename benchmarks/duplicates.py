"""What are precision and recall of each method of near-duplicate detection, and what does a sketch cost?

On all pairs of two collections, at two thresholds. MinHash calls a pair near-duplicates if its estimate reaches the
threshold. Simhash estimates no similarity, so it is measured with the limit that does best on these very pairs, and
with the usual one; it counts words, so it does not notice moved paragraphs. The cascade is what the crawler does: only
documents that share a band key are compared, and duplicates that share none are missed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.duplicate_scores import agreements, best_cut, estimates
from benchmarks.duplicate_sets import DATA, Corpus, edited_pages, revisions
from benchmarks.report import Verdict
from benchmarks.sketch_speed import OURS, THEIRS, rates, thousands
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.evaluation import CascadeDecisions, PairEvidence, Quality, cascade, quality
from crawler.duplicates.minhash import PERMUTATIONS
from tests.proofs.docs.packages import Unavailable

REQUIRED = {0.9: (0.99, 0.97), 0.8: (0.97, 0.96)}  # precision and recall of the cascade, by threshold
FASTER = 4.0  # times as fast as datasketch
PERMUTATION_SIZES = (16, 32, 64, 100, 200, 400)
BIT_SIZES = (32, 64, 128, 256, 384)
USUAL = 3  # of 64 bits in which near-duplicates may differ (Manku, Jain and Das Sarma 2007)
TEXTBOOK = 372  # of 384 bits: near-duplicates agree in more (Croft, Metzler and Strohman, 3.7)
_STEPS = (0.0, 0.2, 0.6, 0.7, 0.8, 0.9, 1.0)


class Row(NamedTuple):
    """A method, and how good it is at each threshold."""

    name: str
    qualities: Sequence[Quality]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=7, help="of sketching, for the speed")
    parser.add_argument("--documents", type=int, default=200, help="sketched in a round")


def main(options: argparse.Namespace) -> int:
    corpora = list(_corpora())
    if not corpora:
        return 0
    verdicts: list[Verdict] = []
    for corpus in corpora:
        evidence = PairEvidence(corpus)
        cascades = {threshold: cascade(evidence, DuplicateRule(threshold=threshold)) for threshold in REQUIRED}
        rows = [*_rows(corpus), Row("cascade", [_quality(corpus, *found) for found in cascades.items()])]
        print(_opening(corpus), "", _table(rows), "", *_savings(corpus, cascades), "", sep="\n")
        verdicts += judge(corpus.name, rows[-1].qualities)
    print(_sizes(corpora), "", sep="\n")
    documents = thousands((text for corpus in corpora for text in corpus.texts), options.documents)
    speeds = rates(documents, options.rounds)
    print(_speeds(speeds, len(documents), options.rounds))
    verdicts.append(judge_speed(speeds))
    print("", *verdicts, sep="\n")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def _corpora() -> Iterator[Corpus]:
    """Yield the collections that this machine has; print why one is missing."""
    if DATA.is_dir():
        yield revisions()
    else:
        print(f"The revisions of MDN's pages are not at {DATA}: nothing to measure on them")
    try:
        yield edited_pages()
    except Unavailable as reason:
        print(f"No pages of documentation packages: {reason}")


def _rows(corpus: Corpus) -> Iterator[Row]:
    """Measure the methods one by one, without band keys: every pair is compared."""
    minhash = estimates(corpus)
    yield Row(
        f"minhash-{PERMUTATIONS}, its estimate",
        [quality(minhash >= threshold, corpus.similarities >= threshold) for threshold in REQUIRED],
    )
    for bits, usual in ((64, 64 - USUAL), (384, TEXTBOOK + 1)):
        simhash = agreements(corpus, bits)
        truths = [corpus.similarities >= threshold for threshold in REQUIRED]
        best = [best_cut(simhash, truth) for truth in truths]
        limits = " and ".join(f"{cut:.0f}" for cut, _ in best)
        yield Row(f"simhash-{bits}, {limits} bits agree", [found for _, found in best])
        yield Row(f"simhash-{bits}, {usual} bits agree", [quality(simhash >= usual, truth) for truth in truths])


def _quality(corpus: Corpus, threshold: float, found: CascadeDecisions) -> Quality:
    return quality(found.is_duplicate, corpus.similarities >= threshold)


def judge(name: str, qualities: Sequence[Quality]) -> list[Verdict]:
    verdicts = []
    for (threshold, required), found in zip(REQUIRED.items(), qualities, strict=True):
        for what, share, floor in zip(("precision", "recall"), found[:2], required, strict=True):
            sentence = f"{name}, J ≥ {threshold}: the cascade's {what} is {share:.4f}, at least {floor}"
            verdicts.append(Verdict(what=sentence, holds=share >= floor))
    return verdicts


def judge_speed(speeds: Mapping[str, float]) -> Verdict:
    ratio = speeds[OURS] / speeds[THEIRS]
    return Verdict(what=f"sketches: {ratio:.1f} × datasketch, at least {FASTER:g} ×", holds=ratio >= FASTER)


def _opening(corpus: Corpus) -> str:
    counts, _ = np.histogram(corpus.similarities, [*_STEPS, 1.01])
    spread = ", ".join(f"{count:,} from {step}" for step, count in zip(_STEPS, counts, strict=True))
    return (
        f"{corpus.name[0].upper()}{corpus.name[1:]}: {len(corpus.texts):,} documents, {len(corpus.one):,} pairs\n"
        f"by Jaccard coefficient: {spread}"
    )


def _table(rows: Sequence[Row]) -> str:
    lines = [f"{'':36}" + "".join(f"{f'J ≥ {threshold}':>24}" for threshold in REQUIRED)]
    lines.append(f"{'':36}" + f"{'P':>12}{'R':>6}{'F1':>6}" * len(REQUIRED))
    for name, qualities in rows:
        lines.append(f"{name:36}" + "".join(f"{p:>12.3f}{r:>6.3f}{f1:>6.3f}" for p, r, f1 in qualities))
    return "\n".join(lines)


def _savings(corpus: Corpus, cascades: Mapping[float, CascadeDecisions]) -> Iterator[str]:
    """Yield a sentence for each threshold on how many comparisons the cascade saves."""
    for threshold, found in cascades.items():
        truth = corpus.similarities >= threshold
        missed = int((truth & ~found.is_candidate).sum())
        yield (
            f"J ≥ {threshold}: {found.is_candidate.mean():.2%} of all pairs share a band key ({missed} of "
            f"{truth.sum():,} duplicates did not); {found.needed_texts.sum():,} needed the texts, "
            f"{found.needed_texts.mean():.2%} of all and "
            f"{found.needed_texts.sum() / max(found.is_candidate.sum(), 1):.0%} of those with a common key"
        )


def _sizes(corpora: Sequence[Corpus]) -> str:
    """Tabulate F1 by the size of a sketch, each with the limit that does best."""
    lines = ["F1 by size, each with the limit that does best", ""]
    titles = [f"{corpus.name.split()[0]}, J ≥ {threshold}" for corpus in corpora for threshold in REQUIRED]
    lines.append(f"{'':16}{'bytes':>6}" + "".join(f"{title:>20}" for title in titles))
    kinds = [(f"minhash-{size}", 2 * size, estimates, size) for size in PERMUTATION_SIZES]
    kinds += [(f"simhash-{size}", size // 8, agreements, size) for size in BIT_SIZES]
    for name, weight, method, size in kinds:
        cells = [f"{f1:>20.3f}" for corpus in corpora for f1 in _best_f1s(corpus, method(corpus, size))]
        lines.append(f"{name:16}{weight:>6}" + "".join(cells))
    return "\n".join(lines)


def _best_f1s(corpus: Corpus, values: np.ndarray) -> list[float]:
    return [best_cut(values, corpus.similarities >= threshold)[1].f1 for threshold in REQUIRED]


def _speeds(speeds: Mapping[str, float], documents: int, rounds: int) -> str:
    lines = [f"{documents} documents of 1,000 words, {rounds} rounds{'docs/CPU-s':>20}{'× datasketch':>14}"]
    for name, speed in speeds.items():
        lines.append(f"{name:44}{speed:>15,.0f}{speed / speeds[THEIRS]:>14.1f}")
    return "\n".join(lines)
