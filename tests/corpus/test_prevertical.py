"""Prevertical and vertical, held against the format's rules and against the package that people read it with."""

import html
import re
from pathlib import Path

import msgspec
import prevert
import pytest

from tests.corpus import samples
from tests.corpus.samples import SAMPLES, Sample
from windrow.corpus import document, prevertical
from windrow.data import Document
from windrow.judge import codes

ATTRIBUTES = "id title length crawl_date modified_date lang lang_diff ip url file_type enc_meta enc_chared".split()
DOC = re.compile(r'<doc( [a-z_]+="[^"<]*")+>')
P = re.compile(r'<p( heading="yes")? class="(good|bad)" cfclass="(good|neargood|short|bad)" langdiff="\d\.\d\d">')
ENTITY = re.compile(r"&(?!(amp|lt|gt|quot);)")


def read(sample: Sample, number: int = 0) -> Document:
    return document.read(samples.line(sample, number), "here")


def written(sample: Sample, **options: bool) -> list[str]:
    return prevertical.prevertical(read(sample), 7, codes.name, **options).decode().splitlines()


def problems(text: str) -> list[str]:
    """What is wrong with a prevertical: structures out of place or empty, blanks, what is not escaped."""
    found, open_, empty = [], "", True
    for number, line in enumerate(text.split("\n")[:-1], 1):
        expected = {"": DOC, "doc": re.compile(rf"{P.pattern}|</doc>"), "p": re.compile(r"</p>|[^<].*")}[open_]
        if not expected.fullmatch(line) or ENTITY.search(line) or line != " ".join(line.split()):
            found.append(f"{number}: {line}")
        if line in ("</doc>", "</p>") and empty:
            found.append(f"{number}: empty structure")
        if line.startswith("<"):
            empty = not line.startswith("</")
            open_ = {"<doc": "doc", "</do": "", "<p c": "p", "<p h": "p", "</p>": "doc"}[line[:4]]
        else:
            empty = False
    return found + (["the end is missing"] if open_ or not text.endswith("\n") else [])


def test_every_sample_is_valid() -> None:
    text = "".join(prevertical.prevertical(read(sample), number, codes.name).decode() for number, sample in enumerate(SAMPLES))
    assert problems(text) == []


@pytest.mark.parametrize(
    "broken", ['<doc id="1">\n</doc>\n', "a\n", '<doc id="1">\n<p class="good" cfclass="good" langdiff="0.10">\na  b\n</p>\n</doc>\n']
)
def test_the_check_finds_what_is_wrong(broken: str) -> None:
    assert problems(broken) != []


def test_a_document_has_the_attributes_of_spiderling_in_their_order() -> None:
    line = written(SAMPLES[0])[0]
    assert re.findall(r' ([a-z_]+)="', line) == ATTRIBUTES
    assert line == (
        '<doc id="7" title="Alte &quot;Mühlen&quot; &amp; &lt;Wind>" length="0-100" crawl_date="2026-11-15 10:44" '
        'modified_date="2020-05-04" lang="German" lang_diff="0.25" ip="192.0.2.1" '
        'url="http://www.wind.example.de/m%C3%BChle?a=1&amp;b=2" file_type="html" enc_meta="utf-8" enc_chared="utf_8">'
    )


def test_a_date_of_change_is_left_out_where_none_is_known() -> None:
    names = re.findall(r' ([a-z_]+)="', written(SAMPLES[2])[0])
    assert names == [name for name in ATTRIBUTES if name != "modified_date"]


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


def test_places_lead_back_to_the_bytes() -> None:
    line = written(SAMPLES[0], places=True)[0]
    assert line.endswith(
        f' warc_filename="{samples.WARC}" warc_offset="0" warc_length="900" digest="ZA6MPPJEFGZ53KWFSLWMF7NDO7RKOWR4" '
        'record_id="&lt;urn:uuid:00000000-0000-4000-8000-000000000000>">'
    )


def test_a_long_title_is_cut_and_a_document_without_text_is_none() -> None:
    found = read(msgspec.structs.replace(SAMPLES[0], title="ä" * 400))
    assert f'title="{"ä" * 300}"' in prevertical.prevertical(found, 1, codes.name).decode()
    assert prevertical.prevertical(read(msgspec.structs.replace(SAMPLES[0], texts=("", " "))), 1, codes.name) == b""


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
    data = b"".join(prevertical.prevertical(one, number, codes.name) for number, one in enumerate(found))
    (tmp_path / "a.prevert").write_bytes(data)
    seen = list(prevert.dataset(str(tmp_path / "a.prevert"), xml=False))
    assert [html.unescape(one.meta["url"]) for one in seen] == [sample.url for sample in SAMPLES]
    assert [one.meta["lang"] for one in seen] == [codes.name(sample.language) for sample in SAMPLES]
    assert [html.unescape(str(one)) for one in seen] == ["".join(f"{text}\n" for text in sample.texts) for sample in SAMPLES]
    for one, sample in zip(seen, SAMPLES, strict=True):
        paragraphs = list(one)
        assert [html.unescape(str(paragraph)) for paragraph in paragraphs] == [f"{text}\n" for text in sample.texts]
        assert [paragraph.meta["class"] for paragraph in paragraphs] == ["good"] * len(sample.texts)
    assert "".join(one.to_prevert() for one in seen).encode() == data


@pytest.mark.parametrize("sample", SAMPLES)
def test_vertical_has_a_token_a_line_and_gives_the_text_back(sample: Sample) -> None:
    found = read(sample)
    lines = prevertical.vertical(found, 7, codes.name).decode().splitlines()
    plain = prevertical.prevertical(found, 7, codes.name).decode().splitlines()
    assert [line for line in lines if line[:2] in ("<d", "<p", "</")] == [line for line in plain if line.startswith("<")]
    texts, glued = [], True
    for line in lines:
        if line.startswith("<p"):
            texts.append("")
            glued = True
        elif line == "<g/>":
            glued = True
        elif not line.startswith("<"):
            assert " " not in line and not ENTITY.search(line)
            texts[-1] += ("" if glued else " ") + html.unescape(line)
            glued = False
    assert texts == list(sample.texts)


def test_text_that_looks_like_markup_stays_text_in_vertical() -> None:
    found = read(msgspec.structs.replace(SAMPLES[0], texts=("<g/> </doc> <p>",)))
    lines = prevertical.vertical(found, 1, codes.name).decode().splitlines()
    assert lines.count("</doc>") == 1 and lines.count("&lt;") == 3
