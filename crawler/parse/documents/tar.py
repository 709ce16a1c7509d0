"""Read tar archives: the list of their files, followed by the content of each."""

from __future__ import annotations

import tarfile
from io import BytesIO
from itertools import islice

from crawler.parse.documents.conversion import embed
from crawler.parse.documents.document import Problem
from crawler.parse.documents.draft import Draft
from crawler.parse.documents.formats import format_of
from crawler.parse.documents.zip_reader import MOST_MEMBER

_HEAD = 8_192


def read(body: bytes, draft: Draft) -> None:
    """Read the members in their order; of a truncated archive those before the end are read."""
    with tarfile.open(fileobj=BytesIO(body), mode="r:") as archive:
        files: list[tarfile.TarInfo] = []
        try:
            for file in islice(archive, max(draft.budget.entries, 0) + 1):
                files += [file] if file.isreg() else []
        except tarfile.TarError:
            draft.report_problem(Problem.TRUNCATED)
        if len(files) > draft.budget.entries:
            draft.report_problem(Problem.TOO_LARGE)
            files = files[: draft.budget.entries]
        draft.budget.entries -= len(files)
        draft.add_metadata("files", len(files))
        for file in files:
            draft.item(file.name)
        for file in files:
            if draft.is_full:
                break
            data = body[file.offset_data : file.offset_data + min(file.size, MOST_MEMBER)]
            if format_of(data[:_HEAD], file.name) is not None:
                embed(draft, file.name, data)
