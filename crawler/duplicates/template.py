"""Find a site's template: the shingles that most of its pages share, which must not count towards similarity.

Different pages that share a template are the known failure of near-duplicate detection by shingles (Henzinger 2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from crawler.duplicates.minhash import Sketch
from crawler.duplicates.words import Hashes

MIN_PAGES: Final = 8  # of a host that must be archived before its template is computed
MAX_PAGES: Final = 16  # from which a template is computed
MAX_SHINGLES: Final = 2_000  # of a template; it is sent along with each visit
MIN_OWN_SHINGLES: Final = 20  # outside the template; a page with fewer is compared as a whole, template included
_MIN_SHARE_OF_PAGES: Final = 0.75  # a shingle is part of the template if this share of the pages has it
_MIN_SHARE_OF_PAGE: Final = 0.1  # a template that is less of the median page is not used
_MIN_AGREEING_BINS: Final = 6  # minhashes in which most of the sketches must agree before the pages are read again


def may_have_template(sketches: Sequence[Sketch]) -> bool:
    """Whether these pages may share a template, judged by their sketches alone.

    Where the minimum of a bin is a shingle of the template, the pages agree, however different the rest of them is.
    """
    if len(sketches) < MIN_PAGES:
        return False
    minhashes = np.sort(np.stack([sketch.marks for sketch in sketches]), axis=0)
    needed = _pages_needed(len(sketches))
    agreeing = (minhashes[needed - 1 :] == minhashes[: len(minhashes) - needed + 1]).any(axis=0)
    return int(np.count_nonzero(agreeing)) >= _MIN_AGREEING_BINS


def find_template(pages: Sequence[Hashes]) -> Hashes:
    """The shingles that most of these pages (sets of shingles) share; none if they are too small a part of a page."""
    pages = [page for page in pages if len(page)]
    if len(pages) < MIN_PAGES:
        return np.empty(0, dtype=np.uint64)
    shingles, counts = np.unique(np.concatenate(pages), return_counts=True)
    common = shingles[counts >= _pages_needed(len(pages))]
    shares = [len(np.intersect1d(page, common, assume_unique=True)) / len(page) for page in pages]
    return common[:MAX_SHINGLES] if float(np.median(shares)) >= _MIN_SHARE_OF_PAGE else common[:0]


def own_shingles_mask(shingles: Hashes, template: Hashes) -> NDArray[np.bool]:
    """Which shingles of a page are outside the template; all of them if too few would be left to compare."""
    everything = np.ones(len(shingles), dtype=np.bool)
    if not len(template):
        return everything
    own: NDArray[np.bool] = ~np.isin(shingles, template)
    return own if len(np.unique(shingles[own])) >= MIN_OWN_SHINGLES else everything


def pack_template(template: Hashes) -> bytes:
    """The template as stores keep it; `unpack_template` reads it."""
    return template.astype("<u8").tobytes()


def unpack_template(data: bytes) -> Hashes:
    """The shingles of a template as stores keep it."""
    return np.frombuffer(data, dtype="<u8")


def template_fingerprint(data: bytes) -> int:
    """A fingerprint of a packed template, as a signed number for the database; 0 if there is none."""
    fingerprint = xxh3_64_intdigest(data) if data else 0
    return fingerprint - (1 << 64) if fingerprint >= 1 << 63 else fingerprint


def _pages_needed(pages: int) -> int:
    """How many of these pages must have a shingle for it to count as template; rounded up."""
    return -int(-_MIN_SHARE_OF_PAGES * pages // 1)
