"""Compare HTML parsers: do they find the same links as html5lib, how fast, and do they survive hostile pages?

Real pages are beside the checkout. A hostile page is read in a process of its own with a limit of twenty CPU-seconds;
the link at its end must be found. Speed is that of parsing and listing the links, as a multiple of parsel's.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from statistics import median

from crawler.parse.charset import decode
from tests.conformance.links import PAGES

CPU_LIMIT = 20
OURS = "turbohtml"


def of_turbohtml(text: str) -> list[str]:
    import turbohtml

    document = turbohtml.parse(text, positions=False)
    return [href for element in document.iter_elements("a") if (href := element.attr("href")) is not None]


def of_lexbor(text: str) -> list[str]:
    from selectolax.lexbor import LexborHTMLParser

    found = LexborHTMLParser(text).css("a[href]")
    return [node.attributes["href"] or "" for node in found]


def of_resiliparse(text: str) -> list[str]:
    from resiliparse.parse.html import HTMLTree

    found = HTMLTree.parse(text).document.query_selector_all("a[href]")
    return [node.getattr("href") for node in found]


def of_lxml(text: str) -> list[str]:
    from lxml import html

    root = html.document_fromstring(text.encode(), parser=html.HTMLParser(encoding="utf-8", huge_tree=True))
    return [element.get("href") for element in root.iter("a") if element.get("href") is not None]


def of_parsel(text: str) -> list[str]:
    from parsel import Selector

    return Selector(text=text, type="html").css("a::attr(href)").getall()


def of_html5lib(text: str) -> list[str]:
    import html5lib

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = html5lib.parse(text, namespaceHTMLElements=False)
    return [element.get("href") for element in tree.iter("a") if element.get("href") is not None]


PARSERS: dict[str, Callable[[str], list[str]]] = {
    OURS: of_turbohtml,
    "lexbor": of_lexbor,
    "resiliparse": of_resiliparse,
    "lxml": of_lxml,
    "parsel": of_parsel,
}
_PACKAGES = {"lexbor": "selectolax"}

_LINK = "<a href=/end>end</a>"
HOSTILE = {
    "200,000 nested elements": lambda: "<div>" * 200_000 + _LINK,
    "formatting never closed, 3,000 links": lambda: "<b><i><p>" * 1_000 + "<a href=/x>x</a>" * 3_000 + _LINK,
    "50,000 attributes": lambda: f"<p {' '.join(f'a{number}=1' for number in range(50_000))}>{_LINK}",
    "200,000 links": lambda: "".join(f"<a href=/{number}>x</a>" for number in range(200_000)) + _LINK,
    "an attribute of 20 MB": lambda: f"<p title='{'x' * 20_000_000}'>{_LINK}",
    "20,000 nested tables": lambda: "<table><tr><td>" * 20_000 + _LINK,
    "1,000,000 character references": lambda: "&amp;" * 1_000_000 + _LINK,
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hostile", nargs=2, metavar=("PARSER", "PAGE"), help=argparse.SUPPRESS)


def main(options: argparse.Namespace) -> int:
    if options.hostile:
        return _read_hostile(*options.hostile)
    if not PAGES:
        print("The pages are not beside this checkout: nothing to compare")
        return 0
    present = {name: parse for name, parse in PARSERS.items() if find_spec(_PACKAGES.get(name, name)) is not None}
    texts = [decode(gzip.decompress(path.read_bytes())).text for path in PAGES]
    wanted = [of_html5lib(text) for text in texts]
    costs: dict[str, list[float]] = {name: [] for name in present}
    for number in range(options.rounds):
        for name in sorted(present, reverse=bool(number % 2)):
            started = time.process_time()
            found = [present[name](text) for text in texts]
            costs[name].append(time.process_time() - started)
            if number == 0:
                print(_equality(name, found, wanted), flush=True)
    usual = median(costs["parsel"])
    for name, seconds in costs.items():
        print(
            f"{name:12} {len(texts) / median(seconds):6.0f} pages a CPU-second, {usual / median(seconds):.1f} × parsel"
        )
    verdicts = {name: [_hostile_verdict(name, page) for page in HOSTILE] for name in present}
    for number, page in enumerate(HOSTILE):
        print(f"{page}: " + ", ".join(f"{name} {found[number]}" for name, found in verdicts.items()))
    same = all(set(of_turbohtml(text)) == set(theirs) for text, theirs in zip(texts, wanted, strict=True))
    unharmed = all(verdict.startswith("found") for verdict in verdicts[OURS])
    print(f"{'pass' if same else 'FAIL'}  {OURS} finds the links of html5lib's tree on all {len(texts)} pages")
    print(f"{'pass' if unharmed else 'FAIL'}  {OURS} reads all hostile pages")
    return 0 if same and unharmed else 1


def _equality(name: str, found: list[list[str]], wanted: list[list[str]]) -> str:
    pages = sum(set(ours) != set(theirs) for ours, theirs in zip(found, wanted, strict=True))
    missing = sum(len(set(theirs) - set(ours)) for ours, theirs in zip(found, wanted, strict=True))
    extra = sum(len(set(ours) - set(theirs)) for ours, theirs in zip(found, wanted, strict=True))
    return (
        f"{name:12} differs from html5lib on {pages} of {len(wanted)} pages: {missing} links missing, {extra} too many"
    )


def _hostile_verdict(parser: str, page: str) -> str:
    command = [sys.executable, "-m", "benchmarks", "parsers", "--hostile", parser, page]
    ended = subprocess.run(command, capture_output=True, check=False)
    return ended.stdout.decode().strip() or "over 20 s or dead"


def _read_hostile(parser: str, page: str) -> int:
    text = HOSTILE[page]()
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT))
    started = time.process_time()
    links = PARSERS[parser](text)
    taken = time.process_time() - started
    print(f"{'found' if '/end' in links else 'lost'} in {taken:.2f} s")
    return 0
