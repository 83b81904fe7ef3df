"""Decode bytes as a browser does: by byte order mark, header, declaration in the page, and only then by detection.

The legacy decoders are turbohtml's, which follow the Encoding Standard. Python's codecs do not: they read "①" in
EUC-JP and the C1 range of windows-1252 as errors, and their KOI8-U lacks the letter ў.
"""

import codecs
import functools
import re

from windrow.extraction.readers import guess

WESTERN = "windows-1252"

# https://encoding.spec.whatwg.org/#names-and-labels
_LABELS = {
    "UTF-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "IBM866": "866 cp866 csibm866 ibm866",
    "ISO-8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "ISO-8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "ISO-8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "ISO-8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "ISO-8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
    "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "ISO-8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
    "iso_8859-7:1987 sun_eu_greek",
    "ISO-8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
    "iso_8859-8 iso_8859-8:1988 visual",
    "ISO-8859-8-I": "csiso88598i iso-8859-8-i logical",
    "ISO-8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "ISO-8859-13": "iso-8859-13 iso8859-13 iso885913",
    "ISO-8859-14": "iso-8859-14 iso8859-14 iso885914",
    "ISO-8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "ISO-8859-16": "iso-8859-16",
    "KOI8-R": "cskoi8r koi koi8 koi8-r koi8_r",
    "KOI8-U": "koi8-ru koi8-u",
    "macintosh": "csmacintosh mac macintosh x-mac-roman",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "windows-1250": "cp1250 windows-1250 x-cp1250",
    "windows-1251": "cp1251 windows-1251 x-cp1251",
    WESTERN: "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
    "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
    "windows-1253": "cp1253 windows-1253 x-cp1253",
    "windows-1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
    "windows-1254 x-cp1254",
    "windows-1255": "cp1255 windows-1255 x-cp1255",
    "windows-1256": "cp1256 windows-1256 x-cp1256",
    "windows-1257": "cp1257 windows-1257 x-cp1257",
    "windows-1258": "cp1258 windows-1258 x-cp1258",
    "x-mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "GBK": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "gb18030": "gb18030",
    "Big5": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "EUC-JP": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "ISO-2022-JP": "csiso2022jp iso-2022-jp",
    "Shift_JIS": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "EUC-KR": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
    "windows-949",
    "replacement": "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement",
    "UTF-16BE": "unicodefffe utf-16be",
    "UTF-16LE": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    "x-user-defined": "x-user-defined",
}
_NAMES = {label: name for name, labels in _LABELS.items() for label in labels.split()}
_NOT_ASCII = {"UTF-16LE", "UTF-16BE", "ISO-2022-JP", "replacement"}  # in these a byte below 128 need not be ASCII

_PRESCAN = 1024  # bytes, the standard's
# Bytes in which a declaration too late for the prescan still counts: browsers start again when they find it.
_LATE = 1 << 16

_HEADER = re.compile(r""";[ \t]*charset[ \t]*=[ \t]*(?:"([^"]*)"?|([^;" \t]+))""", re.IGNORECASE)
_XML = re.compile(rb"""<\?xml[^>]*?[\t\n\f\r ]encoding[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"<>]*)"|'([^'<>]*)')""")
_OPEN = re.compile(rb"<(?:(!--)|(meta)(?=[\t\n\f\r /])|(/?[a-z][^\t\n\f\r >]*)|[!/?])", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rb"""[\t\n\f\r /]*(?:(>)|([^\t\n\f\r />][^\t\n\f\r />=]*)"""
    rb"""(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|(?!["'])([^\t\n\f\r >]*)(?=[\t\n\f\r >])))?)"""
)
_CONTENT = re.compile(
    rb"""charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|(?!["'])([^\t\n\f\r ;]*))""", re.IGNORECASE
)


def decode(body: bytes, content_type: str) -> tuple[str, str]:
    """Return the text and the name of its encoding. Invalid bytes become U+FFFD; nothing raises."""
    if body[:1] in b"\xef\xff\xfe":
        if body.startswith(b"\xef\xbb\xbf"):
            return body[3:].decode("utf-8", "replace"), "UTF-8"
        if body.startswith((b"\xff\xfe", b"\xfe\xff")):
            return _decoded(body[2:], "UTF-16LE" if body[0] == 0xFF else "UTF-16BE")
    name = (
        declared(content_type[:_PRESCAN])
        or _in_page(body[:_PRESCAN])
        or (_in_page(body[:_LATE]) if len(body) > _PRESCAN else "")
    )
    return _decoded(body, name) if name else _guessed(body)


