"""A crawl directory that grows by hand, frame by frame, with documents and reports but without an archive."""

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests import logs
from tests.corpus import samples
from tests.corpus.samples import Sample
from windrow import config, log, urls
from windrow.corpus import purge
from windrow.corpus.shards import Shards
from windrow.log import purges
from windrow.log.writer import Log
from windrow.records import Frame, Order, Place, Reason, Task

LANGUAGES = ("ces", "deu", "eng")


def sample(number: int) -> Sample:
    """Return a document with characters that a database may mistake, and a text of its own."""
    words = "'quoted' \"twice\" \\back % _ 100% {0} 風😀 žluťoučký".split()
    texts = (" ".join([*words, f"document {number}"]), f"second paragraph of {number}")
    return Sample(f"http://h{number % 7}.example.org/{number}", LANGUAGES[number % 3], texts, title=f"title {number}")


class GrowingCrawl:
    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "crawl.toml").write_text("")
        self.directory = directory
        self._shards = Shards(directory, config.CorpusOptions(), "n0")
        self._log = Log(directory / "log", ("", 0))
        self._lengths: dict[str, int] = {}
        self.incarnation = 0  # that the next frame names
        self.frames = 0
        self.pages = 0

    def commit(self, found: Sequence[Sample], failed: int = 0) -> None:
        """Commit a frame with these documents, and some captures that gave none."""
        entries = []
        for one in found:
            self._shards.append(one.language, samples.line(one, self.pages))
            entries.append(self._entry(one.url, Reason.OK, 40))
        entries += [self._entry(f"http://gone.example.org/{self.pages}", Reason.SERVER_ERROR, 0) for _ in range(failed)]
        lengths = self._shards.flush()
        self._lengths |= lengths
        begun, self.incarnation = self.incarnation, 0
        self._append(Frame(self.frames + 1, 1000.0 + self.frames + begun, tuple(entries), lengths, incarnation=begun))

    def purge(self, *pages: str) -> None:
        """Remove pages from the corpus as `windrow purge` does, after a frame that says so."""
        order = purges.order("by hand", pages, f"purge-{self.frames}", 1000.0)
        self._append(Frame(self.frames + 1, 1000.0 + self.frames, (), {}, orders=(order,)))
        offsets = {
            entry.report.place.offset
            for frame, _ in log.frames(self.directory / "log")
            for entry in frame.entries
            if entry.report.task.url.text in pages and entry.report.place
        }
        for name, length in self._lengths.items():
            path = self.directory / name
            changes = list(purge.replacements(path, length, lambda file, offset: offset in offsets))
            with path.open("r+b") as file:
                for change in changes:
                    file.seek(change.offset)
                    file.write(change.data)

    def order(self, order: Order) -> None:
        self._append(Frame(self.frames + 1, 1000.0 + self.frames, (), {}, orders=(order,)))

    def close(self) -> None:
        self._shards.close()
        self._log.close()

    def _entry(self, text: str, reason: Reason, kept: int) -> logs.Entry:
        url = urls.parse(text)
        assert url is not None
        number, self.pages = self.pages, self.pages + 1
        place = Place(samples.WARC, 1000 * number, 900)
        status = 200 if kept else 500
        return logs.entry(
            Task(url), reason, seq=number + 1, kept=kept, place=place, status=status, digest="A" * 32, downloaded=1234
        )

    def _append(self, frame: Frame) -> None:
        self._log.append(log.encode(frame))
        self.frames += 1


@contextlib.contextmanager
def growing(directory: Path, frames: int = 0, each: int = 3) -> Iterator[GrowingCrawl]:
    """Make a crawl with some frames of documents."""
    crawl = GrowingCrawl(directory)
    with contextlib.closing(crawl):
        for number in range(frames):
            crawl.commit([sample(number * each + at) for at in range(each)])
        yield crawl


def divided(directory: Path, count: int, job: str = "1234") -> Path:
    """Make the directory of a crawl with shards, without any of them."""
    (directory / "shards").mkdir(parents=True)
    (directory / "job.json").write_text(json.dumps({"job": {"id": job, "name": "news", "shards": count}}))
    return directory


@contextlib.contextmanager
def shard(directory: Path, number: int, incarnation: int = 1, first: int = 0) -> Iterator[GrowingCrawl]:
    """Make a shard of a crawl. Its pages are numbered from `first` on."""
    record = {**json.loads((directory / "job.json").read_bytes()), "shard": number}
    crawl = GrowingCrawl(directory / "shards" / f"{number:03}")
    (crawl.directory / "job.json").write_text(json.dumps(record))
    crawl.incarnation, crawl.pages = incarnation, first
    with contextlib.closing(crawl):
        yield crawl
