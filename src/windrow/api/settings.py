"""Options of a crawl, given as a dict in Python: {"fetch.delay": 2.0, "scope.tlds": ["cz"]}."""

from collections.abc import Mapping

from windrow import config
from windrow.config import ConfigError

Settings = Mapping[str, object]  # "section.option" -> value


def overrides(*several: Settings | None) -> list[str]:
    """Return settings as the command line writes them, so that they are checked in the same way; the last one wins."""
    merged: dict[str, object] = {}
    for settings in several:
        if settings is not None and not isinstance(settings, Mapping):
            raise ConfigError(f"settings={settings!r} is not a dict; write it as {{'fetch.delay': 2.0}}")
        merged.update(settings or {})
    return [f"{name}={config.toml(value)}" for name, value in merged.items()]
