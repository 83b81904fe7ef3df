"""The page of a report: complete in itself, true to the numbers, safe with names from the web."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

import windrow
from tests.inspect.report import crawls
from tests.logs import url, write
from windrow import cli
from windrow.config import ConfigError
from windrow.inspect import report
from windrow.inspect.report import page, plots
from windrow.inspect.report.samples import TextSample
from windrow.records import Frame, Task

PICTURES = {"scatter", "yield", "harvest", "what-if", "reasons", "languages", "tlds"}
VOID = {"meta", "br", "polyline", "circle", "rect"}


class Reader(HTMLParser):
    """Rows of the tables as lists of cells, and whether all tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "circle" and not self.get_starttag_text().endswith("/>"):  # type: ignore[union-attr]
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def read(file: Path) -> Reader:
    reader = Reader()
    reader.feed(file.read_text())
    assert reader.open in ([], ["html"])
    return reader


def made(tmp_path: Path, *directories: Path) -> tuple[Path, Reader]:
    """The page alone, as drawing the PNG files takes a second."""
    found = report.read(directories)
    file = tmp_path / "page.html"
    file.write_text(page.render(found, plots.all_of(found)))
    return file, read(file)


def test_a_report_is_a_page_with_pictures_next_to_it(tmp_path: Path) -> None:
    found = report.write(report.read([crawls.german(tmp_path / "c")]), tmp_path / "out")
    assert found.page == tmp_path / "out" / "index.html"
    assert {path.stem for path in found.pictures} == PICTURES
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        ["index.html", *(f"{name}.svg" for name in PICTURES)]
    )


