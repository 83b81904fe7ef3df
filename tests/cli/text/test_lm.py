"""`windrow lm`: what the commands print and write, and one sentence for each error."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from typer.testing import CliRunner

from tests.judge import declarations
from windrow import cli
from windrow.config import ConfigError
from windrow.judge.focus import model

ENGLISH = "\n".join(declarations.shipped("en"))
CZECH = "\n".join(declarations.shipped("cs"))
PAGE = "<html><head><title>T</title></head><body><article>{}</article></body></html>"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en.txt").write_text(ENGLISH, "utf-8")
    (tmp_path / "cs.txt").write_text(CZECH, "utf-8")
    return tmp_path


def run(*arguments: str, given: str | None = None) -> tuple[str, str]:
    result = CliRunner().invoke(cli.app, ["lm", *arguments], input=given, catch_exceptions=True)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout, result.stderr


def read(*arguments: str, given: str | None = None) -> Any:
    return json.loads(run(*arguments, "--json", given=given)[0])


def test_a_model_is_trained_and_says_what_it_is(place: Path) -> None:
    out, err = run("train", "en.txt", "-o", "en.lm")
    assert "en.lm written: order 5, " in out
    assert "words of text are few for a topic" in err
    found = read("info", "en.lm")
    assert (found["order"], found["vocabulary"], found["lower"]) == (5, found["ngrams"][0], True)
    assert found["words"] > 1000 and found["sentences"] > 50 and len(found["discounts"]) == 5
    shown, _ = run("info", "en.lm")
    assert "5-grams" in shown and "lower case; sequences of at least 5" in shown


def test_a_model_written_as_arpa_text_says_what_it_was_made_from(place: Path) -> None:
    mapped, text = (read("train", "en.txt", "-o", f"en{suffix}") for suffix in (".lm", ".arpa"))
    known = ("words", "sentences", "duplicates", "discounts", "fallback")
    assert [text[name] for name in known] == [mapped[name] for name in known]
    assert "from counts" not in run("train", "en.txt", "-o", "again.arpa")[0]


def test_a_model_that_cannot_be_read_leaves_no_head_of_a_table(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="not a language model"):
        cli.app(["lm", "score", "en.txt", "en.txt"], standalone_mode=False)
    assert capsys.readouterr().out == ""


def test_text_like_the_sample_has_the_lowest_perplexity(place: Path) -> None:
    half = len(ENGLISH) // 2
    (place / "half.txt").write_text(ENGLISH[:half])
    (place / "rest.html").write_text(PAGE.format("".join(f"<p>{line}</p>" for line in ENGLISH[half:].splitlines())))
    run("train", "half.txt", "-o", "en.lm")
    lines = run("score", "en.lm", "half.txt", "rest.html", "cs.txt", "--json")[0].splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["path"] for row in rows] == ["half.txt", "rest.html", "cs.txt"]
    assert rows[0]["perplexity"] < rows[1]["perplexity"] < rows[2]["perplexity"]
    assert rows[0]["unknown"] == 0 and rows[2]["unknown"] > 0.9
    table = run("score", "en.lm", "half.txt", "cs.txt")[0].splitlines()
    assert table[0].split("\t") == ["perplexity", "words", "unknown", "path"]
    assert [line.split("\t")[3] for line in table[1:]] == ["half.txt", "cs.txt"]


def test_the_perplexity_of_all_text_is_given_with_and_without_unknown_words(place: Path) -> None:
    run("train", "en.txt", "-o", "en.lm")
    both = read("perplexity", "en.lm", "en.txt", "cs.txt")
    single = [read("perplexity", "en.lm", name) for name in ("en.txt", "cs.txt")]
    assert both["words"] == sum(one["words"] for one in single)
    assert single[0]["perplexity"] == single[0]["perplexity_known"] < both["perplexity_known"] < both["perplexity"]
    assert "without unknown words" in run("perplexity", "en.lm", "en.txt")[0]


def test_packed_files_and_standard_input_give_the_same_model(place: Path) -> None:
    (place / "en.txt.gz").write_bytes(gzip.compress(ENGLISH.encode()))
    (place / "en.txt.zst").write_bytes(zstandard.compress(ENGLISH.encode()))
    for number, name in enumerate(("en.txt", "en.txt.gz", "en.txt.zst")):
        run("train", name, "-o", f"{number}.lm")
    run("train", "-", "-o", "3.lm", given=ENGLISH)
    assert len({(place / f"{number}.lm").read_bytes() for number in range(4)}) == 1


def test_a_sentence_counts_once_unless_all_are_wanted(place: Path) -> None:
    once = read("train", "en.txt", "en.txt", "-o", "once.lm")
    twice = read("train", "en.txt", "en.txt", "--no-dedup", "-o", "twice.lm")
    single = read("train", "en.txt", "--no-dedup", "-o", "single.lm")
    assert (once["sentences"], once["words"]) == (
        2 * single["sentences"],
        read("train", "en.txt", "-o", "a.lm")["words"],
    )
    assert 2 * once["duplicates"] >= once["sentences"]
    assert (twice["duplicates"], twice["words"]) == (0, 2 * single["words"])


def test_counts_are_read_where_they_are_announced(place: Path) -> None:
    (place / "counts").write_text("<s> one\t3\none two\t5\ntwo </s>\t3\ntwo one\t1\n")
    found = read("train", "counts", "--counts", "-o", "c.lm")
    assert (found["order"], found["ngrams"]) == (2, [5, 4])


def test_an_unknown_word_can_be_given_a_probability(place: Path) -> None:
    assert read("train", "en.txt", "--unknown", "-7", "-o", "en.lm")["unknown_log10"] == -7


def test_a_model_becomes_an_arpa_file_and_a_model_again(place: Path) -> None:
    run("train", "en.txt", "-o", "en.lm", "--order", "3")
    for source, target in (("en.lm", "en.arpa"), ("en.arpa", "en.arpa.gz"), ("en.arpa.gz", "again.lm")):
        run("convert", source, "-o", target)
    assert (place / "en.arpa").read_text().startswith("\\data\\\nngram 1=")
    first, second = (read("perplexity", name, "cs.txt")["perplexity"] for name in ("en.lm", "again.lm"))
    assert first == pytest.approx(second, rel=1e-4)


def test_a_text_without_a_sequence_has_no_perplexity(place: Path) -> None:
    run("train", "en.txt", "-o", "en.lm")
    (place / "short.txt").write_text("Home News\n")
    assert read("perplexity", "en.lm", "short.txt")["perplexity"] is None
    assert run("score", "en.lm", "short.txt")[0].splitlines()[1].startswith("inf\t0\t")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "empty.txt", "-o", "a.lm"], r"empty\.txt: there is no running text.*at least 5 words.*10,000"),
        (["train", "short.txt", "-o", "a.lm"], "there is no running text"),
        (["train", "none.txt", "-o", "a.lm"], r"cannot read none\.txt"),
        (["train", "latin.txt", "-o", "a.lm"], r"latin\.txt, line 2: not UTF-8"),
        (["train", "en.txt", "-o", "en.txt"], r"en\.txt exists already"),
        (["train", "en.txt", "-o", "none/a.lm"], "there is no folder none"),
        (["train", "en.txt", "-o", "a.lm.gz"], r"only ARPA text is packed; end the name in \.arpa\.gz"),
        (["train", "en.txt", "-o", "a.arpa.bz2"], r"files with the suffix \.bz2 cannot be written"),
        (["train", "en.txt", "-o", "a.lm", "--order", "9"], "from 1 to 6"),
        (["train", "en.txt", "-o", "a.lm", "--unknown", "3"], "--unknown 3 is not a logarithm"),
        (["train", "en.txt", "-o", "a.lm", "--counts"], r"en\.txt, line 1: “word word word<TAB>count”"),
        (["info", "none.lm"], r"there is no model none\.lm; train one"),
        (["info", "en.txt"], r"en\.txt is not a language model"),
        (["score", "en.txt", "en.txt"], r"en\.txt is not a language model"),
        (["convert", "none.lm", "-o", "a.arpa"], r"there is no model none\.lm"),
    ],
)
def test_what_cannot_be_done_gets_one_sentence(place: Path, arguments: list[str], message: str) -> None:
    (place / "empty.txt").write_text("")
    (place / "short.txt").write_text("Home News Sport\n")
    (place / "latin.txt").write_bytes(b"one\nf\xfcr\n")
    before = sorted(path.name for path in place.iterdir())
    with pytest.raises(ConfigError, match=message) as error:
        run(*arguments)
    assert "\n" not in str(error.value)
    assert sorted(path.name for path in place.iterdir()) == before


def test_a_model_is_written_whole_or_not_at_all(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(model.layout, "build", broken)
    with pytest.raises(OSError):
        run("train", "en.txt", "-o", "en.lm")
    assert not list(place.glob("en.lm*"))
