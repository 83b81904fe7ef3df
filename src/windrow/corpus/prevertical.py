"""Prevertical and vertical: the files that SpiderLing writes and Sketch Engine compiles. A <doc> a page, a <p> a paragraph.

In prevertical a paragraph is one line, in vertical each token is, with <g/> where no blank stood between two. The attributes are SpiderLing's
in SpiderLing's order, so that tools made for its corpora read ours.
"""

import re
from collections.abc import Callable

from windrow.corpus import tokens
from windrow.data import Document, Paragraph

TITLE = 300  # characters
_CLASSES = ((100, "0-100"), (500, "100-500"), (1000, "500-1k"), (5000, "1k-5k"), (10_000, "5k-10k"), (100_000, "10k-100k"), (1_000_000, "100k-1M"))
_SPECIAL = str.maketrans({"&": "&amp;", "<": "&lt;"})
_QUOTED = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "&quot;"})
_FOREIGN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1b\x7f-\x84\x86-\x9f\ufffe\uffff]")  # no text, and not in XML

Names = Callable[[str], str]  # ISO 639-3 code -> English name


def prevertical(document: Document, number: int, names: Names, places: bool = False) -> bytes:
    """`number` is the document's id; `places`: with further attributes, which say where its bytes are. Empty where it has no text."""
    return _structured(document, _head(document, number, names, places), lambda text, _: text.translate(_SPECIAL))


def vertical(document: Document, number: int, names: Names, places: bool = False) -> bytes:
    return _structured(document, _head(document, number, names, places), _tokenised)


def _tokenised(text: str, language: str) -> str:
    """Glue is not escaped, though a token that reads so is."""
    found: list[str] = []
    for token, glued in tokens.tokens(text, language):
        if glued:
            found.append(tokens.GLUE)
        found.append(token.translate(_SPECIAL))
    return "\n".join(found)


def _structured(document: Document, head: str, written: Callable[[str, str], str]) -> bytes:
    lines = [head]
    distance = _distance(document)
    for paragraph in document.paragraphs:
        text = _line(paragraph.text)
        if text:
            body = written(text, paragraph.language or document.language)
            lines += (_opened(paragraph, distance), body, "</p>")
    if len(lines) == 1:
        return b""
    lines.append("</doc>\n")
    return "\n".join(lines).encode()


def _head(document: Document, number: int, names: Names, places: bool) -> str:
    size = sum(len(paragraph.text) for paragraph in document.paragraphs)
    attributes = [
        ("id", str(number)),
        ("title", _line(document.title)[:TITLE].rstrip()),
        ("length", length(size)),
        ("crawl_date", f"{document.time[:10]} {document.time[11:16]}"),
        ("modified_date", document.date),
        ("lang", names(document.language)),
        ("lang_diff", _distance(document)),
        ("ip", document.ip),
        ("url", document.url),
        ("file_type", "html"),
        ("enc_meta", document.charset),
        ("enc_chared", document.charset.replace("-", "_")),
    ]
    if places:
        place = document.place
        attributes += [("warc_filename", place.file), ("warc_offset", str(place.offset)), ("warc_length", str(place.length))]
        attributes += [("digest", place.digest), ("record_id", document.id)]
    return _tag("doc", [pair for pair in attributes if pair[0] != "modified_date" or pair[1]])


def _opened(paragraph: Paragraph, distance: str) -> str:
    attributes = [("heading", "yes")] if paragraph.heading else []
    attributes += [("class", paragraph.kind), ("cfclass", paragraph.own or paragraph.kind)]
    attributes.append(("langdiff", "1.00" if paragraph.language else distance))
    return _tag("p", attributes)


def length(characters: int) -> str:
    """SpiderLing's classes of size."""
    return next((name for limit, name in _CLASSES if characters < limit), "1M+")


def _distance(document: Document) -> str:
    """SpiderLing's lang_diff is 0 where a text is wholly like its language; a score is 1 there."""
    return f"{min(1.0, max(0.0, 1 - document.scores.get('language', 1.0))):.2f}"


def _tag(name: str, attributes: list[tuple[str, str]]) -> str:
    said = "".join([f' {key}="{_line(value).translate(_QUOTED)}"' for key, value in attributes])
    return f"<{name}{said}>"


def _line(text: str) -> str:
    """One line, single blanks."""
    return " ".join(_FOREIGN.sub("", text).split())
