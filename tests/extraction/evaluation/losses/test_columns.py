"""Gold text, ours and the peer's in rows: what is missing, extra and moved."""

import pytest

from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.losses import columns
from windrow.extraction.evaluation.losses.columns import MarkedText, TextRow
from windrow.records import Page, Paragraph


def page(*lines: str) -> Page:
    return Page(paragraphs=tuple(map(Paragraph, lines)))


def shown(rows: list[TextRow]) -> list[tuple[str, str, str]]:
    """Return the rows with their marks as text: -missing-, +extra+, ~moved~."""
    signs = {"": "", "missing": "-", "extra": "+", "moved": "~"}
    return [
        tuple(
            "".join(f"{signs[p.mark]}{p.text.strip()}{signs[p.mark]}" for p in cell)
            for cell in (r.gold, r.ours, r.other)
        )  # type: ignore[misc]
        for r in rows
    ]


def test_a_line_of_the_gold_text_stands_next_to_what_others_have_of_it() -> None:
    sample = Sample("1", "set", b"", "The mill burned.\n# It was old.\nNobody was there.", language="en")
    ours = page("Menu", "The mill burned", "It was very old.", "Imprint")
    other = page("The mill burned.", "Nobody was there.")
    assert shown(columns.rows(sample, ours, other)) == [
        ("", "+Menu+", ""),
        ("The mill burned.", "The mill burned", "The mill burned."),
        ("# It was old.", "It was+very+old.", ""),
        ("", "+Imprint+", ""),
        ("-Nobody was there.-", "", "Nobody was there."),
    ]


def test_text_at_another_place_is_moved_not_missing() -> None:
    first, last = "one two three four five", "six seven eight nine ten eleven"
    rows = columns.rows(Sample("1", "set", b"", f"{first}\n{last}"), page(last, first), None)
    assert shown(rows) == [(f"~{first}~", "", ""), (last, last, ""), ("", f"~{first}~", "")]


def test_chinese_is_compared_by_character() -> None:
    rows = columns.rows(Sample("1", "set", b"", "你好，世界。", language="zh"), page("你好，世。"), None)
    assert rows == [
        TextRow((MarkedText("你好，世"), MarkedText("界。", "missing")), (MarkedText("你好，世。"),)),
    ]


def test_every_character_of_the_texts_is_shown_once() -> None:
    gold, text = "  *One* two.\n\n - three\n", "(Two) one\nthree!?"
    rows = columns.rows(Sample("1", "set", b"", gold), page(*text.split("\n")), None)
    assert "".join(piece.text for row in rows for piece in row.gold) == gold
    assert "".join(piece.text for row in rows for piece in row.ours) == text


def test_passages_are_listed_before_the_texts() -> None:
    sample = Sample("1", "set", b"", "", partial=True, wanted=("the mill", "burned"), unwanted=("menu", "imprint"))
    rows = columns.rows(sample, page("the  mill", "menu"), page("burned"))
    assert shown(rows) == [
        ("wanted: the mill", "found", "-not found-"),
        ("wanted: burned", "-not found-", "found"),
        ("unwanted: menu", "+found+", "not found"),
        ("unwanted: imprint", "not found", "not found"),
        ("", "the  mill\nmenu", "burned"),
    ]


@pytest.mark.parametrize("gold", ["", "?!", "one"])
def test_empty_texts_give_few_rows(gold: str) -> None:
    assert len(columns.rows(Sample("1", "set", b"", gold), Page(), Page())) <= 1


def test_composed_and_decomposed_letters_are_the_same() -> None:
    rows = columns.rows(Sample("1", "set", b"", "le caf\u00e9"), page("le cafe\u0301"), None)
    assert rows == [TextRow((MarkedText("le caf\u00e9"),), (MarkedText("le caf\u00e9"),))]
