"""Topic crawls: how many pages of the wanted site a crawl takes, and how much relevant text it finds.

    python benchmarks/focus.py sites --web DIR [--delay 0.25]    experiment 1 of Remus and Biemann (2016), on `2x2b`
    python benchmarks/focus.py topics --web DIR [--topics 5] [--switches] [--json]    experiment 2 in small, on `medium`

sites: one connection, 100 documents, four sites of two topics in two languages. A row per model, a column per site;
the first row is the crawl in breadth-first order.

topics: a topic is the English text of one site, which is kept out of the crawl; relevant are the kept bytes of English
pages on the same topic elsewhere, as `pages.tsv.gz` of the web says. Focused and breadth-first crawls are compared at
10, 25 and 50 % of the pages. --switches repeats the focused crawl with one part of it turned off at a time.
"""

import argparse
import collections
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from crawl import Web, web

from windrow import log
from windrow.data import Kind

POINTS = (0.10, 0.25, 0.50)  # of the pages
WORDS = 30_000  # of a topic's sample
BREADTH = ("frontier.order=breadth", "frontier.yield_threshold=off", "frontier.segments=false")
# What is turned off, by the name of the row.
SWITCHES: dict[str, tuple[str, ...]] = {
    "without (a) link context": ("extract.link_context=false",),
    "without (b) background": ("focus.by=perplexity",),
    "without (c) hosts": ('frontier.learn=["links", "hops", "new-hosts", "yield"]',),
    "without (d) yield": ('frontier.learn=["hosts", "links", "hops", "new-hosts"]',),
    "without (e) hops": ('frontier.learn=["hosts", "links", "new-hosts", "yield"]',),
    "without new hosts": ('frontier.learn=["hosts", "links", "hops", "yield"]',),
    "without buckets": ("focus.high=0", "focus.medium=0", "focus.cutoff=0"),
}


def windrow(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "windrow.cli", *words], check=True, stdout=subprocess.DEVNULL)


def crawl(site: Web, directory: Path, given: Sequence[str], settings: Sequence[str], pages: int) -> None:
    """Make a crawl and run it until it has so many pages."""
    common = [
        "fetch.ip_delay=0",
        "fetch.allow_private=true",
        f'fetch.hosts_file="{site.hosts}"',
        'scope.tlds=["test"]',
    ]
    options = [word for setting in (*common, *settings) for word in ("--set", setting)]
    windrow("init", str(directory), "--contact", "http://localhost/", *given, *options)
    windrow("crawl", str(directory), "--max-pages", str(pages), "--quiet")


def pages(directory: Path) -> list[tuple[str, str, int]]:
    """Return host, path and kept bytes of the pages of a crawl, in the order of its log."""
    found = []
    for frame, _ in log.frames(directory / "log"):
        for report in [entry.report for entry in frame.entries]:
            if report.task.kind is Kind.PAGE and report.status == 200:
                url = report.task.url
                found.append((url.host, url.text[url.text.index("/", 8) :], report.kept))
    return found


def sites(site: Web, work: Path, delay: str) -> dict[str, dict[str, int]]:
    """Return the documents per site of each crawl."""
    found = {}
    seeds = ["--seeds", str(site.seeds)]
    speed = (f"fetch.delay={delay}", "fetch.connections=1")
    crawl(site, work / "breadth", seeds, (*speed, *BREADTH), 100)
    found["breadth first"] = pages(work / "breadth")
    for text in sorted((site.directory / "topics").glob("*.txt")):
        crawl(site, work / text.stem, [*seeds, "--topic", str(text)], speed, 100)
        found[text.stem] = pages(work / text.stem)
    return {name: dict(collections.Counter(host for host, _, _ in rows[:100])) for name, rows in found.items()}


def truth(site: Web) -> dict[tuple[str, str], tuple[str, str]]:
    """Return topic and detected language by host and path."""
    with gzip.open(site.directory / "pages.tsv.gz", "rt") as lines:
        names = next(lines).rstrip("\n").split("\t")
        rows = [dict(zip(names, line.rstrip("\n").split("\t"), strict=True)) for line in lines]
    return {(row["host"], row["path"]): (row["topic"], row["detected"]) for row in rows}


