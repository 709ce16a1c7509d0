"""The role `similarity`: the index of sketches, pages whose texts must be compared, and the templates of hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from crawler.items import Key
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.documents import DocumentRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarPage:
    """A possible original of another page: their texts must be compared."""

    id: int  # as in urls
    document: DocumentRow
    template: bytes  # of its host


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateJob:
    """Pages of a host, to extract its template or to remove it from their sketches."""

    host: int
    template: bytes | None  # None = to be extracted from these pages
    pages: Sequence[tuple[int, DocumentRow]]  # with their numbers in urls


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateResult:
    """The result of a template job."""

    host: int
    template: bytes  # empty = the pages share nothing, or could not be read; nothing is stored then
    mark: int  # fingerprint of the template
    sketches: Mapping[int, tuple[int, bytes]]  # number in urls → document, sketch; an empty sketch could not be made


@dataclass(frozen=True, slots=True, kw_only=True)
class UndecidedPage:
    """A page whose sketch without the template does not decide whether it is a duplicate."""

    id: int  # as in urls
    document: DocumentRow
    template: bytes  # of its host
    candidates: Sequence[SimilarPage]


class SimilarityStore(Protocol):
    """Finds near-duplicates by their sketches, and keeps the templates that are removed from these."""

    def candidates(self, batch: Sequence[VisitResult]) -> Mapping[Key, Sequence[SimilarPage]]:
        """Return visits of a batch whose sketches do not decide, each with the pages to compare before its commit.

        An empty list of pages means that the other page is in the batch itself and must be committed first.
        """

    def template_hosts(self, owner: str) -> list[int]:
        """Return this owner's hosts with a `TemplateJob`."""

    def next_template_job(self, host: int) -> TemplateJob | None:
        """Return the next template job of a host; None if all are done, and then the host has no job any more."""

    def store_template(self, result: TemplateResult, now: float) -> Sequence[UndecidedPage]:
        """Store a template and the sketches without it, and update the duplicates of these pages.

        Pages that must be compared with others first are returned, and come again in a `TemplateJob` until
        `decide` was called for them.
        """

    def decide(self, page: UndecidedPage, compared: Mapping[int, float], now: float) -> None:
        """Set the original of a page after its text was compared with those of the candidates."""

    def rebuild_index(self) -> int:
        """Rebuild the index for another threshold, and return the number of pages in it. No worker may be running."""

    def forget_sketches(self) -> None:
        """Delete all sketches, because new ones are made in another way and cannot be compared with them."""

    def sketches(self) -> Iterator[Sequence[tuple[int, int, bytes]]]:
        """Yield (number in urls, document, sketch) of all pages that have a sketch, by number, in blocks.

        Each block is a snapshot of its own, so that a long read does not delay a running crawl.
        """

    def count_sketches(self) -> int:
        """Return how many pages have a sketch."""

    def find_sketched(self, number: int) -> SimilarPage | None:
        """Return the page with this number in urls, if it has a sketch."""

    def template(self, host: int) -> bytes:
        """Return the template of a host; empty if none is known."""
