"""Measure what it costs to read what pages say of their links, and to carry it to the frontier.

    python benchmarks/links.py [--web /tmp/medium] [--pages 500] [--runs 9] [--json]

The pages are those of some hosts of the web, host after host as a crawl reads them, so that most links were seen
before. Costs are CPU time of this process: the least of several runs per page, summed over the pages. Sizes are those
of a log of these pages, compressed, and of the file with the URLs that the frontier keeps.
"""

import argparse
import gc
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from windrow import config, log, urls
from windrow.crawler import outcome
from windrow.crawler.workers import wire
from windrow.extraction import walk
from windrow.extraction.page import anchors
from windrow.extraction.readers import html
from windrow.frontier.policy import hints
from windrow.frontier.policy.scope import Scope
from windrow.frontier.store.texts import UrlTexts
from windrow.records import Capture, Entry, Frame, Reason, Report, Task, Url
from windrow.refine import Refined, Refiner

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
_PER_HOST = 25  # pages
_FRAME = 64  # pages of a frame of the log

Given = TypeVar("Given")


def captures(web: Path, count: int) -> list[Capture]:
    """Return pages of the web, host after host."""
    found: list[Capture] = []
    hosts = sorted(path for path in (web / "www").iterdir() if path.is_dir())
    random.Random(1).shuffle(hosts)
    for host in hosts:
        files = sorted(path for path in host.rglob("*.html") if path.is_file())
        for path in files[:_PER_HOST]:
            url = urls.parse(f"http://{path.relative_to(web / 'www').as_posix()}")
            if url is not None:
                found.append(Capture(Task(url), 200, b"", _HEAD, path.read_bytes(), 0.0, 0.0, "", "http/1.1"))
        if len(found) >= count:
            break
    return found[:count]


class Clock:
    """Adds up the least CPU time of each part for each page."""

    def __init__(self) -> None:
        self._least: dict[tuple[str, int], float] = {}

    def measure(self, part: str, call: Callable[[Given], object], pages: Sequence[Given]) -> None:
        for number, page in enumerate(pages):
            start = time.thread_time()
            call(page)
            spent = time.thread_time() - start
            self._least[part, number] = min(spent, self._least.get((part, number), spent))

    def microseconds(self, count: int) -> dict[str, float]:
        """Return the mean per page of every part."""
        parts = dict.fromkeys(part for part, _ in self._least)
        return {
            part: round(sum(spent for (own, _), spent in self._least.items() if own == part) / count * 1e6, 1)
            for part in parts
        }


def refiner(context: bool) -> Refiner:
    return Refiner(config.make([f"extract.link_context={json.dumps(context)}"], Path()))


def costs(pages: Sequence[Capture], runs: int) -> dict[str, float]:
    clock = Clock()
    markups = [html.read(page, 10_000, known=()).markup for page in pages]
    known = [html.extract(page, 10_000, known=()) for page in pages]
    fresh = list(new_links(known))
    answers = {name: [wire.encode([refined]) for refined in map(refiner(context), pages)] for name, context in SIDES}
    kernel = anchors._anchors
    for run in range(runs):
        clock.measure("parse and links", lambda page: html.extract(page, 10_000), pages)
        clock.measure("parse, links and what they say", lambda page: html.extract(page, 10_000, known=()), pages)
        clock.measure("  of which the tree is written out", walk.markup, [html.read(page, 0).tree for page in pages])
        clock.measure("  of which descriptions", lambda markup: anchors.describe(markup, 10_000), markups)
        if kernel is not None and not run:
            anchors._anchors = None  # type: ignore[assignment]
            clock.measure("  descriptions without the kernel", lambda markup: anchors.describe(markup, 10_000), markups)
            anchors._anchors = kernel
        clock.measure("hints of the new links", lambda links: [hints.of(link) for link in links], fresh)
        for name, context in SIDES:
            clock.measure(f"text, judges and links, {name}", refiner(context), pages)
            clock.measure(f"main process: decode an answer, {name}", wire.answers, answers[name])
    return clock.microseconds(len(pages))


SIDES = (("no hints", False), ("hints", True))


def new_links(pages: Iterable[Any]) -> Iterable[list[Any]]:
    seen: set[int] = set()
    for page in pages:
        new = [link for link in page.links if link.url.key not in seen]
        seen.update(link.url.key for link in new)
        yield new


def sizes(pages: Sequence[Capture]) -> dict[str, float]:
    """Return the bytes per admitted URL, and of an answer per page, without hints and with them."""
    found: dict[str, float] = {}
    for name, context in SIDES:
        answers = list(map(refiner(context), pages))
        admitted = [(page, tasks) for page, tasks in zip(pages, admissions(pages, answers), strict=True)]
        count = sum(len(tasks) for _, tasks in admitted)
        frames = [
            Frame(1, 0.0, tuple(entry(page, tasks) for page, tasks in admitted[start : start + _FRAME]), {})
            for start in range(0, len(admitted), _FRAME)
        ]
        found[f"log, bytes per URL, {name}"] = round(sum(len(log.encode(frame)) for frame in frames) / count, 1)
        found[f"store, bytes per URL, {name}"] = round(stored([task for _, tasks in admitted for task in tasks]), 1)
        found[f"answer, bytes per page, {name}"] = round(sum(len(wire.encode(one)) for one in answers) / len(pages), 0)
    found["new URLs per page"] = round(count / len(pages), 2)
    found["hints of a new URL"] = round(sum(len(task.hints) for _, tasks in admitted for task in tasks) / 2 / count, 2)
    return found


def stored(tasks: Sequence[Task]) -> float:
    with tempfile.TemporaryDirectory() as directory:
        texts = UrlTexts(Path(directory) / "urls.dat", 0)
        start = texts.length
        for task in tasks:
            texts.append(task, 0)
        size = texts.length - start
        texts.close()
    return size / len(tasks)


def admissions(pages: Sequence[Capture], answers: Sequence[Refined]) -> Iterable[tuple[Task, ...]]:
    seen: set[Url] = set()
    scope = Scope(config.ScopeOptions(homepages=False))
    for page, refined in zip(pages, answers, strict=True):
        tasks = outcome.followed(page.task, refined.links, scope, {})
        yield tuple(task for task in tasks if task.url not in seen)
        seen.update(task.url for task in tasks)


def entry(page: Capture, tasks: tuple[Task, ...]) -> Entry:
    report = Report(seq=1, task=page.task, reason=Reason.OK, detail="", time=1.0, status=200)
    return Entry(msgspec.structs.replace(report, downloaded=len(page.body)), tasks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--web", type=Path, default=Path("/tmp/medium"))
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not (given.web / "www").is_dir():
        raise SystemExit(f"{given.web}/www is missing; `benchmarks/crawl.py --web {given.web}` makes it")
    pages = captures(given.web, given.pages)
    gc.freeze()
    found: dict[str, Any] = {
        "pages": len(pages),
        "microseconds": costs(pages, given.runs),
        "sizes": sizes(pages),
    }
    if given.json:
        print(json.dumps(found))
        return
    print(f"{len(pages)} pages; CPU per page:")
    for part, cost in found["microseconds"].items():
        print(f"{part:52} {cost:8.1f} µs")
    for part, size in found["sizes"].items():
        print(f"{part:52} {size:8.1f}")


if __name__ == "__main__":
    main()