def test_pictures_are_also_written_as_png_on_request(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    one = crawls.german(tmp_path / "one")
    result = CliRunner().invoke(cli.app, ["report", str(one), "--png"])
    assert result.exit_code == 0, result.output
    written = {path.name for path in (one / "report").iterdir()}
    assert written == {"index.html"} | {f"{name}.{kind}" for name in PICTURES for kind in ("svg", "png")}
    assert (one / "report" / "scatter.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_can_be_named(tmp_path: Path) -> None:
    found = report.write(report.read([crawls.german(tmp_path / "c")]), tmp_path / "out" / "may.html")
    assert found.page.name == "may.html"
    assert {path.name for path in found.pictures} == {f"may-{name}.svg" for name in PICTURES}


def test_only_an_earlier_report_is_replaced(tmp_path: Path) -> None:
    found = report.read([crawls.german(tmp_path / "c")])
    report.write(found, tmp_path / "out")
    report.write(found, tmp_path / "out")
    for name in ("mine/index.html", "pictures/scatter.svg"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("mine")
        with pytest.raises(ConfigError, match="choose another place with -o"):
            report.write(found, (tmp_path / name).parent)
        assert [path.name for path in (tmp_path / name).parent.iterdir()] == [Path(name).name]
        assert (tmp_path / name).read_text() == "mine"


def test_the_page_needs_no_other_file(tmp_path: Path) -> None:
    file, reader = made(tmp_path, crawls.german(tmp_path / "c"))
    assert not {"script", "link", "img", "iframe", "object"} & reader.tags
    assert not re.search(r"(?:src|url)\s*[=(]", file.read_text())
    links = re.findall(r"<(\w+)[^<>]*\shref=[^<>]*>", file.read_text())
    assert set(links) == {"a"}  # a link loads nothing until it is followed


def test_the_page_has_the_numbers(tmp_path: Path) -> None:
    _, reader = made(tmp_path, crawls.german(tmp_path / "c"))
    assert ["all", "4", "50.0 kB", "100 %", "6.10 kB", "100 %", "0.1220"] in reader.rows
    assert ["rich.de", "2", "2", "20.0 kB", "6.00 kB", "30 %"] in reader.rows
    assert ["German deu", "3", "30.0 kB", "12.0 kB", "3", "1,200", "6.10 kB", "20 %", "100 %", ""] in reader.rows
    (seen,) = [row for row in reader.rows if row[:2] == ["✓", "URLs admitted"]]
    assert seen[2:] == ["8", "= 3 ok + 1 language + 1 low-yield + 1 no-text + 1 timeout + 1 waiting or in flight"]


def test_two_crawls_are_shown_side_by_side(tmp_path: Path) -> None:
    _, reader = made(tmp_path, crawls.german(tmp_path / "one"), crawls.german(tmp_path / "two", scale=0))
    assert ["yield", "12 % kept / downloaded", "0.2 % kept / downloaded"] in reader.rows
    assert ["de", "8.00 kB", "6.00 kB", "98 %", "", "8.00 kB", "0", "0", ""] in reader.rows
    assert ["ok", "3", "43 %", "", "3", "43 %", ""] in reader.rows
    step = next(row for row in reader.rows if row[0] == "0.0256")
    assert step[1:] == ["1", "20.0 kB", "40 %", "6.00 kB", "98 %", "0.3000", "0", "0", "0", "0", "0", "0.0000"]


def test_names_from_the_web_cannot_break_the_page(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    directory = tmp_path / "a&b<i>"
    directory.mkdir()
    page_ = crawls.page("x.de", "1", clean=10, kept=5, language=hostile, refused={hostile: 1})
    write(directory / "log", Frame(1, 1.0, (page_,), {}, (Task(url("1", "x.de")),)))
    file, reader = made(tmp_path, directory)
    assert "script" not in reader.tags
    assert hostile in [row[0] for row in reader.rows]
    assert "<title>a&amp;b&lt;i&gt; · Windrow report</title>" in file.read_text()


def test_reasons_and_languages_come_before_what_if(tmp_path: Path) -> None:
    text = made(tmp_path, crawls.german(tmp_path / "c"))[0].read_text()
    titles = re.findall(r"<h2>([^<]*)</h2>", text)
    assert titles.index("Reasons") < titles.index("Languages") < titles.index("What if")


def test_the_page_has_version_and_options_of_the_crawl(tmp_path: Path) -> None:
    directory = crawls.german(tmp_path / "c")
    (directory / "crawl.toml").write_text('[identity]\noperator = "<b>me</b>"\n[fetch]\ndelay = 5.0\n')
    text = made(tmp_path, directory)[0].read_text()
    assert f"Windrow {windrow.__version__}" in text
    assert "[identity]\noperator = &quot;&lt;b&gt;me&lt;/b&gt;&quot;\n</pre>" in text and "delay" not in text


def test_sample_texts_are_escaped(tmp_path: Path) -> None:
    found = report.read([crawls.german(tmp_path / "c")])
    bad = TextSample(
        url='http://a.de/"><script>', title="<img src=x>", language="deu", text="<script>alert(1)</script>"
    )
    shown = [replace(found[0], samples=[bad])]
    text = page.render(shown, plots.all_of(shown))
    assert "<script" not in text and "<img" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text and "German" in text


def test_a_crawl_without_text_says_so(tmp_path: Path) -> None:
    file, reader = made(tmp_path, crawls.without_text(tmp_path / "c"))
    assert "No text was extracted" in file.read_text()
    assert ["ok", "2", "20.0 kB", "100 %", ""] in reader.rows


def test_a_crawl_that_has_not_begun_has_a_page(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text("")
    file, _ = made(tmp_path, tmp_path)
    assert "Nothing has been committed yet" in file.read_text()


def test_a_log_cut_short_is_reported_with_a_note(tmp_path: Path) -> None:
    file = crawls.german(tmp_path / "c") / "log" / "00000.jsonl.gz"
    file.write_bytes(file.read_bytes()[:-5])
    file, reader = made(tmp_path, tmp_path / "c")
    assert "bytes after the last whole frame were left out" in file.read_text()
    assert ["all", "2", "30.0 kB", "100 %", "6.10 kB", "100 %", "0.2033"] in reader.rows


def test_the_command_writes_into_the_crawl_or_to_the_given_place(tmp_path: Path) -> None:
    one, two = crawls.german(tmp_path / "one"), crawls.german(tmp_path / "two")
    for arguments, file in (
        ([str(one)], one / "report" / "index.html"),
        ([str(one), str(two)], one / "report" / "with-two" / "index.html"),
        ([str(one), "-o", str(tmp_path / "x")], tmp_path / "x" / "index.html"),
    ):
        result = CliRunner().invoke(cli.app, ["report", *arguments])
        assert (result.exit_code, file.exists()) == (0, True), result.output
        assert result.output.startswith(f"{file} written")


def test_the_command_prints_the_numbers(tmp_path: Path) -> None:
    one, two = crawls.german(tmp_path / "one"), crawls.german(tmp_path / "two")
    found = json.loads(CliRunner().invoke(cli.app, ["report", str(one), "--json"]).output)
    assert (found["seen"], found["waiting"], found["kept"], found["yield"]) == (8, 1, 6100, 0.122)
    assert not (one / "report").exists()
    both = json.loads(CliRunner().invoke(cli.app, ["report", str(one), str(two), "--json"]).output)
    assert [crawl["name"] for crawl in both] == ["one", "two"]
    assert both[0]["sums"][0]["holds"] is True


@pytest.mark.parametrize("unit", ["path", ""])
def test_an_unknown_unit_is_refused(tmp_path: Path, unit: str) -> None:
    result = CliRunner().invoke(cli.app, ["report", str(crawls.german(tmp_path / "c")), "--by", unit])
    assert "neither 'domain' nor 'host'" in str(result.exception)
