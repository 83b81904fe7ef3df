"""The clients: what sends a request, and makes a Capture or a Failure of whatever happens then.

`fetch.client` names a row of CLIENTS, or the user's own code: a function `build(options, inner)` that returns a client,
see `windrow.plugins`. Its client may hand requests to `inner`, which is curl.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from windrow import plugins
from windrow.config import Config, FetchOptions
from windrow.fetch.client import Client
from windrow.plugins import OpenTable
from windrow.records import Capture, Failure, Request


class Downloader(Protocol):
    """A client. It connects to no other address than that of the request, and follows no redirect."""

    async def get(self, request: Request) -> Capture | Failure: ...  # nothing that a server does raises an exception
    def close(self) -> None: ...  # at the end of the crawl: drop connections, and requests under way


CLIENTS: Mapping[str, Callable[[Config, Downloader | None], Downloader]] = {
    "curl": lambda options, inner: Client(options.fetch, options.identity),
}


def build(options: Config) -> Downloader:
    """Return the client that the options name."""
    table = OpenTable("fetch.client", CLIENTS, inner=FetchOptions().client)
    return plugins.build(table, options.fetch.client, options.plugins, options)
