"""`windrow extract FILE…`: the forms, files and archives, errors and exit codes."""

import gzip
import json
import subprocess
import sys
import xml.etree.ElementTree as etree
from pathlib import Path

import pytest

from tests.corpus.render import oracle
from tests.extraction.evaluation.test_files import NAMES, PAGE, STORY, extractor, windrow
from tests.jobs import warcs
from windrow.extraction.readers import Reader, ReaderTable
from windrow.jobs.extract import drawing
from windrow.jobs.extract.drawing import DrawOptions
from windrow.jobs.inputs import pages
from windrow.records import Capture, Mark, Page, Paragraph

EMPTY = b"<!doctype html><title>Nothing</title>"
PARAGRAPHS = (
    Paragraph("The mill", heading=True, structure="title"),
    Paragraph("It turns.", marks=(Mark(0, 2, "link", "http://b.example/it"), Mark(3, 8, "em"))),
    Paragraph("one", structure="ul:1 li:1"),
    Paragraph("menu", "bad"),
    Paragraph("Nice!", "comment"),
)


def read(capture: Capture) -> Page:
    """Return the same page for every capture, but no text for an empty one."""
    found = PARAGRAPHS if b"<p>" in capture.body else ()
    return Page(
        title="The mill",
        site="Mills",
        tags=("wind",),
        description="Of mills",
        paragraphs=found,
        language="en",
        doubtful=b"doubtful" in capture.body,
    )


READER = Reader(("text/html",), read)
TABLE = ReaderTable({"text/html": READER}, READER, "windrow")


def drawn(folder: Path, names: list[str], **options: object) -> tuple[str, list[str]]:
    """Return what is written about these files of a folder, and the notes."""
    notes: list[str] = []
    output = folder / "out"
    chosen = DrawOptions(files=[str(folder / name) for name in names], output=output, **options)  # type: ignore[arg-type]
    drawing.check(chosen)
    drawing.run(chosen, TABLE, lambda count: None, notes.append)
    return output.read_text("utf-8").replace(f"{folder}/", ""), [note.replace(f"{folder}/", "") for note in notes]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.html", "b.html"):
        (tmp_path / name).write_bytes(PAGE)
    (tmp_path / "empty.html").write_bytes(EMPTY)
    (tmp_path / "x.pdf").write_bytes(b"%PDF-1.7")
    records = [warcs.record("http://a.example/1", PAGE), warcs.record("http://a.example/2", EMPTY)]
    warcs.write(tmp_path / "a.warc.gz", records)
    return tmp_path


def test_text_is_one_paragraph_per_line(folder: Path) -> None:
    assert drawn(folder, ["a.html"]) == ("The mill\nIt turns.\none\nNice!\n", [])
    assert drawn(folder, ["a.html"], title=False)[0] == "It turns.\none\nNice!\n"


def test_links_of_text_are_listed_below_it(folder: Path) -> None:
    assert drawn(folder, ["a.html"], links=True)[0].endswith("Nice!\n\nhttp://b.example/it\n")


def test_several_files_are_separated_as_head_does(folder: Path) -> None:
    text = "The mill\nIt turns.\none\nNice!\n"
    assert drawn(folder, ["a.html", "b.html"])[0] == f"==> a.html <==\n{text}\n==> b.html <==\n{text}"


def test_a_page_without_main_text_is_noted(folder: Path) -> None:
    for form in ("text", "markdown"):
        assert drawn(folder, ["empty.html"], form=form) == ("", ["empty.html: no main text"])
    row = json.loads(drawn(folder, ["empty.html"], form="jsonl")[0])
    assert (row["text"], row["paragraphs"], row["title"]) == ("", [], "The mill")


