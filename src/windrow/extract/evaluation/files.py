"""What `windrow extract` does with pages that have gold text: evaluate extractors, and train them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import windrow.extract as extract
from windrow import config
from windrow.config import Config, ConfigError
from windrow.extract import Extractor, decode
from windrow.extract.evaluation import evaluate
from windrow.extract.evaluation.gold import Sample
from windrow.extract.evaluation.peers import Peer, peer

if TYPE_CHECKING:
    from windrow.extract.lines.model import LinesModel
    from windrow.extract.lines.training import SiteScore


def options(name: str, settings: Sequence[str] = ()) -> Config:
    """Return the options for this extractor, without links. Explicit settings override."""
    return config.make(["extract.max_links=0", f"extract.extractor={name}", *settings], Path())


def evaluated(pages: Iterable[Sample], extractors: dict[str, Config], peers: Sequence[str]) -> list[evaluate.ScoreRow]:
    """Evaluate extractors, each under its name for the table, and peers on the same pages."""
    chosen: dict[str, evaluate.TextExtractor] = {
        name: _text(extract.extractor(given)) for name, given in extractors.items()
    }
    chosen |= {name: _peer_text(peer(name)) for name in peers}
    if not chosen:
        raise ConfigError("there is nothing to evaluate; name an extractor or a peer")
    scores = [evaluate.score(name, read, sample) for sample in pages for name, read in chosen.items()]
    return evaluate.rows(scores)


def _text(read: Extractor) -> evaluate.TextExtractor:
    return lambda sample: evaluate.text(read(sample.capture()))


def _peer_text(read: Peer) -> evaluate.TextExtractor:
    return lambda sample: read(decode.decode(sample.body, f"text/html; charset={sample.encoding}")[0], sample.language)


def table(rows: Sequence[evaluate.ScoreRow]) -> str:
    names = f"{'extractor':<12} {'group':<10} {'value':<20} {'pages':>6}"
    lines = [f"{names} {'P':>6} {'R':>6} {'F1':>6} {'4-gram':>6} {'mean ms':>8} {'median':>7} {'empty':>5}"]
    for row in rows:
        figures = f"{row.bag.precision:6.3f} {row.bag.recall:6.3f} {row.bag.f1:6.3f} {row.ngram.f1:6.3f}"
        times = f"{row.mean_ms:8.2f} {row.median_ms:7.2f} {row.empty:5}"
        lines.append(f"{row.extractor:<12} {row.group:<10} {row.value[:20]:<20} {row.pages:6} {figures} {times}")
    return "\n".join(lines)


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
