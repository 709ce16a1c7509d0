"""Encoding labels: which encoding a label means, and how text in that encoding is decoded and encoded.

Names and labels are those of the Encoding Standard; others in a page or header are ignored. Python has more codecs,
some of which do not even produce text, and a page that names one of those is mistaken or malicious.
"""

from __future__ import annotations

import codecs
from functools import lru_cache
from typing import Final

import turbohtml.detect  # noqa: F401 - registers the standard's decoders as codecs named whatwg-…
import webencodings

DEFAULT: Final = "windows-1252"  # the HTML Standard's default for western locales
UTF_8: Final = "UTF-8"

# Encodings that the standard does not have; only detection or a byte order mark yields them, never a label.
BEYOND_THE_STANDARD: Final = {
    "IBM855": "cp855",
    "Johab": "johab",
    "ISO-2022-KR": "iso2022_kr",
    "UTF-32LE": "utf-32-le",
    "UTF-32BE": "utf-32-be",
}
NAMES: Final = (
    *(UTF_8, "UTF-16LE", "UTF-16BE", "IBM866", "KOI8-R", "KOI8-U", "macintosh", "x-mac-cyrillic", "windows-874"),
    *(f"ISO-8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, "8-I", 10, 13, 14, 15, 16)),
    *(f"windows-{page}" for page in range(1250, 1259)),
    *("GBK", "gb18030", "Big5", "EUC-JP", "ISO-2022-JP", "Shift_JIS", "EUC-KR", "replacement", "x-user-defined"),
)
_NAMES: Final = {name.lower(): name for name in NAMES}
_ENCODERS: Final = {
    **BEYOND_THE_STANDARD,
    "x-mac-cyrillic": "mac-cyrillic",
    "windows-874": "cp874",
    "ISO-8859-8-I": "iso8859-8",
    "Big5": "big5hkscs",
    "Shift_JIS": "cp932",
    "EUC-KR": "cp949",
    "x-user-defined": "ascii",
    # The standard encodes to UTF-8 for "replacement" and UTF-16 (its "get an output encoding").
    **dict.fromkeys(("replacement", "UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"), "utf-8"),
}


@lru_cache(maxsize=256)
def encoding_of_label(label: str) -> str | None:
    """The encoding that a label of the standard means; None for other labels.

    >>> [encoding_of_label(label) for label in (" Latin1 ", "gb2312", "iso-2022-kr", "zlib")]
    ['windows-1252', 'GBK', 'replacement', None]
    """
    if not label.isascii():
        return None
    encoding = webencodings.lookup(label)
    return _NAMES[encoding.name] if encoding is not None else None


def decode_as(name: str, body: bytes) -> str:
    r"""Decode bytes in the encoding of this name. Invalid sequences become U+FFFD and consume no ASCII after them.

    Python's codecs of similar names differ from the standard's by hundreds of characters and are slower. A body in
    "replacement" decodes to one U+FFFD: this stands for labels of encodings in which ASCII bytes can hide markup.

    >>> decode_as("windows-1252", b"caf\xe9 \x81"), decode_as("Shift_JIS", b"\x81<b>")
    ('café \x81', '�<b>')
    """
    if name == UTF_8:
        return body.decode("utf-8", "replace")
    codec = BEYOND_THE_STANDARD.get(name)
    return body.decode(codec, "replace") if codec is not None else codecs.decode(body, f"whatwg-{name}")


def codec_of(name: str) -> str:
    """Python's codec for encoding text, as in the query of a link, on a page in this encoding.

    >>> codec_of("windows-1251"), codec_of("Shift_JIS"), codec_of("UTF-16LE")
    ('windows-1251', 'cp932', 'utf-8')
    """
    return _ENCODERS.get(name, name.lower())
