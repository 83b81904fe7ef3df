"""What `windrow extract` does: extract one file, and evaluate or train extractors on pages with gold text."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from windrow import config
from windrow.config import Config, ConfigError
from windrow.data import Capture, Task, Url
from windrow.extract import Extractor
from windrow.extract.evaluation import evaluate, run, summary
from windrow.extract.evaluation.gold import Sample
from windrow.extract.evaluation.run import Choice
from windrow.extract.evaluation.score import PageScore
from windrow.extract.evaluation.table import Evaluation, Version

if TYPE_CHECKING:
    from windrow.extract.lines.model import LinesModel
    from windrow.extract.lines.training import SiteScore

_NOWHERE = Url("http://page.invalid/", "page.invalid", "page.invalid", 0)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


class ExtractedFile(msgspec.Struct, frozen=True):
    path: str
    title: str
    author: str
    date: str  # of publication: YYYY-MM-DD
    language: str  # as declared
    licence: str
    site: str
    description: str
    tags: tuple[str, ...]
    image: str
    text: str


def options(name: str, settings: Sequence[str] = ()) -> Config:
    """Return the options for this extractor, without links. Explicit settings override."""
    return config.make(["extract.max_links=0", f"extract.extractor={name}", *settings], Path())


def row(path: str, body: bytes, read: Extractor) -> ExtractedFile:
    """Extract a file. The text is the good paragraphs, one per line."""
    page = read(
        Capture(
            Task(_NOWHERE), 200, request=b"", head=_HEAD, body=body, time=0.0, seconds=0.0, ip="", protocol="http/1.1"
        )
    )
    path = path.encode("utf-8", "replace").decode()  # a file name need not be valid UTF-8
    return ExtractedFile(
        path=path,
        title=page.title,
        author=page.author,
        date=page.date,
        language=page.language,
        licence=page.licence,
        site=page.site,
        description=page.description,
        tags=page.tags,
        image=page.image,
        text=evaluate.text(page),
    )


def evaluated(pages: Iterable[Sample], choice: Choice, jobs: int = 1) -> tuple[Evaluation, list[list[PageScore]]]:
    """Evaluate extractors and peers on the same pages; return the tables and the scores of every page."""
    versions = [Version(tool.name, tool.version) for tool in run.tools(choice)]
    scores = list(run.scores(pages, choice, jobs))
    rows, facts = summary.rows(scores), summary.facts(scores)
    return Evaluation(tools=versions, pages=len(scores), rows=rows, facts=facts), scores


def cross_validated(pages: Iterable[Sample], name: str, folds: int, classifier: str = "svm") -> "list[SiteScore]":
    """Cross-validate the extractor `lines` within each site."""
    _check_trained(name)
    from windrow.extract.lines import training

    return training.evaluate((sample for sample in pages if not sample.partial), classifier, folds)


def train(pages: Iterable[Sample], name: str, classifier: str, output: Path) -> "LinesModel":
    """Train a model and write it to a file. Whether the file can be written is checked before the work begins."""
    _check_trained(name)
    from windrow.extract.lines import model, training

    training.check(classifier)
    if output.is_dir():
        raise ConfigError(f"{output} is a folder; name a file for the model with -o")
    if not output.absolute().parent.is_dir():
        raise ConfigError(f"there is no folder {output.parent} for the model; create it, or name another file with -o")
    trained = training.train((sample for sample in pages if not sample.partial), classifier)
    model.save(trained, output)
    return trained


def _check_trained(name: str) -> None:
    if name != "lines":
        other = "; tools/train_blocks.py in the repository trains blocks" if name == "blocks" else ""
        raise ConfigError(
            f"the extractor '{name}' cannot be trained here, only lines can; use --extractor lines{other}"
        )
