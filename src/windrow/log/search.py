"""Search a log: the frames that may have a token, without reading the others.

A token is a piece of a frame's text: a URL as the log writes it, the name of an origin, a digest. Each file of the log
has a view per family of tokens with their `postings`, made when it is first needed. That of a complete file stays as it
is; that of the last file is extended. Frames without postings are always among those found; the caller looks through
all of them.
"""

import contextlib
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from windrow.log import following, format, reader, views
from windrow.log.format import Head
from windrow.log.postings import Postings
from windrow.log.reader import Position

NAMES = "names"  # URLs of reports and of seeds; origins; ORDERS
LINKS = "links"  # URLs that pages admitted
COPIES = "copies"  # digests of payloads, and hashes of texts
ORDERS = b"orders"  # the token of a frame with orders

_reported = re.compile(rb'\n\{"url":("[^"]*")').findall
_links = re.compile(rb'\[("http[^"]*")').findall
_ORIGIN = b'"origin":{"name":'  # few lines have it, and `split` passes over the others twice as fast as an expression
_digests = re.compile(rb'"digest":("[^"]*")').findall
_texts = re.compile(rb'"text":([0-9]+)').findall


def _names(text: bytes) -> list[bytes]:
    head = text[: text.find(b"\n")]
    origins = [rest[: rest.index(b'"', 1) + 1] for rest in text.split(_ORIGIN)[1:]]
    return [*_reported(text), *_links(head), *origins, *([ORDERS] if b'"orders":' in head else [])]


TOKENS: dict[str, Callable[[bytes], list[bytes]]] = {  # of the text of a frame
    NAMES: _names,
    LINKS: _links,
    COPIES: lambda text: [*_digests(text), *_texts(text)],
}


def frames(home: Path, wanted: Mapping[str, Sequence[bytes]]) -> Iterator[tuple[Head, list[bytes], Position]]:
    """Yield the frames of a log that may have one of the wanted tokens, which are given by family, in order, as
    `reader.raw_frames` does."""
    for name in reader.names(home):
        places = [_find(home, name, family, tokens) for family, tokens in wanted.items()]
        rest = min((rest for _, rest in places if rest is not None), default=None)
        starts = {start for starts, _ in places for start in starts if rest is None or start < rest}
        for text, end in itertools.chain(_at(home / name, sorted(starts)), _behind(home, name, rest)):
            first, *lines = text.splitlines()
            yield format.head(first), lines, (name, end)


def newest(home: Path, token: bytes) -> Iterator[bytes]:
    """Yield the lines that have one of the NAMES, the last one first."""
    for name in reversed(reader.names(home)):
        starts, rest = _find(home, name, NAMES, [token])
        behind = [text for text, _ in _behind(home, name, rest) if token in text]
        for text in itertools.chain(reversed(behind), (text for text, _ in _at(home / name, reversed(starts)))):
            yield from (line for line in reversed(text.splitlines()[1:]) if token in line)


def _at(path: Path, starts: Iterable[int]) -> Iterator[tuple[bytes, int]]:
    """Yield the text of each frame that begins at one of these offsets, with its end."""
    for start in starts:
        yield from itertools.islice(reader.members_of(path, start), 1)


def _behind(home: Path, name: str, start: int | None) -> Iterator[tuple[bytes, int]]:
    """Yield the texts of all frames of a file from an offset on; of none if that is None."""
    return reader.members_of(home / name, start, reader.ends(home, name)) if start is not None else iter(())


def _find(home: Path, name: str, family: str, tokens: Sequence[bytes]) -> tuple[list[int], int | None]:
    """Return where the frames begin that may have one of these tokens in a file of the log, and where those begin that
    have no postings; None: all have."""
    view = f"{name.partition('.')[0]}.{family}"
    with contextlib.ExitStack() as stack:
        postings = None
        with contextlib.suppress(*views.FAULTS):
            stored = Postings(stack.enter_context(views.open_view(home.parent, view)))
            postings = stored if _fits(home, name, stored) else None
        if _wanting(home, name, postings) and views.writable(home.parent):
            made = _made(home, name, family, postings)
            views.write(home.parent, view, made)
            postings = Postings(io.BytesIO(made))
        if postings is None:
            return [], 0
        try:
            return postings.find(tokens), None if postings.head.complete else postings.head.end
        except ValueError:
            views.remove(home.parent, view)
            return [], 0


def _fits(home: Path, name: str, postings: Postings) -> bool:
    """Return whether postings are of this file of the log, and it was not cut since."""
    head = postings.head
    if head.complete:  # what the next file says of its end was heeded
        size = (home / name).stat().st_size
        return size == head.complete and following.tail(home / name, head.end) == head.tail
    return following.ends_at(home, name, head.end, head.tail)


def _wanting(home: Path, name: str, postings: Postings | None) -> bool:
    """Return whether postings of a file of the log are to be made: of a long log, all that stay as they are."""
    size, end = (home / name).stat().st_size, postings.head.end if postings is not None else 0
    if size >= 1 << 32 or (postings is not None and postings.head.complete):  # a position in the file has 4 bytes
        return False
    long = reader.length(home.parent) >= views.KEEP
    return size - end >= views.KEEP or (long and reader.successor(home, name) is not None)


def _made(home: Path, name: str, family: str, before: Postings | None) -> bytes:
    """Return a view with the postings of all frames of a file of the log; `before`: those that there are."""
    from windrow.log.newpostings import NewPostings

    try:
        made = NewPostings(before)
    except ValueError:
        made = NewPostings()
    # Asked first: the next file begins behind the last frame of this one.
    complete = (home / name).stat().st_size if reader.successor(home, name) is not None else 0
    for text, end in reader.members_of(home / name, made.end, reader.ends(home, name)):
        made.add(TOKENS[family](text), end)
    return made.packed(following.tail(home / name, made.end), complete)
