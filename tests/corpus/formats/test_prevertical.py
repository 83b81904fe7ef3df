"""Prevertical and vertical, held against the format's rules and against the package that people read it with."""

import html
import re
from pathlib import Path

import msgspec
import prevert
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus import samples, validator
from tests.corpus.samples import SAMPLES, Sample
from tests.corpus.validator import problems
from windrow.corpus import document, prevertical
from windrow.corpus.prevertical import Form
from windrow.data import Document
from windrow.judge.language import codes

FORM = Form(codes.name)
HEAD = (
    '<doc id="1" title="" length="0-100" crawl_date="2026-11-15 10:44" lang="German" lang_diff="0.25" ip="192.0.2.1" '
    'url="http://a.example/" file_type="html" enc_meta="utf-8" enc_chared="utf_8">\n'
)
P = '<p class="good" cfclass="good" langdiff="0.25">\n'


def read(sample: Sample, number: int = 0) -> Document:
    return document.read(samples.line(sample, number), "here")


def written(sample: Sample, form: Form = FORM) -> list[str]:
    return prevertical.prevertical(read(sample), 7, form).decode().splitlines()


def test_every_sample_is_valid() -> None:
    found = [read(sample) for sample in SAMPLES]
    text = "".join(prevertical.prevertical(one, number, FORM).decode() for number, one in enumerate(found))
    assert problems(text) == []
    assert (
        problems(
            "".join(prevertical.vertical(one, number, FORM).decode() for number, one in enumerate(found)), vertical=True
        )
        == []
    )


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


@given(st.lists(TEXT, min_size=1, max_size=4), TEXT, st.sampled_from(["deu", "eng", "zho", "tha", "und"]))
def test_whatever_a_page_holds_the_files_are_valid_and_the_text_comes_back(
    texts: list[str], title: str, language: str
) -> None:
    found = read(Sample("http://a.example/", language, tuple(texts), title))
    plain = prevertical.prevertical(found, 1, FORM).decode()
    tokenised = prevertical.vertical(found, 1, FORM).decode()
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
def test_the_check_finds_what_is_wrong(broken: str) -> None:
    assert problems(HEAD + P + "a b\n</p>\n</doc>\n") == []
    assert problems(broken) != []


@pytest.mark.parametrize(
    "broken", ["a\n", "<s>\n</s>\n", "<s>\na b\n</s>\n", "<s>\na\n<g/>\n</s>\n", "<g/>\n<s>\na\n</s>\n", "<s>\na\n"]
)
def test_the_check_finds_what_is_wrong_in_vertical(broken: str) -> None:
    assert problems(HEAD + P + "<s>\na\n<g/>\n.\n</s>\n<g/>\n<s>\nb\n</s>\n</p>\n</doc>\n", vertical=True) == []
    assert problems(HEAD + P + broken + "</p>\n</doc>\n", vertical=True) != []


def test_a_document_has_the_attributes_of_spiderling_in_their_order() -> None:
    line = written(SAMPLES[0])[0]
    assert re.findall(r' ([a-z_]+)="', line) == validator.DOC
    assert line == (
        '<doc id="7" title="Alte &quot;Mühlen&quot; &amp; &lt;Wind>" length="0-100" crawl_date="2026-11-15 10:44" '
        'modified_date="2020-05-04" lang="German" lang_diff="0.25" ip="192.0.2.1" '
        'url="http://www.wind.example.de/m%C3%BChle?a=1&amp;b=2" file_type="html" enc_meta="utf-8" enc_chared="utf_8">'
    )


def test_a_date_of_change_is_left_out_where_none_is_known() -> None:
    names = re.findall(r' ([a-z_]+)="', written(SAMPLES[2])[0])
    assert names == [name for name in validator.DOC if name != "modified_date"]


def test_paragraphs_are_one_line_each_with_their_class() -> None:
    assert written(SAMPLES[0])[1:] == [
        '<p heading="yes" class="good" cfclass="short" langdiff="0.25">',
        "Die Mühle",
        "</p>",
        '<p class="good" cfclass="good" langdiff="0.25">',
        'Er sagte: "Wind &amp; Wetter" &lt;hier>.',
        "</p>",
        "</doc>",
    ]


def test_length_is_that_of_the_text_as_it_is_written() -> None:
    found = read(msgspec.structs.replace(SAMPLES[0], texts=("a" * 50 + " " * 50 + "b",)))
    assert ' length="0-100" ' in prevertical.prevertical(found, 1, FORM).decode()


def test_places_lead_back_to_the_bytes() -> None:
    line = written(SAMPLES[0], Form(codes.name, places=True))[0]
    assert line.endswith(
        f' warc_filename="{samples.WARC}" warc_offset="0" warc_length="900" digest="ZA6MPPJEFGZ53KWFSLWMF7NDO7RKOWR4" '
        'record_id="&lt;urn:uuid:00000000-0000-4000-8000-000000000000>">'
    )


