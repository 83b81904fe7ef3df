"""The takedown list of a crawl: pages, hosts and domains whose removal someone requested.

The list is `takedown.txt` in the crawl's directory; that of a crawl with shards holds for all of them, besides lists of
their own. It holds everywhere: the crawl does not request what is on it, and exports, rebuilt corpora, reports and
`windrow dedup` leave it out. `windrow purge` removes it from the files.
"""

import re
from pathlib import Path

import msgspec

from windrow import sharding, urls
from windrow.config import ConfigError

FILE = "takedown.txt"  # in a crawl's directory
RULE = "takedown"  # the name of the rule that refuses a URL of the list
UNFINISHED = "purge.redo"  # in a crawl's directory: a purge is under way, or was interrupted


class TakedownLine(msgspec.Struct, frozen=True):
    """One line of a list."""

    file: str
    line: int
    entry: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.entry}"


class Takedown(msgspec.Struct):
    """The lines of one or several lists, ready to be compared with many URLs."""

    _names: dict[str, TakedownLine] = {}  # hosts and domains
    _pages: dict[str, TakedownLine] = {}  # URLs without scheme
    _prefixes: dict[str, TakedownLine] = {}  # beginnings of URLs without scheme
    _starts: tuple[str, ...] = ()  # the same, for str.startswith

    def __bool__(self) -> bool:
        return bool(self._names or self._pages or self._prefixes)

    def read(self, path: Path) -> None:
        """Add a list: one URL, host or domain per line; # begins a comment; * at the end of a URL matches any rest."""
        try:
            lines = path.read_text("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise ConfigError(f"{path} is not UTF-8; it must have one URL, host or domain per line") from None
        for number, line in enumerate(lines, 1):
            entry = re.sub(r"(^|\s)#.*", "", line).strip()
            if entry and not self._add(TakedownLine(path.name, number, entry)):
                raise ConfigError(
                    f"{path}, line {number}: {entry!r} is neither a URL nor a host or domain; fix or remove that line"
                )
        self._starts = tuple(self._prefixes)

    def covers(self, url: str) -> bool:
        """Return whether a canonical URL is on the list."""
        if self._names and urls.below(urls.host_of(url), self._names):
            return True
        page = _without_scheme(url)
        return page in self._pages or page.startswith(self._starts)

    def covers_host(self, host: str) -> bool:
        """Return whether a line names the host, or a domain above it."""
        return urls.below(host, self._names)

    def covers_origin(self, url: str) -> bool:
        """Return whether the list has every page of the origin of a canonical URL."""
        return self.covers_host(urls.host_of(url)) or f"{urls.authority_of(url)}/" in self._prefixes

    def find(self, url: str) -> TakedownLine | None:
        """Return the line that covers a canonical URL; None if it is not on the list."""
        host, page = urls.host_of(url), _without_scheme(url)
        names = (self._names.get(host[at:]) for at in _labels(host))
        prefixes = (listing for start, listing in self._prefixes.items() if page.startswith(start))
        return next(filter(None, (*names, self._pages.get(page), *prefixes)), None)

    def _add(self, listing: TakedownLine) -> bool:
        entry = listing.entry
        bare = entry.removeprefix("*.")
        if len(bare.split()) > 1:
            return False
        url = urls.parse((bare if "//" in bare else f"http://{bare}").removesuffix("*"))
        if url is None or ("." not in url.host and "[" not in url.host and url.host != "localhost"):
            return False
        if "/" not in entry:
            self._names.setdefault(url.host, listing)
        elif entry.endswith("*"):
            self._prefixes.setdefault(_without_scheme(url.text), listing)
        else:
            self._pages.setdefault(_without_scheme(url.text), listing)
        return True


def lists(*crawls: Path) -> list[Path]:
    """Return where the lists of crawl directories are, or would be: of a shard, also that of the whole crawl."""
    return list(dict.fromkeys(place / FILE for crawl in crawls for place in (crawl, sharding.whole(crawl))))


def of(*crawls: Path, extra: Path | None = None) -> Takedown:
    """Join the lists of crawl directories, where they have one, and another list."""
    found = Takedown()
    for path in lists(*crawls):
        if path.exists():
            found.read(path)
    if extra is not None:
        found.read(extra)
    return found


def check_purged(crawl: Path) -> None:
    """Refuse to read the files of a crawl in which a purge was interrupted: one of them may be half overwritten."""
    if (crawl / UNFINISHED).exists():
        raise ConfigError(f"a purge of {crawl} is under way or was interrupted; finish it with: windrow purge {crawl}")


def _labels(host: str) -> list[int]:
    """Return where the labels of a host begin."""
    return [0, *[at + 1 for at, character in enumerate(host) if character == "."]]


def _without_scheme(url: str) -> str:
    return url.partition("//")[2]
