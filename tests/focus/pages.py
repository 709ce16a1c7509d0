"""Made pages on birds and on screws, to learn a topic from."""

from __future__ import annotations

from random import Random

BIRD_WORDS = ["bird", "nest", "wing", "feather", "beak", "egg", "migrate", "flock", "perch", "song", "species", "hatch"]
SCREW_WORDS = [
    "screw",
    "bolt",
    "thread",
    "steel",
    "washer",
    "torque",
    "driver",
    "metal",
    "drill",
    "nut",
    "hole",
    "head",
]
COMMON_WORDS = ["the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "was", "with", "be", "by", "on"]


def made_page(words: list[str], chance: Random, length: int = 120) -> str:
    """Return a page of common words, a third of them of a topic."""
    body = [chance.choice(words) if chance.random() < 0.33 else chance.choice(COMMON_WORDS) for _ in range(length)]
    return f"{chance.choice(words)}\n{' '.join(body)}"


def bird_pages(count: int, seed: int = 1) -> list[str]:
    chance = Random(seed)
    return [made_page(BIRD_WORDS, chance) for _ in range(count)]


def screw_pages(count: int, seed: int = 2) -> list[str]:
    chance = Random(seed)
    return [made_page(SCREW_WORDS, chance) for _ in range(count)]
