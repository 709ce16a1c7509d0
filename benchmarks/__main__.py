"""python -m benchmarks NAME: run one benchmark; it fails if a measurement misses its required value."""

from __future__ import annotations

import argparse
import sys

from benchmarks import (
    content,
    crawl,
    discovery,
    duplicates,
    export,
    export_files,
    extract,
    feeds,
    focus,
    focus_cost,
    focus_topics,
    frontier,
    inline,
    learn_main_text,
    many_links,
    parsers,
    polite,
    same_site,
    scale,
    search,
    sites,
    sketch_index,
    urls,
    workers,
)

BENCHMARKS = {
    "crawl": (crawl, "pages per CPU-second against stock Scrapy"),
    "content": (content, "CPU time of the crawl process for a page that a content process examines"),
    "discovery": (discovery, "time and memory to find all clusters of near-duplicates among a million sketches"),
    "duplicates": (
        duplicates,
        "precision and recall of near-duplicate detection by each method, and the cost of a sketch",
    ),
    "same-site": (same_site, "pages that share a site template: false duplicates, and copies found"),
    "inline": (inline, "CPU time of near-duplicate detection in a crawl"),
    "sketch-index": (sketch_index, "speed and size of the index of sketches with a million pages"),
    "export": (export, "documents a second exported from a collection to jsonl, and the memory for it"),
    "export-files": (export_files, "documents a second written in each file format, and the memory for it"),
    "feeds": (feeds, "CPU time of a feed of all pages in a crawl"),
    "focus": (focus, "focused crawls of two webs: how soon pages on topic are found, against simple link scores"),
    "focus-topics": (
        focus_topics,
        "how well a topic tells pages apart, by web, examples and review; the cost of a score",
    ),
    "focus-cost": (focus_cost, "CPU time of a topic in a crawl"),
    "extract": (extract, "quality and cost of main text extraction"),
    "learn-main-text": (
        learn_main_text,
        "learn the trees of main text extraction, or cross-validate them on unseen sites",
    ),
    "urls": (urls, "cost of canonicalizing the links of a page, against Scrapy's tools"),
    "sites": (sites, "cost of a robots.txt decision, and of parsing the largest sitemap against Scrapy's class"),
    "parsers": (parsers, "HTML parsers: correctness of links, speed, and hostile pages"),
    "polite": (polite, "share of the rate that politeness allows, against stock Scrapy"),
    "frontier": (frontier, "cost of choosing the next visit, by number of hosts"),
    "scale": (scale, "ten million URLs: loading time, bytes per URL, memory, restart"),
    "many-links": (many_links, "pages with very many new links: URLs a second, and the size of the store's log"),
    "search": (search, "the index of scrapy search: documents a second, memory, disk, and the time of a query"),
    "workers": (workers, "speed-up by a second worker"),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = parser.add_subparsers(required=True, metavar="NAME")
    for name, (module, what) in BENCHMARKS.items():
        one = names.add_parser(name, help=what, description=module.__doc__)
        module.add_options(one)
        one.set_defaults(main=module.main)
    options = parser.parse_args()
    return int(options.main(options))


if __name__ == "__main__":
    sys.exit(main())
