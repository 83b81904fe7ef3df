"""Trains the model of the extractor `blocks` from pages with gold text, and measures it on pages that it has not seen.

    python tools/train_blocks.py PAGES -o src/windrow/extract/models/blocks.json
    python tools/train_blocks.py PAGES --folds 5
    python tools/train_blocks.py PAGES --leave-out

PAGES is a folder of data sets, each with html/ID.html, gold/ID.txt and meta.jsonl. Training needs lightgbm and rapidfuzz, which the
package does without: pip install lightgbm rapidfuzz. The same pages give the same model, whatever their number of cores.
"""

import argparse
import collections
import dataclasses
import hashlib
import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

try:
    import blocks_gold
    import lightgbm
except ImportError as error:
    sys.exit(f"training needs {error.name}, which is not installed; try: pip install lightgbm rapidfuzz")

from windrow.config import ConfigError
from windrow.extract import html, walk
from windrow.extract.blocks import model, reference, rules
from windrow.extract.evaluation import evaluate, gold
from windrow.extract.walk import rules as tag_rules
from windrow.extract.blocks.model import UNIT, Forest, Model
from windrow.extract.evaluation.gold import Sample
from windrow.extract.walk import Walk

Array = blocks_twin.Array
Key = tuple[str, str]  # data set, name

SITE = 40  # pages of one site that are learned from
SHINGLE, SHARED = 12, 20  # words in a row, and how many of them two gold texts share that are one text
COVERED = 0.6  # share of the gold text that a page must hold to be learned from
PASSAGE = 0.225  # weight of a passage; a page with whole gold text has about 1.5
AGED = 0.3  # share of the pages that are learned as if they were old
NEW = frozenset(
    "article section main header footer nav aside figure figcaption address details summary hgroup search dialog".split()
)
OLD = ("list", "table", "quote", "code", "heading", "link")  # flags of other elements
MOST = 160  # blocks of a page that are learned from
FAIR = 200  # pages of a data set that count in full
INNER = 3  # folds by which the first stage answers for pages that it has not seen, to train the second
EARLY, CUT = 12, -2.5  # trees after which a block is let go, and log odds below which it is
SKIP = -2.0  # log odds of the first stage below which the second is not asked

TREES = 60
LEARNING = {
    "objective": "cross_entropy",
    "learning_rate": 0.15,
    "num_leaves": 31,
    "max_depth": 7,
    "min_data_in_leaf": 40,
    "min_sum_hessian_in_leaf": 1e-2,
    "feature_fraction": 0.4,
    "lambda_l2": 2.0,
    "max_bin": 63,
    "use_missing": False,
    "data_sample_strategy": "goss",
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 1,
    "verbose": -1,
}


@dataclasses.dataclass(slots=True)
class Labelled:
    """A page with what is known of its blocks."""

    key: Key
    language: str
    kind: str
    group: str  # pages with the same site or text: on one side of any split
    texts: list[str]
    table: Array
    learned_table: Array  # the same, or what an older page would have said
    context: blocks_twin.Context
    labels: Array  # share of each block's words that the gold text has
    weights: Array
    gold: Array  # how often each word stands in the gold text
    words: Array  # of the page, by number
    owners: Array  # the block of each
    passages: tuple[tuple[str, ...], tuple[str, ...]]  # wanted and not, where the gold text is no more than these
    learned: bool  # whether its labels are good enough


Answers = dict[Key, Array]  # bucket of each block


def read(path: Path) -> list[Labelled]:
    """Pages that have blocks, of each site so many."""
    sites: collections.Counter[str] = collections.Counter()
    owners = Groups()
    pages = []
    for sample in gold.samples(path):
        site = site_of(sample)
        sites[site] += 1
        if sites[site] > SITE and sample.site:
            continue
        labelled = label(sample)
        if labelled:
            owners.add(sample, site)
            pages.append(labelled)
    for page in pages:
        page.group = owners.of(page.key)
    return pages


def site_of(sample: Sample) -> str:
    if sample.url:
        return sample.capture().task.url.domain
    return f"{sample.dataset} {sample.site or sample.name.rstrip('0123456789').rstrip('-') or sample.name}"