def test_a_page_that_may_have_no_main_text_is_marked_and_noted(folder: Path) -> None:
    (folder / "contents.html").write_bytes(PAGE + b"<!-- doubtful -->")
    text, notes = drawn(folder, ["contents.html", "a.html"], form="jsonl")
    assert [json.loads(line)["doubtful"] for line in text.splitlines()] == [True, False]
    assert notes == ["contents.html: perhaps no main text"]


def test_the_pages_of_an_archive_have_their_url_and_time(folder: Path) -> None:
    text, notes = drawn(folder, ["a.warc.gz"], form="jsonl")
    rows = [json.loads(line) for line in text.splitlines()]
    assert [(row["path"], row["url"], row["time"]) for row in rows] == [
        ("a.warc.gz", "http://a.example/1", "2024-05-06T07:08:09.000Z"),
        ("a.warc.gz", "http://a.example/2", "2024-05-06T07:08:09.000Z"),
    ]
    assert notes == ["a.warc.gz: no main text in 1 of 2 pages"]
    assert drawn(folder, ["a.warc.gz"])[0].startswith("==> http://a.example/1 <==\nThe mill\n")


def test_jsonl_has_every_field(folder: Path) -> None:
    row = json.loads(drawn(folder, ["a.html"], form="jsonl", links=True, url="http://A.example/mill")[0])
    assert row["url"] == "http://a.example/mill"
    assert (row["site"], row["tags"], row["description"], row["image"]) == ("Mills", ["wind"], "Of mills", "")
    assert row["text"] == "The mill\nIt turns.\none\nNice!"
    assert row["paragraphs"] == [
        {"text": "The mill", "class": "good", "heading": True, "structure": "title"},
        {"text": "It turns.", "class": "good", "marks": [[0, 2, "link", "http://b.example/it"], [3, 8, "em", ""]]},
        {"text": "one", "class": "good", "structure": "ul:1 li:1"},
        {"text": "Nice!", "class": "comment"},
    ]
    assert "marks" not in drawn(folder, ["a.html"], form="jsonl")[0]


def test_markdown_shows_emphasis_and_on_request_links(folder: Path) -> None:
    lines = "# The mill\n\nIt _turns_.\n\n- one\n\n## Comments\n\nNice!\n"
    assert drawn(folder, ["a.html"], form="markdown")[0] == lines
    assert "[It](http://b.example/it) _turns_." in drawn(folder, ["a.html"], form="markdown", links=True)[0]
    assert drawn(folder, ["a.html"], form="markdown", title=False)[0] == lines.removeprefix("# The mill\n\n")


def test_several_pages_in_markdown_are_separated_by_a_comment(folder: Path) -> None:
    (folder / "--><b>.html").write_bytes(PAGE)
    text = drawn(folder, ["a.html", "--><b>.html"], form="markdown")[0]
    assert text.startswith("<!-- a.html -->\n\n# The mill")
    comments = [block.text for block in oracle.blocks(text) if block.where == "html_block"]
    assert comments == ["<!-- a.html -->", "<!-- - -&gt;<b&gt;.html -->"]


def test_several_pages_in_tei_are_a_corpus(folder: Path) -> None:
    root = etree.fromstring(drawn(folder, ["a.html", "a.warc.gz"], form="tei")[0])
    assert [child.tag.rpartition("}")[2] for child in root] == ["teiHeader", "TEI", "TEI", "TEI"]
    assert etree.fromstring(drawn(folder, ["a.html"], form="tei")[0]).tag.endswith("}TEI")


def test_several_pages_in_html_are_articles(folder: Path) -> None:
    text = drawn(folder, ["a.html", "a.warc.gz"], form="html")[0]
    assert (text.count("<article"), text.count("</html>"), text.count("<!DOCTYPE")) == (3, 1, 1)


