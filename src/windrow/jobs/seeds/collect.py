"""From any source to a list of seeds: canonical URLs, each once, with a limit per host."""

import gzip
import io
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from windrow import archive, urls
from windrow.archive import cdxj, fields, records
from windrow.config import ConfigError
from windrow.extraction.readers import sitemap
from windrow.frontier.seeds import line_url
from windrow.io import storage
from windrow.io.streams import ByteStream
from windrow.jobs.seeds import dump

DEPTH = 3  # sitemap indexes in indexes
_UNPACKED = 1 << 30  # bytes of a remote file
_HTML = ("text/html", "application/xhtml+xml")

Complain = Callable[[str], None]  # called with a sentence about what cannot be read


def unique(found: Iterable[str], per_host: int = 0) -> Iterator[str]:
    """Yield canonical URLs, each once, and of a host at most so many; 0: all."""
    seen: set[int] = set()
    hosts: Counter[str] = Counter()
    for text in found:
        url = urls.parse(text)
        if url is None or url.key in seen or (per_host and hosts[url.host] >= per_host):
            continue
        seen.add(url.key)
        hosts[url.host] += 1
        yield url.text


def read(source: str, complain: Complain) -> Iterator[str]:
    """Yield the URLs of a file or URL, whatever it is. A part that cannot be read is named."""
    yield from _read(source, complain, DEPTH)


def _read(source: str, complain: Complain, depth: int) -> Iterator[str]:
    if storage.is_remote(source):
        yield from _read_remote(source, complain, depth)
        return
    path = Path(source)
    if not path.is_file():
        raise ConfigError(f"{source}: there is no such file; check the path")
    if archive.is_archive(path):
        yield from _archived(path, complain)
        return
    stream = ByteStream(path)
    try:
        start = stream.peek(sitemap.START)
        if dump.is_dump(start):
            yield from dump.links(stream.parts(b""), source)
        elif sitemap.is_sitemap(start):
            yield from _sitemap(source, start, iter(stream.read, b""), complain, depth)
        else:
            yield from _lines(source, stream.parts(b""), complain)
    finally:
        stream.close()


def _read_remote(source: str, complain: Complain, depth: int) -> Iterator[str]:
    """Read a sitemap or a list by its URL."""
    system, path = storage.filesystem(source)
    data: bytes = storage.attempt(source, lambda: system.cat_file(path))
    try:
        if data.startswith(b"\x1f\x8b"):
            with gzip.open(io.BytesIO(data)) as packed:
                data = packed.read(_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{source} is incomplete or damaged gzip ({error})") from None
    if len(data) > _UNPACKED:
        raise ConfigError(f"{source} has more than {_UNPACKED >> 30} GiB unpacked; download it, and name the file")
    start = data[: sitemap.START]
    if sitemap.is_sitemap(start):
        yield from _sitemap(source, start, iter([data]), complain, depth)
    else:
        yield from _lines(source, io.BytesIO(data), complain)


def _sitemap(source: str, start: bytes, chunks: Iterator[bytes], complain: Complain, depth: int) -> Iterator[str]:
    if not sitemap.is_index(start):
        yield from (location for location, _ in sitemap.entries(chunks))
        return
    for inner, _ in sitemap.entries(chunks):
        place = _inner(source, inner)
        if not place or not depth:
            complain(f"{source}: the sitemap {inner} of this index is not next to it; name it as a source of its own")
            continue
        try:
            yield from _read(place, complain, depth - 1)
        except ConfigError as error:
            complain(str(error))


def _inner(source: str, url: str) -> str:
    """Return where a sitemap of an index is: at its URL, if the index came from one, else beside the file."""
    if storage.is_remote(source):
        return url if storage.scheme(url) in ("http", "https") else ""
    beside = Path(source).with_name(url.partition("?")[0].rpartition("/")[2] or "-")
    return str(beside) if beside.is_file() else ""


def _archived(path: Path, complain: Complain) -> Iterator[str]:
    """Yield the URLs of the pages in an archive file."""
    for record in records(path, report=lambda damage: complain(f"{damage}; skipped")):
        if record.type == "response" and cdxj.mime(record) in _HTML and 200 <= fields.status(record.block) < 300:
            yield record.target


def _lines(source: str, lines: Iterable[bytes], complain: Complain) -> Iterator[str]:
    """Yield the URLs of a list: one URL, host or domain per line."""
    for number, line in enumerate(lines, 1):
        text = line.decode("utf-8", "replace").removeprefix("\ufeff").partition("\t")[0]
        found = line_url(text)
        if found is not None:
            yield found.text
        elif text.partition("#")[0].strip():
            complain(f"{source}, line {number}: {text.strip()[:100]!r} is neither a URL nor a host")
