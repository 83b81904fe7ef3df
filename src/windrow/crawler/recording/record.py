"""The recorder: decides on a page, archives it, reports it and writes its document, as one operation.

Pages are recorded one after another, in the order of `seq`. Each step's buffers belong to the same operation of the
crawl's `Serial`, so a frame of the log has all of a page or nothing of it, also if a step suspends.
"""

import asyncio
import platform
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import msgspec

import windrow
from windrow import archive, config, decide
from windrow.archive import Members
from windrow.archive.reading.answers import CHARSET, LANGUAGES
from windrow.config import Config
from windrow.corpus.shards import Shards
from windrow.crawler import outcome as outcomes
from windrow.crawler.machine.disk import Disk
from windrow.crawler.observer import Driver
from windrow.crawler.outcome import Archived, Outcome, Reading
from windrow.crawler.recording.commit import Files, GroupCommit
from windrow.crawler.recording.revisits import Revisits
from windrow.crawler.recording.serial import Serial
from windrow.crawler.recover import Opened
from windrow.decide import Candidate, Decider, Decision
from windrow.dedup.seen import REDO, Seen
from windrow.judge.focus.relevance import PERPLEXITY, RELEVANCE
from windrow.judge.language import codes
from windrow.log.writer import Log
from windrow.records import Arrival, Capture, Failure, Order, Receipt, Task

_T = TypeVar("_T")


