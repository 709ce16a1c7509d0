"""What do a robots.txt decision and the parsing of a sitemap cost?

Decisions by a parsed robots.txt, and a sitemap as large as the protocol allows, parsed by our code and by Scrapy's
class. Both take turns; CPU time is counted. Memory is that of a process of its own, beyond what it needs for the file's
bytes.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median

from scrapy.utils.sitemap import Sitemap

from benchmarks.report import Verdict
from benchmarks.web import page_path
from crawler.fetch.robots import RobotsRules
from crawler.items import ROBOTS_TOKEN
from crawler.parse.sitemaps import parse_sitemap

ALLOWED = 20.0  # µs a decision
REQUIRED = 1.5  # times as fast as Scrapy
MEMORY = 64_000_000  # bytes beyond those of the file
RULES = 100
ENTRIES = 50_000
SMALL, LARGE = "11 MB, four facts an entry", "50 MB, links and images as well"
_URL = "https://shop.example/sitemap.xml"

_PATTERNS = (  # rules as in real robots.txt files
    "Disallow: /{section}-{number}/",
    "Disallow: /{section}/{name}",
    "Allow: /{section}/{name}$",
    "Disallow: /*/{name}/print",
    "Disallow: /{section}/*?sort=",
    "Disallow: /*?*filter_{number}=",
    "Disallow: /*.{name}$",
    "Allow: /{section}/public/",
)
_NAMESPACES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
)
_LANGUAGES = ("de", "en", "es", "fr")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--urls", type=int, default=20_000, help="decided in a round")
    parser.add_argument("--entries", type=int, default=ENTRIES, help="of each sitemap")


def main(options: argparse.Namespace) -> int:
    sitemaps = {SMALL: sitemap(options.entries), LARGE: sitemap(options.entries, with_more=True)}
    decisions = [decision_cost(options.urls, Random(number)) for number in range(options.rounds)]
    sides: dict[str, Callable[[bytes], int]] = {"ours": read_ours, "scrapy": read_scrapys}
    costs: dict[str, dict[str, list[float]]] = {name: {side: [] for side in sides} for name in sitemaps}
    for number in range(options.rounds):
        for name, body in sitemaps.items():
            for side in sorted(sides, reverse=bool(number % 2)):
                costs[name][side].append(_seconds(sides[side], body, options.entries))
    memory = {name: memory_of(body) for name, body in sitemaps.items()}
    print(f"{options.rounds} rounds; {options.urls:,} URLs, {RULES} rules; sitemaps of {options.entries:,} entries.\n")
    print(_table(decisions, sitemaps, costs, memory))
    verdicts = judge(decisions, costs, memory)
    print("", *verdicts, sep="\n")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def robots_txt(chance: Random) -> bytes:
    lines = ["User-agent: GreedyBot", "Disallow: /", "", "User-agent: *", "Disallow: /archive/"]
    for number in range(1, RULES):
        _, section, name = page_path(chance.randrange(10**6)).split("/")
        lines.append(_PATTERNS[number % len(_PATTERNS)].format(section=section, name=name, number=number))
    return "\n".join([*lines, "", f"Sitemap: {_URL}"]).encode()


def decision_cost(count: int, chance: Random) -> float:
    """Return the microseconds of a decision; all URLs are different."""
    rules = RobotsRules.parse(robots_txt(chance))
    queries = ("", "?page=2", "?q=salt+marsh&sort=new")
    urls = [f"https://shop.example{page_path(number)}{chance.choice(queries)}" for number in range(count)]
    rules.allows(_URL, ROBOTS_TOKEN)  # the first call compiles the rules, which is no part of a decision
    gc.collect()
    started = time.process_time()
    for url in urls:
        rules.allows(url, ROBOTS_TOKEN)
    return (time.process_time() - started) / count * 1e6


def sitemap(entries: int, *, with_more: bool = False) -> bytes:
    chance = Random(44)
    urls = "".join(_entry(number, chance, with_more=with_more) for number in range(entries))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {_NAMESPACES}>\n{urls}</urlset>\n'.encode()


def _entry(number: int, chance: Random, *, with_more: bool) -> str:
    path = f"{page_path(number).removesuffix('.html')}-{'-'.join(chance.choices(_LANGUAGES, k=6 + 8 * with_more))}.html"
    day = f"20{chance.randrange(10, 26)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
    moment = f"T{chance.randrange(24):02}:{chance.randrange(60):02}:00+00:00" if number % 2 else ""
    more = (_images(path) if number % 2 else _links(path)) if with_more else ""
    return (
        f"  <url>\n    <loc>https://shop.example{path}?id={number}&amp;view=full</loc>\n    "
        f"<lastmod>{day}{moment}</lastmod>\n    <changefreq>weekly</changefreq>\n    "
        f"<priority>0.{chance.randrange(1, 10)}</priority>\n{more}  </url>\n"
    )


def _links(path: str) -> str:
    return "".join(
        f'    <xhtml:link rel="alternate" hreflang="{language}" href="https://{language}.shop.example{path}"/>\n'
        for language in _LANGUAGES
    )


def _images(path: str) -> str:
    return "".join(
        f"    <image:image>\n      <image:loc>https://images.shop.example{path}/{number}.jpg</image:loc>\n"
        f"      <image:title>Picture {number} of {path.rpartition('/')[2]}</image:title>\n    </image:image>\n"
        for number in range(3)
    )


def read_ours(body: bytes) -> int:
    return len(parse_sitemap(body, _URL).entries)


def read_scrapys(body: bytes) -> int:
    return sum(1 for _ in Sitemap(body))


def _seconds(read: Callable[[bytes], int], body: bytes, entries: int) -> float:
    gc.collect()  # garbage of other code is not counted
    started = time.process_time()
    assert read(body) == entries
    return time.process_time() - started


def memory_of(body: bytes) -> int:
    """Return the peak of the bytes that parsing needs."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "sitemap.xml")
        path.write_bytes(body)
        command = [sys.executable, "-m", "benchmarks.sites", str(path)]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _print_memory(path: Path) -> None:
    body = path.read_bytes()
    before = _peak()
    found = parse_sitemap(body, _URL)
    assert found.entries
    print(_peak() - before)


