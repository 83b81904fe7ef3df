"""Train the model of the extractor `blocks` on pages with gold text, and measure it on pages that it has not seen.

    python tools/train_blocks.py PAGES -o src/windrow/extraction/main/blocks/model.json
    python tools/train_blocks.py PAGES --folds 5
    python tools/train_blocks.py PAGES --leave-out

PAGES is a folder of data sets, each with html/ID.html, gold/ID.txt and meta.jsonl. Training needs lightgbm and
rapidfuzz, which the package does not need: pip install lightgbm rapidfuzz. The same pages give the same model,
whatever the number of cores.
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
from windrow.extraction import walk
from windrow.extraction.evaluation import evaluate, gold
from windrow.extraction.evaluation.gold import Sample
from windrow.extraction.main.blocks import features, model, reference, rules
from windrow.extraction.main.blocks.context import Array, PageContext
from windrow.extraction.main.blocks.model import UNIT, BlocksModel, Forest
from windrow.extraction.readers import html
from windrow.extraction.walk import Walk
from windrow.extraction.walk.elements import FLAG, TAGS

Key = tuple[str, str]  # data set, name

SITE = 40  # pages of one site that are used for training
SHINGLE, SHARED = 12, 20  # words per shingle; two gold texts that share so many shingles count as one text
COVERED = 0.6  # share of its gold text that a page must hold to be used for training
PASSAGE = 0.225  # weight of a passage; a page with whole gold text has about 1.5
AGED = 0.3  # share of the pages that are changed to look old
NEW = frozenset(
    "article section main header footer nav aside figure figcaption address details summary hgroup search "
    "dialog".split()
)
OLD = ("list", "table", "quote", "code", "heading", "link")  # flags of other elements
MOST = 160  # blocks of a page that are used for training
FAIR = 200  # pages of a data set that count in full
COMMENT, UNWANTED = 60, 0.3  # tenths of a word, share in the gold text: a comment that counts, and that is no text
INNER = 3  # folds: the second stage is trained on answers of the first for pages that the first has not seen
EARLY, CUT = 12, -2.5  # trees that decide alone about a block, and the log-odds below which they do
SKIP = -2.0  # log-odds of the first stage below which a block does not reach the second

TREES = 120
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
class LabelledBlocks:
    """A page with the features and labels of its blocks."""

    key: Key
    language: str
    kind: str
    group: str  # pages with the same site or text: on one side of any split
    texts: list[str]
    table: Array
    learned_table: Array  # the same, or that of the page changed to look old
    context: PageContext
    labels: Array  # share of each block's words that the gold text has
    weights: Array
    gold: Array  # how often each word occurs in the gold text
    words: Array  # of the page, by number
    owners: Array  # the block of each
    passages: tuple[tuple[str, ...], tuple[str, ...]]  # wanted and unwanted, if the gold text consists of passages
    learned: bool  # whether its labels are good enough


Answers = dict[Key, Array]  # bucket of each block


def read(path: Path) -> list[LabelledBlocks]:
    """Read the pages that have blocks, at most SITE of each site."""
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
    if sample.site:
        return sample.site  # of any set: pages with one template may be in several
    return f"{sample.dataset} {sample.name.rstrip('0123456789').rstrip('-') or sample.name}"


class Groups:
    """Groups of pages with a site or a text in common."""

    def __init__(self) -> None:
        self.parents: dict[str, str] = {}
        self.shingles: dict[int, str] = {}

    def add(self, sample: Sample, site: str) -> None:
        own = f"page {sample.dataset} {sample.name}"
        self.join(own, f"site {site}")
        if sample.partial or sample.site:  # no whole text, or many pages of one site, which repeat the same lines
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


def label(sample: Sample) -> LabelledBlocks | None:
    tree = html.read(sample.capture(), 0, articles=True).tree
    found = walk.walk(walk.markup(tree)) if tree is not None else None
    if found is None or not found.texts:
        return None
    table, context = features.first(found)
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
    return LabelledBlocks(
        key=(sample.dataset, sample.name),
        language=sample.language,
        kind=sample.kind,
        group="",
        texts=found.texts,
        table=table,
        learned_table=features.first(aged(found))[0] if _share(f"{sample.dataset} {sample.name}") < AGED else table,
        context=context,
        labels=labels,
        weights=weights,
        gold=counts,
        words=own,
        owners=np.repeat(np.arange(len(words)), lengths),
        passages=(sample.wanted, sample.unwanted) if sample.partial else ((), ()),
        learned=bool(weights.any()) if sample.partial else covered > COVERED or not wanted,
    )


def aged(page: Walk) -> Walk:
    """Return a page as it could have been before HTML 5: without its elements, and with names that mean nothing.

    So the model does not learn to rely on them: most pages of the data sets have them, but few pages of the whole web.
    """
    blocks = np.frombuffer(page.blocks, np.int32).reshape(len(walk.BLOCK), -1).copy()
    containers = np.frombuffer(page.containers, np.int32).reshape(len(walk.CONTAINER), -1).copy()
    tags = np.array([TAGS.index("div") if tag in NEW else number for number, tag in enumerate(TAGS)], np.int32)
    for names, columns in ((walk.BLOCK, blocks), (walk.CONTAINER, containers)):
        columns[names.index("flags")] &= sum(FLAG[name] for name in OLD)
        columns[names.index("hints")] = 0
        columns[names.index("tag")] = tags[columns[names.index("tag")]]
    return dataclasses.replace(page, blocks=blocks.tobytes(), containers=containers.tobytes())


def by_passages(texts: Sequence[str], passages: tuple[Sequence[str], Sequence[str]]) -> tuple[Array, Array]:
    """Return labels and weights if only some passages are known to belong to the text, or not to."""
    labels, weights = np.zeros(len(texts)), np.zeros(len(texts))
    for wanted, some in zip((False, True), (passages[1], passages[0]), strict=True):
        for passage in (" ".join(one.split()) for one in some):
            # The rest of a long block with an unwanted passage may be wanted.
            own = [
                place
                for place, text in enumerate(texts)
                if passage in text and (wanted or len(text) < 4 * len(passage) + 40)
            ]
            labels[own] = wanted
            weights[own] = PASSAGE / max(len(own), 1)
    return labels, weights


def part(page: LabelledBlocks, parts: int, salt: str) -> int:
    """Return which of so many parts a page is in: by its group, so that a site or text is in one part."""
    return int(_share(f"{salt} {page.group}") * parts)


def _share(text: str) -> float:
    """Return a number from 0 to 1 that depends only on the text."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest()) / (1 << 48)


