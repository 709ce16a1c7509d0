"""make prove-focus: focused crawls over two real webs find as much as a simulation does, killed or with two workers."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from tests.conftest import SHARED
from tests.proofs.focus.proof import crawl
from tests.proofs.focus.simulated import best_first, simulate
from tests.proofs.focus.web import DATA, TopicalWeb, WebTopic, harvest_curve

WITHIN = 0.9  # of the simulation's harvest, at least
_WEBS = ("wikischools", "mdn")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.focus", description=__doc__)
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--topics", type=int, default=3, help="of each web")
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--mode", choices=("few", "many"), default="few")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"This proof needs the webs in {SHARED.name}/, which are not beside this checkout; nothing was proved.")
        return 1
    shares: dict[str, list[float]] = {}
    for name in _WEBS:
        several, one = TopicalWeb(name, options.hosts), TopicalWeb(name, 1)
        for topic in several.topics[: options.topics]:
            found = _harvests(several, one, topic, options)
            print(
                f"{name} {topic.name}: " + ", ".join(f"{what} {value:.3f}" for what, value in found.items()), flush=True
            )
            for what, value in found.items():
                shares.setdefault(what, []).append(value)
    means = {what: fmean(values) for what, values in shares.items()}
    return _judge(means)


def _harvests(several: TopicalWeb, one: TopicalWeb, topic: WebTopic, options: argparse.Namespace) -> dict[str, float]:
    """Return the mean share of the relevant pages that each crawl has found, from its first page to its last."""
    learned, pages = several.topic_of(topic, options.mode), options.pages

    def share(order: Sequence[int]) -> float:
        curve = harvest_curve(order, topic)[:pages]
        return fmean(curve) / len(topic.relevant - topic.given)

    with tempfile.TemporaryDirectory(prefix="orbweaver-") as name:
        place, most = Path(name), pages + len(topic.given)
        whole = {"COMMIT_INTERVAL": 0.1}
        return {
            "simulated": share(simulate(several, topic, learned, place, most)),
            "killed": share(crawl(several, topic, learned, place / "killed", pages=most, kills=options.kills).order),
            "two workers": share(crawl(several, topic, learned, place / "two", pages=most, workers=2).order),
            "in the order found": share(crawl(several, topic, learned, place / "fifo", pages=most, ORDER="fifo").order),
            "best first": share(best_first(one, topic, learned, most)),
            "one host": share(
                crawl(one, topic, learned, place / "one", pages=most, POLITENESS_MIN_DELAY=0, **whole).order
            ),
        }


def _judge(means: dict[str, float]) -> int:
    claims = [("killed", "simulated"), ("two workers", "simulated"), ("one host", "best first")]
    good = True
    for what, against in claims:
        ratio = means[what] / means[against]
        good = good and ratio >= WITHIN
        print(
            f"{'holds' if ratio >= WITHIN else 'FAILS'}: {what} {means[what]:.3f} = {ratio:.2f} × {against}, at least {WITHIN:g}"
        )
    gain = means["killed"] / means["in the order found"]
    print(f"focused: {gain:.2f} × the harvest in the order found ({means['in the order found']:.3f})")
    print("Proved" if good else "NOT PROVED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
