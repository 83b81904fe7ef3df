"""Topic crawls: how many pages of the wanted site a crawl takes, and how much relevant text it finds.

    python benchmarks/focus.py sites --web DIR [--delay 0.25]    experiment 1 of Remus and Biemann (2016), on `2x2b`
    python benchmarks/focus.py topics --web DIR [--topics 5] [--upto 0.5] [--switches] [--json]
                                                                 experiment 2 in small, on `medium`

sites: one connection, 100 documents, four sites of two topics in two languages. A row per model, a column per site;
the first row is the crawl in breadth-first order.

topics: a topic is the English text of one site, which is kept out of the crawl: every other page is the sample, the
others are held out. Relevant are the kept bytes of English pages on the same topic elsewhere, as `pages.tsv.gz` of the
web says. Focused and breadth-first crawls are compared at 10, 25 and 50 % of the pages, and by the perplexity of the
held-out text under models of what they have downloaded (`windrow lm evaluate`). --switches repeats the focused crawl up
to 10 % with one part of it turned off at a time.
"""

import argparse
import collections
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence, Set
from pathlib import Path

import msgspec
from crawl import Web, web

from windrow import log
from windrow.records import Kind

POINTS = (0.10, 0.25, 0.50)  # of the pages
WORDS = 30_000  # of a topic's sample
SIZES = "100K,300K,1M,3M"  # tokens of a crawl after which models are trained
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


def windrow(*words: str) -> bytes:
    """Run a command; return what it prints."""
    command = [sys.executable, "-m", "windrow.cli", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


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
    files = [file for file in (www / page.lstrip("/") for page in paths) if file.is_file()][:400]
    found = windrow("extract", *map(str, files)).decode("utf-8", "replace").split("\n")
    text = "\n".join(line for line in found if not line.startswith("==> "))  # the names of the files
    path.write_text(" ".join(text.split(" ")[:WORDS]), "utf-8")


def relevant(rows: Sequence[tuple[str, str, int]], wanted: Set[tuple[str, str]], total: int, most: int) -> list[int]:
    """Return the relevant bytes of a crawl at each point that it was to reach."""
    sums = [0]
    for host, path, kept in rows:
        sums.append(sums[-1] + (kept if (host, path) in wanted else 0))
    return [sums[min(round(share * total), len(rows))] for share in POINTS if round(share * total) <= most]


class Topic(msgspec.Struct):
    """A topic of the web, and what its crawls found."""

    name: str
    host: str  # whose pages are the sample and the held-out text, and are not crawled
    wanted: frozenset[tuple[str, str]]  # host and path of the relevant pages
    relevant: dict[str, list[int]] = {}  # bytes at each point, by crawl
    perplexity: dict[str, dict[int, float]] = {}  # of the held-out text, by crawl and tokens downloaded


def topics(site: Web, work: Path, count: int, upto: float, switches: bool) -> list[Topic]:
    """Crawl for each topic, up to this share of the pages."""
    known = truth(site)
    found = []
    for name, host in chosen(known, count):
        pages = sorted(place for place, facts in known.items() if facts == (name, "en"))
        directory = work / name
        directory.mkdir()
        own = [path for there, path in pages if there == host]
        sample(site, host, own[::2], directory / "topic.txt")
        sample(site, host, own[1::2], directory / "held-out.txt")
        topic = Topic(name, host, frozenset(place for place in pages if place[0] != host))
        for crawl_name, settings in {"breadth first": BREADTH, "focused": ()}.items():
            run(site, directory, topic, crawl_name, settings, round(upto * len(known)), len(known))
        if upto >= POINTS[-1]:
            topic.perplexity = held_out(directory)
            print(topic.name, topic.perplexity, file=sys.stderr, flush=True)
        for crawl_name, settings in SWITCHES.items() if switches else ():
            run(site, directory, topic, crawl_name, settings, round(POINTS[0] * len(known)), len(known))
        shutil.rmtree(directory)
        found.append(topic)
    return found


def run(site: Web, directory: Path, topic: Topic, name: str, settings: Sequence[str], most: int, total: int) -> None:
    """Crawl for a topic up to so many pages, and note what was found."""
    seeds = directory / "seeds.txt"
    seeds.write_text("".join(f"{url}\n" for url in site.seeds.read_text().split() if f"//{topic.host}/" not in url))
    given = ["--seeds", str(seeds), "--language", "en", "--topic", str(directory / "topic.txt")]
    fixed = ("fetch.delay=0", f'scope.hosts_denied=["{topic.host}"]')
    made = directory / name
    crawl(site, made, given, (*fixed, *settings), most)
    topic.relevant[name] = relevant(pages(made), topic.wanted, total, most)
    print(topic.name, topic.host, name, topic.relevant[name], file=sys.stderr, flush=True)
    if name in SWITCHES:
        shutil.rmtree(made)


def held_out(directory: Path) -> dict[str, dict[int, float]]:
    """Return the perplexity of the held-out text by crawl and by the tokens that the crawl had downloaded."""
    texts = ["--held-out", str(directory / "held-out.txt"), "--train", str(directory / "topic.txt")]
    other = ["--against", str(directory / "breadth first"), "--sizes", SIZES, "--json"]
    made = json.loads(windrow("lm", "evaluate", str(directory / "focused"), *texts, *other))
    steps = {0, *(row["size"] for row in made[1]["rows"][:-1])}  # the last row is the end of the crawl
    rows = {one["crawl"]: [row for row in one["rows"] if row["fit"] and row["size"] in steps] for one in made}
    return {name: {row["size"]: row["fit"]["perplexity"] for row in each} for name, each in rows.items()}


def show(found: Sequence[Topic]) -> None:
    """Print, over all topics, means and standard deviations of ratios."""
    print(f"{'relevant text : breadth first':32}", *(f"{f'at {share:.0%}':>15}" for share in POINTS))
    for name in found[0].relevant:
        pairs = [zip(topic.relevant[name], topic.relevant["breadth first"], strict=False) for topic in found]
        rows = [[mine / max(1, base) for mine, base in pair] for pair in pairs]
        print(f"{name:32}", *(_spread(column) for column in zip(*rows, strict=True)))
    if found[0].perplexity:
        print("\nperplexity of held-out text : of the sample alone")
    for name in found[0].perplexity:
        sizes = sorted(set.intersection(*(set(topic.perplexity[name]) for topic in found)))
        ratios = {size: [topic.perplexity[name][size] / topic.perplexity[name][0] for topic in found] for size in sizes}
        print(f"{name:15}", *(f"{size:>9,}: {_spread(ratios[size])}" for size in sizes))


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.mean(values):8.2f} ± {statistics.pstdev(values):.2f}"


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
    parser.add_argument("--upto", type=float, default=POINTS[-1], help="share of the pages (default 0.5); for topics")
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
                found = topics(site, Path(made), given.topics, given.upto, given.switches)
                print(msgspec.json.encode(found).decode()) if given.json else show(found)


if __name__ == "__main__":
    main()