def fit(pages: Sequence[LabelledBlocks], tables: Mapping[Key, Array]) -> Forest:
    """Train a forest on pages. The weight of a data set grows with the root of its number of pages."""
    counts = collections.Counter(page.key[0] for page in pages)
    known = [sampled(page) for page in pages]
    weights = np.concatenate(
        [own[1] * (FAIR / counts[page.key[0]]) ** 0.5 for page, own in zip(pages, known, strict=True)]
    )
    rows = np.concatenate([tables[page.key][:, own[0]].T for page, own in zip(pages, known, strict=True)])
    labels = np.concatenate([page.labels[own[0]] for page, own in zip(pages, known, strict=True)])
    data = lightgbm.Dataset(rows, labels, weight=weights * len(weights) / weights.sum())
    return forest(lightgbm.train(LEARNING, data, TREES).dump_model()["tree_info"])


def sampled(page: LabelledBlocks) -> tuple[Array, Array]:
    """Return the blocks of a page for training, and their weights: the heaviest, and some that represent the rest."""
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
    """Return the trained trees, padded to the questions of the largest: a threshold beyond all values has no effect."""
    asked = [questions(tree["tree_structure"]) for tree in trees]
    most = max(1, *(len(own) for own, _ in asked))
    padded = [question for own, _ in asked for question in own + [(0, np.inf, 0)] * (most - len(own))]
    values = [value for _, leaves in asked for value in leaves + [0] * (model.LEAVES - len(leaves))]
    arrays = [
        np.array(column, kind).tobytes()
        for column, kind in zip(zip(*padded, strict=True), ("<u2", "<f4", "<u4"), strict=True)
    ]
    return Forest(most, min(EARLY, len(trees)), round(CUT * UNIT), *arrays, np.array(values, "<i2").tobytes())


def questions(root: Mapping[str, Any]) -> tuple[list[tuple[int, float, int]], list[int]]:
    """Return the questions of a tree, each with the leaves that are reached if the feature is not above the threshold,
    and the values of the leaves."""
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
    """Return the greatest 32-bit number that is not above the threshold: features are 32-bit, so each answer stays."""
    near = np.float32(threshold)
    return float(near if float(near) <= threshold else np.nextafter(near, np.float32(-np.inf)))


@dataclasses.dataclass(slots=True)
class Stages:
    """Both forests."""

    first: Forest
    second: Forest

    def model(self, pages: Iterable[LabelledBlocks]) -> BlocksModel:
        counts = collections.Counter(page.key[0] for page in pages)
        skip = rules.EVEN + round(SKIP * rules.STEPS)
        names = rules.FIRST + rules.SECOND
        return BlocksModel(
            kind=model.KIND,
            version=model.VERSION,
            trained_on=dict(sorted(counts.items())),
            features=names,
            skip=skip,
            first=self.first,
            second=self.second,
        )


