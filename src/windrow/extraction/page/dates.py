"""Dates in texts: as machines write them, and as datelines do in the languages with most pages on the web."""

import datetime
import re
from collections.abc import Sequence

from windrow.records import Paragraph

# Names of the months as a dateline writes them, twelve per line: in full, inflected, abbreviated. A name that means
# different months in two languages is left out: "listopad" is October in Croatian and November in Polish and Czech,
# which have more pages.
_NAMES = """
january february march april may june july august september october november december
jan feb mar apr may jun jul aug sep oct nov dec
- - - - - - - - sept - - -
januar februar märz april mai juni juli august september oktober november dezember
jänner feber mrz - - - - - - okt - dez
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
janv févr - avr - - juil aout - - - déc
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
ene - - abr - - - ago setiembre - - dic
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
- fev - - mai - - - set out - -
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
gen - - - mag giu lug - - ott - -
januari februari maart april mei juni juli augustus september oktober november december
- - mrt - - - - - - - - -
- - - - maj - - augusti - - - -
- - marts - - - - - - - - desember
tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
styczeń luty marzec kwiecień - czerwiec lipiec sierpień wrzesień październik listopad grudzień
ledna února března dubna května června července srpna září října listopadu prosince
leden únor březen duben květen červen červenec srpen - říjen - prosinec
januára februára - apríla mája júna júla augusta septembra októbra novembra decembra
ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie
január február március április május június július augusztus szeptember október november december
- - márc ápr máj jún júl - szept - - -
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь
янв фев мар апр - июн июл авг сен окт ноя дек
січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
януари февруари - април - юни юли - септември октомври ноември декември
ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
- februari maret - mei juni juli agustus - oktober - desember
- - mac - - jun julai ogos - - - disember
janúar febrúar mars apríl maí júní júlí ágúst september október nóvember desember
يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
كانون شباط آذار نيسان أيار حزيران تموز آب أيلول - - -
जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर
- फरवरी - - - - - - सितम्बर अक्तूबर नवम्बर दिसम्बर
জানুয়ারি ফেব্রুয়ারি মার্চ এপ্রিল মে জুন জুলাই আগস্ট সেপ্টেম্বর অক্টোবর নভেম্বর ডিসেম্বর
"""
_MONTHS = {
    name.casefold(): number
    for line in _NAMES.strip().splitlines()
    for number, name in enumerate(line.split(), 1)
    if name not in ("-", "كانون")  # the second has two months
}

_YEAR = r"((?:19|20)\d\d)"
_NUMBERS = re.compile(rf"(?<!\d){_YEAR}(?:([-/.])|[ ]?[年년][ ]?)(\d{{1,2}})(?:\2|[ ]?[月월][ ]?)(\d{{1,2}})(?!\d)")
_COMPACT = re.compile(rf"(?<!\d){_YEAR}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?:\d{{6}})?(?!\d)")
_DAY_FIRST = re.compile(rf"(?<![\d.])(\d{{1,2}})\.[ ]?(\d{{1,2}})\.[ ]?{_YEAR}(?!\d)")
_EITHER_FIRST = re.compile(rf"(?<![\d/-])(\d{{1,2}})([/-])(\d{{1,2}})\2{_YEAR}(?!\d)")
_VIETNAMESE = re.compile(rf"\b(\d{{1,2}})[ ]tháng[ ](\d{{1,2}}),?[ ](?:năm[ ])?{_YEAR}\b", re.IGNORECASE)
_WORD = r"((?:[^\W\d_]|[\u0900-\u0eff]){2,14})"  # vowel signs of India are not \w
_SPOKEN = re.compile(rf"(?<!\w){_WORD}\.?,?[ ]+(\d{{1,2}})(?:st|nd|rd|th)?,?[ ]+{_YEAR}(?!\d)", re.IGNORECASE)
_SPOKEN_DAY_FIRST = re.compile(
    rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th|er|º)?\.?[ ]+(?:(?:of|de)[ ]+)?"
    rf"{_WORD}[.,]{{0,2}}[ ]+(?:del?[ ]+)?{_YEAR}(?!\d)",
    re.IGNORECASE,
)
_SPOKEN_YEAR_FIRST = re.compile(rf"(?<!\d){_YEAR}\.[ ]+{_WORD}\.?[ ]+(\d{{1,2}})\.?(?!\d)")
_FORMS = (  # patterns, and the groups of year, month and day
    (_NUMBERS, (1, 3, 4)),
    (_COMPACT, (1, 2, 3)),
    (_SPOKEN, (3, 1, 2)),
    (_SPOKEN_DAY_FIRST, (3, 2, 1)),
    (_SPOKEN_YEAR_FIRST, (1, 2, 3)),
    (_DAY_FIRST, (3, 2, 1)),
    (_VIETNAMESE, (3, 2, 1)),
    (_EITHER_FIRST, (4, 3, 1)),
)
_IN_URL = re.compile(
    rf"/{_YEAR}(?:[-/_]?(0[1-9]|1[0-2])[-/_]?(0[1-9]|[12]\d|3[01])(?!\d)|/([a-z]{{3,9}})/([0-2]?\d|3[01])/)"
)
_HAS_YEAR = re.compile(r"(?:19|20)\d\d|[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef]{4}|1\d{9}")
_CHANGED = re.compile(  # a line about a change, not about publication
    r"^(?!.*publi).*(?:updated?\b|modified|reviewed|edited|revised|aktualisiert|geändert|mise? à jour|modifi|"
    r"actualizad|atualizad|aggiornat|bijgewerkt|gewijzigd|oppdatert|opdateret|uppdaterad|päivitetty|aktualizac|aktualizowan|"
    r"frissít|обновл|оновл|güncel|diperbarui|cập nhật|更新|修改|수정)",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"1[0-9]{9}(?:[0-9]{3})?")

