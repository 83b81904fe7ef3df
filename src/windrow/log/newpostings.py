"""Makes the postings of one file of a log, or extends them. Apart, because numpy takes a tenth of a second to load."""

import sys
from array import array
from collections.abc import Sequence

import msgspec
import numpy
import xxhash

from windrow.log import postings, views
from windrow.log.postings import Postings, PostingsHead


class NewPostings:
    """Postings in the making."""

    def __init__(self, before: Postings | None = None) -> None:
        """`before`: those that there are. ValueError: they are damaged."""
        hashes, frames = before.all() if before is not None else (array("I"), array("I"))
        self.end = before.head.end if before is not None else 0  # bytes of the log's file that have postings
        self._starts = before.starts if before is not None else array("I")
        self._rows = [numpy.array(hashes, "u8") << 32 | numpy.array(frames, "u8")]  # a hash, and a frame

    def add(self, tokens: Sequence[bytes], end: int) -> None:
        """Add the tokens of the next frame, which ends there."""
        hashes = numpy.fromiter(map(xxhash.xxh3_64_intdigest, tokens), "u8", len(tokens))
        self._rows.append(hashes >> 32 << 32 | len(self._starts))
        self._starts.append(self.end)
        self.end = end

    def packed(self, tail: bytes, complete: int) -> bytes:
        """Return the view; `tail` and `complete`: see its head."""
        rows = numpy.sort(numpy.concatenate(self._rows))
        keys, frames = (rows >> 32).astype("u4"), rows.astype(postings.code(len(self._starts)))
        size = postings.BLOCK
        blocks = [keys[at : at + size].tobytes() + frames[at : at + size].tobytes() for at in range(0, len(rows), size)]
        head = PostingsHead(
            form=postings.FORM,
            end=self.end,
            tail=tail,
            complete=complete,
            count=len(rows),
            starts=self._starts.tobytes(),
            firsts=keys[::size].tobytes(),
            sums=array("I", map(xxhash.xxh32_intdigest, blocks)).tobytes(),
        )
        data = msgspec.msgpack.encode(head)
        return views.sealed(len(data).to_bytes(4, sys.byteorder) + data) + b"".join(blocks)
