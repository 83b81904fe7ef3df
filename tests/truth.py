"""Read a crawl directory with the standard library alone: the oracle of the tests that crash and kill.

This module parses the log and the archive a second time, with code that shares nothing with the crawler's, and computes
every digest again.
"""

import asyncio
import base64
import dataclasses
import hashlib
import itertools
import json
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from tests.dedup.tables import content
from tests.world import LoggedRequest, World
from windrow import config
from windrow.dedup.seen import REDO, Seen
from windrow.jobs.rebuild import ordered

# Short delays that the log of a server can still show, and frequent commits, checkpoints and new files.
QUICK = (
    "crawl.progress_seconds=0",  # tests look at what a crawl says
    "fetch.delay=0.01",
    "fetch.ip_delay=0.005",
    "fetch.backoff=0.02",
    "fetch.allow_private=true",
    "fetch.hosts_file=hosts",
    "scope.same_pages=4",
    "crawl.in_flight=8",
    "crawl.commit_seconds=0.05",
    "frontier.checkpoint=0.2",
    "archive.max_bytes=30000",
    "extract.extractor=none",  # only the archive, unless a test sets an extractor
)
SUBSETS = ("warc", "robotstxt", "diagnostics")
PAGE = 0  # the kind of a log line about a page; a line without a kind has this one


def prepare(directory: Path, world: World, *options: str) -> Path:
    """Make a directory in which this world can be crawled."""
    directory.mkdir(parents=True)
    world.write(directory)
    (directory / "crawl.toml").write_text(config.dump(config.make([*QUICK, *options], directory), changed=True))
    return directory


def members(data: bytes) -> tuple[list[bytes], int]:
    """Return the content of each gzip member, and the offset where the last complete member ends."""
    found, end = [], 0
    while end < len(data):
        inflate = zlib.decompressobj(31)
        try:
            text = inflate.decompress(data[end:])
        except zlib.error:
            break
        if not inflate.eof:
            break
        found.append(text)
        end = len(data) - len(inflate.unused_data)
    return found, end


def frames(directory: Path) -> list[list[dict[str, Any]]]:
    """Return the committed frames of a log, each as its head and its lines."""
    texts = [text for path in sorted((directory / "log").glob("*.jsonl.gz")) for text in members(path.read_bytes())[0]]
    return [[json.loads(line) for line in text.splitlines()] for text in texts]


def committed(directory: Path) -> Counter[str]:
    """Return the pages that are finished according to the log, and how often the log says so."""
    lines = itertools.chain.from_iterable(frame[1:] for frame in frames(directory))
    return Counter(line["url"] for line in lines if line.get("kind", PAGE) == PAGE and line.get("final", True))


def lengths(directory: Path) -> dict[str, int]:
    """Return the committed length of every archive file."""
    found: dict[str, int] = {}
    for head, *_ in frames(directory):
        found |= head["lengths"]
    return found


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    type: str
    url: str
    fields: dict[str, str]
    block: bytes

    @property
    def status(self) -> int:
        return int(self.block.split(b" ", 2)[1])

    @property
    def payload(self) -> bytes:
        return self.block.partition(b"\r\n\r\n")[2]


def record(member: bytes) -> Record:
    """Parse a WARC record and check its lengths and digests."""
    head, _, rest = member.partition(b"\r\n\r\n")
    version, *lines = head.decode().split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    block = rest[:-4]
    assert version == "WARC/1.1" and rest.endswith(b"\r\n\r\n") and len(block) == int(fields["content-length"])
    found = Record(fields["warc-type"], fields.get("warc-target-uri", ""), fields, block)
    digests = {"warc-block-digest": block, "warc-payload-digest": found.payload if found.type != "revisit" else None}
    for name, data in digests.items():
        if name in fields and data is not None:
            assert fields[name] == "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode(), (found.url, name)
    return found


def archive(directory: Path, subset: str = "warc") -> list[Record]:
    """Return every record of a subset; check that its files are complete and as long as the log says."""
    known, found = lengths(directory), []
    for path in sorted((directory / subset).glob("*.warc.gz")):
        data = path.read_bytes()
        texts, end = members(data)
        assert end == len(data) == known[f"{subset}/{path.name}"], path.name
        assert texts[0].startswith(b"WARC/1.1\r\nWARC-Type: warcinfo"), path.name
        found += [record(text) for text in texts]
    present = {f"{subset}/{path.name}" for path in (directory / subset).glob("*.warc.gz")}
    assert present == {name for name in known if name.startswith(f"{subset}/")}
    return found


def pages(directory: Path) -> Counter[str]:
    """Return how often each page is in the archive."""
    return Counter(record.url for record in archive(directory) if record.type == "response")


