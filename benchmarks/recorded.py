"""The figures of `yield.py` on a recorded web: the real frontier crawls recorded pages in memory, in seconds.

    python benchmarks/recorded.py record FILE [--languages deu,ces] [--web DIR]
    python benchmarks/recorded.py run FILE [--languages deu,ces] [--sets 5] [--foreign] [--try SETTINGS]... [--json]

record: crawl the `medium` web once, breadth-first, and keep what every page would be in a crawl for each language: its
bytes, its links with their hints, the sizes and n-grams of its paragraphs. This takes minutes.

run: crawl the recorded pages, per language, set of seeds and policy. Policies are those of `yield.py`, and one more per
--try: options and constants that differ from the defaults, such as `--try frontier.give_up=0.01,values.POOR=0.1`
(`values` and `value` are modules of the frontier). No request is sent and no page is read: what is measured is the
order and the end of a crawl. Failures that go away later are not recorded.
"""

import argparse
import asyncio
import collections
import contextlib
import functools
import importlib
import json
import math
import multiprocessing
import sys
import tempfile
import time
import unittest.mock
from collections.abc import Sequence
from pathlib import Path

import msgspec
from crawl import web

from windrow import archive, config, frontier, log, refine, urls
from windrow.crawler import outcome
from windrow.dedup import onion, table
from windrow.dedup.ngrams import Ngrams
from windrow.dedup.onion import DuplicateRule
from windrow.frontier.local import dispatch, leases, values
from windrow.frontier.policy import steer, value
from windrow.frontier.policy.scope import Scope
from windrow.judge.language import codes
from windrow.records import Kind, Lease, Link, Origin, Place, Reason, Report, Task, Url

figures_of = importlib.import_module("yield")  # a word of the language: it has to be named in a call
LANGUAGES = "deu,ces,eng,fra,kor"
CONNECTIONS = 24  # leases at a time
MISSING = 300  # bytes of the answer for a page that was not recorded
MODULES = {"dispatch": dispatch, "leases": leases, "steer": steer, "value": value, "values": values}
NOW, LONG = 1e9, 1e6  # seconds: the time when a crawl begins, and how long what is known stays true
POLICIES, BASES = figures_of.POLICIES, ("breadth", "spiderling")  # the latter do not depend on what links are worth
Step = tuple[int, int]  # bytes kept and downloaded so far


class Text(msgspec.Struct, array_like=True):
    """The document that a page would be, before duplicates are removed."""

    digest: int
    sizes: list[int]  # bytes, by paragraph
    ngrams: Ngrams


class Recorded(msgspec.Struct, array_like=True):
    """An answer."""

    reason: Reason
    status: int = 0
    downloaded: int = 0
    links: list[int] = []  # by index
    shape: int = 0
    language: str = ""
    clean: int = 0
    texts: dict[str, Text] = {}  # by language


class Recording(msgspec.Struct, array_like=True):
    """A web."""

    seeds: list[str]
    fronts: dict[str, list[str]]  # URL of a host's front page -> the languages of its pages
    links: list[tuple[str, bytes]]  # URL and hints
    pages: dict[str, Recorded]


# Recording


def options(languages: Sequence[str], *settings: str) -> config.Config:
    accepted = f"language.accepted={json.dumps(languages)}"
    return config.make([accepted, 'scope.tlds=["test"]', *settings], Path("/"), Path())


@functools.cache
def refiner(language: str) -> refine.Refiner:
    return refine.Refiner(options([language] if language else []))


def read(item: tuple[Path, Place, list[str]]) -> tuple[list[tuple[str, bytes]], Recorded]:
    """Read a page of the archive once for all languages, then once for each."""
    directory, place, languages = item
    capture = archive.open_place(directory, place)
    refined = refiner("")(capture)
    texts, verdict = {}, refined.verdict
    assert verdict is not None
    for language in languages:
        own = refiner(language)(capture)
        if own.draft is not None and own.ngrams is not None and own.verdict is not None:
            texts[language] = Text(own.verdict.digest, own.draft.sizes, own.ngrams)
    language = verdict.page_language or verdict.language
    page = Recorded(verdict.reason, shape=refined.shape, language=language, clean=verdict.clean, texts=texts)
    return [(link.url.text, link.hints) for link in refined.links], page


def record(directory: Path, languages: list[str], recording: Recording) -> None:
    """Add the pages of a crawl to a recording."""
    numbers: dict[tuple[str, bytes], int] = {}
    read_later: dict[str, Report] = {}
    for frame, _ in log.frames(directory / "log"):
        for report in [entry.report for entry in frame.entries if entry.report.task.kind is Kind.PAGE]:
            text = report.task.url.text
            page = recording.pages[text] = Recorded(report.reason, report.status, report.downloaded)
            if report.status == 200 and report.place is not None:
                read_later[text] = report
            elif report.reason is Reason.REDIRECT:
                page.links = [numbers.setdefault((report.detail.partition(" ")[0], b""), len(numbers))]
    items = [(directory, report.place, languages) for report in read_later.values()]
    with multiprocessing.Pool() as pool:
        found = pool.imap(read, items, chunksize=50)
        for (text, report), (links, page) in zip(read_later.items(), found, strict=True):
            page.status, page.downloaded = report.status, report.downloaded
            page.links = [numbers.setdefault(link, len(numbers)) for link in links]
            recording.pages[text] = page
    recording.links = list(numbers)


