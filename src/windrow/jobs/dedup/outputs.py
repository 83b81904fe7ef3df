"""Which document files become which output files."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from windrow.config import ConfigError
from windrow.corpus import detect, reader
from windrow.io import storage, streams
from windrow.io.storage import AnyPath, RemotePath
from windrow.jobs.inputs import sources

_PACKED = ("", *streams.PACKERS)


@dataclasses.dataclass(frozen=True, slots=True)
class FilePlan:
    """An output file and the input files that go into it, in order."""

    output: Path
    inputs: tuple[AnyPath, ...]

    @property
    def temporary(self) -> Path:
        return self.output.with_name(f".new.{self.output.name}")


def size(plans: Sequence[FilePlan]) -> int:
    """Return the bytes of all input files."""
    return sum(max(storage.state(str(path))[0], 0) for plan in plans for path in plan.inputs)


def crawls(plans: Sequence[FilePlan]) -> dict[AnyPath, str]:
    """Return the name of each input file's crawl; empty if fewer than two crawls are read. Addresses are of none."""
    files = [path for plan in plans for path in plan.inputs if isinstance(path, Path)]
    by_file: dict[AnyPath, Path] = {path: crawl.resolve() for path in files if (crawl := reader.crawl_of(path))}
    roots = list(dict.fromkeys(by_file.values()))
    names = sources.names(roots) if len(roots) > 1 else {}
    return {path: names[root] for path, root in by_file.items() if names}


def plan(inputs: Sequence[AnyPath], output: Path, format: str = "", force: bool = False) -> list[FilePlan]:
    """Return which input files become which output files. `force`: existing files may be replaced.

    One input file, or several and an output named like a document file, become one output file. Otherwise the output is
    a directory in which each file keeps its name; if several directories are read, below the name of its directory.
    """
    if not output.is_dir():
        streams.check_suffix(output)
    folders = [path.resolve() for path in inputs if isinstance(path, Path) and path.is_dir()]
    names = sources.names(folders) if len(folders) > 1 else {}
    pairs = [(file, _folder(path, names) / name) for path in inputs for file, name in _files(path)]
    if not pairs:
        suffixes = ", ".join(detect.SUFFIXES)
        where = ", ".join(map(str, inputs))
        raise ConfigError(
            f"there are no document files in {where}; their names end in {suffixes}, with or without .gz or .zst"
        )
    files = [path for path, _ in pairs]
    single = len(inputs) == 1 and files == [inputs[0]]
    if not output.is_dir() and (single or detect.by_name(output)):
        plans = [FilePlan(output, tuple(files))]
        _check_formats(files, format)
    else:
        plans = [FilePlan(output / name, (path,)) for path, name in pairs]
    _check_places(plans, inputs, output)
    existing = next((plan.output for plan in plans if plan.output.exists()), None)
    if existing and not force:
        raise ConfigError(f"{existing} already exists; name another output, or replace it with --force")
    return plans


def _folder(path: AnyPath, names: Mapping[Path, str]) -> Path:
    """Return the folder of an input's files in the output: of its own name, if several directories are read."""
    return Path(names.get(path.resolve(), "")) if isinstance(path, Path) else Path()


def _files(path: AnyPath) -> list[tuple[AnyPath, Path]]:
    """Return a file, or the files of a directory in order, each with its name in an output directory.

    Of a crawl's directory, these are the files of its corpus.
    """
    if not isinstance(path, Path):
        return _remote_files(path)
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


def _remote_files(path: RemotePath) -> list[tuple[AnyPath, Path]]:
    """Return the file at an address, or the document files below it."""
    if detect.by_name(path):
        return [(path, Path(path.name))]
    root = path.address.rstrip("/")
    paths = storage.find(root, tuple(f"{suffix}{packed}" for suffix in detect.SUFFIXES for packed in _PACKED))
    return [(RemotePath(path), Path(path.removeprefix(f"{root}/"))) for path in paths]


def _check_formats(files: Sequence[AnyPath], format: str) -> None:
    """Refuse to join files of several formats in one output."""
    formats = {format or detect.detect(path): path for path in files}
    if len(formats) > 1:
        differing = ", ".join(f"{path} is {name}" for name, path in formats.items())
        raise ConfigError(f"files of several formats cannot be joined ({differing}); name a directory as output")


def _check_places(plans: Sequence[FilePlan], inputs: Sequence[AnyPath], output: Path) -> None:
    """Refuse an output that overwrites an input, is written twice, or that the next run would read as input."""
    read = {path.resolve() for plan in plans for path in plan.inputs if isinstance(path, Path)}
    written = [plan.output.resolve() for plan in plans]
    for path in written:
        if path in read:
            raise ConfigError(f"{path} is an input and would be overwritten; name another output")
        if written.count(path) > 1:
            raise ConfigError(
                f"two input files have the name {path.name}; name their directories as input, or run the command twice"
            )
    for given in inputs:
        folder = given.resolve() if isinstance(given, Path) and given.is_dir() else None
        if folder in (output.resolve(), *output.resolve().parents):
            raise ConfigError(f"{output} lies in the input {given}; name an output outside of it")
