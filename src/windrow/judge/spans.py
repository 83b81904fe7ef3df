"""Marks and masks of parts of paragraphs, as judges rule.

A mask takes the place of the text before duplicates are looked for, so the corpus, the digests and the n-grams know
the masked text alone. Judges see the text as the page has it.
"""

from collections.abc import Sequence

import msgspec

from windrow.judge.ruling import Span
from windrow.records import Mark, Paragraph


def problem(span: Span, texts: Sequence[str]) -> str:
    """Return why a span cannot be used; "" if it can."""
    if not 0 <= span.paragraph < len(texts) or not 0 <= span.start < span.end <= len(texts[span.paragraph]):
        return f"returned {span}, which lies in no text of `facts.texts`"
    if span.mask != " ".join(span.mask.split()):
        return f"returned {span}, whose mask is not one line with single blanks"
    return "" if span.label or span.mask else f"returned {span} without label and without mask"


def apply(paragraphs: Sequence[Paragraph], spans: Sequence[Span]) -> list[Paragraph]:
    """Return the paragraphs with the spans marked and masked."""
    ruled = [*paragraphs]
    for number in {span.paragraph: None for span in spans}:
        own = sorted((span for span in spans if span.paragraph == number), key=lambda span: (span.start, -span.end))
        ruled[number] = _ruled(ruled[number], own)
    return ruled


def _ruled(paragraph: Paragraph, spans: Sequence[Span]) -> Paragraph:
    """Return one paragraph with its spans, which are in order. A masked one loses its line ends: they hold the text."""
    masks = _joined([span for span in spans if span.mask])
    marks = [Mark(span.start, span.end, span.label) for span in spans if span.label]
    if not masks:
        return msgspec.structs.replace(paragraph, marks=(*paragraph.marks, *marks))
    pieces: list[str] = []
    at = 0
    for mask in masks:
        pieces += (paragraph.text[at : mask.start], mask.mask)
        at = mask.end
    # What the page marks within a mask goes with it: the target of a link may say what the mask hides.
    clear = [mark for mark in paragraph.marks if not any(_meet(mark, mask) for mask in masks)]
    moved = tuple(Mark(*_moved(mark, masks), mark.kind, mark.target) for mark in (*clear, *marks))
    return msgspec.structs.replace(paragraph, text="".join(pieces) + paragraph.text[at:], lines="", marks=moved)


def _meet(mark: Mark, mask: Span) -> bool:
    return mark.start < mask.end and mask.start < mark.end


def _joined(masks: Sequence[Span]) -> list[Span]:
    """Return masks that do not overlap: the first of those that do covers them all."""
    joined: list[Span] = []
    for mask in masks:
        if joined and mask.start < joined[-1].end:
            joined[-1] = msgspec.structs.replace(joined[-1], end=max(joined[-1].end, mask.end))
        else:
            joined.append(mask)
    return joined


def _moved(mark: Mark, masks: Sequence[Span]) -> tuple[int, int]:
    """Return where a mark is in the masked text. An end within a mask moves to the end of that mask."""
    start, end = mark.start, mark.end
    for mask in masks:
        longer = len(mask.mask) - (mask.end - mask.start)
        if mask.end <= mark.start:
            start += longer
        elif mask.start < mark.start:
            start += mask.start - mark.start
        if mask.end <= mark.end:
            end += longer
        elif mask.start < mark.end:
            end += mask.start + len(mask.mask) - mark.end
    return start, end
