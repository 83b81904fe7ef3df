"""Names for languages: ISO 639-3 inside Windrow, any usual code or name outside.

`languages.tsv` in this directory has one row per language: code, two-letter code, macrolanguage, English names. It was
made from the IANA Language Subtag Registry of 2025-08-25, which is in the public domain (CC0). A row whose second
column begins with "=" is a retired code.
"""

import difflib
import functools
import re
from importlib import resources

import msgspec

from windrow.config import ConfigError
from windrow.judge.language import aliases

UNKNOWN = "und"  # the code for "undetermined"


class IsoLanguage(msgspec.Struct, frozen=True, gc=False):
    code: str  # ISO 639-3
    short: str  # ISO 639-1, or ""
    macro: str  # the macrolanguage it belongs to, or ""
    names: tuple[str, ...]  # in English, the usual one first


def parse(text: str) -> str:
    """Return the ISO 639-3 code of a language written as code, tag or name; raise ConfigError if it is unknown."""
    code = find(text)
    if code is None:
        raise ConfigError(f"unknown language {text!r}; {_suggestion(text)}")
    return code


@functools.lru_cache(4096)
def find(text: str) -> str | None:
    """Return the same as `parse`; None if there is no such language."""
    bare = text.strip().lower()
    return _by_code(bare) or _by_tag(bare) or _names().get(_normalised(bare))


@functools.cache
def label(text: str) -> str:
    """Return the ISO 639-3 code that a tool's label stands for; "und" if none."""
    return aliases.LABELS.get(text) or find(text) or UNKNOWN


def name(code: str) -> str:
    """Return the English name; the code itself if there is none."""
    if code == UNKNOWN:
        return "unknown"
    language = table().get(code)
    return language.names[0] if language else code


def short(code: str) -> str:
    """Return the two-letter code; the code itself if there is none."""
    language = table().get(code)
    return language.short or code if language else code


@functools.lru_cache(4096)
def covers(wanted: str, found: str) -> bool:
    """Return whether text in the language `found` is accepted when the user wants `wanted`.

    A macrolanguage covers its members ("nor" covers Bokmål and Nynorsk). A standard member covers its macrolanguage
    ("cmn" covers "zho"), because most tools know no finer name. Indonesian does not count as Malay, and Croatian,
    Serbian and Bosnian are three languages.
    """
    if wanted == found:
        return True
    whole = macro(found)
    return (bool(whole) and wanted == whole and (wanted, found) not in aliases.APART) or aliases.STANDARD.get(
        wanted
    ) == found


def macro(code: str) -> str:
    """Return the macrolanguage that a language belongs to, or ""."""
    language = table().get(code)
    return language.macro if language else ""


@functools.cache
def table() -> dict[str, IsoLanguage]:
    """Return every language by its ISO 639-3 code."""
    rows = (row for row in _rows() if not row[1].startswith("="))
    return {code: IsoLanguage(code, two, whole, tuple(names.split(";"))) for code, two, whole, names in rows}


@functools.cache
def _rows() -> list[list[str]]:
    text = (resources.files("windrow.judge.language") / "languages.tsv").read_text("utf-8")
    return [line.split("\t") for line in text.splitlines()]


@functools.cache
def _codes() -> dict[str, str]:
    """Return the ISO 639-3 code by every code in use or retired."""
    known = {row[0]: row[1][1:] for row in _rows() if row[1].startswith("=")}
    for language in table().values():
        known[language.code] = known[language.short or language.code] = language.code
    return {**known, **aliases.BIBLIOGRAPHIC, **aliases.RETIRED}


@functools.cache
def _names() -> dict[str, str]:
    """Return the code by normalised name. A name that two languages share belongs to the one with a two-letter code."""
    known: dict[str, str] = {}
    for language in sorted(table().values(), key=lambda one: not one.short):
        for written in language.names:
            known.setdefault(_normalised(written), language.code)
            known.setdefault(_normalised(re.sub(r"\s*\(.*?\)", "", written)), language.code)
    return {**known, **aliases.COMMON, **aliases.OWN}


def _normalised(written: str) -> str:
    return re.sub(r"[\s_-]+", " ", written.lower()).strip()


def _by_code(bare: str) -> str | None:
    if bare in (UNKNOWN, "mul") or (len(bare) == 3 and "qaa" <= bare <= "qtz" and bare.isascii() and bare.isalpha()):
        return bare  # qaa to qtz are for private use: languages without a code
    return _codes().get(bare)


def _by_tag(bare: str) -> str | None:
    """Return the code of a language tag (RFC 5646) or locale: that of its first part, if no later part refines it."""
    first, *rest = re.split("[-_]", re.sub(r"[.@].*", "", bare))
    if not rest or not all(re.fullmatch("[a-z0-9]{1,8}", part) for part in rest):
        return None
    base = _by_code(first)
    extended = _codes().get(rest[0]) if len(rest[0]) == 3 and rest[0].isalpha() else None
    if base and extended and macro(extended) == base:
        return extended
    return next((aliases.REGIONS[first, part] for part in rest if (first, part) in aliases.REGIONS), base)


def _suggestion(text: str) -> str:
    bare = _normalised(text)
    code = aliases.COUNTRIES.get(bare) or _nearest(bare)
    listed = "'windrow language list' shows the languages that Windrow can detect"
    if code:
        return f"did you mean '{code}' ({name(code)})? {listed}"
    return f"write an ISO 639 code such as 'ces' or 'cs'; {listed}"


def _nearest(bare: str) -> str | None:
    """Return the most similar language: common ones before rare ones, names before codes, which are all similar."""
    short = [language for language in table().values() if language.short]
    usual = {
        **{_normalised(written): language.code for language in short for written in language.names},
        **aliases.COMMON,
    }
    known = {key: code for key, code in _codes().items() if table()[code].short}
    first = ((usual, 0.8), (_names(), 0.85), (usual, 0.65))
    for names, similarity in (*first, (known, 0.65), (_names(), 0.65), (known, 0.4), (usual, 0.4)):
        near = difflib.get_close_matches(bare, names, 1, similarity)
        if near:
            return names[near[0]]
    return None
