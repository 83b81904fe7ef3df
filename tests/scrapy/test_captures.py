"""A response of Scrapy as a capture: bytes as they were, or marked where they are not."""

import gzip

import pytest
from scrapy import Request
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
)
from scrapy.http import Headers, HtmlResponse, Response

from windrow import urls
from windrow.config import FetchOptions
from windrow.records import Capture, Failure, Reason, Task
from windrow.scrapy import captures

TASK = Task(urls.restored("https://example.org/a?b"))
TIMES = (1000.0, 1000.25)
BODY = b"<p>text" * 100


def capture(response: Response, request: Request | None = None, fetch: FetchOptions | None = None) -> Capture:
    found = captures.capture(TASK, request or Request(TASK.url.text), response, TIMES, fetch or FetchOptions())
    assert isinstance(found, Capture)
    return found


def answer(body: bytes = BODY, status: int = 200, flags: tuple[str, ...] = (), **fields: str) -> Response:
    headers = Headers({name.replace("_", "-"): value for name, value in fields.items()})
    return HtmlResponse(TASK.url.text, status=status, headers=headers, body=body, flags=list(flags))


def test_a_response_is_stored_with_its_headers_and_times() -> None:
    found = capture(answer(Content_Type="text/html", X_Name="a\r\nb"))
    assert found.head == (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Name: a  b\r\nContent-Length: 700\r\n\r\n")
    assert (found.body, found.time, found.seconds, found.truncated) == (BODY, 1000.0, 0.25, "")


def test_a_coded_body_is_stored_decoded_and_with_its_coding_if_that_is_wanted() -> None:
    packed = gzip.compress(BODY)
    plain = capture(answer(packed, Content_Encoding="gzip"))
    assert (plain.body, plain.raw, plain.header("x-crawler-content-encoding")) == (BODY, b"", "gzip")
    raw = capture(answer(packed, Content_Encoding="gzip"), fetch=FetchOptions(raw_bodies=True))
    assert (raw.body, raw.raw, raw.header("content-encoding")) == (BODY, packed, "gzip")
    broken = capture(answer(b"no gzip", Content_Encoding="gzip"))
    assert (broken.body, broken.encoded) == (b"no gzip", True)


@pytest.mark.parametrize(
    ("response", "truncated"),
    [
        (answer(flags=("dataloss",)), "disconnect"),
        (answer(flags=("download_stopped",)), "length"),
        (answer(b"x" * 2000), "length"),
        (answer(gzip.compress(b"x" * 5000), Content_Encoding="gzip"), "length"),
        (answer(), ""),
    ],
)
def test_a_body_that_is_not_complete_is_marked(response: Response, truncated: str) -> None:
    found = capture(response, fetch=FetchOptions(max_bytes=1000, max_decoded=3000))
    assert (found.truncated, len(found.body) <= 3000) == (truncated, True)


def test_the_request_is_stored_without_secrets() -> None:
    request = Request(TASK.url.text, method="POST", body=b"form")
    request.headers["User-Agent"] = "spider"
    for name in ("Cookie", "Authorization", "Proxy-Authorization"):
        request.headers[name] = "secret"
    assert capture(answer(), request).request == (
        b"POST /a?b HTTP/1.1\r\nHost: example.org\r\nUser-Agent: spider\r\n\r\nform"
    )


def test_a_status_that_is_none_of_http_is_a_failure() -> None:
    found = captures.capture(TASK, Request(TASK.url.text), answer(status=42), TIMES, FetchOptions())
    assert isinstance(found, Failure) and found.reason is Reason.PROTOCOL


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DownloadTimeoutError("took too long"), Reason.TIMEOUT),
        (CannotResolveHostError("no name"), Reason.DNS),
        (DownloadConnectionRefusedError("refused"), Reason.CONNECT),
        (DownloadFailedError("[<SSL.Error>]"), Reason.TLS),
        (DownloadFailedError("lost"), Reason.DISCONNECT),
        (ValueError("\x1b[1m"), Reason.PROTOCOL),
    ],
)
def test_an_error_has_a_reason(error: Exception, reason: Reason) -> None:
    found = captures.failure(TASK, error, TIMES)
    assert (found.reason, found.time, found.seconds) == (reason, 1000.25, 0.25)
    assert found.detail.isprintable() and type(error).__name__ in found.detail
