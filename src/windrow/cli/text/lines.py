"""Lines on standard error: text for people, or with --log-json a JSON object per line, for containers.

The form holds for the process: also for a note that a library of ours prints, and for the error that ends it.
"""

import contextlib
import datetime
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from windrow import metrics
from windrow.crawler.display.notes import LogLine
from windrow.units import printable

LogJson = Annotated[
    bool, typer.Option("--log-json", help="Print notes and progress as JSON, an object per line, for programs.")
]

_RELAYED = re.compile(r"shard (\d+): (.*)", re.DOTALL)  # what a process of a shard has printed
_fields: dict[str, str] | None = None  # of every line; None: lines are text


def use_json(directory: Path | None = None, **fields: str) -> None:
    """Print JSON from now on. Each line names the crawl, and the shard, of this directory."""
    global _fields
    _fields = {**(metrics.labels_of(directory) if directory is not None else {}), **fields}


def are_json() -> bool:
    return _fields is not None


def note(text: str) -> None:
    """Print a line; above a bar, which replaces the stream meanwhile. A line of a shard has a level of its own."""
    if _fields is None:
        _print(text)
        return
    match = _RELAYED.fullmatch(text)
    if match is None:
        write(LogLine("info", "note", printable(text)))
    else:
        relay(match[2], shard=f"{int(match[1]):03}")


def relay(text: str, **fields: str) -> None:
    """Print a line of another process, with fields that say whose it is. An object keeps its own fields."""
    own = _object(text)
    if own is None:
        write(LogLine("warning", "note", printable(text), fields))
    else:
        _print(msgspec.json.encode({**own, **{key: fields[key] for key in fields.keys() - own}}).decode())


def write(line: LogLine) -> None:
    """Print a line for programs."""
    _print(encoded(line, _fields or {}, datetime.datetime.now(datetime.UTC)))


def _print(line: str) -> None:
    """Print a line. If nobody reads it any more, or the disk of the reader is full, the command continues without."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{line}\n")


def encoded(line: LogLine, fields: Mapping[str, str], now: datetime.datetime) -> str:
    """Return a line as JSON: the time, level, event and message first, then whose it is, then its figures."""
    time = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    head = {"time": time, "level": line.level, "event": line.event, "message": line.message}
    return msgspec.json.encode({**head, **fields, **line.figures}).decode()


def _object(text: str) -> dict[str, Any] | None:
    """Return a text as a JSON object; None if it is something else."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeError):
        return None
