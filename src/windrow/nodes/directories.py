"""The directories of a crawl with shards. `windrow crawl --shards` makes all of them, a node those that it runs.

DIR/crawl.toml, seeds.txt   as for any crawl
DIR/job.json                the record of the job: its id and the number of its shards, which never changes
DIR/shards/000, 001, …      one crawl directory per shard, each with a copy of the record
"""

import hashlib
import time
from pathlib import Path

import msgspec

from windrow import config, files
from windrow.config import Config, ConfigError
from windrow.nodes.redis import job
from windrow.nodes.redis.job import ClusterJob

RECORD = "job.json"
SHARDS = "shards"
MOST = 256  # on one machine


class ShardRecord(msgspec.Struct, frozen=True):
    """Whose shard a directory is."""

    job: ClusterJob
    shard: int = -1  # -1: of the directory that holds the shards


def read(directory: Path) -> ShardRecord | None:
    """Return the record in a directory; None if there is none."""
    path = directory / RECORD
    try:
        return msgspec.json.decode(path.read_bytes(), type=ShardRecord)
    except FileNotFoundError:
        return None
    except (msgspec.MsgspecError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read ({error}); restore it from the directory of another shard") from None


def shards(directory: Path) -> list[Path]:
    """Return the directories of the shards of a crawl; none if it has no shards."""
    record = read(directory)
    if record is None or record.shard >= 0:
        return []
    return [place(directory, number) for number in range(record.job.shards)]


def place(directory: Path, number: int) -> Path:
    """Return the directory of a shard."""
    return directory / SHARDS / f"{number:03}"


def prepare(directory: Path, options: Config, count: int = 0) -> list[Path]:
    """Make what is missing of the directories of the shards, and return them. count: 0 for as many as there are."""
    existing = read(directory)
    if existing is None:
        existing = _begin(directory, options, count)
    elif count not in (0, existing.job.shards):
        raise ConfigError(
            f"{directory} has {existing.job.shards} shards, and their number cannot change; leave --shards out"
        )
    for number in range(existing.job.shards):
        prepare_shard(directory, ShardRecord(existing.job, number), options, existing.job.shards)
    return shards(directory)


def _begin(directory: Path, options: Config, count: int) -> ShardRecord:
    if not 1 <= count <= MOST:
        raise ConfigError(f"--shards {count} cannot be used; give 1 to {MOST}, for example the number of cores")
    if any((directory / "log").glob("*.jsonl.gz")):
        raise ConfigError(f"{directory} was crawled without shards; leave --shards out, or begin in a new directory")
    name = "".join(char if char.isalnum() or char in "._-" else "-" for char in directory.resolve().name)[:40]
    text = config.dump(options, changed=True)
    record = job.make(f"w{name}", count, hashlib.sha256(text.encode()).hexdigest()[:16], time.time())
    shards = ShardRecord(msgspec.structs.replace(record, name=f"{record.name}-{record.id}"))
    files.write(directory / RECORD, msgspec.json.encode(shards) + b"\n")
    return shards


def prepare_shard(directory: Path, record: ShardRecord, options: Config, beside: int) -> Path:
    """Write the options and seeds of a shard, which may have changed since the last run, as those of any crawl.

    beside: how many shards share this machine.
    """
    home = place(directory, record.shard)
    existing = read(home)
    if existing is not None and (existing.job.id, existing.shard) != (record.job.id, record.shard):
        raise ConfigError(f"{home} is a shard of another crawl ({existing.job.name}); move it away")
    home.mkdir(parents=True, exist_ok=True)
    options = _divided(options, record, directory, beside)
    files.write(home / "crawl.toml", config.dump(options, changed=True).encode())
    if not Path(options.crawl.seeds).is_absolute():
        (home / options.crawl.seeds).parent.mkdir(parents=True, exist_ok=True)
        files.write(home / options.crawl.seeds, (directory / options.crawl.seeds).read_bytes())
    files.write(home / RECORD, msgspec.json.encode(record) + b"\n")
    return home


def _divided(options: Config, record: ShardRecord, directory: Path, beside: int) -> Config:
    """Return the options of one shard: names of its own, and its part of what a machine has only once.

    The table of n-grams is part of what a shard remembers: its size is the same on every machine.
    """
    crawl = options.crawl
    settings = [
        f"crawl.node={crawl.node}s{record.shard:03}",
        f"crawl.in_flight={max(32, crawl.in_flight // beside)}",
        f"crawl.in_flight_bytes={max(8 << 20, crawl.in_flight_bytes // beside)}",
        f"dedup.table_bytes={max(64 << 20, options.dedup.table_bytes // record.job.shards)}",
    ]
    return config.change(options, settings, directory)
