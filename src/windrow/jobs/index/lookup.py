"""Look captures up by URL: in the shards of an index, without reading all of it."""

from collections.abc import Iterator
from pathlib import Path

from windrow import urls
from windrow.config import ConfigError
from windrow.jobs.index import sources, table, zipnum
from windrow.jobs.index.table import CdxLine


def home(directory: Path) -> Path:
    """Return the directory of an index; that of a crawl has it inside."""
    for folder in (directory, directory / sources.INDEX):
        if (folder / zipnum.CLUSTER).is_file():
            return folder
    raise ConfigError(f"{directory} has no index; make it with: windrow index {directory}")


def find(directory: Path, pattern: str) -> Iterator[CdxLine]:
    """Yield the captures of a URL, in the order of their time.

    `https://example.org/a*` is every URL that begins so, and `*.example.org` every URL of this host and of those below.
    """
    start, end = bounds(pattern)
    for line in zipnum.search(home(directory), start, end):
        yield table.parse(line)


def bounds(pattern: str) -> tuple[bytes, bytes]:
    """Return the first line that can match, and the first one after it that cannot."""
    if pattern.startswith("*."):
        host = _key(f"http://{pattern[2:].rstrip('/*')}/").partition(")")[0].encode()
        return host + b")", host + b"-"  # in between are the hosts below it, which continue with a comma
    if pattern.endswith("*"):
        key = _key(pattern[:-1]).encode()
        return key, key + b"\xff"
    key = _key(pattern).encode()
    return key + b" ", key + b"!"


def _key(url: str) -> str:
    key = urls.sort_key(url if "://" in url else f"http://{url}")
    if not key:
        raise ConfigError(
            f"{url!r} is not a URL; write https://example.org/page, https://example.org/* or *.example.org"
        )
    return key
