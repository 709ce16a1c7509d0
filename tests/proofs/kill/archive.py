"""Read an archive with other projects' readers, and compare it with the store."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fastwarc
from warcio.archiveiterator import ArchiveIterator

from tests.crawl.runner import rows

Place = tuple[str, int]  # file name, offset


def broken_files(directory: Path, names: list[str]) -> list[str]:
    """Return the complaints of gzip, warcio and FastWARC about files; none if all are intact."""
    if not names:
        return []
    paths = [str(directory / "warc" / name) for name in names]
    python = [sys.executable, "-m"]
    checks = [["gzip", "-t", *paths], [*python, "warcio.cli", "check", *paths]]
    checks += [[*python, "fastwarc.cli", "check", "-q", path] for path in paths]
    complaints = []
    for check in checks:
        result = subprocess.run(check, capture_output=True, text=True, check=False)
        if result.returncode:
            complaints.append(f"{' '.join(check[:4])} …: {result.stdout[-300:]}{result.stderr[-300:]}")
    return complaints


def miscounted_files(directory: Path, names: list[str]) -> list[str]:
    """Return files whose number of records, responses or length differs from the store's."""
    wrong = []
    for name in names:
        ((number, records, length),) = rows(
            directory, "SELECT id, records, length FROM segments WHERE name = ?", [name]
        )
        indexed = {offset for (offset,) in rows(directory, "SELECT offset FROM documents WHERE segment = ?", [number])}
        found = list(_records(directory / "warc" / name))
        responses = {offset for offset, kind in found if kind in ("response", "revisit")}
        size = (directory / "warc" / name).stat().st_size
        if len(found) != records or responses != indexed or size != length:
            wrong.append(
                f"{name}: {len(found)} records and {len(responses)} responses in {size} bytes, but the store has "
                f"{records} and {len(indexed)} in {length}"
            )
    return wrong


def closed_files(directory: Path) -> list[str]:
    return [str(name) for (name,) in rows(directory, "SELECT name FROM segments WHERE closed ORDER BY id")]


def stray_files(directory: Path) -> list[str]:
    """Return files that are not in the store."""
    known = {name for (name,) in rows(directory, "SELECT name FROM segments")}
    return [path.name for path in (directory / "warc").iterdir() if path.name.removesuffix(".open") not in known]


def digests_by_fastwarc(directory: Path) -> dict[Place, tuple[str, str]]:
    """Return place → URL and digest of the decoded body, of every response, as FastWARC reads them."""
    found = {}
    for name in closed_files(directory):
        with (directory / "warc" / name).open("rb") as stream:
            for record in fastwarc.ArchiveIterator(
                stream, record_types=fastwarc.WarcRecordType.response, parse_http=False
            ):
                record.parse_http(auto_decode="all")
                body = record.reader.read()
                found[name, record.stream_pos] = (record.headers["WARC-Target-URI"], hashlib.sha256(body).hexdigest())
    return found


def digests_by_warcio(directory: Path) -> dict[Place, tuple[str, str]]:
    """Return the same as warcio reads it."""
    found = {}
    for name in closed_files(directory):
        with (directory / "warc" / name).open("rb") as stream:
            iterator = ArchiveIterator(stream)
            for record in iterator:
                if record.rec_type == "response":
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    body = record.content_stream().read()
                    found[name, iterator.get_record_offset()] = (url, hashlib.sha256(body).hexdigest())
    return found


def _records(path: Path) -> Iterator[tuple[int, str]]:
    with path.open("rb") as stream:
        for record in fastwarc.ArchiveIterator(stream):
            yield record.stream_pos, record.headers["WARC-Type"]
