"""Shards of a crawl on many machines: which one a domain belongs to, and what their logs say about the exchange.

A shard is a crawl directory of its own. The registered domain decides the shard, for ever: neither the number of shards
nor the hash may change during a crawl. `windrow.nodes` moves the links between shards; the frames of their logs say
which links were sent and how far the links of others were admitted. All of that is pure, but for the functions that
look at directories.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import xxhash

from windrow.config import ConfigError
from windrow.records import Exchanged, Frame, Task, Watermark

KEPT = 32  # incarnations that are remembered; a watermark of an older one counts as none, and all links are sent again


class JobIdentity(msgspec.Struct, frozen=True):
    """A crawl with shards, as far as everyone must know it; `cluster` has the whole record."""

    id: str
    name: str
    shards: int

    @property
    def title(self) -> str:
        """The name that an operator knows. `windrow crawl` makes a unique one of the name of the directory."""
        made = self.name.removesuffix(f"-{self.id}")
        return self.name if made == self.name else made.removeprefix("w")


class ShardIdentity(msgspec.Struct, frozen=True):
    """Whose shard a directory is."""

    job: JobIdentity
    shard: int = -1  # -1: of the directory that holds the shards


def identity(directory: Path) -> ShardIdentity | None:
    """Return whose shard a directory is; None if it is not of a crawl with shards."""
    path = directory / "job.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=ShardIdentity)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        fix = "restore it from another node, or from the directory of a shard"
        raise ConfigError(f"{path} cannot be read ({error}); {fix}") from None


def is_divided(directory: Path) -> bool:
    """Return whether a directory is that of a crawl with shards, which are crawl directories of their own."""
    return (directory / "shards").is_dir() and (directory / "job.json").exists()


def places(directory: Path) -> list[Path]:
    """Return the shards of a crawl that are here; the directory itself if the crawl is not divided."""
    if not is_divided(directory):
        return [directory]
    found = sorted(place for place in (directory / "shards").iterdir() if place.name.isdigit() and place.is_dir())
    if not found:
        raise ConfigError(f"{directory} has none of its shards; give a directory of a node that has some")
    return found


def whole(directory: Path) -> Path:
    """Return the directory of the crawl that a directory is a shard of; the directory itself if it is none."""
    above = directory.absolute().parent
    return above.parent if above.name == "shards" and is_divided(above.parent) else directory


def command(verb: str, directory: Path) -> str:
    """Return how the command begins with which an operator steers a crawl: all shards together, if it has some."""
    home, known = whole(directory), identity(directory)
    if known is not None and (home / "state.json").exists():
        return f"windrow cluster {verb} {known.job.name}"
    return f"windrow {verb} {home}"


def shard_of(domain: str, shards: int) -> int:
    """Return the number of the shard that a registered domain belongs to. This function never changes."""
    return xxhash.xxh3_64_intdigest(domain.encode("utf-8", "surrogatepass")) % shards


def split(tasks: Iterable[Task], shards: int) -> dict[int, list[Task]]:
    """Return the tasks of each shard, in their order. Most links of a page lead to few domains: one hash for each."""
    found: dict[int, list[Task]] = {}
    known: dict[str, list[Task]] = {}
    for task in tasks:
        domain = task.url.domain
        group = known.get(domain)
        if group is None:
            group = known[domain] = found.setdefault(shard_of(domain, shards), [])
        group.append(task)
    return found


def apply(exchanged: Exchanged, frame: Frame) -> Exchanged:
    """Return what the log says about the exchange after one more frame."""
    if not frame.incarnation and not frame.receivers and not frame.got:
        return exchanged
    changes: dict[str, object] = {}
    if frame.incarnation:
        begun = Watermark(frame.incarnation, frame.number)
        changes["incarnations"] = (*exchanged.incarnations, begun)[-KEPT:]
    if frame.receivers:
        changes["tails"] = {**exchanged.tails, **dict.fromkeys(frame.receivers, frame.number)}
    if frame.got:
        changes["got"] = {**exchanged.got, **frame.got}
    return msgspec.structs.replace(exchanged, **changes)


def translated(mark: Watermark, incarnations: Sequence[Watermark]) -> Watermark:
    """Return a watermark of an earlier incarnation as one of the latest. The log of a shard outlives its processes.

    A frame of an incarnation that the log does not know is in another log, which was lost: nothing of this one is there
    yet. A frame above the last one of its incarnation was lost with the end of the log, and its number given again.
    """
    latest = incarnations[-1].incarnation
    if mark.incarnation == latest:
        return mark
    for number, begun in enumerate(incarnations):
        if begun.incarnation == mark.incarnation:
            given_again = min(later.frame for later in incarnations[number + 1 :])
            return Watermark(latest, min(mark.frame, given_again - 1))
    return Watermark(latest, 0)
