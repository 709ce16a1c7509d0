"""Output of `scrapy duplicates`: lines for people, JSON for programs, and a chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from crawler.collection.similar.clusters import ClusterMember, FoundClusters
from crawler.collection.similar.evaluate import Evaluation
from crawler.collection.similar.find import SimilarDocument, SimilarDocuments
from crawler.duplicates.differences import Differences
from crawler.duplicates.evaluation import EvaluationRow, Quality
from crawler.export.documents import safe_json
from crawler.monitor.charts import INK, LIMIT, save_chart
from crawler.parse.clean_text import one_line

MAX_LISTED = 10  # documents of a cluster in the output for people

_QUALITY_HEADING = f"{'P':>8}{'R':>8}{'F1':>8}"


# ── find ──


def find_lines(name: str, similar: SimilarDocuments, threshold: float, fewest_words: int) -> Iterator[str]:
    if similar.is_short:
        yield f"{one_line(name)} has fewer than {fewest_words} words: only exact copies were looked for."
    if not similar.documents:
        yield f"Nothing in the collection is {threshold:.0%} or more like {one_line(name)}."
        return
    for each in similar.documents:
        yield f"{each.similarity:7.1%}  {each.document.url}"
        yield f"{'':9}{each.tier.meaning}; {_duplicate_note(each)}"
        if differing := _differences_line(each.differences):
            yield f"{'':9}{differing}"
    if similar.more:
        yield f"and about {similar.more:,} more: --most"


def find_json(similar: SimilarDocuments) -> Iterator[str]:
    for each in similar.documents:
        yield safe_json(
            {
                "url": each.document.url,
                "similarity": round(each.similarity, 4),
                "tier": each.tier.name.lower(),
                "duplicate_of": each.original,
                **_differences_fields(each.differences),
            }
        )


def _duplicate_note(similar: SimilarDocument) -> str:
    """What the crawl has recorded of the document: that it is a duplicate, and of what."""
    if similar.original is None:
        return "in the crawl no duplicate"
    share = f" ({similar.document.similarity:.1%})" if similar.document.similarity is not None else ""
    return f"in the crawl a duplicate of {similar.original}{share}"


# ── clusters ──


def clusters_line(found: FoundClusters, threshold: float) -> str:
    if not found.clusters:
        return f"No two of {found.compared:,} documents are {threshold:.0%} or more alike."
    noun = "cluster" if len(found.clusters) == 1 else "clusters"
    return (
        f"{len(found.clusters):,} {noun} with {found.clustered:,} of {found.compared:,} documents that are "
        f"{threshold:.0%} or more alike"
    )


def cluster_lines(number: int, size: int, members: Sequence[ClusterMember]) -> Iterator[str]:
    yield f"{number:>4}  {size:,} documents"
    for place, member in enumerate(members):
        share = "" if not place else f"{'' if member.is_counted else '~'}{member.similarity:.1%}"
        yield f"{share:>12}  {one_line(member.name)}"
        if differing := _differences_line(member.differences):
            yield f"{'':14}{differing}"
    if size > len(members):
        yield f"{'':14}and {size - len(members):,} more: --json lists all"


def cluster_json(number: int, members: Sequence[ClusterMember]) -> str:
    documents = [
        {
            "url": member.name,
            "similarity": round(member.similarity, 4),
            "counted": member.is_counted,
            **_differences_fields(member.differences),
        }
        for member in members
    ]
    return safe_json({"cluster": number, "size": len(members), "documents": documents})


# ── evaluate ──


def evaluation_lines(evaluation: Evaluation) -> Iterator[str]:
    chosen = next(row for row in evaluation.rows if row.threshold == evaluation.chosen)
    yield from _chosen_lines(evaluation, chosen)
    yield ""
    methods = [name for name, _ in _methods(chosen)]
    yield f"{'':21}" + "  ".join(f"{name:^24}" for name in methods).rstrip()
    yield f"threshold  duplicates{'  '.join([_QUALITY_HEADING] * len(methods))}   texts read"
    for row in evaluation.rows:
        cells = "  ".join(_quality_cells(quality) for _, quality in _methods(row))
        yield f"{row.threshold:>9g}{row.duplicates:>12,}{cells}{row.needed_texts:>13.1%}"


def _methods(row: EvaluationRow) -> list[tuple[str, Quality]]:
    """The methods that were evaluated, by name."""
    ours = [("sketch alone", row.sketch), ("cascade", row.cascade)]
    return ours if row.datasketch is None else [*ours, ("datasketch", row.datasketch)]


def _chosen_lines(evaluation: Evaluation, row: EvaluationRow) -> Iterator[str]:
    """The results at the chosen threshold."""
    yield (
        f"{evaluation.pairs:,} pairs of {evaluation.documents:,} documents; at {evaluation.chosen:g}, "
        f"{row.duplicates:,} are near-duplicates"
    )
    yield ""
    yield f"{'':14}{'precision':>10}{'recall':>8}{'F1':>8}"
    for name, quality in _methods(row):
        yield f"{name:14}{quality.precision:>10.4f}{quality.recall:>8.4f}{quality.f1:>8.4f}"
    yield f"The cascade compared {row.met:.1%} of the pairs, and read the texts of {row.needed_texts:.1%}."


def evaluation_json(evaluation: Evaluation) -> Iterator[str]:
    for row in evaluation.rows:
        methods: dict[str, object] = {"sketch": row.sketch._asdict(), "cascade": row.cascade._asdict()}
        methods["datasketch"] = row.datasketch._asdict() if row.datasketch is not None else None
        yield safe_json({**row._asdict(), "chosen": row.threshold == evaluation.chosen, **methods})


def _quality_cells(quality: Quality) -> str:
    return f"{quality.precision:>8.4f}{quality.recall:>8.4f}{quality.f1:>8.4f}"


# ── differing words ──


def _differences_line(differences: Differences | None) -> str:
    return f"words: {differences}" if differences else ""


def _differences_fields(differences: Differences | None) -> dict[str, object]:
    return {"added": differences.added, "removed": differences.removed} if differences is not None else {}


def draw_evaluation(rows: Sequence[EvaluationRow], name: str, path: Path) -> None:
    """Draw precision and recall of the sketches alone and of the whole cascade over the threshold."""
    from matplotlib.figure import Figure  # the import takes half a second, which only this function should cost

    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.subplots()
    thresholds = [row.threshold for row in rows]
    for of, style in (("sketch", "--"), ("cascade", "-")):
        for what, ink in (("precision", INK), ("recall", LIMIT)):
            values = [getattr(getattr(row, of), what) for row in rows]
            label = f"{what}, {'sketch alone' if of == 'sketch' else of}"
            axes.plot(thresholds, values, style, color=ink, marker="o", markersize=4, label=label)
    axes.set_title(name if len(name) <= 90 else f"{name[:89]}…", fontsize=10, parse_math=False)
    axes.set_xlabel("threshold: share of their runs of words from which documents are near-duplicates")
    axes.set_ylabel("precision, recall")
    axes.set_ylim(top=1.005)
    axes.legend(loc="lower left")
    axes.spines[["top", "right"]].set_visible(False)
    save_chart(figure, path)