def record_web(file: Path, languages: list[str], directory: Path | None, port: int) -> None:
    with tempfile.TemporaryDirectory(prefix="windrow-recorded-") as made:
        Path(made).chmod(0o755)  # nginx started by root reads as nobody
        with web((directory or Path(made, "web")).absolute(), port) as site:
            settings = {**figures_of.POLICIES["breadth"], "language.accepted": "[]"}
            figures_of.crawl(site, Path(made, "work"), site.seeds.read_text().split(), settings)
            recording = Recording(site.seeds.read_text().split(), figures_of.fronts(site), [], {})
        record(Path(made, "work", "crawl"), languages, recording)
    file.write_bytes(msgspec.msgpack.encode(recording))
    print(f"{len(recording.pages)} answers, {len(recording.links)} links", file=sys.stderr)


# Crawling


class Server:
    """Answers from a recording, in a crawl for one language: the first page with a text has it."""

    def __init__(self, recording: Recording, language: str, scope: Scope) -> None:
        self._pages, self._language, self._scope = recording.pages, language, scope
        self._links = _links(tuple(recording.links))
        self._digests: set[int] = set()
        dedups = config.DedupOptions()
        self._rule, self._table = DuplicateRule.of(dedups), table.NgramTable(dedups.table_bytes)

    def answer(self, task: Task, seq: int, now: float) -> Report:
        page = self._pages.get(task.url.text) or Recorded(Reason.NOT_FOUND, 404, MISSING)
        reason, kept = page.reason, 0
        if reason is Reason.OK:
            reason, kept = self._judged(page.texts.get(self._language))
        found = [link for number in page.links if (link := self._links[number]) is not None]
        if reason is Reason.REDIRECT:
            moved = [self._scope.follow(task, link.url, redirect=True) for link in found]
            tasks = tuple([one for one in moved if isinstance(one, Task)])
        else:
            tasks = outcome.followed(task, found, self._scope, {})
        return Report(
            seq=seq,
            task=task,
            reason=reason,
            detail="",
            time=now,
            status=page.status,
            downloaded=page.downloaded,
            kept=kept,
            clean=page.clean,
            language=page.language,
            shape=page.shape,
            links=tasks,
        )

    def _judged(self, text: Text | None) -> tuple[Reason, int]:
        if text is None:
            return Reason.LANGUAGE, 0
        if text.digest in self._digests:
            return Reason.DUPLICATE, 0
        self._digests.add(text.digest)
        marks = onion.mark(self._table, text.ngrams, self._rule)
        if not marks.left:
            return Reason.NEAR_DUPLICATE, 0
        return Reason.OK, sum(size for size, gone in zip(text.sizes, marks.duplicate, strict=True) if not gone)


@functools.cache
def _links(links: tuple[tuple[str, bytes], ...]) -> list[Link | None]:
    parsed = [urls.parse(text) for text, _ in links]
    return [
        Link(url, hints=hints) if isinstance(url, Url) and url.host.endswith(".test") else None
        for url, (_, hints) in zip(parsed, links, strict=True)
    ]


class Crawl:
    """A crawl of recorded pages to its end."""

    def __init__(self, recording: Recording, language: str, settings: Sequence[str]) -> None:
        given = options([language], "frontier.store=memory", "fetch.delay=0", "fetch.ip_delay=0", *settings)
        wanted = [language, codes.short(language)]
        self._frontier = frontier.open(Path(), given, NOW, files={}, languages=wanted)
        self._server = Server(recording, language, Scope(given.scope))
        self._addresses: dict[str, str] = {}
        self._now = NOW
        self.order: list[Report] = []  # the answers

    async def run(self, seeds: Sequence[str]) -> "Crawl":
        await self._frontier.add([Task(url) for url in map(urls.parse, seeds) if url is not None])
        held: collections.deque[Lease] = collections.deque()
        while True:
            grant = await self._frontier.lease(CONNECTIONS - len(held), self._now)
            held += grant.leases
            self._now += 0.01
            if held:
                lease = held.popleft()
                await self._frontier.ack([self._outcome(task, lease) for task in lease.tasks])
                await self._frontier.release(lease, (), 0.0 if lease.closed else self._now)
            elif grant.again is None:
                return self
            elif grant.again < math.inf:
                self._now = max(self._now, grant.again)

    def _outcome(self, task: Task, lease: Lease) -> Report:
        """Return what becomes of a task."""
        now = self._now
        if lease.closed is not None:
            return Report(seq=0, task=task, reason=lease.closed, detail="", time=now)
        if task.kind is Kind.PAGE:
            report = self._server.answer(task, len(self.order) + 1, now)
            self.order.append(report)
            return report
        if task.kind is Kind.FILE:
            known = Origin(name=urls.origin(task.url.text), stamp=now, fetched=now, expires=now + LONG)
            return Report(seq=0, task=task, reason=Reason.OK, detail="", time=now, origin=known)
        number = len(self._addresses)
        address = self._addresses.setdefault(task.url.host, f"127.{number >> 8}.{number & 255}.1")
        return Report(seq=0, task=task, reason=Reason.OK, detail="", time=now, address=address, until=now + LONG)


