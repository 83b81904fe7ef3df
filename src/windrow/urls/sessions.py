"""Recognise session ids: by a name that one software gives to its sessions, or by a value that no person wrote.

Two pages must never get one key, so in doubt a value stays: a session id that is not recognised costs a few requests
(its pages are duplicates, and a redirect to it is followed), a word taken for a session id costs a page.
"""

import re
from collections.abc import Callable

# Names that one software gives to its session ids. Any value is one: the software makes it, no page is named so.
SOFTWARE = frozenset(
    "bv_engineid bv_sessionid cfid cftoken cgisessid cgisessionid jsessionid modsid mscssid oscadminid oscsid "
    "phpsessid phpsessionid play_session plsessid sap-contextid sap-ext-sid sap-sessionid xoscsid xtcsid zencartid "
    "zenid _dynsessconf _zopeid".split()
)
SOFTWARE_PREFIX = "aspsessionid"
# Names that say "session id", but conferences and parliaments use them too: the value must look made by a machine.
LIKELY = frozenset(
    "asp.net_sessionid dokuwiki sess_id sessid session-id session_id session_key sessionid sessionkey sessiontoken "
    "sesskey wosid _session_id".split()
)
# Names that often mean something else, such as a search or a story: the value must be long as well.
POSSIBLE = frozenset("s sess session sid ssid".split())

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_HEXADECIMAL = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_TOKEN = re.compile(r"[0-9A-Za-z_+/-]+")
_PADDING = re.compile(r"(?:=|%3D)+$", re.IGNORECASE)
_BASE64 = re.compile(r"%2[BF]", re.IGNORECASE)
_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_LETTERS = re.compile(r"[A-Z]*[a-z]+|[A-Z]+")
_DIGITS = re.compile(r"[0-9]+")
_DIGESTS = frozenset((32, 40, 64))  # hexadecimal digits of MD5, SHA-1 and SHA-256
_ONE_CASE = frozenset((22, 26, 27, 32, 40, 52, 64))  # lengths of PHP's session ids and of digests
_LONGEST = 512  # characters of a value that are read: a hostile page must not choose how much work this is

_PARENTHESES = re.compile(
    r"/\((?:(?=[^/]*\([\w-]{20,}\))(?:[asfx]\([\w-]*\))+|([a-z0-5]{24}))\)(?=/|$)", re.ASCII | re.IGNORECASE
)
_OLD_ASP_NET = re.compile(r"(?:[a-z0-5]{6}[45]5){3}")  # what its first generator wrote


def test(name: str) -> Callable[[str], bool] | None:
    """Return the test for session ids under a parameter of this name, in lower case; None: no value is one."""
    if name in SOFTWARE or name.startswith(SOFTWARE_PREFIX):
        return _any
    if name in LIKELY:
        return _likely
    return _possible if name in POSSIBLE else None


def without_parentheses(path: str) -> str:
    """Remove the session ids that ASP.NET puts into a path: /(S(…))/, and /(…)/ in its first versions."""
    return _PARENTHESES.sub(lambda found: found[0] if found[1] and not _old(found[1]) else "", path)


def _old(value: str) -> bool:
    value = value.lower()
    groups = _DIGITS.findall(value)
    return _OLD_ASP_NET.fullmatch(value) is not None or (len(groups) > 2 and max(map(len, groups)) < 3)


def _any(value: str) -> bool:
    return True


def _likely(value: str) -> bool:
    if _UUID.fullmatch(value):
        return True
    if 8 <= len(value) < 16 and _HEXADECIMAL.fullmatch(value):
        return 2 * _changes(value) >= len(value) - 1 and _longest_number(value) < 3
    return _possible(value)


def _possible(value: str) -> bool:
    """Return whether a value is random: hexadecimal digits, or letters and digits that form no words and numbers."""
    if not 16 <= len(value) <= _LONGEST:
        return False
    value = _PADDING.sub("", _BASE64.sub("+", value)) if not value.isalnum() else value
    if not _TOKEN.fullmatch(value) or value.isdigit():
        return False
    if len(value) >= 16 and _HEXADECIMAL.fullmatch(value):
        return not value.isalpha() if len(value) in _DIGESTS else _changes(value) >= max(4, len(value) // 8)
    if len(value) < 20 or 10 * sum(map(value.count, "_-+/")) > len(value) or not _DIGITS.search(value):
        return False
    letters = _LETTERS.findall(value)
    short = sum(len(run) < 3 for run in letters)
    if short < 2 or 3 * short < len(letters):
        return False  # its letters form words
    if value.islower() or value.isupper():
        return len(value) in _ONE_CASE and 10 * _changes(value) >= 3 * len(value) and _longest_number(value) < 4
    return 4 * _changes(value) >= len(value)


def _changes(value: str) -> int:
    """Count the changes between letters and digits, and from small to capital letters. Words and numbers have few."""
    return len(_CHANGE.findall(value))


def _longest_number(value: str) -> int:
    return max(map(len, _DIGITS.findall(value)), default=0)
