"""What HTML and TEI share: characters, attributes, links and the text of a paragraph."""

import re
from collections.abc import Callable, Iterable, Mapping

from windrow.corpus.render import inline
from windrow.records import Mark, Paragraph

# Not allowed in XML, or control characters, which are not text: C0 but tab and line ends, DEL, C1, single surrogates,
# noncharacters.
_FOREIGN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_UNSAFE = re.compile(r"[\x00-\x20\x7f\"<>\\^`{|}]")  # not in a URI
_SCHEME = re.compile(r"(?:https?|ftps?|mailto|tel|news|doi|urn):|/", re.IGNORECASE)  # links that run nothing
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")

Open = Callable[[Mark], str]  # a mark -> its start tag; "" if it is not shown


def escape(text: str) -> str:
    """Return the text of an element."""
    if not text.isprintable():
        text = _FOREIGN.sub("", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def attributes(pairs: Iterable[tuple[str, str]]) -> str:
    """Return attributes, each after a blank; those with an empty value are left out."""
    return "".join([f' {name}="{_quoted(value)}"' for name, value in pairs if value])


def _quoted(text: str) -> str:
    return " ".join(escape(text).replace('"', "&quot;").split())


def target(url: str) -> str:
    """Return a URL for a link; "" for one that would run a script."""
    if not _SCHEME.match(url):
        return ""
    return _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", _FOREIGN.sub("", url))


def language(code: str) -> str:
    """Return the tag of a language, if it is one."""
    return code if _LANGUAGE.fullmatch(code) else ""


def day(date: str) -> str:
    return date if _DATE.fullmatch(date) else ""


def text(paragraph: Paragraph, opening: Open, closing: Mapping[str, str], line_end: str) -> str:
    """Return the text of a paragraph with its marks and line ends. `closing`: kind of a mark -> its end tag."""
    lines = inline.breaks(paragraph)
    if not paragraph.marks and not lines:
        return escape(paragraph.text)
    parts: list[str] = []
    for kind, start, end, mark in inline.events(
        paragraph.text, inline.marks(paragraph.text, paragraph.marks, lines), lines
    ):
        if kind == "text":
            parts.append(escape(paragraph.text[start:end]))
        elif kind == "break":
            parts.append(line_end)
        elif mark is not None and (tag := opening(mark)):
            parts.append(tag if kind == "open" else closing[mark.kind])
    return "".join(parts)
