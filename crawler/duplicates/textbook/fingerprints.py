"""Fingerprint a document by a selection of its hashed n-grams (runs of n words).

A selection rule must depend on the n-grams themselves and not on their position, so that two documents keep the same
n-grams of a passage that they share. `modulo` keeps one in p on average, but may miss a long passage altogether;
`winnowed` cannot.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from xxhash import xxh3_64_intdigest

Hash = Callable[[bytes], int]


def ngrams(words: Sequence[str], n: int, *, overlapping: bool = True) -> list[str]:
    """All runs of n words, joined with blanks, in order; a shorter text is one n-gram, an empty one has none.

    >>> ngrams("a rose is a rose".split(), 4), ngrams("a rose is a rose".split(), 2, overlapping=False)
    (['a rose is a', 'rose is a rose'], ['a rose', 'is a'])
    """
    assert n >= 1, "an n-gram has a word"
    if not words:
        return []
    last = max(len(words) - n, 0)
    return [" ".join(words[at : at + n]) for at in range(0, last + 1, 1 if overlapping else n)]


def hashes(grams: Iterable[str], hashed: Hash = xxh3_64_intdigest) -> list[int]:
    """The hash of each n-gram, in order; `rabin.fingerprint` can be used as the hash function, too."""
    return [hashed(gram.encode("utf-8", "surrogatepass")) for gram in grams]


def modulo(numbers: Iterable[int], p: int) -> list[int]:
    """The hashes that are divisible by p (0 mod p, Manber 1994), in order.

    >>> modulo([938, 664, 463, 822, 492], 4)
    [664, 492]
    """
    return [number for number in numbers if number % p == 0]


def with_prefix(grams: Iterable[str], characters: str | tuple[str, ...]) -> list[str]:
    """The n-grams that begin with this prefix, or with one of several; in order.

    >>> with_prefix(["fish found in", "found in tropical", "in tropical seas"], ("fi", "i"))
    ['fish found in', 'in tropical seas']
    """
    return [gram for gram in grams if gram.startswith(characters)]


def winnowed(numbers: Sequence[int], window: int) -> list[int]:
    """The minimum of every `window` consecutive hashes, in order (Schleimer, Wilkerson and Aiken 2003).

    Two documents that share a run of `window` n-grams, that is of n + window - 1 words, keep one of them in common.
    Of random hashes 2 in window + 1 are kept.

    >>> winnowed([9, 5, 7, 5, 8, 3], 3)
    [5, 5, 3]
    """
    return [numbers[place] for place in winnowed_places(numbers, window)]


def winnowed_places(numbers: Sequence[int], window: int) -> list[int]:
    """The positions of the hashes that `winnowed` keeps: in each window the last of its minima, each position once.

    >>> winnowed_places([9, 5, 7, 5, 8, 3], 3)
    [1, 3, 5]
    """
    assert window >= 1, "a window has a width"
    # Positions in the window that no later hash undercuts or equals: their hashes rise, so the first is the minimum.
    rising: deque[int] = deque()
    places: list[int] = []
    first_end = min(window, len(numbers)) - 1  # a shorter document is one window
    for place, number in enumerate(numbers):
        while rising and numbers[rising[-1]] >= number:
            rising.pop()
        rising.append(place)
        if rising[0] <= place - window:
            rising.popleft()
        if place >= first_end and (not places or places[-1] != rising[0]):
            places.append(rising[0])
    return places
