"""Make logs by hand: a few records with the fields that matter to a test, written as a crawl writes them."""

from collections.abc import Iterable
from pathlib import Path

from windrow import log, urls
from windrow.log.writer import Log
from windrow.records import Entry, Frame, Order, Place, Reason, Report, Task, Url


def url(path: str, host: str = "a.example.org") -> Url:
    found = urls.parse(f"http://{host}/{path}")
    assert found is not None
    return found


def task(path: str, **fields: object) -> Task:
    return Task(url(path), **fields)  # type: ignore[arg-type]


def entry(own: Task, reason: Reason = Reason.OK, links: Iterable[Url] = (), **fields: object) -> Entry:
    """Return the line of a task; `links` are those that were admitted, `refused` the others."""
    refused = fields.pop("refused", {})
    admitted = tuple(Task(link, depth=1, via=own.url.text) for link in links)
    given = {"seq": 1, "detail": "", "time": 1000.0, **fields}
    return Entry(Report(task=own, reason=reason, **given), admitted, refused)  # type: ignore[arg-type]


def page(path: str, host: str = "a.example.org", reason: Reason = Reason.OK, **fields: object) -> Entry:
    """Return the line of a page that was archived; `links` are paths on its own host."""
    links = [url(link, host) for link in fields.pop("links", ())]  # type: ignore[attr-defined]
    given = {"seconds": 0.1, "status": 200, "downloaded": 1000, "place": Place("warc/x", 0, 9), **fields}
    return entry(Task(url(path, host)), reason, links, **given)


def ok(number: int, path: str, *links: str, **fields: object) -> Entry:
    given = {"seq": number, "time": 1000.0 + number, "downloaded": 500, **fields}
    return page(path, "a.example.org", links=links, **given)


def write(directory: Path, *frames: Frame) -> list[log.Position]:
    file = Log(directory, ("", 0))
    positions = [file.append(log.encode(frame)) for frame in frames]
    file.close()
    return positions


def frame(number: int, *entries: Entry, seeds: tuple[Task, ...] = (), orders: tuple[Order, ...] = ()) -> Frame:
    lengths = {"warc/x": 10 * number}
    return Frame(number=number, time=1000.0 + number, entries=entries, lengths=lengths, seeds=seeds, orders=orders)
