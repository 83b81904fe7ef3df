"""Near-duplicate removal: CPU per million tokens and memory per n-gram, against plain Python sets and onion itself.

    python benchmarks/dedup.py [--tokens 3000000] [--json]
    python benchmarks/dedup.py --rules FILE… [--workers 2] [--json]

The text is made here: words by Zipf's law, and a share of the paragraphs copied from earlier ones with some words
changed. All peers read the same documents; the paragraphs on which they disagree are counted. Onion runs if it is
installed.

With --rules, the two rules of `windrow dedup` on files of your own: how much text each keeps, on how many paragraphs
they agree, and the time and CPU time of both commands.
"""

import argparse
import itertools
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.dedup.onion import Onion  # noqa: E402
from windrow import config  # noqa: E402
from windrow.dedup import ngrams, onion  # noqa: E402
from windrow.dedup.onion import DuplicateRule  # noqa: E402
from windrow.dedup.table import NgramTable  # noqa: E402
from windrow.jobs import dedup  # noqa: E402

Documents = list[list[str]]
COMMIT = 256  # documents between two records for the redo file


def make(tokens: int, copied: float) -> Documents:
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyzäöü", k=chance.randint(2, 11))) for _ in range(200_000)]
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))
    documents: Documents = []
    stock: list[list[str]] = []
    made = 0
    while made < tokens:
        paragraphs = []
        for _ in range(chance.randint(3, 25)):
            if stock and chance.random() < copied:
                paragraph = [word if chance.random() > 0.03 else "changed" for word in chance.choice(stock)]
            else:
                paragraph = chance.choices(words, cum_weights=weights, k=chance.randint(5, 90))
                stock.append(paragraph)
            made += len(paragraph)
            paragraphs.append(" ".join(paragraph))
        documents.append(paragraphs)
    return documents


