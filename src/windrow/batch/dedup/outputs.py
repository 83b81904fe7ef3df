"""Which document files become which output files."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from windrow import streams
from windrow.batch import sources
from windrow.config import ConfigError
from windrow.corpus import detect, reader


@dataclasses.dataclass(frozen=True, slots=True)
class FilePlan:
    """An output file and the input files that go into it, in order."""

    output: Path
    inputs: tuple[Path, ...]

    @property
    def temporary(self) -> Path:
        return self.output.with_name(f".new.{self.output.name}")


def size(plans: Sequence[FilePlan]) -> int:
    """Return the bytes of all input files."""
    return sum(path.stat().st_size for plan in plans for path in plan.inputs)


def crawls(plans: Sequence[FilePlan]) -> dict[Path, str]:
    """Return the name of each input file's crawl; empty if fewer than two crawls are read."""
    found = {path: crawl.resolve() for plan in plans for path in plan.inputs if (crawl := reader.crawl_of(path))}
    roots = list(dict.fromkeys(found.values()))
    names = sources.names(roots) if len(roots) > 1 else {}
    return {path: names[root] for path, root in found.items() if names}


def plan(inputs: Sequence[Path], output: Path, format: str = "", force: bool = False) -> list[FilePlan]:
    """Return which input files become which output files. `force`: existing files may be replaced.

    One input file, or several and an output named like a document file, become one output file. Otherwise the output is
    a directory in which each file keeps its name; if several directories are read, below the name of its directory.
    """
    if not output.is_dir():
        streams.check_suffix(output)
    folders = [path.resolve() for path in inputs if path.is_dir()]
    names = sources.names(folders) if len(folders) > 1 else {}
    found = [(file, names.get(path.resolve(), "") / name) for path in inputs for file, name in _files(path)]
    if not found:
        suffixes = ", ".join(detect.SUFFIXES)
        where = ", ".join(map(str, inputs))
        raise ConfigError(
            f"there are no document files in {where}; their names end in {suffixes}, with or without .gz or .zst"
        )
    files = [path for path, _ in found]
    single = len(inputs) == 1 and inputs[0].is_file()
    if not output.is_dir() and (single or detect.by_name(output)):
        plans = [FilePlan(output, tuple(files))]
        _check_formats(files, format)
    else:
        plans = [FilePlan(output / name, (path,)) for path, name in found]
    _check_places(plans, inputs, output)
    existing = next((plan.output for plan in plans if plan.output.exists()), None)
    if existing and not force:
        raise ConfigError(f"{existing} already exists; name another output, or replace it with --force")
    return plans


def _files(path: Path) -> list[tuple[Path, Path]]:
    """Return a file, or the files of a directory in order, each with its name in an output directory.

    Of a crawl's directory, these are the files of its corpus.
    """
    if not path.is_dir():
        path.stat()  # raises FileNotFoundError
        return [(path, Path(path.name))]
    root = path / "corpus" if (path / "crawl.toml").exists() else path
    files = (
        file
        for file in sorted(root.rglob("*"))
        if file.is_file() and detect.by_name(file) and not file.name.startswith(".")
    )
    return [(file, file.relative_to(root)) for file in files]


def _check_formats(files: Sequence[Path], format: str) -> None:
    """Refuse to join files of several formats in one output."""
    found = {format or detect.detect(path): path for path in files}
    if len(found) > 1:
        differing = ", ".join(f"{path} is {name}" for name, path in found.items())
        raise ConfigError(f"files of several formats cannot be joined ({differing}); name a directory as output")


def _check_places(plans: Sequence[FilePlan], inputs: Sequence[Path], output: Path) -> None:
    """Refuse an output that overwrites an input, is written twice, or that the next run would read as input."""
    read = {path.resolve() for plan in plans for path in plan.inputs}
    written = [plan.output.resolve() for plan in plans]
    for path in written:
        if path in read:
            raise ConfigError(f"{path} is an input and would be overwritten; name another output")
        if written.count(path) > 1:
            raise ConfigError(
                f"two input files have the name {path.name}; name their directories as input, or run the command twice"
            )
    for path in inputs:
        if path.is_dir() and path.resolve() in (output.resolve(), *output.resolve().parents):
            raise ConfigError(f"{output} lies in the input {path}; name an output outside of it")
