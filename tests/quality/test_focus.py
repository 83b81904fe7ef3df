"""Pages of a topic have a lower perplexity than other pages, by a model of text about it, above the floors."""

import gzip
import tarfile
import tomllib
from pathlib import Path

import pytest

import windrow
from tests.shared import shared
from windrow.judge.focus import model, training
from windrow.judge.focus.tokens import Tokeniser

FLOORS = tomllib.loads((Path(__file__).parent / "floors.toml").read_text())["focus"]
EVERY = 8  # of the pages, one in so many is scored
Web = tuple[dict[str, str], list[tuple[str, list[str]]]]  # sample by "topic.language"; the same and paragraphs of pages


@pytest.fixture(scope="module")
def web() -> Web:
    samples: dict[str, str] = {}
    found: list[tuple[str, list[str]]] = []
    with tarfile.open(shared("web/2x2b.tar.xz")) as archive:
        bodies = {one.name.partition("/")[2]: archive.extractfile(one) for one in archive if one.isfile()}
        contents = {name: file.read() for name, file in bodies.items() if file is not None}
    for name, body in contents.items():
        if name.startswith("topics/"):
            samples[name.removeprefix("topics/").removesuffix(".txt")] = body.decode()
    for line in gzip.decompress(contents["pages.tsv.gz"]).decode().splitlines()[1::EVERY]:
        host, path, language, topic, *_ = line.split("\t")
        if body := contents.get(f"www/{host}{path}", b""):
            page = windrow.extract(body)
            found.append((f"{topic}.{language}", [one.text for one in page.paragraphs]))
    return samples, found


@pytest.mark.parametrize("size", [5000, 200_000])
def test_pages_of_a_topic_come_first(web: Web, size: int) -> None:
    samples, pages = web
    assert len(pages) > 200 and len(samples) == 4
    near, every = [], []
    for name, text in samples.items():
        tokeniser = Tokeniser()
        scorer = model.make(training.train(tokeniser.sequences([text[:size]]), tokeniser=tokeniser))
        scores = [(kind, scorer.score_texts(texts)) for kind, texts in pages]
        known = [(kind, one.perplexity) for kind, one in scores if one.words >= 20]
        own = [value for kind, value in known if kind == name]
        same = [value for kind, value in known if kind != name and kind.endswith(name[-3:])]
        others = [value for kind, value in known if kind != name]
        near.append(lower(own, same))
        every.append(lower(own, others))
    assert sum(near) / 4 >= FLOORS[f"topic_{size}"]
    assert sum(every) / 4 >= FLOORS[f"all_{size}"]


def lower(own: list[float], others: list[float]) -> float:
    """Return the share of pairs in which the page of the topic has the lower perplexity."""
    return sum(one < other for one in own for other in others) / (len(own) * len(others))
