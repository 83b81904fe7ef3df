"""The capture that one record holds alone, without the request and the metadata record that belong to it.

`reader` joins the records of an exchange. A job that looks at one record at a time needs no more than this.
"""

import msgspec

from windrow.archive import fields
from windrow.archive.record import WarcRecord
from windrow.records import Capture, Task, Url


def capture_of(record: WarcRecord, url: Url) -> Capture:
    """Return the http message of a record with its body as it is stored; `bodies.decoded` undoes the codings.

    Of a resource or conversion, it is the response that a server would have sent with it. A request has the status 0.
    """
    if record.type in ("resource", "conversion"):
        record = as_response(record)
    head, body = fields.split(record.block, {})
    return Capture(
        task=Task(url),
        status=fields.status(head) if record.type != "request" else 0,
        request=b"",
        head=fields.regular(head),
        body=body,
        time=fields.epoch(record.header("WARC-Date")),
        seconds=0.0,
        ip=record.header("WARC-IP-Address"),
        protocol="",
        truncated=record.header("WARC-Truncated"),
        encoded=fields.encoded(head),
    )


def as_response(resource: WarcRecord) -> WarcRecord:
    """Return the response that a server would have sent with this file."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {resource.header('Content-Type')}\r\n\r\n".encode("latin-1", "replace")
    others = [(name, value) for name, value in resource.headers if name.lower() not in ("warc-type", "content-type")]
    headers = (("WARC-Type", "response"), ("Content-Type", "application/http;msgtype=response"), *others)
    return msgspec.structs.replace(resource, headers=headers, block=head + resource.block)
