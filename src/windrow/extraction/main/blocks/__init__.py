"""The extractor `blocks`: a learned classifier of a page's blocks, in two stages.

The walk (extraction/walk) cuts a page into blocks. The first stage computes features of each block: of its own text and
tags, of the elements around it and their share of the page's prose, of its position, and of the page. A forest of
decision trees turns them into the probability that the block belongs to the main text. The second stage adds features
of what the first one expects in the neighbourhood, and a second forest decides again. The blocks kept are those for
which the expected F1 is greatest, so that little is lost on a page where little is certain.

    rules       the features by name, and the constants
    model       the file with the two forests
    _blocks     the C kernel that computes features and forests
    context, features, reference    the same in numpy: oracle of the kernel, and fallback where it was not built

docs/extraction-blocks.md describes how the model was trained, docs/benchmarks/extraction.md how good it is.
"""

import array
import functools
from collections.abc import Callable, Container
from pathlib import Path

import msgspec

from windrow.extraction import walk
from windrow.extraction.main.blocks import model as models
from windrow.extraction.main.blocks import rules
from windrow.extraction.main.blocks.model import BlocksModel, Forest
from windrow.extraction.page import linked, links
from windrow.extraction.readers import html
from windrow.extraction.walk import Walk, structure
from windrow.extraction.walk.elements import COMMAS, STOPS
from windrow.records import Capture, Page, Paragraph

try:
    from windrow.extraction.main.blocks import _blocks
except ImportError:  # there was no compiler: the reference is used
    _blocks = None  # type: ignore[assignment]

BlockClassifier = Callable[[Walk], tuple[bytes, bytes, int]]  # buckets of both stages, least bucket of main text

_KINDS = ("bad", "good")
_SCRIPT = "html.head.script"  # path of a text that stands in the linked data only
_MAX_TITLES = 16  # blocks with the text of the title that are examined
_BODY = 250  # characters: a shorter text in the linked data is a summary
_TIMES = 3  # how many times longer than the text of the page the text in the linked data must be


def extract(
    capture: Capture,
    max_links: int,
    agent: str = "",
    classify: BlockClassifier | None = None,
    comments: bool = False,
    marks: bool = False,
    title: bool = True,
    known: Container[int] | None = None,
) -> Page:
    """Return the page of `html.extract` with all its blocks as paragraphs, each good or bad.

    `own` of a paragraph is the decision of the first stage. Without `classify`, the shipped model decides. `comments`
    keeps the comments of readers as a class of their own, `title` keeps the headline, `marks` adds the links and
    emphasis within paragraphs, `known` what the page says of its links, see `html.read`.
    """
    read = html.read(capture, max_links, agent, known, articles=True, absolute=marks, shaped=False)
    page, tree, markup, body = read
    if tree is None:
        return page
    found = walk.walk(markup or walk.markup(tree), marks=marks)
    kept = paragraphs(found, classify or default(), comments)
    if len(body) >= _BODY and sum(len(one.text) for one in kept if one.kind == "good") * _TIMES < len(body):
        kept = _with_body(kept, body)
    sure = any(one.kind == "good" and one.own == "good" for one in kept)
    doubtful = not sure and any(one.kind == "good" for one in kept)
    if title and (sure or doubtful):  # a headline alone is no text
        kept = _with_title(found, kept, page.title)
    shape = html.shape("".join(found.texts))
    return msgspec.structs.replace(page, paragraphs=kept, shape=shape, doubtful=doubtful)


def paragraphs(page: Walk, classify: BlockClassifier, comments: bool = False) -> tuple[Paragraph, ...]:
    """Return all blocks of a page, good and bad. With `comments`, those of readers are "comment" if they are prose."""
    if not page.texts:
        return ()
    first, second, least = classify(page)
    if _blocks is not None and not comments:
        stages = (first, rules.EVEN), (second, least)
        forms = structure.forms(page, second, least)
        return _blocks.paragraphs(Paragraph, page.texts, page.blocks, page.paths(), _KINDS, *stages, forms)
    own = [_KINDS[bucket >= rules.EVEN] for bucket in memoryview(first).cast("H").tolist()]
    kinds = [_KINDS[bucket >= least] for bucket in memoryview(second).cast("H").tolist()]
    if comments:
        _keep_comments(page, kinds)
    paths = page.paths()
    rows = zip(page.texts, kinds, page.column("heading"), page.column("path"), own, strict=True)
    made = [
        Paragraph(text, kind, heading=level > 0, path=paths[path], own=alone) for text, kind, level, path, alone in rows
    ]
    return structure.formed(page, made)


