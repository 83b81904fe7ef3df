"""Where a page is kept: weighed against those before it, settled, and written, in one go.

In the order of `seq` the frontier hears of a page, and its records and its document go into the buffers of their files. From the
first of these steps to the last nothing waits, so a frame of the log has all of a page or nothing.
"""

import asyncio
import platform
from pathlib import Path

import msgspec

import windrow
from windrow import archive, config
from windrow.archive import Members
from windrow.config import Config
from windrow.corpus.shards import Shards
from windrow.crawl import page
from windrow.crawl.commit import Commits
from windrow.crawl.disk import Disk
from windrow.crawl.recover import Resumed
from windrow.crawl.revisits import Revisits
from windrow.data import Capture, Report
from windrow.dedup import decide
from windrow.dedup.decide import Leaf, Owner, Weighed
from windrow.dedup.seen import REDO, Seen


class Keeper:
    def __init__(self, directory: Path, options: Config, resumed: Resumed, commits: Commits, disk: Disk) -> None:
        self._options = options
        self._frontier = resumed.frontier
        self._commits = commits
        self._disk = disk
        self._seq = resumed.seq
        self._order = asyncio.Lock()
        self._writer = archive.Writer(directory, options.archive, options.crawl.node, warcinfo(directory, options))
        self._writer.resume(resumed.files)
        self._revisits = Revisits.of(directory) if options.archive.revisits else None
        self._shards: Shards | None = None
        self._seen: Seen | None = None
        if options.extract.extractor != "none":
            self._shards = Shards(directory, options.corpus, options.crawl.node)
            self._shards.resume(resumed.files)
            if options.dedup.near_duplicates:
                self._seen = Seen(directory, options.dedup, resumed.files.get(REDO, 0))
        self._owner = Owner(
            options.signals, self._frontier.claim, self._seen.mark if self._seen is not None else None
        )
        commits.files = [files for files in (self._writer, self._shards, self._seen) if files is not None]

    def compress(self, capture: Capture) -> Members:
        """A capture's records, ready but for their place; where its payload is archived already and that is wanted, a revisit."""
        members = self._writer.compress(capture)
        earlier = self._revisits.get(members.digest) if self._revisits is not None and capture.body else None
        return members if earlier is None else self._writer.revisit(capture, earlier)

    async def keep(self, report: Report, members: Members, leaf: Leaf | None = None) -> Report:
        """Settles a report and archives the capture behind it. The report as the log will have it."""
        if not report.final and members.subset == "warc":
            members = msgspec.structs.replace(members, subset="diagnostics")  # it will be asked for again
        async with self._order:
            await self._room(report)
            weighed = Weighed(report)
            if leaf is not None and leaf.refined.verdict is not None:
                weighed = await self._owner.weigh(report, members.digest, leaf, leaf.refined.verdict)
            settled = (await self._frontier.settle([weighed.report], self._commits.frame))[0]
            self._seq += 1
            place = self._writer.append(members, self._seq)
            if self._revisits is not None:
                self._revisits.note(members.digest, archive.Earlier(report.task.url.text, members.time, place))
            settled = page.archived(settled, self._seq, place, members.digest)
            if weighed.draft is not None and leaf is not None and self._shards is not None:
                self._shards.append(
                    settled.language, decide.line(weighed, settled, leaf, f"<urn:uuid:{members.id.decode()}>")
                )
            self._commits.note(settled, requested=True)
        return settled

    async def settle(self, report: Report, requested: bool) -> Report:
        """The same where there is nothing to archive."""
        async with self._order:
            await self._room(report)
            settled = (await self._frontier.settle([report], self._commits.frame))[0]
            self._commits.note(settled, requested)
        return settled

    async def _room(self, report: Report) -> None:
        """Waits until there is room for what this report may bring; when it returns, nothing may wait until the report is settled."""
        while True:
            try:
                return self._frontier.reserve(report)
            except OSError as error:
                self._disk.hold(error)
                await asyncio.sleep(1.0)

    def save(self) -> None:
        """At a clean end, when all is committed."""
        if self._seen is not None:
            self._seen.save()


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
