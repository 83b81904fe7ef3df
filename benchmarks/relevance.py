"""Which score says that a page is on a topic? Rank pages of webs whose topics are known, and print how well each does.

    benchmarks/relevance.py WEB…      WEB/www/HOST/PATH are pages, WEB/pages.tsv.gz says their host, lang and topic;
                                      WEB/topics/TOPIC.LANG.txt, if there, are samples from other sites

A task is a topic in a language. The sample is a file of WEB/topics, or text of the host with most pages of the topic;
the pages on the topic are those of its other hosts. If there is one host only, half of its pages are the sample. The
others are pages on other topics in the same language ("near"), or half of them in other languages ("mixed"). AUC is
the probability that a page on the topic ranks before another page; AP is average precision. No peer: the perplexity is
what Remus and Biemann rank by.
"""

import argparse
import collections
import csv
import gzip
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from windrow.config import Config, ConfigError
from windrow.extraction import extractor
from windrow.jobs.inputs import pages as files
from windrow.jobs.topic import background as backgrounds
from windrow.judge.focus import boundaries, model, relevance, training, weights
from windrow.judge.focus.relevance import Typical
from windrow.judge.focus.tokens import Tokeniser
from windrow.judge.focus.topic import TopicScorer
from windrow.judge.focus.weights import Background, Weigher
from windrow.judge.language import codes
from windrow.records import KEPT_KINDS

SIZES = (4000, 30000)  # words of a sample: an article, and a good collection
PER_HOST = 60  # pages read
LEAST = 20  # pages of a host that count as a site of the topic
SHORTEST = 200  # characters of a page with text
RANKED = 120  # pages of each side
SUBTOPICS = ("sbasic", "scalc", "swriter", "simpress", "sdraw")  # parts of one manual: close topics
BACKGROUNDS = ("wordfreq", "stoplist", "sample")

Rank = Callable[[Sequence[str]], float]  # lower is better


class WebPage(msgspec.Struct, frozen=True):
    host: str
    language: str
    topic: str
    texts: list[str]


class Task(msgspec.Struct, frozen=True):
    name: str
    language: str
    sample: list[str]
    own: list[WebPage]
    near: list[WebPage]
    mixed: list[WebPage]


def read(web: Path) -> Iterator[WebPage]:
    """Yield some pages of each host."""
    extract = extractor(Config())
    rows: dict[str, list[dict[str, str]]] = collections.defaultdict(list)
    with gzip.open(web / "pages.tsv.gz", "rt") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            rows[f"{row['host']} {row['lang']}"].append(row)
    for name, found in rows.items():
        random.Random(name).shuffle(found)
        for row in found[:PER_HOST]:
            path = web / "www" / row["host"] / row["path"].lstrip("/")
            if path.is_file() and codes.find(row["lang"]):
                page = extract(files.of_html(None, path.read_bytes()))
                texts = [one.text for one in page.paragraphs if one.kind in KEPT_KINDS]
                if sum(map(len, texts)) >= SHORTEST:
                    part = next((part for part in SUBTOPICS if f"/{part}/" in row["path"]), "")
                    yield WebPage(row["host"], codes.parse(row["lang"]), f"{row['topic']} {part}".strip(), texts)


