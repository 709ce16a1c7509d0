"""Classify the classes and ids of elements by typical words: "sidebar", "entry-content", "related-posts".

Sites share such words, and so do content management systems. How much a word counts is learned (weights.py, trees.py).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

# Matched against single words, and against two adjacent words joined into one.
_KINDS: Final = {
    "comment": "comment|disqus|discuss|replies|reply|respond|^reaction|guestbook|kommentar",
    "sidebar": "sidebar|^side$|rail$|(?:left|right)col|column(?:left|right)|marginal|^aside|widget",
    "related": "relat|recommend|also|similar|popular|trending|most(?:read|view)|latest|recent|teaser|suggest|outbrain"
    "|more(?:news|stories|from|on)|taboola|read(?:next|more)|upnext|weitere|verwandt|linked|carousel|slider",
    "share": "share|sharing|social|facebook|twitter|whatsapp|pinterest|addthis|^follow|tweet|bookmark",
    "promo": "promo|sponsor|^adv|^ads?$|banner|anzeige|werbung|affiliate|commercial|partner|shop|product|offer|donat"
    "|paywall|premium|upsell",
    "signup": "newsletter|subscri|sign(?:up|in)|login|register|mailing|optin|^form$|^cta$|calltoaction",
    "notice": "cookie|consent|gdpr|modal|popup|overlay|lightbox|dialog|toast|alert|disclaimer|notice|noprint|legal"
    "|copyright|license|impressum",
    "trail": "breadcrumb|^crumb|pager|paginat|pagelinks|postnav|nextprev|skip|^jump|toolbar|tools$|actions?$|button|btn"
    "|^back$",
    "menu": "nav|menu|masthead|topbar|^top$|mobile|hamburger|sitemap|directory|^tabs?$|language|^search",
    "foot": "foot|bottom|colophon",
    "head": "head(?!line|ing)|logo|branding",
    "byline": "byline|author|autor|^bio$|about(?:the|author)|contributor|profile|vcard|avatar|redakt",
    "meta": "meta|date$|time$|timestamp|published|updated|tags?$|tag(?:list|cloud|links)|categor|topics?$|keyword"
    "|labels?$|kicker|eyebrow|rubri|dachzeile|info$|details?$|rating|views?$|counter|print$",
    "caption": "caption|credit|figure|image|photo|gallery|media|video|player|picture|slide|thumb|bild|foto|embed|audio"
    "|podcast",
    "title": "title|headline|heading|titel",
    "lead": "lead|intro|standfirst|summary|abstract|excerpt|deck?$|subhead|vorspann|chapo|description",
    "body": "(?:article|story|post|entry|news)(?:body|content|text|copy|detail)|(?:main|page)(?:content|text|body)"
    "|body(?:text|copy|content)|content(?:body|text|main|article)|richtext|text(?:body|content)|namebody"
    "|singlecontent|paragraph|markdown|wysiwyg|thecontent|blog(?:content|post)|prose",
    "article": "article|artikel|story|^post$|^entry|hentry|blog|^single|noticia|nota$|beitrag|column$",
    "content": "content|inhalt|contenido|^main$|^text|^body$|^copy$|chapter|wrapper|container|page$|section",
    "aux": "box$|panel|block$|module|card|item|list|grid|accordion|faq|toc|tableof|index|footnote|reference|source"
    "|quote|fact|glossar|appendix",
    "hidden": "hidden|hide$|screenreader|sronly|visually|invisible|collapsed?$|^dnone",
}
_KIND: Final = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()))
# Words that have a meaning, or another meaning, only together with the next word.
_FIRST_OF_TWO = (
    "side left right column most more read up sign log opt call pop page post next tool about tag article story entry "
    "news main body content rich text name single the blog table sr d screen no bread top site sub"
)
_FIRST: Final = frozenset(_FIRST_OF_TWO.split())
# Words for advertisements alone; "promo" also has shops, products and partners.
_ADVERTISING: Final = re.compile(
    "ads?|adverts?|advertise.*|adsense|adsbygoogle|adslots?|adunits?|adspace|adbox|adbanner|adcontainer|adwrapper|dfp|gpt"
    "|doubleclick|sponsor(?:ed|s)?|werbung|anzeigen?|publicidad|pubblicita|publicite|reklam[ay]?"
)
# The beginning of a class or id without its hyphens: dialogs that ask for consent to cookies, and makers of such.
_CONSENT: Final = re.compile(
    "(?:js|wp|the)?(?:cookies?|gdpr|privacy|consent)(?:consent|banner|notice|bar|dialog|popup|modal|overlay|message|law"
    "|wall|info|manager|layer)|cookiebot|cookieyes|onetrust|didomi|usercentrics|trustarc|iubenda|osano|borlabs|klaro"
    "|quantcast|ccwindow|(?:cookies?|gdpr)$"
)
_SEPARATORS: Final = re.compile("[^a-z ]+")
_WORD: Final = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_STATED_ROLE: Final = re.compile("[@$][A-Za-z]+")


@lru_cache(maxsize=8_192)  # pages of a site share names; each has at most 200 characters
def hints(names: str) -> tuple[str, ...]:
    """The kinds of words in an element's names, and its role and itemprop.

    >>> hints("@main wp-content relatedPosts")
    ('is @main', 'name content', 'name related')
    """
    found: set[str] = set()
    if names[:1] in ("@", "$", "!"):  # see names_of
        found.update(f"is {word.lower()}" for word in _STATED_ROLE.findall(names))
    for word in words_of(names):
        found.update(f"name {kind}" for kind in kinds_of(word))
    return tuple(sorted(found))


def words_of(names: str) -> list[str]:
    """Split an element's names into words, and pairs of words that mean something together.

    >>> words_of("relatedPosts #side-bar")
    ['related', 'posts', 'side', 'bar', 'sidebar']
    """
    words, before = [], ""
    for word in _WORD.findall(names):
        lower = word.lower()
        words.append(lower)
        if before in _FIRST:
            words.append(before + lower)
        before = lower
    return words


@lru_cache(maxsize=16_384)
def kinds_of(word: str) -> tuple[str, ...]:
    """Return the kinds to which a word belongs.

    >>> kinds_of("headline"), kinds_of("sidebar"), kinds_of("xyz")
    (('title',), ('sidebar',), ())
    """
    return tuple(str(match.lastgroup) for match in _KIND.finditer(word))


def asks_consent(names: str) -> bool:
    """Whether the names of an element say that it asks for consent to cookies.

    >>> asks_consent("modal #cookie-consent"), asks_consent("post tag-cookie-banner"), asks_consent("cookies-with-nuts")
    (True, False, False)
    """
    lower = names.lower()
    return any(_CONSENT.match(name) for name in _SEPARATORS.sub("", lower).split())


@lru_cache(maxsize=16_384)
def is_advertising(word: str) -> bool:
    """Whether a word of an element's names says that it holds an advertisement.

    >>> is_advertising("ads"), is_advertising("banner"), is_advertising("reader")
    (True, False, False)
    """
    return _ADVERTISING.fullmatch(word) is not None
