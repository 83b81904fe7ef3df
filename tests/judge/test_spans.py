"""Parts of paragraphs are marked and masked, and the corpus, the digests and the n-grams know the masked text alone."""

import dataclasses

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge import declarations
from windrow.config import Config
from windrow.judge import Facts, Ruling, Span, spans
from windrow.judge.panel import Judged, Panel
from windrow.plugins import WrongResult
from windrow.records import Mark, Page, Paragraph

GERMAN = declarations.shipped("de")[2:14]
CALL = "Rufen Sie Anna Muster an, jeden Tag von acht bis zwölf Uhr, unter 030 123456 in Berlin."
NAME, NUMBER = CALL.index("Anna"), CALL.index("030")


def names(page: Page, facts: Facts) -> Ruling:
    """A user's judge: marks a name, masks a number."""
    place = facts.texts.index(CALL)
    return Ruling(
        spans=(
            Span(place, NAME, NAME + 11, label="person"),
            Span(place, NUMBER, NUMBER + 10, label="phone", mask="[number]"),
        )
    )


def outside(page: Page, facts: Facts) -> Ruling:
    return Ruling(spans=(Span(0, 0, 10_000, label="far"),))


def empty(page: Page, facts: Facts) -> Ruling:
    return Ruling(spans=(Span(0, 0, 1),))


def torn(page: Page, facts: Facts) -> Ruling:
    return Ruling(spans=(Span(0, 0, 1, mask="a\nb"),))


def judged(name: str, *paragraphs: Paragraph) -> Judged:
    judge = dataclasses.replace(Config().judge, judges=(f"{__name__}:{name}",))
    return Panel(dataclasses.replace(Config(), judge=judge))(Page(paragraphs=paragraphs), "http://site.test/")


def test_a_judge_marks_and_masks_parts_of_a_paragraph() -> None:
    others = [Paragraph(text) for text in GERMAN]
    [*rest, call] = judged("names", *others, Paragraph(CALL)).paragraphs
    assert rest == others
    assert call.text == CALL.replace("030 123456", "[number]")
    assert [(call.text[mark.start : mark.end], mark.kind) for mark in call.marks] == [
        ("Anna Muster", "person"),
        ("[number]", "phone"),
    ]


def test_what_the_page_marks_within_a_mask_goes_with_it_and_so_do_line_ends() -> None:
    link = Mark(NUMBER - 6, NUMBER + 10, "link", "tel:+4930123456")
    strong, late = Mark(NAME, NAME + 4, "strong"), Mark(CALL.index("Berlin"), CALL.index("Berlin") + 6, "em")
    paragraph = Paragraph(CALL, lines=CALL.replace(" Uhr", "\nUhr"), marks=(link, strong, late))
    call = judged("names", *map(Paragraph, GERMAN), paragraph).paragraphs[-1]
    assert "123456" not in str(msgspec.to_builtins(call))
    own = [(call.text[mark.start : mark.end], mark.kind) for mark in call.marks]
    assert own == [("Anna", "strong"), ("Berlin", "em"), ("Anna Muster", "person"), ("[number]", "phone")]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("outside", "lies in no text of `facts.texts`"),
        ("empty", "without label and without mask"),
        ("torn", "whose mask is not one line with single blanks"),
    ],
)
def test_a_span_that_cannot_be_used_names_the_judge(name: str, message: str) -> None:
    with pytest.raises(WrongResult, match=f"{name}' returned Span.*{message}"):
        judged(name, *map(Paragraph, GERMAN))


PLACES = st.tuples(st.integers(0, 30), st.integers(0, 30)).filter(lambda pair: pair[0] < pair[1])
SPANS = st.builds(
    lambda pair, label, mask: Span(0, *pair, label=label, mask=mask if mask or label else "x"),
    PLACES,
    st.sampled_from(["", "a", "b"]),
    st.sampled_from(["", "+", "[long mask]"]),
)


@given(st.lists(SPANS, max_size=6))
def test_whatever_the_spans_are_nothing_masked_stays_and_everything_else_does(given: list[Span]) -> None:
    text = "".join(chr(0x4E00 + place) for place in range(30))
    masked = {place for span in given if span.mask for place in range(span.start, span.end)}
    [paragraph] = spans.apply([Paragraph(text)], given)
    assert [char for char in paragraph.text if char >= "\u4e00"] == [
        char for place, char in enumerate(text) if place not in masked
    ]
    labels = [span for span in sorted(given, key=lambda span: (span.start, -span.end)) if span.label]
    assert [mark.kind for mark in paragraph.marks] == [span.label for span in labels]
    for mark, span in zip(paragraph.marks, labels, strict=True):
        clear = [text[place] for place in range(span.start, span.end) if place not in masked]
        assert [char for char in paragraph.text[mark.start : mark.end] if char >= "\u4e00"] == clear
