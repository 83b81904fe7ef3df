"""A request of Scrapy as a task of the frontier, and back.

The frontier knows a URL; everything else of a request travels with it in `Task.request`, as msgpack of what
`Request.to_dict` returns, without defaults. It is data only: nothing in it is run when it is read, unlike the pickles
of other queues.

A URL is one page. A request that asks its URL for something else (POST, a body) or that wants it once more
(`dont_filter`) has a fragment in the frontier and in the log, by which it is a URL of its own: `#post-FINGERPRINT`,
`#again-RANDOM`. Scrapy and the archive never see it; the corpus does.
"""

import secrets
import sys
from typing import Any

import msgspec
from scrapy import Request, Spider
from scrapy.utils.request import fingerprint, request_from_dict

from windrow import urls
from windrow.records import MOST_REQUEST, Task, Url

TOKEN = "windrow"  # noqa: S105 - no secret: key in `Request.meta`: the number of the exchange that a request belongs to
FIRST, MIDDLE, LAST = 0, 128, 255  # ranks of the frontier; Scrapy's priority 0 is the middle

_DEFAULTS: dict[str, Any] = {
    "callback": None,
    "errback": None,
    "headers": {},
    "cb_kwargs": {},
    "meta": {},
    "method": "GET",
    "body": b"",
    "cookies": {},
    "encoding": "utf-8",
    "priority": 0,
    "dont_filter": False,
    "flags": [],
}


class Unwritable(ValueError):
    """A request that cannot be written down."""


def encode(request: Request, spider: Spider, url: str = "") -> bytes:
    """Return a request without its defaults. `url`: the URL that is stored with it."""
    try:
        fields = request.to_dict(spider=spider)
        fields["meta"] = {key: value for key, value in fields["meta"].items() if key != TOKEN}
        kept = {key: value for key, value in fields.items() if key not in _DEFAULTS or value != _DEFAULTS[key]}
        if kept["url"] == url:
            del kept["url"]
        data = msgspec.msgpack.encode(kept) if kept else b""
    except (TypeError, ValueError, OverflowError) as error:
        raise Unwritable(f"{request} cannot be stored: {error}; use plain values in its meta and cb_kwargs") from error
    if len(data) > MOST_REQUEST:
        raise Unwritable(f"{request} cannot be stored: it has {len(data):,} bytes, more than {MOST_REQUEST:,}")
    return data


def decode(data: bytes, spider: Spider, url: str = "") -> Request:
    """Return the request. ValueError if it is damaged, or names a method that the spider does not have."""
    try:
        fields: dict[str, Any] = msgspec.msgpack.decode(data, type=dict[str, Any]) if data else {}
        fields.setdefault("url", url)
        _check_class(fields.get("_class", ""))
        return request_from_dict(fields, spider=spider)
    except (msgspec.DecodeError, TypeError, AttributeError) as error:
        raise ValueError(f"a stored request is damaged: {error}") from error


def _check_class(name: str) -> None:
    """Refuse a class that is no request, or whose module nobody has imported: data does not choose code."""
    module, _, attribute = name.rpartition(".")
    if name and not (
        isinstance(kind := getattr(sys.modules.get(module), attribute, None), type) and issubclass(kind, Request)
    ):
        raise ValueError(f"a stored request is of the class {name}, which this program has not imported")


def address(request: Request, again: bool) -> Url | None:
    """Return the URL by which the frontier knows a request; None if it is not an http or https URL.

    `again`: the page is wanted once more, whether or not it was requested before.
    """
    url = urls.parse(request.url)
    if url is None:
        return None
    if again:
        return urls.restored(f"{url.text}#again-{secrets.token_hex(8)}")
    if request.method != "GET" or request.body:
        return urls.restored(f"{url.text}#{request.method.lower()}-{fingerprint(request).hex()[:16]}")
    return url


def plain(task: Task) -> Task:
    """Return the task as rules and the archive see it: without the fragment, and without Scrapy's part."""
    text, mark, _ = task.url.text.partition("#")
    url = urls.restored(text) if mark else task.url
    return msgspec.structs.replace(task, url=url, request=b"") if mark or task.request else task


def rank(priority: int) -> int:
    """Return the rank for a priority of Scrapy, where higher comes first."""
    return max(FIRST, min(LAST, MIDDLE - priority))
