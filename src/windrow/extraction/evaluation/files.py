"""What `windrow extract` does with pages that have gold text: evaluate extractors, and train them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from windrow import config
from windrow.config import Config, ConfigError
from windrow.extraction.evaluation import measure, summary
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.measure import Choice
from windrow.extraction.evaluation.results import Evaluation, Version
from windrow.extraction.evaluation.score import PageScore

if TYPE_CHECKING:
    from windrow.extraction.main.lines.model import LinesModel
    from windrow.extraction.main.lines.training import SiteScore


def options(name: str, settings: Sequence[str] = ()) -> Config:
    """Return the options for this extractor, without links. Explicit settings override."""
    return config.make(["extract.max_links=0", f"extract.extractor={name}", *settings], Path())


def evaluated(pages: Iterable[Sample], choice: Choice, jobs: int = 1) -> tuple[Evaluation, list[list[PageScore]]]:
    """Evaluate extractors and peers on the same pages; return the tables and the scores of every page."""
    versions = [Version(tool.name, tool.version) for tool in measure.tools(choice)]
    scores = list(measure.scores(pages, choice, jobs))
    rows, facts = summary.rows(scores), summary.facts(scores)
    return Evaluation(tools=versions, pages=len(scores), rows=rows, facts=facts), scores


def cross_validated(pages: Iterable[Sample], name: str, folds: int, classifier: str = "svm") -> "list[SiteScore]":
    """Cross-validate the extractor `lines` within each site."""
    _check_trained(name)
    from windrow.extraction.main.lines import training

    return training.evaluate((sample for sample in pages if not sample.partial), classifier, folds)


def train(pages: Iterable[Sample], name: str, classifier: str, output: Path) -> "LinesModel":
    """Train a model and write it to a file. Whether the file can be written is checked before the work begins."""
    _check_trained(name)
    from windrow.extraction.main.lines import model, training

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
