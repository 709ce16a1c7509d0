"""scrapy inspect: show what the crawler reads in a file or an archived page."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import turbohtml
from rich.console import Console
from rich.text import Text
from scrapy.exceptions import UsageError

from crawler.collection.archive_reader import newest_archived
from crawler.content.answers import plain_body_of
from crawler.engine.command import OrbweaverCommand, exit_code_of
from crawler.errors import BadInput, Misconfigured
from crawler.export.documents import safe_json
from crawler.items import TextBlock
from crawler.monitor.charts import INK, SOFT, save_chart
from crawler.monitor.library_output import quiet_libraries
from crawler.monitor.text import date_of
from crawler.options import Options
from crawler.parse.charset import SOURCE_DESCRIPTIONS, decode
from crawler.parse.clean_text import one_line
from crawler.parse.documents import Document
from crawler.parse.html import Html, Reading
from crawler.parse.main_text.extractors import EXTRACTORS
from crawler.parse.main_text.slope import SlopeCurve, slope_curve
from crawler.parse.reading import ParsedBody, blocks_of, parse_body, text_of
from crawler.urls.schemes import is_web_url

MOST_LINKS = 40  # links that are shown, unless --links asks for all
_WIDEST = 100  # characters of a block that are shown
_BAR = 5  # width of the bar that shows an importance
_HTML_ENDINGS = ("html", "htm", "xhtml")


class InspectCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options] FILE-or-URL"

    def short_desc(self) -> str:
        return "Show what the crawler reads in a file or an archived page"

    def long_desc(self) -> str:
        return (
            "Read a file, or the newest archived response of a URL, as a crawl with these settings would, and print "
            "the result: the format, the encoding and how it was determined, the metadata, the blocks of text with "
            "their importance (from 0 for text that all pages of a site share to 1 for what this page is about), the "
            "links and their positions on the page. Nothing is fetched and nothing is changed: to see a page that is "
            "not archived, crawl it first. --method compares methods of finding the main text; --plot draws the "
            "document slope curve, tags against words, with the part that its method would choose. Example: scrapy "
            "inspect page.html --method slope --plot page.png"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        part = parser.add_mutually_exclusive_group()
        part.add_argument("--text", action="store_true", help="only the main text")
        part.add_argument("--blocks", action="store_true", help="only the blocks of text, with their importance")
        part.add_argument("--links", action="store_true", help="only the links, all of them, one per line")
        part.add_argument("--json", action="store_true", help="everything, as one JSON object")
        parser.add_argument(
            "--method",
            metavar="NAME",
            help=f"extract the main text by one of {', '.join(EXTRACTORS)} (EXTRACTOR)",
        )
        parser.add_argument("--url", metavar="URL", help="the URL of a file, against which its links are resolved")
        parser.add_argument("--type", metavar="TYPE", help="the Content-Type of a file")
        parser.add_argument("--plot", metavar="FILE.png", type=Path, help="draw the document slope curve of a page")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one file or URL", print_help=False)
        if opts.method is not None and opts.method not in EXTRACTORS:
            raise UsageError(f"--method {opts.method}: name one of {', '.join(EXTRACTORS)}", print_help=False)
        self.exitcode = exit_code_of(lambda: self._inspect(args[0], opts))

    @quiet_libraries()
    def _inspect(self, name: str, opts: argparse.Namespace) -> int:
        options = self.options()
        reading = replace(options.reading, context=True)
        if opts.method is not None:
            reading = replace(reading, extractor=opts.method, second="")
        body, url, content_type, origin = _body(name, options, opts)
        policy = options.urls.new_policy()
        found = parse_body(body, url, content_type, reading=reading, canonicalize=policy.canonicalize)
        if opts.plot is not None:
            if not isinstance(found, Html):
                raise BadInput(f"{name}: {found.format or 'no format that is read'}; only pages have a slope curve.")
            document = turbohtml.parse(decode(body, content_type).text, positions=False)
            draw_slope(slope_curve(document), origin, opts.plot)
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        if opts.json:
            print(safe_json(_as_data(found, origin, len(body), content_type), indent=1))
        elif opts.text:
            print(text_of(found))
        else:
            _print(found, origin, len(body), content_type, reading, opts)
        return 0


def _body(name: str, options: Options, opts: argparse.Namespace) -> tuple[bytes, str, str | None, str]:
    """Return the body, its URL, its Content-Type, and the title of the output."""
    if not is_web_url(name) or Path(name).is_file():
        path = Path(name)
        try:
            body = path.read_bytes()
        except OSError as error:
            raise BadInput(
                f"{name}: cannot be read ({error.strerror}); name a file, or a URL that is archived."
            ) from error
        ending = path.suffix.removeprefix(".").lower()
        content_type = opts.type or ("text/html" if ending in _HTML_ENDINGS else None)
        return body, opts.url or f"http://file.invalid/{quote(path.name)}", content_type, name
    if opts.url or opts.type:
        raise Misconfigured("--url and --type are for files; the archive has both for a URL.")
    archived, document = newest_archived(options, name)
    plain, content_type = plain_body_of(archived)
    return plain, archived.url, content_type, f"{archived.url}, archived {date_of(document.fetched)}"


# ── for people ──


def _print(
    found: ParsedBody, origin: str, size: int, content_type: str | None, reading: Reading, opts: argparse.Namespace
) -> None:
    console = Console(highlight=False, soft_wrap=True)
    blocks = blocks_of(found)
    if opts.blocks:
        for block in blocks:
            console.print(_block_line(block, len(block.text)))
        return
    if opts.links:
        for line in _link_lines(found, None):
            console.print(Text(line))
        return
    console.print(Text(origin, style="bold"))
    for name, value in _facts(found, size, content_type, reading, blocks):
        console.print(Text.assemble("  ", (f"{name:<12}", "cyan"), Text(value)))
    console.print(Text("\nBlocks, by importance", style="bold"))
    for block in blocks:
        console.print(_block_line(block, _WIDEST))
    console.print(Text("\nLinks", style="bold"))
    for line in _link_lines(found, MOST_LINKS):
        console.print(Text(line))


def _facts(
    found: ParsedBody, size: int, content_type: str | None, reading: Reading, blocks: Sequence[TextBlock]
) -> Iterator[tuple[str, str]]:
    declared = one_line(content_type or "") or "none"
    yield "Format", f"{found.format or 'no format that is read'}, {size:,} bytes; Content-Type: {declared}"
    if isinstance(found, Document):
        yield from _file_facts(found)
        return
    yield "Encoding", f"{found.encoding} {SOURCE_DESCRIPTIONS[found.encoding_source]}"
    metadata, language = found.metadata, found.language_details
    yield "Title", found.title
    if metadata.title not in ("", found.title):
        yield "", f"short title: {metadata.title}"
    chosen = sum(len(block.text) for block in blocks if block.importance >= 0.5)
    of = sum(len(block.text) for block in blocks)
    sure = "" if found.is_sure else ", but unsure"
    yield "Main text", f"{chosen:,} of {of:,} characters, by {reading.extractor}{sure}"
    declared_language, detected = language.declared or "none", language.detected or "none"
    yield "Language", f"{language.code or 'unknown'} (declared {declared_language}, detected {detected})"
    facts = {
        "Author": found.author,
        "Published": metadata.published_iso,
        "Modified": metadata.modified_iso,
        "Description": metadata.description,
        "Site": metadata.site_name,
        "Type": metadata.kind,
        "Canonical": found.canonical or "",
        "Languages": ", ".join(f"{code} {url}" for code, url in metadata.hreflang[:10]),
        "Keywords": ", ".join(metadata.keywords),
        "Licence": metadata.license,
        "Robots": ", ".join(name for name in ("noindex", "nofollow", "noarchive") if getattr(found.directives, name)),
        "Login": "asks for a password and has little other text" if found.is_login else "",
        "Problem": found.problem,
    }
    yield from ((name, value) for name, value in facts.items() if value)
    if metadata.headings:
        yield "Headings", " · ".join(heading.text for heading in metadata.headings[:10])
    if metadata.bold:
        yield "Bold", " · ".join(metadata.bold[:10])


def _file_facts(found: Document) -> Iterator[tuple[str, str]]:
    yield "Title", found.title
    for name, value in found.metadata.items():
        yield name.capitalize(), value
    if found.problem:
        yield "Problem", found.problem


def _block_line(block: TextBlock, longest: int) -> Text:
    """Format a block with its importance, green if it is main text, dim if it is not."""
    style = "green" if block.importance >= 0.75 else "yellow" if block.importance >= 0.5 else "dim"
    filled = round(block.importance * _BAR)
    text = block.text if len(block.text) <= longest else f"{block.text[: longest - 1]}…"
    tag = one_line(block.tag)[:20]  # a page may invent names of elements
    return Text(f"  {block.importance:.2f} {'█' * filled:<{_BAR}} {tag:<10} {text}", style=style)


def _link_lines(found: ParsedBody, most: int | None) -> Iterator[str]:
    if isinstance(found, Document):
        for link in found.links[:most]:
            yield f"  {link.url}  {link.anchor}".rstrip()
    else:
        counts = Counter(link.position.value for link in found.links)
        if most is not None:
            yield "  " + (", ".join(f"{count} in {name}" for name, count in counts.items()) or "none")
        for page_link in found.links[:most]:
            rel = f" [{page_link.rel}]" if page_link.rel else ""
            tag = f" <{page_link.tag}>" if page_link.tag != "a" else ""
            around = f"  ({page_link.around})" if page_link.around else ""
            yield f"  {page_link.position:<10} {page_link.url}{tag}{rel}  {page_link.anchor}{around}".rstrip()
    if most is not None and len(found.links) > most:
        yield f"  and {len(found.links) - most} more: --links"


# ── for programs ──


def _as_data(found: ParsedBody, origin: str, size: int, content_type: str | None) -> dict[str, Any]:
    common: dict[str, Any] = {
        "inspected": origin,
        "format": found.format,
        "bytes": size,
        "content_type": content_type,
        "title": found.title,
        "problem": found.problem,
        "blocks": [block._asdict() for block in blocks_of(found)],
        "links": [link._asdict() for link in found.links],
    }
    if isinstance(found, Document):
        return common | {"metadata": dict(found.metadata), "text": found.text}
    metadata = {field.name: getattr(found.metadata, field.name) for field in fields(found.metadata)}
    return common | {
        "encoding": found.encoding,
        "encoding_source": found.encoding_source,
        "language": found.language_details._asdict(),
        "canonical": found.canonical,
        "directives": asdict(found.directives),
        "is_sure": found.is_sure,
        "metadata": metadata | {"headings": [heading._asdict() for heading in found.metadata.headings]},
        "text": found.main_text,
    }


def draw_slope(curve: SlopeCurve, name: str, path: Path) -> None:
    """Draw the document slope curve of a page: it rises where there are tags, and is level where there is text."""
    from matplotlib.figure import Figure  # takes half a second, needed only for drawing

    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots()
    tokens, tags = [point[0] for point in curve.points], [point[1] for point in curve.points]
    first, last = curve.chosen
    label = f"the part that the method chooses: tokens {first:,} to {last:,}"
    axes.axvspan(first, last, color=SOFT, alpha=0.4, label=label)
    axes.plot(tokens, tags, color=INK)
    axes.set_title(name if len(name) <= 90 else f"{name[:89]}…", fontsize=10, parse_math=False)
    axes.set_xlabel("tokens: words and tags, without tags that only format text")
    axes.set_ylabel("tags up to that token")
    axes.set_ylim(bottom=0)
    axes.margins(x=0)
    axes.legend(loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
    save_chart(figure, path)
