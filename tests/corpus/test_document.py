import json
import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.config import ConfigError
from windrow.corpus import document
from windrow.corpus.document import Source
from windrow.records import DocumentPlace, Mark, Page, Paragraph, Place, Signal

PLACE = Place("warc/windrow-n0-20261115104421-00000.warc.gz", 1234, 567)
SOURCE = Source(
    id="<urn:uuid:d7ae5c10-e6b3-4d27-967d-34780c58ba39>",
    url="http://example.de/a?b=c",
    time=1794739461.123,
    ip="192.0.2.7",
    place=PLACE,
    digest="ZA6MPPJEFGZ53KWFSLWMF7NDO7RKOWR4",
    language="deu",
    scores={"language": 0.97, "quality": 0.5},
)
PAGE = Page(
    title="Über »Wind«",
    author="A. B.",
    date="2024-02-29",
    licence="https://l.example/by",
    language="de-AT",
    charset="windows-1252",
)
PARAGRAPHS = (
    Paragraph("Eine Überschrift", "good", True, "html.body.h1", "short"),
    Paragraph('Er sagte: "Ja\\Nein".', "good", False, "html.body.p", "good"),
    Paragraph("An English sentence.", "bad", False, "html.body.p", "neargood"),
)
NOINDEX = Signal("meta", "noindex", "", "robots")
USAGE = Signal("robots.txt", "train-ai", "n", "content-usage")


def make(kept: list[bool] | None = None, signals: tuple[Signal, ...] = ()) -> bytes:
    draft = document.draft(PAGE, PARAGRAPHS, "deu", ["deu", "deu", "eng"], [NOINDEX])
    return document.line(draft, SOURCE, kept, signals)


def test_a_line_is_read_back_with_everything_that_the_page_states() -> None:
    found = document.read(make(), "here")
    assert (found.format, found.id, found.url, found.ip) == (document.FORMAT, SOURCE.id, SOURCE.url, SOURCE.ip)
    assert found.time == "2026-11-15T10:44:21.123Z"
    assert found.place == DocumentPlace(PLACE.file, PLACE.offset, PLACE.length, SOURCE.digest)
    assert (found.title, found.author, found.date, found.charset) == (
        "Über »Wind«",
        "A. B.",
        "2024-02-29",
        "windows-1252",
    )
    assert (found.declared, found.licence, found.language, found.scores) == (
        "de-AT",
        "https://l.example/by",
        "deu",
        SOURCE.scores,
    )
    assert found.signals == (NOINDEX,)
    assert found.paragraphs == (
        Paragraph("Eine Überschrift", "good", True, "", "short"),
        Paragraph('Er sagte: "Ja\\Nein".', "good", False, "", "good"),
        Paragraph("An English sentence.", "bad", False, "", "neargood", "eng"),
    )


def test_a_line_has_the_documented_members() -> None:
    line = make()
    found = json.loads(line)
    assert list(found) == [
        *("format", "id", "url", "time", "place", "ip", "language", "scores"),
        *("title", "author", "date", "charset", "declared", "licence", "signals", "paragraphs"),
    ]
    assert found["paragraphs"] == [
        {"text": "Eine Überschrift", "class": "good", "own": "short", "heading": True},
        {"text": 'Er sagte: "Ja\\Nein".', "class": "good", "own": "good"},
        {"text": "An English sentence.", "class": "bad", "own": "neargood", "language": "eng"},
    ]
    assert line.endswith(b"]}\n")
    assert line.count(b"\n") == 1


def test_what_a_page_says_of_itself_is_a_member_if_there_is_any() -> None:
    page = msgspec.structs.replace(
        PAGE, site="Die Seite", description='Kurz "gesagt"', tags=("wind", "mühle"), image="http://img.example/1.png"
    )
    draft = document.draft(page, PARAGRAPHS, "deu", ["deu"] * 3, [NOINDEX])
    line = document.line(draft, SOURCE, None, [NOINDEX])
    members = list(json.loads(line))
    place = members.index("licence") + 1
    assert members[place : place + 5] == ["site", "description", "tags", "image", "signals"]
    found = document.read(line, "here")
    assert (found.site, found.description, found.tags, found.image) == (
        *("Die Seite", 'Kurz "gesagt"', ("wind", "mühle"), "http://img.example/1.png"),
    )
    assert found.signals == (NOINDEX, NOINDEX)
    assert document.signals(draft) == [NOINDEX]


def test_the_language_of_the_page_is_a_member_if_it_differs() -> None:
    draft = document.draft(PAGE, PARAGRAPHS, "deu", ["deu"] * 3, [])
    line = document.line(draft, msgspec.structs.replace(SOURCE, page_language="eng"))
    found = document.read(line, "here")
    assert (found.language, found.page_language) == ("deu", "eng")
    assert document.read(make(), "here").page_language == ""