def test_a_long_title_is_cut_and_a_document_without_text_is_none() -> None:
    found = read(msgspec.structs.replace(SAMPLES[0], title="ä" * 400))
    assert f'title="{"ä" * 300}"' in prevertical.prevertical(found, 1, FORM).decode()
    assert prevertical.prevertical(read(msgspec.structs.replace(SAMPLES[0], texts=("", " "))), 1, FORM) == b""


@pytest.mark.parametrize(
    ("characters", "name"),
    [
        *((0, "0-100"), (99, "0-100"), (100, "100-500"), (500, "500-1k"), (1000, "1k-5k"), (5000, "5k-10k")),
        *((10_000, "10k-100k"), (99_999, "10k-100k"), (100_000, "100k-1M"), (1_000_000, "1M+"), (10**9, "1M+")),
    ],
)
def test_lengths_are_told_in_classes(characters: int, name: str) -> None:
    assert prevertical.length(characters) == name


def test_the_package_prevert_reads_what_is_written(tmp_path: Path) -> None:
    found = [read(sample, number) for number, sample in enumerate(SAMPLES)]
    data = b"".join(prevertical.prevertical(one, number, FORM) for number, one in enumerate(found))
    (tmp_path / "a.prevert").write_bytes(data)
    seen = list(prevert.dataset(str(tmp_path / "a.prevert"), xml=False))
    assert [html.unescape(one.meta["url"]) for one in seen] == [sample.url for sample in SAMPLES]
    assert [one.meta["lang"] for one in seen] == [codes.name(sample.language) for sample in SAMPLES]
    assert [html.unescape(str(one)) for one in seen] == [
        "".join(f"{text}\n" for text in sample.texts) for sample in SAMPLES
    ]
    for one, sample in zip(seen, SAMPLES, strict=True):
        paragraphs = list(one)
        assert [html.unescape(str(paragraph)) for paragraph in paragraphs] == [f"{text}\n" for text in sample.texts]
        assert [paragraph.meta["class"] for paragraph in paragraphs] == ["good"] * len(sample.texts)
    assert "".join(one.to_prevert() for one in seen).encode() == data


@pytest.mark.parametrize("sample", SAMPLES)
def test_vertical_has_a_token_a_line_and_gives_the_text_back(sample: Sample) -> None:
    found = read(sample)
    lines = prevertical.vertical(found, 7, FORM).decode().splitlines()
    plain = prevertical.prevertical(found, 7, FORM).decode().splitlines()
    assert [line for line in lines if line[:2] in ("<d", "<p", "</") and line != "</s>"] == [
        line for line in plain if line.startswith("<")
    ]
    assert ["".join(sentences) for sentences in validator.texts("\n".join(lines))] == list(sample.texts)


def test_sentences_are_structures_with_glue_between_them_where_there_is_no_blank() -> None:
    found = read(Sample("http://a.example/", "zho", ("風吹。Yes! So.",)))
    assert prevertical.vertical(found, 1, FORM).decode().splitlines()[2:-2] == (
        "<s> 風 <g/> 吹 <g/> 。 </s> <g/> <s> Yes <g/> ! </s> <s> So <g/> . </s>".split()
    )


def test_words_are_found_by_whoever_is_asked() -> None:
    found = read(Sample("http://a.example/", "zho", ("風吹",)))
    asked: list[tuple[str, str]] = []

    def cut(run: str, language: str) -> list[str]:
        asked.append((run, language))
        return [run]

    assert "\n<s>\n風吹\n</s>\n" in prevertical.vertical(found, 1, Form(codes.name, cut=cut)).decode()
    assert asked == [("風吹", "zho")]


def test_a_paragraph_has_its_own_difference_where_it_can_be_told() -> None:
    shares = {"The wind doesn't stop.": 0.875, "Il vento soffia.": None}
    assert [
        line[-16:]
        for line in written(SAMPLES[2], Form(codes.name, share=lambda text, code: shares[text]))
        if line.startswith("<p")
    ] == [
        'langdiff="0.12">',
        'langdiff="1.00">',
    ]
    assert [line[-16:] for line in written(SAMPLES[2]) if line.startswith("<p")] == [
        'langdiff="0.25">',
        'langdiff="1.00">',
    ]


def test_a_document_may_be_measured_anew_and_its_paragraphs_with_it() -> None:
    form = Form(
        codes.name,
        whole=lambda text, code: 0.4 if (text, code) == ("The wind doesn't stop.\nIl vento soffia.", "eng") else None,
    )
    lines = written(SAMPLES[2], form)
    assert ' lang_diff="0.60" ' in lines[0] and lines[1].endswith('langdiff="0.60">')
    assert ' lang_diff="0.25" ' in written(SAMPLES[0], form)[0]


def test_text_that_looks_like_markup_stays_text_in_vertical() -> None:
    found = read(msgspec.structs.replace(SAMPLES[0], texts=("<g/> </doc> <p> <s>",)))
    lines = prevertical.vertical(found, 1, FORM).decode().splitlines()
    assert lines.count("</doc>") == 1 and lines.count("<s>") == 1 and lines.count("&lt;") == 4