def test_an_output_may_be_compressed_and_an_input_is_never_overwritten(folder: Path) -> None:
    options = DrawOptions(files=[str(folder / "a.html")], output=folder / "out.txt.gz")
    drawing.run(options, TABLE, lambda count: None, print)
    assert gzip.decompress((folder / "out.txt.gz").read_bytes()).startswith(b"The mill\n")
    found = windrow("extract", str(folder / "a.html"), "-o", str(folder / "a.html"))
    assert (found.returncode, (folder / "a.html").read_bytes()) == (2, PAGE)
    assert b"is an input too; name another file with -o" in found.stderr


def test_the_other_files_are_written_if_one_cannot_be_read(folder: Path) -> None:
    names = ["a.html", "x.pdf", "none.html", "b.html"]
    found = windrow("extract", "--format", "jsonl", *(str(folder / name) for name in names))
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    assert [Path(row["path"]).name for row in rows] == ["a.html", "b.html"]
    lines = found.stderr.decode().splitlines()
    assert found.returncode == 2 and len(lines) == 2
    assert lines[0].startswith(f"windrow: {folder / 'x.pdf'} is a PDF file") and "none.html" in lines[1]


@pytest.mark.parametrize("form", ["tei", "html"])
def test_an_archive_that_is_damaged_gives_a_whole_document_and_exit_code_2(form: str, folder: Path) -> None:
    path = folder / "a.warc.gz"
    path.write_bytes(path.read_bytes()[:-20])
    found = windrow("extract", "--format", form, str(path))
    assert found.returncode == 2 and b"all intact pages were read" in found.stderr
    assert found.stdout.decode().endswith("</teiCorpus>\n" if form == "tei" else "</html>\n")
    assert STORY.encode() in found.stdout


def test_a_failed_command_leaves_no_output(folder: Path) -> None:
    found = windrow("extract", str(folder / "x.pdf"), "-o", str(folder / "out"))
    assert (found.returncode, list(folder.glob("out*"))) == (2, [])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.html"], "cannot read FOLDER/none.html: No such file or directory; check the path and its permissions"),
        (["x.pdf"], "FOLDER/x.pdf is a PDF file, not an HTML page; name a file of HTML, or a WARC file"),
        (
            ["a.html", "b.html", "--url", "http://a.example/"],
            "--url http://a.example/ is the URL of one page; name one",
        ),
        (["a.html", "--url", "a.example"], "the URL 'a.example' is not an http or https URL; write it as"),
        (
            ["a.warc.gz", "--url", "http://a.example/"],
            "FOLDER/a.warc.gz is a WARC file, whose pages have URLs; leave out",
        ),
        (["a.html", "--format", "md"], "--format 'md' is unknown; it must be one of text, markdown, jsonl, tei, html"),
        (["a.html", "-o", "FOLDER"], "FOLDER is a directory; name a file with -o"),
        (["a.html", "-o", "FOLDER/no/x"], "there is no folder FOLDER/no for the output; create it, or name another"),
        (["a.html", "-o", "FOLDER/x.zip"], "FOLDER/x.zip: files with the suffix .zip cannot be written; end the name"),
    ],
)
def test_a_mistake_is_one_sentence_with_exit_code_2(arguments: list[str], words: str, folder: Path) -> None:
    given = [str(folder / one) if one.endswith((".html", ".pdf", ".gz")) else one for one in arguments]
    found = windrow("extract", *(one.replace("FOLDER", str(folder)) for one in given))
    assert (found.returncode, found.stdout, found.stderr.count(b"\n")) == (2, b"", 1), found
    said = found.stderr.decode().removeprefix("windrow: ").replace(str(folder), "FOLDER")
    assert said.startswith(words), said


@pytest.mark.parametrize("form", drawing.FORMS)
def test_every_form_has_the_story_and_not_the_menu(form: str, folder: Path) -> None:
    found = windrow("extract", "--format", form, str(folder / "a.html"))
    assert (found.returncode, found.stderr) == (0, b"")
    assert STORY in found.stdout.decode() and "imprint" not in found.stdout.decode()


