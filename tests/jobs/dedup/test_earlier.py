"""The rule `all-earlier`, against a slow and exact form of it; and independent of how the work is divided."""

import functools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from typer.testing import CliRunner

from tests.corpus import samples
from tests.corpus.samples import Sample
from tests.dedup.onion import Onion, words
from windrow import cli, config
from windrow.config import ConfigError
from windrow.corpus import reader
from windrow.jobs import dedup, engine
from windrow.jobs.dedup import earlier
from windrow.jobs.engine import Engine, MapFunction, Table
from windrow.jobs.engine.parts import PartTable

chance = random.Random(7)
VOCABULARY = ["".join(chance.choices("abcdefghijklmnopqrstuvwyzěščř", k=chance.randint(1, 8))) for _ in range(2000)]


def corpus(count: int) -> list[list[str]]:
    """Return documents of paragraphs, of which some are copies, also of what was a copy itself."""
    stock, documents = [" ".join(chance.choices(VOCABULARY, k=40)) for _ in range(9)], []
    for _ in range(count):
        paragraphs = []
        for _ in range(chance.randint(1, 6)):
            copied = " ".join([*chance.choice(stock).split()[4:], *chance.choices(VOCABULARY, k=6)])
            new = " ".join(chance.choices(VOCABULARY, k=chance.choice([3, 25, 60])))
            paragraphs.append(copied if chance.random() < 0.4 else new)
        stock.append(chance.choice(paragraphs))
        documents.append(paragraphs)
    return documents


DOCUMENTS = corpus(200)


class AllEarlier(Onion):
    """Remembers what is removed too."""

    def mark(self, paragraphs: Any) -> tuple[list[bool], list[float]]:
        found = super().mark(paragraphs)
        self.seen.update(ngram for ends in self.endings(paragraphs) for ngram in ends if ngram)
        return found


def left(rule: Onion, documents: list[list[str]]) -> list[list[str]]:
    found = []
    for paragraphs in documents:
        duplicate, _ = rule.mark([words(paragraph) for paragraph in paragraphs])
        found.append([text for text, gone in zip(paragraphs, duplicate, strict=True) if not gone])
    return [paragraphs for paragraphs in found if paragraphs]


class InProcess:
    """An engine that does a map here: these tests divide the work, and do not test an engine."""

    def map(self, sources: list[str], function: MapFunction, schema: pyarrow.Schema) -> Table:
        rows = [batch for source in sources for batch in function(source)]

        class Rows(PartTable):
            def batches(self) -> Iterator[pyarrow.RecordBatch]:
                return iter(rows)

        return Rows(schema, [])


