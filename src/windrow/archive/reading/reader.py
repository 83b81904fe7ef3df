"""Read archive files back to Captures: a whole file, or one Place.

In our own files (their warcinfo names the layout) every capture equals the one that was written, and a missing record
is an error. In files of other programs each http response becomes a Capture, as complete as its records are.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from windrow import urls
from windrow.archive import bodies, fields, names
from windrow.archive.reading.repair import Damage, Report
from windrow.archive.reading.scan import records
from windrow.archive.reading.single import as_response
from windrow.archive.reading.unpack import ArchiveError
from windrow.archive.record import WarcRecord, is_tombstone, verify
from windrow.archive.revisits import Originals
from windrow.io import coding
from windrow.io.storage import AnyPath
from windrow.records import Capture, Place, Url

_SLOTS = {"request": "request", "response": "answer", "revisit": "answer", "metadata": "metadata"}
_BETWEEN = 64 << 20  # bytes of a body between its two content codings
_RecordSet = dict[str, WarcRecord]  # the records of one exchange, by slot


class StoredCapture(msgspec.Struct, frozen=True, gc=False):
    """A capture, with what its file says about it."""

    place: Place
    capture: Capture
    seq: int  # 0 in files of other programs
    digest: str  # sha1 of the payload in base32, without prefix, as written in the file
    fields: dict[str, str]  # of the metadata record
    id: str  # of the response record: <urn:uuid:…>
    type: str = "response"  # or "revisit", "resource", "conversion"


class ReadOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How the files of other programs are read."""

    resources: bool = False  # read resource records too, which hold a file without its exchange
    conversions: bool = False  # and conversion records, which hold the text of a page: WET files
    originals: Originals | None = None  # finds the payload of a revisit in the same set of files
    report: Report | None = None  # what is called with each damage; without it damage is an error


def read(path: AnyPath, end: int | None = None, resources: bool = False) -> Iterator[StoredCapture]:
    """Yield every capture of a file, in order; read nothing beyond `end` (of a growing file: its committed length).

    A revisit gets the body of the record it points to. In files of other programs, other records than those of http
    exchanges are skipped; with `resources`, resource records, which hold a file without its exchange, are read too. If
    the file is damaged, every complete capture before the damage is yielded, then the error is raised.
    """
    return captures(path, ReadOptions(resources=resources), end)


def captures(path: AnyPath, reading: ReadOptions, end: int | None = None) -> Iterator[StoredCapture]:
    """Yield every capture of a file as `read` does, in the way that `reading` says."""
    path = path.absolute()
    for exchange, ours in _exchanges(path, end, reading):
        first = min(record.offset for record in exchange.values())
        try:
            if ours and not _whole(exchange):
                raise ArchiveError(path, first, "the capture that begins here lacks one of its records")
            entry = _entry(path, exchange, reading.originals)
            if entry is None and ours:
                what = "the capture that begins here is a revisit of a file that is missing"
                raise ArchiveError(path, first, what)
        except ArchiveError as error:
            if reading.report is None:
                raise
            last = max(record.offset + record.length for record in exchange.values())
            reading.report(Damage(str(path), first, max(last, first), error.what))
            continue
        if entry is not None:
            yield entry


def open_place(directory: Path, place: Place) -> Capture:
    """Return the capture whose response record is at this place of a crawl directory."""
    return open_entry(directory, place).capture


def open_entry(directory: Path, place: Place) -> StoredCapture:
    """Return the same capture, with what its file says about it."""
    path = (directory / place.file).absolute()
    entry = _entry(path, exchange_at(path, place.offset))
    if entry is None:
        what = "the record that begins here is not an http response, or its payload is missing in this directory"
        raise ArchiveError(path, place.offset, what)
    return entry


def _exchanges(path: AnyPath, end: int | None, reading: ReadOptions) -> Iterator[tuple[_RecordSet, bool]]:
    """Yield the records of each exchange, and whether they must be complete."""
    exchange: _RecordSet = {}
    ours, damage = False, None
    alone = _alone(reading)
    try:
        for record in records(path, end=end, report=reading.report):
            if record.type in alone:
                if exchange:
                    yield exchange, ours
                    exchange = {}
                yield {"answer": record}, False
                continue
            slot = "" if is_tombstone(record) else _SLOTS.get(record.type, "")
            if exchange and not (slot and _joins(exchange, slot, record)):
                yield exchange, ours
                exchange = {}
            if slot:
                exchange[slot] = record
            elif record.type == "warcinfo":
                ours = fields.decode(record.block).get("layout") == fields.LAYOUT
    except ArchiveError as error:
        damage = error
        exchange = _before(exchange, ours, error)
    if exchange:
        yield exchange, ours
    if damage is not None:
        raise damage


