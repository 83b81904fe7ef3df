"""The data directory of a node: its id, and a copy of each job, from which a node puts back what Redis has lost.

DIR/node.json                          the id of this directory; nodes on a shared file system share it
DIR/JOB/job.json, crawl.toml, seeds.txt   as in the directory of any crawl with shards
DIR/JOB/state.json, orders.jsonl       what operators want of the job
DIR/JOB/shards/NNN                     the shards that this directory has
DIR/JOB/aside/NNN.1, …                 shards that were begun again elsewhere while this directory was away
"""

import dataclasses
import os
import secrets
from pathlib import Path

import msgspec

from windrow import config, files
from windrow.config import Config, ConfigError
from windrow.nodes import directories, limits
from windrow.nodes.directories import ShardRecord
from windrow.nodes.redis.job import ClusterJob
from windrow.nodes.redis.order import ClusterOrder
from windrow.nodes.redis.registry import JobSpec
from windrow.nodes.redis.state import JobState

HOME, STATE, ORDERS, SEEDS, ASIDE = "node.json", "state.json", "orders.jsonl", "seeds.txt", "aside"


class _Home(msgspec.Struct):
    home: str


class LocalJob(msgspec.Struct):
    """A job as a data directory knows it."""

    directory: Path
    record: ClusterJob
    state: JobState
    orders: list[ClusterOrder]

    @property
    def spec(self) -> JobSpec:
        options, seeds = [(self.directory / name).read_text("utf-8") for name in ("crawl.toml", SEEDS)]
        return JobSpec(options, seeds)

    @property
    def last(self) -> int:
        """The number of the last order."""
        return self.orders[-1].number if self.orders else 0

    def options(self) -> Config:
        """Return the options of the job's shards.

        Its seeds are a file of this directory, whatever it was called before, and its limits count all shards.
        """
        options = config.load(self.directory / "crawl.toml")
        return dataclasses.replace(options, crawl=dataclasses.replace(limits.without(options.crawl), seeds=SEEDS))

    def place(self, shard: int) -> Path:
        return directories.place(self.directory, shard)

    def shards(self) -> list[int]:
        """Return the shards that this directory has."""
        try:
            names = [entry.name for entry in os.scandir(self.directory / directories.SHARDS) if entry.is_dir()]
        except (FileNotFoundError, NotADirectoryError):
            return []
        numbers = [int(name) for name in names if name.isdigit() and name == self.place(int(name)).name]
        return sorted(number for number in numbers if number < self.record.shards)

    def set_aside(self, shard: int) -> Path:
        """Move the directory of a shard away, because another data directory has the shard now."""
        home = self.directory / ASIDE
        home.mkdir(exist_ok=True)
        target = next(path for number in range(1, 10000) if not (path := home / f"{shard:03}.{number}").exists())
        self.place(shard).rename(target)
        return target

    def change(self, state: JobState) -> None:
        self.state = state
        _replace(self.directory / STATE, msgspec.json.encode(state) + b"\n")

    def extend(self, orders: list[ClusterOrder]) -> None:
        self.orders = [*self.orders, *orders]
        _replace(self.directory / ORDERS, b"".join(msgspec.json.encode(order) + b"\n" for order in self.orders))


def home(directory: Path) -> str:
    """Return the id of a data directory; make both if they are missing. ConfigError if it cannot be used."""
    path = directory / HOME
    if not path.exists():
        _check_free(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            own = directory / f"{HOME}.{secrets.token_hex(4)}"
            files.write(own, msgspec.json.encode(_Home(secrets.token_hex(8))) + b"\n")
            if not path.exists():  # another node may have been quicker
                own.rename(path)
            own.unlink(missing_ok=True)
        probe = directory / f".{secrets.token_hex(4)}"
        probe.touch()
        probe.unlink()
        return msgspec.json.decode(path.read_bytes(), type=_Home).home
    except OSError as error:
        why = "it is a file" if directory.is_file() else error.strerror
        raise ConfigError(f"{directory} cannot be used for shards ({why}); give another --dir") from None
    except ValueError as error:
        raise ConfigError(f"{path} cannot be read ({error}); another program wrote it; give another --dir") from None


def _check_free(directory: Path) -> None:
    """Refuse the directory of a crawl or of a job, in which a node would begin a second tree."""
    if (directory / directories.RECORD).exists():
        above = directory.absolute().parent
        raise ConfigError(
            f"{directory} is the directory of a job; give the data directory that it is in: --dir {above}"
        )
    if (directory / "crawl.toml").exists():
        raise ConfigError(f"{directory} is the directory of a crawl; give another --dir, new or of a node")


def check_home(directory: Path, home: str) -> None:
    """Refuse a data directory that is not the one with this id: its disk may not be mounted any more."""
    try:
        written = msgspec.json.decode((directory / HOME).read_bytes(), type=_Home).home
    except (FileNotFoundError, ValueError):
        written = ""
    if written != home:
        raise ConfigError(f"{directory} is not the directory that the node began with; is its disk mounted?")


def read(directory: Path) -> dict[str, LocalJob]:
    """Return the jobs of a data directory, by name. A directory that is no job, or only a part of one, is left out."""
    copies = {}
    for path in sorted(directory.glob(f"*/{STATE}")):
        record = directories.read(path.parent)
        if record is None or record.shard >= 0:
            continue
        try:
            state = msgspec.json.decode(path.read_bytes(), type=JobState)
            lines = (path.parent / ORDERS).read_bytes().splitlines() if (path.parent / ORDERS).exists() else []
            orders = [msgspec.json.decode(line, type=ClusterOrder) for line in lines]
        except ValueError as error:
            raise ConfigError(f"the files of {path.parent} cannot be read ({error}); move it away") from None
        copies[record.job.name] = LocalJob(path.parent, record.job, state, orders)
    return copies


def write(directory: Path, record: ClusterJob, spec: JobSpec, state: JobState) -> LocalJob:
    """Keep a copy of a job that is new here."""
    copy = directory / record.name
    shards = directories.read(copy)
    if shards is not None and shards.job.id != record.id:
        raise ConfigError(f"{copy} is of an earlier job of the name {record.name!r}; move it away")
    copy.mkdir(exist_ok=True)
    (copy / directories.SHARDS).mkdir(exist_ok=True)
    _replace(copy / "crawl.toml", spec.options.encode())
    _replace(copy / SEEDS, spec.seeds.encode())
    _replace(copy / directories.RECORD, msgspec.json.encode(ShardRecord(record)) + b"\n")
    made = LocalJob(copy, record, state, [])
    made.change(state)
    return made


def _replace(path: Path, data: bytes) -> None:
    """Write a file, complete or not at all. Nodes on a shared file system may write the same one at the same time."""
    own = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    files.write(own, data)
    own.replace(path)
    files.sync_directory(path.parent)
