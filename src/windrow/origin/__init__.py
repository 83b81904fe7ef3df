"""Everything an origin (scheme, host and port) says about how it may be crawled and how its pages may be used.

An origin speaks through files at well-known paths. `FILES` is the table of those that Windrow requests; each row
names the path, says when the file is wanted, and reads the response. A new well-known file costs one module and one
row.

The frontier keeps one `Origin` record per origin and puts it into each lease. `robots.txt` comes first: its rules,
its delay and its expiry are fields of the record, and while it is unavailable the origin is closed. Every other file
is an `OriginFile` in `Origin.files`. The frontier requests the files of `before_pages` before the first page of an
origin, and again whenever it fetches robots.txt again. A file that a redirect moved to another host is a task for
that host, while the origin waits.

Nothing here sends a request or keeps state: a reader turns a response into a record. `learn` is the one place where the
response to a task of kind FILE gets its meaning.
"""

from collections.abc import Callable

import msgspec

from windrow import urls
from windrow.config import Config, FetchOptions
from windrow.origin import robots, soft404, tdmrep
from windrow.records import Capture, Failure, Kind, Origin, OriginFile, Signal, Task, Url

ROBOTS = "robots"
SOFT_404 = "soft404"


class WellKnown(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table: one file that an origin may have."""

    path: Callable[[str], str]  # the path, given the name of the origin
    wanted: Callable[[Config], bool]
    limit: Callable[[FetchOptions], int]  # bytes of the body that are read
    read: Callable[[OriginFile | None, Capture | Failure], OriginFile] | None = (
        None  # the file before, and the response
    )
    signals: Callable[[str, str], tuple[Signal, ...]] | None = None  # what the text says about the use of a path
    before_pages: bool = True  # request it before the first page; False: the driver requests it when it needs it
    scoped: bool = True  # do not follow its redirects out of the crawl's scope


FILES: dict[str, WellKnown] = {
    ROBOTS: WellKnown(
        path=lambda _: "/robots.txt",
        wanted=lambda _: True,
        limit=lambda fetch: max(fetch.max_bytes, fetch.robots_max_bytes),
        scoped=False,
    ),
    "tdmrep": WellKnown(
        path=lambda _: tdmrep.PATH,
        wanted=lambda config: config.signals.tdmrep and config.extract.extractor != "none",
        limit=lambda fetch: min(fetch.max_bytes, tdmrep.LIMIT),
        read=tdmrep.read,
        signals=tdmrep.signals,
    ),
    SOFT_404: WellKnown(
        path=soft404.path,
        wanted=soft404.wanted,
        limit=lambda fetch: fetch.max_bytes,
        before_pages=False,
    ),
}


def before_pages(config: Config) -> dict[str, str]:
    """Return the files to request before the first page of an origin, after robots.txt: path by name."""
    rows = {name: row for name, row in FILES.items() if row.before_pages and name != ROBOTS and row.wanted(config)}
    return {name: row.path("") for name, row in rows.items()}


def task(name: str, origin: str) -> Task:
    """Return the task for a file of an origin."""
    text = origin + FILES[name].path(origin)
    url = urls.parse(text)
    assert url is not None, text
    return Task(Url(text, url.host, url.domain, urls.key(text)), kind=Kind.FILE, priority=0, file=name)


def needed_by(task: Task) -> str:
    """Return the name of the origin that needs the file: after a redirect, not the origin that is requested."""
    return task.via or urls.origin(task.url.text)


def learn(record: Origin | None, answer: Capture | Failure, config: Config, now: float) -> Origin:
    """Return what is known of an origin after the response to a FILE task, or after the lack of one.

    `record` is the one so far, expired or not. The caller follows redirects; it passes one that it gives up as it is.
    """
    file = answer.task.file
    if file == ROBOTS:
        return robots.learn(needed_by(answer.task), record, answer, config)
    assert record is not None, f"{file} was requested before robots.txt"
    read = FILES[file].read
    assert read is not None, f"{file} has no reader"
    return with_file(record, file, read(record.files.get(file), answer), now)


def with_file(record: Origin, name: str, file: OriginFile, now: float) -> Origin:
    """Return the record with one file added or replaced, and a stamp of its own."""
    return msgspec.structs.replace(record, files={**record.files, name: file}, stamp=now)


def sitemaps(record: Origin) -> tuple[str, ...]:
    """Return the sitemaps that robots.txt names, as absolute URLs on any host. Nothing requests them yet."""
    return robots.parse(record.rules).sitemaps


def signals(record: Origin, path: str) -> tuple[Signal, ...]:
    """Return what the files other than robots.txt say about the use of a path."""
    said: tuple[Signal, ...] = ()
    for name, file in record.files.items():
        read = FILES[name].signals if name in FILES and file.text else None
        said += read(file.text, path) if read is not None else ()
    return said