def crawled(recording: Recording, language: str, seeds: Sequence[str], settings: Sequence[str]) -> list[Step]:
    """Return the bytes kept and downloaded until each page of a crawl."""
    constants = [setting for setting in settings if setting.partition(".")[0] in MODULES]
    with contextlib.ExitStack() as changed:
        for constant in constants:  # of a module, such as `values.POOR=0.1`
            place, _, given = constant.partition("=")
            module, _, name = place.partition(".")
            changed.enter_context(unittest.mock.patch.object(MODULES[module], name, json.loads(given)))
        others = [setting for setting in settings if setting not in constants]
        done = asyncio.run(Crawl(recording, language, others).run(seeds))
    return list(figures_of.sums(done.order))


# Comparing


class Job(msgspec.Struct, frozen=True):
    language: str
    number: int  # of the set of seeds
    seeds: list[str]
    policy: str
    settings: list[str]
    kept: Path | None  # where the result is kept for the next time


_recording: Recording  # set before the processes fork, so that they share it


def work(job: Job) -> list[Step]:
    return figures_of.reused(job.kept, lambda: crawled(_recording, job.language, job.seeds, job.settings))


def jobs(given: argparse.Namespace, language: str) -> list[Job]:
    policies = {name: [f"{key}={value}" for key, value in settings.items()] for name, settings in POLICIES.items()}
    policies |= {tried: tried.split(",") for tried in given.tried}
    foreign = codes.short(language) if given.foreign else ""
    sets = figures_of.seed_sets(_recording.seeds, _recording.fronts, given.sets, foreign)
    kept = given.keep
    return [
        Job(
            language=language,
            number=number,
            seeds=seeds,
            policy=name,
            settings=settings,
            kept=kept / f"{language}-{foreign}-{number}-{name}" if kept is not None and name in BASES else None,
        )
        for number, seeds in enumerate(sets)
        for name, settings in policies.items()
    ]


def compare(given: argparse.Namespace) -> dict[str, object]:
    """Crawl for each language; print the figures, and return them."""
    results = {}
    for language in given.languages.split(","):
        todo = jobs(given, language)
        began = time.monotonic()
        with multiprocessing.get_context("fork").Pool(given.jobs) as pool:
            found = pool.map(work, todo, chunksize=1)
        runs: list[dict[str, list[Step]]] = [{} for _ in range(given.sets)]
        for job, steps in zip(todo, found, strict=True):
            runs[job.number][job.policy] = steps
        results[language] = figures_of.figures(runs)
        if not given.json:
            kind = "seeds in other languages" if given.foreign else "seeds"
            print(f"{language}, {given.sets} sets of {kind}, {time.monotonic() - began:.0f} s")
            figures_of.show(results[language])
            print(flush=True)
    return results


def main() -> None:
    global _recording
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["record", "run"])
    parser.add_argument("file", type=Path, help="the recording")
    parser.add_argument("--languages", default=LANGUAGES, help=f"ISO 639-3, with commas (default {LANGUAGES})")
    parser.add_argument("--web", type=Path, help="record: directory to unpack the web in (0.5 GB)")
    parser.add_argument("--port", type=int, default=8392)
    parser.add_argument("--sets", type=int, default=5, help="sets of seeds (default 5)")
    parser.add_argument("--foreign", action="store_true", help="begin at hosts without the wanted language")
    parser.add_argument("--try", dest="tried", action="append", default=[], help="settings of one more policy")
    parser.add_argument("--keep", type=Path, help="directory in which the runs of the other policies are kept")
    parser.add_argument("--jobs", type=int, default=1, help="crawls at the same time (default 1)")
    parser.add_argument("--json", action="store_true", help="print the figures of every run as JSON")
    given = parser.parse_args()
    if given.verb == "record":
        return record_web(given.file, given.languages.split(","), given.web, given.port)
    _recording = msgspec.msgpack.decode(given.file.read_bytes(), type=Recording)
    if given.keep is not None:
        given.keep.mkdir(exist_ok=True)
    results = compare(given)
    return print(json.dumps(results)) if given.json else None


if __name__ == "__main__":
    main()