def chosen(known: dict[tuple[str, str], tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """Return topics of English pages that several sites have, the largest first, each with its largest site."""
    hosts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for (host, _), (topic, language) in known.items():
        if language == "en" and topic != "api-reference":  # these are on anything
            hosts[topic][host] += 1
    several = {topic: sizes for topic, sizes in hosts.items() if sum(size >= 20 for size in sizes.values()) >= 3}
    largest = sorted(several, key=lambda topic: -several[topic].total())
    return [(topic, several[topic].most_common(1)[0][0]) for topic in largest[:count]]


def sample(site: Web, host: str, paths: Sequence[str], path: Path) -> None:
    """Write the main text of these pages of a site, up to some words."""
    www = site.directory / "www" / host
    files = [file for file in (www / page.lstrip("/") for page in sorted(paths)) if file.is_file()][:400]
    done = subprocess.run(
        [sys.executable, "-m", "windrow.cli", "extract", *map(str, files)], check=True, stdout=subprocess.PIPE
    )
    path.write_text(" ".join(done.stdout.decode("utf-8", "replace").split(" ")[:WORDS]), "utf-8")


def relevant(rows: Sequence[tuple[str, str, int]], wanted: set[tuple[str, str]], total: int) -> list[int]:
    """Return the relevant bytes of a crawl at each point."""
    sums = [0]
    for host, path, kept in rows:
        sums.append(sums[-1] + (kept if (host, path) in wanted else 0))
    return [sums[min(round(share * total), len(rows))] for share in POINTS]


def topics(site: Web, work: Path, count: int, switches: bool) -> dict[str, dict[str, list[int]]]:
    """Return the relevant bytes at each point, by topic and crawl."""
    known = truth(site)
    total = len(known)
    found: dict[str, dict[str, list[int]]] = {}
    for topic, host in chosen(known, count):
        own = [place[1] for place, facts in known.items() if facts == (topic, "en") and place[0] == host]
        sample(site, host, own, work / "topic.txt")
        wanted = {place for place, facts in known.items() if facts == (topic, "en") and place[0] != host}
        seeds = work / "seeds.txt"
        seeds.write_text("".join(f"{url}\n" for url in site.seeds.read_text().split() if f"//{host}/" not in url))
        given = ["--seeds", str(seeds), "--language", "en", "--topic", str(work / "topic.txt")]
        fixed = ("fetch.delay=0", f'scope.hosts_denied=["{host}"]')
        crawls = {"breadth first": BREADTH, "focused": (), **(SWITCHES if switches else {})}
        found[topic] = {}
        for name, settings in crawls.items():
            with tempfile.TemporaryDirectory(dir=work) as made:
                crawl(site, Path(made, "crawl"), given, (*fixed, *settings), round(POINTS[-1] * total))
                found[topic][name] = relevant(pages(Path(made, "crawl")), wanted, total)
            print(topic, host, name, found[topic][name], file=sys.stderr, flush=True)
    return found


def show(found: dict[str, dict[str, list[int]]]) -> None:
    """Print the ratio of each crawl to breadth first, over all topics: mean, and standard deviation."""
    names = next(iter(found.values()))
    print(f"{'relevant text : breadth first':32}", *(f"{f'at {share:.0%}':>14}" for share in POINTS))
    for name in names:
        rows = [
            [mine / max(1, base) for mine, base in zip(by[name], by["breadth first"], strict=True)]
            for by in found.values()
        ]
        columns = list(zip(*rows, strict=True))
        print(f"{name:32}", *(f"{statistics.mean(one):8.2f} ± {statistics.pstdev(one):.2f}" for one in columns))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=("sites", "topics"))
    parser.add_argument(
        "--web", type=Path, required=True, help="directory to unpack the web in, reused when it is there"
    )
    parser.add_argument("--port", type=int, default=8393)
    parser.add_argument(
        "--delay", default="0.25", help="seconds between two requests to a host, for sites (default 0.25)"
    )
    parser.add_argument("--topics", type=int, default=5, help="how many topics (default 5)")
    parser.add_argument("--switches", action="store_true", help="also turn off one part at a time")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    profile = "2x2b" if given.experiment == "sites" else "medium"
    with tempfile.TemporaryDirectory(prefix="windrow-focus-") as made:
        os.chmod(made, 0o755)  # nginx started by root reads as nobody
        with web(given.web.absolute(), given.port, profile) as site:
            if given.experiment == "sites":
                counts = sites(site, Path(made), given.delay)
                hosts = sorted({host for row in counts.values() for host in row})
                print(json.dumps(counts) if given.json else "\t".join(["", *hosts]))
                for name, row in () if given.json else counts.items():
                    print("\t".join([name, *(str(row.get(host, 0)) for host in hosts)]))
            else:
                found = topics(site, Path(made), given.topics, given.switches)
                print(json.dumps(found)) if given.json else show(found)


if __name__ == "__main__":
    main()
