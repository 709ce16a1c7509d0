"""In which language is a text written?"""

from __future__ import annotations

import re

from turbohtml.detect import LanguageDetection, detect_language

SAMPLE = 1_000  # characters that are looked at: more costs time and changes little
ENOUGH = 40  # characters below which a text does not tell
_SURE = LanguageDetection(threshold=0.5)
_DECLARED = re.compile(r"\s*([A-Za-z]{2,3})(?:[-_].*)?\s*$", re.DOTALL)

# The detector answers in ISO 639-3; pages, and those who search, use the two letters of ISO 639-1.
_CODES = dict(
    pair.split(":")
    for pair in [
        "afr:af",
        "aka:ak",
        "amh:am",
        "ara:ar",
        "arb:ar",
        "aze:az",
        "bel:be",
        "ben:bn",
        "bul:bg",
        "cat:ca",
        "ces:cs",
        "cmn:zh",
        "cym:cy",
        "dan:da",
        "deu:de",
        "ell:el",
        "eng:en",
        "epo:eo",
        "est:et",
        "fin:fi",
        "fra:fr",
        "guj:gu",
        "heb:he",
        "hin:hi",
        "hrv:hr",
        "hun:hu",
        "hye:hy",
        "ind:id",
        "ita:it",
        "jav:jv",
        "jpn:ja",
        "kan:kn",
        "kat:ka",
        "khm:km",
        "kor:ko",
        "lat:la",
        "lav:lv",
        "lit:lt",
        "mal:ml",
        "mar:mr",
        "mkd:mk",
        "mya:my",
        "nep:ne",
        "nld:nl",
        "nob:nb",
        "ori:or",
        "pan:pa",
        "pes:fa",
        "pol:pl",
        "por:pt",
        "ron:ro",
        "rus:ru",
        "sin:si",
        "slk:sk",
        "slv:sl",
        "sna:sn",
        "spa:es",
        "srp:sr",
        "swe:sv",
        "tam:ta",
        "tel:te",
        "tgl:tl",
        "tha:th",
        "tuk:tk",
        "tur:tr",
        "ukr:uk",
        "urd:ur",
        "uzb:uz",
        "vie:vi",
        "yid:yi",
        "zul:zu",
    ]
)


def language_of(text: str, declared: str = "") -> str:
    """What a short sample says, if it says it clearly; else what the page declares; empty if neither does.

    >>> language_of("It was the best of times, it was the worst of times, it was the age of wisdom.", "fr")
    'en'
    >>> language_of("OK", "de-AT"), language_of("OK", "nonsense!")
    ('de', '')
    """
    sample = text[:SAMPLE]
    if len(sample) >= ENOUGH:
        found = detect_language(sample, _SURE).language
        if found is not None:
            return _CODES.get(found, found)
    match = _DECLARED.match(declared)
    return match[1].lower() if match else ""
