"""What do the names tell that authors give to the parts of their pages?

Sites share the words of their trade, and of the systems they are made with: "sidebar", "entry-content", "related-posts".
What a word weighs is not said here: that is learned (weights.py).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

# Looked for in names written like-this, so that a word ends at \b. At each place the first kind that fits counts.
_KINDS: Final = {
    "comment": r"comment|disqus|discuss|replies|reply|respond|\breaction|guestbook|kommentar",
    "sidebar": r"side-?bar|\bside\b|rail\b|(?:left|right)-?col|column-?(?:left|right)|marginal|\baside|widget",
    "related": r"relat|recommend|also|similar|popular|trending|most-?(?:read|view)|latest|recent|teaser|suggest|outbrain"
    r"|more-?(?:news|stories|from|on)|taboola|read-?(?:next|more)|up-?next|weitere|verwandt|linked-|carousel|slider",
    "share": r"share|sharing|social|facebook|twitter|whatsapp|pinterest|addthis|\bfollow|tweet|bookmark",
    "promo": r"promo|sponsor|\badv|\bads?\b|banner|anzeige|werbung|affiliate|commercial|partner|shop|product|offer|donat"
    r"|paywall|premium|upsell",
    "signup": r"newsletter|subscri|sign-?(?:up|in)|log-?in|register|mailing|opt-?in|\bform\b|\bcta\b|call-?to-?action",
    "notice": r"cookie|consent|gdpr|modal|pop-?up|overlay|lightbox|dialog|toast|alert|disclaimer|notice|no-?print|legal"
    r"|copyright|license|impressum",
    "trail": r"bread-?crumb|\bcrumb|pager|paginat|page-?links|post-?nav|next-?prev|skip|\bjump|tool-?bar|tools\b"
    r"|actions?\b|button|btn|\bback\b",
    "menu": r"nav|menu|masthead|top-?bar|\btop\b|mobile|hamburger|site-?map|directory|\btabs?\b|language|search",
    "foot": r"foot|bottom|colophon",
    "head": r"head(?!line|ing)|logo|branding",
    "byline": r"byline|author|autor|\bbio\b|about-?(?:the|author)|contributor|profile|vcard|avatar|redakt",
    "meta": r"meta|date\b|time\b|timestamp|published|updated|tags?\b|tag-?(?:list|cloud|links)|categor|topics?\b|keyword"
    r"|labels?\b|kicker|eyebrow|rubri|dachzeile|info\b|details?\b|rating|views?\b|counter|print\b",
    "caption": r"caption|credit|figure|image|photo|gallery|media|video|player|picture|slide|thumb|bild|foto|embed|audio"
    r"|podcast",
    "title": r"title|headline|heading|titel",
    "lead": r"lead|intro|standfirst|summary|abstract|excerpt|deck?\b|subtitle|sub-?head|vorspann|chapo|description",
    "body": r"article-+(?:body|content|text|copy|main|detail)|article(?:body|content|text)|story-+(?:body|content|text)"
    r"|(?:post|entry)-?(?:body|content|text)|(?:main|page)-?(?:content|text|body)|body-?(?:text|copy|content)"
    r"|content-?(?:body|text|main|article)|rich-?text|text-?(?:body|content)|name-body|single-content|paragraph"
    r"|news-?(?:text|content|detail)|markdown|wysiwyg|the-?content|blog-?(?:content|post)|prose",
    "article": r"article|artikel|story|\bpost\b|\bentry|hentry|blog|\bsingle|noticia|nota\b|beitrag|column\b",
    "content": r"content|inhalt|contenido|\bmain\b|\btext|\bbody\b|\bcopy\b|chapter|wrapper|container|page\b|section",
    "aux": r"box\b|panel|block\b|module|card|item|list|grid|accordion|faq|toc|table-?of|index|footnote|reference|source"
    r"|quote|fact|glossar|appendix",
    "hidden": r"hidden|hide\b|screen-?reader|sr-only|visually|invisible|collapsed?\b|d-none",
}
_KIND: Final = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()))
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_STATED: Final = re.compile(r"[@$!][a-z]+", re.IGNORECASE)


@lru_cache(maxsize=16_384)  # pages of a site share their names; a name has at most 200 characters
def hints(names: str) -> tuple[str, ...]:
    """The kinds of words in names, and what the element states.

    >>> hints("@main wp-content relatedPosts")
    ('is @main', 'name content', 'name menu', 'name related')
    """
    plain = _HUMP.sub("-", names).replace("_", "-").lower()
    found = {f"name {match.lastgroup}" for match in _KIND.finditer(plain)}
    found.update(f"is {word.lower()}" for word in _STATED.findall(names))
    return tuple(sorted(found))
