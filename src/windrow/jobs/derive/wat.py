"""WAT: for each record of an archive one JSON record that describes it, with the links of its page.

Names, nesting and forms are Common Crawl's, whose files ia-web-commons writes: all numbers are strings, and a header
that occurs twice is a list. Where that program has peculiarities that readers of WAT files meet, they are kept: a
checksum is a signed number, and the length of a request's header leaves out one line end.
"""

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from windrow.archive import derived, fields
from windrow.archive.derived import DescribedRecord
from windrow.archive.members import base32
from windrow.jobs.derive import container, exchange
from windrow.jobs.derive.container import Container
from windrow.jobs.derive.exchange import HtmlPage, ReadRecord

TITLE = 128  # characters
_HTTP = "application/http; msgtype="
_FIELDS = ("application/warc-fields", "application/metadata-fields")  # of warcinfo and metadata records
_encode = msgspec.json.Encoder().encode

Fields = dict[str, Any]


def member(source: ReadRecord, file: Container, about: DescribedRecord) -> bytes:
    """Return the WAT record of a record, as a gzip member."""
    if not about.target and source.record.type == "warcinfo":
        about = about._replace(target=source.record.header("WARC-Filename"))
    return derived.metadata(about, _encode(described(source, file)))


def described(source: ReadRecord, file: Container) -> Fields:
    record = source.record
    packing = file.packing(record)
    header, behind = container.slop(record, packing)
    payload = _payload(source)
    payload["Actual-Content-Length"] = str(record.size)
    if header:
        payload["Trailing-Slop-Length"] = str(behind)
    payload["Block-Digest"] = _digest(record.block)
    envelope: Fields = {"Payload-Metadata": payload, "Format": record.version}
    if header:
        envelope["WARC-Header-Length"] = str(header)
    envelope["WARC-Header-Metadata"] = _collected(record.headers)
    return {"Container": file.describe(record, packing), "Envelope": envelope}


def _payload(source: ReadRecord) -> Fields:
    kind = source.record.type
    if kind == "request" and source.head:
        return {"Actual-Content-Type": f"{_HTTP}request", "HTTP-Request-Metadata": _request(source)}
    if kind in ("response", "revisit") and source.head:
        return {"Actual-Content-Type": f"{_HTTP}response", "HTTP-Response-Metadata": _response(source)}
    if kind == "warcinfo":
        pairs = fields.decode(source.record.block)
        return {"Actual-Content-Type": _FIELDS[0], "WARC-Info-Metadata": pairs}
    if kind == "metadata" and source.record.header("Content-Type") == _FIELDS[0]:
        rows = [{"Name": name, "Value": value} for name, value in fields.decode(source.record.block).items()]
        return {"Actual-Content-Type": _FIELDS[1], "WARC-Metadata-Metadata": {"Metadata-Records": rows}}
    return {"Actual-Content-Type": source.record.header("Content-Type")}


def _request(source: ReadRecord) -> Fields:
    method, path, version = (*_first(source.head).split(" ", 2), "", "")[:3]
    message = {"Method": method, "Path": path, "Version": version}
    return {"Request-Message": message, **_headers(source.head, len(source.head) - 2), **_entity(source.body)}


def _response(source: ReadRecord) -> Fields:
    version, status, reason = (*_first(source.head).split(" ", 2), "", "")[:3]
    message = {"Status": status, "Version": version, "Reason": reason}
    page = {"HTML-Metadata": html(source.page)} if source.page is not None else {}
    return {"Response-Message": message, **_headers(source.head, len(source.head)), **page, **_entity(source.body)}


def html(page: HtmlPage) -> Fields:
    """Return what a page says of itself and where it leads. Empty lists are left out."""
    tags = page.tags
    head: Fields = {}
    if tags.title:
        head["Title"] = tags.title[:TITLE].rstrip()
    if tags.base is not None:
        head["Base"] = tags.base
    for name, records in (("Metas", tags.metas), ("Link", tags.relations), ("Scripts", tags.scripts)):
        if records:
            head[name] = records
    parts: Fields = {"Head": head} if head else {}
    if tags.links:
        parts["Links"] = tags.links
    return parts


def _headers(head: bytes, length: int) -> Fields:
    lines = exchange.header_lines(head)
    pairs = [(name, value) for name, colon, value in lines if colon]
    headers: Fields = {"Headers-Length": str(length)}
    if len(pairs) < len(lines):
        headers["Headers-Corrupt"] = True
    return {**headers, "Headers": _collected(pairs)}


def _first(head: bytes) -> str:
    return exchange.text_of(head.partition(b"\n")[0]).rstrip("\r")


def _entity(body: bytes) -> Fields:
    return {
        "Entity-Length": str(len(body)),
        "Entity-Digest": _digest(body),
        "Entity-Trailing-Slop-Length": "0",
    }


def _digest(data: bytes) -> str:
    return f"sha1:{base32(hashlib.sha1(data, usedforsecurity=False).digest()).decode()}"


def _collected(pairs: Iterable[tuple[str, str]]) -> Fields:
    """Return fields by name; those with one name as a list."""
    collected: Fields = {}
    for name, value in pairs:
        before = collected.get(name)
        if before is None:
            collected[name] = value
        elif isinstance(before, list):
            before.append(value)
        else:
            collected[name] = [before, value]
    return collected


def info() -> list[tuple[str, str]]:
    """Return the fields of the first record of a WAT file besides those that every derived file has."""
    return [
        ("format", "WARC File Format 1.0"),
        ("conformsTo", "http://bibnum.bnf.fr/WARC/WARC_ISO_28500_version1_latestdraft.pdf"),
    ]