class Groups:
    """Pages joined by site and by text."""

    def __init__(self) -> None:
        self.parents: dict[str, str] = {}
        self.shingles: dict[int, str] = {}

    def add(self, sample: Sample, site: str) -> None:
        own = f"page {sample.dataset} {sample.name}"
        self.join(own, f"site {site}")
        if sample.partial or sample.site:  # no text, or many of one site, which print the same lines below each
            return
        words = evaluate.words(sample.gold, sample.language)
        shared: collections.Counter[str] = collections.Counter()
        for start in range(len(words) - SHINGLE):
            shingle = int.from_bytes(
                hashlib.blake2b(
                    " ".join(words[start : start + SHINGLE]).encode("utf-8", "replace"), digest_size=8
                ).digest()
            )
            shared[self.shingles.setdefault(shingle, own)] += 1
        for other, count in shared.items():
            if count >= SHARED:
                self.join(own, other)

    def join(self, one: str, other: str) -> None:
        self.parents[self.root(one)] = self.root(other)

    def root(self, name: str) -> str:
        self.parents.setdefault(name, name)
        while self.parents[name] != name:
            name = self.parents[name] = self.parents[self.parents[name]]
        return name

    def of(self, key: Key) -> str:
        return self.root(f"page {key[0]} {key[1]}")


def label(sample: Sample) -> Labelled | None:
    _, tree = html.read(sample.capture(), 0)
    found = walk.walk(walk.markup(tree)) if tree is not None else None
    if found is None or not found.texts:
        return None
    table, context = blocks_twin.first(found)
    words = [evaluate.words(text, sample.language) for text in found.texts]
    wanted = [] if sample.partial else evaluate.words(sample.gold, sample.language)
    numbers: dict[str, int] = {}
    gold_numbers = [numbers.setdefault(word, len(numbers)) for word in wanted]
    own = np.array([numbers.setdefault(word, len(numbers)) for text in words for word in text], int)
    counts = np.bincount(np.array(gold_numbers, int), minlength=len(numbers))
    lengths = np.array([len(text) for text in words])
    weights = (lengths + 1) / (len(wanted) + 0.3 * lengths.sum() + 10)
    labels = np.clip(blocks_gold.labels(words, wanted), 0, 1)
    if sample.partial:
        labels, weights = by_passages(found.texts, (sample.wanted, sample.unwanted))
    covered = np.minimum(np.bincount(own, minlength=len(numbers)), counts).sum() / max(len(wanted), 1)
    return Labelled(
        key=(sample.dataset, sample.name),
        language=sample.language,
        kind=sample.kind,
        group="",
        texts=found.texts,
        table=table,
        learned_table=blocks_twin.first(aged(found))[0] if _share(f"{sample.dataset} {sample.name}") < AGED else table,
        context=context,
        labels=labels,
        weights=weights,
        gold=counts,
        words=own,
        owners=np.repeat(np.arange(len(words)), lengths),
        passages=(sample.wanted, sample.unwanted) if sample.partial else ((), ()),
        learned=bool(weights.any()) if sample.partial else covered > COVERED,
    )


def aged(page: Walk) -> Walk:
    """A page as it may have been written before HTML 5: without its elements, and with names that say nothing.

    So the model does not come to rely on them. Most pages it will see have them, few of all pages that there are.
    """
    blocks = np.frombuffer(page.blocks, np.int32).reshape(len(walk.BLOCK), -1).copy()
    containers = np.frombuffer(page.containers, np.int32).reshape(len(walk.CONTAINER), -1).copy()
    tags = np.array(
        [rules.TAGS.index("div") if tag in NEW else number for number, tag in enumerate(rules.TAGS)], np.int32
    )
    for names, columns in ((walk.BLOCK, blocks), (walk.CONTAINER, containers)):
        columns[names.index("flags")] &= sum(rules.FLAG[name] for name in OLD)
        columns[names.index("hints")] = 0
        columns[names.index("tag")] = tags[columns[names.index("tag")]]
    return dataclasses.replace(page, blocks=blocks.tobytes(), containers=containers.tobytes())


def by_passages(texts: Sequence[str], passages: tuple[Sequence[str], Sequence[str]]) -> tuple[Array, Array]:
    """Labels and weights where some passages are known to belong to the text, or not, and nothing is known of the rest."""
    labels, weights = np.zeros(len(texts)), np.zeros(len(texts))
    for wanted, some in zip((False, True), (passages[1], passages[0]), strict=True):
        for passage in (" ".join(one.split()) for one in some):
            # A long block that holds an unwanted passage may be wanted for the rest of it.
            own = [
                place
                for place, text in enumerate(texts)
                if passage in text and (wanted or len(text) < 4 * len(passage) + 40)
            ]
            labels[own] = wanted
            weights[own] = PASSAGE / max(len(own), 1)
    return labels, weights


def part(page: Labelled, parts: int, salt: str) -> int:
    """Which of so many parts a page is in: by its group, so that a site or text is in one."""
    return int(_share(f"{salt} {page.group}") * parts)


