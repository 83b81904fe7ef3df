"""The same jobs on the local engine and on Spark: the outputs must be equal; what Spark costs on one machine.

    python benchmarks/engine.py WARC… [--workers 2] [--json]

Two jobs over the same archive files: a job of the user (`examples/zindex.py`, reduced by key), and a shuffle into as
many files as are read. Spark runs as local[N]; its start is counted apart. Spark needs the extra `spark` and Java.
Each job also runs on the local engine with a single worker, to show what the second one gives.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

from windrow.jobs import engine, shuffle  # noqa: E402
from windrow.jobs.batch import apply as user  # noqa: E402
from windrow.jobs.batch.apply import BatchOptions  # noqa: E402
from windrow.jobs.engine import Engine, SparkOptions  # noqa: E402
from windrow.jobs.shuffle import ShuffleOptions  # noqa: E402

EXAMPLE = str(ROOT / "examples" / "zindex.py")


def pairs(run: Engine, files: list[Path], place: Path) -> None:
    user.run(BatchOptions(job=EXAMPLE, inputs=files, output=place / "pairs.json"), run)


def shuffled(run: Engine, files: list[Path], place: Path) -> None:
    shuffle.run(ShuffleOptions(inputs=files, output=place / "shuffled"), run)


JOBS = {"pairs": pairs, "shuffle": shuffled}


def measure(name: str, workers: int, files: list[Path], place: Path) -> dict[str, float]:
    """Return seconds: of the start, and of each job."""
    place.mkdir()
    start = time.perf_counter()
    options = SparkOptions(f"local[{workers}]") if name == "spark" else None
    with engine.open(name, work=place / "work", workers=workers, spark=options) as run:
        found = {"start": time.perf_counter() - start}
        for job, function in JOBS.items():
            start = time.perf_counter()
            function(run, files, place)
            found[job] = time.perf_counter() - start
    return found


def equal(one: Path, other: Path) -> dict[str, bool]:
    """Compare the pairs byte by byte, and the captures of all shuffled files in their order.

    The two engines end files at different captures, and each file begins with warcinfo records.
    """
    from windrow import archive

    def captures(place: Path) -> list[bytes]:
        found = []
        for path in sorted((place / "shuffled").iterdir()):
            found += [record.id for record in archive.records(path) if record.type != "warcinfo"]
        return found

    return {
        "pairs": (one / "pairs.json").read_bytes() == (other / "pairs.json").read_bytes(),
        "shuffle": captures(one) == captures(other),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="windrow-engine-") as folder:
        place = Path(folder)
        numbers = {
            "local, 1 worker": measure("local", 1, options.files, place / "one"),
            f"local, {options.workers} workers": measure("local", options.workers, options.files, place / "local"),
            f"spark, local[{options.workers}]": measure("spark", options.workers, options.files, place / "spark"),
        }
        same = equal(place / "local", place / "spark")
    size = sum(path.stat().st_size for path in options.files)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if options.json:
        print(json.dumps({"bytes": size, "seconds": numbers, "equal": same, "driver_megabytes": peak}))
        return
    print(f"{len(options.files)} files, {size / 1e6:,.0f} MB; the outputs are equal: {same}")
    print(f"memory of this process at its highest, without workers and Java: {peak:,.0f} MB")
    base = numbers[f"local, {options.workers} workers"]
    for name, found in numbers.items():
        shown = "   ".join(f"{job} {found[job]:6.1f} s ({found[job] / base[job]:4.2f}×)" for job in JOBS)
        print(f"  {name:18} start {found['start']:5.1f} s   {shown}")


if __name__ == "__main__":
    main()