def _keep_comments(page: Walk, kinds: list[str]) -> None:
    columns = zip(page.column("hints"), page.column("chars"), page.column("link_chars"), strict=True)
    for index, (hints, chars, in_links) in enumerate(columns):
        if kinds[index] == "bad" and hints & rules.COMMENT_HINT and chars >= rules.COMMENT and 3 * in_links < chars:
            kinds[index] = "comment"


def _with_title(page: Walk, kept: tuple[Paragraph, ...], title: str) -> tuple[Paragraph, ...]:
    """Keep and mark the headline: the heading with the text of the title."""
    place = _headline(page, title) if title else -1
    if place < 0:
        return kept
    marked = msgspec.structs.replace(kept[place], kind="good", structure="title")
    return (*kept[:place], marked, *kept[place + 1 :])


def _headline(page: Walk, title: str) -> int:
    """Return the number of the first heading with this text; -1 if there is none."""
    levels = memoryview(page.blocks).cast("i")[walk.BLOCK.index("heading") * len(page.texts) :]
    place = -1
    for _ in range(_MAX_TITLES):
        try:
            place = page.texts.index(title, place + 1)
        except ValueError:
            break
        if levels[place]:
            return place
    return -1


def _with_body(kept: tuple[Paragraph, ...], body: str) -> tuple[Paragraph, ...]:
    """Replace the text by that of the linked data: some pages show only its beginning, or let a script show it."""
    others = (one if one.kind == "bad" else msgspec.structs.replace(one, kind="bad", structure="") for one in kept)
    return (*others, *(Paragraph(links.clean(line), path=_SCRIPT, own="good") for line in linked.lines(body)))


@functools.cache
def default() -> BlockClassifier:
    """Return the classifier with the shipped model."""
    return classifier()


def classifier(path: str = "", kernel: bool = True) -> BlockClassifier:
    """Return the classifier with the model of this file, or with the shipped one if the path is empty.

    Without `kernel`, or where the kernel was not built, the reference computes it.
    """
    names = rules.FIRST, rules.SECOND
    model = models.load(Path(path), *names) if path else models.shipped(*names)
    if kernel and _blocks is not None:
        compiled = compiled_model(model)
        run = _blocks.classify
        return lambda page: run(page.texts, page.blocks, page.containers, compiled)
    from windrow.extraction.main.blocks import reference  # imports numpy, which the kernel does not need

    forests = reference.prepare(model)
    return lambda page: reference.classify(page, forests)


def compiled_model(model: BlocksModel) -> object:
    """Return a model in the kernel's form."""
    return _blocks.compile(
        (_arrays(model.first), _arrays(model.second), model.skip, rules.RAISE),
        (array.array("q", rules.LIKELY).tobytes(), rules.SCALE, models.UNIT // rules.STEPS),
        (rules.GROUP_OF, rules.GROUP["p"], rules.GROUP["li"], rules.TABLE),
        bytes(rules.BITS),
        (STOPS, COMMAS, rules.CLOSING),
        (rules.PROSE, rules.SLIGHT, rules.FAR, rules.AWAY),
        (rules.COMMENT_HINT, rules.FORUM_HINT, rules.MOST_COMMENTS),
        (rules.CELLS, rules.CELL, rules.CARDS, rules.CARD, rules.NUMBER),
        (rules.GRADE, rules.WORDS, rules.FEW, rules.SURE),
    )


def _arrays(forest: Forest) -> tuple[bytes, bytes, bytes, bytes, int, int, int]:
    fields = (forest.features, "H"), (forest.thresholds, "f"), (forest.masks, "I"), (forest.values, "h")
    features, thresholds, masks, values = (models.numbers(code, data).tobytes() for data, code in fields)
    return features, thresholds, masks, values, forest.questions, forest.early, forest.cut