def _peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def _table(
    decisions: list[float],
    sitemaps: dict[str, bytes],
    costs: dict[str, dict[str, list[float]]],
    memory: dict[str, int],
) -> str:
    lines = [f"{'':34}{'median':>10}{'fastest':>10}{'MB beyond the file':>21}"]
    lines.append(f"{'a decision by robots.txt, µs':34}{median(decisions):10.2f}{min(decisions):10.2f}")
    for name, by_side in costs.items():
        for side, found in by_side.items():
            extra = f"{memory[name] / 1e6:21.1f}" if side == "ours" else ""
            title = f"sitemap, {len(sitemaps[name]) / 1e6:.1f} MB, {side}, s"
            lines.append(f"{title:34}{median(found):10.3f}{min(found):10.3f}{extra}")
    return "\n".join(lines)


def judge(decisions: list[float], costs: dict[str, dict[str, list[float]]], memory: dict[str, int]) -> list[Verdict]:
    """Judge by the fastest round of each side: other processes can only make a round slower."""
    cost = min(decisions)
    verdicts = [Verdict(what=f"{cost:.1f} µs a decision, at most {ALLOWED:g}", holds=cost <= ALLOWED)]
    for name, by_side in costs.items():
        ratio = min(by_side["scrapy"]) / min(by_side["ours"])
        verdicts.append(Verdict(what=f"{name}: {ratio:.2f} × Scrapy, at least {REQUIRED:g} ×", holds=ratio >= REQUIRED))
        extra = memory[name]
        what = f"{name}: {extra / 1e6:.0f} MB beyond the file's bytes, at most {MEMORY / 1e6:.0f}"
        verdicts.append(Verdict(what=what, holds=extra <= MEMORY))
    return verdicts


if __name__ == "__main__":
    _print_memory(Path(sys.argv[1]))
