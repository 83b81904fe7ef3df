"""A response or an error of Scrapy as the record that Windrow's archive and frontier know.

Scrapy does not give everything that a client of our own would: names of header fields come in Scrapy's spelling and
grouped by name, the reason phrase and the fields that describe the connection are lost, and the request is the one
that was handed to the downloader. The body is exact: a middleware next to the downloader sees it before it is decoded.
"""

import http

from scrapy import Request
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from scrapy.http import Response
from scrapy.utils.httpobj import urlparse_cached

from windrow.config import FetchOptions
from windrow.fetch.client import stored
from windrow.io import coding
from windrow.records import Capture, Failure, Reason, Task
from windrow.units import printable

_REASONS: tuple[tuple[type[Exception], Reason], ...] = (
    (DownloadTimeoutError, Reason.TIMEOUT),
    (CannotResolveHostError, Reason.DNS),
    (DownloadConnectionRefusedError, Reason.CONNECT),
    (ResponseDataLossError, Reason.DISCONNECT),
    (DownloadFailedError, Reason.DISCONNECT),
    (OSError, Reason.CONNECT),
)
_PHRASES = {status.value: status.phrase.encode() for status in http.HTTPStatus}
_SECRET = (b"Authorization", b"Cookie", b"Proxy-Authorization")  # never archived
_CUT = {"dataloss": "disconnect", "partial": "disconnect", "download_stopped": "length"}  # flags of a Response


def capture(
    task: Task, request: Request, response: Response, times: tuple[float, float], fetch: FetchOptions
) -> Capture | Failure:
    """Return the record of a response as the downloader gave it. `times`: when it was sent, and when it ended."""
    start, end = times
    block = _head(response)
    head = stored.read(block)
    if head is None:
        detail = f"status {response.status} is none of HTTP"
        return Failure(task, Reason.PROTOCOL, detail=detail, time=round(end, 3))
    truncated = next((_CUT[flag] for flag in response.flags if flag in _CUT), "")
    wire = response.body
    if len(wire) > fetch.max_bytes:
        wire, truncated = wire[: fetch.max_bytes], "length"
    decoded = coding.decode(wire, head.encodings, fetch.max_decoded)
    usable = decoded.complete or (truncated and decoded.body)
    body = decoded.body if usable else wire
    raw = wire if fetch.raw_bodies and usable and wire != body else b""
    return Capture(
        task=task,
        status=response.status,
        request=_request(request),
        head=stored.rewrite(head, len(raw or body), keep_coding=fetch.raw_bodies),
        body=body,
        time=round(start, 3),
        seconds=round(max(0.0, end - start), 3),
        ip=str(response.ip_address or ""),
        protocol="h2" if str(response.protocol) in ("h2", "HTTP/2") else "http/1.1",
        truncated=truncated or "length" * decoded.cut,
        downloaded=len(block) + len(response.body),
        encoded=not usable,
        raw=raw,
    )


def failure(task: Task, error: Exception, times: tuple[float, float]) -> Failure:
    start, end = times
    reason = next((reason for kind, reason in _REASONS if isinstance(error, kind)), Reason.PROTOCOL)
    if reason in (Reason.DISCONNECT, Reason.CONNECT, Reason.PROTOCOL) and ("SSL" in str(error) or "TLS" in str(error)):
        reason = Reason.TLS
    detail = printable(f"{type(error).__name__}: {error}"[:200])
    return Failure(task, reason, detail=detail, time=round(end, 3), seconds=round(max(0.0, end - start), 3))


def _head(response: Response) -> bytes:
    phrase = _PHRASES.get(response.status, b"")
    lines = [b"HTTP/1.1 %d %b" % (response.status, phrase)]
    for name, values in response.headers.items():
        lines += [b"%b: %b" % (name, value.replace(b"\r", b" ").replace(b"\n", b" ")) for value in values]
    return b"\r\n".join([*lines, b"", b""])


def _request(request: Request) -> bytes:
    """Return the request as it was handed to the downloader, which adds the fields of the connection."""
    parts = urlparse_cached(request)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [f"{request.method} {path} HTTP/1.1".encode()]
    if b"Host" not in request.headers:
        lines.append(b"Host: " + parts.netloc.rpartition("@")[2].encode())
    for name, values in request.headers.items():
        if name not in _SECRET:
            lines += [b"%b: %b" % (name, value) for value in values]
    return b"\r\n".join([*lines, b"", b""]) + request.body
