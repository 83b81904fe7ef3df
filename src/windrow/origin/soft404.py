"""When an origin is asked for a page that cannot exist, and for which."""

from windrow import urls
from windrow.config import Config
from windrow.data import Kind, Robots, Task, Url

_MOST = 100_000  # origins whose pages are counted; then counting begins anew


class Prober:
    """Counts the pages of this run by origin: an origin that gives few is not worth a request more."""

    def __init__(self, options: Config) -> None:
        taken = options.extract.extractor != "none" and options.quality.soft_404 > 0
        self._after = options.quality.probe_after if taken else 0
        self._pages: dict[str, int] = {}

    def count(self, entry: Robots) -> None:
        """A page of the origin came."""
        if self._after and not entry.probe:
            if len(self._pages) >= _MOST:
                self._pages.clear()
            self._pages[entry.origin] = self._pages.get(entry.origin, 0) + 1

    def wants(self, entry: Robots) -> bool:
        return bool(self._after) and not entry.probe and self._pages.get(entry.origin, 0) >= self._after

    def task(self, entry: Robots) -> Task:
        """The same for an origin each time, and nothing that anybody would have."""
        self._pages.pop(entry.origin, None)
        name = f"{urls.key(entry.origin):016x}"
        text = f"{entry.origin}/{name[:8]}-no-such-page-{name[8:]}.html"
        url = urls.parse(text)
        assert url is not None, text
        return Task(Url(text, url.host, url.domain, urls.key(text)), Kind.PROBE)
