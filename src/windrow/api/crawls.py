"""`windrow.init`, `crawl` and `status`: make a crawl directory, run it, and look at its counts.

A crawl has an event loop of its own, in a thread: a notebook already runs one in the main thread. The caller waits, and
its thread calls `progress`, so that a callback may use whatever the caller uses. Ctrl-C, or the interrupt button of a
notebook, ends the crawl cleanly, as on the command line.
"""

import asyncio
import contextlib
import dataclasses
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from windrow import config, sharding
from windrow import log as logs
from windrow.api.settings import Settings, overrides
from windrow.config import Config, ConfigError, FocusOptions
from windrow.crawler import recover
from windrow.crawler.ending import Ending as Ending
from windrow.crawler.loop import Crawl, Observer
from windrow.crawler.setup import checks, start
from windrow.frontier import seeds
from windrow.inspect import status as states
from windrow.inspect.status import Status as Status
from windrow.jobs.topic import samples as topics
from windrow.judge.language import codes

_TICK = 1.0  # seconds between two calls of `progress`


class CrawlProgress(msgspec.Struct, frozen=True):
    """A crawl while it runs."""

    seconds: float  # since the start of this run
    tally: logs.Tally  # counts of this run so far


Progress = Callable[[CrawlProgress], None]


def init(
    directory: str | os.PathLike[str],
    seeds: str | os.PathLike[str] | Iterable[str],
    *,
    contact: str = "",
    language: str | Sequence[str] = (),
    tld: str | Sequence[str] = (),
    topic: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    settings: Settings | None = None,
) -> Path:
    """Make a crawl directory with crawl.toml and seeds.txt, and return its path.

    `seeds`: URLs, or the path of a file with one URL per line. `contact`: a URL or an e-mail address for the webmasters
    whose sites are visited. `language`: keep only text in these languages. `tld`: stay within these top-level domains.
    `topic`: files of text on the wanted topic, or a model of it; pages like it go first.
    """
    path = Path(directory)
    if (path / "crawl.toml").exists():
        raise ConfigError(f"{path} already has a crawl.toml; edit it, or choose another directory")
    found = _seeds(seeds)
    chosen: dict[str, object] = {"identity.contact": contact} if contact else {}
    languages = [codes.parse(name) for name in ([language] if isinstance(language, str) else language)]
    tlds = [tld] if isinstance(tld, str) else list(tld)
    chosen |= {"language.accepted": languages} if languages else {}
    chosen |= {"scope.tlds": tlds} if tlds else {}
    given = overrides(chosen, settings)
    options = config.make(given, path)
    names = [os.fspath(one) for one in ([topic] if isinstance(topic, str | os.PathLike) else topic)]
    checks.check_judges(dataclasses.replace(options, focus=FocusOptions()) if names else options)
    made = topics.make(names, "", options.language.accepted) if names else None
    options, reasons = topics.applied(options, made, given) if made is not None else (options, {})
    path.mkdir(parents=True, exist_ok=True)
    if made is not None:
        topics.write(made, path)
    (path / "seeds.txt").write_text("".join(f"{url}\n" for url in found))
    (path / "crawl.toml").write_text(config.new_file(options, reasons), "utf-8")
    return path


def crawl(
    directory: str | os.PathLike[str],
    *,
    max_pages: int = 0,
    max_seconds: float = 0.0,
    max_tokens: int = 0,
    max_documents: int = 0,
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> Ending:
    """Run a crawl, or continue one that was stopped or killed, until it ends; return how it ended.

    `max_pages` and `max_seconds` limit this run; `max_tokens` and `max_documents` are the size of the corpus, over all
    runs, with which the crawl ends. `progress` is called about once per second, and once at the end. An exception that
    it raises stops the crawl cleanly and is raised again.
    """
    given: dict[str, int | float] = {
        "crawl.max_pages": max_pages,
        "crawl.max_seconds": float(max_seconds),
        "crawl.max_tokens": max_tokens,
        "crawl.max_documents": max_documents,
    }
    limits = {name: value for name, value in given.items() if value}
    path = Path(directory)
    if sharding.is_divided(path):
        raise ConfigError(f"{path} is divided into shards, and a program cannot run them; use: windrow crawl {path}")
    options = _load(path, overrides(settings, limits))
    running = _Running(path, options)
    running.start()
    try:
        while not running.wait(_TICK):
            if progress is not None:
                progress(running.progress())
    except BaseException as error:
        running.stop()
        running.end()
        if not isinstance(error, KeyboardInterrupt):
            raise
    ending = running.ending()
    if progress is not None:
        progress(running.progress())
    return ending


def status(directory: str | os.PathLike[str]) -> Status:
    """Return the counts of a crawl, running or not."""
    return states.total([states.status(place) for place in sharding.places(Path(directory))])


class _Running:
    """A crawl in a thread."""

    def __init__(self, directory: Path, options: Config) -> None:
        self._directory, self._options = directory, options
        self._thread = threading.Thread(target=self._run, name="windrow crawl", daemon=False)
        self._lock = threading.Lock()
        self._crawl: Crawl | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = False  # before the crawl was set up
        self._ending: Ending | None = None
        self._error: BaseException | None = None
        self._started = time.monotonic()

    def start(self) -> None:
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Return whether the crawl is over, at the latest after so many seconds."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Ask for a clean end; the second time, give up the requests in flight."""
        with self._lock:
            self._stopped = True
            if self._crawl is not None and self._loop is not None:
                with contextlib.suppress(RuntimeError):  # the loop is closed: the crawl is over
                    self._loop.call_soon_threadsafe(self._crawl.stop)

    def end(self) -> None:
        """Wait for the end. Another Ctrl-C gives up the requests in flight."""
        while self._thread.is_alive():
            with _interrupts(self.stop):
                self._thread.join(_TICK)

    def ending(self) -> Ending:
        if self._error is not None:
            raise self._error
        assert self._ending is not None
        return self._ending

    def progress(self) -> CrawlProgress:
        """Copy the counts, dicts too: the other thread changes them meanwhile."""
        tally = self._crawl.tally if self._crawl is not None else logs.Tally()
        finished, retried, refused = dict(tally.finished), dict(tally.retried), dict(tally.refused)
        copy = msgspec.structs.replace(tally, finished=finished, retried=retried, refused=refused)
        return CrawlProgress(time.monotonic() - self._started, copy)

    def _run(self) -> None:
        try:
            self._ending = start.execute(start.run(self._directory, self._options, Observer(self._begun)))
        except BaseException as error:  # raised again in the caller's thread
            self._error = error

    def _begun(self, crawl: Crawl, resumed: recover.Resumed) -> None:
        with self._lock:
            self._crawl, self._loop = crawl, asyncio.get_running_loop()
            if self._stopped:
                crawl.stop()


@contextlib.contextmanager
def _interrupts(react: Callable[[], None]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        react()


def _load(directory: Path, settings: Sequence[str]) -> Config:
    if not (directory / "crawl.toml").exists():
        raise ConfigError(f"{directory} has no crawl.toml; make one with windrow.init({str(directory)!r}, seeds)")
    return config.load(directory / "crawl.toml", settings)


def _seeds(given: str | os.PathLike[str] | Iterable[str]) -> list[str]:
    """Return canonical URLs. A text that looks like a URL is one seed, any other is the name of a file."""
    if isinstance(given, str) and "://" in given:
        given = [given]
    if isinstance(given, str | os.PathLike):
        return [url.text for url in seeds.read(Path(given))]
    return [url.text for url in seeds.parse(given, "seeds")]
