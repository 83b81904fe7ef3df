"""Makes a job of options and seeds, after the same checks as for a crawl on one machine.

A node gets the options and the seeds through Redis, and nothing else. Files that options name, such as models, must be
on every node under the same absolute path; a path relative to crawl.toml is refused, because it would mean another file
on each machine.
"""

import hashlib
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from windrow import config
from windrow.config import Config, ConfigError
from windrow.crawler.setup import checks, seedlist
from windrow.frontier import seeds
from windrow.frontier.policy.scope import Scope
from windrow.nodes import limits
from windrow.nodes.redis import job
from windrow.nodes.redis.job import ClusterJob
from windrow.nodes.redis.registry import JobSpec
from windrow.units import size

LARGEST = 64 << 20  # bytes of seeds that one job or one order may carry through Redis
_SEEDS = "seeds.txt"  # in the directory of a job on a node


class NewJob(msgspec.Struct, frozen=True):
    """A job that may be created."""

    record: ClusterJob
    spec: JobSpec
    seeds: int
    limits: dict[str, int | float]
    notes: list[str]  # for the operator


def make(name: str, path: Path, settings: Sequence[str], source: str, shards: int) -> NewJob:
    """Return a new job; ConfigError if its options or seeds cannot be used.

    path: crawl.toml, or its directory. source: the seeds file; empty: the one that the options name.
    """
    path = path / "crawl.toml" if path.is_dir() else path
    record = job.make(name, shards, "", time.time())  # first: a wrong name is refused before files are read
    options = config.load(path, settings)
    files = _files(path, settings)
    checks.check_judges(options)
    source = source or str(path.parent / options.crawl.seeds)
    given_seeds = seeds.read(source)
    tasks = seeds.tasks(given_seeds)
    checks.check_contact(options, tasks)
    notes: list[str] = []
    seedlist.choose(tasks, Scope(options.scope), options, {}, notes.append)
    if files:
        notes.append(f"every node must have these files, under the same paths: {', '.join(files)}")
    text = config.dump(config.change(options, [f"crawl.seeds={_SEEDS}"], path.parent), changed=True)
    lines = "".join(url.text + "\n" for url in given_seeds)
    check_size(lines, source)
    record = msgspec.structs.replace(record, options=hashlib.sha256(text.encode()).hexdigest()[:16])
    return NewJob(record, JobSpec(text, lines), seeds=len(given_seeds), limits=limits.of(options.crawl), notes=notes)


def check_size(lines: str, source: str) -> None:
    """Refuse more seeds than should pass through Redis."""
    if len(lines.encode()) > LARGEST:
        raise ConfigError(
            f"{source} has {size(len(lines.encode()))} of URLs, and Redis carries at most {size(LARGEST)} at once; "
            "split it, and give the rest with: windrow cluster add"
        )


def _files(path: Path, settings: Sequence[str]) -> list[str]:
    """Return the files that nodes must have; refuse those whose path would mean another file on each machine."""
    files = config.named_files(path, settings)
    for file in files:
        if not file.as_absolute:
            raise ConfigError(
                f"option '{file.option}' names a file relative to crawl.toml, and nodes get no files of this machine; "
                f"copy it to the same place on every node, and write its absolute path, such as {file.path}"
            )
    return sorted({file.path for file in files})


def options_of(spec: JobSpec) -> Config:
    """Return the options of a job."""
    with tempfile.TemporaryDirectory(prefix="windrow-") as made:
        path = Path(made, "crawl.toml")
        path.write_text(spec.options, "utf-8")
        return config.load(path)
