"""Are pages of one site mistaken for duplicates because they share a template, and are real copies among them found?

A real crawl of one host: 500 different pages of real text, four fifths of which are the same on all, and the same again
with a hundred planted copies, half of them with a word changed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import islice
from pathlib import Path
from random import Random

from benchmarks.duplicate_sets import PACKAGES, documents_of
from benchmarks.edited_texts import WORD
from benchmarks.report import Verdict
from crawler.duplicates.shingles import shingle_set
from tests.proofs.copies.proof import Findings, crawl_pages
from tests.proofs.docs.packages import Unavailable

PAGES, COPIES = 500, 100
OWN, TEMPLATE = 150, 600  # words: four fifths are the same on all pages
MOST_FALSE, LEAST_FOUND = 0.01, 0.97
HOST = "shop.test"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--template", type=int, default=TEMPLATE, help="words that all pages share")
    parser.add_argument("--own", type=int, default=OWN, help="words that only one page has")
    parser.add_argument("--seed", type=int, default=1)


def main(options: argparse.Namespace) -> int:
    chance = Random(options.seed)
    try:
        texts = [document.text for package in PACKAGES for document in documents_of(package, PAGES, chance)]
    except Unavailable as reason:
        print(f"No pages of documentation packages: {reason}")
        return 0
    chance.shuffle(texts)
    template = WORD.findall(" ".join(texts[-len(texts) // 5 :]))[: options.template]
    own = list(islice(_different(texts[: -len(texts) // 5], options.own), PAGES))
    pages = {f"/{number}": words for number, words in enumerate(own)}
    copies = {f"/copy/{number}": _copied(own[number], edit=number % 2 == 1) for number in range(COPIES)}
    share = options.template / (options.template + options.own)
    print(f"{len(pages)} different pages of one host, {share:.0%} of each the same on all", flush=True)
    alone = _crawl(pages, template)
    false = _false_duplicates(alone)
    print(f"alone: {alone.pages} pages, {false} of them in false clusters; template learned: {alone.templates == 1}")
    among = _crawl(pages | copies, template)
    found = sum(_are_clustered(among, f"/{number}", f"/copy/{number}") for number in range(COPIES))
    wrong = _false_duplicates(among)
    print(
        f"with {COPIES} copies: {found} found, {wrong} of the {len(pages)} in false clusters, {among.compared} compared"
    )
    verdicts = [
        Verdict(
            what=f"{max(false, wrong) / len(pages):.1%} of the pages are false duplicates, at most {MOST_FALSE:.0%}",
            holds=max(false, wrong) <= MOST_FALSE * len(pages),
        ),
        Verdict(
            what=f"{found / COPIES:.1%} of the copies are found, at least {LEAST_FOUND:.0%}",
            holds=found >= LEAST_FOUND * COPIES,
        ),
    ]
    print(*verdicts, sep="\n")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def _different(texts: Sequence[str], words: int) -> Iterator[list[str]]:
    """Yield beginnings of texts that share at most a third of their shingles with earlier ones."""
    known: set[int] = set()
    for text in texts:
        own = WORD.findall(text)[:words]
        shingles = set(shingle_set(" ".join(own)).tolist())
        if len(own) == words and len(shingles & known) <= len(shingles) / 3:
            known |= shingles
            yield own


def _copied(words: Sequence[str], *, edit: bool) -> list[str]:
    """Copy a page with a word in capitals, so that the copy is not exact, or with that word changed."""
    middle = "changed" if edit else words[len(words) // 2].upper()
    return [*words[: len(words) // 2], middle, *words[len(words) // 2 + 1 :]]


def _crawl(pages: Mapping[str, Sequence[str]], template: Sequence[str]) -> Findings:
    half = len(template) // 2
    served = {path: _page(template[:half], words, template[half:]) for path, words in pages.items()}
    served["/"] = "".join(f'<p><a href="{path}">{path}</a></p>' for path in served)
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as name:
        return crawl_pages({HOST: served}, Path(name), delay=0, workers=1)


def _page(*parts: Sequence[str]) -> str:
    return "<!DOCTYPE html><title>A page</title>" + "".join(f"<p>{escape(' '.join(part))}</p>" for part in parts)


def _false_duplicates(found: Findings) -> int:
    """Count pages, without planted copies, that are in a cluster with other pages."""
    return sum(
        len(pages) for cluster in found.clusters if len(pages := [one for one in cluster if "/copy/" not in one]) > 1
    )


def _are_clustered(found: Findings, page: str, copy: str) -> bool:
    return any({f"{HOST}{page}", f"{HOST}{copy}"} <= cluster for cluster in found.clusters)
