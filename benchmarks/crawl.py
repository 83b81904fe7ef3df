"""Compare Windrow and Scrapy on the `medium` web without delay: CPU per page, pages per second, memory, and the ratio.

    python benchmarks/crawl.py [--text] [--only windrow|scrapy] [--pages N] [--web DIR] [--json]

The two crawlers run one after the other. Without --text both write WARC files and extract only links. With --text
Windrow runs its complete pipeline: the default extractor, judges, near-duplicates and corpus; it accepts every language
and retires no domain. Scrapy then adds jusText.

CPU is the user and system time of all processes that the crawler started, from the kernel's accounting, without the web
server. Pages are the answers with status 200 in the log of the web server, except robots.txt.
"""

import argparse
import ctypes
import dataclasses
import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

HERE = Path(__file__).resolve().parent
SERVE = HERE.parents[1] / "shared" / "web" / "serve"
INTERVAL = 0.25  # seconds between two samples of memory
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: orphans become our children, so that their time is counted


@dataclasses.dataclass(frozen=True)
class Sample:
    time: float  # epoch seconds
    pss: int  # bytes of all processes, shared pages divided among their users
    private: int  # bytes, only the anonymous part: without file pages, which the kernel can drop


@dataclasses.dataclass(frozen=True)
class Result:
    crawler: str
    pages: int
    requests: int  # robots.txt, redirects and missing pages included
    archived: int  # response records in the WARC files
    cpu_ms_per_page: float
    pages_per_second: float
    peak_mb: float
    peak_private_mb: float
    mb_at_quarters: list[float]  # when 25, 50, 75 and 100 % of the pages had been served
    cpu_seconds: float
    wall_seconds: float


@dataclasses.dataclass(frozen=True)
class Web:
    directory: Path

    @property
    def seeds(self) -> Path:
        return self.directory / "seeds.txt"

    @property
    def hosts(self) -> Path:
        return self.directory / "hosts"

    def served(self, since: float) -> tuple[int, list[float]]:
        """Return the number of answered requests, and the times of those that gave a page."""
        pid = int((self.directory / "nginx.pid").read_text())
        os.kill(pid, signal.SIGUSR1)  # nginx writes its buffer and opens the log again
        time.sleep(1)
        with open(self.directory / "access.log", encoding="latin-1") as lines:
            rows = [row for row in (line.split(" ", 6) for line in lines) if float(row[0]) >= since]
        return len(rows), sorted(float(row[0]) for row in rows if row[3] == "200" and row[5] != '"/robots.txt"')


@contextmanager
def web(directory: Path, port: int, profile: str = "medium") -> Iterator[Web]:
    if not SERVE.exists():
        sys.exit(f"cannot serve the {profile} web: {SERVE} is missing")
    subprocess.run([SERVE, "start", profile, directory, str(port)], check=True, stdout=sys.stderr)
    try:
        yield Web(directory)
    finally:
        subprocess.run([SERVE, "stop", directory], check=True)


