"""The shards of a merge: which files they have, in which order, and by which rule their text is compared."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import msgspec

from windrow import config
from windrow.config import ConfigError, DedupOptions
from windrow.corpus import reader, shards
from windrow.jobs.inputs import committed, sources

FILE = "merge.json"  # in the output: says from which shards it was made
_MEMORY = "table_bytes"  # the one option of [dedup] that may differ: machines have different amounts of memory


class MergeFile(msgspec.Struct, frozen=True):
    """A file of a shard's corpus."""

    shard: int
    path: str
    length: int  # bytes that are committed
    output: str  # relative to the output


class MergeShard(msgspec.Struct, frozen=True):
    """One crawl directory."""

    directory: Path
    name: str  # of which its documents are, see DocumentPlace; "" if it is the only one
    files: tuple[MergeFile, ...]
    archives: dict[str, int]  # archive file -> rank: with the offset, this is the order of `seq`


def find(inputs: Sequence[Path]) -> list[MergeShard]:
    """Return the shards in the order of the inputs."""
    roots: list[Path] = []
    for path in inputs:
        _check(path)
        if path.resolve() in roots:
            raise ConfigError(f"{path} is named twice; name each shard once")
        roots.append(path.resolve())
    names = sources.names(roots) if len(roots) > 1 else {}
    return [_shard(number, root, names.get(root, "")) for number, root in enumerate(roots)]


def _check(path: Path) -> None:
    if not path.is_dir():
        raise ConfigError(f"{path} does not exist, or is not a directory; name the directory of a crawl")
    if (path / FILE).is_file():
        raise ConfigError(f"{path} is itself the output of a merge; name its shards, which its {FILE} lists")
    if not (path / "crawl.toml").is_file():
        raise ConfigError(f"{path} has no crawl.toml, so it is not a crawl's directory; name another")


def _shard(number: int, directory: Path, name: str) -> MergeShard:
    lengths = committed.lengths(directory)
    if lengths is None:
        raise ConfigError(f"{directory} has no log, so nothing is committed there; make it with: windrow crawl")
    root = directory / shards.DIRECTORY
    names = sorted(file for file in lengths if file.startswith(f"{shards.DIRECTORY}/") and lengths[file])
    measured = reader.measured([directory / file for file in names], root, lambda path: lengths[_relative(path)])
    files = [
        MergeFile(number, str(file.path), file.length, _output(number, file.path)) for file in measured if file.length
    ]
    # The log names a file when it is committed first, so the names are in the order in which the files were begun.
    archives = {file: rank for rank, file in enumerate(lengths)}
    return MergeShard(directory, name, tuple(files), archives)


def _relative(path: Path) -> str:
    return "/".join(path.parts[-3:])


def _output(shard: int, path: Path) -> str:
    """Two shards may have files of the same name. The names of one language sort in the order of the shards."""
    return f"{shards.DIRECTORY}/{path.parent.name}/{shard:05}-{path.name}"


def dedup_options(shards: Sequence[MergeShard], settings: Sequence[str] = ()) -> DedupOptions:
    """Return the rule by which the shards were crawled, changed by the settings; refuse shards with different rules."""
    each = [config.load(shard.directory / "crawl.toml", settings).dedup for shard in shards]
    for shard, other in zip(shards, each, strict=True):
        for field in dataclasses.fields(DedupOptions):
            first, own = getattr(each[0], field.name), getattr(other, field.name)
            if own != first and field.name != _MEMORY:
                name = f"dedup.{field.name}"
                differing = f"{shards[0].directory} has {name} = {first}, {shard.directory} has {own}"
                raise ConfigError(f"{differing}; choose one for the merge, for example with --set {name}={first}")
    return dataclasses.replace(each[0], table_bytes=max(options.table_bytes for options in each))