def seqs(directory: Path) -> list[int]:
    """Return the numbers of the captures, from the metadata records."""
    found = [record for subset in SUBSETS for record in archive(directory, subset) if record.type == "metadata"]
    return sorted(
        int(line.partition(b":")[2])
        for record in found
        for line in record.block.splitlines()
        if line.startswith(b"seq:")
    )


def assert_whole(directory: Path, world: World) -> None:
    """Check P1, P2, P4: each page of the world is archived once, as served, and no work is left."""
    found = [record for record in archive(directory) if record.type == "response"]
    count = Counter(record.url for record in found)
    assert max(count.values()) == 1
    extra = {url for url in count if not world.graph.trapped(url)}
    assert extra == world.expected.must_have, (extra - world.expected.must_have, world.expected.must_have - extra)
    for entry in found:
        if entry.url in world.expected.must_have:
            assert entry.status == 200 and entry.payload == world.graph.places[entry.url].body(), entry.url
    ends = committed(directory)
    assert set(ends.values()) == {1}, "every URL ends once"
    assert (
        ends.keys()
        >= world.expected.must_have | world.expected.redirects | world.expected.missing | world.expected.unresolved
    )
    numbers = seqs(directory)
    assert numbers == list(range(1, len(numbers) + 1)), "the captures are numbered without a gap"
    assert not world.requested().keys() & world.expected.must_not_request


def assert_reconciled(status: dict[str, Any], done: bool = True) -> None:
    """Check that every URL ever seen is waiting, in flight or finished."""
    assert status["seen"] == status["waiting"] + status["in_flight"] + sum(status["finished"].values())
    if done:
        assert (status["waiting"], status["in_flight"], status["running"]) == (0, 0, False)


def repeats(rows: list[LoggedRequest]) -> int:
    """Count the repeated requests for pages; requests that were answered with an error do not count."""
    good = Counter(row.url for row in rows if row.status < 429 and not row.path.startswith("/robots"))
    return sum(good.values()) - len(good)


def assert_polite(world: World, delay: float, ip_delay: float) -> None:
    """Check P5. The server logs a request before it answers, so the logged gaps are not shorter than the real ones."""
    for by, least in (("host", delay), ("address", ip_delay)):
        gap, name = min((gap, name) for name, gap in world.gaps(by).items())
        rows = [row for row in world.requests() if getattr(row, by) == name]
        near = [pair for pair in itertools.pairwise(rows) if pair[1].monotonic - pair[0].monotonic < least]
        assert gap >= least, (by, name, gap, near[:5])


# A corpus as well as an archive, in small shards.
TEXT = ("extract.extractor=paragraphs", "quality.min_characters=0", "corpus.shard_bytes=6000")


def documents(directory: Path) -> list[dict[str, Any]]:
    """Return the corpus; check that its shards are complete, as long as the log says, and all in the log."""
    known = {name: length for name, length in lengths(directory).items() if name.startswith("corpus/")}
    found = []
    for path in sorted((directory / "corpus").glob("*/*")):
        data = path.read_bytes()
        texts, end = members(data)
        assert end == len(data) == known.pop(path.relative_to(directory).as_posix()), path.name
        found += [json.loads(line) for text in texts for line in text.splitlines()]
    assert not known
    return found


def assert_corpus(directory: Path) -> None:
    """Check P9: each document is there once and names its record; log, corpus and n-grams follow from the archive."""
    found = documents(directory)
    lines = {
        line["url"]: line
        for frame in frames(directory)
        for line in frame[1:]
        if line["reason"] == "ok" and line.get("kind", PAGE) == PAGE
    }
    assert Counter(document["url"] for document in found) == Counter(lines.keys())
    for document in found:
        place = document["place"]
        with (directory / place["file"]).open("rb") as file:
            file.seek(place["offset"])
            response = record(members(file.read(place["length"]))[0][0])
        assert (response.type, response.url, response.fields["warc-record-id"]) == (
            "response",
            document["url"],
            document["id"],
        )
        assert response.fields["warc-payload-digest"] == "sha1:" + place["digest"]
        text = sum(len(paragraph["text"].encode()) for paragraph in document["paragraphs"])
        assert text == lines[document["url"]]["kept"] > 0
    rebuilt, seen = asyncio.run(_rebuilt(directory))
    order = {line["url"]: line["seq"] for line in lines.values()}
    assert sorted(found, key=lambda document: order[document["url"]]) == rebuilt
    options = config.load(directory / "crawl.toml")
    assert content(Seen(directory, options.dedup, lengths(directory).get(REDO, 0)).table) == seen


async def _rebuilt(directory: Path) -> tuple[list[dict[str, Any]], list[bytes]]:
    """Return the documents, and the content of the table, that one pass over the committed archive gives."""
    pass_over = ordered.Rebuild(directory, config.load(directory / "crawl.toml"))
    found = [json.loads(line) async for _, line in pass_over.documents() if line]
    return found, content(pass_over.table)
