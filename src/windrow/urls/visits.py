"""Clean the path and query of a URL: remove session ids and tracking parameters, write equal escapes in one way."""

import functools
import re
from collections.abc import Callable

import url as whatwg

from windrow.urls import sessions

PASSES = 8  # rounds of cleaning until nothing changes; two or three are enough, this bounds the work
NAME = 64  # characters of a parameter's name that are read: a hostile page must not choose how much work this is

TRACKING = frozenset(
    "__hsfp __hssc __hstc _branch_match_id _ga _gl _hsenc _hsmi _openstat dclid ef_id epik fb_action_ids "
    "fb_action_types fb_ref fb_source fbclid gbraid gclid gclsrc guccounter guce_referrer guce_referrer_sig "
    "hsctatracking igsh igshid li_fat_id mc_cid mc_eid mkt_tok msclkid oly_anon_id oly_enc_id pk_campaign pk_cid "
    "pk_content pk_keyword pk_kwd pk_medium pk_source rb_clickid s_kwcid srsltid ttclid twclid vero_conv vero_id "
    "wbraid wickedid xtor yclid ysclid zanpid".split()
)
PREFIXES = ("utm_", "mtm_", "piwik_")

_AMP = re.compile(r"(^|[&;])(?:amp(?:;|%3[Bb]))+")
_MATRIX = re.compile(r"(?:;|%3B)([a-z_]{3,16})(?:=|%3D)([^/;]*)", re.IGNORECASE)
_ESCAPE = re.compile("%(?:[0-9A-Fa-f]{2})?")
_HEX = "0123456789ABCDEFabcdef"
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ESCAPES = {f"%{high}{low}": int(high + low, 16) for high in _HEX for low in _HEX}
_DECODED = {escape: chr(octet) if octet in _UNRESERVED else escape.upper() for escape, octet in _ESCAPES.items()}
_DECODED["%"] = "%25"
_CANONICAL = frozenset(escape for escape, text in _DECODED.items() if escape == text)


def cleaned(rest: str) -> str | None:
    """Clean path and query until nothing changes; None where that takes too many rounds.

    One round is not enough: a removal can uncover a dot segment or another session id.
    """
    for _ in range(PASSES):
        once = _clean(rest)
        if once == rest:
            return rest
        rest = str(whatwg.URL.parse("http://h/" + once))[9:]
    return None


def _clean(rest: str) -> str:
    path, _, query = rest.partition("?")
    if ";" in path or "%3" in path:
        path = _MATRIX.sub(_matrix, path)
    if "(" in path:
        path = sessions.without_parentheses("/" + path)[1:]
    if "^" in path:
        path = path.replace("^", "%5E")
    if query:
        query = _clean_query(query)
    return _unescaped(f"{path}?{query}" if query else path)


def _clean_query(query: str) -> str:
    if "amp" in query:
        query = _AMP.sub(r"\1", query)
    parts = re.split("(?=[&;])", query) if ";" in query else query.split("&")
    kept = [part for part in parts if not _identifies_visit(part)]
    if len(kept) == len(parts):
        return query
    if ";" not in query:
        return "&".join(kept)
    return "".join(kept)[kept[:1] != parts[:1] :]


def _matrix(parameter: re.Match[str]) -> str:
    """Return nothing for a parameter within the path that is a session id, and the parameter itself otherwise."""
    return "" if _identifies_visit(f"{parameter[1]}={parameter[2]}") else parameter[0]


def _identifies_visit(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    test = _test(name[:NAME])
    return test is not None and test(value)


@functools.lru_cache(4096)
def _test(name: str) -> Callable[[str], bool] | None:
    """Return the test for values that identify a visit, for a parameter of this name; None: no value does."""
    name = name.lower().lstrip("&;")
    return _always if name in TRACKING or name.startswith(PREFIXES) else sessions.test(name)


def _always(value: str) -> bool:
    return True


def _unescaped(text: str) -> str:
    """Decode unreserved octets and write the other escapes in upper case (RFC 3986 §6.2.2).

    A stray % is data and becomes an escape (§2.4): left alone, it could form another escape with the text decoded
    behind it."""
    if "%" not in text or _CANONICAL.issuperset(_ESCAPE.findall(text)):
        return text
    return _ESCAPE.sub(lambda match: _DECODED[match[0]], text)
