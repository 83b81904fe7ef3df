"""Make logs by hand: a few records with the fields that matter to a test, written as a crawl writes them."""

from pathlib import Path

from windrow import log, urls
from windrow.data import Frame, Place, Reason, Report, Task, Url
from windrow.log.writer import Log


def url(path: str, host: str = "a.example.org") -> Url:
    found = urls.parse(f"http://{host}/{path}")
    assert found is not None
    return found


def task(path: str, **fields: object) -> Task:
    return Task(url(path), **fields)  # type: ignore[arg-type]


def ok(number: int, path: str, *links: str, **fields: object) -> Report:
    own = task(path)
    found = tuple(Task(url(link), depth=1, via=own.url.text) for link in links)
    return Report(
        number, own, Reason.OK, "", 1000.0 + number, 0.1, 200, 500, place=Place("warc/x", 0, 9), found=found, **fields
    )  # type: ignore[arg-type]


def write(directory: Path, *frames: Frame) -> list[log.Position]:
    file = Log(directory, ("", 0))
    positions = [file.append(log.encode(frame)) for frame in frames]
    file.close()
    return positions


def frame(number: int, *reports: Report, seeds: tuple[Task, ...] = ()) -> Frame:
    return Frame(number, 1000.0 + number, reports, {"warc/x": 10 * number}, seeds)
