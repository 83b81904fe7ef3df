"""Text extraction: CPU of Windrow's extractors, trafilatura, jusText and resiliparse on the same pages, and their F1.

`windrow extract evaluate` measures quality, with more peers, by group and with intervals; this one is about time.

    python benchmarks/extract.py                       every tenth page of each set of ../shared/extraction
    python benchmarks/extract.py --every 1             all of them: ten minutes
    python benchmarks/extract.py --web /tmp/medium     also pages of the unpacked ../shared/web/medium.tar.xz
    python benchmarks/extract.py --only paragraphs,resiliparse --json
    python benchmarks/extract.py --only blocks --alone one tool after the other, with warm caches, as in a crawl
    python benchmarks/extract.py --agreement           share of paragraphs of 500 pages that `stock` decides as jusText

Windrow goes from bytes to paragraphs, links, title, author and date; the others from decoded text to text, which is
less. Each page is read by every tool before the next page is, unless `--alone`. CPU is that of this process, and
every tool has read a few pages before. "no kernel" is the reference in Python, which runs where there was no compiler.
F1 by bag of words is the mean over data sets; jusText gets the language of a page, Windrow does not.
"""

import argparse
import contextlib
import gzip
import itertools
import json
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.quality import agreement
from windrow import extraction
from windrow.config import ConfigError
from windrow.extraction import walk
from windrow.extraction.evaluation import files, gold, measure, score, summary
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.evaluation.peers import peer
from windrow.extraction.evaluation.score import PageScore, Tool
from windrow.extraction.main import blocks
from windrow.extraction.walk import structure
from windrow.records import Page

SHARED = Path(__file__).resolve().parents[2] / "shared"
PEERS = ("trafilatura", "justext", "resiliparse")
LINKS = "extract.max_links=10000"
Row = dict[str, float | int | str]


def ours() -> list[Tool]:
    """Return every extractor, with the C kernels and without them; `lines` reads the source and uses no kernel."""
    chosen = {name: (name, [LINKS]) for name in extraction.EXTRACTORS if name not in ("none", "paragraphs")}
    chosen |= {
        f"paragraphs {preset}": ("paragraphs", [LINKS, f"paragraphs.preset={preset}"]) for preset in ("tuned", "stock")
    }
    found = []
    for name, (extractor, settings) in chosen.items():
        options = files.options(extractor, settings)
        found.append(measure.own(name, extraction.extractor(options)))
        if walk._walk is not None and extractor != "lines":
            with _no_kernels():
                found.append(without_kernel(measure.own(f"{name}, no kernel", extraction.extractor(options))))
    return found


def without_kernel(tool: Tool) -> Tool:
    def read(sample: Sample, markup: str) -> Page | None:
        with _no_kernels():
            return tool.read(sample, markup)

    return Tool(tool.name, read, tool.version)


@contextlib.contextmanager
def _no_kernels() -> Iterator[None]:
    kernels = walk._walk, structure._structure, blocks._blocks
    walk._walk = structure._structure = blocks._blocks = None  # type: ignore[assignment]
    try:
        yield
    finally:
        walk._walk, structure._structure, blocks._blocks = kernels


def others() -> list[Tool]:
    found = []
    for name in PEERS:
        try:
            found.append(peer(name))
        except ConfigError as error:
            print(f"without {name}: {error}", file=sys.stderr)
    return found


def measured(tools: list[Tool], samples: Iterable[Sample], alone: bool = False) -> list[list[PageScore]]:
    """Return for each page the scores of all tools."""
    if alone:
        every = list(samples)
        columns = [measured([tool], every) for tool in tools]
        return [[one for [one] in page] for page in zip(*columns, strict=True)]
    pages = iter(samples)
    first = list(itertools.islice(pages, 3))
    for sample in first:
        score.page(tools, sample)  # loads models and lists
    return list(measure.in_process(itertools.chain(first, pages), tools))


def rows(scores: list[list[PageScore]], with_gold: bool) -> list[Row]:
    """Return a row per tool: cost, its ratio to that of each peer, and quality."""
    overall = {row.extractor: row for row in summary.rows(scores) if row.group == "all"}
    found = []
    for name, figures in overall.items():
        row: Row = {"tool": name, "pages": figures.pages, "mean ms": figures.mean_ms, "median ms": figures.median_ms}
        row |= {f"of {other}": figures.mean_ms / overall[other].mean_ms for other in PEERS if other in overall}
        found.append(row | ({"F1": figures.scores.f1.value, "empty": figures.empty} if with_gold else {}))
    return found


def from_web(web: Path, number: int) -> Iterator[Sample]:
    """Return a random sample of a web's pages, the same every time."""
    with gzip.open(web / "pages.tsv.gz", "rt") as table:
        head, *lines = [line.rstrip("\n").split("\t") for line in table]
    for line in random.Random(11).sample(lines, min(number, len(lines))):
        page = dict(zip(head, line, strict=False))
        path = web / "www" / page["host"] / page["path"].lstrip("/")
        if path.is_file():
            yield Sample(
                page["path"],
                web.name,
                path.read_bytes(),
                "",
                f"http://{page['host']}{page['path']}",
                language=page["lang"],
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=10, help="take every Nth page of a data set")
    parser.add_argument("--web", type=Path)
    parser.add_argument("--pages", type=int, default=500, help="of that web")
    parser.add_argument("--only", default="", help="tools whose names begin so, with commas between them")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--agreement", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not (SHARED / "extraction").is_dir():
        sys.exit(f"there is no {SHARED}/extraction; this benchmark needs the shared data beside the repository")
    if options.agreement:
        return agree(options.json)
    tools = [tool for tool in (*ours(), *others()) if tool.name.startswith(tuple(options.only.split(",")))]
    pages = gold.chosen(gold.samples(SHARED / "extraction"), options.every)
    results = {"../shared/extraction": rows(measured(tools, pages, options.alone), with_gold=True)}
    if options.web:
        found = measured(tools, from_web(options.web, options.pages), options.alone)
        results[options.web.name] = rows(found, with_gold=False)
    if options.json:
        print(json.dumps(results, indent=1))
    else:
        show(results)


def agree(as_json: bool) -> None:
    try:
        import justext
    except ImportError:
        sys.exit("jusText is not installed; try: pip install justext lxml_html_clean")
    sets = {
        name: list(gold.samples(SHARED / "extraction" / f"{name}.tar.xz"))[::step]
        for name, step in agreement.FIVE_HUNDRED.items()
    }
    found = {name: (len(pages), *agreement.agreement(pages, justext)) for name, pages in sets.items()}
    found["all"] = tuple(map(sum, zip(*found.values(), strict=True)))  # type: ignore[assignment]
    lines = [
        {"set": name, "pages": pages, "paragraphs": every, "same": same / every}
        for name, (pages, same, every) in found.items()
    ]
    if as_json:
        print(json.dumps(lines, indent=1))
    else:
        print(
            "\n".join(
                f"{row['set']:18} {row['pages']:6,} pages {row['paragraphs']:8,} paragraphs  {row['same']:.4f} the same"
                for row in lines
            )
        )


def show(results: dict[str, list[Row]]) -> None:
    for title, lines in results.items():
        print(title)
        print(f"  {'':30}" + "".join(f"{name:>16}" for name in lines[0] if name != "tool"))
        for row in lines:
            cells = (
                f"{value:.3f}" if isinstance(value, float) else f"{value:,}"
                for key, value in row.items()
                if key != "tool"
            )
            print(f"  {row['tool']:30}" + "".join(f"{cell:>16}" for cell in cells))


if __name__ == "__main__":
    main()
