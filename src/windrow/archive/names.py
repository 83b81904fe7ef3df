"""Directory and name of an archive file, SUBSET/PREFIX-NODE-FILESTART14-NNNNN.warc.gz, and of those made from it."""

import calendar
import re
import time
from pathlib import Path

from windrow.config import ConfigError
from windrow.io.storage import AnyPath
from windrow.records import Kind, Task

_PROBE = "soft404"  # a request for a page that cannot exist; it is no file of the origin
SUBSETS = ("warc", "robotstxt", "diagnostics")  # Common Crawl's three

PUBLISHED = {"warc": "warc", "robotstxt": "robotstxt", "diagnostics": "crawldiagnostics"}  # as Common Crawl names them
_LAYOUT = re.compile(r"(?:^|/)crawl-data/(?P<crawl>[^/]+)/segments/(?P<segment>[^/]+)/(?P<subset>[^/]+)/[^/]+$")
_START = re.compile(r"-(\d{8})\d{6}-")

_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_PACKED = re.compile(r"(?i)(?<=.)\.(?:gz|zst|zstd|lz4|open)\Z")
_ARCHIVE = re.compile(r"(?i)(?<=.)\.w?arc\Z")
_NAME = re.compile(r"(?P<series>[A-Za-z0-9][A-Za-z0-9_.-]*)-\d{14}-(?P<serial>\d{5,})\.warc\.gz")


def subset(task: Task, status: int) -> str:
    """Return the subset of a capture: well-known files with any status, pages with status 2xx, and everything else."""
    if task.kind is Kind.FILE and task.file != _PROBE:
        return "robotstxt"
    return "warc" if 200 <= status < 300 and task.kind is Kind.PAGE else "diagnostics"


def series(prefix: str, node: str) -> str:
    """Return the part that the names of all files of one node share."""
    for option, part in (("archive.prefix", prefix), ("crawl.node", node)):
        if not _PART.fullmatch(part):
            raise ConfigError(
                f"{option} {part!r} cannot be part of a file name; use up to 64 letters, digits, '-', '_' and '.'"
            )
    return f"{prefix}-{node}"


def name(series: str, start: float, serial: int) -> str:
    """Return the name of a file whose first capture was at `start`, in epoch seconds."""
    return f"{series}-{time.strftime('%Y%m%d%H%M%S', time.gmtime(start))}-{serial:05}.warc.gz"


def serial(name: str, series: str) -> int | None:
    """Return the number in the name of a file; None if the file does not belong to this series."""
    match = _NAME.fullmatch(name)
    return int(match["serial"]) if match and match["series"] == series else None


def derived(name: str, kind: str) -> str:
    """Return the name of a file that is derived from an archive file: "wat" and "wet" as Common Crawl names them,
    any other kind a table."""
    bare = _PACKED.sub("", name)
    if kind in ("wat", "wet"):
        return f"{bare}.{kind}.gz"
    return f"{_ARCHIVE.sub('', bare)}.parquet"


def place(path: AnyPath) -> str:
    """Return how tables name an archive file: from the directory of its subset on, as places of documents do; below a
    bucket of Common Crawl, its path there."""
    whole = path.absolute().as_posix()
    bucket = whole.rfind("/crawl-data/")
    if bucket >= 0:
        return whole[bucket + 1 :]
    return f"{path.absolute().parent.name}/{path.name}" if path.absolute().parent.name in SUBSETS else path.name


def belongs(path: str) -> bool:
    """Return whether a Writer could have made this relative path. Paths in files of other programs are not trusted."""
    folder, _, file = path.partition("/")
    return folder in SUBSETS and _NAME.fullmatch(file) is not None


def following(directory: Path, series: str) -> int:
    """Return the first number that no file of this series has, in any subset; files moved aside (NAME.torn) count."""
    taken = [-1]
    for folder in SUBSETS:
        for path in (directory / folder).glob(f"{series}-*.warc.gz*"):
            number = serial(path.name[: path.name.rindex(".warc.gz")] + ".warc.gz", series)
            taken.append(-1 if number is None else number)
    return max(taken) + 1


def newest(directory: Path, series: str) -> Path | None:
    """Return the file of this series with the highest number in the directory of one subset."""
    numbered = [
        (number, path)
        for path in directory.glob(f"{series}-*.warc.gz")
        if (number := serial(path.name, series)) is not None
    ]
    return max(numbered)[1] if numbered else None


def published_subset(path: str) -> str:
    """Return the subset of an archive file in Common Crawl's words, from the directory that it is in."""
    folder = path.rpartition("/")[0].rpartition("/")[2]
    return PUBLISHED.get(folder, folder if folder in PUBLISHED.values() else "warc")


def layout(path: str) -> tuple[str, str]:
    """Return crawl and segment of a path in Common Crawl's layout; empty texts for another path."""
    match = _LAYOUT.search(path)
    return (match["crawl"], match["segment"]) if match else ("", "")


def segment(path: str) -> str:
    """Return the segment of an archive file: the day on which it began, in epoch milliseconds, and a number."""
    match = _START.search(path.rpartition("/")[2])
    try:
        day = calendar.timegm(time.strptime(match[1], "%Y%m%d")) if match else 0
    except ValueError:
        day = 0
    return f"{max(day, 0) * 1000}.0"


def published(crawl: str, path: str) -> str:
    """Return the path of an archive file below a bucket, in Common Crawl's layout."""
    name = path.rpartition("/")[2]
    return f"crawl-data/{crawl}/segments/{segment(path)}/{published_subset(path)}/{name}"
