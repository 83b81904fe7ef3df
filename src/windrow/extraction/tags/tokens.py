"""The parts of a source: tags with their attributes, comments, and character references.

They are read as the tokenizer of the HTML standard does.
"""

import html
import re
from html.entities import html5 as ENTITIES
from typing import NamedTuple

from windrow.extraction.tags import elements

_UPPER_TO_LOWER = {upper: upper + 32 for upper in range(65, 91)}
_NAME = re.compile(r"[^\t\n\f\r />]*")
_BETWEEN = re.compile(r"[\t\n\f\r /]*")
_ATTRIBUTE = re.compile(r"=?[^\t\n\f\r />=]*")
_EQUALS = re.compile(r"[\t\n\f\r ]*=[\t\n\f\r ]*")
_UNQUOTED = re.compile(r"[^\t\n\f\r >]*")
_COMMENT_END = re.compile("--!?>")
_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]+)|([0-9]+));?|([A-Za-z0-9]{1,32}))")
_LEGACY = 6  # characters of the longest name that needs no semicolon
_MOST_DIGITS = 8
_KNOWN = frozenset(elements.ATTRIBUTES)


class FoundTag(NamedTuple):
    name: str  # in lower case; "" if the page ends inside the tag
    attributes: dict[str, str]  # known ones with a value, as written
    empty: bool  # it closes itself: <br/>
    end: int


def unescaped(text: str, attribute: bool) -> str:
    """Return a text with its character references decoded, by the rules for text or for attributes."""
    if "&" not in text:
        return text
    parts, at = [], 0
    while match := _REFERENCE.search(text, at):
        parts.append(text[at : match.start()])
        value, at = _referred(text, match, attribute)
        parts.append(value)
    return "".join([*parts, text[at:]])


def _referred(text: str, match: re.Match[str], attribute: bool) -> tuple[str, int]:
    """Return what a reference stands for, and the place behind it."""
    if match[3] is None:
        digits = (match[1] or match[2]).lstrip("0")
        number = int(digits or "0", 16 if match[1] else 10) if len(digits) <= _MOST_DIGITS else 0
        return character(number), match.end()
    name, start = match[3], match.start(3)
    if text.startswith(";", match.end()) and f"{name};" in ENTITIES:
        return ENTITIES[f"{name};"], match.end() + 1
    for length in range(min(len(name), _LEGACY), 1, -1):
        if name[:length] in ENTITIES:
            following = text[start + length : start + length + 1]
            if attribute and (following == "=" or (following.isascii() and following.isalnum())):
                break
            return ENTITIES[name[:length]], start + length
    return match[0], match.end()


def character(number: int) -> str:
    if 0x80 <= number < 0xA0:
        return html.unescape(f"&#{number};")
    return chr(number) if 0 < number < 0xD800 or 0xDFFF < number <= 0x10FFFF else "\ufffd"


def tag(source: str, at: int) -> FoundTag:
    """Read a tag from its name on."""
    match = _NAME.match(source, at)
    assert match is not None
    name, at = match[0].translate(_UPPER_TO_LOWER), match.end()
    found: dict[str, str] = {}
    while True:
        between = _BETWEEN.match(source, at)
        assert between is not None
        at = between.end()
        if at >= len(source):
            return FoundTag("", {}, False, at)  # the page ends inside the tag
        if source[at] == ">":
            return FoundTag(name, found, between[0].endswith("/"), at + 1)
        written = _ATTRIBUTE.match(source, at)
        assert written is not None
        at = written.end()
        equals = _EQUALS.match(source, at)
        if equals is None:
            continue
        value, at = _value(source, equals.end())
        if at < 0:
            return FoundTag("", {}, False, len(source))
        attribute = written[0].translate(_UPPER_TO_LOWER)
        if attribute in _KNOWN:
            found.setdefault(attribute, value)


def _value(source: str, at: int) -> tuple[str, int]:
    """Return the value of an attribute and the place behind it; -1 if the page ends in it."""
    quote = source[at : at + 1]
    if quote in ('"', "'") and quote:
        end = source.find(quote, at + 1)
        return (source[at + 1 : end], end + 1) if end >= 0 else ("", -1)
    match = _UNQUOTED.match(source, at)
    assert match is not None
    return match[0], match.end()


def cut(value: str) -> str:
    """Return a value of at most LONGEST bytes."""
    data = value.encode("utf-8", "replace")
    return data[: elements.LONGEST].decode("utf-8", "ignore") if len(data) > elements.LONGEST else value


def behind(source: str, text: str, at: int) -> int:
    end = source.find(text, at)
    return len(source) if end < 0 else end + len(text)


def after_comment(source: str, at: int) -> int:
    for short in (">", "->"):
        if source.startswith(short, at):
            return at + len(short)
    match = _COMMENT_END.search(source, at)
    return match.end() if match else len(source)
