"""python -m tests.export.endless FORMAT DIRECTORY: put entries into a sink until killed, printing each version."""

from __future__ import annotations

import sys
from pathlib import Path

from crawler.export.directory import DirectorySink, last_version
from crawler.export.formats import FORMATS
from crawler.export.markdown import MarkdownSink
from crawler.export.sink import Sink
from crawler.items import DeletedDocument, ExportEntry, Key
from tests.export.test_documents import exported

EVERY = 20
GONE = 5  # every fifth entry is a deletion of the one before
END = "the end"
_TRAP = "<DOC> </DOC> --- \ud800 \0"


def entry_of(version: int) -> ExportEntry:
    if version % GONE == 0:
        return DeletedDocument(version=version, key=Key(version - 1, 0), url=url_of(version - 1))
    text = f"{_TRAP} {'word ' * (version * 37 % 4000)}\n{version} {END}"
    return exported(version=version, key=Key(version, 0), url=url_of(version), text=text)


def url_of(version: int) -> str:
    return f"http://h{version % 3}.test/{version}"


def main(what: str, directory: Path) -> None:
    if what == "markdown":
        sink: Sink = MarkdownSink(directory)
        after = 0
    else:
        after = last_version(directory, FORMATS[what].suffix) or 0
        sink = DirectorySink(directory, FORMATS[what], after)
    version = after
    while True:
        version += 1
        sink.put(entry_of(version))
        print(version, flush=True)
        if version % EVERY == 0:
            sink.acknowledge()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
