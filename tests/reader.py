"""A plain HTTP client from the standard library: an independent check of the servers on loopback."""

import html.parser
import http.client
import re
from urllib.parse import urljoin, urlsplit


class Answer:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()


class Reader:
    """Request the pages of any host from one address."""

    def __init__(self, port: int, address: str = "127.0.0.1") -> None:
        self._connection = http.client.HTTPConnection(address, port, timeout=20)

    def get(self, url: str, **headers: str) -> Answer:
        parts = urlsplit(url)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        self._connection.request("GET", path, headers={"Host": parts.netloc, **headers})
        return Answer(self._connection.getresponse())

    def close(self) -> None:
        self._connection.close()


class _Anchors(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.followed: list[str] = []
        self.nofollow = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in values and values.get("rel") != "nofollow":
            self.followed.append(values["href"])
        if tag == "meta" and values.get("name") == "robots":
            self.nofollow = True


def links(base: str, body: bytes) -> set[str]:
    """Return the links to follow: absolute, without fragments and session ids. Addresses on the page must be ASCII."""
    parser = _Anchors()
    parser.feed(body.decode("utf-16" if body.startswith(b"\xff\xfe") else "latin-1"))
    joined = {urljoin(base, link) for link in parser.followed if not parser.nofollow}
    return {re.sub(r";jsessionid=\w+|\?PHPSESSID=\w+|#.*", "", link) for link in joined if link.startswith("http:")}
