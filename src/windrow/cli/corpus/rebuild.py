"""`windrow rebuild`: state/ from the log, a crawl's corpus from its archive, or a corpus from any archive files."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from windrow import config, log, sharding
from windrow.cli.archive import engines
from windrow.cli.archive.engines import EngineChoice
from windrow.cli.terminal import Json, Settings, TakedownList, counter, load, note, out, print_json, undivided
from windrow.config import ConfigError
from windrow.crawler.display import live
from windrow.io import storage
from windrow.units import count, size

if TYPE_CHECKING:
    from windrow.crawler.setup.rebuild import RebuiltStore
    from windrow.jobs.engine import Engine
    from windrow.jobs.rebuild.archived import ArchivesSummary
    from windrow.jobs.rebuild.ordered import Rebuilt

_SMALL = 1 << 20  # bytes of a log, about 2,500 pages: one process has read them before others have started
_TOLD = 20  # damages on the screen; --json has more


def rebuild(
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="A crawl's directory; with --output, archive files of any program (WARC, ARC, WET; plain, gzip or "
            "zstd), patterns, directories of them, addresses (s3://, https://), or lists of paths.",
            metavar="DIR",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Make a corpus from archive files, in OUT/corpus.", metavar="OUT"),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="Make the corpus again from the archive, in OUT/corpus, with crawl.toml and --set.", metavar="OUT"
        ),
    ] = None,
    options_file: Annotated[
        Path | None,
        typer.Option("--config", help="With --output: take the options of this crawl.toml.", metavar="FILE"),
    ] = None,
    base: engines.Base = "",
    takedown: TakedownList = None,
    workers: engines.Workers = 0,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Make state/ again from the log, the corpus from the archive, or a corpus from any archive files.

    An old state/ is moved aside. Of a crawl with shards, each is rebuilt alone, its corpus in OUT/NUMBER/corpus.
    """
    if output is not None and corpus is not None:
        raise ConfigError("--output and --corpus both name the place of the corpus; give one of them")
    directory = Path(inputs[0])
    crawl = len(inputs) == 1 and (sharding.is_divided(directory) or bool(log.names(directory / "log")))
    if output is not None and not (crawl and options_file is None):
        archives = _Archives(
            inputs=inputs, base=base, output=output, options_file=options_file, takedown=takedown, workers=workers
        )
        return _archives(archives, settings, as_json)
    if options_file is not None:
        raise ConfigError("--config is for archive files; give --output too")
    if len(inputs) > 1:
        raise ConfigError(f"{inputs[1]}: one crawl at a time is rebuilt; for archive files give --output too")
    if storage.is_remote(inputs[0]):
        raise ConfigError(f"{inputs[0]}: a corpus from an address needs a directory; name it with --output")
    target = corpus or output
    done: dict[str, Any] = {}
    for path in undivided([directory]):
        if target is None:
            done[path.name] = _state(path, load(path, settings), as_json)
        elif path == directory or log.names(log.home(path)):
            there = target if path == directory else target / path.name
            done[path.name] = _crawl(path, there, takedown, settings, workers)
            _print_crawl(done[path.name], there, as_json)
    if as_json:
        print_json(done if sharding.is_divided(directory) else done[directory.name])


def _crawl(directory: Path, target: Path, takedown: Path | None, settings: list[str] | None, workers: int) -> "Rebuilt":
    """Make the corpus of a crawl again; of a large one, in several processes."""
    from windrow.jobs.rebuild import ordered as job

    options = load(directory, settings)
    job.check(directory)
    several = workers > 1 or (workers == 0 and log.length(directory) >= _SMALL and engines.installed())
    if not several:
        with counter("pages") as watch:
            return job.corpus(directory, options, target, lambda so_far: watch(so_far.pages), takedown)
    from windrow.jobs.engine import beside, require

    require()
    from windrow.jobs.rebuild import crawled

    work = beside(target)
    with engines.opened(EngineChoice(workers=workers), work) as run, counter("pages") as watch:
        rows = crawled.rows(directory, options, tuple(settings or ()), run, work / "pages")
        return job.corpus(directory, options, target, lambda so_far: watch(so_far.pages), takedown, rows)


def _print_crawl(done: "Rebuilt", target: Path, as_json: bool) -> None:
    if as_json:
        return
    text = f"{done.documents:,} documents with {size(done.kept)} of text"
    out.print(f"{done.pages:,} pages read, {text} in {target / 'corpus'}")
    if done.listed or done.purged:
        out.print(f"{done.listed:,} documents on the takedown list left out, {done.purged:,} pages purged earlier")
    out.print(live.reasons(done.reasons))


def _state(directory: Path, options: config.Config, as_json: bool) -> "RebuiltStore":
    from windrow.crawler.setup import rebuild as job

    done = job.rebuild(directory, options)
    if done.aside and not as_json:
        out.print(f"the old state is in {done.aside}")
    if not as_json:
        out.print(f"{directory / 'state'} rebuilt from {done.frames:,} frames of the log")
    return done


class _Archives(NamedTuple):
    """The arguments of a rebuild from archive files."""

    inputs: list[str]
    base: str
    output: Path
    options_file: Path | None
    takedown: Path | None
    workers: int


def _archives(given: _Archives, settings: list[str] | None, as_json: bool) -> None:
    """Make a corpus from archive files. If one is damaged or gives nothing, it is named, and the exit code is 2."""
    from windrow.jobs.rebuild import archived as job

    options = job.ArchivesOptions(
        inputs=given.inputs,
        output=given.output,
        config=str(given.options_file) if given.options_file else "",
        settings=tuple(settings or ()),
        takedown=given.takedown,
    )
    sources = job.find(given.inputs, given.base)
    with _engine(given.output, given.workers, sources) as engine, counter("pages") as watch:
        done = job.corpus(options, sources, engine, watch)
    if as_json:
        print_json(done)
    else:
        _print(done, given.output)
    if done.damaged or done.bad:
        raise typer.Exit(2)


@contextlib.contextmanager
def _engine(output: Path, workers: int, sources: list[str]) -> "Iterator[Engine | None]":
    """Open the local engine if it has something to do at the same time, and its libraries are installed.

    Addresses always need it: of a file that breaks off while it is read, it takes no page.
    """
    from windrow.jobs.engine import beside, require

    if any(map(storage.is_remote, sources)):
        require()
    elif workers == 1 or len(sources) == 1 or not engines.installed():
        yield None
        return

    with engines.opened(EngineChoice(workers=workers), beside(output)) as run:
        yield run


def _print(done: "ArchivesSummary", output: Path) -> None:
    for bad in done.bad:
        note(f"windrow: {bad.source}: {bad.problem}; left out")
    for damage in done.damages[:_TOLD]:
        note(f"windrow: {damage}")
    if done.damaged > _TOLD:
        note(f"windrow: {done.damaged - _TOLD:,} more places were skipped or put right; --json names them")
    read = f"{count(done.files, 'file')} and {count(done.pages, 'page')} read"
    out.print(f"{read}, {count(done.documents, 'document')} with {size(done.kept)} of text in {output / 'corpus'}")
    if done.listed:
        out.print(f"{done.listed:,} documents on the takedown list left out")
    out.print(live.reasons(done.reasons))
