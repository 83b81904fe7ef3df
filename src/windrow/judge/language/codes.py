"""Names for languages: ISO 639-3 inside, whatever people and tools write outside.

`languages.tsv` beside this file has a row per language: code, two-letter code, macrolanguage, English names. It was made from the IANA
Language Subtag Registry of 2025-08-25, which is in the public domain (CC0). A row whose second column begins with "=" is a retired code.
"""

import difflib
import functools
import re
from importlib import resources

import msgspec

from windrow.config import ConfigError

UNKNOWN = "und"  # the code for "undetermined"

# ISO 639-2 has two codes for these; libraries write this one.
_BIBLIOGRAPHIC = {
    **{
        "alb": "sqi",
        "arm": "hye",
        "baq": "eus",
        "bur": "mya",
        "chi": "zho",
        "cze": "ces",
        "dut": "nld",
        "fre": "fra",
        "geo": "kat",
    },
    **{
        "ger": "deu",
        "gre": "ell",
        "ice": "isl",
        "mac": "mkd",
        "mao": "mri",
        "may": "msa",
        "per": "fas",
        "rum": "ron",
        "slo": "slk",
    },
    **{"tib": "bod", "wel": "cym", "scr": "hrv", "scc": "srp"},
}
_RETIRED = {"in": "ind", "iw": "heb", "ji": "yid", "jw": "jav", "mo": "ron", "bh": "bho"}
# What CLD2 and py3langid call differently. Their "no" stands beside "nn" and is Bokmål; the invented languages are nobody's.
_LABELS = {
    **{"no": "nob", "sr-ME": "cnr", "xx-Bugi": "bug", "xx-Goth": "got", "tw": "aka"},
    **dict.fromkeys(("un", "xxx", "zxx", "zzb", "zze", "zzh", "zzp", "tlh"), UNKNOWN),
}
_REGIONS = {("sr", "me"): "cnr", ("srp", "me"): "cnr", ("zh", "mo"): "zho"}
_COMMON = {
    **{
        "bangla": "ben",
        "bokmal": "nob",
        "bokmål": "nob",
        "nynorsk": "nno",
        "burmese": "mya",
        "cantonese": "yue",
        "mandarin": "cmn",
    },
    **{
        "farsi": "fas",
        "flemish": "nld",
        "frisian": "fry",
        "gaelic": "gla",
        "greek": "ell",
        "greenlandic": "kal",
        "malay": "msa",
    },
    **{
        "kurmanji": "kmr",
        "sorani": "ckb",
        "myanmar": "mya",
        "nepali": "nep",
        "odia": "ori",
        "punjabi": "pan",
        "sami": "sme",
    },
    **{
        "swahili": "swa",
        "tagalog": "tgl",
        "filipino": "fil",
        "occitan": "oci",
        "uyghur": "uig",
        "kyrgyz": "kir",
        "sinhalese": "sin",
    },
}
# What languages are called by those who speak them.
_OWN = {
    **{
        "deutsch": "deu",
        "français": "fra",
        "francais": "fra",
        "español": "spa",
        "espanol": "spa",
        "italiano": "ita",
        "čeština": "ces",
    },
    **{
        "česky": "ces",
        "polski": "pol",
        "português": "por",
        "portugues": "por",
        "nederlands": "nld",
        "svenska": "swe",
        "dansk": "dan",
    },
    **{
        "norsk": "nor",
        "suomi": "fin",
        "magyar": "hun",
        "türkçe": "tur",
        "română": "ron",
        "hrvatski": "hrv",
        "slovenčina": "slk",
    },
    **{
        "slovenščina": "slv",
        "eesti": "est",
        "latviešu": "lav",
        "lietuvių": "lit",
        "íslenska": "isl",
        "gaeilge": "gle",
        "cymraeg": "cym",
    },
    **{
        "català": "cat",
        "euskara": "eus",
        "galego": "glg",
        "русский": "rus",
        "українська": "ukr",
        "български": "bul",
        "српски": "srp",
    },
    **{
        "ελληνικά": "ell",
        "עברית": "heb",
        "العربية": "ara",
        "فارسی": "fas",
        "हिन्दी": "hin",
        "日本語": "jpn",
        "中文": "zho",
        "한국어": "kor",
    },
    **{"tiếng việt": "vie", "bahasa indonesia": "ind", "bahasa melayu": "msa"},
}
# Top-level domains and countries that are taken for languages. Those that are also a language (br, se, si) must stay what they are.
_COUNTRIES = {
    **{
        "at": "deu",
        "au": "eng",
        "cn": "zho",
        "cz": "ces",
        "dk": "dan",
        "eg": "ara",
        "ge": "kat",
        "gr": "ell",
        "il": "heb",
        "ir": "fas",
    },
    **{
        "jp": "jpn",
        "kr": "kor",
        "mx": "spa",
        "pk": "urd",
        "rs": "srp",
        "tw": "zho",
        "ua": "ukr",
        "uk": "ukr",
        "us": "eng",
        "vn": "vie",
    },
    **{
        "gb": "eng",
        "by": "bel",
        "kz": "kaz",
        "me": "cnr",
        "ba": "bos",
        "al": "sqi",
        "in": "hin",
        "ph": "fil",
        "tj": "tgk",
        "lk": "sin",
    },
}
# The member that is meant by the name of its macrolanguage, where tools know only the latter.
_STANDARD = {
    **{
        "als": "sqi",
        "arb": "ara",
        "azj": "aze",
        "cmn": "zho",
        "ekk": "est",
        "gug": "grn",
        "khk": "mon",
        "kmr": "kur",
        "lvs": "lav",
    },
    **{
        "npi": "nep",
        "ory": "ori",
        "pes": "fas",
        "plt": "mlg",
        "swh": "swa",
        "uzn": "uzb",
        "ydd": "yid",
        "zsm": "msa",
        "gaz": "orm",
    },
    **{"pbu": "pus", "knn": "kok", "fuv": "ful", "twi": "aka", "nob": "nor"},
}
_APART = {("msa", "ind")}  # in ISO 639-3 Indonesian is a kind of Malay; who asks for Malay does not mean it


