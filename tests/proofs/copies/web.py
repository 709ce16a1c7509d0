"""A generated web with known copies: pages on several hosts, some of them edited copies of others.

Copies share more than nine tenths of their shingles, all other pages next to none, so that the order in which they are
found does not matter. Some hosts have a site template: the same long text around the own words of each page.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.webgraph.prose import words

_OWN = 400  # words of a page's own
_TEMPLATE = 1_600  # words of a site template: four fifths of a page


@dataclass(frozen=True)
class Copies:
    """A web of this size; one host in three has a site template."""

    hosts: int = 9
    pages: int = 30
    clusters: int = 40
    seed: int = 1

    def names(self) -> list[str]:
        return [f"h{number}.test" for number in range(self.hosts)]

    def served(self) -> Mapping[str, Mapping[str, str]]:
        """Return host name → path → page."""
        pages: dict[str, dict[str, str]] = {name: {} for name in self.names()}
        for (host, path), text in self._texts().items():
            pages[host][path] = self._page(host, text)
        for own in pages.values():
            own["/"] = "".join(f'<p><a href="{path}">{path}</a></p>' for path in own)
        return pages

    def clusters_of_copies(self) -> set[frozenset[str]]:
        """Return the sets of pages that are copies of each other, each as host and path."""
        return {frozenset(f"{host}{path}" for host, path in places) for places in self._plan() if len(places) > 1}

    def _plan(self) -> list[list[tuple[str, str]]]:
        """Return the pages with each content: several for a cluster, one for the others."""
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
                if copy % 3:  # every third is an exact copy
                    own[_OWN // 2] = f"edited{copy}"
                texts[place] = own
        return texts

    def _page(self, host: str, own: Sequence[str]) -> str:
        number = int(host[1:].partition(".")[0])
        template = words(_TEMPLATE, self.seed, host, "template") if number % 3 == 2 else []
        half = len(template) // 2
        parts = (template[:half], own, template[half:])
        return "<!DOCTYPE html><title>A page</title>" + "".join(f"<p>{' '.join(part)}</p>" for part in parts if part)
