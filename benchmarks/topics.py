"""How well the perplexity of a page shows its topic, by how the model was made: case, order, length of the sample.

    python benchmarks/topics.py DIR [--sizes 5000 20000 200000] [--orders 3 5]

DIR is an unpacked web of ../shared/web with samples of its topics: topics/TOPIC.LANGUAGE.txt, pages.tsv.gz and www/. A
model is trained on the first characters of each sample. The figure is the probability that a page of the topic has a
lower perplexity than another page (AUC): `topic` among pages of the same language, `all` among all pages; the mean and
the least of the topics. Pages of fewer than 20 words in sequences are left out.
"""

import argparse
import gzip
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

import numpy as np  # noqa: E402

import windrow  # noqa: E402
from windrow.judge.focus import model, training  # noqa: E402
from windrow.judge.focus.model import Scored  # noqa: E402
from windrow.judge.focus.tokens import Tokeniser  # noqa: E402

Kind = tuple[str, str]  # topic, language
KINDS = ("perplexity", "perplexity_windows", "perplexity_known")
_LEAST = 20


def pages(web: Path) -> list[tuple[Kind, list[str]]]:
    """Return topic, language and paragraphs of each page."""
    found = []
    rows = gzip.decompress((web / "pages.tsv.gz").read_bytes()).decode().splitlines()
    names = rows[0].split("\t")
    for row in (dict(zip(names, line.split("\t"), strict=True)) for line in rows[1:]):
        file = web / "www" / row["host"] / row["path"].lstrip("/")
        if file.is_file():
            page = windrow.extract(file.read_bytes())
            found.append(((row["topic"], row["lang"]), [one.text for one in page.paragraphs]))
    return found


def auc(own: list[float], others: list[float]) -> float:
    """Return the probability that one of `own` is lower than one of `others`."""
    ranks = np.argsort(np.argsort([*own, *others]))[: len(own)]
    return float(1 - (ranks.sum() - len(own) * (len(own) - 1) / 2) / (len(own) * len(others)))


def measure(sample: str, kind: Kind, texts: list[tuple[Kind, list[str]]], order: int, lower: bool) -> list[float]:
    tokeniser = Tokeniser(lower=lower)
    scorer = model.make(training.train(tokeniser.sequences([sample]), order, tokeniser=tokeniser))
    rows: list[tuple[Kind, Scored]] = [(other, scorer.score_texts(page)) for other, page in texts]
    rows = [(other, score) for other, score in rows if score.words >= _LEAST]
    found = []
    for name in KINDS:
        own = [getattr(score, name) for other, score in rows if other == kind]
        near = [getattr(score, name) for other, score in rows if other != kind and other[1] == kind[1]]
        every = [getattr(score, name) for other, score in rows if other != kind]
        found += [auc(own, near), auc(own, every)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("web", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5000, 20000, 200000], help="characters of the sample")
    parser.add_argument("--orders", type=int, nargs="+", default=[3, 5])
    arguments = parser.parse_args()
    texts = pages(arguments.web)
    columns = [f"{name.removeprefix('perplexity_')} {among}" for name in KINDS for among in ("topic", "all")]
    print("\t".join(["characters", "order", "case", *columns]))
    for size in arguments.sizes:
        for order in arguments.orders:
            for lower in (False, True):
                rows = []
                for file in sorted((arguments.web / "topics").glob("*.txt")):
                    topic, language = file.name.split(".")[:2]
                    rows.append(measure(file.read_text()[:size], (topic, language), texts, order, lower))
                shown = [
                    f"{mean:.3f}/{least:.3f}" for mean, least in zip(np.mean(rows, 0), np.min(rows, 0), strict=True)
                ]
                print("\t".join([str(size), str(order), "lower" if lower else "kept", *shown]))


if __name__ == "__main__":
    main()