def _alone(reading: ReadOptions) -> tuple[str, ...]:
    """Return the types of records that are a capture of their own."""
    wanted = (reading.resources, "resource"), (reading.conversions, "conversion")
    return tuple([name for given, name in wanted if given])


def _before(exchange: _RecordSet, ours: bool, damage: ArchiveError) -> _RecordSet:
    """Return what is intact of the exchange before the damage; nothing if no capture can be made of it.

    Only its last record is in doubt: another record followed each of those before it.
    """
    intact = dict(exchange)
    if intact:
        slot, last = intact.popitem()
        if _intact(last, damage):
            intact[slot] = last
    return intact if "answer" in intact and (_whole(intact) or not ours) else {}


def _intact(last: WarcRecord, damage: ArchiveError) -> bool:
    """Return whether the last record before the damage has its proper end, or the right digest.

    In a plain file a wrong Content-Length, which is damage too, is noticed only after the record: it has no proper end.
    In a gzip member of many records none has an end of its own.
    """
    if last.length:
        return True
    right = verify(last)
    return right is True or (right is None and last.offset == damage.offset)


def _joins(exchange: _RecordSet, slot: str, record: WarcRecord) -> bool:
    """Return whether a record belongs to an exchange.

    WARC-Concurrent-To may point in either direction. Without it, URI and date must agree.
    """
    if slot in exchange:
        return False
    links = record.all("WARC-Concurrent-To")
    if any(member.header("WARC-Record-ID") in links for member in exchange.values()):
        return True
    back = [link for member in exchange.values() for link in member.all("WARC-Concurrent-To")]
    if links or back:
        return record.header("WARC-Record-ID") in back
    return all(
        (member.target, member.header("WARC-Date")) == (record.target, record.header("WARC-Date"))
        for member in exchange.values()
    )


def _whole(exchange: _RecordSet) -> bool:
    """Return whether all records are present, each in a gzip member of its own, so that its checksum was verified."""
    if "answer" not in exchange or "metadata" not in exchange or not all(record.length for record in exchange.values()):
        return False
    return "request" in exchange or "requestLength" not in fields.decode(exchange["metadata"].block)


def exchange_at(path: AnyPath, offset: int) -> _RecordSet:
    """Return the records of the exchange whose response is at an offset.

    The metadata record follows the response and holds the length of the request, which precedes it.
    """
    next_records = records(path, offset)
    answer = next(next_records, None)
    if answer is not None and is_tombstone(answer):
        raise ArchiveError(path, offset, "the capture that began here was purged")
    if answer is None or _SLOTS.get(answer.type) != "answer" or verify(answer) is False:
        raise ArchiveError(path, offset, "no complete response record begins here")
    exchange: _RecordSet = {"answer": answer}
    following = next(next_records, None)
    if following is not None and following.type == "metadata" and _joins(exchange, "metadata", following):
        exchange["metadata"] = following
        length = fields.decode(following.block).get("requestLength", "0")
        valid = length.isdecimal() and 0 < int(length) <= offset
        request = next(records(path, offset - int(length)), None) if valid else None
        if request is not None and request.type == "request" and _joins(exchange, "request", request):
            exchange["request"] = request
    return exchange


def _entry(path: AnyPath, exchange: _RecordSet, originals: Originals | None = None) -> StoredCapture | None:
    answer = exchange.get("answer")
    if answer is None:
        return None
    kind = answer.type
    if kind in ("resource", "conversion") or _bare(answer):
        answer = as_response(answer)
        exchange = {"answer": answer}
    if not _is_http(answer):
        return None
    notes = fields.decode(exchange["metadata"].block) if "metadata" in exchange else {}
    try:
        seq, capture = int(notes.get("seq", 0)), _capture(path, exchange, notes, originals)
    except (KeyError, ValueError) as error:
        what = f"the metadata of the capture that begins here is not readable ({error})"
        raise ArchiveError(path, answer.offset, what) from None
    if capture is None:
        return None
    place = Place(f"{path.parent.name}/{path.name}", answer.offset, answer.length)
    digest = answer.header("WARC-Payload-Digest").removeprefix("sha1:")
    return StoredCapture(
        place=place,
        capture=capture,
        seq=seq,
        digest=digest,
        fields=notes,
        id=answer.header("WARC-Record-ID"),
        type=kind,
    )


