"""ARPA files: ours and those of other makers, and what other programs make of ours."""

import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.judge.focus.test_training import TEXTS
from windrow.config import ConfigError
from windrow.judge.focus import arpa, model, training
from windrow.judge.focus.tables import NgramTables

# As SRILM writes it: <s> is never predicted, a word without a longer n-gram has no backoff, <unk> is missing, and
# "b c" is missing although "a b c" is there.
SRILM = """
\\data\\
ngram 1=5
ngram 2=3
ngram 3=1

\\1-grams:
-0.6\t</s>
-99\t<s>\t-0.3
-0.5\ta\t-0.2
-0.7\tb\t-0.1
-0.9\tc

\\2-grams:
-0.2\t<s> a\t-0.05
-0.3\ta b\t-0.04
-0.4\tc </s>

\\3-grams:
-0.1\ta b c

\\end\\
"""


def parsed(text: str) -> NgramTables:
    return arpa.read(io.BytesIO(text.encode()), "model.arpa")


def written(tables: NgramTables) -> bytes:
    file = io.BytesIO()
    arpa.write(tables, file)
    return file.getvalue()


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.integers(1, 6), st.lists(st.sampled_from("a b c d h".split()), min_size=1, max_size=9))
def test_a_model_read_from_its_arpa_file_gives_the_same_scores(
    text: list[list[str]], order: int, words: list[str]
) -> None:
    tables = training.train(text, order)
    again = arpa.read(io.BytesIO(written(tables)), "model.arpa")
    assert written(again) == written(tables)
    found, expected = model.make(again).log10(words), model.make(tables).log10(words)
    assert [row[1:] for row in found] == [row[1:] for row in expected]
    assert [row[0] for row in found] == pytest.approx([row[0] for row in expected], abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.integers(2, 6), st.lists(st.sampled_from("a b c d h".split()), min_size=1, max_size=9))
def test_kenlm_reads_our_file_and_gives_the_same_scores(text: list[list[str]], order: int, words: list[str]) -> None:
    kenlm = pytest.importorskip("kenlm", reason="needs kenlm: pip install 'windrow-corpus[lm]'")
    tables = training.train(text, order)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.arpa"
        model.write(tables, path)
        theirs = list(kenlm.Model(str(path)).full_scores(" ".join(words), bos=True, eos=True))
    ours = model.make(tables).log10(words)
    assert [row[2] for row in ours] == [row[2] for row in theirs]
    assert [row[0] for row in ours] == pytest.approx([row[0] for row in theirs], abs=1e-4)
    assert [row[1] for row in ours] == [row[1] for row in theirs]


def test_a_file_of_another_maker_is_completed_where_it_leaves_something_out() -> None:
    scorer = model.make(parsed(SRILM))
    assert scorer.counts == [6, 4, 1]  # with <unk> and "b c"
    values = [round(row[0], 4) for row in scorer.log10("a b c".split())]
    assert values == [-0.2, -0.35, -0.1, -0.4]
    assert [round(row[0], 4) for row in scorer.log10("b c".split())] == [-1.0, -1.0, -0.4]
    assert scorer.log10(["x"])[0] == (pytest.approx(-100.3), 1, True)