def measure(command: list[str], log: Path) -> tuple[float, float, float, list[Sample]]:
    """Run a command to its end.

    Return its start time, its wall seconds, the CPU seconds of it and all its descendants, and samples of memory.
    """
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    before, began = _children_cpu(), time.time()
    samples = []
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    try:
        while process.poll() is None:
            samples.append(_sample(process.pid))
            time.sleep(INTERVAL)
    finally:
        _end(process)
    wall = time.time() - began
    if process.returncode:
        end = log.read_text(errors="replace")[-2000:]
        sys.exit(f"{' '.join(command)}\nfailed with exit code {process.returncode}; its output is in {log}:\n{end}")
    return began, wall, _children_cpu() - before, samples


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _end(process: subprocess.Popen[bytes]) -> None:
    """End and reap all descendants, so that none outlives the measurement and their time is counted."""
    for descendant in psutil.Process().children(recursive=True):
        descendant.kill()
    process.wait()
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def _sample(pid: int) -> Sample:
    pss = private = 0
    try:
        family = [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    except psutil.NoSuchProcess:
        family = []
    for member in family:
        try:
            rows = dict(
                line.split(":", 1) for line in Path(f"/proc/{member}/smaps_rollup").read_text().splitlines()[1:]
            )
        except OSError:  # it ended during the sample
            continue
        pss += int(rows["Pss"].split()[0]) << 10
        private += int(rows["Pss_Anon"].split()[0]) << 10
    return Sample(time.time(), pss, private)


def archived(directory: Path) -> int:
    """Return the number of response records on disk, counted by their headers."""
    count = 0
    for path in directory.rglob("*.warc.gz"):
        with gzip.open(path) as stream:
            count += sum(line == b"WARC-Type: response\r\n" for line in stream)
    return count


def windrow(site: Web, output: Path, pages: int, text: bool) -> list[str]:
    """Prepare a crawl directory; return the command that crawls it."""
    base = [sys.executable, "-m", "windrow.cli"]
    crawl = output / "crawl"
    subprocess.run(
        [*base, "init", crawl, "--seeds", site.seeds, "--contact", "http://localhost/"], check=True, stdout=sys.stderr
    )
    options = {
        "fetch.delay": "0",
        "fetch.ip_delay": "0",
        "fetch.allow_private": "true",
        "fetch.hosts_file": f'"{site.hosts}"',
        "scope.tlds": '["test"]',
    } | ({"frontier.yield_threshold": '"off"'} if text else {"extract.extractor": '"none"'})
    return [
        *base,
        "crawl",
        str(crawl),
        "--max-pages",
        str(pages),
        *(word for key, value in options.items() for word in ("--set", f"{key}={value}")),
    ]


def scrapy(site: Web, output: Path, pages: int, text: bool) -> list[str]:
    output.mkdir(parents=True, exist_ok=True)
    spider = [
        sys.executable,
        str(HERE / "scrapy_spider.py"),
        str(site.seeds),
        str(site.hosts),
        str(output / "peer.warc.gz"),
        str(pages),
    ]
    return [*spider, "text"] if text else spider


CRAWLERS = {"windrow": windrow, "scrapy": scrapy}


def run(name: str, site: Web, output: Path, pages: int, text: bool) -> Result:
    output.mkdir(parents=True)
    began, wall, cpu, samples = measure(CRAWLERS[name](site, output, pages, text), output / "output.log")
    requests, times = site.served(began)
    if not times:
        sys.exit(f"{name} fetched no page; its output:\n{(output / 'output.log').read_text(errors='replace')[-2000:]}")
    quarters = [times[len(times) * part // 4 - 1] for part in (1, 2, 3, 4)]
    return Result(
        crawler=name,
        pages=len(times),
        requests=requests,
        archived=archived(output),
        cpu_ms_per_page=cpu / len(times) * 1e3,
        pages_per_second=len(times) / wall,
        peak_mb=max(sample.pss for sample in samples) / 1e6,
        peak_private_mb=max(sample.private for sample in samples) / 1e6,
        mb_at_quarters=[min(samples, key=lambda sample: abs(sample.time - when)).pss / 1e6 for when in quarters],
        cpu_seconds=cpu,
        wall_seconds=wall,
    )


COLUMNS: dict[str, Callable[[Result], str]] = {  # heading -> text of a result
    "pages": lambda r: f"{r.pages}",
    "requests": lambda r: f"{r.requests}",
    "archived": lambda r: f"{r.archived}",
    "CPU ms/page": lambda r: f"{r.cpu_ms_per_page:.3f}",
    "pages/s": lambda r: f"{r.pages_per_second:.0f}",
    "peak MB": lambda r: f"{r.peak_mb:.0f}",
    "private MB": lambda r: f"{r.peak_private_mb:.0f}",
    "MB at 25/50/75/100 %": lambda r: "/".join(f"{value:.0f}" for value in r.mb_at_quarters),
}


def show(results: list[Result]) -> None:
    print(" " * 8, *(f"{heading:>11}" for heading in COLUMNS))
    for result in results:
        print(f"{result.crawler:8}", *(f"{form(result):>{max(11, len(heading))}}" for heading, form in COLUMNS.items()))
    if len(results) == 2:
        ratio = results[1].cpu_ms_per_page / results[0].cpu_ms_per_page
        print(f"ratio of CPU per page, scrapy : windrow = {ratio:.1f} : 1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=CRAWLERS, help="run one crawler instead of both")
    parser.add_argument("--text", action="store_true", help="run the complete pipeline, from the request to the corpus")
    parser.add_argument(
        "--pages", type=int, default=0, help="stop after about this many pages; 0: all 22,622 pages of the web"
    )
    parser.add_argument(
        "--web",
        type=Path,
        help="directory for the unpacked web (0.5 GB), reused if it exists; default: a temporary one",
    )
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nginx and the crawler end too
    names = [options.only] if options.only else list(CRAWLERS)
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as made:
        os.chmod(made, 0o755)  # nginx started by root reads as nobody
        with web((options.web or Path(made, "web")).absolute(), options.port) as site:
            results = [run(name, site, Path(made, name), options.pages, options.text) for name in names]
    if options.json:
        print(json.dumps([dataclasses.asdict(result) for result in results]))
    else:
        show(results)


if __name__ == "__main__":
    main()
