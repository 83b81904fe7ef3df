"""The hosts and domains that orders block. A block is a name and no row: it also holds for hosts found later."""

from collections.abc import Iterable

from windrow import urls

REMEMBERED = 20_000  # hosts whose answer is remembered: the links of a page share few hosts


class Blocks:
    """Answers whether a host is blocked. Without blocks, `names` is empty and nothing is asked."""

    def __init__(self, names: Iterable[str]) -> None:
        self.replace(names)

    def replace(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        self._known: dict[str, bool] = {}

    def __contains__(self, host: str) -> bool:
        if not self.names:
            return False
        known = self._known.get(host)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            known = self._known[host] = urls.below(host, self.names)
        return known