@functools.lru_cache(1024)
def declared(content_type: str) -> str:
    """Return the encoding that a Content-Type header names, or ""."""
    match = _HEADER.search(content_type)
    return _NAMES.get((match[1] or match[2] or "").strip("\t\n\f\r ").lower(), "") if match else ""


def _decoded(body: bytes, name: str) -> tuple[str, str]:
    if name == "UTF-8":
        return body.decode("utf-8", "replace"), name
    if name in guess.WIDE:
        return body.decode(guess.WIDE[name], "replace"), name
    if name not in _NOT_ASCII and body.isascii():
        return body.decode("ascii"), name
    return body.decode("whatwg-" + name), name


def _guessed(body: bytes) -> tuple[str, str]:
    """Decode a body that declares no encoding: as UTF-8 if that cannot be chance, otherwise by detection."""
    if body.isascii():
        if b"\0" in body[:_PRESCAN] or b"\x1b" in body:
            return _decoded(body, guess.wide(body) or ("ISO-2022-JP" if guess.escaped(body) else WESTERN))
        return body.decode("ascii"), WESTERN
    text, end = codecs.utf_8_decode(body, "replace", False)  # a truncated character at the end is no damage
    damage = text.count("\ufffd")
    # Each whole multibyte character makes the text at least one shorter than the bytes; a few invalid bytes are
    # tolerated.
    if end - len(text) > 16 * damage:
        return text if end == len(body) else text + "\ufffd", "UTF-8"
    name = guess.wide(body) or ("ISO-2022-JP" if guess.escaped(body) else guess.legacy(body))
    return _decoded(body, _NAMES.get(name.lower(), WESTERN))


def _in_page(head: bytes) -> str:
    """Return the encoding declared by a meta element or an XML declaration (the standard's prescan), or ""."""
    mention = head.lower().find(b"charset")
    if mention < 0:
        return _in_xml(head)
    # Pages of a site begin alike, and a declaration found up to here holds whatever follows.
    start = head[: head.find(b">", mention, _PRESCAN) + 1]
    return _in_meta_again(start) or _in_meta(head) or _in_xml(head)


@functools.lru_cache(1024)
def _in_meta_again(start: bytes) -> str:
    return _in_meta(start)


def _in_meta(head: bytes) -> str:
    position = 0
    while match := _OPEN.search(head, position):
        kind, position = match.lastindex, match.end()
        if kind == 1:  # the dashes that begin a comment may also end it
            position = head.find(b"-->", position - 2)
        elif kind is None:
            position = head.find(b">", position - 1)
        else:
            attributes, position = _attributes(head, position)
            name = _of_meta(attributes) if kind == 2 and position >= 0 else ""
            if name:
                return name
        if position < 0:
            break
    return ""


def _in_xml(head: bytes) -> str:
    if head[:5] != b"<?xml":
        return ""
    match = _XML.match(head)
    return _for_page(match[1] or match[2] or b"") if match else ""


def _attributes(head: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    """Return the attributes of the tag whose name ends here, the first of each name, and the tag's end; -1: never."""
    attributes: dict[bytes, bytes] = {}
    while match := _ATTRIBUTE.match(head, position):
        closed, name, double, single, bare = match.groups()
        position = match.end()
        if closed:
            return attributes, position
        if position == len(head) or head[position] == 0x3D:  # truncated: in a name, or in a value that never ends
            break
        attributes.setdefault(name.lower(), double or single or bare or b"")
    return attributes, -1


def _of_meta(attributes: dict[bytes, bytes]) -> str:
    if b"charset" in attributes:
        return _for_page(attributes[b"charset"])
    if attributes.get(b"http-equiv", b"").lower() != b"content-type":
        return ""
    match = _CONTENT.search(attributes.get(b"content", b""))
    return _for_page(match[1] or match[2] or match[3] or b"") if match else ""


def _for_page(label: bytes) -> str:
    """Return the encoding of a label in a page.

    A page that could be read up to here is not in UTF-16, whatever it declares; x-user-defined was a trick of scripts.
    """
    name = _NAMES.get(label.strip(b"\t\n\f\r ").lower().decode("latin-1"), "")
    if name in guess.WIDE:
        return "UTF-8"
    return WESTERN if name == "x-user-defined" else name
