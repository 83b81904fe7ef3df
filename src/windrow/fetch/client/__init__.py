"""The HTTP client: one GET per call, many at once, over libcurl. No other part of Windrow imports pycurl.

`session` holds the Client, which callers use: `await client.get(request)`. `request` writes the header we send.
`exchange` is one curl handle and the bytes it receives. `multi` drives all open exchanges from one asyncio event loop.
`lenient` reads answers that libcurl refuses and browsers show.
`outcome` turns an ended exchange into a Capture or a Failure; `stored` rewrites the response header for the archive.
`peers` remembers facts about servers: checked addresses, TLS ciphers, and hosts whose connections are not used twice.
"""

from windrow.fetch.client.session import Client

__all__ = ["Client"]
