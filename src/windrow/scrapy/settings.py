"""The settings of Scrapy that begin with `WINDROW_`, and the crawl directory that they describe."""

import math
from pathlib import Path

from scrapy.settings import BaseSettings

from windrow import config
from windrow.config import Config, ConfigError
from windrow.crawler.setup import checks

ORDERS = ("windrow", "fifo")

# A crawl of Scrapy requests what its spider asks for, in the spider's order: option -> value, and the comment for it.
_OURS: dict[str, tuple[object, str]] = {
    "frontier.order": ("breadth", "The spider's priorities, and hosts in turn."),
    "frontier.yield_threshold": ("off", "No site is dropped for giving little text."),
    "scope.homepages": (False, "Only what the spider asks for."),
    "scope.skip_suffixes": ([], "Files of every type, if the spider asks for them."),
    "quality.soft_404": (0.0, "No requests for pages that cannot exist."),
}


def order(settings: BaseSettings) -> str:
    name = settings.get("WINDROW_ORDER") or ORDERS[0]
    if name not in ORDERS:
        raise ConfigError(f"WINDROW_ORDER is {name!r}; write 'windrow' or 'fifo'")
    return str(name)


def archives_itself(settings: BaseSettings) -> bool:
    """Return whether the scheduler is Windrow's, in Windrow's order."""
    scheduler = settings["SCHEDULER"]
    name = scheduler if isinstance(scheduler, str) else f"{scheduler.__module__}.{scheduler.__name__}"
    return name.startswith("windrow.") and order(settings) == "windrow"


def directory(settings: BaseSettings) -> tuple[Path, Config]:
    """Return the crawl directory and its options; make it if there is none.

    `WINDROW_OPTIONS` are options by name, as for --set. They are written into the crawl.toml of a new directory; of one
    that exists they hold for this run.
    """
    name = settings.get("WINDROW_DIR")
    if not name:
        raise ConfigError("WINDROW_DIR is not set; name the directory of the crawl in the settings")
    path = Path(str(name))
    if path.exists() and not path.is_dir():
        raise ConfigError(f"WINDROW_DIR is {path}, which is a file; name another directory for the crawl")
    if (path / "merge.json").exists():
        raise ConfigError(f"WINDROW_DIR is {path}, which is a merged corpus; name another directory for the crawl")
    checks.check_alone(path)
    given = _overrides(settings)
    if (path / "crawl.toml").exists():
        return path, config.load(path / "crawl.toml", given)
    ours = [f"{option}={config.toml(value)}" for option, (value, _) in _OURS.items()]
    options = config.make([*ours, *given], path, Path())
    path.mkdir(parents=True, exist_ok=True)
    (path / options.crawl.seeds).touch()
    (path / "crawl.toml").write_text(
        config.new_file(options, {option: reason for option, (_, reason) in _OURS.items()}), "utf-8"
    )
    return path, options


def lease(settings: BaseSettings, default: float) -> float:
    """Return `WINDROW_LEASE_SECONDS`."""
    value = settings.get("WINDROW_LEASE_SECONDS")
    try:
        seconds = default if value is None else float(value)
    except (TypeError, ValueError):
        seconds = 0.0
    if not 0.0 < seconds < math.inf:
        raise ConfigError(f"WINDROW_LEASE_SECONDS is {value!r}; write a number of seconds above 0, such as {default:g}")
    return seconds


def given(settings: BaseSettings) -> tuple[str, ...]:
    """Return the names of the options that the settings give. They hold instead of those that orders have set."""
    return tuple(override.partition("=")[0] for override in _overrides(settings))


def _overrides(settings: BaseSettings) -> list[str]:
    chosen = dict(settings.getdict("WINDROW_OPTIONS"))
    if contact := settings.get("WINDROW_CONTACT"):
        chosen["identity.contact"] = contact
    return [f"{name}={config.toml(value)}" for name, value in chosen.items()]
