"""`windrow index`: find the files, index those that are new, merge."""

import functools
import hashlib
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from windrow import files
from windrow.archive import Damage
from windrow.io.storage import AnyPath
from windrow.jobs.engine import Engine
from windrow.jobs.index import cdx, manifest, merge
from windrow.jobs.index.cdx import CdxPlan
from windrow.jobs.index.manifest import IndexedFile, Manifest
from windrow.jobs.index.sources import IndexInput, IndexSource

Opened = Callable[[Path], AbstractContextManager[Engine]]  # from the directory of unfinished work to an engine

PLAN, WORK = "plan.json", "work"  # while a run is under way


class IndexOptions(msgspec.Struct, frozen=True, kw_only=True):
    output: Path
    takedown: Path | None = None  # a list besides those of the crawls
    check: bool = False  # whether every record is unpacked and compared with its digest


class IndexSummary(msgspec.Struct, kw_only=True):
    output: str
    files: int = 0  # archive files in the index
    read: int = 0  # of these, read by this run
    captures: int = 0
    bytes: int = 0  # of the archive files that were read
    damaged: dict[str, list[str]] = {}  # archive file -> what is wrong with it, place by place


def run(options: IndexOptions, inputs: IndexInput, opened: Opened) -> IndexSummary:
    """Bring an index up to date. An engine is opened only if there is something to read."""
    options.output.mkdir(parents=True, exist_ok=True)
    extra = options.takedown
    lists = manifest.fingerprint(inputs.crawls, extra)
    before = manifest.read(options.output) or Manifest()
    reusable = before.known() if before.takedown == lists and not options.check else {}
    kept = {source.name: reusable[source.name] for source in inputs.sources if _same(source, reusable, options)}
    todo = tuple(source for source in inputs.sources if source.name not in kept)
    plan = CdxPlan(
        output=str(options.output.absolute()),
        crawls=tuple(map(str, inputs.crawls)),
        takedown=str(extra.absolute()) if extra is not None else "",
        check=options.check,
        sources=todo,
    )
    made = _index(plan, lists, options, opened) if todo else {}
    indexed = tuple(kept.get(source.name) or made[source.name] for source in inputs.sources)
    now = Manifest(base=_relative(inputs.base, options.output), takedown=lists, files=indexed)
    if todo or not before.merged or before.files != indexed:
        manifest.write(options.output, now)
        merge.merge(options.output, indexed)
        _sweep(options.output, indexed)
        manifest.write(options.output, msgspec.structs.replace(now, merged=True))
    return IndexSummary(
        output=str(options.output),
        files=len(indexed),
        read=len(todo),
        captures=sum(file.captures for file in indexed),
        bytes=sum(max(source.length, 0) for source in todo),
        damaged={file.name: problems for file in indexed if (problems := file.problems())},
    )


def _same(source: IndexSource, indexed: Mapping[str, IndexedFile], options: IndexOptions) -> bool:
    """Return whether a file is in the index as it is now."""
    file = indexed.get(source.name)
    if file is None or not cdx.file(options.output, source.name).exists():
        return False
    return (file.length, file.crawl, file.subset, file.segment) == (
        source.length,
        source.crawl,
        source.subset,
        source.segment,
    )


def _index(plan: CdxPlan, lists: str, options: IndexOptions, opened: Opened) -> dict[str, IndexedFile]:
    """Run the job over the files of the plan; return what the manifest says of each."""
    written = msgspec.json.encode(plan)
    path = options.output / PLAN
    files.write(path, written)
    settings = msgspec.json.encode((plan.crawls, plan.takedown, plan.check, lists))
    job = functools.partial(cdx.index, plan=str(path.absolute()), version=hashlib.sha256(settings).hexdigest()[:16])
    with opened(options.output / WORK) as run:
        done = run.map([source.path for source in plan.sources], job, cdx.SCHEMA)
        rows = {row["path"]: row for batch in done.batches() for row in batch.to_pylist()}
        bad = {bad_source.source: bad_source.problem for bad_source in done.bad}
    path.unlink()
    return {source.name: _entry(source, rows.get(source.path, {}), bad.get(source.path, "")) for source in plan.sources}


def _entry(source: IndexSource, row: Mapping[str, int | str], problem: str) -> IndexedFile:
    return IndexedFile(
        name=source.name,
        length=source.length,
        crawl=source.crawl,
        subset=source.subset,
        segment=source.segment,
        captures=int(row.get("captures", 0)),
        problem=problem,
        damaged=int(row.get("damaged", 0)),
        damages=msgspec.json.decode(str(row.get("damages", "[]")), type=tuple[Damage, ...]),
    )


def _relative(base: AnyPath, output: Path) -> str:
    """Return where the archive files are. A crawl's directory that is moved as a whole keeps a valid index."""
    if not isinstance(base, Path):
        return str(base)
    base, output = base.resolve(), output.resolve()
    return os.path.relpath(base, output) if output.is_relative_to(base) else str(base)


def _sweep(output: Path, indexed: tuple[IndexedFile, ...]) -> None:
    """Remove the CDXJ files of archive files that are no longer there."""
    wanted = {cdx.file(output, file.name) for file in indexed}
    for path in (output / "cdx").rglob("*.cdx.gz"):
        if path not in wanted:
            path.unlink()
