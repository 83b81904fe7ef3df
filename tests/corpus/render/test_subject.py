"""What a renderer draws of a page."""

from windrow.corpus.render import subject
from windrow.corpus.render.subject import PageText
from windrow.records import Mark, Page, Paragraph

TITLE = Paragraph("The mill", heading=True, structure="title")
TEXT = Paragraph("It turns.")


def page(*paragraphs: Paragraph, title: str = "The mill") -> PageText:
    return PageText(paragraphs=paragraphs, title=title)


def test_a_page_without_headline_gets_its_title() -> None:
    assert subject.headed(page(TEXT)).paragraphs == (TITLE, TEXT)


def test_a_heading_that_says_what_the_title_says_is_the_headline() -> None:
    heading = Paragraph("THE MILL", heading=True, structure="h3")
    found = subject.headed(page(TEXT, heading)).paragraphs
    assert [(paragraph.text, paragraph.structure) for paragraph in found] == [("It turns.", ""), ("THE MILL", "title")]


def test_a_marked_headline_stays_the_only_one() -> None:
    assert subject.headed(page(TITLE, TEXT, title="Another")) == page(TITLE, TEXT, title="Another")


def test_a_page_without_text_or_title_gets_no_headline() -> None:
    assert subject.headed(page()).paragraphs == ()
    assert subject.headed(page(TEXT, title="")).paragraphs == (TEXT,)


def test_the_headline_can_be_left_out() -> None:
    heading = Paragraph("The mill", heading=True, structure="h1")
    for headline in (TITLE, heading):
        assert subject.headless(page(headline, TEXT)).paragraphs == (TEXT,)
    assert subject.headless(page(Paragraph("The mill"), TEXT)).text == "The mill\nIt turns."


def test_bad_paragraphs_are_not_shown() -> None:
    found = subject.of_page(Page(paragraphs=(Paragraph("menu", "bad"), TEXT, Paragraph("Yes.", "comment"))), "")
    assert found.text == "It turns.\nYes."


def test_links_are_listed_once_and_can_be_left_out() -> None:
    marks = (Mark(0, 2, "link", "/a"), Mark(3, 8, "link", "/a"), Mark(3, 8, "em"))
    shown = page(Paragraph("It turns.", marks=marks))
    assert shown.links == ["/a"]
    assert subject.without_links(shown).paragraphs[0].marks == (Mark(3, 8, "em"),)
