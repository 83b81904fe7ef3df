"""Pages of a crawl's archive through its worker processes alone: pages per second, and CPU time of the workers.

    python benchmarks/workers.py CRAWL [--pages 4000] [--workers 1,2] [--work 0.0005] [--json]

CRAWL is the directory of a crawl. At most 1,000 pages are on their way, and each answer costs as much CPU time in this
process as a crawl needs to record a page. No peer: run it from two trees to compare them.
"""

import argparse
import asyncio
import itertools
import json
import resource
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

from windrow import config  # noqa: E402
from windrow.archive import reader  # noqa: E402
from windrow.crawl.workers.pool import Pool  # noqa: E402
from windrow.data import Capture  # noqa: E402

AT_ONCE = 1000
WARM = 500  # pages before the clock starts: a worker loads its models with the first of them


def pages(directory: Path, count: int) -> list[Capture]:
    stored = (one for path in sorted(directory.glob("warc/*.warc.gz")) for one in reader.read(path))
    return list(itertools.islice((one.capture for one in stored if one.capture.status == 200), count))


def work(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


async def measure(options: config.Config, captures: list[Capture], seconds: float) -> float:
    """Return the pages per second."""
    pool = Pool(options)
    room = asyncio.Semaphore(AT_ONCE)

    async def read(capture: Capture) -> None:
        async with room:
            await pool.refine(capture)
            work(seconds)

    await pool.start()
    try:
        await asyncio.gather(*map(read, captures[:WARM]))
        began = time.monotonic()
        await asyncio.gather(*map(read, captures[WARM:]))
        return (len(captures) - WARM) / (time.monotonic() - began)
    finally:
        await pool.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crawl", type=Path)
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--workers", default="1,2", help="numbers of workers, with commas (default 1,2)")
    parser.add_argument("--work", type=float, default=0.0005, help="CPU seconds of this process per answer")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    words = parser.parse_args()
    captures = pages(words.crawl, words.pages)
    if len(captures) <= WARM:
        sys.exit(f"{words.crawl} has {len(captures)} pages in warc/, and more than {WARM} are needed")
    found = {}
    for count in words.workers.split(","):
        given = ["extract.extractor=blocks", f"workers.count={count}"]
        options = config.load(words.crawl / "crawl.toml", given)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        rate = asyncio.run(measure(options, captures, words.work))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found[count] = {"pages_per_second": rate, "cpu_ms_per_page": 1000 * spent / len(captures)}
        if not words.json:
            print(f"{count} workers: {rate:,.0f} pages per second, {found[count]['cpu_ms_per_page']:.3f} ms per page")
    if words.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