def cpu(job: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = job()
    return time.process_time() - start, result


def resident() -> int:
    """Return the bytes of memory in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def windrow(documents: Documents, numbers: dict[str, float]) -> list[bool]:
    """Work as a crawl does: a worker hashes each document, the owner of the table marks its duplicates."""
    spent, made = cpu(lambda: [ngrams.of(paragraphs) for paragraphs in documents])
    numbers["worker"] = spent
    before, table, rule = resident(), NgramTable(), DuplicateRule()

    def mark() -> Iterator[bool]:
        for number, document in enumerate(made):
            yield from onion.mark(table, document, rule).duplicate
            if number % COMMIT == 0:
                table.take()

    numbers["owner"], verdicts = cpu(lambda: list(mark()))
    numbers["ngrams"] = len(table)
    numbers["table_bytes_per_ngram"] = table.nbytes / len(table)
    numbers["resident_bytes_per_ngram"] = (resident() - before) / len(table)
    return list(verdicts)


def python_sets(documents: Documents, numbers: dict[str, float]) -> list[bool]:
    before, exact = resident(), Onion()
    spent, verdicts = cpu(
        lambda: [
            duplicate for paragraphs in documents for duplicate in exact.mark([text.split() for text in paragraphs])[0]
        ]
    )
    numbers["sets"] = spent
    numbers["sets_resident_bytes_per_ngram"] = (resident() - before) / len(exact.seen)
    return list(verdicts)


def command(documents: Documents, place: Path, numbers: dict[str, float]) -> None:
    """Run all of `windrow dedup`: read jsonl, mark duplicates, write jsonl."""
    given = place / "in.jsonl"
    given.write_text(
        "".join(json.dumps({"text": "\n".join(paragraphs)}, ensure_ascii=False) + "\n" for paragraphs in documents)
    )
    jobs = dedup.plan([given], place / "out.jsonl")
    numbers["command"], _ = cpu(
        lambda: dedup.run(jobs, dedup.options("paragraph", "", config.DedupOptions()), lambda count: None)
    )
    numbers["command_megabytes_per_second"] = given.stat().st_size / 1e6 / numbers["command"]


def original(documents: Documents, place: Path, numbers: dict[str, float]) -> None:
    """Run onion itself over the same text as a vertical file."""
    given = place / "in.vert"
    with given.open("w") as file:
        for paragraphs in documents:
            text = "".join("<p>\n" + paragraph.replace(" ", "\n") + "\n</p>\n" for paragraph in paragraphs)
            file.write(f"<doc>\n{text}</doc>\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (place / "onion.vert").open("wb") as out:
        subprocess.run(["onion", "-sq", "-n", "7", given], stdout=out, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    numbers["onion"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rules(files: list[Path], workers: int) -> dict[str, float]:
    """Compare onion's rule, which forgets what it removes, with all-earlier, which does not."""
    from windrow.corpus import detect
    from windrow.jobs import engine
    from windrow.jobs.dedup import earlier

    rule, tables = DuplicateRule(), (NgramTable(), NgramTable())
    numbers = dict.fromkeys(("words", "paragraphs", "onion_words", "earlier_words", "only_onion", "only_earlier"), 0.0)
    for path in files:
        for record, _ in detect.read(path):
            if not record.strip:
                continue
            document = ngrams.of_octets(record.paragraphs, rule.ngram, False)
            one, other = (onion.mark(table, document, rule) for table in tables)
            tables[1].add(np.frombuffer(document.hashes, np.uint64))
            numbers["words"] += one.words
            numbers["paragraphs"] += sum(map(bool, one.lengths))
            numbers["onion_words"] += one.left
            numbers["earlier_words"] += other.left
            pairs = list(zip(one.duplicate, other.duplicate, strict=True))
            numbers["only_onion"] += sum(ours > theirs for ours, theirs in pairs)  # removed by onion only
            numbers["only_earlier"] += sum(theirs > ours for ours, theirs in pairs)
            for table in tables:
                table.take()
    options = dedup.options("paragraph", "", config.DedupOptions(max_seen=1.0))
    with tempfile.TemporaryDirectory() as folder:
        start, spent = time.perf_counter(), time.process_time()
        dedup.run(dedup.plan(files, Path(folder, "onion")), options, lambda count: None)
        numbers["onion_seconds"], numbers["onion_cpu"] = time.perf_counter() - start, time.process_time() - spent
        plans = dedup.plan(files, Path(folder, "earlier"))
        start = time.perf_counter()
        with engine.open("local", workers=workers) as run:
            earlier.run(plans, options, run, Path(folder, "scratch"))
        numbers["earlier_seconds"] = time.perf_counter() - start
        work = earlier.EarlierWork(plans, options, Path(folder, "again"), 8)
        spent = time.process_time()  # of all workers: the three steps once more, in this process
        names = [f"{number:05}" for number in range(len(plans))]
        parts = [*(f"part-{number:04}" for number in range(work.count)), "urls"]
        for step, tasks in ((earlier.collect, names), (earlier.compare, parts), (earlier.rewrite, names)):
            for task in tasks:
                list(step(task, work=work))
        numbers["earlier_cpu"] = time.process_time() - spent
    return numbers


def show_rules(numbers: dict[str, float]) -> None:
    words, paragraphs = numbers["words"], numbers["paragraphs"]
    differ = numbers["only_onion"] + numbers["only_earlier"]
    print(f"{words:,.0f} words in {paragraphs:,.0f} paragraphs")
    for name in ("onion", "earlier"):
        kept, spent = numbers[f"{name}_words"] / words, numbers[f"{name}_cpu"]
        print(f"  {name:8} keeps {kept:7.2%} of the words, {numbers[f'{name}_seconds']:6.1f} s, {spent:6.1f} s CPU")
    print(f"  the same decision on {1 - differ / paragraphs:.2%} of the paragraphs; removed by all-earlier only:")
    print(f"  {numbers['only_earlier']:,.0f}; by onion only: {numbers['only_onion']:,.0f}")


def show(numbers: dict[str, float], tokens: int, documents: int) -> None:
    millions = tokens / 1e6
    print(f"{tokens:,} tokens, {documents:,} documents, {numbers['ngrams']:,.0f} n-grams kept")
    print("CPU seconds per million tokens:")
    ours = numbers["worker"] + numbers["owner"]
    for name, spent in (
        ("windrow, as in a crawl", ours),
        ("windrow dedup, jsonl to jsonl", numbers["command"]),
        ("plain Python sets", numbers["sets"]),
        ("onion", numbers.get("onion")),
    ):
        if spent is not None:
            print(f"  {name:32} {spent / millions:7.3f}   {spent / ours:6.2f}×")
    worker, owner = (numbers[name] / documents * 1e6 for name in ("worker", "owner"))
    print(f"per document: {worker:.0f} µs in the worker, {owner:.0f} µs in the owner")
    print(f"windrow dedup: {numbers['command_megabytes_per_second']:.1f} MB/s")
    table, held = numbers["table_bytes_per_ngram"], numbers["resident_bytes_per_ngram"]
    print(f"bytes per n-gram: table {table:.1f}, resident {held:.1f}", end="")
    print(f"; Python sets {numbers['sets_resident_bytes_per_ngram']:.0f}")
    print(f"paragraphs on which the sets disagree: {numbers['disagreeing']:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=3_000_000)
    parser.add_argument("--copied", type=float, default=0.3, help="share of paragraphs that are copies")
    parser.add_argument("--rules", nargs="+", type=Path, metavar="FILE", help="compare the two rules on these files")
    parser.add_argument("--workers", type=int, default=2, help="with --rules: processes of all-earlier")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.rules:
        found = rules(options.rules, options.workers)
        return print(json.dumps(found, indent=2)) if options.json else show_rules(found)
    documents = make(options.tokens, options.copied)
    tokens = sum(len(text.split()) for paragraphs in documents for text in paragraphs)
    numbers: dict[str, float] = {"tokens": tokens, "documents": len(documents)}
    verdicts = windrow(documents, numbers)
    with tempfile.TemporaryDirectory() as place:
        command(documents, Path(place), numbers)
        if shutil.which("onion"):
            original(documents, Path(place), numbers)
    numbers["disagreeing"] = sum(
        ours != theirs for ours, theirs in zip(verdicts, python_sets(documents, numbers), strict=True)
    )
    if options.json:
        print(json.dumps(numbers, indent=2))
    else:
        show(numbers, tokens, len(documents))


if __name__ == "__main__":
    main()
