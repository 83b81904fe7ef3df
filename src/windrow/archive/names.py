"""Where an archive file lies and what it is called: SUBSET/PREFIX-NODE-FILESTART14-NNNNN.warc.gz."""

import re
import time
from pathlib import Path

from windrow.config import ConfigError
from windrow.data import Capture, Kind

SUBSETS = ("warc", "robotstxt", "diagnostics")  # Common Crawl's three

_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_NAME = re.compile(r"(?P<series>[A-Za-z0-9][A-Za-z0-9_.-]*)-\d{14}-(?P<serial>\d{5,})\.warc\.gz")


def subset(capture: Capture) -> str:
    """Pages that were there, robots.txt and tdmrep.json whatever came, and everything else."""
    if capture.task.kind is Kind.FILE and capture.task.file != "soft404":
        return "robotstxt"
    return "warc" if 200 <= capture.status < 300 and capture.task.kind is Kind.PAGE else "diagnostics"


def series(prefix: str, node: str) -> str:
    """What the names of one node's files have in common."""
    for option, part in (("archive.prefix", prefix), ("crawl.node", node)):
        if not _PART.fullmatch(part):
            raise ConfigError(
                f"{option} {part!r} cannot be part of a file name; use up to 64 letters, digits, '-', '_' and '.'"
            )
    return f"{prefix}-{node}"


def name(series: str, start: float, serial: int) -> str:
    return f"{series}-{time.strftime('%Y%m%d%H%M%S', time.gmtime(start))}-{serial:05}.warc.gz"


def serial(name: str, series: str) -> int | None:
    """The number in a file's name; None where the file is none of this series."""
    found = _NAME.fullmatch(name)
    return int(found["serial"]) if found and found["series"] == series else None


def belongs(place: str) -> bool:
    """Whether this is a relative path that a Writer could have made: what stands in other people's files is not opened unseen."""
    folder, _, file = place.partition("/")
    return folder in SUBSETS and _NAME.fullmatch(file) is not None


def following(directory: Path, series: str) -> int:
    """The first number that no file of this series has, in any subset; a file moved aside (NAME.torn) still counts."""
    taken = [-1]
    for folder in SUBSETS:
        for path in (directory / folder).glob(f"{series}-*.warc.gz*"):
            number = serial(path.name[: path.name.rindex(".warc.gz")] + ".warc.gz", series)
            taken.append(-1 if number is None else number)
    return max(taken) + 1


def newest(directory: Path, series: str) -> Path | None:
    """The file of this series with the highest number in one subset's directory."""
    numbered = [
        (number, path)
        for path in directory.glob(f"{series}-*.warc.gz")
        if (number := serial(path.name, series)) is not None
    ]
    return max(numbered)[1] if numbered else None
