"""A few random documents of a corpus, for the reader of a report: the beginnings of their texts.

A shard is a sequence of gzip members, one per commit. A sample is found by reading from a random offset to the next
member, so it costs the same in a small and in a large corpus.
"""

import contextlib
import random
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from windrow.config import ConfigError
from windrow.corpus import document
from windrow.records import Document

COUNT = 6
BEGINNING = 400  # characters
_TRIES = 30
_READ = 1 << 20  # bytes from an offset in which a whole member is expected
_MAGIC = b"\x1f\x8b\x08"  # of a gzip member

Hidden = Callable[[str], bool]  # says of a URL that its document must not be shown: its removal was requested


class TextSample(msgspec.Struct, frozen=True):
    """The beginning of a document."""

    url: str
    title: str
    language: str
    text: str


def read(directory: Path, lengths: Mapping[str, int], hidden: Hidden, seed: int = 0) -> list[TextSample]:
    """Return some documents of a crawl; none if its corpus is gone. lengths: the committed bytes of each file."""
    shards = {name: length for name, length in lengths.items() if name.startswith("corpus/") and length}
    shards = {name: length for name, length in shards.items() if (directory / name).is_file()}
    if not shards:
        return []
    chance = random.Random(seed)  # noqa: S311 - the same samples each time
    found: dict[str, TextSample] = {}
    for _ in range(_TRIES):
        (name,) = chance.choices(list(shards), list(shards.values()))
        lines = list(_lines(directory / name, shards[name], chance))
        if lines:
            with contextlib.suppress(ConfigError):  # a damaged line is no sample
                read = document.read(chance.choice(lines), name)
                if not hidden(read.url):
                    found.setdefault(read.url, _sample(read))
        if len(found) == COUNT:
            break
    return list(found.values())


def _lines(path: Path, length: int, chance: random.Random) -> Iterator[bytes]:
    """Yield the lines of the first whole member behind a random offset; of the first one of all if none follows."""
    for offset in (chance.randrange(length), 0):
        with path.open("rb") as file:
            file.seek(offset)
            data = file.read(min(_READ, length - offset))
        at = data.find(_MAGIC)
        while at >= 0:
            inflate = zlib.decompressobj(31)
            with contextlib.suppress(zlib.error):
                text = inflate.decompress(data[at:])
                if inflate.eof and text:
                    yield from text.splitlines()
                    return
            at = data.find(_MAGIC, at + 1)


def _sample(found: Document) -> TextSample:
    text = " ".join(paragraph.text for paragraph in found.paragraphs)
    cut = text if len(text) <= BEGINNING else text[:BEGINNING].rpartition(" ")[0] + " …"
    return TextSample(url=found.url, title=found.title, language=found.language, text=cut)
