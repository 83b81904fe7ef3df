import msgspec
import pytest

from tests.corpus.formats import validator
from tests.corpus.formats.encoded import as_prevertical, as_vertical, read
from tests.corpus.samples import SAMPLES, Sample
from windrow.corpus.formats.format import FormatOptions
from windrow.judge.language import codes


@pytest.mark.parametrize("sample", SAMPLES)
def test_vertical_has_one_token_per_line_and_the_text_can_be_read_back(sample: Sample) -> None:
    found = read(sample)
    lines = as_vertical(found, 7).splitlines()
    plain = as_prevertical(found, 7).splitlines()
    assert [line for line in lines if line[:2] in ("<d", "<p", "</") and line != "</s>"] == [
        line for line in plain if line.startswith("<")
    ]
    assert ["".join(sentences) for sentences in validator.texts("\n".join(lines))] == list(sample.texts)


def test_glue_joins_two_sentences_without_a_space_between_them() -> None:
    found = read(Sample("http://a.example/", "zho", ("風吹。Yes! So.",)))
    assert as_vertical(found, 1).splitlines()[2:-2] == (
        "<s> 風 <g/> 吹 <g/> 。 </s> <g/> <s> Yes <g/> ! </s> <s> So <g/> . </s>".split()
    )


def test_the_given_segmenter_splits_scripts_without_spaces() -> None:
    found = read(Sample("http://a.example/", "zho", ("風吹",)))
    calls: list[tuple[str, str]] = []

    def cut(run: str, language: str) -> list[str]:
        calls.append((run, language))
        return [run]

    assert "\n<s>\n風吹\n</s>\n" in as_vertical(found, 1, FormatOptions(codes.name, cut=cut))
    assert calls == [("風吹", "zho")]


def test_text_that_looks_like_markup_stays_text_in_vertical() -> None:
    found = read(msgspec.structs.replace(SAMPLES[0], texts=("<g/> </doc> <p> <s>",)))
    lines = as_vertical(found, 1).splitlines()
    assert lines.count("</doc>") == 1 and lines.count("<s>") == 1 and lines.count("&lt;") == 4
