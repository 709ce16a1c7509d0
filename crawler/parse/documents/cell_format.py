"""Format the numbers of spreadsheet cells by Excel's number formats, such as `#,##0.00` and `yyyy-mm-dd`.

Rare features (fractions, conditions) are not supported; such numbers are shown plainly.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache

BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    14: "m/d/yy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm",
    21: "h:mm:ss", 22: "m/d/yy h:mm", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)", 41: "#,##0", 42: "$#,##0", 43: "#,##0.00", 44: "$#,##0.00", 45: "mm:ss",
    46: "[h]:mm:ss", 47: "mm:ss.0", 48: "0.0E+0", 49: "@",
}  # fmt: skip
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)[^\]]*\]|(?P<elapsed>\[(?:h+|m+|s+)\])'
    r"|\[[^\]]*\]|(?P<date>y+|m+|d+|h+|s+|AM/PM|A/P|e+(?![+-]))|(?P<general>General)"
    r"|(?P<number>[0#?][0#?,.]*(?:E[+-][0#?]+)?|\.[0#?]+)|(?P<fraction>\.0+)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_LONGEST = 255  # characters of a format
_LAST_DAY = 2_958_466  # the end of the year 9999

Token = tuple[str, str]  # kind, text


def format_value(value: float, pattern: str, *, since_1904: bool = False) -> str:
    """Format a number or date by a number format.

    >>> format_value(1234.5, "#,##0.00"), format_value(0.256, "0%"), format_value(-2, "0;(0)")
    ('1,234.50', '26%', '(2)')
    >>> format_value(44197.75, "yyyy-mm-dd hh:mm"), format_value(2.0, "General")
    ('2021-01-01 18:00', '2')
    """
    sections = _sections(pattern[:_LONGEST])
    tokens = sections[_section(value, len(sections))]
    if len(sections) > 1 and value < 0:
        value = -value
    if any(kind in ("date", "elapsed") for kind, _ in tokens):
        return _as_date(value, tokens, since_1904=since_1904)
    return _as_number(value, tokens)


def plain_number(value: float) -> str:
    """Format a number as Excel does without a number format.

    >>> plain_number(3.0), plain_number(0.1 + 0.2), plain_number(1e20), plain_number(123456789012345)
    ('3', '0.3', '1E+20', '123456789012345')
    """
    if value == int(value) and abs(value) < 1e16 if abs(value) < 1e300 else False:
        return str(int(value))
    text = f"{value:.10g}".upper()
    return text if "E" in text or abs(value) >= 1e-5 else f"{value:.9G}"


def _section(value: float, count: int) -> int:
    if count >= 2 and value < 0:
        return 1
    return 2 if count >= 3 and value == 0 else 0


@lru_cache(maxsize=256)
def _sections(pattern: str) -> list[list[Token]]:
    sections: list[list[Token]] = [[]]
    for found in _TOKEN.finditer(pattern):
        kind = found.lastgroup
        if kind is None:
            continue
        text = found[kind] or ""
        if kind == "other" and text == ";":
            sections.append([])
        elif kind in ("quoted", "escaped", "currency"):
            sections[-1].append(("literal", text))
        else:
            sections[-1].append((kind, text))
    return sections


def _as_number(value: float, tokens: list[Token]) -> str:
    if any(kind == "other" and text == "/" for kind, text in tokens):
        return plain_number(value)
    if any(kind == "other" and text == "%" for kind, text in tokens):
        value *= 100
    parts, has_digits = [], False
    for kind, text in tokens:
        if kind in ("number", "fraction", "general") or text == "@":
            parts.append("" if has_digits else _digits(value, text if kind == "number" else "General"))
            has_digits = True
        else:
            parts.append(text)
    return "".join(parts).strip() if tokens else plain_number(value)


def _digits(value: float, pattern: str) -> str:
    if pattern == "General":
        return plain_number(value)
    mantissa, mark, _ = pattern.upper().partition("E")
    thousands = len(mantissa) - len(mantissa.rstrip(","))  # commas at the end: each divides by a thousand
    whole, _, decimals = mantissa.rstrip(",").partition(".")
    places = min(sum(decimals.count(place) for place in "0#?"), 30)
    if mark:
        return f"{value:.{places}E}"
    value /= 1_000**thousands
    text = f"{value:,.{places}f}" if "," in whole else f"{value:.{places}f}"
    optional = len(decimals) - len(decimals.rstrip("#?"))
    for _ in range(min(optional, places)):
        text = text.removesuffix("0")
    text = text.rstrip(".") if decimals else text
    return text.zfill(whole.count("0")) if value >= 0 else text


def _as_date(value: float, tokens: list[Token], *, since_1904: bool) -> str:
    if not 0 <= value < _LAST_DAY:
        return plain_number(value)
    moment = _moment(value, since_1904=since_1904)
    dates = [index for index, (kind, _) in enumerate(tokens) if kind in ("date", "elapsed")]
    is_12 = any(text.upper() in ("AM/PM", "A/P") for _, text in tokens)
    parts = []
    for index, (kind, text) in enumerate(tokens):
        if kind == "date":
            neighbours = _is_minute(tokens, dates, index)
            parts.append(_date_part(moment, text.lower(), is_12=is_12, is_minute=neighbours))
        elif kind == "elapsed":
            unit = {"h": 24, "m": 1_440, "s": 86_400}[text[1].lower()]
            parts.append(str(int(value * unit + 1e-6)))
        elif kind == "fraction" or (kind == "number" and text.startswith(".")):
            parts.append(f".{moment.microsecond:06}"[: len(text)])
        elif not (text == "@" or kind == "general"):
            parts.append(text)
    return "".join(parts).strip()


def _moment(value: float, *, since_1904: bool) -> datetime:
    """Convert a day number to a date; Excel's day 60 is 29 February 1900, which did not exist."""
    first = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 31 if value < 60 else 30)  # noqa: DTZ001
    return first + timedelta(milliseconds=round(value * 86_400_000))


def _is_minute(tokens: list[Token], dates: list[int], index: int) -> bool:
    """Whether an "m" means minutes: it follows hours or precedes seconds."""
    at = dates.index(index)
    before = tokens[dates[at - 1]][1].strip("[]").lower() if at else ""
    after = tokens[dates[at + 1]][1].strip("[]").lower() if at + 1 < len(dates) else ""
    return before.startswith("h") or after.startswith("s")


def _date_part(moment: datetime, text: str, *, is_12: bool, is_minute: bool) -> str:
    size = len(text)
    match text[0]:
        case "a":
            return "AM" if moment.hour < 12 else "PM"
        case "y" | "e":
            return f"{moment.year:04}" if size > 2 or text[0] == "e" else f"{moment.year % 100:02}"
        case "d":
            day = _DAYS[moment.weekday()]
            return (f"{moment.day}", f"{moment.day:02}", day[:3], day)[min(size, 4) - 1]
        case "h":
            hour = (moment.hour + 11) % 12 + 1 if is_12 else moment.hour
            return f"{hour:0{min(size, 2)}}"
        case "s":
            return f"{moment.second:0{min(size, 2)}}"
        case _ if is_minute and size <= 2:
            return f"{moment.minute:0{size}}"
        case _:
            month = _MONTHS[moment.month - 1]
            return (f"{moment.month}", f"{moment.month:02}", month[:3], month, month[:1])[min(size, 5) - 1]
