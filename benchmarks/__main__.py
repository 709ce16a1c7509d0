"""python -m benchmarks NAME: one benchmark; it fails if what it measures is not as good as it has to be."""

from __future__ import annotations

import argparse
import sys

from benchmarks import content, crawl, frontier, polite, scale, urls, workers


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = parser.add_subparsers(required=True, metavar="NAME")
    one = names.add_parser("crawl", help="pages per CPU-second against stock Scrapy", description=crawl.__doc__)
    crawl.add_options(one)
    one.set_defaults(main=crawl.main)
    one = names.add_parser(
        "content", help="what a content process costs the crawl process", description=content.__doc__
    )
    content.add_options(one)
    one.set_defaults(main=content.main)
    one = names.add_parser("urls", help="what a page's links cost against Scrapy's tools", description=urls.__doc__)
    urls.add_options(one)
    one.set_defaults(main=urls.main)
    one = names.add_parser(
        "polite", help="the share of the possible rate, and stock Scrapy's", description=polite.__doc__
    )
    polite.add_options(one)
    one.set_defaults(main=polite.main)
    one = names.add_parser(
        "frontier", help="what the next visit costs, by number of hosts", description=frontier.__doc__
    )
    frontier.add_options(one)
    one.set_defaults(main=frontier.main)
    one = names.add_parser("scale", help="ten million URLs: time, weight, memory", description=scale.__doc__)
    scale.add_options(one)
    one.set_defaults(main=scale.main)
    one = names.add_parser("workers", help="what a second worker brings", description=workers.__doc__)
    workers.add_options(one)
    one.set_defaults(main=workers.main)
    options = parser.parse_args()
    return int(options.main(options))


if __name__ == "__main__":
    sys.exit(main())
