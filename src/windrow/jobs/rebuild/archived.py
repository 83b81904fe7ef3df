"""A corpus from archive files of any program: `windrow rebuild ARCHIVE… -o DIR`.

The pages of each file are refined alone, in parallel where an engine is there (refining.py). Then one owner
decides on them in the order of the files and of their records, so the result does not depend on the number of
processes.
"""

import asyncio
import contextlib
import functools
import glob
import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from windrow import decide, files, urls
from windrow.archive import Damage, Originals, revisits
from windrow.config import Config, ConfigError
from windrow.decide import Candidate, Decision
from windrow.io import storage
from windrow.jobs.engine.protocol import BadSource, Engine
from windrow.jobs.inputs import archives
from windrow.jobs.rebuild import judging, refining
from windrow.jobs.rebuild.refining import DamageRow, RefinedRow, Row
from windrow.takedown import Takedown

_TOLD = 1000  # damages that a summary names

Watch = Callable[[int], None]  # called with the number of pages so far


class ArchivesOptions(msgspec.Struct, frozen=True, kw_only=True):
    inputs: Sequence[str]  # files, directories, patterns, addresses
    output: Path
    config: str = ""  # a crawl.toml
    settings: tuple[str, ...] = ()
    takedown: Path | None = None


class ArchivesSummary(msgspec.Struct):
    """What a rebuild from archive files did."""

    files: int = 0
    pages: int = 0  # with status 2xx
    documents: int = 0
    kept: int = 0  # bytes of text
    listed: int = 0  # documents left out, because they are on the takedown list
    reasons: dict[str, int] = {}
    damaged: int = 0  # places that were skipped, or put right
    damages: list[Damage] = []  # the first of them
    bad: list[BadSource] = []  # files that gave nothing


def find(inputs: Sequence[str], base: str = "") -> list[str]:
    """Return the archive files that the inputs name; a pattern that the shell left as it is, is expanded here.

    `base`: where the relative paths of lists begin.
    """
    paths: list[str] = []
    for given in inputs:
        pattern = glob.has_magic(given) and not storage.is_remote(given) and not Path(given).exists()
        paths += (sorted(glob.glob(given, recursive=True)) if pattern else []) or [given]
    return archives.find(paths, base=base)


def corpus(options: ArchivesOptions, sources: Sequence[str], engine: Engine | None, watch: Watch) -> ArchivesSummary:
    """Write the corpus to output/corpus, which appears when it is complete. Without an engine, one file after another.

    ConfigError: no file could be read.
    """
    chosen = refining.options(options.config, options.settings)
    judging.without_links(chosen)
    listed = Takedown()
    if options.takedown is not None:
        listed.read(options.takedown)
    done = ArchivesSummary(files=len(sources))
    with judging.output(options.output) as temporary, _originals(sources, options.output, engine) as originals:
        rows = _rows(sources, (options.config, options.settings, originals), engine, done)
        asyncio.run(_write(rows, chosen, temporary, (done, listed, watch)))
        if len(done.bad) == len(sources):
            first = done.bad[0]
            raise ConfigError(f"no file could be read; the first, {first.source}: {first.problem}")
    return done


@contextlib.contextmanager
def _originals(sources: Sequence[str], output: Path, engine: Engine | None) -> Iterator[str]:
    """Yield the file with the places to which revisits point; "" if there are none.

    Its name is that of the output: a run that continues must find its own.
    """
    path = output.parent / f".{output.name}.originals"
    paths = [storage.place(source) for source in sources]
    originals = Originals(paths) if engine is None else Originals(paths, _places(sources, engine, path))
    if not originals:
        yield ""
        return
    originals.save(path)
    yield str(path)
    path.unlink(missing_ok=True)


def _places(sources: Sequence[str], engine: Engine, path: Path) -> dict[int, tuple[int, int]]:
    """Read the files for their revisits, in parallel; then, if there are any, for the records they point to."""
    from windrow.jobs.engine import results  # imports pyarrow, which only an engine needs

    answers = results.call(engine, "windrow.jobs.rebuild.refining:asked", sources)
    keys = sorted({key for answer in answers for key in msgspec.json.decode(answer, type=list[int])})
    if not keys:
        return {}
    saved = path.with_suffix(".revisits").absolute()
    files.write(saved, msgspec.msgpack.encode(keys))
    version = hashlib.sha256(saved.read_bytes()).hexdigest()[:16]
    offers = results.call(engine, "windrow.jobs.rebuild.refining:offered", sources, (str(saved), version))
    saved.unlink()
    return revisits.joined([msgspec.json.decode(offer, type=list[tuple[int, int]]) for offer in offers])


def _rows(
    sources: Sequence[str], job: tuple[str, tuple[str, ...], str], engine: Engine | None, done: ArchivesSummary
) -> Iterator[Row]:
    file, settings, originals = job
    if engine is None:
        for source in sources:
            try:
                yield from refining.rows(storage.place(source), file, settings, originals)
            except (ConfigError, OSError) as error:
                done.bad.append(BadSource(source, str(error)))
        return
    work = functools.partial(refining.batches, options=file, settings=settings, originals=originals)
    table = engine.map(sources, work, refining.schema())
    done.bad += table.bad
    for batch in table.batches():
        yield from (refining.decode(row) for row in batch.column(0).to_pylist())


async def _write(
    rows: Iterator[Row], options: Config, output: Path, context: tuple[ArchivesSummary, Takedown, Watch]
) -> None:
    done, listed, watch = context
    owner = judging.Owner(options)
    with judging.CorpusWriter(output, options, done, watch) as writer:
        for row in rows:
            if isinstance(row, DamageRow):
                _note(done, row)
            else:
                writer.add(*await _decide(row, owner, listed))
        writer.finish()


async def _decide(row: RefinedRow, owner: judging.Owner, listed: Takedown) -> tuple[Decision, bytes]:
    """Decide on a page. What the files of its origin say is not known: archives seldom have them.

    In a crawl a URL is requested once; archives hold many captures of one. Each counts as a page of its own, so that
    the second of two equal ones is a duplicate.
    """
    own = urls.key(f"{row.place.file} {row.place.offset} {row.id}")
    candidate = Candidate(
        url=msgspec.structs.replace(row.url, key=own),
        digest=row.digest,
        ip=row.ip,
        time=row.time,
        refined=row.refined,
        origin=None,
        truncated=row.truncated,
    )
    assert row.refined.verdict is not None
    decision = await owner.decide(candidate, row.refined.verdict)
    if decision.draft is None or (listed and listed.covers(row.url.text)):
        return decision, b""  # judged all the same: copies of it stay duplicates
    return decision, decide.line(decision, candidate, row.place, row.id)


def _note(done: ArchivesSummary, row: DamageRow) -> None:
    done.damaged += 1
    if len(done.damages) < _TOLD:
        done.damages.append(row.damage)
