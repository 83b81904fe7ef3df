"""Text kept per byte downloaded, for three policies that crawl the `medium` web for one language from the same seeds.

    python benchmarks/yield.py [--language de] [--sets 5] [--foreign] [--web DIR] [--json]

- breadth: all hosts in rotation, nothing is retired;
- spiderling: all hosts in rotation, a domain is retired when its yield falls below t(n) = 0.005·(log10 n - 1);
- windrow: the defaults.

Each policy crawls to the end, once per set of seeds: the web's own `seeds.txt`, then the front pages of random hosts.
The log says how much a crawl had kept and downloaded after 10, 25, 50 and 100 % of the pages that breadth-first finds;
a crawl that finished earlier counts as it finished. --foreign takes the random seeds from hosts without a page in the
wanted language. A page is an answer with status 200. Bytes are those of every
answer, including robots.txt, redirects and missing pages.
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from crawl import Web, web

from windrow import log
from windrow.records import Kind, Report

POINTS = (0.10, 0.25, 0.50, 1.00)  # of the pages
POLICIES: dict[str, dict[str, str]] = {
    "breadth": {"frontier.order": "breadth", "frontier.yield_threshold": "off", "frontier.segments": "false"},
    "spiderling": {"frontier.order": "breadth", "frontier.yield_threshold": "normal", "frontier.segments": "false"},
    "windrow": {},  # the defaults
}
Step = tuple[int, int]  # bytes kept and downloaded so far


def fronts(site: Web) -> dict[str, list[str]]:
    """Return the front pages of the web's hosts, and the languages of their pages."""
    hosts = json.loads((site.directory / "expected.json").read_text())["hosts"]
    return {f"http://{name}{hosts[name]['start']}": sorted(hosts[name]["langs"]) for name in sorted(hosts)}


def seed_sets(own: list[str], fronts: dict[str, list[str]], count: int, foreign: str = "") -> list[list[str]]:
    """Return the web's own seeds, then random ones. foreign: only random ones, of hosts without this language."""
    rng = random.Random(1)
    if foreign:
        without = [url for url, languages in fronts.items() if foreign not in languages]
        return [rng.sample(without, len(own)) for _ in range(count)]
    return [own, *(rng.sample(list(fronts), len(own)) for _ in range(count - 1))]


def crawl(site: Web, directory: Path, seeds: Sequence[str], options: dict[str, str]) -> None:
    """Crawl to the end."""
    directory.mkdir(parents=True)
    (directory / "given.txt").write_text("\n".join(seeds) + "\n")
    base = [sys.executable, "-m", "windrow.cli"]
    common = {
        "fetch.delay": "0",
        "fetch.ip_delay": "0",
        "fetch.allow_private": "true",
        "fetch.hosts_file": f'"{site.hosts}"',
        "scope.tlds": '["test"]',
    }
    settings = [word for key, value in {**common, **options}.items() for word in ("--set", f"{key}={value}")]
    init = [
        *base,
        "init",
        str(directory / "crawl"),
        "--seeds",
        str(directory / "given.txt"),
        "--contact",
        "http://localhost/",
        *settings,
    ]
    with open(directory / "output.log", "wb") as output:
        subprocess.run(init, check=True, stdout=output, stderr=output)
        subprocess.run(
            [*base, "crawl", str(directory / "crawl")],
            check=True,
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
        )


def steps(directory: Path) -> Iterator[Step]:
    """Yield the bytes kept and downloaded until each page of a crawl, in the order of its log."""
    frames = (frame for frame, _ in log.frames(directory / "crawl" / "log"))
    return sums(entry.report for frame in frames for entry in frame.entries)


def sums(reports: Iterable[Report]) -> Iterator[Step]:
    kept = downloaded = 0
    for report in reports:
        kept += report.kept
        downloaded += report.downloaded
        if report.task.kind is Kind.PAGE and report.status == 200:
            yield kept, downloaded


def at(points: Sequence[Step], pages: int) -> Step:
    return points[min(pages, len(points)) - 1]


def reused(file: Path | None, make: Callable[[], list[Step]]) -> list[Step]:
    """Return the steps in a file, or make them and keep them there."""
    if file is not None and file.exists():
        return [(kept, downloaded) for kept, downloaded in json.loads(file.read_text())]
    found = make()
    if file is not None:
        file.write_text(json.dumps(found))
    return found


