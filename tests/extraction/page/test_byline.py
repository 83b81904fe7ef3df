"""Who wrote a page, from the line that tells its readers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.extraction.page import byline
from windrow.records import Paragraph


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("By Jane Doe", ["Jane Doe"]),
        ("By JANE DOE and Mary-Ann O'Brien", ["JANE DOE", "Mary-Ann O'Brien"]),
        ("Written by Jane van der Merwe | March 3, 2024 | 5 min read", ["Jane van der Merwe"]),
        ("By Michael NatalePublished: Dec 23, 2023", ["Michael Natale"]),
        ("By Jack Wallen, Contributing Writer", ["Jack Wallen"]),
        ("By Clare Duffy, CNN", ["Clare Duffy"]),
        ("By Jesa Marie Calaor", ["Jesa Marie Calaor"]),
        ("by Elizabeth Montalbano on Monday", ["Elizabeth Montalbano"]),
        ("Von Cosima Künzel und Tomas Spahn", ["Cosima Künzel", "Tomas Spahn"]),
        ("Par Barbara Stiegler", ["Barbara Stiegler"]),
        ("Autor: Jan Novák, 3. 5. 2021", ["Jan Novák"]),
        ("Автор: Иван Петров", ["Иван Петров"]),
        ("作者：王小明", ["王小明"]),
        ("By the way, this is a sentence about something else", []),
        ("By 2030 the city wants to be green", []),
        ("Por la mañana", []),
        ("De la plus belle manière", []),
        ("Von hier aus geht es weiter", []),
        ("By", []),
        ("Jane Doe", []),
        ("Text: admin", []),
    ],
)
def test_a_byline_gives_its_names(line: str, names: list[str]) -> None:
    assert list(byline.names(line)) == names


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("March 15, 2022 · 3 min read · By Jane Doe", ["Jane Doe"]),
        ("03/01/2017 by Jane Doe, Representative to the Committee", ["Jane Doe"]),
        ("By Jane Doe, Privacy and Digital Security Expert & John Roe", ["Jane Doe"]),
        ("By Jane Doe ⋅ Review Editor", ["Jane Doe"]),
        ("This post was written by Jane Doe, MD, gastroenterologist.", ["Jane Doe"]),
        ("By Signing Up, you agree to all", []),
    ],
)
def test_dates_and_offices_around_names_are_left_out(line: str, names: list[str]) -> None:
    assert list(byline.names(line)) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Jane Doe, MD", ["Jane Doe"]),
        ("Jane Doe, MS, RD", ["Jane Doe"]),
        ("Jane Doe, John Roe and Mary Major", ["Jane Doe", "John Roe", "Mary Major"]),
        ("Jane Doe, Senior Editor", ["Jane Doe"]),
        ("BBC News, Washington", ["BBC News, Washington"]),
        ("Smith, Jones & Co", ["Smith, Jones & Co"]),
        ("jane_doe", ["jane_doe"]),
    ],
)
def test_a_declared_author_is_divided_only_into_full_names(text: str, names: list[str]) -> None:
    assert byline.people(text) == names


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["Sara Brown"], ["Sara Brown"]),
        (["By", "Loshaun Dixon", "-"], ["Loshaun Dixon"]),
        (["Datum:", "19.11.2021", "Autor:", "Fritz Imhof"], ["Fritz Imhof"]),
        (["Interview: Julia Lauter"], ["Julia Lauter"]),
        (["Erstellt von Andri Bryner"], ["Andri Bryner"]),
        (["Sign in"], []),
        (["Follow"], []),
        ([], []),
    ],
)
def test_an_element_marked_as_the_author_need_not_say_by(texts: list[str], names: list[str]) -> None:
    assert byline.marked(texts) == names


def _paragraph(text: str, heading: bool = False) -> Paragraph:
    path = "html.body.h1" if heading else "html.body.p"
    return Paragraph(text, kind="bad", heading=heading, path=path)


def test_a_name_may_follow_its_label_on_the_next_line() -> None:
    lines = [_paragraph("Written by"), _paragraph("Jane Doe"), _paragraph("Published on 2025-12-19")]
    assert byline.find(lines) == ["Jane Doe"]
    assert byline.find([lines[0], lines[2], lines[1]]) == []


def test_only_lines_near_the_headline_are_read() -> None:
    far = [_paragraph(f"paragraph {number}") for number in range(40)]
    headline = _paragraph("A headline", heading=True)
    assert byline.find([*far, headline, _paragraph("By Jane Doe"), *far]) == ["Jane Doe"]
    assert byline.find([_paragraph("By John Smith"), *far, headline, *far, _paragraph("By Jane Doe")]) == []


@given(st.text(max_size=200))
def test_any_line_gives_names_that_stand_in_it(line: str) -> None:
    for name in byline.names("By " + line):
        assert name in line
