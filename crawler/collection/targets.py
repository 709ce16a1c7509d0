"""Make export targets: the table from `--to FORMAT:PLACE` to a sink and the files that hold its state."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from crawler.collection.change_feed import FOLD, KEEP, Selection
from crawler.errors import BadInput, DiskTrouble
from crawler.export.directory import DirectorySink, last_version
from crawler.export.engines import ENGINES
from crawler.export.formats import DELETED_SUFFIX, FORMATS, FileFormat
from crawler.export.http import without_password
from crawler.export.markdown import MarkdownSink
from crawler.export.opensearch import OpenSearchSink
from crawler.export.sink import Sink
from crawler.export.solr import SolrSink
from crawler.export.vespa import VespaSink
from crawler.options import Options
from crawler.search.index import TantivyIndex, has_index, has_older_index

CHECKPOINT = "checkpoint.json"  # in a directory that a sink writes
TARGETS_WITH_BLOCKS = ("markdown", "tantivy", "trecweb")  # their documents are made of text blocks
TARGET_NAMES = (*FORMATS, "markdown", "tantivy", *ENGINES)
_MARKDOWN_NAME = re.compile("[0-9a-f]{32}[.]md")
_NOT_IN_FILE_NAMES = re.compile(r"[^a-z0-9.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportTarget:
    """A sink that is not open yet, and the paths of its checkpoint, its lock and its list of rejected documents."""

    spec: str  # as in --to, without passwords
    state_path: Path  # of the files about this target, without their suffixes
    checkpoint_path: Path
    open: Callable[[int, bool], Sink]  # arguments: the version after which it continues; whether it starts empty
    # The version up to which the target has everything, given that of its checkpoint.
    complete_up_to: Callable[[int], int] = lambda checkpointed: checkpointed
    is_outdated: Callable[[], bool] = lambda: False  # an older version has filled it, so that it must be filled anew
    is_ordered: bool = False  # its entries are read in the order of writing, so none may be written a second time
    keeps_foreign_documents: bool = False  # a full export does not remove documents of other crawls

    @property
    def rejected_path(self) -> Path:
        """The file that lists the documents that the sink refused."""
        return self.state_path.with_name(f"{self.state_path.name}.rejected.jsonl")

    @property
    def lock_path(self) -> Path:
        return self.state_path.with_name(f"{self.state_path.name}.lock")


def default_duplicates(name: str) -> str:
    """What a target does with duplicates by default: search engines fold them, collections of files keep them."""
    return FOLD if name in ENGINES or name == "tantivy" else KEEP


def make_target(name: str, place: str, options: Options, selection: Selection) -> ExportTarget:
    """The target that `--to NAME:PLACE` names."""
    if name in ENGINES:
        engine, fields = ENGINES[name], selection.fields or None
        spec = f"{name}:{without_password(place)}"
        state_path = options.crawl.dir / "exports" / _file_name(spec)
        return ExportTarget(
            spec=spec,
            state_path=state_path,
            checkpoint_path=state_path.with_name(f"{state_path.name}.json"),
            open=lambda after, full: _engine_sink(engine, place, fields, after),
            keeps_foreign_documents=True,
        )
    if not place and name != "tantivy":
        raise BadInput(f"--to {name}: name a directory, such as {name}:documents. Nothing was exported.")
    directory = Path(place or options.crawl.dir / "search").absolute()
    spec = f"{name}:{directory}"
    target = ExportTarget(
        spec=spec,
        state_path=options.crawl.dir / "exports" / _file_name(spec),
        checkpoint_path=directory / CHECKPOINT,
        open=lambda after, full: _emptied_markdown_sink(directory) if full else MarkdownSink(directory),
    )
    if name == "tantivy":
        return replace(
            target,
            open=lambda after, full: TantivyIndex(directory, full=full),
            complete_up_to=lambda checkpointed: checkpointed if has_index(directory) else 0,
            is_outdated=lambda: has_older_index(directory),
        )
    if name in FORMATS:
        form = FORMATS[name].with_fields(selection.fields) if selection.fields else FORMATS[name]
        return replace(
            target,
            open=lambda after, full: (
                DirectorySink(directory, form, after) if after else _emptied_directory_sink(directory, form)
            ),
            is_ordered=True,
            # A kill may have come after a file was renamed to its final name, and before the checkpoint was written.
            complete_up_to=lambda checkpointed: max(checkpointed, last_version(directory, form.suffix) or 0),
        )
    return target


def _engine_sink(
    kind: type[OpenSearchSink | SolrSink | VespaSink], place: str, fields: Collection[str] | None, after: int
) -> Sink:
    engine = kind(place, sleep=time.sleep, fields=fields)
    if isinstance(engine, OpenSearchSink):
        engine.may_create = not after
    return engine


def _emptied_markdown_sink(directory: Path) -> MarkdownSink:
    """A Markdown sink whose directory is emptied first: its documents may be of another crawl, and would stay."""
    try:
        for path in directory.glob("*/*.md"):
            if _MARKDOWN_NAME.fullmatch(path.name) and not path.parent.is_symlink():
                path.unlink()
    except OSError as error:
        raise DiskTrouble(f"{directory}: cannot be begun anew ({error.strerror}); some files may be gone.") from error
    return MarkdownSink(directory)


def _emptied_directory_sink(directory: Path, form: FileFormat) -> DirectorySink:
    """A sink for a directory of increments whose files are removed first: a full export replaces them all."""
    try:
        for suffix in (form.suffix, DELETED_SUFFIX):
            for path in directory.glob(f"{'[0-9]' * 12}*-{'[0-9]' * 12}*.{suffix}"):
                path.unlink()
    except OSError as error:
        raise DiskTrouble(f"{directory}: cannot be begun anew ({error.strerror}); some files may be gone.") from error
    return DirectorySink(directory, form, 0)


def _file_name(spec: str) -> str:
    """A file name that people recognize, with a digest that makes it unique to the target."""
    return f"{_NOT_IN_FILE_NAMES.sub('-', spec.lower())[:80]}-{hashlib.sha256(spec.encode()).hexdigest()[:8]}"
