"""A static site that shows the pages on which the first extractor loses the most, so that the error is seen.

    choose     the pages, by F1 lost to the best peer, or to 1 if there are no peers
    diff       the words of two texts aligned
    columns    gold text, our text and the peer's next to each other
    view       the blocks of the page, and the row of the index
    markup     all of this as HTML

The site needs no network and no server. All text comes from the web, so that everything is escaped; the source of a
page is copied as text, which no browser runs. Only the scores of pages are kept while they are evaluated; the chosen
pages are read and extracted again.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.extraction.evaluation import measure
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.losses import columns, markup, view
from windrow.extraction.evaluation.losses.view import Loss, LossPage
from windrow.extraction.evaluation.measure import Choice
from windrow.extraction.evaluation.score import PageScore, Tool
from windrow.extraction.readers import decode
from windrow.records import Page

_PAGES = "pages"


def check(directory: Path) -> None:
    """Make the directory for the site. One that holds anything is refused: nothing is overwritten."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        used = any(directory.iterdir())
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ConfigError(f"{directory} cannot be made a directory ({why}); name another one with --losses") from None
    if used:
        raise ConfigError(f"{directory} exists and is not empty; remove it, or name another directory with --losses")


def choose(scores: Iterable[Sequence[PageScore]], own: int, limit: int) -> list[Loss]:
    """Return the pages with the greatest losses; the first `own` scores of a page are those of our extractors."""
    found = []
    for page in scores:
        best = max(page[own:], key=lambda one: one.f1, default=None)
        lost = (best.f1 if best else 1.0) - page[0].f1
        if lost > 0:
            found.append(Loss(lost, page[0], best))
    return sorted(found, key=lambda one: (-one.lost, one.ours.dataset, one.ours.name))[:limit]


def write(directory: Path, losses: Sequence[Loss], pages: Iterable[Sample], choice: Choice) -> None:
    """Write the site: index.html, and for each page its comparison and its source as text."""
    tools = {tool.name: tool for tool in measure.tools(choice)}
    ranks = {(loss.ours.dataset, loss.ours.name): number for number, loss in enumerate(losses)}
    (directory / _PAGES).mkdir()
    made: list[LossPage | None] = [None] * len(losses)
    for sample in pages:
        rank = ranks.get((sample.dataset, sample.name))
        if rank is not None:
            made[rank] = _written(directory / _PAGES, rank, losses, sample, tools)
    rows = [one for one in made if one is not None]
    _save(directory / "index.html", markup.index(rows, choice.peers))
    lines = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    (directory / "losses.jsonl").write_bytes(lines)


def _written(directory: Path, rank: int, losses: Sequence[Loss], sample: Sample, tools: dict[str, Tool]) -> LossPage:
    loss = losses[rank]
    source = decode.decode(sample.body, sample.content_type)[0]
    ours = tools[loss.ours.extractor].read(sample, source) or Page()
    other = (tools[loss.other.extractor].read(sample, source) or Page()) if loss.other else None
    blocks = view.blocks(sample, ours)
    made = view.summary(loss, sample, ours.title, blocks)
    names = f"{rank + 1:04}", f"{rank:04}" if rank else "", f"{rank + 2:04}" if rank + 1 < len(losses) else ""
    _save(directory / f"{names[0]}.html", markup.page(made, columns.rows(sample, ours, other), blocks, names))
    # With a byte order mark a browser reads a local text file as UTF-8.
    (directory / f"{names[0]}.txt").write_bytes(b"\xef\xbb\xbf" + source.encode("utf-8", "replace"))
    return made


def _save(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "replace"))
