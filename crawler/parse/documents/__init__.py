"""Convert office files, PDF, mail, e-books, archives and plain files to text and safe HTML."""

from __future__ import annotations

from crawler.parse.documents.conversion import convert
from crawler.parse.documents.document import Document, DocumentLink, Problem
from crawler.parse.documents.formats import format_of

__all__ = ["Document", "DocumentLink", "Problem", "convert", "format_of"]
