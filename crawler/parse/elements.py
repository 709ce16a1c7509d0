"""Classes of HTML elements: those that start a new block of text, those that only format it, those without text."""

from __future__ import annotations

from typing import Final


def _tags(names: str) -> frozenset[str]:
    return frozenset(names.split())


# Elements without text for readers: scripts, drawings, controls, and what is shown only where scripts do not run.
UNREAD: Final = _tags(
    "script style noscript template svg annotation iframe object embed applet canvas audio video map noframes noembed "
    "select option optgroup datalist textarea input meter progress head title link meta base frameset"
)
HEADINGS: Final = _tags("h1 h2 h3 h4 h5 h6")
BLOCKS: Final = HEADINGS | _tags(
    "address article aside blockquote body button caption center col colgroup dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form header hgroup hr legend li listing main menu nav noscript ol p plaintext pre search "
    "section summary table tbody td tfoot th thead tr ul xmp"
)
FORMATTING: Final = _tags(
    "abbr acronym b bdi bdo big br cite code del dfn em font i ins kbd mark nobr q rp rt ruby s samp small span strike "
    "strong sub sup time tt u var wbr"
)
PREFORMATTED: Final = _tags("pre listing xmp plaintext")
