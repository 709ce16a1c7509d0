"""Find the authors of a page: in its declared metadata, else in the byline near the headline.

The name of the site is taken as author only if there is no other: many systems put it in place of a person's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from turbohtml import Document, Element

from crawler.parse.metadata.dates import dates_in
from crawler.parse.metadata.titles import words
from crawler.parse.page_scan import NearbyLines, PageScan, is_outside_article, text_of

MOST_AUTHORS = 20
LONGEST_NAME = 80
METAS = (
    "citation_author",
    "dc:creator",
    "dc.creator",
    "dcterms.creator",
    "dcterm:creator",
    "dc.creator.personalname",
    "parsely-author",
    "sailthru.author",
    "author",
    "article:author_name",
    "article:author",
    "author-name",
    "byl",
)
# Metas that write "Lovelace, Ada", as library catalogues do.
_LAST_FIRST = frozenset({"citation_author", "dc.creator", "dc:creator", "dcterms.creator"})
_PROFILES = "a[href*='/aut']"  # one cheap test per link; _PROFILE below decides
_PROFILE = re.compile("/(?:author|autor|autoren|auteur)/")
_AUTHOR_ELEMENTS = (
    "[rel~=author],[itemprop~=author],[class*=byline i],[class*=author i],[class*=autor i],[class*=auteur i],"
    f"[class~=fn],address,[id=author i],[data-testid*=author i],{_PROFILES}"
)
_NAME_ELEMENTS = (
    "[itemprop~=name],[rel~=author],[class~=fn],[class*=author-name i],[class*=author__name i],[class*=authorname i],"
    + _PROFILES
)
_MOST_AUTHOR_ELEMENTS = 30
_LONGEST_LINE = 160  # characters of a byline: a longer text is about the author
_LONGEST_NAME_WORDS = 6
_LABELS = frozenset(
    {"written by", "verfasst von", "geschrieben von", "écrit par", "escrito por", "scritto da", "author"}
)

# "By", "Posted by", "Zeige alle Beiträge von", "Text:" …
BYLINE_PREFIX = re.compile(
    r"(?:(?:[^\W\d_]+\s+){0,3}(?:written|posted|published|created|story|articles?|posts?|erstellt|geschrieben|verfasst"
    r"|veröffentlicht|gepostet|eingestellt|beiträge|beitrag|artikel|publié|écrit|rédigé|escrito|publicado|scritto"
    r"|pubblicato|geschreven|gepubliceerd)\s+)?(?:by|von|par|por|di|da|door|av|af)\s+"
    r"|(?:autor(?:in|en)?|authors?|auteurs?|autore|autora|verfasser(?:in)?|name)\b\s*[:|–-]?\s*"
    r"|(?:texte?|texto|testo|redaktion|words|reporter)\s*:\s*",
    re.IGNORECASE,
)
# A line with a prefix has one of these among its first five words, or begins with one of those below.
_PREFIX_WORDS = frozenset({"by", "von", "par", "por", "di", "da", "door", "av", "af"})
_PREFIX_STARTS = ("auteur", "author", "autor", "name", "redaktion", "reporter", "testo", "text", "verfasser", "words")
_PICTURE_CREDIT = re.compile(r"(?:foto|photo|bild|image|illustration|quelle|source|credit)s?\b", re.IGNORECASE)
_SUFFIX = re.compile(
    r"\s*(?:[|•·–—(@]|\s-\s|\b(?:am|on|le|el|um|at)\s+\S*\d|\b(?:says|writes|schreibt)\b).*", re.IGNORECASE | re.DOTALL
)
_SEPARATOR = re.compile(r"\s*[;,/|&]\s*|\s+(?:and|und|et|y|e|en|och|og|i)\s+", re.IGNORECASE)
_NO_NAME = re.compile(r"https?:|www\.\S+/|\S@\S|[<>{}\[\]=?!…\"„“]|\d{3}", re.IGNORECASE)
_NOBODY = """
admin administrator author autor autoren authors editor root user webmaster unknown anonymous anonym guest gast none
null name kommentar kommentare comment comments share teilen more mehr follow folgen contact kontakt posts about über
"""
_NO_PERSON = frozenset(_NOBODY.split())  # what a name does not begin with
_SMALL = "de da do dos das del della der den di du la le van von vom zu zur ter ten af av al el bin ibn st v d y e"
_PARTICLES = frozenset(_SMALL.split())  # words of a name that are written small


def authors_of(
    document: Document, scan: PageScan, declared: Sequence[str], nearby: NearbyLines, site_names: Sequence[str]
) -> list[str]:
    """The names of the authors, from JSON-LD (`declared`), from metas, or from the byline."""
    fallback: list[str] = []
    for names in filter(None, _name_sources(document, scan, declared, nearby)):
        sites = {"".join(words(name)) for name in site_names}
        people = [name for name in names if "".join(words(name)) not in sites]
        if people:
            return people[:MOST_AUTHORS]
        fallback = fallback or names
    return fallback[:MOST_AUTHORS]


def names_in(text: str) -> list[str]:
    """The names in a byline, without prefixes such as "By" and what follows the names.

    >>> names_in("By Ada Lovelace and Alan Turing | May 4, 2019"), names_in("Read more about our cookies here!")
    (['Ada Lovelace', 'Alan Turing'], [])
    """
    text = text.strip()[:_LONGEST_LINE]
    if _PICTURE_CREDIT.match(text):
        return []
    text = _SUFFIX.sub("", _without_prefix(text))
    names = [_valid_name(part) for part in _SEPARATOR.split(text)[:MOST_AUTHORS]] if not _NO_NAME.search(text) else []
    return list(dict.fromkeys(filter(None, names)))


def _name_sources(
    document: Document, scan: PageScan, declared: Sequence[str], nearby: NearbyLines
) -> Iterator[list[str]]:
    """The names from each place that may have them, the most reliable first."""
    yield _all_names(declared)
    for name in METAS:
        if texts := scan.metas.get(name):
            yield _all_names(map(_first_name_first, texts) if name in _LAST_FIRST else texts)
    if scan.meta(("twitter:label1",)).lower() in _LABELS:
        yield _all_names(scan.metas.get("twitter:data1", ())[:1])
    for element in document.select(_AUTHOR_ELEMENTS)[:_MOST_AUTHOR_ELEMENTS]:
        if not is_outside_article(element) and _is_profile(element):
            inner = next(filter(_is_profile, element.select(_NAME_ELEMENTS)[:_MOST_AUTHOR_ELEMENTS]), None)
            yield _personal_names(text_of(inner if inner is not None else element, _LONGEST_LINE))
    yield from _names_after_prefix(nearby())


def _is_profile(element: Element) -> bool:
    """Whether a link that was selected only by its href leads to an author's profile; True for other elements."""
    href = element.attr("href") or ""
    return (
        "/aut" not in href
        or _PROFILE.search(href) is not None
        or element.attr("rel") is not None
        or bool(element.attr("class"))
    )


