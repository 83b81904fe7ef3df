"""`windrow report`: what a crawl did, as one page with pictures, from its log alone.

`data` turns the folded log into the numbers that are shown. `plots` composes them into scenes, which are lists of
shapes, with `axes` around them. `svg` draws a scene, and `page` puts everything into one HTML file, with `tables` and
`style`. Each takes several crawls as well as one: that is how crawls are compared. The numbers come from
the log alone, so a report works for a running crawl, for one that was killed, and for one whose other files are gone.
`samples` shows a few documents if the corpus is there, `heldout` and `heldout_plots` the result of `windrow lm
evaluate`, if the directory has one.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from windrow import files
from windrow.config import ConfigError
from windrow.inspect.report import data, heldout_plots, page, plots, svg
from windrow.inspect.report.data import Numbers
from windrow.inspect.report.heldout import EVALUATION as EVALUATION
from windrow.log import Watch
from windrow.records import CrawlEvaluation


class Written(msgspec.Struct, frozen=True):
    """The files of a report."""

    page: Path
    pictures: list[Path]


def read(directories: Sequence[Path], unit: str = "domain", watch: Watch | None = None) -> list[Numbers]:
    """Return the numbers of each crawl. If two directories have the same name, crawls are named by their paths."""
    return named([data.read(directory, unit, watch) for directory in directories], directories)


def of_directory(directory: str, unit: str) -> Numbers:
    """Return the numbers of one crawl: `read` for a job that reads many at the same time."""
    return data.read(Path(directory), unit)


def named(found: list[Numbers], directories: Sequence[Path]) -> list[Numbers]:
    """Name crawls by their paths, if two directories have the same name."""
    if len({crawl.name for crawl in found}) < len(found):
        pairs = zip(found, directories, strict=True)
        found = [msgspec.structs.replace(crawl, name=str(directory)) for crawl, directory in pairs]
    return found


def place(directories: Sequence[Path]) -> Path:
    """Return the default place of a report: inside the crawl, or inside the first of those compared."""
    first, *others = directories
    below = first / "report"
    return below / ("with-" + "-".join(other.resolve().name for other in others)) if others else below


def write(crawls: Sequence[Numbers], output: Path, png: bool = False) -> Written:
    """Write the page, and its pictures as files next to it.

    output: the name of the page (.html), or a directory for an index.html.
    png: also write each picture as PNG.
    """
    file = output if output.suffix in (".html", ".htm") else output / "index.html"
    before = "" if file.stem == "index" else f"{file.stem}-"
    evaluations = _evaluations(crawls)
    scenes = [*plots.all_of(crawls), *heldout_plots.all_of(evaluations)]
    pictures = {}
    for scene in scenes:
        drawn = svg.file(scene)
        pictures[file.with_name(f"{before}{scene.name}.svg")] = drawn
        if png:
            pictures[file.with_name(f"{before}{scene.name}.png")] = svg.png(drawn)
    file.parent.mkdir(parents=True, exist_ok=True)
    _check_place(file, list(pictures))
    files.write(
        file, page.render(crawls, scenes, evaluations).encode()
    )  # first: pictures without a page would be refused
    for path, content in pictures.items():
        files.write(path, content)
    return Written(file, list(pictures))


def _evaluations(crawls: Sequence[Numbers]) -> list[CrawlEvaluation]:
    """Return those to show: of a single crawl, also of the crawl that it was compared with; of several, each one's
    own."""
    if len(crawls) == 1:
        return crawls[0].evaluations
    return [crawl.evaluations[0] for crawl in crawls if crawl.evaluations]


def _check_place(file: Path, pictures: Sequence[Path]) -> None:
    """Refuse to replace anything but an earlier report."""
    if file.exists():
        with file.open("rb") as there:
            known = page.MARK in there.read(1024)
        if not known:
            raise ConfigError(f"{file} exists and is not a report of Windrow; choose another place with -o")
    elif existing := next((path for path in pictures if path.exists()), None):
        raise ConfigError(f"{existing} exists, but no report is next to it; choose another place with -o")