class Language(msgspec.Struct, frozen=True, gc=False):
    code: str  # ISO 639-3
    short: str  # ISO 639-1, or ""
    macro: str  # the macrolanguage it belongs to, or ""
    names: tuple[str, ...]  # in English, the usual one first


def parse(text: str) -> str:
    """The ISO 639-3 code of a language written as code, tag or English name."""
    code = find(text)
    if code is None:
        raise ConfigError(f"unknown language {text!r}; {_suggestion(text)}")
    return code


@functools.lru_cache(4096)
def find(text: str) -> str | None:
    """As `parse`; None where there is no such language."""
    bare = text.strip().lower()
    return _by_code(bare) or _by_tag(bare) or _names().get(_plain(bare))


@functools.cache
def label(text: str) -> str:
    """What a tool's answer means; "und" where it means nothing."""
    return _LABELS.get(text) or find(text) or UNKNOWN


def name(code: str) -> str:
    """The English name; the code itself where there is none."""
    if code == UNKNOWN:
        return "unknown"
    language = table().get(code)
    return language.names[0] if language else code


def short(code: str) -> str:
    """The two-letter code, or the code itself."""
    language = table().get(code)
    return language.short or code if language else code


def covers(wanted: str, found: str) -> bool:
    """Whether text found to be in one language is what was asked for by the other.

    A macrolanguage covers its members ("nor" both Bokmål and Nynorsk); its standard member is covered by it ("cmn" by "zho"), because
    most tools know no finer name. Indonesian is not Malay here, and Croatian, Serbian and Bosnian are three.
    """
    if wanted == found:
        return True
    whole = macro(found)
    return (bool(whole) and wanted == whole and (wanted, found) not in _APART) or _STANDARD.get(wanted) == found


def macro(code: str) -> str:
    language = table().get(code)
    return language.macro if language else ""


@functools.cache
def table() -> dict[str, Language]:
    """Every language, by ISO 639-3 code."""
    rows = (row for row in _rows() if not row[1].startswith("="))
    return {code: Language(code, two, whole, tuple(names.split(";"))) for code, two, whole, names in rows}


@functools.cache
def _rows() -> list[list[str]]:
    text = (resources.files("windrow.judge.language") / "languages.tsv").read_text("utf-8")
    return [line.split("\t") for line in text.splitlines()]


@functools.cache
def _codes() -> dict[str, str]:
    """Every code in use or retired."""
    known = {row[0]: row[1][1:] for row in _rows() if row[1].startswith("=")}
    for language in table().values():
        known[language.code] = known[language.short or language.code] = language.code
    return {**known, **_BIBLIOGRAPHIC, **_RETIRED}


@functools.cache
def _names() -> dict[str, str]:
    """English names, plainly written; of two languages of one name the one with a two-letter code has it."""
    known: dict[str, str] = {}
    for language in sorted(table().values(), key=lambda one: not one.short):
        for written in language.names:
            known.setdefault(_plain(written), language.code)
            known.setdefault(_plain(re.sub(r"\s*\(.*?\)", "", written)), language.code)
    return {**known, **_COMMON, **_OWN}


def _plain(written: str) -> str:
    return re.sub(r"[\s_-]+", " ", written.lower()).strip()


def _by_code(bare: str) -> str | None:
    if bare in (UNKNOWN, "mul") or (len(bare) == 3 and "qaa" <= bare <= "qtz" and bare.isascii() and bare.isalpha()):
        return bare  # qaa to qtz are for private use: a language that has no code
    return _codes().get(bare)


def _by_tag(bare: str) -> str | None:
    """A language tag (RFC 5646) or a locale: the first part counts, and what makes another language of it."""
    first, *rest = re.split("[-_]", re.sub(r"[.@].*", "", bare))
    if not rest or not all(re.fullmatch("[a-z0-9]{1,8}", part) for part in rest):
        return None
    base = _by_code(first)
    extended = _codes().get(rest[0]) if len(rest[0]) == 3 and rest[0].isalpha() else None
    if base and extended and macro(extended) == base:
        return extended
    return next((_REGIONS[first, part] for part in rest if (first, part) in _REGIONS), base)


def _suggestion(text: str) -> str:
    bare = _plain(text)
    code = _COUNTRIES.get(bare) or _nearest(bare)
    listed = "'windrow language list' shows those that are told apart"
    return (
        f"did you mean '{code}' ({name(code)})? {listed}"
        if code
        else f"write an ISO 639 code such as 'ces' or 'cs'; {listed}"
    )


def _nearest(bare: str) -> str | None:
    """Of the languages most people mean before the rest, by name before code, since codes lie close to one another."""
    short = [language for language in table().values() if language.short]
    usual = {**{_plain(written): language.code for language in short for written in language.names}, **_COMMON}
    known = {key: code for key, code in _codes().items() if table()[code].short}
    for names, likeness in (
        (usual, 0.8),
        (_names(), 0.85),
        (usual, 0.65),
        (known, 0.65),
        (_names(), 0.65),
        (known, 0.4),
        (usual, 0.4),
    ):
        near = difflib.get_close_matches(bare, names, 1, likeness)
        if near:
            return names[near[0]]
    return None
