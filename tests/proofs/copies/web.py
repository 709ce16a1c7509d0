"""A web of which it is known what is a copy of what: pages on several hosts, some of them edited copies of others.

Copies share more than nine tenths of their runs of words, all other pages next to none, so that it does not matter in which
order they are found. Some hosts put the same long text on all their pages, around a few words of each page's own.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.webgraph.prose import words

_OWN = 400  # words of a page
_DRESS = 1_600  # words that a dressed host puts around its pages: four fifths


@dataclass(frozen=True)
class Copies:
    """So many hosts with so many pages; one host in three is dressed."""

    hosts: int = 9
    pages: int = 30
    clusters: int = 40
    seed: int = 1

    def names(self) -> list[str]:
        return [f"h{number}.test" for number in range(self.hosts)]

    def served(self) -> Mapping[str, Mapping[str, str]]:
        """Host name → path → page."""
        pages: dict[str, dict[str, str]] = {name: {} for name in self.names()}
        for (host, path), text in self._texts().items():
            pages[host][path] = self._page(host, text)
        for own in pages.values():
            own["/"] = "".join(f'<p><a href="{path}">{path}</a></p>' for path in own)
        return pages

    def clusters_of_copies(self) -> set[frozenset[str]]:
        """The sets of pages that are copies of each other, each as host and path."""
        return {frozenset(f"{host}{path}" for host, path in places) for places in self._plan() if len(places) > 1}

    def _plan(self) -> list[list[tuple[str, str]]]:
        """Where each content stands: those of clusters in several places, the others in one."""
        chance = random.Random(self.seed)
        places = [(host, f"/{number}") for host in self.names() for number in range(self.pages)]
        chance.shuffle(places)
        plan = []
        for _ in range(self.clusters):
            size = chance.randint(2, 5)
            plan.append([places.pop() for _ in range(size)])
        return plan + [[place] for place in places]

    def _texts(self) -> Mapping[tuple[str, str], Sequence[str]]:
        texts = {}
        for content, places in enumerate(self._plan()):
            for copy, place in enumerate(places):
                own = words(_OWN, self.seed, content)
                if copy % 3:  # every third is a copy word by word
                    own[_OWN // 2] = f"edited{copy}"
                texts[place] = own
        return texts

    def _page(self, host: str, own: Sequence[str]) -> str:
        number = int(host[1:].partition(".")[0])
        dress = words(_DRESS, self.seed, host, "dress") if number % 3 == 2 else []
        half = len(dress) // 2
        parts = (dress[:half], own, dress[half:])
        return "<!DOCTYPE html><title>A page</title>" + "".join(f"<p>{' '.join(part)}</p>" for part in parts if part)
