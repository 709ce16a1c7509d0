"""Draw simulated crawls as charts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crawler.monitor.charts import INK, LIMIT, SOFT, save_chart


def draw_simulation(data: dict[str, Any], path: Path) -> None:
    """Draw visits a second, hosts in memory and requests in flight over time."""
    from matplotlib.figure import Figure  # takes half a second, needed only for drawing

    figure = Figure(figsize=(9, 9), layout="constrained")
    rate, hosts, flight = figure.subplots(3, 1, sharex=True)
    width, slices = data["slice_seconds"], data["slices"]
    unit, name = (3600.0, "hours") if width * len(slices) > 7_200 else (60.0, "minutes")
    times = [width * (number + 0.5) / unit for number in range(len(slices))]
    figure.suptitle(
        f"{data['visits']:,} visits to {data['hosts']:,} hosts, {data['rate']:,.1f} a second; "
        f"{data['gaps']['shorter_than_required']} gaps too short"
    )
    rate.fill_between(times, [part["visits"] / width for part in slices], color=SOFT, step="mid")
    rate.axhline(data["supply"]["rate"], color=LIMIT, linestyle="--", label="what the active hosts allowed at the end")
    rate.set_ylabel("visits a second")
    rate.legend(loc="upper right")
    hosts.plot(times, [part["hosts"] for part in slices], color=INK)
    hosts.set_ylabel("hosts in memory")
    flight.plot(times, [part["in_flight"] for part in slices], color=INK)
    flight.set_ylabel("requests in flight")
    flight.set_xlabel(f"{name} since the start")
    for axes in (rate, hosts, flight):
        axes.set_ylim(bottom=0)
        axes.margins(x=0)
        axes.spines[["top", "right"]].set_visible(False)
    save_chart(figure, path)


def draw_comparison(data: dict[str, Any], path: Path) -> None:
    """Draw the harvest curves of a focused and an unfocused crawl."""
    from matplotlib.figure import Figure  # takes half a second, needed only for drawing

    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots()
    pages = [point["pages"] for point in data["curves"]]
    axes.plot(pages, [point["focused"] for point in data["curves"]], color=INK, label="focused, as it was")
    axes.plot(pages, [point["unfocused"] for point in data["curves"]], color=LIMIT, label="unfocused, simulated")
    figure.suptitle(f"Topic {data['topic']}: {data['on_topic']:,} of {data['pages']:,} pages on topic")
    axes.set_xlabel("pages fetched")
    axes.set_ylabel("pages on topic")
    axes.legend(loc="lower right")
    axes.set_ylim(bottom=0)
    axes.margins(x=0)
    axes.spines[["top", "right"]].set_visible(False)
    save_chart(figure, path)
