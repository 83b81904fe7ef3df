"""Who wrote a page, from the line that tells its readers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.data import Paragraph
from windrow.extract import byline


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
    assert byline.names(line) == names


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


def test_only_lines_near_the_headline_are_read() -> None:
    far = [_paragraph(f"paragraph {number}") for number in range(40)]
    headline = _paragraph("A headline", heading=True)
    assert byline.find([*far, headline, _paragraph("By Jane Doe"), *far]) == ["Jane Doe"]
    assert byline.find([_paragraph("By John Smith"), *far, headline, *far, _paragraph("By Jane Doe")]) == []


@given(st.text(max_size=200))
def test_any_line_gives_names_that_stand_in_it(line: str) -> None:
    for name in byline.names("By " + line):
        assert name in line
