"""Put the comments of one page below the text of another: further training pages for tools/train_blocks.py.

Few pages of the data sets have comments of readers, and on most of those that do, a word in a class name shows it. So
comments are taken from the pages that have them and added to pages that have none; half of them lose their classes, so
that the model learns what comments look like, too, and not only how they are named.
"""

import dataclasses
import re
from collections.abc import Iterable, Sequence

import msgspec
import turbohtml

from windrow.extract import decode, html
from windrow.extract.evaluation import evaluate
from windrow.extract.evaluation.gold import Sample

_NAMED = ",".join(f"[{name}*={word}]" for name in ("class", "id") for word in ("comment", "disqus", "kommentar"))
_SHINGLE = 5  # words
_SHARED = 0.05  # of the shingles of comments may be in the gold text
_FEWEST, _MOST = 60, 3000  # words of the comments of a page
_WORDY = 8  # words of a string that is a comment, rather than a name or a date
_COMMENTS = 3  # such strings
_MOST_TEXT = 0.9  # of the gold text is in the element below which the comments are put
_NAMES = re.compile(r' (?:class|id|role|itemprop|itemtype|itemscope|data-[\w-]+)="[^"]*"')


@dataclasses.dataclass(frozen=True, slots=True)
class Comments:
    site: str
    language: str
    markup: str


def found(samples: Iterable[tuple[str, Sample]]) -> list[Comments]:
    """Return the comments of pages that have some, given each page with its site. Posts of a forum are its text."""
    return [
        Comments(site, sample.language, markup)
        for site, sample in samples
        if sample.kind != "forum" and not sample.partial and (markup := _comments(sample))
    ]


def has_comments(sample: Sample) -> bool:
    return any(len(one.text.split()) >= _FEWEST for one in _parsed(sample).select(_NAMED))


def added(sample: Sample, comments: Comments, choice: int) -> Sample | None:
    """Return a page with comments below its text; None if it has no such place. `choice` is any number."""
    tree = _parsed(sample)
    wanted = set(_shingles(evaluate.words(sample.gold, sample.language)))
    place = _holder(tree, wanted, sample.language)
    if place is None:
        return None
    markup = _NAMES.sub("", comments.markup) if choice % 2 else comments.markup
    place.insert_adjacent_html("beforeend" if choice // 2 % 3 == 0 else "afterend", markup)
    return msgspec.structs.replace(
        sample, name=f"{sample.name}+comments", body=tree.serialize().encode("utf-8", "replace"), encoding="utf-8"
    )


def _comments(sample: Sample) -> str:
    wanted = set(_shingles(evaluate.words(sample.gold, sample.language)))
    tree = _parsed(sample)
    for one in tree.select("script,style,noscript,iframe,svg,form"):
        one.extract()
    for element in tree.select(_NAMED):
        own = evaluate.words(element.text, sample.language)
        if element.tag in ("html", "body") or not _FEWEST <= len(own) <= _MOST:
            continue
        shingles = _shingles(own)
        wordy = [text for text in element.stripped_strings if len(evaluate.words(text, sample.language)) >= _WORDY]
        if len(wordy) >= _COMMENTS and sum(one in wanted for one in shingles) <= _SHARED * len(shingles):
            return element.serialize()
    return ""


def _holder(tree: turbohtml.Document, wanted: set[tuple[str, ...]], language: str) -> turbohtml.Element | None:
    """Return the smallest element that holds most of the text."""
    body = tree.find("body")
    if body is None or not wanted:
        return None
    held: turbohtml.Element = body
    element: turbohtml.Element | None = body
    total = _held(body, wanted, language)
    while element is not None:
        held = element
        children = [one for one in element.children if isinstance(one, turbohtml.Element)]
        element = next((one for one in children if _held(one, wanted, language) >= _MOST_TEXT * total), None)
    return held if held is not body and total else None


def _held(element: turbohtml.Element, wanted: set[tuple[str, ...]], language: str) -> int:
    return len(wanted.intersection(_shingles(evaluate.words(element.text, language))))


def _parsed(sample: Sample) -> turbohtml.Document:
    text, _ = decode.decode(sample.body, f"text/html; charset={sample.encoding}" if sample.encoding else "text/html")
    return html.parse(text, xhtml=False)


def _shingles(words: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(words[start:] for start in range(_SHINGLE)), strict=False))
