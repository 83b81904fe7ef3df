"""What commands share: arguments, consoles, JSON and progress bars."""

import contextlib
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from windrow import config, sharding, units
from windrow.cli import completion
from windrow.cli.text import lines
from windrow.config import Config, ConfigError
from windrow.sharding import JobIdentity

Item = TypeVar("Item")
Row = tuple[str, str, str]  # label, value, note
Section = tuple[str, list[Row]]  # heading, rows

ORDERS = ("pause", "resume", "stop", "block", "unblock", "add", "set", "retry")
# Commands that work on a crawl with shards as a whole.
WHOLE = ("crawl", "status", "list", "store", "publish", "purge", "why", *ORDERS)


def undivided(paths: Iterable[Path], whole: str = "") -> list[Path]:
    """Return crawl directories, with those of its shards in place of a crawl that is divided into them.

    A node has only the shards that it has run. A note names those that are in none of the directories; `whole`: refuse
    them instead, with this hint.
    """
    places: list[Path] = []
    divided: dict[str, JobIdentity] = {}  # crawls that are named as a whole
    here: dict[str, dict[Path, int]] = {}  # by crawl: its shards, those that are named themselves too
    for path in paths:
        parts = sharding.places(path)
        places += parts
        identity = sharding.identity(path)
        if identity is None:
            continue
        if parts != [path]:
            divided[identity.job.id] = identity.job
        numbers = [int(shard.name) for shard in parts] if parts != [path] else [identity.shard]
        here.setdefault(identity.job.id, {}).update(zip((shard.resolve() for shard in parts), numbers, strict=True))
    for job in divided.values():
        _check_parts(job, list(here[job.id].values()), whole)
    return places


def _check_parts(job: JobIdentity, numbers: list[int], whole: str) -> None:
    missing = units.ranges(set(range(job.shards)) - set(numbers))
    twice = units.ranges({number for number in numbers if numbers.count(number) > 1})
    if missing:
        text = f"of the {job.shards} shards of {job.title}, these are not here: {missing}"
        if whole:
            raise ConfigError(f"{text}; {whole}")
        note(f"{text}; they are on other machines, or have not begun")
    if twice:
        note(f"these shards of {job.title} are given twice, because they moved to an empty directory: {twice}")


def _undivided(context: typer.Context, directory: Path) -> Path:
    if context.info_name not in WHOLE and sharding.is_divided(directory):
        raise ConfigError(
            f"{directory} is divided into shards, and each of them is a crawl directory: give one of those in "
            f"{directory / 'shards'}"
        )
    return directory


Directory = Annotated[Path, typer.Argument(help="The crawl's directory.", metavar="DIR", callback=_undivided)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Metrics = Annotated[
    str,
    typer.Option(
        "--metrics",
        help="Serve metrics for Prometheus at this port; without HOST at 127.0.0.1 only.",
        metavar="[HOST:]PORT",
        show_default=False,
    ),
]
TakedownList = Annotated[
    Path | None,
    typer.Option(
        "--takedown",
        help="File of URLs, hosts and domains to leave out, besides the takedown.txt of crawls.",
        metavar="FILE",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Override an option for this run: fetch.delay=10. Repeatable.",
        metavar="NAME=VALUE",
        autocompletion=completion.settings,
    ),
]

out = Console(highlight=False, soft_wrap=True, markup=False)


class _Notes(Console):
    """A console that says nothing more when nobody reads it. The library's own would end the process at once, also that
    of a shard that stops cleanly because its supervisor was killed."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


def notes() -> Console:
    """Return a console on standard error, made when it is needed: a test may replace the stream."""
    return _Notes(stderr=True, highlight=False, soft_wrap=True, markup=False)


def note(text: str) -> None:
    """Print a line on standard error; above a bar, which replaces the stream meanwhile."""
    lines.note(text)


def load(directory: Path, overrides: list[str] | None = None) -> Config:
    """Return the options of a crawl directory."""
    if not (directory / "crawl.toml").exists():
        fix = f"make one with: windrow init {directory} --seeds FILE --contact URL"
        raise ConfigError(f"{directory} has no crawl.toml; {fix}")
    return config.load(directory / "crawl.toml", overrides or [])


def load_or_default(directory: Path) -> Config:
    """Return the options of a crawl; the defaults if only its log is left."""
    return load(directory) if (directory / "crawl.toml").exists() else config.make((), directory)


def number(text: str, option: str) -> int:
    """Return the number that an option has, such as 10M; 0 if it is not given."""
    if not text:
        return 0
    try:
        return units.number(text)
    except (ValueError, OverflowError):
        raise ConfigError(f"{option} {text!r} is not a number; write 300K, 10M or 1500000") from None


def command(*words: object) -> str:
    """Return a command of Windrow as it must be typed here: with the path of the program if a shell would not find it,
    and with quotes where a shell needs them."""
    return shlex.join([*_program(), *map(str, words)])


def _program() -> list[str]:
    own = Path(sys.argv[0])
    if own.name == "__main__.py":  # python -m windrow.cli
        return [sys.executable, "-m", "windrow.cli"]
    program = shutil.which("windrow")
    if own.name == "windrow" and own.exists() and (program is None or not own.samefile(program)):
        return [sys.argv[0]]
    return ["windrow"]


def print_sections(sections: Iterable[Section]) -> None:
    """Print a table with headings. The columns of all sections are aligned."""
    shown = list(sections)
    rows = [row for _, section in shown for row in section]
    label = max([len(row[0]) for row in rows], default=0)
    value = max([len(row[1]) for row in rows], default=0)
    for heading, entries in shown:
        out.print(f"\n{heading}")
        for name, number, note in entries:
            out.print(f"  {name:<{label}}  {number:>{value}}  {note}".rstrip())


def print_json(record: Any) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(record)).decode() + "\n")


def print_json_line(record: Any) -> None:
    sys.stdout.write(msgspec.json.encode(record).decode() + "\n")


@contextlib.contextmanager
def progress(name: str, total: int, hidden: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a bar of bytes on standard error, if that is a terminal; yield the function that advances it."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with _bar(*columns, hidden=hidden) as bar:
        task = bar.add_task(name, total=total)
        yield lambda count: bar.advance(task, count)


@contextlib.contextmanager
def counter(name: str) -> Iterator[Callable[[int], None]]:
    """Show a count on standard error, if that is a terminal; yield the function that sets it."""
    with _bar(TextColumn("{task.completed:,.0f} " + name)) as bar:
        task = bar.add_task(name, total=None)
        yield lambda count: bar.update(task, completed=count)


@contextlib.contextmanager
def counted(items: Iterable[Item], name: str) -> Iterator[Iterable[Item]]:
    """Show how many items have been read, on standard error, if that is a terminal."""
    with _bar(TextColumn("{task.completed:,.0f} " + name), TimeElapsedColumn()) as bar:
        yield bar.track(items, total=None)


def _bar(*columns: ProgressColumn, hidden: bool = False) -> Progress:
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal)
