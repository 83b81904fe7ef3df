"""How much of a corpus counts: what its crawl has committed, by its log. The rest may be half a page, or be written just now."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from windrow import log
from windrow.config import ConfigError
from windrow.corpus import reader, shards


class Lengths:
    """Bytes of a file that count; None: all, because it is no shard of a crawl. Each log is read once."""

    def __init__(self) -> None:
        self._known: dict[Path, Mapping[str, int] | None] = {}

    def __call__(self, path: Path) -> int | None:
        home = reader.home(path)
        if home is None or home.resolve() / shards.DIRECTORY not in path.resolve().parents:
            return None
        if home not in self._known:
            self._known[home] = _committed(home)
        known = self._known[home]
        return None if known is None else known.get("/".join(path.resolve().parts[-3:]), 0)


def _committed(home: Path) -> dict[str, int] | None:
    """The lengths of a crawl's files, by path relative to its directory; None where there is no log to ask."""
    if not log.names(home / "log"):
        return None
    found: dict[str, int] = {}
    number = 0
    try:
        for head, _, (name, _) in log.texts(home / "log"):
            if number and head.frame != number + 1:
                raise ConfigError(
                    f"{home / 'log' / name}: frame {head.frame} follows frame {number}; a file of the log is damaged or missing"
                )
            number = head.frame
            found.update(head.lengths)
    except msgspec.MsgspecError as error:
        raise ConfigError(f"{home / 'log'} cannot be read ({error}); it is damaged, or a newer Windrow wrote it") from None
    return found
