"""What `windrow extract` does: an extractor by name, a file as a row, and extractors measured and trained on pages with gold text."""

import difflib
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from windrow import config
from windrow.config import ConfigError
from windrow.data import Capture, Page, Task, Url
from windrow.extract import decode, evaluate, gold
from windrow.extract.peers import Peer, peer

if TYPE_CHECKING:
    from windrow.extract.lines_model.training import Row as Fold

Extractor = Callable[[Capture], Page]

NAMES = ("paragraphs", "lines")
_LINKS = 0  # taken from a page: nobody asks for them here
_NOWHERE = Url("http://page.invalid/", "page.invalid", "page.invalid", 0)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


class Row(msgspec.Struct, frozen=True):
    path: str
    title: str
    date: str
    language: str
    text: str


def extractor(name: str, language: str = "", preset: str = "tuned") -> Extractor:
    """The extractor of this name. The language is that of the stop list; empty: told from each page."""
    if name == "paragraphs":
        from windrow.extract import paragraphs

        if preset not in paragraphs.PRESETS:
            raise ConfigError(f"there is no preset '{preset}'; the presets are {', '.join(paragraphs.PRESETS)}")
        options = config.Paragraphs(preset=preset, language=language)
        return functools.partial(paragraphs.extract, max_links=_LINKS, options=options)
    if name == "lines":
        from windrow.extract import lines  # with numpy, which the other does without

        return functools.partial(lines.extract, max_links=_LINKS)
    near = difflib.get_close_matches(name, NAMES, 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise ConfigError(f"there is no extractor '{name}', there are {' and '.join(NAMES)}{hint}")


def row(path: str, body: bytes, extract: Extractor) -> Row:
    """A file's bytes as the page they hold: its good paragraphs, one a line."""
    page = extract(Capture(Task(_NOWHERE), 200, b"", _HEAD, body, 0.0, 0.0, "", "http/1.1"))
    text = "\n".join(one.text for one in page.paragraphs if one.kind == "good")
    return Row(path, page.title, page.date, page.language, text)


def evaluated(pages: Path, names: Sequence[str], peers: Sequence[str]) -> list[evaluate.Row]:
    """Extractors and peers on the same pages."""
    chosen: dict[str, evaluate.Text] = {name: _text(extractor(name)) for name in names}
    chosen |= {name: _peer_text(peer(name)) for name in peers}
    scores = [evaluate.score(name, read, sample) for sample in gold.samples(pages) for name, read in chosen.items()]
    return evaluate.rows(scores)


def _text(extract: Extractor) -> evaluate.Text:
    return lambda sample: evaluate.text(extract(sample.capture()))


def _peer_text(read: Peer) -> evaluate.Text:
    return lambda sample: read(decode.decode(sample.body, f"text/html; charset={sample.encoding}")[0], sample.language)


def table(rows: Sequence[evaluate.Row]) -> str:
    names = f"{'extractor':<12} {'group':<10} {'value':<20} {'pages':>6}"
    lines = [f"{names} {'P':>6} {'R':>6} {'F1':>6} {'4-gram':>6} {'mean ms':>8} {'median':>7} {'empty':>5}"]
    for row in rows:
        figures = f"{row.bag.precision:6.3f} {row.bag.recall:6.3f} {row.bag.f1:6.3f} {row.gram.f1:6.3f}"
        times = f"{row.mean_ms:8.2f} {row.median_ms:7.2f} {row.empty:5}"
        lines.append(f"{row.extractor:<12} {row.group:<10} {row.value[:20]:<20} {row.pages:6} {figures} {times}")
    return "\n".join(lines)


def cross_validated(pages: Path, name: str, folds: int) -> "list[Fold]":
    """The extractor that is trained, by cross-validation within each site."""
    _check_trained(name)
    from windrow.extract.lines_model import training

    return training.evaluate((sample for sample in gold.samples(pages) if not sample.partial), folds=folds)


def train(pages: Path, name: str, classifier: str, output: Path) -> None:
    _check_trained(name)
    from windrow.extract.lines_model import model, training

    model.save(training.train((sample for sample in gold.samples(pages) if not sample.partial), classifier), output)


def _check_trained(name: str) -> None:
    if name != "lines":
        raise ConfigError(f"the extractor '{name}' is not trained here, only lines is; use --extractor lines")