def train(pages: Sequence[LabelledBlocks]) -> BlocksModel:
    """Train both stages: the second on answers of the first for pages that the first has not seen."""
    pages = [page for page in pages if page.learned]
    if len({part(page, INNER, "inner") for page in pages}) < INNER:
        raise ConfigError(f"{len(pages)} pages with gold text are too few for training, or of too few sites; give more")
    tables = {page.key: page.learned_table for page in pages}
    answers: Answers = {}
    for number in range(INNER):
        unseen = [page for page in pages if part(page, INNER, "inner") == number]
        trees = reference.Trees(fit([page for page in pages if part(page, INNER, "inner") != number], tables))
        answers |= {page.key: trees.buckets(page.learned_table) for page in unseen}
    both = {
        page.key: np.concatenate((page.learned_table, features.second(page.context, answers[page.key])))
        for page in pages
    }
    return Stages(fit(pages, tables), fit(pages, both)).model(pages)


def chosen(page: LabelledBlocks, forests: reference.Forests) -> Array:
    """Return which blocks a model takes for main text."""
    _, late, least = reference.decide(page.table, page.context, forests)
    return late >= least


class Figures:
    """Precision, recall and F1 by data set, kind and language; of pages without text, how many have none; of comments
    that are not in the gold text, how many are kept."""

    def __init__(self) -> None:
        self.empty: list[bool] = []
        self.comments: collections.Counter[bool] = collections.Counter()  # tenths of a word, kept or not
        self.scores: dict[tuple[str, str], list[tuple[float, float, float]]] = collections.defaultdict(list)
        self.hits: collections.Counter[tuple[str | bool, ...]] = collections.Counter()

    def add(self, page: LabelledBlocks, mask: Array) -> None:
        if page.passages != ((), ()):
            self._add_passages(page, "\n".join(text for text, kept in zip(page.texts, mask, strict=True) if kept))
            return
        found = page.words[mask[page.owners]]
        if not page.gold.any():
            self.empty.append(not len(found))
            return
        self._add_comments(page, mask)
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

    def _add_comments(self, page: LabelledBlocks, mask: Array) -> None:
        """Count the comments below pages that are no forum."""
        inside = page.table[rules.FIRST.index("in comments")] > 0
        unwanted = inside & (page.labels < UNWANTED) & (page.context.lengths >= COMMENT) & (page.kind != "forum")
        for kept in (True, False):
            self.comments[kept] += int(page.context.lengths[unwanted & (mask == kept)].sum())

    def _add_passages(self, page: LabelledBlocks, text: str) -> None:
        flat = " ".join(text.split())
        self.hits.update((("pages",), ("pages", page.language)))
        for wanted, passages in zip(("wanted", "unwanted"), page.passages, strict=True):
            for passage in passages:
                self.hits[wanted, " ".join(passage.split()) in flat] += 1
                self.hits[wanted, " ".join(passage.split()) in flat, page.language] += 1

    def lines(self) -> Iterator[str]:
        for (group, name), scores in sorted(self.scores.items()):
            yield line(group, name, len(scores), [statistics.fmean(column) for column in zip(*scores, strict=True)])
        if self.empty:
            yield f"without text: {sum(self.empty)} of {len(self.empty)} pages give none"
        if self.comments.total():
            yield f"comments that are not text: {self.comments[True] / self.comments.total():.3f} of their words kept"
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


Split = Iterator[tuple[list[LabelledBlocks], list[LabelledBlocks]]]


def folds(pages: Sequence[LabelledBlocks], count: int) -> Split:
    for number in range(count):
        parts = [part(page, count, "fold") == number for page in pages]
        yield (
            [page for page, own in zip(pages, parts, strict=True) if not own],
            [page for page, own in zip(pages, parts, strict=True) if own],
        )


def sets(pages: Sequence[LabelledBlocks]) -> Split:
    """Leave out each data set once, with every page of other sets that shares a site or a text with it."""
    for name in sorted({page.key[0] for page in pages}):
        tried = [page for page in pages if page.key[0] == name]
        groups = {page.group for page in tried}
        yield [page for page in pages if page.group not in groups], tried


def measured(splits: Split) -> Figures:
    figures = Figures()
    for learned, tried in splits:
        forests = reference.prepare(train(learned))
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
        parser.error("nothing to do; give -o FILE, --folds N or --leave-out")
    try:
        pages = read(given.pages)
        if given.folds:
            print(f"{given.folds} folds", *measured(folds(pages, given.folds)).lines(), sep="\n", flush=True)
        if given.leave_out:
            print("each data set left out", *measured(sets(pages)).lines(), sep="\n", flush=True)
        if given.output:
            model.save(train(pages), given.output)
    except (ConfigError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
