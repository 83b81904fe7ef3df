"""`windrow report`: what a crawl did, as one page with pictures, from its log alone.

`numbers` turns the folded log into the figures that are shown. `pictures` composes them into scenes, lists of shapes, with `axes` around;
`svg` and `png` draw a scene, `page` sets everything into one HTML file. Each takes several crawls as well as one: that is how they are
compared. Nothing is read but the log, so a running crawl, one that was killed and one whose other files are gone can be reported on.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from windrow.batch import replay
from windrow.batch.fold import Watch
from windrow.config import ConfigError
from windrow.report import numbers, page, pictures
from windrow.report.numbers import Numbers


class Made(msgspec.Struct, frozen=True):
    """What was written."""

    page: Path
    pictures: list[Path]


def read(directories: Sequence[Path], unit: str = "domain", watch: Watch | None = None) -> list[Numbers]:
    """The numbers of each crawl. Where two directories have the same name, crawls are called by their paths."""
    asked = [replay.question(directory, (), "", unit, ()) for directory in directories]
    found = [numbers.read(directory, question, watch) for directory, question in zip(directories, asked, strict=True)]
    if len({crawl.name for crawl in found}) < len(found):
        found = [
            msgspec.structs.replace(crawl, name=str(directory))
            for crawl, directory in zip(found, directories, strict=True)
        ]
    return found


def place(directories: Sequence[Path]) -> Path:
    """Where a report goes that nobody named a place for: into the crawl, or the first of those compared."""
    first, *others = directories
    below = first / "report"
    return below / ("with-" + "-".join(other.resolve().name for other in others)) if others else below


def write(crawls: Sequence[Numbers], output: Path) -> Made:
    """The page, and its pictures beside it. `output` is the page's own name, or a directory for an index.html."""
    from windrow.report import png

    file = output if output.suffix in (".html", ".htm") else output / "index.html"
    before = "" if file.stem == "index" else f"{file.stem}-"
    file.parent.mkdir(parents=True, exist_ok=True)
    scenes = pictures.all_of(crawls)
    made = [file.with_name(f"{before}{scene.name}.png") for scene in scenes]
    _check_place(file, made)
    for path, scene in zip(made, scenes, strict=True):
        _replace(path, png.draw(scene))
    _replace(file, page.render(crawls, scenes).encode())
    return Made(file, made)


def _check_place(file: Path, made: Sequence[Path]) -> None:
    """Only an earlier report is written over."""
    if file.exists():
        with file.open("rb") as there:
            known = page.MARK in there.read(1024)
        if not known:
            raise ConfigError(f"{file} is there and is not a report of Windrow; name another place with -o")
    elif there_already := next((path for path in made if path.exists()), None):
        raise ConfigError(f"{there_already} is there already, without a report beside it; name another place with -o")


def _replace(path: Path, content: bytes) -> None:
    """All of it or nothing."""
    new = path.with_name(f".new.{path.name}")
    new.write_bytes(content)
    new.replace(path)
