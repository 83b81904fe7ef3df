"""The soft-404 probe: a request for a page that cannot exist, to learn how an origin says "not found".

Some hosts send their "not found" page with status 200. A crawl requests one page that cannot exist from each origin
that has given some pages. If the response is a page, a worker process condenses its text into a sketch, and the judge
`soft404` compares later pages of the origin with it.
"""

from windrow import urls
from windrow.config import Config
from windrow.records import FileState, Origin, OriginFile

MOST = 100_000  # origins whose pages are counted; then counting starts again


def wanted(config: Config) -> bool:
    return config.extract.extractor != "none" and config.quality.soft_404 > 0 and config.quality.probe_after > 0


def path(origin: str) -> str:
    """Return a path that no origin has, always the same for one origin."""
    name = f"{urls.key(origin):016x}"
    return f"/{name[:8]}-no-such-page-{name[8:]}.html"


def file(sketch: str) -> OriginFile:
    """Return the record of a soft-404 probe; an empty sketch says that the origin reports "not found" properly."""
    return OriginFile(FileState.PRESENT, sketch) if sketch else OriginFile(FileState.ABSENT)


class Probes:
    """Counts the pages of this run per origin: an origin that gives few pages is not worth a soft-404 probe."""

    def __init__(self, config: Config, name: str) -> None:
        self._after = config.quality.probe_after if wanted(config) else 0
        self._name = name
        self._pages: dict[str, int] = {}

    def count(self, origin: Origin) -> None:
        """Count a page of the origin, if a soft-404 probe may still follow."""
        if self._after and self._name not in origin.files:
            if len(self._pages) >= MOST:
                self._pages.clear()
            self._pages[origin.name] = self._pages.get(origin.name, 0) + 1

    def due(self, origin: Origin) -> bool:
        """Return whether the origin gave enough pages, and has not been probed since its robots.txt was fetched."""
        return bool(self._after) and self._name not in origin.files and self._pages.get(origin.name, 0) >= self._after

    def sent(self, origin: Origin) -> None:
        """Start counting again: the soft-404 probe is in flight."""
        self._pages.pop(origin.name, None)

    def postpone(self, origin: Origin) -> None:
        """Send the soft-404 probe with the next page: this one did not reach the origin."""
        self._pages[origin.name] = self._after