class Recorder:
    """Owns the files of a crawl: archive, corpus, n-grams and log."""

    def __init__(self, opened: Opened, disk: Disk, driver: Driver) -> None:
        directory, options, resumed = opened.directory, opened.options, opened.resumed
        self._frontier = resumed.frontier
        self._disk = disk
        self._driver = driver
        self._serial = Serial(driver.broken)
        self._seq = resumed.seq
        self._writer = archive.Writer(directory, options.archive, options.crawl.node, warcinfo(directory, options))
        if not resumed.apart:
            self._writer.resume(resumed.files)
        self._revisits = Revisits.of(directory) if options.archive.revisits else None
        self._shards: Shards | None = None
        self._seen: Seen | None = None
        if options.extract.extractor != "none":
            self._shards = Shards(directory, options.corpus, options.crawl.node)
            if not resumed.apart:
                self._shards.resume(resumed.files)
            if options.dedup.near_duplicates:
                self._seen = Seen(directory, options.dedup, resumed.files.get(REDO, 0), resumed.apart)
        mark = self._seen.mark if self._seen is not None else None
        self._decider = Decider(options.signals, self._frontier.first_seen, mark)
        files: list[Files] = [each for each in (self._writer, self._shards, self._seen) if each is not None]
        journal = Log(directory / "log", resumed.position, resumed.apart)
        others = opened.neighbours
        self.commits = GroupCommit(resumed.frontier, journal, files, self._serial, disk, others, permit=others)
        self.commits.written.lengths.update(resumed.files)

    def start(self) -> None:
        self._serial.start()

    def compress(self, capture: Capture) -> Members:
        """Return a capture's records, complete but for their place; a revisit if the payload is archived already."""
        members = self._writer.compress(capture)
        earlier = self._revisits.get(members.digest) if self._revisits is not None and capture.body else None
        return members if earlier is None else self._writer.revisit(capture, earlier)

    async def add(self, tasks: list[Task]) -> list[Task]:
        """Admit tasks from outside; return those that were new."""
        return await self._serial.run(self._add(tasks))

    async def take_in(self, arrival: Arrival) -> list[Task]:
        """Admit links from other shards; return those that were new. Links and `got` are in one frame."""
        return await self._serial.run(self._take_in(arrival))

    async def _take_in(self, arrival: Arrival) -> list[Task]:
        admitted = await self._until_room(lambda: self._frontier.add(arrival.tasks))
        self.commits.note_arrival(admitted, arrival.got)
        return admitted

    async def record(
        self, outcome: Outcome, answer: Capture | Failure | None = None, reading: Reading | None = None
    ) -> None:
        """Record what became of a task. When this returns, the frontier knows; the next commit makes it durable."""
        members = self.compress(answer) if isinstance(answer, Capture) else None
        await self._serial.run(self._record(outcome, members, reading))

    def record_page(self, outcome: Outcome, members: Members, reading: Reading) -> None:
        """Record a page that was read. Nothing waits for it: its host was free before."""
        self._serial.put(self._record(outcome, members, reading))

    async def obey(self, order: Order, now: float) -> None:
        """Let the frontier carry out an order, or its next part. Only between two frames, see `GroupCommit.between`."""
        carried = await self._until_room(lambda: self._frontier.carry_out(order, now))
        self.commits.note_order(carried.order)
        self._driver.recorded(Receipt((), carried.closings))

    async def add_now(self, tasks: list[Task], refused: dict[str, int]) -> list[Task]:
        """Admit tasks between two frames; count those that were not admitted in `refused`, by rule."""
        before = (await self._frontier.counts()).refused
        admitted = await self._add(tasks)
        after = (await self._frontier.counts()).refused
        for rule, count in after.items():
            if count > before.get(rule, 0):
                refused[rule] = refused.get(rule, 0) + count - before.get(rule, 0)
        return admitted

    async def _add(self, tasks: list[Task]) -> list[Task]:
        admitted = await self._until_room(lambda: self._frontier.add(tasks))
        self.commits.note_seeds(admitted)
        return admitted

    async def _record(self, outcome: Outcome, members: Members | None, reading: Reading | None) -> None:
        candidate = reading.candidate if reading is not None else None
        decision = await self._decide(candidate) if candidate is not None else None
        archived = self._archive(outcome, members, _noted(reading, decision)) if members is not None else None
        report = outcomes.report(outcome, reading, decision, archived)
        receipt = await self._until_room(lambda: self._frontier.ack((report,)))
        if decision is not None and decision.draft is not None and self._shards is not None:
            assert candidate is not None and members is not None and archived is not None
            record = f"<urn:uuid:{members.id.decode()}>"
            self._shards.append(decision.language, decide.line(decision, candidate, archived.place, record))
        self.commits.note(receipt.entries[0], outcome.requested)
        self._driver.recorded(receipt)

    async def _decide(self, candidate: Candidate) -> Decision:
        verdict = candidate.refined.verdict
        assert verdict is not None, "a page without a verdict is no candidate"
        return await self._until_room(lambda: self._decider.decide(candidate, verdict))

    def _archive(self, outcome: Outcome, members: Members, noted: dict[str, str]) -> Archived:
        if not outcome.final and members.subset == "warc":
            members = msgspec.structs.replace(members, subset="diagnostics")  # the page will be requested again
        self._seq += 1
        place = self._writer.append(members, self._seq, noted)
        if self._revisits is not None:
            self._revisits.note(members.digest, archive.Earlier(outcome.task.url.text, members.time, place))
        return Archived(self._seq, place, members.digest)

    async def _until_room(self, verb: Callable[[], Awaitable[_T]]) -> _T:
        """Repeat a verb of the frontier while the disk is full: after OSError it has changed nothing."""
        while True:
            try:
                return await verb()
            except OSError as error:
                self._disk.hold(error)
                await asyncio.sleep(1.0)

    async def stop(self) -> None:
        """Return when everything that was handed in is recorded."""
        await self._serial.close()

    def save(self) -> None:
        """Save the table of n-grams, after a clean end and its last commit."""
        if self._seen is not None:
            self._seen.save()

    def close(self) -> None:
        self.commits.close()


def warcinfo(directory: Path, options: Config) -> dict[str, str]:
    return {
        "isPartOf": directory.resolve().name,
        "operator": options.identity.operator or options.identity.contact,
        "description": options.identity.description,
        "hostname": platform.node(),
        "software": f"windrow/{windrow.__version__}",
        "robots": "checked by RFC 9309",
        "options": config.dump(options),
    }


def _noted(reading: Reading | None, decision: Decision | None) -> dict[str, str]:
    """Return the fields of the metadata record that say which charset and languages a page has, and how well it fits
    the topic of the crawl, if it has one. Indexes and other programs read them: they need neither the log nor the
    corpus."""
    noted = {CHARSET: reading.charset} if reading is not None and reading.charset else {}
    if decision is None:
        return noted
    scores, page, text = decision.scores, decision.page_language, decision.language
    noted |= {name: f"{scores[name]:g}" for name in (PERPLEXITY, RELEVANCE) if name in scores}
    if text and text != codes.UNKNOWN:
        noted[LANGUAGES] = f"{page},{text}" if page and page not in (text, codes.UNKNOWN) else text
    return noted
