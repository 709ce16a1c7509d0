"""The fields of an exported document, and the selection of some of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from crawler.errors import Misconfigured

FIELDS: Final = (
    "id",
    "url",
    "host",
    "fetched_at",
    "status",
    "content_type",
    "title",
    "text",
    "blocks",
    "language",
    "format",
    "problem",
    "description",
    "author",
    "published_at",
    "modified_at",
    "canonical",
    "digest",
    "duplicate_of",
    "similarity",
    "tier",
    "relevance",
    "anchors",
    "links",
    "noarchive",
    "event",
    "deleted",
    "evidence",
    "target",
    "version",
)
TOPIC_FIELDS: Final = frozenset({"relevance"})  # only documents that were fetched by a crawl with a topic have them
# Of a document that is exported without options; blocks and links are added on demand, the others belong to deletions.
PAGE_FIELDS: Final = frozenset(FIELDS) - TOPIC_FIELDS - {"blocks", "links", "deleted", "evidence", "target"}
# Needed to keep an index up to date, so they are exported with every selection.
REQUIRED_FIELDS: Final = frozenset(["id", "url", "version", "deleted", "evidence"])


def with_required_fields(names: Iterable[str]) -> frozenset[str]:
    """The chosen fields and those that are always exported; `Misconfigured` if there is no such field."""
    wanted = frozenset(names)
    if unknown := sorted(wanted.difference(FIELDS)):
        raise Misconfigured(
            f"{', '.join(unknown)}: no field of a document has this name. Nothing was exported; these there are: "
            f"{', '.join(FIELDS)}."
        )
    return wanted | REQUIRED_FIELDS
