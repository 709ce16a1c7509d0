"""Which fields can a document have, and which are wanted?"""

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
    "anchors",
    "links",
    "noarchive",
    "event",
    "deleted",
    "evidence",
    "target",
    "version",
)
# Without these nobody could keep an index in step.
ALWAYS: Final = frozenset(["id", "url", "version", "deleted", "evidence"])


def chosen(names: Iterable[str]) -> frozenset[str]:
    """These fields, and those that cannot be left out."""
    wanted = frozenset(names)
    if unknown := sorted(wanted.difference(FIELDS)):
        raise Misconfigured(
            f"{', '.join(unknown)}: no field of a document has this name. Nothing was exported; these there are: "
            f"{', '.join(FIELDS)}."
        )
    return wanted | ALWAYS
