"""Gives orders to a crawl, running or not: one function per verb, for the command line and for other programs.

An order is a file in `orders/`, written whole or not at all. A running crawl takes it after its next commit, any other
crawl at its next start; see `control` for that side.
"""

import contextlib
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from windrow import config, files, log, orders, urls
from windrow.config import Config, ConfigError
from windrow.crawler.setup import checks
from windrow.frontier import seeds
from windrow.frontier.policy.scope import Scope
from windrow.inspect.status import is_running
from windrow.records import Controls, Order, Task

PATIENCE = 5.0  # seconds to wait until a running crawl has taken an order
_POLL = 0.05  # seconds


class Given(msgspec.Struct):
    """An order and what became of it so far."""

    order: Order
    state: str  # "taken", "begun" (parts of it are done), "waiting", "next-start" or "not-running"
    reopened: dict[str, int] = {}  # URLs that wait again, by the reason with which they had ended
    admitted: int = 0  # new seeds
    refused: dict[str, int] = {}  # seeds that were not admitted, by rule


class Seeds(msgspec.Struct):
    """URLs for `add`, and those that the scope refuses."""

    tasks: list[Task]
    refused: dict[str, str]  # URL -> rule


def pause(directory: Path, patience: float = PATIENCE) -> Given:
    """Let a crawl send no further request until it is resumed, also after a restart."""
    return give(directory, orders.make("pause"), patience)


def resume(directory: Path, patience: float = PATIENCE) -> Given:
    """Let a paused crawl continue."""
    return give(directory, orders.make("resume"), patience)


def stop(directory: Path, patience: float = PATIENCE) -> Given:
    """End a running crawl cleanly. One that does not run gets no order: it would stop the next start."""
    order = orders.make("stop")
    log.home(directory)
    if not is_running(directory):
        return Given(order, "not-running")
    given = give(directory, order, patience)
    if given.state == "next-start":  # the crawl ended before it took the order
        _path(directory, order).unlink(missing_ok=True)
        return Given(order, "not-running")
    return given


def block(directory: Path, names: Iterable[str], patience: float = PATIENCE) -> Given:
    """Request nothing more from these hosts and domains: their URLs end as `blocked`, and links to them are refused."""
    return give(directory, orders.make("block", names), patience)


def unblock(directory: Path, names: Iterable[str], patience: float = PATIENCE) -> Given:
    """Let blocked names in again. Their URLs that ended by the block wait again."""
    return give(directory, orders.make("unblock", names), patience)


def add(directory: Path, tasks: Iterable[Task], patience: float = PATIENCE) -> Given:
    """Add seeds."""
    return give(directory, orders.make("add", [task.url.text for task in tasks]), patience)


def change(directory: Path, settings: Iterable[str], patience: float = PATIENCE) -> Given:
    """Change options, each "NAME=VALUE"; without a value, the one of crawl.toml holds again."""
    order = orders.make("set", settings)
    if any(value.startswith("focus.") for value in order.values):
        log.home(directory)
        if (directory / "crawl.toml").exists() and not is_running(directory):  # else the crawl itself says so
            _check_boundaries(directory, order)
    return give(directory, order, patience)


def _check_boundaries(directory: Path, order: Order) -> None:
    """Refuse boundaries of the topic that do not rise now, not when the crawl starts: nobody may be there then."""
    start = config.load(directory / "crawl.toml")
    controls = Controls()
    for head, _, _ in log.raw_frames(directory / "log"):
        for done in head.orders:
            controls = orders.apply(controls, done)
    for path in sorted((directory / orders.DIRECTORY).glob("*.json")):
        with contextlib.suppress(ConfigError, OSError):  # the next start refuses it
            after = orders.apply(controls, orders.decode(path.read_bytes()))
            config.check_boundaries(orders.effective(start, after, directory), "")
            controls = after
    config.check_boundaries(orders.effective(start, orders.apply(controls, order), directory), "with this order")


def retry(directory: Path, reasons: Iterable[str], hosts: Iterable[str] = (), patience: float = PATIENCE) -> Given:
    """Let URLs that ended with these reasons wait again, on these hosts only or on all, as if never tried."""
    return give(directory, orders.make("retry", reasons, hosts), patience)


