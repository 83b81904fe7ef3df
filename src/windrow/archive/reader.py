"""WARC files back to Captures: a whole file, or one Place.

Of our own files (their warcinfo names the layout) every capture is equal to the one that was written, and one that lacks a record is
an error. Of other people's files each http response becomes a Capture as far as its records go.
"""

import datetime
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from windrow import urls
from windrow.archive import fields, names
from windrow.archive.record import Record, records, verify
from windrow.archive.stream import ArchiveError
from windrow.data import Capture, Place, Url

_SLOTS = {"request": "request", "response": "answer", "revisit": "answer", "metadata": "metadata"}
_Group = dict[str, Record]  # the records of one exchange, by slot


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A capture and what its file says beside it."""

    place: Place
    capture: Capture
    seq: int  # 0 in files that were not written here
    digest: str  # sha1 of the payload in base32, without prefix, as it stands in the file
    fields: dict[str, str]  # of the metadata record
    id: str  # of the response record: <urn:uuid:…>


def read(path: Path, end: int | None = None) -> Iterator[Entry]:
    """Every capture of a file, in order; nothing behind end (of a file that grows: its committed length) is read.

    A revisit gets the body of the record it points to. In other people's files, what is no http exchange gives no capture.
    """
    path = path.absolute()
    for group, ours in _groups(path, end):
        first = min(record.offset for record in group.values())
        if ours and not _whole(group):
            raise ArchiveError(path, first, "the capture that begins here does not have all of its records")
        entry = _entry(path, group)
        if entry is not None:
            yield entry
        elif ours:
            raise ArchiveError(
                path,
                first,
                "the capture that begins here has no payload: the file that its revisit record names is gone",
            )


def open_place(directory: Path, place: Place) -> Capture:
    """The capture whose response record is at this place of a crawl directory."""
    return open_entry(directory, place).capture


def open_entry(directory: Path, place: Place) -> Entry:
    """The same with what its file says of it."""
    path = (directory / place.file).absolute()
    entry = _entry(path, _group(path, place.offset))
    if entry is None:
        raise ArchiveError(
            path,
            place.offset,
            "the record that begins here is no http response, or its payload is not in this directory",
        )
    return entry


def _groups(path: Path, end: int | None) -> Iterator[tuple[_Group, bool]]:
    """Records that belong together, and whether they must be all there."""
    group: _Group = {}
    ours = False
    for record in records(path, end=end):
        slot = _SLOTS.get(record.type, "")
        if group and not (slot and _joins(group, slot, record)):
            yield group, ours
            group = {}
        if slot:
            group[slot] = record
        elif record.type == "warcinfo":
            ours = fields.decode(record.block).get("layout") == fields.LAYOUT
    if group:
        yield group, ours


def _joins(group: _Group, slot: str, record: Record) -> bool:
    """WARC-Concurrent-To may point either way; where nothing points, URI and date must agree."""
    if slot in group:
        return False
    links = record.all("WARC-Concurrent-To")
    if any(member.header("WARC-Record-ID") in links for member in group.values()):
        return True
    back = [link for member in group.values() for link in member.all("WARC-Concurrent-To")]
    if links or back:
        return record.header("WARC-Record-ID") in back
    return all(
        (member.target, member.header("WARC-Date")) == (record.target, record.header("WARC-Date"))
        for member in group.values()
    )


def _whole(group: _Group) -> bool:
    """Whether everything is there, each in a gzip member of its own, whose checksum has then been seen."""
    if "answer" not in group or "metadata" not in group or not all(record.length for record in group.values()):
        return False
    return "request" in group or "requestLength" not in fields.decode(group["metadata"].block)


def _group(path: Path, offset: int) -> _Group:
    """The exchange whose response is at an offset: the metadata record follows it and says how far before it the request is."""
    found = records(path, offset)
    answer = next(found, None)
    if answer is None or _SLOTS.get(answer.type) != "answer" or verify(answer) is False:
        raise ArchiveError(path, offset, "no whole response record begins here")
    group: _Group = {"answer": answer}
    following = next(found, None)
    if following is not None and following.type == "metadata" and _joins(group, "metadata", following):
        group["metadata"] = following
        length = fields.decode(following.block).get("requestLength", "0")
        request = (
            next(records(path, offset - int(length)), None)
            if length.isdecimal() and 0 < int(length) <= offset
            else None
        )
        if request is not None and request.type == "request" and _joins(group, "request", request):
            group["request"] = request
    return group


def _entry(path: Path, group: _Group) -> Entry | None:
    answer = group.get("answer")
    if answer is None or "/http" not in answer.header("Content-Type").lower():
        return None
    notes = fields.decode(group["metadata"].block) if "metadata" in group else {}
    try:
        seq, capture = int(notes.get("seq", 0)), _capture(path, group, notes)
    except (KeyError, ValueError) as error:
        raise ArchiveError(
            path, answer.offset, f"the metadata of the capture at this place cannot be read ({error})"
        ) from None
    if capture is None:
        return None
    place = Place(f"{path.parent.name}/{path.name}", answer.offset, answer.length)
    digest = answer.header("WARC-Payload-Digest").removeprefix("sha1:")
    return Entry(place, capture, seq, digest, notes, answer.header("WARC-Record-ID"))


def _capture(path: Path, group: _Group, notes: Mapping[str, str]) -> Capture | None:
    answer = group["answer"]
    known = notes if "seq" in notes else {}
    url = _url(answer.target, bool(known))
    head, rest = fields.split(answer.block, known)
    body = rest if answer.type == "response" else _payload(path, answer)
    if url is None or body is None:
        return None
    protocol, cipher = _protocols(answer)
    return Capture(
        fields.task(url, known),
        int(known["status"]) if "status" in known else fields.status(head),
        group["request"].block if "request" in group else b"",
        head,
        body,
        _time(answer.header("WARC-Date")),
        int(known.get("fetchTimeMs", 0)) / 1000,
        answer.header("WARC-IP-Address"),
        protocol,
        cipher,
        answer.header("WARC-Truncated"),
        int(known.get("downloaded", 0)) if known else answer.size,
        "encoded" in known if known else fields.encoded(head),
    )


def _url(text: str, ours: bool) -> Url | None:
    """Our own URLs stay as they were written, should the rules for the canonical form have changed since."""
    url = urls.parse(text)
    if url is not None and ours and url.text != text:
        return Url(text, url.host, url.domain, urls.key(text))
    return url


def _payload(path: Path, revisit: Record) -> bytes | None:
    """The body of the response that a revisit points to; None where that cannot be had. A revisit of a revisit is not followed."""
    file, offset = revisit.header("WARC-Refers-To-Filename"), revisit.header("WARC-Refers-To-File-Offset")
    origin = path.parent.parent / file
    if not names.belongs(file) or not offset.isdecimal() or not origin.is_file():
        return None
    group = _group(origin, int(offset))
    if group["answer"].type == "revisit" or not _same(group["answer"], revisit, "WARC-Payload-Digest"):
        return None
    entry = _entry(origin, group)
    return entry.capture.body if entry else None


def _same(one: Record, other: Record, header: str) -> bool:
    return one.header(header) == other.header(header)


def _protocols(answer: Record) -> tuple[str, str]:
    """Protocol and cipher of a Capture from the repeatable WARC-Protocol and WARC-Cipher-Suite."""
    written = answer.all("WARC-Protocol")
    layer = next((name for name in written if name.startswith(("tls/", "ssl/"))), "")
    protocol = next((name for name in written if name != layer), "")
    return protocol, f"{layer} {answer.header('WARC-Cipher-Suite')}".strip()


def _time(text: str) -> float:
    """A date of any precision that WARC allows, in epoch seconds; 0 where it is none."""
    for pattern in ("", "%Y%m%d%H%M%S", "%Y-%m-%dT%H:%MZ", "%Y-%m", "%Y"):
        try:
            moment = datetime.datetime.strptime(text, pattern) if pattern else datetime.datetime.fromisoformat(text)
        except ValueError:
            continue
        return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
    return 0.0
