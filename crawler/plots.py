"""Every chart that we draw."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from crawler.duplicates.evaluation import Row
from crawler.errors import DiskTrouble
from crawler.parse.main_text.slope import SlopeCurve

PICTURES: Final = (".png", ".svg", ".pdf")  # what can be drawn
_INK, _SOFT, _LIMIT = "#1b4965", "#8ab6d6", "#c8553d"


def draw_simulation(data: dict[str, Any], path: Path) -> None:
    """How fast, with how many hosts, and how fairly a simulated crawl went."""
    from matplotlib.figure import Figure  # half a second that only who draws should pay

    figure = Figure(figsize=(9, 9), layout="constrained")
    rate, hosts, flight = figure.subplots(3, 1, sharex=True)
    width, slices = data["slice_seconds"], data["slices"]
    unit, name = (3600.0, "hours") if width * len(slices) > 7_200 else (60.0, "minutes")
    times = [width * (number + 0.5) / unit for number in range(len(slices))]
    figure.suptitle(
        f"{data['visits']:,} visits to {data['hosts']:,} hosts, {data['rate']:,.1f} a second; "
        f"{data['gaps']['shorter_than_required']} gaps too short"
    )
    rate.fill_between(times, [part["visits"] / width for part in slices], color=_SOFT, step="mid")
    rate.axhline(data["supply"]["rate"], color=_LIMIT, linestyle="--", label="what the active hosts allowed at the end")
    rate.set_ylabel("visits a second")
    rate.legend(loc="upper right")
    hosts.plot(times, [part["hosts"] for part in slices], color=_INK)
    hosts.set_ylabel("hosts in memory")
    flight.plot(times, [part["in_flight"] for part in slices], color=_INK)
    flight.set_ylabel("requests in flight")
    flight.set_xlabel(f"{name} since the start")
    for axes in (rate, hosts, flight):
        axes.set_ylim(bottom=0)
        axes.margins(x=0)
        axes.spines[["top", "right"]].set_visible(False)
    _save(figure, path)


def draw_slope(curve: SlopeCurve, name: str, path: Path) -> None:
    """The document slope curve of a page: where it rises there are tags, where it is level there are words."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots()
    tokens, tags = [point[0] for point in curve.points], [point[1] for point in curve.points]
    first, last = curve.chosen
    axes.axvspan(first, last, color=_SOFT, alpha=0.4, label=f"the part that it chooses: tokens {first:,} to {last:,}")
    axes.plot(tokens, tags, color=_INK)
    axes.set_title(name if len(name) <= 90 else f"{name[:89]}…", fontsize=10, parse_math=False)
    axes.set_xlabel("tokens: words and tags, but for those that only format")
    axes.set_ylabel("tags up to there")
    axes.set_ylim(bottom=0)
    axes.margins(x=0)
    axes.legend(loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
    _save(figure, path)


def draw_evaluation(rows: Sequence[Row], name: str, path: Path) -> None:
    """Precision and recall of the sketches alone and of the whole cascade, by threshold."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.subplots()
    thresholds = [row.threshold for row in rows]
    for of, style in (("sketch", "--"), ("cascade", "-")):
        for what, ink in (("precision", _INK), ("recall", _LIMIT)):
            values = [getattr(getattr(row, of), what) for row in rows]
            label = f"{what}, {'sketch alone' if of == 'sketch' else of}"
            axes.plot(thresholds, values, style, color=ink, marker="o", markersize=4, label=label)
    axes.set_title(name if len(name) <= 90 else f"{name[:89]}…", fontsize=10, parse_math=False)
    axes.set_xlabel("threshold: share of their runs of words from which documents are near-duplicates")
    axes.set_ylabel("precision, recall")
    axes.set_ylim(top=1.005)
    axes.legend(loc="lower left")
    axes.spines[["top", "right"]].set_visible(False)
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    part = path.with_name(path.name + ".part")
    try:
        figure.savefig(part, format=path.suffix.removeprefix(".") or "png", dpi=120)
        part.replace(path)
    except OSError as error:
        raise DiskTrouble(f"{path}: cannot be written ({error.strerror}).") from error
