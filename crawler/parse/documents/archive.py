"""Read ZIP archives: the list of their files, followed by the content of each."""

from __future__ import annotations

from crawler.parse.documents.conversion import embed
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import Draft
from crawler.parse.documents.formats import format_of
from crawler.parse.documents.zip_reader import open_zip


def read(body: bytes, draft: Draft) -> None:
    archive = open_zip(body, draft)
    draft.add_metadata("files", len(archive.members))
    for member in archive.members:
        draft.item(member.name)
        if member.is_encrypted:
            draft.add_metadata("encrypted", "true")
            draft.report_problem(Problem.ENCRYPTED)
    for member in archive.members:
        if draft.is_full:
            break
        if format_of(archive.beginning(member.name), member.name) is not None:
            embed(draft, member.name, archive.read(member.name))
