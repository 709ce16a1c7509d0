"""Read gzip files: one compressed file."""

from __future__ import annotations

from crawler.parse.coding import plain_body
from crawler.parse.documents.conversion import embed
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import Draft
from crawler.parse.documents.zip_reader import MOST_MEMBER, base_name

_PROBLEMS = {"bomb": Problem.BOMB, "truncated": Problem.TRUNCATED}
_HAS_NAME, _HAS_EXTRA = 0x8, 0x4


def read(body: bytes, draft: Draft) -> None:
    plain = plain_body(body, [("content-encoding", "gzip")], limit=min(MOST_MEMBER, draft.budget.unpacked), ratio=100)
    draft.budget.unpacked -= len(plain.data)
    if plain.problem:
        draft.report_problem(_PROBLEMS.get(plain.problem, Problem.CORRUPT))
    name = _name(body) or base_name((draft.name or draft.url).partition("?")[0]).removesuffix(".gz")
    embed(draft, name, plain.data)


def _name(body: bytes) -> str:
    """The original file name in a gzip header, in Latin-1 (RFC 1952); empty if there is none."""
    flags = body[3] if len(body) > 10 else 0
    if not flags & _HAS_NAME or flags & _HAS_EXTRA:
        return ""
    return base_name(body[10 : body.find(b"\0", 10, 1_024)].decode("latin-1"))