def tasks(web: Path) -> Iterator[Task]:
    pages = list(read(web))
    groups: dict[tuple[str, str], list[WebPage]] = collections.defaultdict(list)
    for page in pages:
        groups[page.language, page.topic.split()[0]].append(page)
        if " " in page.topic:
            groups[page.language, page.topic].append(page)
    for (language, topic), own in groups.items():
        hosts = collections.Counter(page.host for page in own).most_common()
        given = web / "topics" / f"{topic}.{codes.short(language)}.txt"
        if given.is_file():
            sample, ranked = given.read_text("utf-8").splitlines(), own
        elif sum(number >= LEAST for _, number in hosts) > 1:
            sample = [text for page in own if page.host == hosts[0][0] for text in page.texts]
            ranked = [page for page in own if page.host != hosts[0][0]]
        else:
            sample, ranked = [text for page in own[::2] for text in page.texts], own[1::2]
        near = [page for page in pages if page.language == language and not page.topic.startswith(topic)]
        if len(ranked) >= LEAST and len(near) >= LEAST:
            chance = random.Random(topic)
            far = [page for page in pages if page.language != language]
            near, far, ranked = (chance.sample(some, min(RANKED, len(some))) for some in (near, far, ranked))
            mixed = near[: RANKED // 2] + far[: RANKED // 2]
            yield Task(name=topic, language=language, sample=sample, own=ranked, near=near, mixed=mixed)


def cut(sample: Sequence[str], words: int) -> list[str]:
    """Return so many words from the middle of a sample."""
    found, total = [], 0
    for text in [*sample[len(sample) // 3 :], *sample[: len(sample) // 3]]:
        if total >= words:
            break
        found.append(text)
        total += sum(map(len, Tokeniser(least=1).sequences([text])))
    return found if total >= 0.5 * words else []


def ranks(sample: list[str], language: str) -> Iterator[tuple[str, Rank]]:
    """Yield each way to rank pages, made from the sample."""
    pairs = codes.short(language) in ("ja", "zh", "lzh", "th", "km")
    ngrams = model.make(training.train(Tokeniser().sequences(sample)))
    plain = TopicScorer(ngrams)
    yield "perplexity", lambda texts: plain.score(texts).perplexity
    yield "perplexity_windows", lambda texts: plain.score(texts).perplexity_windows
    bare = Weigher(weights.make(weights.count(sample, pairs), Background("none"), pairs))
    yield "ratio, no background", lambda texts: bare.ratio(texts) or 2.0
    for name in BACKGROUNDS:
        try:
            background = backgrounds.choose(name, [language], sample, pairs)
        except ConfigError:
            continue
        counts = weights.count(sample, pairs)
        words = weights.make(counts, background, pairs)
        held = boundaries.held_out(sample, background, training.ORDER, pairs)
        perplexity = statistics.median(one.perplexity for one in held.scores)
        ratio = statistics.median(one.ratio for one in held.scores if one.ratio is not None)
        typical = Typical(perplexity, ratio, max(weights.worst(counts, words, background), 1.2 * ratio))
        scorer = TopicScorer(ngrams, Weigher(words), typical)
        yield f"ratio, {name}", lambda texts, scorer=scorer: scorer.score(texts).ratio or 2.0
        yield f"odds, {name}", lambda texts, scorer=scorer: scorer.score(texts).odds or 1e6


def quality(own: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """Return AUC and average precision; lower scores are better, ties count half and are ordered worst first."""
    ordered = sorted([(score, 1) for score in own] + [(score, 0) for score in others])
    found = precision = 0.0
    for place, (_, wanted) in enumerate(ordered, 1):
        found += wanted
        precision += wanted * found / place
    won = sum((one < other) + 0.5 * (one == other) for one in own for other in others)
    return won / (len(own) * len(others)), precision / len(own)


def show_time(web: Path) -> None:
    """Print the CPU time of the scores of a page, with a model and words of 30,000 words of English; best of five."""
    pages = list(read(web))
    sample = cut([text for page in pages if page.language == "eng" for text in page.texts], SIZES[-1])
    words = weights.make(weights.count(sample), backgrounds.choose("stoplist", ["eng"], sample, False))
    ngrams = model.make(training.train(Tokeniser().sequences(sample)))
    scorer = TopicScorer(ngrams, Weigher(words), Typical(400.0, 0.4, 1.4))
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for page in pages:
            scorer.score(page.texts)
        best = min(best, time.process_time() - start)
    length = sum(len(text.split()) for page in pages for text in page.texts) / len(pages)
    print(f"{best / len(pages) * 1e6:.0f} µs per page of {length:.0f} words, {len(pages):,} pages")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("webs", nargs="+", type=Path, metavar="WEB")
    parser.add_argument("--time", action="store_true", help="only measure the CPU time of scoring a page")
    arguments = parser.parse_args()
    if arguments.time:
        return show_time(arguments.webs[0])
    results: dict[tuple[str, int], list[tuple[float, ...]]] = collections.defaultdict(list)
    reliability: list[tuple[float, int, float]] = []  # relevance, on the topic or not, weight
    for web in arguments.webs:
        for task in tasks(web):
            for size in SIZES:
                sample = cut(task.sample, size)
                for name, rank in ranks(sample, task.language) if sample else ():
                    own, near, mixed = (
                        [rank(page.texts) for page in some] for some in (task.own, task.near, task.mixed)
                    )
                    results[name, size].append((*quality(own, near), *quality(own, mixed)))
                    if name == "odds, stoplist":
                        for on_topic, values in ((1, own), (0, near), (0, mixed)):
                            share = 1 / len(values) / (1 if on_topic else 2)
                            reliability += [(relevance.probability(value), on_topic, share) for value in values]
            last = {name: rows[-1][0] for (name, _), rows in results.items()}
            shown = ", ".join(f"{name} {last[name]:.3f}" for name in ("perplexity", "odds, stoplist") if name in last)
            print(f"{task.name} {task.language}: {len(task.own)} pages, near AUC: {shown}", file=sys.stderr)
    print(f"{'':24}{'words':>7}{'tasks':>7}{'near AUC':>10}{'worst':>7}{'AP':>7}{'mixed AUC':>11}{'worst':>7}{'AP':>7}")
    for (name, size), rows in results.items():
        auc, precision, mixed, mixed_precision = (list(column) for column in zip(*rows, strict=True))
        near = f"{statistics.mean(auc):10.3f}{min(auc):7.3f}{statistics.mean(precision):7.3f}"
        far = f"{statistics.mean(mixed):11.3f}{min(mixed):7.3f}{statistics.mean(mixed_precision):7.3f}"
        print(f"{name:24}{size:7}{len(rows):7}{near}{far}")
    print("\nrelevance, and the share of pages on the topic (as many on it as off it):")
    for tenth in range(10):
        inside = [(on, share) for value, on, share in reliability if int(min(value, 0.999) * 10) == tenth]
        total = sum(share for _, share in inside)
        if total:
            print(
                f"  {tenth / 10:.1f} to {tenth / 10 + 0.1:.1f}: {sum(on * share for on, share in inside) / total:.2f}"
            )


if __name__ == "__main__":
    main()
