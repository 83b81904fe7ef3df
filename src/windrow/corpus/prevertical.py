"""Prevertical and vertical: the files that SpiderLing writes and Sketch Engine compiles. A <doc> a page, a <p> a paragraph.

In prevertical a paragraph is one line. In vertical it has an <s> for each sentence, in which each token is a line, with <g/> where no blank
stood between two. The attributes are those of SpiderLing in its order, so that tools made for its corpora read ours.
"""

import functools
import re
from collections.abc import Callable, Sequence

import msgspec

from windrow.corpus import sentences, tokens
from windrow.corpus.segment.tokens import Cut
from windrow.data import Document

TITLE = 300  # characters
_CLASSES = (
    (100, "0-100"),
    (500, "100-500"),
    (1000, "500-1k"),
    (5000, "1k-5k"),
    (10_000, "5k-10k"),
    (100_000, "10k-100k"),
    (1_000_000, "100k-1M"),
)
_FOREIGN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1b\x7f-\x84\x86-\x9f\ufffe\uffff]")  # no text, and not in XML

Names = Callable[[str], str]  # ISO 639-3 code -> English name
Share = Callable[
    [str, str], float | None
]  # text, code -> how much of it is in this language, 0 to 1; None: cannot be told


class Form(msgspec.Struct, frozen=True):
    """How documents are written."""

    names: Names
    places: bool = False  # with further attributes, which say where a document's bytes are
    cut: Cut = tokens.plain  # finds words where there are no blanks, in vertical
    share: Share | None = None  # judges paragraphs by themselves; None: they have their document's lang_diff
    whole: Share | None = (
        None  # judges documents anew; where it cannot tell, or is None, the score counts that they have
    )


def prevertical(document: Document, number: int, form: Form) -> bytes:
    """`number` is the document's id. Empty where it has no text."""
    return _structured(document, number, form, lambda text, _: _escaped(text))


def vertical(document: Document, number: int, form: Form) -> bytes:
    return _structured(document, number, form, lambda text, language: _sentences(text, language, form.cut))


def _sentences(text: str, language: str, cut: Cut) -> str:
    """Glue between two sentences stands between them."""
    found: list[str] = []
    for sentence, glued in sentences.split(text, language):
        if glued:
            found.append(tokens.GLUE)
        found += ("<s>", _tokenised(sentence, language, cut), "</s>")
    return "\n".join(found)


def _tokenised(text: str, language: str, cut: Cut) -> str:
    """Glue is not escaped, though a token that reads so is."""
    found = tokens.lines(text, language, cut)
    if "<" in text or "&" in text:
        found = [line if line is tokens.GLUE else _escaped(line) for line in found]
    return "\n".join(found)


def _structured(document: Document, number: int, form: Form, written: Callable[[str, str], str]) -> bytes:
    filled = [(text, paragraph) for paragraph in document.paragraphs if (text := _line(paragraph.text))]
    if not filled:
        return b""
    distance = _distance(document, [text for text, _ in filled], form.whole)
    lines = [_head(document, number, (sum(len(text) for text, _ in filled), distance), form)]
    for text, paragraph in filled:
        part = form.share(text, document.language) if form.share else None
        own = _difference(part) if part is not None else "1.00" if paragraph.language else distance
        body = written(text, paragraph.language or document.language)
        lines += (_opened(paragraph.heading, paragraph.kind, paragraph.own, own), body, "</p>")
    lines.append("</doc>\n")
    return "\n".join(lines).encode()


def _head(document: Document, number: int, measures: tuple[int, str], form: Form) -> str:
    """`measures`: characters, and the difference from the language."""
    size, distance = measures
    attributes = [
        ("id", str(number)),
        ("title", _line(document.title)[:TITLE].rstrip()),
        ("length", length(size)),
        ("crawl_date", f"{document.time[:10]} {document.time[11:16]}"),
        ("modified_date", document.date),
        ("lang", form.names(document.language)),
        ("lang_diff", distance),
        ("ip", document.ip),
        ("url", document.url),
        ("file_type", "html"),
        ("enc_meta", document.charset.lower()),
        ("enc_chared", document.charset.lower().replace("-", "_")),
    ]
    if form.places:
        place = document.place
        attributes += [
            ("warc_filename", place.file),
            ("warc_offset", str(place.offset)),
            ("warc_length", str(place.length)),
        ]
        attributes += [("digest", place.digest), ("record_id", document.id)]
    return _tag("doc", [pair for pair in attributes if pair[0] != "modified_date" or pair[1]])


@functools.lru_cache(1024)
def _opened(heading: bool, kind: str, own: str, distance: str) -> str:
    attributes = [("heading", "yes")] if heading else []
    return _tag("p", [*attributes, ("class", kind), ("cfclass", own or kind), ("langdiff", distance)])


def length(characters: int) -> str:
    """SpiderLing's classes of size."""
    return next((name for limit, name in _CLASSES if characters < limit), "1M+")


def _distance(document: Document, texts: Sequence[str], whole: Share | None) -> str:
    """SpiderLing's lang_diff is 0 where a text is wholly like its language; a score is 1 there."""
    part = whole("\n".join(texts), document.language) if whole else None
    return _difference(document.scores.get("language", 1.0) if part is None else part)


def _difference(part: float) -> str:
    return f"{min(1.0, max(0.0, 1 - part)):.2f}"


def _tag(name: str, attributes: list[tuple[str, str]]) -> str:
    said = "".join([f' {key}="{_quoted(value)}"' for key, value in attributes])
    return f"<{name}{said}>"


def _escaped(text: str) -> str:
    """str.replace where there is nothing to replace is forty times as fast as str.translate."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _quoted(text: str) -> str:
    return _escaped(_line(text)).replace('"', "&quot;")


def _line(text: str) -> str:
    """One line, single blanks."""
    return " ".join((text if text.isprintable() else _FOREIGN.sub("", text)).split())
