"""The extractor `blocks`: a learned classifier of a page's blocks, in two stages.

The walk (walk.py) cuts a page into blocks. Of each the first stage knows some figures: of its own text and tags, of the elements around it
and what share of the page's prose they hold, of where it stands, of the page. A forest of decision trees makes a probability of them
that the block is of the main text. The second stage knows in addition what the first one thinks of the neighbourhood, and answers again.
Then those blocks are kept for which F1 is expected to be greatest, so that a page on which little is sure loses little.

The figures and the forests are computed by the C kernel `_blocks` where it was built, else by its twin in numpy. What is counted is
said in blocks_rules.py; docs/extraction-blocks.md says how the model was made and what it is worth.
"""

import array
import functools
from collections.abc import Callable
from pathlib import Path

import msgspec

from windrow.data import Capture, Page, Paragraph
from windrow.extract import blocks_model, blocks_rules, html, walk
from windrow.extract.blocks_model import Forest, Model
from windrow.extract.rules import COMMAS, STOPS
from windrow.extract.walk import Walk

try:
    from windrow.extract import _blocks
except ImportError:  # there was no compiler: the twin does it
    _blocks = None  # type: ignore[assignment]

Judge = Callable[[Walk], tuple[bytes, bytes, int]]  # buckets of both stages, least bucket of what is text

_KINDS = ("bad", "good")
_COMMENT = 1 << list(walk.HINTS).index("comment")


def extract(
    capture: Capture, max_links: int, agent: str = "", judge: Judge | None = None, comments: bool = False
) -> Page:
    """As html.extract, with all blocks of the page as paragraphs, each called good or bad; `own` is what the first stage thought.

    Without a judge (see `judge`), the model that comes with the package.
    """
    page, tree = html.read(capture, max_links, agent, shaped=False)
    if tree is None:
        return page
    found = walk.walk(walk.markup(tree))
    told = paragraphs(found, judge or default(), comments)
    return msgspec.structs.replace(page, paragraphs=told, shape=html.shape("".join(found.texts)))


def paragraphs(page: Walk, judge: Judge, comments: bool = False) -> tuple[Paragraph, ...]:
    """All blocks of a page, good and bad. `comments`: what readers wrote below it is good too, if it is prose."""
    if not page.texts:
        return ()
    first, second, least = judge(page)
    if _blocks is not None and not comments:
        answers = (first, blocks_rules.EVEN), (second, least)
        return _blocks.paragraphs(Paragraph, page.texts, page.blocks, page.paths(), _KINDS, *answers)
    own = [_KINDS[bucket >= blocks_rules.EVEN] for bucket in memoryview(first).cast("H").tolist()]
    kinds = [_KINDS[bucket >= least] for bucket in memoryview(second).cast("H").tolist()]
    if comments:
        _keep_comments(page, kinds)
    paths = page.paths()
    rows = zip(page.texts, kinds, page.column("heading"), page.column("path"), own, strict=True)
    return tuple([Paragraph(text, kind, level > 0, paths[path], alone) for text, kind, level, path, alone in rows])


def _keep_comments(page: Walk, kinds: list[str]) -> None:
    columns = zip(page.column("hints"), page.column("chars"), page.column("link_chars"), strict=True)
    for place, (hints, chars, linked) in enumerate(columns):
        if hints & _COMMENT and chars >= blocks_rules.COMMENT and 3 * linked < chars:
            kinds[place] = "good"


@functools.cache
def default() -> Judge:
    return judge()


def judge(path: str = "", kernel: bool = True) -> Judge:
    """Judges by the model of this file; without one, by that of the package. Without the kernel, or where it was not built, by the twin."""
    names = blocks_rules.FIRST, blocks_rules.SECOND
    model = blocks_model.load(Path(path), *names) if path else blocks_model.shipped(*names)
    if kernel and _blocks is not None:
        compiled = compiled_model(model)
        run = _blocks.judge
        return lambda page: run(page.texts, page.blocks, page.containers, compiled)
    from windrow.extract import blocks_twin  # with numpy, which the kernel does without

    forests = blocks_twin.prepare(model)
    return lambda page: blocks_twin.judge(page, forests)


def compiled_model(model: Model) -> object:
    """The kernel's form of a model."""
    rules = blocks_rules
    return _blocks.compile(
        (_arrays(model.first), _arrays(model.second), model.skip, rules.RAISE),
        (array.array("q", rules.LIKELY).tobytes(), 1 << rules.SCALE, blocks_model.UNIT // rules.STEPS),
        (rules.GROUP_OF, rules.GROUP["p"], rules.GROUP["li"]),
        bytes(rules.BITS),
        (STOPS, COMMAS, rules.CLOSING),
        (rules.PROSE, rules.SLIGHT, rules.FAR, rules.AWAY),
    )


def _arrays(forest: Forest) -> tuple[bytes, bytes, bytes, bytes, int, int, int]:
    fields = (forest.features, "H"), (forest.thresholds, "f"), (forest.masks, "I"), (forest.values, "h")
    features, thresholds, masks, values = (blocks_model.numbers(code, data).tobytes() for data, code in fields)
    return features, thresholds, masks, values, forest.questions, forest.early, forest.cut
