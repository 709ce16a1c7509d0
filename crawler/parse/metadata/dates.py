"""Parse dates as sites write them, in standard formats and in the words of many languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import NamedTuple

_SHORT = re.compile(r"(\d{4})(?:-(\d\d))?")  # a year, or a month
_LONGEST = 100  # characters: no date is longer
_STAMP = re.compile(r"\d{10}(?:\d{3})?")  # Unix time, in seconds or milliseconds
_FIGURES = re.compile(r"((?:19|20)\d{6})(\d{6})")  # a day and a time of day, without separators

# Month names in many languages, with the cases they take in a date and abbreviations. A name that means different
# months in different languages (listopad) is left out.
MONTHS = """
1 january jan januar janvier janv enero ene gennaio gen janeiro januari stycznia styczeń sty leden ledna január
1 januára января январь янв січня januarie ianuarie ian ocak tammikuuta tammikuu jänner janar siječnja ιανουαρίου
1 ιανουάριος gener urtarrila
2 february feb februar février févr fév fevrier febrero febbraio fevereiro fev februari lutego luty únor února
2 február februára февраля февраль фев лютого februarie şubat helmikuuta helmikuu feber veljače φεβρουαρίου
2 φεβρουάριος febrer
3 march mar märz maerz mrz mars marzo março marco maart mrt marca marzec březen března marec március марта март
3 мар березня martie mart maaliskuuta maaliskuu ožujka μαρτίου μάρτιος març
4 april apr avril avr abril abr aprile kwietnia kwiecień kwi duben dubna apríl április апреля апрель апр квітня
4 aprilie nisan huhtikuuta huhtikuu travnja απριλίου απρίλιος
5 may mai mayo maggio mag maio mei maja maj květen května máj mája május мая май травня mayıs toukokuuta toukokuu
5 svibnja μαΐου μάιος maig
6 june jun juni juin junio giugno giu junho czerwca czerwiec cze červen června jún júna június июня июнь июн
6 червня iunie haziran kesäkuuta kesäkuu lipnja ιουνίου ιούνιος juny
7 july jul juli juillet juil julio luglio lug julho lipca lipiec lip červenec července júl júla július июля июль
7 июл липня iulie temmuz heinäkuuta heinäkuu ιουλίου ιούλιος juliol
8 august aug août aout agosto ago augustus sierpnia sierpień sie srpen srpna augusta augusztus августа август авг
8 серпня ağustos elokuuta elokuu augusti kolovoza αυγούστου αύγουστος agost
9 september sep sept septembre septiembre setiembre settembre set setembro września wrzesień wrz září septembra
9 szeptember сентября сентябрь сен вересня septembrie eylül syyskuuta syyskuu rujna σεπτεμβρίου σεπτέμβριος
9 setembre
10 october oct oktober okt octobre octubre ottobre ott outubro out października październik paź říjen října októbra
10 október октября октябрь окт жовтня octombrie ekim lokakuuta lokakuu οκτωβρίου οκτώβριος
11 november nov novembre noviembre novembro listopadu listopada novembra ноября ноябрь ноя noiembrie kasım
11 marraskuuta marraskuu studenoga νοεμβρίου νοέμβριος
12 december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro grudnia grudzień gru prosinec
12 prosince decembra декабря декабрь дек грудня decembrie aralık joulukuuta joulukuu prosinca δεκεμβρίου δεκέμβριος
12 desembre
"""
_MONTH_OF = {
    name: int(number) for line in MONTHS.split("\n") for number, *names in [line.split() or [""]] for name in names
}

_YEAR = r"(?:19|20)\d\d"
_IN_WORDS = re.compile(
    rf"(?<!\d)(?P<y1>{_YEAR})(?P<s1>[-./])\s?(?P<m1>\d\d?)(?P=s1)\s?(?P<d1>\d\d?)(?!\d)"
    rf"|(?<![\d./-])(?P<a>\d\d?)(?P<s2>[-./])\s?(?P<b>\d\d?)(?P=s2)\s?(?P<y2>{_YEAR})(?!\d)"
    rf"|(?<!\d)(?P<d3>\d\d?)(?:\.|st|nd|rd|th|er|º|ª)?[\s\-/]{{0,3}}(?:de\s|of\s)?(?P<n3>[^\W\d_]{{3,14}})\.?,?"
    rf"[\s\-/]{{0,3}}(?:de\s|del\s)?(?P<y3>{_YEAR})(?!\d)"
    rf"|(?P<n4>[^\W\d_]{{3,14}})\.?\s{{0,2}}(?P<d4>\d\d?)(?:st|nd|rd|th)?,?\s{{1,2}}(?P<y4>{_YEAR})(?!\d)"
    rf"|(?<!\d)(?P<y5>{_YEAR})\s?[年년]\s?(?P<m5>\d\d?)\s?[月월]\s?(?P<d5>\d\d?)\s?[日일]"
)
_SOME_YEAR = re.compile(_YEAR)
_HALF_DAY = re.compile(r"\d\s*[ap]\.?m\b", re.IGNORECASE)


class Date(NamedTuple):
    """A point in time; the start of the day, month or year if that is all that is known."""

    seconds: float  # since the epoch; without a zone UTC is meant
    iso: str  # in the writer's time zone and as exact as written: "2019", "2019-10", "2019-10-18" …


def seconds_of(text: str) -> float | None:
    """Parse a date of ISO 8601 or mail (RFC 822, 850) to seconds; default are the first day, midnight and UTC.

    >>> seconds_of("2005"), seconds_of("1970-01-02"), seconds_of("Fri, 02 Jan 1970 00:00:01 GMT"), seconds_of("soon")
    (1104537600.0, 86400.0, 86401.0, None)
    """
    text = text.strip()
    return _cached_seconds(text) if len(text) <= 10 else _seconds(text)


def date_of(text: str, *, month_first: bool | None = None) -> Date | None:
    """Parse a text that is a date: in a standard format, else the first date in words or figures.

    >>> date_of("2019-10-18T00:30:00+02:00")
    Date(seconds=1571351400.0, iso='2019-10-18T00:30:00+02:00')
    >>> date_of("2019-10"), date_of("am 18. Oktober 2019, 12 Uhr")
    (Date(seconds=1569888000.0, iso='2019-10'), Date(seconds=1571356800.0, iso='2019-10-18'))
    """
    text = text.strip()[:_LONGEST]
    if len(text) < 4:
        return None
    if (short := _SHORT.fullmatch(text)) is not None:
        seconds = seconds_of(text)
        return Date(seconds, short[0]) if seconds is not None else None
    if _STAMP.fullmatch(text):
        return _date_of_moment(datetime.fromtimestamp(int(text[:10]), UTC))
    if text.isdecimal() and len(text) not in (8, 14):
        return None
    with suppress(ValueError):
        found = datetime.fromisoformat(_FIGURES.sub(r"\1T\2", text))
        return _date_of_moment(found) if len(text) > 10 else _date_of_day(found.date())
    if ":" in text and _HALF_DAY.search(text) is None:  # the mail format has no AM/PM: 10:30 PM would become morning
        with suppress(ValueError, OverflowError, IndexError, TypeError):
            return _date_of_moment(parsedate_to_datetime(text))
    return next(dates_in(text, month_first=month_first), None)


def may_contain_date(text: str) -> bool:
    """Whether a text may contain a date: a test that is ten times as fast as that of `dates_in` for a year."""
    return "19" in text or "20" in text


def dates_in(text: str, *, month_first: bool | None = None) -> Iterator[Date]:
    """Find the days in a text, in words or figures; 3/4/2019 only if it is known which number is the month.

    >>> [found.iso for found in dates_in("Oct. 18th, 2019 – 2019年10月19日; 20.10.2019; 3/4/2019")]
    ['2019-10-18', '2019-10-19', '2019-10-20']
    >>> [found.iso for found in dates_in("3/4/2019", month_first=False)]
    ['2019-04-03']
    """
    if _SOME_YEAR.search(text) is None:  # ten times as fast as searching for a whole date
        return
    for found in _IN_WORDS.finditer(text):
        day = _calendar_day(found.groupdict(), month_first)
        if day is not None:
            yield _date_of_day(day)


def _calendar_day(parts: dict[str, str | None], month_first: bool | None) -> date | None:
    year = parts["y1"] or parts["y2"] or parts["y3"] or parts["y4"] or parts["y5"] or ""
    if parts["y2"]:
        month, day = _month_and_day(int(parts["a"] or 0), int(parts["b"] or 0), parts["s2"] or "", month_first)
    else:
        name = (parts["n3"] or parts["n4"] or "").lower()
        month = _MONTH_OF.get(name, 0) if name else int(parts["m1"] or parts["m5"] or 0)
        day = int(parts["d1"] or parts["d3"] or parts["d4"] or parts["d5"] or 0)
    try:
        return date(int(year), month, day)
    except ValueError:
        return None


def _month_and_day(first: int, second: int, separator: str, month_first: bool | None) -> tuple[int, int]:
    """(month, day) of two numbers, or (0, 0) if ambiguous: with full stops the day is first, else it depends."""
    if separator == "." or first > 12 or first == second:
        return second, first
    if second > 12:
        return first, second
    if month_first is None:
        return 0, 0
    return (first, second) if month_first else (second, first)


def _date_of_day(day: date) -> Date:
    return Date(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp(), day.isoformat())


def _date_of_moment(moment: datetime) -> Date | None:
    try:
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return Date(aware.timestamp(), moment.isoformat(timespec="seconds"))
    except (ValueError, OverflowError):  # a time zone may push the first or last day out of range
        return None


def _seconds(text: str) -> float | None:
    if len(text) <= 7 and (date := _SHORT.fullmatch(text)) is not None:
        text = f"{date[1]}-{date[2] or '01'}-01"
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = parse(text)
            return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError, IndexError, TypeError):
            continue
    return None


_cached_seconds = lru_cache(maxsize=4096)(_seconds)  # days repeat, moments do not
