from importlib import resources

from windrow.corpus.segment import abbreviations
from windrow.judge.language import codes

ROWS = [
    line.split("\t")
    for line in (resources.files("windrow.corpus.segment") / "abbreviations.tsv").read_text("utf-8").splitlines()
]


def test_every_row_has_a_known_language_and_kind_and_no_pair_occurs_twice() -> None:
    named = [(language, kind) for language, kind, _ in ROWS]
    assert len(set(named)) == len(named) and {kind for _, kind in named} == set(abbreviations.KINDS)
    assert all(language == "und" or codes.find(language) == language for language, _ in named)
    assert all(word == word.lower() and not word.endswith(".") for _, _, words in ROWS for word in words.split())


def test_no_word_has_two_kinds_that_exclude_each_other() -> None:
    for language in {row[0] for row in ROWS}:
        words = abbreviations.of(language)
        assert not words.before & (words.after | words.closing), language


def test_a_language_without_a_list_uses_that_of_a_close_language_or_the_shared_one() -> None:
    assert abbreviations.of("nno").before == abbreviations.of("nob").before != abbreviations.of("und").before
    assert abbreviations.of("xho").shortened == abbreviations.of("und").shortened
    assert "dr" in abbreviations.of("und").before
