"""python -m benchmarks NAME: one benchmark; it fails if what it measures is not as good as it has to be."""

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
    frontier,
    inline,
    learn_main_text,
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
    "content": (content, "what a content process costs the crawl process"),
    "discovery": (discovery, "a million sketches: the time and the memory to find all clusters of near-duplicates"),
    "duplicates": (duplicates, "how many near-duplicates each method finds, and what a sketch costs"),
    "same-site": (same_site, "pages of one site in one dress: false duplicates, and copies found"),
    "inline": (inline, "what it costs a crawl to look for near-duplicates"),
    "sketch-index": (sketch_index, "the index of sketches with a million pages"),
    "export": (export, "documents a second from a collection to jsonl, and the memory for it"),
    "export-files": (export_files, "documents a second in each format of files, and the memory for it"),
    "extract": (extract, "how good main texts are, and what they cost"),
    "learn-main-text": (learn_main_text, "the weights of main texts, learned anew or tested on sites unseen"),
    "urls": (urls, "what a page's links cost against Scrapy's tools"),
    "sites": (sites, "a decision by robots.txt, and the largest sitemap against Scrapy's class"),
    "parsers": (parsers, "the links, the speed and the patience of HTML parsers"),
    "polite": (polite, "the share of the possible rate, and stock Scrapy's"),
    "frontier": (frontier, "what the next visit costs, by number of hosts"),
    "scale": (scale, "ten million URLs: time, weight, memory"),
    "search": (search, "the index of scrapy search: documents a second, memory, bytes, and the time of a question"),
    "workers": (workers, "what a second worker brings"),
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