def _share(text: str) -> float:
    """A number from 0 to 1 that depends on nothing but the text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest()) / (1 << 48)


def fit(pages: Sequence[Labelled], tables: Mapping[Key, Array]) -> Forest:
    """A forest learned from pages; each data set has its weight, which grows with the root of its number of pages."""
    counts = collections.Counter(page.key[0] for page in pages)
    known = [sampled(page) for page in pages]
    weights = np.concatenate(
        [own[1] * (FAIR / counts[page.key[0]]) ** 0.5 for page, own in zip(pages, known, strict=True)]
    )
    rows = np.concatenate([tables[page.key][:, own[0]].T for page, own in zip(pages, known, strict=True)])
    labels = np.concatenate([page.labels[own[0]] for page, own in zip(pages, known, strict=True)])
    data = lightgbm.Dataset(rows, labels, weight=weights * len(weights) / weights.sum())
    return forest(lightgbm.train(LEARNING, data, TREES).dump_model()["tree_info"])


def sampled(page: Labelled) -> tuple[Array, Array]:
    """Which blocks of a page are learned from, and their weights: of many the heaviest, and some that stand for the rest."""
    own = np.flatnonzero(page.weights)
    weights = page.weights[own]
    if len(own) > MOST:
        order = np.argsort(-weights, kind="stable")
        rest = order[MOST // 2 :]
        some = np.random.default_rng(int(_share(f"sample {page.key}") * (1 << 32))).permutation(rest)[
            : MOST - MOST // 2
        ]
        weights[some] *= weights[rest].sum() / weights[some].sum()
        chosen = np.concatenate((order[: MOST // 2], some))
        own, weights = own[chosen], weights[chosen]
    return own, weights


def forest(trees: Sequence[Mapping[str, Any]]) -> Forest:
    """The trees that were learned, all with as many questions as the largest: one whose threshold is beyond all figures changes nothing."""
    asked = [questions(tree["tree_structure"]) for tree in trees]
    most = max(1, *(len(own) for own, _ in asked))
    padded = [question for own, _ in asked for question in own + [(0, np.inf, 0)] * (most - len(own))]
    values = [value for _, leaves in asked for value in leaves + [0] * (blocks_model.LEAVES - len(leaves))]
    arrays = [
        np.array(column, kind).tobytes()
        for column, kind in zip(zip(*padded, strict=True), ("<u2", "<f4", "<u4"), strict=True)
    ]
    return Forest(most, min(EARLY, len(trees)), round(CUT * UNIT), *arrays, np.array(values, "<i2").tobytes())


def questions(root: Mapping[str, Any]) -> tuple[list[tuple[int, float, int]], list[int]]:
    """Of a tree the questions, each with the leaves of the branch that goes on where the figure is not above the threshold; the leaves."""
    found: list[tuple[int, float, int]] = []
    leaves: list[int] = []

    def walk_down(node: Mapping[str, Any]) -> None:
        if "leaf_value" in node:
            leaves.append(round(node["leaf_value"] * UNIT))
            return
        first, place = len(leaves), len(found)
        found.append((node["split_feature"], _below(node["threshold"]), 0))
        walk_down(node["left_child"])
        found[place] = (*found[place][:2], (1 << len(leaves)) - (1 << first))
        walk_down(node["right_child"])

    walk_down(root)
    return found, leaves


def _below(threshold: float) -> float:
    """The greatest 32-bit number that is not above it: the figures are such numbers, so each answer stays."""
    near = np.float32(threshold)
    return float(near if float(near) <= threshold else np.nextafter(near, np.float32(-np.inf)))


@dataclasses.dataclass(slots=True)
class Stages:
    """Both forests, as they answer."""

    first: Forest
    second: Forest

    def model(self, pages: Iterable[Labelled]) -> Model:
        counts = collections.Counter(page.key[0] for page in pages)
        skip = blocks_rules.EVEN + round(SKIP * blocks_rules.STEPS)
        names = blocks_rules.FIRST + blocks_rules.SECOND
        return Model(
            blocks_model.KIND, blocks_model.VERSION, dict(sorted(counts.items())), names, skip, self.first, self.second
        )


def train(pages: Sequence[Labelled]) -> Model:
    """The second stage learns from answers of the first on pages which that has not seen."""
    pages = [page for page in pages if page.learned]
    if len({part(page, INNER, "inner") for page in pages}) < INNER:
        raise ConfigError(
            f"{len(pages)} pages with gold text are too few to learn from, or of too few sites; give more"
        )
    tables = {page.key: page.learned_table for page in pages}
    answers: Answers = {}
    for number in range(INNER):
        unseen = [page for page in pages if part(page, INNER, "inner") == number]
        trees = blocks_twin.Trees(fit([page for page in pages if part(page, INNER, "inner") != number], tables))
        answers |= {page.key: trees.buckets(page.learned_table) for page in unseen}
    both = {
        page.key: np.concatenate((page.learned_table, blocks_twin.second(page.context, answers[page.key])))
        for page in pages
    }
    return Stages(fit(pages, tables), fit(pages, both)).model(pages)


def chosen(page: Labelled, forests: blocks_twin.Forests) -> Array:
    """Which blocks a model takes for text."""
    _, late, least = blocks_twin.judged(page.table, page.context, forests)
    return late >= least


class Figures:
    """Precision, recall and F1 by data set, kind and language."""

    def __init__(self) -> None:
        self.scores: dict[tuple[str, str], list[tuple[float, float, float]]] = collections.defaultdict(list)
        self.hits: collections.Counter[tuple[str | bool, ...]] = collections.Counter()

    def add(self, page: Labelled, mask: Array) -> None:
        if page.passages != ((), ()):
            self._add_passages(page, "\n".join(text for text, kept in zip(page.texts, mask, strict=True) if kept))
            return
        found = page.words[mask[page.owners]]
        both = int(np.minimum(np.bincount(found, minlength=len(page.gold)), page.gold).sum())
        score = (
            both / max(len(found), 1),
            both / max(int(page.gold.sum()), 1),
            2 * both / max(len(found) + int(page.gold.sum()), 1),
        )
        for group in (("data set", page.key[0]), ("kind", page.kind), ("language", page.language)):
            if group[1]:
                self.scores[group].append(score)
        if page.key[0] and page.kind:
            self.scores["data set, kind", f"{page.key[0]} {page.kind}"].append(score)

    def _add_passages(self, page: Labelled, text: str) -> None:
        flat = " ".join(text.split())
        self.hits.update((("pages",), ("pages", page.language)))
        for wanted, passages in zip(("wanted", "unwanted"), page.passages, strict=True):
            for passage in passages:
                self.hits[wanted, " ".join(passage.split()) in flat] += 1
                self.hits[wanted, " ".join(passage.split()) in flat, page.language] += 1

    def lines(self) -> Iterator[str]:
        for (group, name), scores in sorted(self.scores.items()):
            yield line(group, name, len(scores), [statistics.fmean(column) for column in zip(*scores, strict=True)])
        for language in ("", *sorted({str(key[2]) for key in self.hits if len(key) == 3})):
            key = (language,) if language else ()
            right, missed, wrong = (
                self.hits[(*hit, *key)] for hit in (("wanted", True), ("wanted", False), ("unwanted", True))
            )
            if right + missed:
                figures = (
                    right / max(right + wrong, 1),
                    right / (right + missed),
                    2 * right / (2 * right + wrong + missed),
                )
                yield line("passages", language, self.hits["pages", *key], figures)


def line(group: str, name: str, pages: int, figures: Sequence[float]) -> str:
    return f"{group:<15} {name:<28} {pages:5} " + " ".join(f"{figure:7.4f}" for figure in figures)


Split = Iterator[tuple[list[Labelled], list[Labelled]]]


def folds(pages: Sequence[Labelled], count: int) -> Split:
    for number in range(count):
        parts = [part(page, count, "fold") == number for page in pages]
        yield (
            [page for page, own in zip(pages, parts, strict=True) if not own],
            [page for page, own in zip(pages, parts, strict=True) if own],
        )


def sets(pages: Sequence[Labelled]) -> Split:
    """Each data set is left out once, and with it every page elsewhere of a site or text in it."""
    for name in sorted({page.key[0] for page in pages}):
        tried = [page for page in pages if page.key[0] == name]
        groups = {page.group for page in tried}
        yield [page for page in pages if page.group not in groups], tried


def measured(splits: Split) -> Figures:
    figures = Figures()
    for learned, tried in splits:
        forests = blocks_twin.prepare(train(learned))
        for page in tried:
            figures.add(page, chosen(page, forests))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, help="folder of data sets")
    parser.add_argument("-o", "--output", type=Path, help="file to write the model to")
    parser.add_argument(
        "--folds", type=int, default=0, help="report F1 by cross-validation in so many parts, split by site and text"
    )
    parser.add_argument("--leave-out", action="store_true", help="report F1 on each data set, trained on the others")
    given = parser.parse_args()
    if not (given.output or given.folds or given.leave_out):
        parser.error("say what to do: -o FILE, --folds N or --leave-out")
    try:
        pages = read(given.pages)
        if given.folds:
            print(f"{given.folds} folds", *measured(folds(pages, given.folds)).lines(), sep="\n", flush=True)
        if given.leave_out:
            print("each data set left out", *measured(sets(pages)).lines(), sep="\n", flush=True)
        if given.output:
            blocks_model.save(train(pages), given.output)
    except (ConfigError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
