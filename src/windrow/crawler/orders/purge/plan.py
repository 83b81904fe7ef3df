"""Find the captures to purge, by the log and the takedown list."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from windrow import log, takedown
from windrow.archive import purge as tombstones
from windrow.config import ConfigError
from windrow.log import PurgeNote, format, reader
from windrow.log.format import Head, Line
from windrow.records import Place
from windrow.takedown import Takedown

_EMPTY = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"  # SHA-1 of no bytes: pages without a body are no copies of each other
_view = format.view("url", "place", "digest", "text", "kept", reason=str)


class PurgeTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A capture that goes."""

    url: str
    place: Place
    by: str  # the line of the takedown list, or why else
    new: bool  # the log does not say yet that it is purged
    revisit: bool = False  # a record of another page that refers to a payload that goes


class PurgedContent(msgspec.Struct):
    """Payloads and texts of captures that go."""

    digests: set[str] = msgspec.field(default_factory=set)
    texts: set[int] = msgspec.field(default_factory=set)

    def add(self, other: "PurgedContent") -> None:
        self.digests |= other.digests
        self.texts |= other.texts

    def has(self, line: Line) -> bool:
        return line.digest in self.digests or line.text in self.texts


class PurgePlan(msgspec.Struct, frozen=True):
    targets: list[PurgeTarget]
    shards: dict[str, int]  # with documents that go: file -> committed length
    copies: list[str]  # pages that are not on the list and have the same payload or the same text, in order
    frames: int  # of the log
    time: float  # of the last one

    def urls(self) -> dict[str, list[str]]:
        """Return the pages of which the log does not say yet that they are purged, by the line of the list."""
        found: dict[str, dict[str, None]] = {}
        for target in self.targets:
            if target.new:
                found.setdefault(target.by, {})[target.url] = None
        return {by: list(pages) for by, pages in found.items()}


def plan(directory: Path, elsewhere: PurgedContent | None = None) -> PurgePlan:
    """Return what is to be purged. `elsewhere`: what goes in other shards of the crawl, which may have copies here."""
    search = _searched(directory)
    search.content.add(elsewhere or PurgedContent())
    if search.content.digests or search.content.texts:
        for _, lines in _frames(log.home(directory)):
            search.find_copies(lines)
    shards = {name: search.lengths[name] for name in sorted(search.shards)}
    targets = sorted(search.targets.values(), key=lambda target: (target.place.file, target.place.offset))
    return PurgePlan(targets, shards, list(search.copies), search.frames, search.time)


def content(directory: Path) -> PurgedContent:
    """Return the payloads and texts that a purge would remove."""
    return _searched(directory).content


def _searched(directory: Path) -> "_Search":
    home = log.home(directory)
    if not log.names(home):
        raise ConfigError(f"{directory} holds no crawl: there is no log in it; check the path")
    search = _Search(directory, takedown.of(directory), log.purged(home))
    for head, lines in _frames(home):
        search.take(head, lines)
    return search


class _Search:
    def __init__(self, directory: Path, listed: Takedown, notes: dict[str, PurgeNote]) -> None:
        self._directory, self._listed, self._notes = directory, listed, notes
        self.targets: dict[tuple[str, int], PurgeTarget] = {}  # by file and offset
        self.shards: set[str] = set()
        self.copies: dict[str, None] = {}
        self.lengths: dict[str, int] = {}
        self.frames = 0
        self.time = 0.0
        self.content = PurgedContent()

    def take(self, head: Head, lines: list[bytes]) -> None:
        self.frames, self.time = head.frame, head.time
        self.lengths.update(head.lengths)
        documents = False
        for line in map(_view, lines):
            target = self._target(line, head.frame) if line.place is not None else None
            if target is not None:
                self.targets[target.place.file, target.place.offset] = target
                documents = documents or line.kept > 0
                if target.place.file.startswith("warc/"):
                    self.content.add(PurgedContent({line.digest} - {"", _EMPTY}, {line.text} - {0}))
        if documents:  # a document is in the member that its shard got with the same frame
            self.shards.update(name for name in head.lengths if name.startswith("corpus/"))

    def _target(self, line: Line, frame: int) -> PurgeTarget | None:
        """Return the target if the page is on the list now, or if the log says that this capture is purged."""
        note = self._notes.get(line.url)
        if note is not None and frame < note.frame:
            return PurgeTarget(url=line.url, place=Place(*line.place), by=note.by, new=False)
        if self._listed and self._listed.covers(line.url):
            return PurgeTarget(url=line.url, place=Place(*line.place), by=str(self._listed.find(line.url)), new=True)
        return None

    def find_copies(self, lines: list[bytes]) -> None:
        """Find other pages with the same content. A revisit record that refers to a payload that goes, goes too."""
        for line in map(_view, lines):
            if line.place is None or not self.content.has(line):
                continue
            place = Place(*line.place)
            if (place.file, place.offset) in self.targets or not place.file.startswith("warc/"):
                continue
            refers = tombstones.refers_to(self._directory, place) if line.digest in self.content.digests else None
            first = self.targets.get(refers) if refers is not None else None
            if first is None:
                self.copies[line.url] = None
            else:
                by = f"{first.by} (its payload is that of {first.url})"
                target = PurgeTarget(url=line.url, place=place, by=by, new=True, revisit=True)
                self.targets[place.file, place.offset] = target


def _frames(home: Path) -> Iterator[tuple[Head, list[bytes]]]:
    """Yield every frame. A log that has lost some is refused: listed pages would stay."""
    number = 0
    for head, lines, (name, _) in reader.raw_frames(home):
        if number and head.frame != number + 1:
            gap = f"frame {head.frame} follows frame {number}"
            raise ConfigError(f"{home / name}: {gap}; a file of the log is damaged or missing: restore it from a copy")
        number = head.frame
        yield head, lines