def test_paragraphs_that_are_not_kept_are_left_out() -> None:
    found = document.read(make([False, True, False]), "here")
    assert [paragraph.text for paragraph in found.paragraphs] == ['Er sagte: "Ja\\Nein".']
    assert document.read(make([False] * 3), "here").paragraphs == ()


def test_sizes_count_the_bytes_of_the_text_in_utf_8() -> None:
    draft = document.draft(PAGE, PARAGRAPHS, "deu", ["deu"] * 3, [])
    assert draft.sizes == [len(paragraph.text.encode()) for paragraph in PARAGRAPHS]


@pytest.mark.parametrize("own", [(), (NOINDEX,), (NOINDEX, USAGE)])
@pytest.mark.parametrize("further", [(), (USAGE,), (USAGE, NOINDEX)])
def test_signals_of_the_origin_follow_those_of_the_page(own: tuple[Signal, ...], further: tuple[Signal, ...]) -> None:
    line = document.line(document.draft(PAGE, (), "deu", (), own), SOURCE, None, further)
    assert document.read(line, "here").signals == own + further


@pytest.mark.parametrize(
    "own",
    [(), (Signal("meta", "noai"),), (Signal("header", "tdm-reservation", "0"), Signal("meta", "license", "http://x/"))],
)
def test_the_signals_of_a_page_can_be_read_from_its_draft(own: tuple[Signal, ...]) -> None:
    page = Page(title='"signals":[{"source":"x"}],"signals":[', author='\\"signals":[')
    assert document.signals(document.draft(page, (), "deu", (), own)) == list(own)


def test_a_draft_from_a_worker_is_decoded_unchanged() -> None:
    draft = document.draft(PAGE, PARAGRAPHS, "deu", ["deu"] * 3, [NOINDEX])
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(draft), type=document.Draft) == draft


def test_scores_that_json_cannot_represent_are_left_out() -> None:
    source = msgspec.structs.replace(
        SOURCE, scores={"a": math.nan, "b": 0.5, "c": math.inf}, url="http://example.de/:null"
    )
    assert document.read(document.line(document.draft(PAGE, (), "deu", (), ()), source), "here").scores == {"b": 0.5}


def test_a_url_that_contains_null_stays_unchanged() -> None:
    source = msgspec.structs.replace(SOURCE, url="http://example.de/a:null")
    assert document.read(document.line(document.draft(PAGE, (), "deu", (), ()), source), "here").url == source.url


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("a\x00b\x07c", "abc"),
        ("a\x00 \x00 b", "a b"),
        ("a\nb\u2028c\u2029d\x85e\tf", "a b c d e f"),
        ("del\x7fete\x9b", "delete"),
        ("not a character \uffff\ufffe.", "not a character ."),
        ("soft\u00adhyphen and می\u200cخواهم stay", "soft\u00adhyphen and می\u200cخواهم stay"),
        ("§ 1 « a\u00a0b » é", "§ 1 « a\u00a0b » é"),
    ],
)
def test_characters_that_are_not_text_never_reach_the_line(text: str, clean: str) -> None:
    page = Page(
        title=text, author=text, language=text, licence=text, site=text, description=text, tags=(text,), image=text
    )
    signal = Signal("meta", "tdm-policy", text, text)
    draft = document.draft(page, [Paragraph(text), Paragraph("ä")], "deu", ["deu", "deu"], [signal])
    found = document.read(document.line(draft, SOURCE, None, [signal]), "here")
    assert [paragraph.text for paragraph in found.paragraphs] == [clean, "ä"]
    assert draft.sizes == [len(clean.encode()), 2]
    assert {found.title, found.author, found.declared, found.licence} == {clean}
    assert {found.site, found.description, *found.tags, found.image} == {clean}
    assert {signal.value for signal in found.signals} == {clean}


@given(st.lists(st.text(st.characters(codec=None))), st.text(st.characters(codec=None)))
def test_any_text_gives_one_line_of_utf_8_without_control_characters(texts: list[str], title: str) -> None:
    draft = document.draft(Page(title=title), [Paragraph(text) for text in texts], "deu", ["deu"] * len(texts), ())
    line = document.line(draft, SOURCE)
    assert line.decode().splitlines() == [line.decode()[:-1]]
    found = document.read(line, "here")
    assert len(found.paragraphs) == len(texts)
    assert all(ord(character) >= 32 for paragraph in found.paragraphs for character in paragraph.text)
    assert draft.sizes == [len(paragraph.text.encode()) for paragraph in found.paragraphs]


