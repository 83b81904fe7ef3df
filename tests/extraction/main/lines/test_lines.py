"""The second stage: blocks, their scores (Eq. 4 and 5), and the whole extractor."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extraction.readers.test_html import capture
from windrow.extraction.main import lines
from windrow.extraction.main.lines import LineBlock, source
from windrow.extraction.readers import html

PROSE = (
    "The harvest of this year was better than anyone had expected after so dry a spring, the ministry said on Tuesday.",
    "Farmers in the north, who had feared for their wheat, brought in a fifth more than the mean of ten years.",
    "In the south it rained too late; there the losses are large, and some villages ask for help before winter.",
    "Short, too.",
    "The ministry will publish its final figures in October, when the potatoes and the late apples have been counted.",
)


def found(pattern: str) -> list[LineBlock]:
    return lines.blocks([letter == "T" for letter in pattern])


def article() -> str:
    menu = ["<ul>", *(f'<li><a href="/{item}">Item {item}</a></li>' for item in range(30)), "</ul>"]
    text = [f"<p>{paragraph}</p>" for paragraph in PROSE]
    page = ["<html><head><title>Harvest</title></head><body>", *menu, *text, *menu, "<p>Legal</p>", "</body></html>"]
    return "\n".join(page)


def test_a_block_begins_before_its_first_topical_line_and_ends_after_its_last() -> None:
    assert found("FFTTTFF") == [LineBlock(1, 5)]


def test_a_block_may_begin_before_the_page_and_end_after_it() -> None:
    assert found("T") == [LineBlock(-1, 1)]


def test_four_other_lines_in_a_row_are_tolerated_in_a_block_and_five_are_not() -> None:
    assert found("FTFFFFTF") == [LineBlock(0, 7)]
    assert found("FTFFFFFTF") == [LineBlock(0, 2), LineBlock(6, 8)]


def test_without_topical_lines_there_is_no_block() -> None:
    assert found("") == found("FFFF") == []


@given(st.text("TF", max_size=60))
def test_blocks_satisfy_the_conditions_of_the_paper(pattern: str) -> None:
    topical = [letter == "T" for letter in pattern]
    blocks = lines.blocks(topical)
    covered = set()
    for block in blocks:
        assert topical[block.start + 1]
        assert topical[block.end - 1]
        assert not any(topical[max(block.start - lines.PHI + 1, 0) : block.start + 1])
        assert not any(topical[block.end : block.end + lines.PHI])
        inside = [number for number in range(block.start + 1, block.end) if topical[number]]
        assert all(after - before <= lines.PHI for before, after in itertools.pairwise(inside))
        covered.update(inside)
    assert covered == {number for number, flag in enumerate(topical) if flag}
    assert all(first.end <= second.start for first, second in itertools.pairwise(blocks))


def test_text_raises_the_score_of_a_line_and_links_and_images_lower_it() -> None:
    scaled = np.array([[0.9, 0.5, 0.4, 0.8, 0, 0], [0.1, 1, 1, 1, 0, 0], [0.2, 0.5, 0.4, 0.8, 0.25, 0.5]])
    assert lines.line_scores(scaled).tolist() == pytest.approx([1.7, 3, 0.95])


def test_the_score_of_a_block_is_the_mean_from_start_to_end() -> None:
    scores = np.array([0.0, 0.5, 2.5, 2.0, 1.0, 0.0])
    assert lines.block_score(LineBlock(1, 4), scores) == pytest.approx(6 / 4)
    assert lines.block_score(LineBlock(-1, 2), scores) == pytest.approx(1)
    assert lines.block_score(LineBlock(3, 6), scores) == pytest.approx(1)


class Given:
    """A model with given decisions."""

    def __init__(self, pattern: str) -> None:
        self._answer = np.array([letter == "T" for letter in pattern])

    def topical(self, scaled: np.ndarray) -> np.ndarray:
        assert len(scaled) == len(self._answer)
        return self._answer


LONG = "<p>" + "word " * 60 + "</p>"
LINK = "- " + "<a>link</a>" * 5


def chosen(pattern: str, page: list[str]) -> list[int]:
    return lines.main_lines(source.lines("\n".join(page)).features, Given(pattern))  # type: ignore[arg-type]


def test_a_block_of_long_lines_is_kept_and_a_single_long_line_is_not() -> None:
    page = [LONG] * 3 + [LINK] * 6 + [LONG] + [LINK] * 6
    assert chosen("TTT" + "F" * 6 + "T" + "F" * 6, page) == [0, 1, 2]


def test_in_a_kept_block_a_line_with_a_high_score_is_kept_if_the_classifier_missed_it() -> None:
    page = [LONG, LONG, "<p>A shorter line of text.</p>", LINK, LONG, LONG, LINK]
    assert chosen("TTFFTTF", page) == [0, 1, 2, 4, 5]


def test_a_block_at_the_threshold_is_dropped() -> None:
    """Two lines with the greatest score between two with score 0: the mean is exactly 1.5."""
    scores = np.array([0.0, 3.0, 3.0, 0.0])
    assert lines.block_score(found("FTTF")[0], scores) == lines.THRESHOLD


def test_the_main_text_is_found_by_the_shipped_model() -> None:
    texts = [one.text for one in lines.paragraphs(article(), lines.default())]
    assert texts == list(PROSE)


def test_a_page_has_paragraphs_and_everything_else() -> None:
    page = lines.extract(capture(article()), 10, "Windrow")
    plain = html.extract(capture(article()), 10, "Windrow")
    assert [one.text for one in page.paragraphs] == list(PROSE)
    assert (page.title, page.links, page.shape) == (plain.title, plain.links, plain.shape)


def test_a_date_above_the_text_is_the_date_of_the_page_and_not_of_its_text() -> None:
    """It does so whatever the model decides about its line."""
    page = article().replace("<p>The harvest", "<h1>Harvest</h1>\n<p>6 May 2024</p>\n<p>The harvest", 1)
    assert lines.extract(capture(page), 10).date == "2024-05-06"
    assert lines.extract(capture(page.replace("6 May 2024", "by Ann")), 10).date == ""
    assert lines.extract(capture("<meta name=date content=2020-01-02>" + page), 10).date == "2020-01-02"


def test_pages_are_decoded_as_they_declare() -> None:
    body = article().replace("Short, too.", "Kurz, auch für Äpfel.").encode("windows-1252")
    page = lines.extract(capture(body, "Content-Type: text/html; charset=latin1"), 10)
    assert "Kurz, auch für Äpfel." in [one.text for one in page.paragraphs]


def test_a_body_that_is_not_html_has_no_paragraphs() -> None:
    assert lines.extract(capture(b"%PDF-1.4 \0\1\2", "Content-Type: application/pdf"), 10).paragraphs == ()


def test_links_inside_the_text_are_kept_or_deleted() -> None:
    page = article().replace("the ministry said", '<a href="/ministry">the ministry</a> said')
    with_links, without = (
        " ".join(one.text for one in lines.paragraphs(page, lines.default(), anchors)) for anchors in (True, False)
    )
    assert "so dry a spring, the ministry said on Tuesday." in with_links
    assert "so dry a spring, said on Tuesday." in without


def test_a_paragraph_on_several_lines_is_one_paragraph() -> None:
    wrapped = article().replace(", the ministry", ",\n   the ministry").replace("too late;", "<b>too</b> late;\n\n")
    assert [one.text for one in lines.paragraphs(wrapped, lines.default())] == list(PROSE)


def test_a_heading_in_the_text_is_recognised() -> None:
    page = article().replace("<p>Short, too.</p>", "<h2>What the north brought in, and what the south has lost</h2>")
    assert [one.heading for one in lines.paragraphs(page, lines.default())] == [False, False, False, True, False]


ODD = ["", "<", "<body>", "\0", "<body></body>", "text", "<p>" * 5000, "\ud800", "<a>" * 5000 + "x", "x\n" * 70000]


@pytest.mark.parametrize("page", ODD, ids=range(len(ODD)))
def test_any_page_gives_paragraphs_or_none(page: str) -> None:
    for one in lines.paragraphs(page, lines.default()):
        assert one.text
        one.text.encode()