def _names_after_prefix(lines: Iterable[str]) -> Iterator[list[str]]:
    """The names in lines that begin with a prefix such as "By", or that follow a line with only that."""
    follows_prefix = False
    for line in lines:
        if len(line) > _LONGEST_LINE:
            follows_prefix = False
            continue
        rest = _without_prefix(line)
        if follows_prefix or (rest and rest != line):
            yield _personal_names(line)
        follows_prefix = not rest


def _without_prefix(text: str) -> str:
    prefix = BYLINE_PREFIX.match(f"{text} ") if may_have_prefix(text) else None
    return text[prefix.end() :] if prefix is not None else text


def may_have_prefix(text: str) -> bool:
    """Whether a line may begin with a prefix: a quick test that excludes most lines in a third of the time."""
    if not text.isascii():
        return True
    lower = text.lower()
    return lower.startswith(_PREFIX_STARTS) or not _PREFIX_WORDS.isdisjoint(lower.split(None, 5)[:5])


def _first_name_first(text: str) -> str:
    """Turn "Lovelace, Ada" into "Ada Lovelace"."""
    last, comma, first = text.partition(",")
    return f"{first.strip()} {last.strip()}" if comma and "," not in first else text


def _all_names(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for text in texts for name in names_in(text)))


def _personal_names(text: str) -> list[str]:
    """The capitalized names in a visible text; a single name of one word need not be capitalized."""
    names = names_in(text)
    return names if len(names) == 1 and " " not in names[0] else [name for name in names if _is_capital(name)]


def _is_capital(name: str) -> bool:
    return all(not word[0].islower() or word.lower() in _PARTICLES for word in name.split())


def _valid_name(text: str) -> str:
    """The text as a name, or "" if it does not look like one."""
    text = text.strip(" \t,.:;–-")
    own = words(text)
    if (
        not own
        or not text[0].isalpha()
        or len(text) > LONGEST_NAME
        or len(own) > _LONGEST_NAME_WORDS
        or own[0] in _NO_PERSON
    ):
        return ""
    return text if next(dates_in(text), None) is None else ""
