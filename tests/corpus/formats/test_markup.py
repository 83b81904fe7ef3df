"""Prevertical and vertical together, checked against the rules of the formats."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.formats import validator
from tests.corpus.formats.encoded import as_prevertical, as_vertical, read
from tests.corpus.formats.validator import problems
from tests.corpus.samples import SAMPLES, Sample
from windrow.corpus.formats import markup

HEAD = (
    '<doc id="1" title="" length="0-100" crawl_date="2026-11-15 10:44" lang="German" lang_diff="0.25" ip="192.0.2.1" '
    'url="http://a.example/" file_type="html" enc_meta="utf-8" enc_chared="utf_8">\n'
)
P = '<p class="good" cfclass="good" langdiff="0.25">\n'


def test_every_sample_gives_valid_files() -> None:
    found = [read(sample) for sample in SAMPLES]
    text = "".join(as_prevertical(one, number) for number, one in enumerate(found))
    assert problems(text) == []
    assert problems("".join(as_vertical(one, number) for number, one in enumerate(found)), vertical=True) == []


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


@given(st.lists(TEXT, min_size=1, max_size=4), TEXT, st.sampled_from(["deu", "eng", "zho", "tha", "und"]))
def test_any_text_gives_valid_files_from_which_it_can_be_read_back(texts: list[str], title: str, language: str) -> None:
    found = read(Sample("http://a.example/", language, tuple(texts), title))
    plain = as_prevertical(found, 1)
    tokenised = as_vertical(found, 1)
    assert problems(plain) == [] and problems(tokenised, vertical=True) == []
    lines = [html.unescape(line) for line in plain.split("\n") if line and not line.startswith("<")]
    assert ["".join(sentences) for sentences in validator.texts(tokenised)] == lines


@pytest.mark.parametrize(
    "broken",
    [
        "a\n",
        HEAD + "</doc>\n",
        HEAD + P + "</p>\n</doc>\n",
        HEAD + P + "a  b\n</p>\n</doc>\n",
        HEAD + P + "a & b\n</p>\n</doc>\n",
        HEAD + P + "a\nb\n</p>\n</doc>\n",
        HEAD + P + "a\n</p>\n",
        HEAD + P + "a\n</p>\n</doc>",
        HEAD + P + f"{'a' * 100}\n</p>\n</doc>\n",
        HEAD + "a\n</doc>\n",
        HEAD.replace('title=""', 'title="a & b"') + P + "a\n</p>\n</doc>\n",
        HEAD.replace(' title=""', "") + P + "a\n</p>\n</doc>\n",
        HEAD.replace('id="1" title=""', 'title="" id="1"') + P + "a\n</p>\n</doc>\n",
        HEAD + P.replace("0.25", "0.2") + "a\n</p>\n</doc>\n",
    ],
)
def test_the_validator_finds_errors(broken: str) -> None:
    assert problems(HEAD + P + "a b\n</p>\n</doc>\n") == []
    assert problems(broken) != []


@pytest.mark.parametrize(
    "broken", ["a\n", "<s>\n</s>\n", "<s>\na b\n</s>\n", "<s>\na\n<g/>\n</s>\n", "<g/>\n<s>\na\n</s>\n", "<s>\na\n"]
)
def test_the_validator_finds_errors_in_vertical(broken: str) -> None:
    assert problems(HEAD + P + "<s>\na\n<g/>\n.\n</s>\n<g/>\n<s>\nb\n</s>\n</p>\n</doc>\n", vertical=True) == []
    assert problems(HEAD + P + broken + "</p>\n</doc>\n", vertical=True) != []


@pytest.mark.parametrize(
    ("characters", "name"),
    [
        *((0, "0-100"), (99, "0-100"), (100, "100-500"), (500, "500-1k"), (1000, "1k-5k"), (5000, "5k-10k")),
        *((10_000, "10k-100k"), (99_999, "10k-100k"), (100_000, "100k-1M"), (1_000_000, "1M+"), (10**9, "1M+")),
    ],
)
def test_lengths_are_written_as_classes(characters: int, name: str) -> None:
    assert markup.length(characters) == name