def text_files(directory: Path, documents: list[list[str]], files: int) -> list[Path]:
    found = []
    for number in range(files):
        path = directory / f"{number:02}.prevert"
        share = documents[len(documents) * number // files : len(documents) * (number + 1) // files]
        path.write_text(prevertical(share))
        found.append(path)
    return found


def prevertical(documents: list[list[str]]) -> str:
    return "".join(
        "<doc>\n" + "".join(f"<p>\n{text}\n</p>\n" for text in paragraphs) + "</doc>\n" for paragraphs in documents
    )


def run(inputs: list[Path], output: Path, parts: int = 1, **options: Any) -> dedup.DedupSummary:
    plans = dedup.plan(inputs, output, force=True)
    rules = config.DedupOptions(**{"max_seen": 1.0, **options})
    engine: Engine = InProcess()  # type: ignore[assignment]
    return earlier.run(plans, dedup.options("paragraph", "", rules), engine, output.parent / "scratch", parts)


@pytest.mark.parametrize("files", [1, 3, 10])
@pytest.mark.parametrize("parts", [1, 2, 64])
def test_the_result_is_that_of_the_exact_rule_however_it_is_divided(tmp_path: Path, files: int, parts: int) -> None:
    inputs = text_files(tmp_path, DOCUMENTS, files)
    summary = run(inputs, tmp_path / "out", parts)
    expected = left(AllEarlier(), DOCUMENTS)
    found = [tmp_path / "out" / path.name for path in inputs] if files > 1 else [tmp_path / "out"]
    assert "".join(path.read_text() for path in found) == prevertical(expected)
    assert (summary.files, summary.documents_in, summary.documents_out) == (files, 200, len(expected))
    assert summary.paragraphs_out == sum(map(len, expected))
    assert summary.ngrams == len({ngram for found in DOCUMENTS for ngram in sevens(found)})


def sevens(paragraphs: list[str]) -> set[tuple[str, ...]]:
    text = [word for paragraph in paragraphs for word in words(paragraph)]
    return {tuple(text[at : at + 7]) for at in range(len(text) - 6)}


def test_it_removes_more_than_onion_and_never_less_of_this_corpus(tmp_path: Path) -> None:
    onion = {text for paragraphs in left(Onion(), DOCUMENTS) for text in paragraphs}
    ours = {text for paragraphs in left(AllEarlier(), DOCUMENTS) for text in paragraphs}
    assert ours < onion


def test_many_inputs_become_one_output(tmp_path: Path) -> None:
    inputs = text_files(tmp_path, DOCUMENTS, 4)
    run(inputs, tmp_path / "out.prevert", 4)
    assert (tmp_path / "out.prevert").read_text() == prevertical(left(AllEarlier(), DOCUMENTS))


def test_n_grams_that_do_not_fit_into_memory_at_once_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(earlier, "_HELD", 500)
    summary = run(text_files(tmp_path, DOCUMENTS, 2), tmp_path / "out", 4)
    assert summary.paragraphs_out == sum(map(len, left(AllEarlier(), DOCUMENTS)))
    assert summary.ngrams == len({ngram for found in DOCUMENTS for ngram in sevens(found)})


def test_a_page_of_a_later_crawl_is_removed_if_an_earlier_crawl_has_its_url(tmp_path: Path) -> None:
    texts = [" ".join(chance.choices(VOCABULARY, k=60)) for _ in range(5)]
    one = samples.crawl(
        tmp_path / "one", [Sample("http://a.test/1", "eng", (texts[0],)), Sample("http://a.test/2", "eng", (texts[1],))]
    )
    two = samples.crawl(
        tmp_path / "two", [Sample("http://a.test/2", "eng", (texts[2],)), Sample("http://a.test/3", "eng", (texts[3],))]
    )
    summary = run([one, two], tmp_path / "out", 2)
    assert summary.documents_repeated == 1
    found = [document.url for path in ("one", "two") for document in reader.documents(tmp_path / "out" / path)]
    assert found == ["http://a.test/1", "http://a.test/2", "http://a.test/3"]


def test_the_command_gives_the_same_with_worker_processes(tmp_path: Path) -> None:
    inputs = text_files(tmp_path, DOCUMENTS, 3)
    command = ["dedup", *map(str, inputs), "-o", str(tmp_path / "out"), "--rule", "all-earlier", "--workers", "2"]
    done = CliRunner().invoke(cli.app, command)
    assert done.exit_code == 0, done.output
    found = "".join((tmp_path / "out" / path.name).read_text() for path in inputs)
    assert found == prevertical(left(AllEarlier(), DOCUMENTS))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00.prevert", "01.prevert", "02.prevert", "out"]


def test_a_file_that_cannot_be_read_fails_the_job_and_leaves_no_output(tmp_path: Path) -> None:
    inputs = text_files(tmp_path, DOCUMENTS, 2)
    inputs[1].write_bytes(b"<doc>\n<p>\n\xff\n</p>\n</doc>\n")
    plans = dedup.plan(inputs, tmp_path / "out")
    options = dedup.options("paragraph", "", config.DedupOptions())
    with (
        engine.open("local", workers=1) as opened,
        pytest.raises(ConfigError, match=r"01\.prevert.*not UTF-8"),
    ):
        earlier.run(plans, options, opened, tmp_path / "scratch")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--rule", "other"], "--rule 'other' is unknown; it must be one of onion, all-earlier"),
        (["--workers", "2"], "--engine and --workers are for --rule all-earlier"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path: Path, arguments: list[str], problem: str) -> None:
    (source,) = text_files(tmp_path, DOCUMENTS[:1], 1)
    done = CliRunner().invoke(cli.app, ["dedup", str(source), "-o", str(tmp_path / "out"), *arguments])
    assert problem in str(done.exception)


def test_the_same_job_has_the_same_name_and_another_has_not(tmp_path: Path) -> None:
    inputs = text_files(tmp_path, DOCUMENTS, 2)
    plans = dedup.plan(inputs, tmp_path / "out")
    make = functools.partial(earlier.EarlierWork, scratch=tmp_path, count=1)
    one = dedup.options("paragraph", "", config.DedupOptions())
    first = repr(make(plans, one))
    assert repr(make(plans, dedup.options("paragraph", "", config.DedupOptions()))) == first
    assert repr(make(plans, dedup.options("document", "", config.DedupOptions()))) != first
    inputs[0].write_text("<doc>\n<p>\nother\n</p>\n</doc>\n")
    assert repr(make(plans, one)) != first