@pytest.mark.parametrize("name", NAMES)
def test_every_extractor_keeps_the_story_and_drops_the_menu(name: str, folder: Path) -> None:
    found = windrow("extract", "--extractor", name, "--format", "jsonl", str(folder / "a.html"))
    row = json.loads(found.stdout)
    assert (row["path"], row["title"], row["language"]) == (str(folder / "a.html"), "The mill", "en")
    assert "The old mill by the river" in row["text"] and "imprint" not in row["text"]


@pytest.mark.parametrize("body", [b"", b"\0\xff" * 50, b"%PDF-1.7 x", b"<p>" * 5000])
@pytest.mark.parametrize("name", NAMES)
def test_a_body_that_is_not_a_page_has_no_text(name: str, body: bytes) -> None:
    assert not any(found.kind == "good" for found in extractor(name)(pages.of_html(None, body)).paragraphs)


@pytest.mark.parametrize("name", NAMES)
def test_the_date_is_found_in_the_text_if_the_page_declares_none(name: str) -> None:
    page = PAGE.replace(b"<ul>", b"<h1>The mill</h1><p>6 May 2024</p><ul>")
    assert extractor(name)(pages.of_html(None, page)).date == "2024-05-06"
    declared = b"<meta name=date content=2020-01-02>" + page
    assert extractor(name)(pages.of_html(None, declared)).date == "2020-01-02"


def test_the_command_reads_files_and_standard_input(folder: Path) -> None:
    found = windrow("extract", "--format", "jsonl", str(folder / "a.html"), "-", stdin=PAGE)
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    assert [row["path"] for row in rows] == [str(folder / "a.html"), "-"]
    assert rows[0]["text"] == rows[1]["text"]
    assert windrow("extract", stdin=PAGE).stdout.decode().rstrip("\n") == rows[0]["text"]


def test_the_date_of_a_page_may_be_in_its_url() -> None:
    found = windrow("extract", "--format", "jsonl", "--url", "http://a.example/2023/04/05/mill", stdin=PAGE)
    assert json.loads(found.stdout)["date"] == "2023-04-05"


def test_links_and_emphasis_of_a_real_page_are_shown() -> None:
    page = PAGE.replace(b"old mill", b"<b>old</b> <a href='x.html'>mill</a>")
    url = ("--url", "http://a.example/y/")
    assert (
        b"The **old** [mill](http://a.example/y/x.html) by"
        in windrow("extract", "--format", "markdown", "--links", *url, stdin=page).stdout
    )
    assert b"The **old** mill by" in windrow("extract", "--format", "markdown", stdin=page).stdout
    assert b"The **old** [mill](/x.html) by" in windrow("extract", "--format=markdown", "--links", stdin=page).stdout
    assert windrow("extract", "--links", *url, stdin=page).stdout.endswith(b"\n\nhttp://a.example/y/x.html\n")
    assert "marks" not in windrow("extract", "--format", "jsonl", stdin=page).stdout.decode()


def test_a_file_name_that_is_not_utf_8_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "mill\udcff.html").write_bytes(PAGE)
    found = windrow("extract", "--format", "jsonl", str(tmp_path / "mill\udcff.html"))
    assert json.loads(found.stdout)["path"] == str(tmp_path / "mill?.html")


def test_the_error_for_a_closed_standard_input_is_one_sentence() -> None:
    out = subprocess.run(f"{sys.executable} -m windrow.cli extract <&-", shell=True, capture_output=True, check=False)
    assert (out.returncode, out.stderr) == (2, b"windrow: standard input is closed; name a file\n")


def test_a_reader_that_stops_reading_ends_the_command_silently(folder: Path) -> None:
    warcs.write(folder / "long.warc.gz", [warcs.record(f"http://a.example/{at}", PAGE) for at in range(300)])
    command = f"{sys.executable} -m windrow.cli extract {folder / 'long.warc.gz'} | head -c 1"
    out = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert (out.stdout, out.stderr) == (b"=", b"")
