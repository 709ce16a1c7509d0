"""Near-duplicates: the index of sketches, pages that must be compared, and the templates of hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from crawler.items import Key
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.documents import DocumentRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarPage:
    """A page that another may be a near-duplicate of: their texts must be compared."""

    id: int  # as in urls
    document: DocumentRow
    template: bytes  # of its host


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateJob:
    """Pages of a host from which its template is to be learned, or out of whose sketches it is to be taken."""

    host: int
    template: bytes | None  # None = to be learned from these pages
    pages: Sequence[tuple[int, DocumentRow]]  # with their numbers in urls


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateResult:
    """What a template job found."""

    host: int
    template: bytes  # empty = the pages share nothing, or could not be read; nothing is kept then
    mark: int  # fingerprint of the template
    sketches: Mapping[int, tuple[int, bytes]]  # number in urls → document, sketch; empty = it could not be made


@dataclass(frozen=True, slots=True, kw_only=True)
class UndecidedPage:
    """A page whose new sketch leaves open what it is a duplicate of."""

    id: int  # as in urls
    document: DocumentRow
    template: bytes  # of its host
    candidates: Sequence[SimilarPage]


class SimilarityStore(Protocol):
    """Finds near-duplicates by their sketches, and keeps the templates that are left out of them."""

    def candidates(self, batch: Sequence[VisitResult]) -> Mapping[Key, Sequence[SimilarPage]]:
        """Visits of a batch whose sketches do not decide, with the pages to compare before they are committed.

        No page to compare with means that the other one is in the batch itself and must be committed first.
        """

    def template_hosts(self, owner: str) -> list[int]:
        """This owner's hosts for which there is a `TemplateJob`."""

    def next_template_job(self, host: int) -> TemplateJob | None:
        """The next template job of a host; None if nothing is left to learn, which is noted."""

    def store_template(self, result: TemplateResult, now: float) -> Sequence[UndecidedPage]:
        """Keep a template and the sketches without it, and change what is a duplicate of what.

        Pages that must be compared with others first are returned, and come again in a `TemplateJob` until
        `decide` was called for them.
        """

    def decide(self, page: UndecidedPage, compared: Mapping[int, float], now: float) -> None:
        """Set what a page is a duplicate of, after it was compared."""

    def rebuild_index(self) -> int:
        """Enter all pages anew for another threshold; returns how many. No worker may be running."""

    def forget_sketches(self) -> None:
        """Delete all sketches, because new ones are made in another way and cannot be compared with them."""

    def sketches(self) -> Iterator[Sequence[tuple[int, int, bytes]]]:
        """(number in urls, document, sketch) of all pages that can be compared, by number, in blocks.

        Each block is of the moment when it is read: this may take long, and must hold up no crawl.
        """

    def count_sketches(self) -> int:
        """How many pages `sketches` gives, if none comes or goes."""

    def find_sketched(self, number: int) -> SimilarPage | None:
        """The page with this number in urls, if it has a sketch now."""

    def template(self, host: int) -> bytes:
        """The template of a host, which sketches leave out; empty if none is known."""
