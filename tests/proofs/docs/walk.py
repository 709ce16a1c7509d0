"""Finds the pages to which a site's links lead, independently of the crawler: other parser, other URL resolution."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import lxml.html

from tests.proofs.docs.site import INDEX, Site, content, is_html, is_page

_FOLLOWED = frozenset({"alternate", "next", "prev"})  # of <link>; the others are no pages, or named by <a> as well


@dataclass(slots=True)
class Walked:
    """Every page that links lead to, and how the links spell folders."""

    pages: dict[Path, set[str]] = field(default_factory=lambda: defaultdict(set))  # with its targets
    # By folder: how many links to it end in "/", and in INDEX.
    folders: dict[Path, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def links_ending_in(self, spelling: str) -> int:
        return sum(counts[spelling] for counts in self.folders.values())

    @property
    def folders_spelled_both_ways(self) -> int:
        return sum(len(counts) > 1 for counts in self.folders.values())


def walk(site: Site) -> Walked:
    """Follow all links inside the site, from its home page."""
    walked = Walked()
    waiting, known = ["/"], {"/"}
    while waiting:
        target = waiting.pop()
        for linked in _visit(site, target, walked):
            if linked not in known:
                known.add(linked)
                waiting.append(linked)
    return walked


def _visit(site: Site, target: str, walked: Walked) -> list[str]:
    """Record a page and return the targets of its links; a page with two URLs is read once."""
    found = site.find(target)
    if found.location:
        return [found.location]
    if found.file is None or not is_page(found.file):
        return []
    is_new = found.file not in walked.pages
    walked.pages[found.file].add(target)
    if not is_new or not is_html(found.file):
        return []
    targets = list(_targets(content(found.file), site.host, target))
    for linked in targets:
        _note_spelling(site, linked, walked)
    return targets


def _note_spelling(site: Site, target: str, walked: Walked) -> None:
    file = site.find(target).file
    path = target.partition("?")[0]
    if file and path.endswith(f"/{INDEX}"):
        walked.folders[file.parent][INDEX] += 1
    elif file and path.endswith("/"):
        walked.folders[file.parent if file.name == INDEX else file]["/"] += 1


def _targets(body: bytes, host: str, target: str) -> Iterator[str]:
    """Yield the links that stay on the host as request targets, each as often as it occurs in the page."""
    document = lxml.html.document_fromstring(body) if body.strip() else lxml.html.Element("html")
    page = f"http://{host}{target}"
    base = urljoin(page, next(iter(document.xpath("//base/@href")), ""))
    for reference in _references(document):
        try:
            address = urlsplit(urldefrag(urljoin(base, reference.strip())).url)
        except ValueError:  # no URL at all
            continue
        if address.scheme == "http" and address.netloc == host:
            yield (address.path or "/") + (f"?{address.query}" if address.query else "")


def _references(document: lxml.html.HtmlElement) -> Iterator[str]:
    """Yield the references that a crawler may follow, those with rel=nofollow excluded."""
    for element in document.iter("a", "area", "iframe", "frame", "link"):
        rel = element.get("rel", "").lower().split()
        if "nofollow" in rel or (element.tag == "link" and _FOLLOWED.isdisjoint(rel)):
            continue
        reference = element.get("src" if element.tag in ("iframe", "frame") else "href")
        if reference and not reference.startswith("#"):  # else it stays on the page
            yield reference