def measure(site: Web, work: Path, seeds: Sequence[str], language: str, keep: Path | None) -> dict[str, list[Step]]:
    """Crawl with each policy. keep: the beginning of the files in which the other policies' runs are kept."""
    found = {}
    for name, options in POLICIES.items():

        def make(name: str = name, options: dict[str, str] = options) -> list[Step]:
            crawl(site, work / name, seeds, {**options, "language.accepted": f'["{language}"]'})
            return list(steps(work / name))

        found[name] = reused(keep.with_name(f"{keep.name}-{name}") if keep and name != "windrow" else None, make)
        print(f"{name}: {len(found[name])} pages, {found[name][-1][0] / 1e6:.2f} MB kept", file=sys.stderr, flush=True)
    return found


def figures(runs: Sequence[dict[str, list[Step]]]) -> dict[str, list[dict[str, list[float]]]]:
    """Return, per policy, of each run: its pages, its yield at each point, its share of what breadth-first kept."""
    results: dict[str, list[dict[str, list[float]]]] = {}
    for name in runs[0]:
        for run in runs:
            total = len(run["breadth"])
            reached = [at(run[name], round(share * total)) for share in POINTS]
            row = {
                "pages": [float(len(run[name]))],
                "yield": [kept / downloaded for kept, downloaded in reached],
                "share": [kept / run["breadth"][-1][0] for kept, _ in reached],
            }
            results.setdefault(name, []).append(row)
    return results


def show(results: dict[str, list[dict[str, list[float]]]]) -> None:
    """Print means and standard deviations, and the share of the text: after 10 %, in the end, and its least."""
    head = [f"{f'at {point:.0%}':>16}" for point in POINTS]
    print(f"{'':11} {'pages':>7}", *head, f"{'text at 10 %':>13} {'in the end':>11} {'least':>7}")
    means: dict[str, list[float]] = {}
    for name, rows in results.items():
        columns = list(zip(*(row["yield"] for row in rows), strict=True))
        means[name] = [statistics.mean(column) for column in columns]
        spread = [f"{statistics.mean(column):.4f} ± {statistics.pstdev(column):.4f}" for column in columns]
        shares = [statistics.mean(row["share"][place] for row in rows) for place in (0, -1)]
        least = min(row["share"][-1] for row in rows)
        pages = statistics.mean(row["pages"][0] for row in rows)
        cells = [f"{word:>16}" for word in spread]
        print(f"{name:11} {pages:7.0f}", *cells, f"{shares[0]:13.1%} {shares[1]:11.1%} {least:7.1%}")
    for name, peer in [("spiderling", "breadth"), *((name, "spiderling") for name in list(results)[2:])]:
        pairs = zip(means[name], means[peer], strict=True)
        ratios = [f"{one / other:.2f}" if other else "no text to compare with" for one, other in pairs]
        print(f"{name} : {peer} = {', '.join(ratios)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", default="de", help="the wanted one (default de)")
    parser.add_argument("--foreign", action="store_true", help="begin at hosts without the wanted language")
    parser.add_argument("--sets", type=int, default=5, help="sets of seeds (default 5)")
    parser.add_argument(
        "--web",
        type=Path,
        help="directory to unpack the web in (0.5 GB), reused when it is there; without it a temporary one",
    )
    parser.add_argument("--port", type=int, default=8391)
    parser.add_argument("--keep", type=Path, help="directory in which the runs of the other two policies are kept")
    parser.add_argument("--json", action="store_true", help="print the figures of every run as JSON")
    given = parser.parse_args()
    if given.keep:
        given.keep.mkdir(exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nginx is ended too
    with tempfile.TemporaryDirectory(prefix="windrow-yield-") as made:
        os.chmod(made, 0o755)  # nginx started by root reads as nobody
        runs = []
        with web((given.web or Path(made, "web")).absolute(), given.port) as site:
            foreign = given.language if given.foreign else ""
            for number, seeds in enumerate(
                seed_sets(site.seeds.read_text().split(), fronts(site), given.sets, foreign)
            ):
                with tempfile.TemporaryDirectory(dir=made) as work:
                    print(f"seeds {number + 1}", file=sys.stderr, flush=True)
                    keep = given.keep / f"{given.language}-{foreign}-{number}" if given.keep else None
                    runs.append(measure(site, Path(work), seeds, given.language, keep))
        results = figures(runs)
    if given.json:
        print(json.dumps(results))
    else:
        show(results)


if __name__ == "__main__":
    main()