FORMED = Paragraph(
    'if "a\\n":\tb',
    own="good",
    structure="ol:2 li:3 pre:1",
    lines='if "a\\n":\n\tb',
    marks=(Mark(0, 2, "strong"), Mark(3, 6, "link", "http://a.test/?b&c")),
)


def test_structure_lines_and_marks_are_read_back_and_left_out_where_there_are_none() -> None:
    one = msgspec.structs.replace(FORMED, text=FORMED.text.replace("\t", " "))
    line = document.line(document.draft(PAGE, [one, PARAGRAPHS[1]], "deu", ["deu"] * 2, ()), SOURCE)
    found = document.read(line, "here")
    assert found.paragraphs == (one, msgspec.structs.replace(PARAGRAPHS[1], path=""))
    assert found.text == f"{one.text}\n{PARAGRAPHS[1].text}"
    first, second = json.loads(line)["paragraphs"]
    assert (first["structure"], first["lines"]) == (one.structure, one.lines)
    assert first["marks"] == [[0, 2, "strong", ""], [3, 6, "link", "http://a.test/?b&c"]]
    assert second.keys() == {"text", "class", "own"}


def test_line_ends_and_tabs_are_text_in_lines_and_nowhere_else() -> None:
    changed = msgspec.structs.replace(FORMED, structure="pre:1\n")
    draft = document.draft(PAGE, [changed, Paragraph("a\nb", lines="a\nb")], "deu", ["deu"] * 2, ())
    first, second = document.read(document.line(draft, SOURCE), "here").paragraphs
    assert (first.text, first.structure, first.lines) == ('if "a\\n": b', "pre:1", FORMED.lines)
    assert first.marks == ()  # they were places in another text
    assert (second.text, second.lines) == ("a b", "a\nb")


@pytest.mark.parametrize(
    ("lines", "clean"),
    [
        ("a\n\tb", "a\n\tb"),
        ("a\x00\n\x1b  b\x7f", "a\n  b"),
        ("a\r\n\x0b b\u2028c", "a\n  b c"),
        ("half \ud83d\n of a pair", "half \ufffd\n of a pair"),
        ("a\x9b\n\uffffb", "a\nb"),
    ],
)
def test_characters_that_are_not_text_never_reach_the_lines(lines: str, clean: str) -> None:
    draft = document.draft(PAGE, [Paragraph("a b", lines=lines), Paragraph("ä")], "deu", ["deu"] * 2, ())
    found = document.read(document.line(draft, SOURCE), "here").paragraphs
    assert [(one.text, one.lines) for one in found] == [("a b", clean), ("ä", "")]


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
def test_any_lines_give_one_line_of_utf_8(text: str, lines: str) -> None:
    line = document.line(document.draft(PAGE, [Paragraph(text, lines=lines)], "deu", ["deu"], ()), SOURCE)
    assert line.decode().splitlines() == [line.decode()[:-1]]
    (found,) = document.read(line, "here").paragraphs
    assert all(ord(character) >= 32 for character in found.text)
    assert all(ord(character) >= 32 or character in "\n\t" for character in found.lines)


def test_a_time_has_milliseconds() -> None:
    assert document.moment(0) == "1970-01-01T00:00:00.000Z"
    assert document.moment(1794739461.9996) == "2026-11-15T10:44:22.000Z"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"format": 2, "id": "x"}', ("format 2", "newer Windrow", "install")),
        (make().replace(b'"format":1', b'"format":7'), ("format 7", "newer Windrow")),
        (make().replace(b'"format":1', b'"format":0'), ("format 0", "never wrote")),
        (b'{"text": "a", "id": "b", "metadata": {}}', ("no member 'format'", "name a crawl's directory")),
        (b"[1, 2]", ("no member 'format'",)),
        (b'{"format": 1, "url": "x"}', ("not a document as Windrow writes it", "`id`")),
        (make()[:90], ("not a JSON document", "damaged")),
        (b"\x00\xff", ("not a JSON document",)),
        (b"[" * 100_000, ("not a JSON document",)),
    ],
)
def test_a_line_that_is_not_a_document_is_refused_with_its_place(line: bytes, words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as caught:
        document.read(line, "a.jsonl.gz, line 3")
    assert str(caught.value).startswith("a.jsonl.gz, line 3: ")
    assert all(word in str(caught.value) for word in words)


def test_a_member_added_by_a_later_version_is_ignored() -> None:
    assert document.read(make().replace(b'"format":1', b'"format":1,"added":[{}]'), "here").url == SOURCE.url
