"""A request, the answer to it, a capture or a failure, and where the archive keeps it."""

import msgspec

from windrow.records.task import Reason, Task

Header = tuple[str, str]  # name and value of a field


class Request(msgspec.Struct, frozen=True, gc=False):
    """What a client is to request: one URL, at one address."""

    task: Task
    address: str  # that of the lease
    headers: tuple[Header, ...] = ()  # fields of this request, besides those of every request
    text: str = ""  # the URL to request, if it is not the canonical one of the task
    limit: int = 0  # the most bytes of body to receive; 0: fetch.max_bytes

    @property
    def url(self) -> str:
        return self.text or self.task.url.text


class Rendered(msgspec.Struct, frozen=True, gc=False):
    """A page as a browser shows it when its scripts have run."""

    html: bytes  # the document, as UTF-8
    time: float  # epoch seconds when it was taken, whole milliseconds
    software: str  # the browser, with its version


class Capture(msgspec.Struct, frozen=True, gc=False):
    """One exchange in its stored form: reading it from the WARC file gives an equal record."""

    task: Task
    status: int
    request: bytes  # request line and headers as sent, with the empty line
    head: bytes  # status line and headers as stored, with the empty line
    body: bytes  # decoded
    time: float  # epoch seconds when the request was sent, whole milliseconds
    seconds: float  # until the last byte, whole milliseconds
    ip: str
    protocol: str  # "http/1.0", "http/1.1", "h2"
    cipher: str = ""  # "tls/1.3 TLS_AES_256_GCM_SHA384", empty for plain http
    truncated: str = ""  # "", "length", "time" or "disconnect"
    downloaded: int = 0  # bytes of header and body on the wire
    encoded: bool = False  # the body could not be decoded and is stored as received
    raw: bytes = b""  # the body with its content coding, if that form is stored (fetch.raw_bodies)
    rendered: Rendered | None = None  # of a client that renders pages; not archived yet, see decision 50

    @property
    def stored(self) -> bytes:
        """The body in the form that the archive keeps and hashes."""
        return self.raw or self.body

    @property
    def url(self) -> str:
        return self.task.url.text

    def header(self, name: str) -> str | None:
        """Return the first header of this name, stripped; None if there is none."""
        for value in self.headers(name):
            return value
        return None

    def headers(self, name: str) -> list[str]:
        """Return every value of this header, in order, stripped."""
        wanted = name.lower().encode("latin-1")
        values = []
        for line in self.head.split(b"\r\n")[1:]:
            field, colon, value = line.partition(b":")
            if colon and field.strip().lower() == wanted:
                values.append(value.strip().decode("latin-1"))
        return values


class Failure(msgspec.Struct, frozen=True, gc=False):
    """An exchange without a response to archive."""

    task: Task
    reason: Reason
    detail: str  # one line, for `windrow why`
    time: float  # epoch seconds when it ended
    seconds: float = 0.0
    downloaded: int = 0


class Place(msgspec.Struct, frozen=True, gc=False):
    file: str  # relative to the crawl directory, with forward slashes
    offset: int
    length: int  # of the response record's gzip member
