"""Small crawls for reports."""

from pathlib import Path

from tests.logs import entry, url, write
from tests.logs import page as logged
from windrow.records import Entry, Frame, Kind, Reason, Task


def page(host: str, path: str, reason: Reason = Reason.OK, **fields: object) -> Entry:
    return logged(path, host, reason, **{"downloaded": 10_000, **fields})


def german(directory: Path, scale: int = 1) -> Path:
    """Four domains, of which one has no text and was retired; a page is still waiting."""
    text = {
        "clean": 4000,
        "primary": 4000,
        "kept": 3000 * scale,
        "language": "deu",
        "tokens": 400,
        "scores": {"words": 500.0, "near_duplicates": 0.2},
    }
    first = [
        entry(
            Task(url("robots.txt", "a.rich.de"), kind=Kind.FILE, file="robots"),
            time=900.0,
            seconds=0.1,
            status=200,
            downloaded=321,
        ),
        page("a.rich.de", "1", links=("2", "3"), **text),
        page("b.rich.de", "1", **text),
        page("some.at", "1", **{**text, "kept": 100}),
    ]
    second = [
        page("mixed.com", "1", Reason.LANGUAGE, clean=2000, language="eng", refused={"tld": 7}),
        page("poor.com", "1", Reason.NO_TEXT, links=("2",)),
        entry(Task(url("2", "poor.com")), Reason.LOW_YIELD, time=1001.0),
        entry(Task(url("2", "a.rich.de")), Reason.CONNECT, time=1001.0, seconds=0.1, final=False),
        entry(Task(url("2", "a.rich.de")), Reason.TIMEOUT, time=1002.0, seconds=60.0, downloaded=55),
    ]
    seeds = tuple(Task(url("1", host)) for host in ("a.rich.de", "b.rich.de", "some.at", "mixed.com", "poor.com"))
    directory.mkdir(exist_ok=True)
    write(directory / "log", Frame(1, 1000.0, tuple(first), {}, seeds), Frame(2, 1030.0, tuple(second), {}, (), 1))
    return directory


def without_text(directory: Path) -> Path:
    """As extract.extractor = "none" leaves it."""
    directory.mkdir(exist_ok=True)
    write(
        directory / "log",
        Frame(1, 1000.0, (page("a.de", "1", links=("2",)), page("a.de", "2")), {}, (Task(url("1", "a.de")),)),
    )
    return directory
