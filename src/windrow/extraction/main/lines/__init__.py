"""DGWC's extractor of main text, in two stages: a classifier of source lines, then a choice among blocks of them.

Stage 1 runs once: labelled pages make a model (training). Stage 2 runs for each page: its source is cut into text
lines with six features (source), which are normalised and discretised (features). The model decides of each line
whether it looks like main text. A window of φ lines joins such lines into blocks, and a block is kept if the mean
score of its lines is high enough. So a short paragraph among long ones is kept, and a long line of advertising that
stands alone is dropped.

The extractor works on the source, not on the tree: a line is what the author's tools wrote as a line.

    source     the decoded source of a page -> its text lines, each with the six features of the paper, raw
    features   normalisation, and discretisation into the scopes Low, Middle and High by cut points that a model holds
    svm, bayes, tree    three classifiers: a plain record each, and a function that decides on discretised lines
    model      the record that holds cut points and classifier, and its file; model.json is the shipped one
    fit        trains the classifiers with scikit-learn; nothing else needs that library
    labels     which lines of a page are main text, by how much of them occurs in the gold text
    measure    how much two texts have in common: bags of words, weighted by bytes
    training   pages with gold text in, a model or a table of its quality out

Everything is deterministic: the same pages in the same order give the same model file. This module imports the first
four alone; `training` imports this module, never the other way round.

The paper is DGWC, "A Distributed and Generic Web Identity". The constants keep the paper's names for its numbers.
Where the paper leaves a choice, decision 60 gives ours and the reason.
"""

import functools
from collections.abc import Container, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from windrow.extraction.main.lines import features, source
from windrow.extraction.main.lines import model as models
from windrow.extraction.main.lines.model import LinesModel
from windrow.extraction.main.lines.source import DENSITY, IMAGES, LINKS, OUTPUT, TEXT, Array, Flags, TextLines
from windrow.extraction.page import dates
from windrow.extraction.readers import decode, html
from windrow.records import Capture, Page, Paragraph

PHI = 5  # φ, the length of the sliding window in lines
THRESHOLD = 1.5  # of the score of a line (Eq. 4) and of a block (Eq. 5)
_ABOVE = 30  # lines above the main text that are searched for a date


class LineBlock(NamedTuple):
    """A potential topical block.

    Its first and last topical lines are start + 1 and end - 1; start and end themselves are not topical.
    """

    start: int
    end: int


def extract(
    capture: Capture,
    max_links: int,
    agent: str = "",
    model: LinesModel | None = None,
    known: Container[int] | None = None,
) -> Page:
    """Return the page of `html.extract` with the paragraphs of its main text. The default model is the shipped one."""
    page, tree, *_ = html.read(capture, max_links, agent, known)
    if tree is None:
        return page
    text, _ = decode.decode(capture.body, f"text/html; charset={page.charset}")
    lines = source.lines(text)
    chosen = main_lines(lines.features, model or default())
    date = page.date or dates.line(_opening(lines, chosen), capture.time, page.language)
    return msgspec.structs.replace(page, paragraphs=_joined(lines, chosen), date=date)


@functools.cache
def default() -> LinesModel:
    """Return the shipped model."""
    return models.shipped()


def load_model(path: str = "") -> LinesModel:
    """Return the model of this file, or the shipped one if the path is empty."""
    return models.load(Path(path)) if path else default()


def paragraphs(page: str, model: LinesModel, anchors: bool = True) -> tuple[Paragraph, ...]:
    """Return the main text of a decoded page. `anchors` keeps the text of links in its lines; the paper deletes it."""
    lines = source.lines(page)
    return _joined(lines, main_lines(lines.features, model), anchors)


def _joined(lines: TextLines, chosen: Sequence[int], anchors: bool = True) -> tuple[Paragraph, ...]:
    """Return these lines as paragraphs; the lines of one element are one paragraph."""
    found: list[tuple[bool, list[str]]] = []  # heading, lines of one block
    before = -2
    for number in chosen:
        text = source.text(lines.marked[number], anchors)
        if number == before + 1 and source.continues(lines, number):
            found[-1][1].append(text)
        else:
            found.append((source.heading(lines, number) != "", [text]))
        before = number
    joined = ((heading, " ".join(filter(None, texts))) for heading, texts in found)
    return tuple(Paragraph(text, heading=heading) for heading, text in joined if text)


def _opening(lines: TextLines, chosen: Sequence[int]) -> list[Paragraph]:
    """Return the lines above the main text and its first line: a date often stands there, outside the main text."""
    first = next((number for number in chosen if not source.heading(lines, number)), -1)
    opening = []
    for number in range(max(first - _ABOVE, 0), first + 1):
        path = source.heading(lines, number)
        kind = "good" if number == first else "bad"
        opening.append(Paragraph(source.text(lines.marked[number], True), kind, heading=bool(path), path=path))
    return opening


def main_lines(raw: Array, model: LinesModel) -> list[int]:
    """Return the lines of main text: lines of kept blocks that are topical by the classifier or by their score."""
    if not len(raw):
        return []
    scaled = features.normalised(raw)
    topical = model.topical(scaled)
    scores = line_scores(scaled)
    return [
        number
        for block in blocks(topical)
        if block_score(block, scores) > THRESHOLD
        for number in range(block.start + 1, block.end)
        if topical[number] or scores[number] > THRESHOLD
    ]


def blocks(topical: Sequence[bool] | Flags) -> list[LineBlock]:
    """Return the runs of topical lines with at most φ - 1 other lines between two neighbours."""
    found: list[LineBlock] = []
    for number, flag in enumerate(topical):
        if flag:
            near = found and number - (found[-1].end - 1) <= PHI
            start = found.pop().start if near else number - 1
            found.append(LineBlock(start, number + 1))
    return found


def line_scores(scaled: Array) -> Array:
    """Eq. 4: text, output text and density raise the score of a line, links and images lower it."""
    return scaled[:, TEXT] + scaled[:, OUTPUT] + scaled[:, DENSITY] - scaled[:, LINKS] - scaled[:, IMAGES]


def block_score(block: LineBlock, scores: Array) -> float:
    """Eq. 5: the mean from start to end, both included if the page has them: a short block depends on its context."""
    return float(scores[max(block.start, 0) : block.end + 1].mean())
