"""The takedown list: pages, hosts and domains that no export may contain, because someone requested their removal."""

import re
from collections.abc import Iterable
from pathlib import Path

from windrow import urls
from windrow.config import ConfigError

FILE = "takedown.txt"  # in a crawl's directory


class Takedown:
    def __init__(self) -> None:
        self._names: set[str] = set()  # hosts and domains
        self._pages: set[str] = set()  # URLs without scheme
        self._prefixes: tuple[str, ...] = ()  # beginnings of URLs without scheme

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
            if entry and not self._add(entry):
                raise ConfigError(
                    f"{path}, line {number}: {entry!r} is neither a URL nor a host or domain; fix or remove that line"
                )

    def covers(self, url: str) -> bool:
        """Return whether a canonical URL is on the list."""
        if below(urls.host_of(url), self._names):
            return True
        page = _without_scheme(url)
        return page in self._pages or page.startswith(self._prefixes)

    def _add(self, entry: str) -> bool:
        page = "//" in entry or "/" in entry
        bare = entry.removeprefix("*.")
        if len(bare.split()) > 1:
            return False
        url = urls.parse((bare if "//" in bare else f"http://{bare}").removesuffix("*"))
        if url is None or ("." not in url.host and "[" not in url.host and url.host != "localhost"):
            return False
        if not page:
            self._names.add(url.host)
        elif entry.endswith("*"):
            self._prefixes += (_without_scheme(url.text),)
        else:
            self._pages.add(_without_scheme(url.text))
        return True


def below(name: str, names: Iterable[str]) -> bool:
    """Return whether a host, or a domain above it, is among the names."""
    while name:
        if name in names:
            return True
        name = name.partition(".")[2]
    return False


def _without_scheme(url: str) -> str:
    return url.partition("//")[2]