def give(directory: Path, order: Order, patience: float) -> Given:
    """Write an order; wait so many seconds for a running crawl to take it. ConfigError if the crawl refuses it."""
    log.home(directory)  # refuses a directory without a crawl
    last = max(log.names(directory / "log"), default="")
    path = leave(directory, order)
    end = time.monotonic() + patience
    while is_running(directory) and path.exists() and time.monotonic() < end:
        time.sleep(_POLL)
    aside = path.parent / orders.REFUSED / f"{path.name}.txt"
    if aside.exists():
        raise ConfigError(f"the crawl did not carry out this order: {aside.read_text().strip()}")
    waiting, running = path.exists(), is_running(directory)
    parts = _parts(directory, order, last)
    complete = not waiting or any(part.end is None for part in parts)
    state = "taken" if complete else "next-start" if not running else "begun" if parts else "waiting"
    given = Given(order, state)
    for part in parts:
        given.admitted += part.admitted
        for counts, more in ((given.reopened, part.reopened), (given.refused, part.refused)):
            for name, count in more.items():
                counts[name] = counts.get(name, 0) + count
    return given


def leave(directory: Path, order: Order) -> Path:
    """Write the file of an order and do not wait; return its path."""
    (directory / orders.DIRECTORY).mkdir(exist_ok=True)
    path = _path(directory, order)
    files.write(path, orders.encode(order))
    return path


def _path(directory: Path, order: Order) -> Path:
    return directory / orders.DIRECTORY / orders.file_name(order)


def _parts(directory: Path, order: Order, start: str) -> list[Order]:
    """Return the parts of an order that the log has, from this file of it on."""
    heads = log.raw_frames(directory / "log", (start, 0))
    return [part for head, _, _ in heads for part in head.orders if part.id == order.id]


def read_seeds(sources: Sequence[str], options: Config) -> Seeds:
    """Return the URLs that are given, or are in the given files, and which of them the scope refuses."""
    found: dict[int, Task] = {}
    for source in sources:
        url = urls.parse(source)  # only with a scheme: a name without one is a file, or a file that was misspelt
        if url is None and source != "-" and not Path(source).is_file():
            what = f"{source} is a directory" if Path(source).is_dir() else f"there is no file {source}"
            raise ConfigError(f"{what}, and no URL; check the path, or write https://…")
        for task in seeds.tasks([url] if url is not None else seeds.read(source)):
            found.setdefault(task.url.key, task)
    checks.check_contact(options, list(found.values()))
    scope = Scope(options.scope)
    rules = {task.url.text: scope.refuses(task.url) for task in found.values()}
    kept = [task for task in found.values() if not rules[task.url.text]]
    return Seeds(kept, {text: rule for text, rule in rules.items() if rule})


class Finished:
    """Counts the URLs that a retry would reopen, in one pass over the log. Only those that count are in memory."""

    reads = ("url", "kind", "final", "reason", "due")

    def __init__(self, order: Order) -> None:
        self._order = order
        self._reasons = orders.reopens(order)[0]
        self._ended: dict[tuple[str, int], str] = {}  # by host and key

    def add(self, head: log.Head, lines: Sequence[log.Line]) -> None:
        for order in head.orders:
            reasons = orders.reopens(order)[0] if order.reopened else ()
            gone = [place for place, name in self._ended.items() if name in reasons and orders.covers(order, *place)]
            for place in gone:
                del self._ended[place]
        for line in lines:
            self._add(line)

    def _add(self, line: log.Line) -> None:
        if line.kind or not line.final:
            return
        host = urls.host_of(line.url)
        if orders.covers(self._order, host, 0):
            place = (host, urls.key(line.url))
            if line.reason in self._reasons and not line.due:
                self._ended[place] = line.reason
            else:
                self._ended.pop(place, None)

    def counts(self) -> dict[str, int]:
        found = dict.fromkeys(self._order.values, 0)
        for name in self._ended.values():
            found[name] += 1
        return found


def count(directory: Path, reasons: Iterable[str], hosts: Iterable[str] = ()) -> dict[str, int]:
    """Return how many URLs a retry would reopen, by reason."""
    order = orders.make("retry", reasons, hosts)
    tally = log.Tally() if order.hosts else log.fold(directory).tally
    if order.hosts or tally.due:  # an order lets no URL wait again that is to be visited again
        finished = Finished(order)
        log.follow(directory, log.START, finished)
        return finished.counts()
    return {name: tally.finished.get(name, 0) for name in order.values}
