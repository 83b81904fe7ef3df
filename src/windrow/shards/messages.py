"""The messages between shards, and their bytes.

Batches go into the inbox of their receiver. The others are registers: the latest value counts, and is said again now
and then, so that nothing depends on one of them arriving.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import zstandard

from windrow import urls
from windrow.records import MOST_DESCRIBED, Capture, Failure, LimitCounts, Reason, Task, Watermark

FORMAT = 1  # of these messages; a job is written by one version of them
LARGEST = 256 << 20  # bytes of links in a batch, unpacked: more is not believed
_REASONS = tuple(Reason)  # their positions never change
_POSITIONS = {reason: at for at, reason in enumerate(_REASONS)}


class MessageError(ValueError):
    """Bytes that are not a message: damaged, or written by another program."""


class Errand(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A well-known file that the receiver is to request for an origin of the sender; see `errands`."""

    id: str
    task: Task


class ErrandReply(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The answer to an errand: a capture or a failure."""

    errand: str
    capture: Capture | None = None
    failure: Failure | None = None


class Batch(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """All links to the receiver in the frames of the sender after `previous`, up to and with `frame`."""

    sender: int
    incarnation: int  # of the sender
    previous: int
    frame: int
    links: bytes  # see `pack`


class Hello(msgspec.Struct, frozen=True, array_like=True):
    """A sender to one receiver: who I am, since when, and the last frame with links to you."""

    incarnation: int
    tail: int
    incarnations: tuple[Watermark, ...]  # see Exchanged
    errands: tuple[Errand, ...] = ()


class Ack(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A receiver to one sender: what I have, durably. A new `asked` means: send what follows again."""

    incarnation: int  # of the receiver
    mark: Watermark
    asked: int = 0
    told: tuple[ErrandReply, ...] = ()


class Standing(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What a shard says of itself, to all."""

    incarnation: int
    frame: int = 0  # the last one
    idle: bool = False  # it has nothing to do, nothing in flight and nothing that is not committed
    ended: tuple[int, ...] = ()  # it knows that the crawl is at its end: the incarnations of all shards then
    waiting: int = 0  # URLs
    finished: int = 0  # URLs
    rate: float = 0.0  # pages per second
    made: LimitCounts = LimitCounts()
    run: str = ""  # which run of the crawl `made.pages` counts in; empty: the whole job is one
    reasons: dict[int, int] = {}  # URLs finished, by the position of their reason; see `by_position`


def by_position(finished: Mapping[Reason, int]) -> dict[int, int]:
    """Return counts by reason as a standing has them: some 5 bytes for each reason that occurs."""
    return {_POSITIONS[reason]: count for reason, count in finished.items() if count}


def by_name(reasons: Mapping[int, int]) -> dict[str, int]:
    """Return the counts of a standing by the name of the reason. A newer Windrow may know more of them."""
    return {_REASONS[at].value if at < len(_REASONS) else f"reason {at}": count for at, count in reasons.items()}


class _Page(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Links of one page that have all but their URL in common."""

    via: str
    priority: int
    depth: int
    distance: int
    redirects: int
    embed: int
    urls: list[str]
    hints: list[bytes] = []  # one per URL, if any of them has some


def pack(tasks: Iterable[Task]) -> bytes:
    """Return links as bytes: about 20 per link."""
    pages: list[_Page] = []
    last: tuple[str, int, int, int, int, int] | None = None
    for task in tasks:
        common = (task.via, task.priority, task.depth, task.distance, task.redirects, task.embed)
        if common != last:
            pages.append(_page(common))
            last = common
        page = pages[-1]
        page.urls.append(task.url.text)
        page.hints.append(task.hints)
    for page in pages:
        if not any(page.hints):
            page.hints.clear()
    return _compressor().compress(_encode(pages))


def _page(common: tuple[str, int, int, int, int, int]) -> _Page:
    via, priority, depth, distance, redirects, embed = common
    return _Page(via, priority, depth=depth, distance=distance, redirects=redirects, embed=embed, urls=[], hints=[])


def unpack(data: bytes) -> list[Task]:
    """Return the links behind these bytes; MessageError if they are not such bytes."""
    try:
        size = zstandard.get_frame_parameters(data).content_size
        if size > LARGEST:
            raise MessageError(f"{size} bytes of links in one batch")
        return [task for page in _pages(_decompressor().decompress(data)) for task in _tasks(page)]
    except (zstandard.ZstdError, msgspec.MsgspecError, ValueError) as error:
        raise MessageError(f"a batch cannot be read: {error}") from None


def _tasks(page: _Page) -> Iterable[Task]:
    hints: Sequence[bytes] = page.hints or [b""] * len(page.urls)
    if len(hints) != len(page.urls) or len(max(hints, key=len, default=b"")) > MOST_DESCRIBED:
        raise MessageError("the hints of a page do not fit its links")
    for text, hint in zip(page.urls, hints, strict=True):
        yield Task(
            urls.restored(text),
            priority=page.priority,
            depth=page.depth,
            distance=page.distance,
            redirects=page.redirects,
            via=page.via,
            embed=page.embed,
            hints=hint,
        )


@functools.cache  # one per process: making one costs more than a batch
def _compressor() -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=1)


@functools.cache
def _decompressor() -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor()


_encode = msgspec.msgpack.Encoder().encode
encode = _encode
_pages = msgspec.msgpack.Decoder(list[_Page]).decode
_batch = msgspec.msgpack.Decoder(Batch).decode
_hello = msgspec.msgpack.Decoder(Hello).decode
_ack = msgspec.msgpack.Decoder(Ack).decode
_standing = msgspec.msgpack.Decoder(Standing).decode
_incarnations = msgspec.msgpack.Decoder(tuple[Watermark, ...]).decode


def batch(data: bytes) -> Batch:
    """Return the batch behind these bytes, with its links still packed; MessageError if they are none."""
    try:
        return _batch(data)
    except (msgspec.MsgspecError, ValueError) as error:
        raise MessageError(f"not a batch: {error}") from None


def hello(data: bytes) -> Hello:
    try:
        return _hello(data)
    except (msgspec.MsgspecError, ValueError) as error:
        raise MessageError(f"not a hello: {error}") from None


def ack(data: bytes) -> Ack:
    try:
        return _ack(data)
    except (msgspec.MsgspecError, ValueError) as error:
        raise MessageError(f"not an ack: {error}") from None


def standing(data: bytes) -> Standing:
    try:
        return _standing(data)
    except (msgspec.MsgspecError, ValueError) as error:
        raise MessageError(f"not the standing of a shard: {error}") from None


def incarnations(data: bytes) -> tuple[Watermark, ...]:
    """Return the incarnations of a shard, each with its first frame."""
    try:
        return _incarnations(data)
    except (msgspec.MsgspecError, ValueError) as error:
        raise MessageError(f"not the incarnations of a shard: {error}") from None
