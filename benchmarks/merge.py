"""How much text `windrow merge` keeps of a crawl that was cut into shards, against the crawl as a whole.

    python benchmarks/merge.py [--crawl DIR] [--web DIR] [--shards 2,4,8,32] [--json]

One crawl of the `medium` web gives the pages, in its order; with --crawl, a crawl that is there already does. Each page
belongs to the shard of its host (`medium` has few registered domains), and each shard decides on its own pages as a
crawl would: it has its own fingerprints and n-grams. So the shards are those of a cluster, but of the same downloads.
The baseline is one owner for all pages. `windrow merge` then merges the shards.
"""

import argparse
import asyncio
import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import xxhash
from crawl import measure, web

from windrow import config, decide, log, origin, urls
from windrow.corpus import reader
from windrow.corpus.shards import Shards
from windrow.decide import Candidate
from windrow.dedup import ngrams
from windrow.jobs.inputs import committed
from windrow.jobs.rebuild import captured, judging
from windrow.log.writer import Log
from windrow.records import Frame, Origin
from windrow.refine import Refiner

PORT = 8093


class Division:
    """The crawl cut into a number of shards."""

    def __init__(self, root: Path, options: config.Config, count: int, source: Path) -> None:
        self.directories = [root / f"{count}-shards" / f"{number:05}" for number in range(count)]
        self.owners = [judging.Owner(options) for _ in self.directories]
        self.archives: list[dict[str, int]] = [{} for _ in self.directories]
        self.shards = []
        for directory in self.directories:
            directory.mkdir(parents=True)
            shutil.copy(source / "crawl.toml", directory)
            self.shards.append(Shards(directory, options.corpus, options.crawl.node))

    async def add(self, candidate: Candidate, place: "captured.Place", record: str) -> None:
        number = xxhash.xxh3_64_intdigest(candidate.url.host.encode()) % len(self.owners)
        assert candidate.refined.verdict is not None
        decision = await self.owners[number].decide(candidate, candidate.refined.verdict)
        self.archives[number][place.file] = place.offset + place.length
        if decision.draft is not None:
            self.shards[number].append(decision.language, decide.line(decision, candidate, place, record))

    def close(self) -> None:
        for directory, shards, archives in zip(self.directories, self.shards, self.archives, strict=True):
            lengths = {**archives, **shards.flush()}
            shards.close()
            file = Log(directory / "log", ("", 0))
            file.append(log.encode(Frame(1, 1000.0, (), lengths)))
            file.close()


def candidates(crawl: Path, options: config.Config) -> Iterator[tuple[Candidate, "captured.Place", str]]:
    """Yield every page of a crawl in its order, refined by its options."""
    refine = Refiner(judging.without_links(options))
    origins: dict[tuple[str, float], Origin] = {}
    for frame in committed.frames(crawl / "log"):
        for report in [entry.report for entry in frame.entries]:
            if report.origin is not None:
                origins[report.origin.name, report.origin.stamp] = report.origin
            elif report.place is not None and captured.is_page(report):
                entry = captured.read(crawl, report.place)
                known = origins.get((urls.origin(report.task.url.text), report.rules))
                probed = known.files.get(origin.SOFT_404) if known is not None else None
                candidate = Candidate(
                    url=report.task.url,
                    digest=entry.digest,
                    ip=entry.capture.ip,
                    time=entry.capture.time,
                    refined=refine(entry.capture, probed.text if probed is not None else ""),
                    origin=known,
                    truncated=entry.capture.truncated,
                )
                yield candidate, report.place, entry.id


async def divide(crawl: Path, options: config.Config, divisions: list[Division]) -> int:
    pages = 0
    for candidate, place, record in candidates(crawl, options):
        pages += 1
        for division in divisions:
            await division.add(candidate, place, record)
    for division in divisions:
        division.close()
    return pages


def texts(corpus: Path) -> dict[str, int]:
    """Return the words of each document, by URL."""
    return {
        document.url: ngrams.words([paragraph.text for paragraph in document.paragraphs])
        for document in reader.documents(corpus)
    }


def run(crawl: Path, counts: list[int], root: Path) -> dict[str, object]:
    options = config.load(crawl / "crawl.toml")
    divisions = [Division(root, options, count, crawl) for count in (1, *counts)]
    pages = asyncio.run(divide(crawl, options, divisions))
    single = texts(divisions[0].directories[0] / "corpus")
    words = sum(single.values())
    rows = []
    for count, division in zip(counts, divisions[1:], strict=True):
        apart = [texts(directory) for directory in division.directories if (directory / "corpus").exists()]
        output = root / f"merged-{count}"
        command = [sys.executable, "-m", "windrow.cli", "merge", *map(str, division.directories), "-o", str(output)]
        _, wall, cpu, _ = measure(command, root / "merge.log")
        merged = texts(output)
        rows.append(
            {
                "shards": count,
                "documents_apart": sum(map(len, apart)),
                "words_apart": sum(sum(found.values()) for found in apart),
                "documents_merged": len(merged),
                "words_merged": sum(merged.values()),
                "documents_in_both": len(merged.keys() & single.keys()),
                "cpu_seconds": round(cpu, 1),
                "wall_seconds": round(wall, 1),
            }
        )
    return {"pages": pages, "documents": len(single), "words": words, "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crawl", type=Path, help="a crawl that is there; without it, `medium` is crawled first")
    parser.add_argument("--web", type=Path, help="directory of the unpacked web, to keep it for the next run")
    parser.add_argument("--shards", default="2,4,8,32")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="windrow-merge-")))
        crawl = given.crawl
        if crawl is None:
            with web(given.web or root / "web", PORT) as site:
                import_module("yield").crawl(
                    site, root / "whole", (site.directory / "seeds.txt").read_text().split(), {}
                )
            crawl = root / "whole" / "crawl"
        found = run(crawl, [int(count) for count in given.shards.split(",")], root)
    if given.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{found['pages']:,} pages; one crawl keeps {found['documents']:,} documents, {found['words']:,} words")
    print("shards  words of the shards  words merged  documents merged  in both   CPU s")
    for row in found["rows"]:  # type: ignore[attr-defined]
        apart, merged = row["words_apart"] / found["words"] - 1, row["words_merged"] / found["words"] - 1
        print(
            f"{row['shards']:>6}  {apart:>+18.2%}  {merged:>+12.2%}  {row['documents_merged']:>16,}"
            f"  {row['documents_in_both']:>7,}  {row['cpu_seconds']:>6}"
        )


if __name__ == "__main__":
    main()
