"""The corpora that a command reads: each crawl, or other directory or file, is a source with a name of its own."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from windrow import sharding as division
from windrow.config import ConfigError
from windrow.corpus import reader
from windrow.corpus.reader import ShardFile
from windrow.jobs.inputs.committed import Lengths
from windrow.judge.language import codes


class CorpusSource(msgspec.Struct, frozen=True):
    name: str  # of the crawl's directory, or of the file; with those above it if two sources have the same name
    crawl: Path | None  # the directory; None: the input is not of a crawl
    shards: tuple[ShardFile, ...]
    root: Path  # the directory of the crawl, or the input itself: it may have a takedown list

    @property
    def size(self) -> int:
        """Return the bytes to read."""
        return sum(shard.length for shard in self.shards)


def find(inputs: Sequence[Path], languages: Sequence[str] = ()) -> list[CorpusSource]:
    """Return the sources in the order of the inputs, without the shards of languages that are not wanted.

    Inputs of the same crawl are one source. A shard may be without documents, if another one has some. `languages`: ISO
    639-3 codes; empty: all.
    """
    _check(inputs)
    length = Lengths()
    by_root: dict[Path, list[ShardFile]] = {}
    crawls: dict[Path, Path | None] = {}
    holds = False
    for path in inputs:
        crawl = reader.crawl_of(path)
        root = (crawl or path).resolve()
        crawls[root] = crawl
        shards = reader.find(path, length, may_be_empty=crawl is not None and division.identity(crawl) is not None)
        holds = holds or bool(shards)
        by_root.setdefault(root, []).extend(shard for shard in shards if not crawl or _wanted(shard, languages))
    if not holds:
        raise ConfigError(f"none of these shards has documents yet: {', '.join(map(str, inputs))}")
    named = names(list(by_root))
    return [CorpusSource(named[root], crawls[root], tuple(shards), root) for root, shards in by_root.items()]


def _wanted(shard: ShardFile, languages: Sequence[str]) -> bool:
    folder = codes.find(shard.path.parent.name)
    if not languages or folder in (None, codes.UNKNOWN):
        return True
    return any(codes.covers(code, folder or "") for code in languages)


def names(roots: Sequence[Path]) -> dict[Path, str]:
    """Name directories and files, given as absolute paths, by the ends of their paths.

    A name has as many parts of the path as make the names differ. A file is named without its suffixes.
    """
    parts = {root: (*root.parent.parts, root.name.partition(".")[0] if root.is_file() else root.name) for root in roots}
    for depth in range(1, max(map(len, parts.values()), default=0) + 1):
        names = {root: "/".join(part.strip("/") for part in parts[root][-depth:]) for root in roots}
        if len(set(names.values())) == len(roots):
            return names
    return {root: str(root).strip("/") for root in roots}


def _check(inputs: Sequence[Path]) -> None:
    """Refuse inputs by which a document would be read twice."""
    for number, path in enumerate(inputs):
        own = path.resolve()
        for other in inputs[:number]:
            if own == other.resolve() or other.resolve() in own.parents or own in other.resolve().parents:
                raise ConfigError(f"{path} and {other} contain the same files; name each of them once")
