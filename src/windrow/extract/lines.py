"""DGWC's extractor of main text, in two stages: a classifier of source lines, then an election among blocks of them.

Stage 1, once: labelled pages make a model (lines_model/training.py). Stage 2, for each page: its source is cut into text lines with six
features (lines_model/source.py), which are normalised and discretised (lines_model/features.py); the model says of each line whether it
looks like main text; a window of φ lines unites such lines into blocks, and a block stays when the mean score of its lines is high
enough. So a short paragraph among long ones is not lost, and a long line of advertising by itself is.

It works on the source, not on the tree: what counts as a line is what the author's tools wrote as one. Where the paper leaves a choice,
docs/extraction-lines.md says what was chosen and why.
"""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from windrow.data import Capture, Page, Paragraph
from windrow.extract import decode, html, metadata
from windrow.extract.lines_model import features, source
from windrow.extract.lines_model import model as models
from windrow.extract.lines_model.model import Model
from windrow.extract.lines_model.source import DENSITY, IMAGES, LINKS, OUTPUT, TEXT, Array, Flags, Lines

PHI = 5  # φ, the length of the sliding window in lines
THRESHOLD = 1.5  # of the score of a line (Eq. 4) and of a block (Eq. 5)
_ABOVE = 30  # lines that are looked at for a date


class Block(NamedTuple):
    """A potential topical block. Its first and last topical lines are start + 1 and end - 1; start and end themselves are not topical."""

    start: int
    end: int


def extract(capture: Capture, max_links: int, agent: str = "", model: Model | None = None) -> Page:
    """As html.extract, with the paragraphs of the main text. Without a model, the one that comes with the package."""
    page, document = html.read(capture, max_links, agent)
    if document is None:
        return page
    text, _ = decode.decode(capture.body, f"text/html; charset={page.charset}")
    lines = source.lines(text)
    chosen = elected(lines.features, model or default())
    date = page.date or metadata.dateline(_opening(lines, chosen), capture.time)
    return msgspec.structs.replace(page, paragraphs=_joined(lines, chosen), date=date)


@functools.cache
def default() -> Model:
    return models.shipped()


def model(path: str = "") -> Model:
    """The model of this file; without one, the one that comes with the package."""
    return models.load(Path(path)) if path else default()


def paragraphs(page: str, model: Model, anchors: bool = True) -> tuple[Paragraph, ...]:
    """The main text of a decoded page. `anchors`: with the text of links inside its lines, which the paper deletes."""
    lines = source.lines(page)
    return _joined(lines, elected(lines.features, model), anchors)


def _joined(lines: Lines, chosen: Sequence[int], anchors: bool = True) -> tuple[Paragraph, ...]:
    """These lines as paragraphs: those of one element are one."""
    found: list[tuple[bool, list[str]]] = []  # heading, lines of one block
    before = -2
    for number in chosen:
        text = source.text(lines.marked[number], anchors)
        if number == before + 1 and source.goes_on(lines, number):
            found[-1][1].append(text)
        else:
            found.append((source.heading(lines, number) != "", [text]))
        before = number
    joined = ((heading, " ".join(filter(None, texts))) for heading, texts in found)
    return tuple(Paragraph(text, heading=heading) for heading, text in joined if text)


def _opening(lines: Lines, chosen: Sequence[int]) -> list[Paragraph]:
    """The lines above the main text and its first one: where a date stands that is no part of it."""
    first = next((number for number in chosen if not source.heading(lines, number)), -1)
    return [
        Paragraph(
            source.text(lines.marked[number], True), "good" if number == first else "bad", heading=bool(path), path=path
        )
        for number in range(max(first - _ABOVE, 0), first + 1)
        for path in [source.heading(lines, number)]
    ]


def elected(raw: Array, model: Model) -> list[int]:
    """The lines of main text: those of the informative blocks that the classifier or their own score calls topical."""
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


def blocks(topical: Sequence[bool] | Flags) -> list[Block]:
    """Runs of topical lines in which no two neighbours are more than φ apart, that is with at most φ - 1 other lines between them."""
    found: list[Block] = []
    for number, flag in enumerate(topical):
        if flag:
            near = found and number - (found[-1].end - 1) <= PHI
            start = found.pop().start if near else number - 1
            found.append(Block(start, number + 1))
    return found


def line_scores(scaled: Array) -> Array:
    """Eq. 4: text, output text and density speak for a line, links and images against it."""
    return scaled[:, TEXT] + scaled[:, OUTPUT] + scaled[:, DENSITY] - scaled[:, LINKS] - scaled[:, IMAGES]


def block_score(block: Block, scores: Array) -> float:
    """Eq. 5: the mean from start to end, both included where the page has them; a block with few lines pays for its surroundings."""
    return float(scores[max(block.start, 0) : block.end + 1].mean())