def _is_http(answer: WarcRecord) -> bool:
    """Return whether a record holds an http response. Some programs leave out the type, and the block of a revisit."""
    kind = answer.header("Content-Type").lower()
    return "/http" in kind or (not kind and (answer.type == "revisit" or answer.block[:5] == b"HTTP/"))


def _bare(answer: WarcRecord) -> bool:
    """Return whether a record of an ARC file holds a page without the header of its response."""
    return answer.version.startswith("ARC/") and "/http" not in answer.header("Content-Type") and bool(answer.target)


def _capture(
    path: AnyPath, exchange: _RecordSet, notes: Mapping[str, str], originals: Originals | None
) -> Capture | None:
    answer = exchange["answer"]
    values = notes if "seq" in notes else {}
    url = _url(answer.target, bool(values))
    if url is None:
        return None
    head, rest = fields.split(answer.block, values)
    if not values:
        head = fields.regular(head)
    stored: bytes | None = rest
    if answer.type == "revisit":
        head, stored = _revisited(path, answer, head, originals)
    if stored is None:
        return None
    raw, body = b"", stored
    if "decoded" in values:
        raw, body = stored, _decoded(stored, fields.codings(head), int(values["decoded"]))
    protocol, cipher = _protocols(answer)
    capture = Capture(
        task=fields.task(url, values),
        status=int(values["status"]) if "status" in values else fields.status(head),
        request=exchange["request"].block if "request" in exchange else b"",
        head=head,
        body=body,
        time=fields.epoch(answer.header("WARC-Date")),
        seconds=int(values.get("fetchTimeMs", 0)) / 1000,
        ip=answer.header("WARC-IP-Address"),
        protocol=protocol,
        cipher=cipher,
        truncated=answer.header("WARC-Truncated") or ("unspecified" if len(answer.block) < answer.size else ""),
        downloaded=int(values.get("downloaded", 0)) if values else answer.size,
        encoded="encoded" in values if values else fields.encoded(head),
        raw=raw,
    )
    return capture if values else bodies.decoded(capture)


def _decoded(stored: bytes, codings: str, size: int) -> bytes:
    """Return the body of this size behind its content codings. Between two codings it may be longer."""
    return coding.decode(stored, codings, size if "," not in codings else max(size, _BETWEEN)).body[:size]


def _url(text: str, ours: bool) -> Url | None:
    """Return a URL. Our own stay as they were written, even if the rules of the canonical form have changed since."""
    url = urls.parse(text)
    if url is not None and ours and url.text != text:
        return Url(text, url.host, url.domain, urls.key(text))
    return url


def _revisited(
    path: AnyPath, revisit: WarcRecord, head: bytes, originals: Originals | None
) -> tuple[bytes, bytes | None]:
    """Return header and stored body of a revisit. A server that says "not modified" sends the old header no more."""
    stored = _payload(path, revisit)
    if stored is not None or originals is None:
        return head, stored
    earlier = originals.find(revisit)
    if earlier is None:
        return head, None
    old, stored = fields.split((as_response(earlier) if earlier.type == "resource" else earlier).block, {})
    return (head if 200 <= fields.status(head) < 300 else fields.regular(old)), stored


def _payload(path: AnyPath, revisit: WarcRecord) -> bytes | None:
    """Return the stored body of the response to which a revisit points; None if it is not available.

    A revisit of a revisit is not followed.
    """
    file, offset = revisit.header("WARC-Refers-To-Filename"), revisit.header("WARC-Refers-To-File-Offset")
    earlier = path.parent.parent / file
    if not names.belongs(file) or not offset.isdecimal() or not earlier.is_file():
        return None
    exchange = exchange_at(earlier, int(offset))
    if exchange["answer"].type == "revisit" or not _same(exchange["answer"], revisit, "WARC-Payload-Digest"):
        return None
    entry = _entry(earlier, exchange)
    return entry.capture.stored if entry else None


def _same(record: WarcRecord, other: WarcRecord, header: str) -> bool:
    return record.header(header) == other.header(header)


def _protocols(answer: WarcRecord) -> tuple[str, str]:
    """Return protocol and cipher of a Capture, from WARC-Protocol, which may be repeated, and WARC-Cipher-Suite."""
    written = answer.all("WARC-Protocol")
    layer = next((name for name in written if name.startswith(("tls/", "ssl/"))), "")
    protocol = next((name for name in written if name != layer), "")
    return protocol, f"{layer} {answer.header('WARC-Cipher-Suite')}".strip()
