"""The metadata record of a capture: everything for which the request and response records have no header.

The format is application/warc-fields, one `name: value` per line. Names follow Heritrix and Common Crawl if they have
one. Fields with their usual value are left out.
"""

import datetime
import re
import unicodedata
import urllib.parse
from collections.abc import Mapping, Sequence

from windrow.records import Capture, Kind, Task, Url

LAYOUT = "request response metadata"  # in the warcinfo of our own files: a capture without one of these is torn

NAMES = {"seq", "fetchTimeMs", "via", "depth", "downloaded", "priority", "distance", "redirects", "attempt", "kind"}
NAMES |= {"decoded", "embed", "encoded", "status", "headLength", "requestLength"}

_ALWAYS = b"fetchTimeMs: %d\r\nvia: %b\r\ndepth: %d\r\ndownloaded: %d\r\n"
_TASK = b"priority: %d\r\ndistance: %d\r\nredirects: %d\r\nattempt: %d\r\n"
_STATUS = re.compile(rb"[^ ]+ +(\d{3})(?=[ \r\n]|$)")
_HEAD = re.compile(rb"\n\r?\n")
_ENCODED = re.compile(rb"(?im)^(?:transfer|content)-encoding:(?![ \t]*identity)")
_CONTENT_TYPE = re.compile(rb"(?im)^content-type:[ \t]*([^;\s,]+)")
_LOCATION = re.compile(rb"(?im)^location:[ \t]*([^\r\n]*)")
_CODING = re.compile(rb"(?im)^content-encoding:([^\r\n]*)")
_FOLDED = re.compile(rb"\r?\n[ \t]+(?=[^\s])")
_FOLD = re.compile(r"\r?\n[ \t]+")
_DEFAULT = Task(Url("", "", "", 0))


def pack(capture: Capture) -> bytes:
    """Return the fields of a capture. `seq` and the fields of the driver are added when they are known."""
    task, head = capture.task, capture.head
    lines = _ALWAYS % (round(capture.seconds * 1000), line(task.via), task.depth, capture.downloaded)
    if task.priority != 128 or task.distance or task.redirects or task.attempt:
        lines += _TASK % (task.priority, task.distance, task.redirects, task.attempt)
    if task.kind is not Kind.PAGE:
        lines += b"kind: %b\r\n" % task.kind.name.lower().encode()
    if task.embed:
        lines += b"embed: %d\r\n" % task.embed
    if task.file:
        lines += b"file: %b\r\n" % task.file.encode()
    if capture.raw:
        lines += b"decoded: %d\r\n" % len(capture.body)
    if capture.encoded:
        lines += b"encoded: yes\r\n"
    if not head.startswith(b"HTTP/1.1 %d " % capture.status) and status(head) != capture.status:
        lines += b"status: %d\r\n" % capture.status
    if head.find(b"\r\n\r\n") != len(head) - 4 or len(head) < 4:
        lines += b"headLength: %d\r\n" % len(head)
    return lines


def task(url: Url, fields: Mapping[str, str]) -> Task:
    """Return the task that `pack` wrote."""
    return Task(
        url,
        kind=Kind[fields["kind"].upper()] if "kind" in fields else Kind.PAGE,
        priority=int(fields.get("priority", _DEFAULT.priority)),
        depth=int(fields.get("depth", 0)),
        distance=int(fields.get("distance", 0)),
        redirects=int(fields.get("redirects", 0)),
        via=fields.get("via", ""),
        attempt=int(fields.get("attempt", 0)),
        file=fields.get("file", ""),
        embed=int(fields.get("embed", 0)),
    )


def split(block: bytes, fields: Mapping[str, str]) -> tuple[bytes, bytes]:
    """Split a response block into head and body. Other programs may end a head with bare line feeds, or not at all."""
    match = None if fields else _HEAD.search(block)
    if "headLength" in fields:
        end = int(fields["headLength"])
    elif fields:
        end = block.index(b"\r\n\r\n") + 4
    else:
        end = match.end() if match else len(block)
    return block[:end], block[end:]


def regular(head: bytes) -> bytes:
    """Return a head that another program wrote with the usual line ends, and without folded lines."""
    if b"\n" not in head.replace(b"\r\n", b"") and b"\n " not in head and b"\n\t" not in head:
        return head
    unfolded = _FOLDED.sub(b" ", head)
    return b"".join([line.rstrip(b"\r") + b"\r\n" for line in unfolded.removesuffix(b"\n").split(b"\n")])


def status(head: bytes) -> int:
    """Return the code in a status line; 0 if there is none."""
    match = _STATUS.match(head)
    return int(match[1]) if match else 0


def media_type(head: bytes) -> str:
    """Return the media type that the server stated, in small letters; empty if there is none."""
    match = _CONTENT_TYPE.search(head)
    return match[1].decode("latin-1").lower() if match else ""


def location(head: bytes) -> str | None:
    """Return where a redirect leads; None if it leads nowhere."""
    match = _LOCATION.search(head)
    return match[1].decode("latin-1") if match else None


def epoch(text: str) -> float:
    """Return a date of any precision that WARC allows, in epoch seconds; 0 if it is not a date."""
    for pattern in ("", "%Y%m%d%H%M%S", "%Y-%m-%dT%H:%MZ", "%Y-%m", "%Y"):
        try:
            moment = datetime.datetime.strptime(text, pattern) if pattern else datetime.datetime.fromisoformat(text)
        except ValueError:
            continue
        return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
    return 0.0


def codings(head: bytes) -> str:
    """Return the values of all Content-Encoding fields."""
    return b",".join(_CODING.findall(head)).decode("latin-1").strip(" \t,")


def encoded(head: bytes) -> bool:
    """Return whether a head that another program wrote says that its body still has a content or transfer coding."""
    return _ENCODED.search(head) is not None


def encode(pairs: Sequence[tuple[str, str]]) -> bytes:
    """Return fields as lines. A value of several lines becomes as many fields with the same name."""
    lines = [
        (name, part)
        for name, value in pairs
        for part in (value.replace("\r\n", "\n").split("\n") if "\n" in value else (value,))
    ]
    return b"".join([b"%b: %b\r\n" % (line(name), line(part)) for name, part in lines])


def decode(block: bytes) -> dict[str, str]:
    """Return fields by name, undoing `encode`: values with the same name are joined by line ends."""
    fields: dict[str, str] = {}
    for text in _FOLD.sub(" ", block.decode("utf-8", "replace")).split("\n"):
        name, colon, value = text.partition(":")
        if colon:
            value = value.strip()
            fields[name] = f"{fields[name]}\n{value}" if name in fields else value
    return fields


def line(text: str) -> bytes:
    """Return text that is safe in a header: no character of it can begin another line. URLs pass unchanged."""
    if text.isprintable():
        return text.encode()
    return "".join(
        urllib.parse.quote(char, errors="surrogatepass") if _breaks(char) else char for char in text
    ).encode()


def _breaks(char: str) -> bool:
    return char != "\t" and unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")