_EARLIEST = datetime.date(1990, 1, 1)  # an earlier date is older than the web: a birthday, a war, an epoch of zero
_LINE = 120  # characters of a line that may be a dateline
_ALONE = 40  # characters of a dateline elsewhere: it says little else
_NEAR = 15  # paragraphs below the headline, and above the text, in which a dateline may stand
_ABOVE = 3  # paragraphs above the headline
_LEAD = 8  # paragraphs behind the first of the text
_MONTHS_IN_YEAR = 12
_YEAR_FIRST = ("zh", "ja", "ko", "hu", "fil", "tl", "und")  # languages that do not write the day first
_DIGITS = {  # of Arabic, Persian, Hindi and Bengali
    zero + number: str(number) for zero in (0x660, 0x6F0, 0x966, 0x9E6) for number in range(10)
}
_DAY = 86400.0


def day(text: str, latest: float = 0.0, language: str = "") -> str:
    """Return the first plausible date in a text as YYYY-MM-DD; empty if there is none.

    `latest` is the time of the capture in epoch seconds: nothing was published after it; 0: unknown. `language`, as
    declared, decides what 05/06/2024 means; where it does not, such a date is ignored.
    """
    if not _HAS_YEAR.search(text, 0, 2 * _LINE):
        return ""
    text = text.strip()[:_LINE].translate(_DIGITS)
    if _EPOCH.fullmatch(text):
        return _checked(*_utc(float(text[:10])), latest)
    for pattern, groups in _FORMS:
        for match in pattern.finditer(text):
            year, month, date = (match[group] for group in groups)
            if pattern is _EITHER_FIRST:
                places = _places(int(month), int(date), language)
            else:
                places = (int(month) if month.isdecimal() else _month(month)), int(date)
            if found := _checked(int(year), *places, latest):
                return found
    return ""


def in_url(url: str, latest: float = 0.0) -> str:
    """Return the date in the path of a URL; empty if there is none."""
    match = _IN_URL.search(url)
    if not match:
        return ""
    month = int(match[2]) if match[2] else _MONTHS.get(match[4], 0)
    return _checked(int(match[1]), month, int(match[3] or match[5]), latest)


def line(paragraphs: Sequence[Paragraph], latest: float = 0.0, language: str = "") -> str:
    """Return the date in a short line between the headline and the first paragraph of the text, or in that paragraph;
    else in a line of its own right above the headline, or right behind that paragraph.

    It is empty if there is none. A line about a change is used only if there is no other.
    """
    start = -1  # no headline
    for index, one in enumerate(paragraphs):
        if one.heading and one.path.endswith("h1"):
            start = index
        elif one.kind == "good" and not one.heading:
            break
    else:
        return ""
    between = paragraphs[max(start, 0) : index + 1]
    if len(between) > 2 * _NEAR:
        between = (*between[: _NEAR if start >= 0 else 0], *between[-_NEAR - 1 :])
    elif start < 0:
        between = between[-_NEAR - 1 :]
    dated = [one.text for one in between if len(one.text) <= _LINE and _HAS_YEAR.search(one.text)]
    if start >= 0:
        dated += reversed(_alone(paragraphs[max(0, start - _ABOVE) : start], latest))
        dated += _behind_lead(paragraphs[index + 1 : index + 1 + _LEAD])
    dated.sort(key=lambda text: _CHANGED.match(text) is not None)
    return next((found for text in dated if (found := day(text, latest, language))), "")


def _alone(above: Sequence[Paragraph], latest: float) -> list[str]:
    """Return the lines above a headline that are hardly more than a date, without today's, which many sites show."""
    lines = [one.text for one in above if len(one.text) <= _ALONE and _HAS_YEAR.search(one.text)]
    if not lines or not latest:
        return lines
    today = {datetime.date(*_utc(latest + shift)).isoformat() for shift in (-_DAY, 0.0, _DAY)}
    return [text for text in lines if day(text) not in today]


def _behind_lead(behind: Sequence[Paragraph]) -> list[str]:
    """Return the lines that are hardly more than a date, right behind the first paragraph, which may be a summary."""
    text = (one.kind == "good" and len(one.text) > _LINE for one in behind)
    end = next((index for index, is_text in enumerate(text) if is_text), len(behind))
    return [one.text for one in behind[:end] if one.kind != "good" and len(one.text) <= _ALONE]


def _month(name: str) -> int:
    return _MONTHS.get(name.casefold().removesuffix("kuuta"), 0)  # Finnish: "in the month of"


def _places(second: int, first: int, language: str) -> tuple[int, int]:
    """Return month and day of a date whose first two numbers may be either; zeros if that cannot be decided."""
    if first > _MONTHS_IN_YEAR or first == second:
        return second, first
    if second > _MONTHS_IN_YEAR:
        return first, second
    code, _, region = language.lower().replace("_", "-").partition("-")
    if code == "en" and region in ("", "ca", "ph"):  # both ways are in use
        return 0, 0
    if region == "us":
        return first, second
    return (second, first) if code and code not in _YEAR_FIRST else (0, 0)


def _utc(seconds: float) -> tuple[int, int, int]:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.year, moment.month, moment.day


def _checked(year: int, month: int, date: int, latest: float) -> str:
    try:
        found = datetime.date(year, month, date)
    except ValueError:
        return ""
    if found < _EARLIEST or (latest and found > datetime.date(*_utc(latest + _DAY))):
        return ""
    return found.isoformat()