def test_kenlm_agrees_about_a_file_of_another_maker(tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm", reason="needs kenlm: pip install 'windrow-corpus[lm]'")
    more = "".join(f"-1.{place}\t{two}\n" for place, two in enumerate(("b a", "c a", "c b", "b b", "a a", "c c")))
    room = SRILM.replace("ngram 2=3", "ngram 2=9").replace("\\2-grams:\n", f"\\2-grams:\n{more}")
    (tmp_path / "a.arpa").write_text(room)  # kenlm has no room for "b c" in a smaller table
    theirs = kenlm.Model(str(tmp_path / "a.arpa"))
    ours = model.read(tmp_path / "a.arpa")
    for text in ("a b c", "b c", "c b a x b", "x a b c"):
        assert [row[0] for row in ours.log10(text.split())] == pytest.approx(
            [row[0] for row in theirs.full_scores(text)], abs=1e-5
        )


@pytest.mark.parametrize("name", ["<UNK>", "<unk>"])
def test_unknown_words_are_found_in_capitals_too(name: str) -> None:
    text = SRILM.replace("ngram 1=5", "ngram 1=6").replace("\\1-grams:\n", f"\\1-grams:\n-2.5\t{name}\n")
    assert model.make(parsed(text)).unknown_log10 == pytest.approx(-2.5)


@pytest.mark.parametrize("suffix", [".arpa", ".arpa.gz", ".arpa.zst"])
def test_the_name_of_a_file_chooses_its_form(tmp_path: Path, suffix: str) -> None:
    tables = training.train([["one", "Two", "three"], ["one", "four"]], 3)
    model.write(tables, tmp_path / f"m{suffix}")
    found = model.read(tmp_path / f"m{suffix}").log10(["one", "Two"])
    assert [row[0] for row in found] == pytest.approx(
        [row[0] for row in model.make(tables).log10(["one", "Two"])], abs=1e-5
    )
    start = (tmp_path / f"m{suffix}").read_bytes()[:2]
    assert start == {".arpa": b"\\d", ".arpa.gz": b"\x1f\x8b", ".arpa.zst": b"\x28\xb5"}[suffix]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("-0.7\tb\t-0.1", "-0.7x\tb\t-0.1"), "line 11: '-0.7x' is not a number"),
        (("a b c", "a b z"), "line 20: the word 'z' is not among the 1-grams"),
        (("a b c", "a b"), "line 20: a 3-gram with its probability is expected"),
        (("ngram 2=3", "ngram 2=4"), "line 18: a 2-gram with its probability is expected, not ''"),
        (("ngram 3=1\n", ""), r"line 18: .{0,9}end.{0,9} is expected, not .{0,2}3-grams"),
        (("\\3-grams:", "\\4-grams:"), "line 19: .*3-grams: is expected"),
        (("-0.1\ta b c", "0.1\ta b c"), "line 20: a probability must be a logarithm of at most 0"),
        (("-0.1\ta b c", "nan\ta b c"), "line 20: "),
        (("ngram 2=3", "ngram 3=3"), "line 4: ngram 2= is expected"),
        (("ngram 2=3", "ngram 2=three"), "line 4: ngram 2= with a whole number is expected, not 'ngram 2=three'"),
        (("ngram 1=5", "ngram 1=-5"), "line 3: ngram 1= with a whole number is expected"),
        (("-0.3\ta b\t-0.04", "-0.2\t<s> a\t-0.05"), "the 2-gram '<s> a' is there twice"),
        (("\n\\end\\", ""), "is expected, not the end of the file"),
        (("\\data\\", "data"), r"not an ARPA file"),
    ],
)
def test_a_broken_file_gets_one_sentence_that_names_the_line(change: tuple[str, str], message: str) -> None:
    assert change[0] in SRILM
    with pytest.raises(ConfigError, match=message):
        parsed(SRILM.replace(*change))


def test_a_word_in_another_encoding_is_refused_with_its_line() -> None:
    latin = SRILM.replace("-0.7\tb\t-0.1", "-0.7\tf\u00fcr\t-0.1").encode("latin-1")
    with pytest.raises(ConfigError, match=r"line 11: a word is not UTF-8 text; convert the file first"):
        arpa.read(latin.splitlines(keepends=True), "test.arpa")


def test_a_byte_order_mark_and_line_ends_of_windows_are_read_over() -> None:
    plain = SRILM.replace("\n", "\r\n").lstrip().encode("utf-8-sig")
    found = model.make(arpa.read(plain.splitlines(keepends=True), "test.arpa"))
    assert [row[0] for row in found.log10(["a", "b"])] == [
        row[0] for row in model.make(parsed(SRILM)).log10(["a", "b"])
    ]


def test_a_file_that_ends_early_is_refused() -> None:
    with pytest.raises(ConfigError, match="line 16: the file ends where 1 more 2-grams are announced"):
        parsed(SRILM[: SRILM.index("-0.4\tc")])


def test_what_the_words_show_is_how_text_is_read() -> None:
    assert parsed(SRILM).tokeniser.lower
    assert parsed(SRILM).tokeniser.characters
    assert parsed(SRILM.replace("c", "Cat")).tokeniser == training.Tokeniser(lower=False)
