import html
import re
from pathlib import Path

import msgspec
import prevert

from tests.corpus import samples
from tests.corpus.formats import validator
from tests.corpus.formats.encoded import OPTIONS, as_prevertical, read
from tests.corpus.samples import SAMPLES, Sample
from windrow.corpus.formats.format import FormatOptions
from windrow.judge.language import codes


def written(sample: Sample, options: FormatOptions = OPTIONS) -> list[str]:
    return as_prevertical(read(sample), 7, options).splitlines()


def test_a_document_has_the_attributes_of_spiderling_in_its_order_and_then_our_own() -> None:
    sample = msgspec.structs.replace(SAMPLES[0], author='Ada "A" & <B>', licence="https://l.example/?a=1&b=2")
    line = written(sample)[0]
    assert re.findall(r' ([a-z_]+)="', line) == validator.DOC
    assert line == (
        '<doc id="7" title="Alte &quot;Mühlen&quot; &amp; &lt;Wind>" length="0-100" crawl_date="2026-11-15 10:44" '
        'modified_date="2020-05-04" lang="German" lang_diff="0.25" ip="192.0.2.1" '
        'url="http://www.wind.example.de/m%C3%BChle?a=1&amp;b=2" file_type="html" enc_meta="utf-8" enc_chared="utf_8" '
        'domain="example.de" tld="de" author="Ada &quot;A&quot; &amp; &lt;B>" licence="https://l.example/?a=1&amp;b=2">'
    )


def test_what_a_page_does_not_state_is_left_out() -> None:
    names = re.findall(r' ([a-z_]+)="', written(SAMPLES[2])[0])
    assert names == [name for name in validator.DOC if name not in ("modified_date", "author", "licence")]
    assert re.findall(r' ([a-z_]+)="', written(SAMPLES[4])[0])[-2:] == ["enc_chared", "domain"]  # at an IP address


def test_a_licence_that_only_a_signal_names_is_written() -> None:
    assert written(SAMPLES[5])[0].endswith(' licence="https://l.example/by">')


def test_each_paragraph_is_one_line_with_its_class() -> None:
    assert written(SAMPLES[0])[1:] == [
        '<p heading="yes" class="good" cfclass="short" langdiff="0.25">',
        "Die Mühle",
        "</p>",
        '<p class="good" cfclass="good" langdiff="0.25">',
        'Er sagte: "Wind &amp; Wetter" &lt;hier>.',
        "</p>",
        "</doc>",
    ]


def test_the_length_is_that_of_the_written_text() -> None:
    found = read(msgspec.structs.replace(SAMPLES[0], texts=("a" * 50 + " " * 50 + "b",)))
    assert ' length="0-100" ' in as_prevertical(found, 1)


def test_places_say_where_the_bytes_are() -> None:
    line = written(SAMPLES[0], FormatOptions(codes.name, places=True))[0]
    assert line.endswith(
        f' crawl="crawl" warc_filename="{samples.WARC}" warc_offset="0" warc_length="900" '
        'digest="ZA6MPPJEFGZ53KWFSLWMF7NDO7RKOWR4" record_id="&lt;urn:uuid:00000000-0000-4000-8000-000000000000>">'
    )


def test_a_long_title_is_cut_and_a_document_without_text_gives_nothing() -> None:
    found = read(msgspec.structs.replace(SAMPLES[0], title="ä" * 400))
    assert f'title="{"ä" * 300}"' in as_prevertical(found, 1)
    assert as_prevertical(read(msgspec.structs.replace(SAMPLES[0], texts=("", " "))), 1).encode() == b""


def test_the_package_prevert_reads_the_file(tmp_path: Path) -> None:
    found = [read(sample, number) for number, sample in enumerate(SAMPLES)]
    data = b"".join(as_prevertical(one, number).encode() for number, one in enumerate(found))
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


def test_a_paragraph_has_its_own_difference_where_it_is_known() -> None:
    shares = {"The wind doesn't stop.": 0.875, "Il vento soffia.": None}
    assert [
        line[-16:]
        for line in written(SAMPLES[2], FormatOptions(codes.name, share=lambda text, code: shares[text]))
        if line.startswith("<p")
    ] == [
        'langdiff="0.12">',
        'langdiff="1.00">',
    ]
    assert [line[-16:] for line in written(SAMPLES[2]) if line.startswith("<p")] == [
        'langdiff="0.25">',
        'langdiff="1.00">',
    ]


def test_a_measure_of_whole_documents_replaces_their_score() -> None:
    options = FormatOptions(
        codes.name,
        whole=lambda text, code: 0.4 if (text, code) == ("The wind doesn't stop.\nIl vento soffia.", "eng") else None,
    )
    lines = written(SAMPLES[2], options)
    assert ' lang_diff="0.60" ' in lines[0] and lines[1].endswith('langdiff="0.60">')
    assert ' lang_diff="0.25" ' in written(SAMPLES[0], options)[0]
