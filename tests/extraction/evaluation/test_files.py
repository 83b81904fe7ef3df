"""`windrow extract`: files to main text, evaluation and training, with every extractor."""

import io
import json
import sys
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest

from windrow import cli, config, extraction
from windrow.config import ConfigError
from windrow.extraction.evaluation import files
from windrow.extraction.main.justext import stoplists
from windrow.records import Capture, Task, Url

STORY = " ".join(
    [
        "The old mill by the river had been closed for years when the children found that the door was not locked.",
        "They went in one after the other, and what they saw there they did not tell anyone until the summer was over.",
        "It was the smallest of them who spoke of it first, and by then the others almost believed it was a dream.",
    ]
)
MENU = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in ("home", "news", "contact", "imprint"))
BODY = f"<ul>{MENU}</ul>\n<p>{STORY}</p>\n<p>{STORY}</p>\n<div>© 2026</div>"
PAGE = f"<html lang=en><title>The mill</title><body>{BODY}</html>".encode()


TEXTS = Path(stoplists.__file__).resolve().parents[4] / "demo" / "texts"
NAMES = [name for name in extraction.EXTRACTORS if name != "none"]


def extractor(name: str, *settings: str) -> extraction.Extractor:
    return extraction.extractor(files.options(name, settings))


def test_the_options_accept_every_extractor_and_no_other_name() -> None:
    for name in extraction.EXTRACTORS:
        assert config.make([f"extract.extractor={name}"], Path()).extract.extractor == name
    with pytest.raises(config.ConfigError):
        extractor("other")
    assert config.ExtractOptions().extractor in extraction.EXTRACTORS


def test_every_extractor_takes_links_and_none_takes_only_links() -> None:
    capture = Capture(
        Task(Url("http://a.test/", "a.test", "a.test", 1)),
        200,
        b"",
        b"HTTP/1.1 200 OK\r\n\r\n",
        PAGE,
        0.0,
        0.0,
        "",
        "h2",
    )
    for name in extraction.EXTRACTORS:
        page = extraction.extractor(config.make([f"extract.extractor={name}", "extract.max_links=3"], Path()))(capture)
        assert [link.url.text for link in page.links] == [
            "http://a.test/home",
            "http://a.test/news",
            "http://a.test/contact",
        ]
        assert bool(page.paragraphs) == (name != "none")


@pytest.mark.parametrize(
    ("name", "setting", "words"),
    [
        ("paragraph", "", "option 'extract.extractor' names 'paragraph', which is not a reference"),
        ("paragraphs", "paragraphs.preset=best", "'paragraphs.preset' in --set must be 'stock' or 'tuned', not 'best'"),
        (
            "paragraphs",
            "paragraphs.language=Klingon",
            "there is no stop list for 'Klingon'; make one with 'windrow extract stoplist",
        ),
        ("paragraphs", "paragraphs.stoplist=/no/such/list", "cannot read the stop list /no/such/list"),
        ("paragraphs", "paragraphs.stopwords_low=2", "from 0 to 1, not 2.0"),
        ("lines", "extract.model=/no/such/model", "cannot read the model /no/such/model"),
    ],
)
def test_a_wrong_option_is_an_error_before_the_first_page(name: str, setting: str, words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        extractor(name, *filter(None, [setting]))
    assert words in str(raised.value)


class Done(NamedTuple):
    returncode: int
    stdout: bytes
    stderr: bytes


def windrow(*arguments: str, stdin: bytes = b"") -> Done:
    """Run the command in this process: to start a process for each takes longer than the tests."""
    given, out, err = (io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for data in (stdin, b"", b""))
    code = 0
    with patch.multiple(sys, argv=["windrow", *arguments], stdin=given, stdout=out, stderr=err):
        try:
            cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
        out.flush()
        err.flush()
    return Done(code, *(stream.buffer.getvalue() for stream in (out, err)))  # type: ignore[attr-defined]


def test_presets_and_single_thresholds_are_options_of_the_command() -> None:
    command = ("extract", "--extractor", "paragraphs")
    tuned, stock = (windrow(*command, "--preset", preset, stdin=PAGE).stdout for preset in ("tuned", "stock"))
    assert tuned == stock == windrow(*command, stdin=PAGE).stdout != b""
    assert windrow(*command, "--set", "paragraphs.length_low=5000", stdin=PAGE).stdout == b""


def test_an_option_of_paragraphs_selects_it_and_is_refused_with_another_extractor() -> None:
    page = b"<p>Of the old mill, and of the children who were in it.</p>"
    assert windrow(
        "extract", "--set", "paragraphs.length_low=5", "--set", "paragraphs.length_high=9", stdin=page
    ).stdout.startswith(b"Of the")
    found = windrow("extract", "--extractor", "lines", "--preset", "stock", stdin=PAGE)
    assert (found.returncode, found.stdout) == (2, b"")
    assert b"paragraphs.preset is an option of the extractor paragraphs, not of lines" in found.stderr


def test_the_help_shows_the_options_for_files_and_the_commands() -> None:
    shown = windrow("extract", "--help").stdout.decode()
    assert all(word in shown for word in ("[FILE]...", "--extractor", "--stoplist", "evaluate", "train", "stoplist"))


def test_a_stop_list_is_made_from_a_sample_and_used(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    made = windrow("extract", "stoplist", str(TEXTS / "en.txt"), "--size", "60", "-o", str(path))
    words = path.read_text("utf-8").split()
    assert (made.returncode, len(words), words[:3]) == (0, 60, ["the", "and", "of"])
    assert f"--stoplist {path}" in made.stdout.decode()
    command = ("extract", "--extractor", "paragraphs", "--stoplist")
    assert b"The old mill" in windrow(*command, str(path), stdin=PAGE).stdout
    czech = windrow("extract", "stoplist", "-", stdin=(TEXTS / "cs.txt").read_bytes()).stdout
    (tmp_path / "czech.txt").write_bytes(czech)
    assert windrow(*command, str(tmp_path / "czech.txt"), stdin=PAGE).stdout == b""


@pytest.mark.parametrize(
    ("sample", "arguments", "words"),
    [
        (b"too few words", [], "- holds 3 words"),
        (b"", [], "- holds 0 words"),
        (
            b"nothing but once said " + b"".join(b"w%da " % number for number in range(1500)),
            ["--size", "9"],
            "only 0 words occur",
        ),
        (b"one line\n\xff\n", [], "-, line 2: not UTF-8; save the sample as UTF-8"),
    ],
)
def test_the_error_for_a_useless_sample_is_one_sentence(sample: bytes, arguments: list[str], words: str) -> None:
    found = windrow("extract", "stoplist", "-", *arguments, stdin=sample)
    assert (found.returncode, found.stdout, found.stderr.count(b"\n")) == (2, b"", 1)
    assert found.stderr.decode().startswith(f"windrow: {words}")


def data(folder: Path) -> Path:
    for part, suffix, text in (("html", "html", PAGE), ("gold", "txt", f"{STORY}\n{STORY}".encode())):
        (folder / part).mkdir(parents=True)
        for number in range(4):
            (folder / part / f"{number}.{suffix}").write_bytes(text)
    (folder / "meta.jsonl").write_text(
        "".join(json.dumps({"id": str(number), "language": "en"}) + "\n" for number in range(4))
    )
    return folder


def test_evaluate_measures_extractors_on_pages_with_gold_text(tmp_path: Path) -> None:
    found = windrow("extract", "evaluate", str(data(tmp_path / "pages")), "--extractor", "paragraphs", "--json")
    made = json.loads(found.stdout)
    assert {(row["extractor"], row["pages"]) for row in made["rows"]} == {("paragraphs", 4)}
    assert made["rows"][0]["scores"]["f1"]["value"] > 0.95
    assert (made["pages"], made["tools"][0]["name"], made["resamples"]) == (4, "paragraphs", 1000)
    shown = windrow("extract", "evaluate", str(tmp_path / "pages"), "--extractor", "paragraphs").stdout.decode()
    assert shown.startswith("4 pages; ") and "paragraphs" in shown


def test_evaluate_reads_chosen_data_sets_and_every_nth_page_of_each(tmp_path: Path) -> None:
    for name in ("one", "two"):
        data(tmp_path / "pages" / name)
    command = ("extract", "evaluate", str(tmp_path / "pages"), "--extractor", "paragraphs", "--json")
    quick = json.loads(windrow(*command, "--every", "3").stdout)
    assert {row["value"]: row["pages"] for row in quick["rows"] if row["group"] == "dataset"} == {"one": 2, "two": 2}
    chosen = json.loads(windrow(*command, "--only", "two").stdout)
    assert [row["value"] for row in chosen["rows"] if row["group"] == "dataset"] == ["two"]


def test_evaluate_compares_title_author_and_date_where_they_are_known(tmp_path: Path) -> None:
    facts = [
        {"id": "0", "title": "The mill", "author": "", "date": None},
        {"id": "1", "title": "The Mill.", "author": ["Ann Lee", "Bo Ek"]},
        {"id": "2", "title": "Another"},
    ]
    (data(tmp_path / "pages") / "meta.jsonl").write_text("\n".join(map(json.dumps, facts)))
    command = ("extract", "evaluate", str(tmp_path / "pages"), "--extractor", "paragraphs")
    rows = {row["fact"]: row for row in json.loads(windrow(*command, "--json").stdout)["facts"]}
    assert list(rows) == ["title", "author"]
    assert (rows["title"]["pages"], rows["title"]["exact"]["value"]) == (3, pytest.approx(2 / 3))
    assert (rows["author"]["pages"], rows["author"]["missing"], rows["author"]["without"]) == (1, 1, 1)
    assert "right if given" in windrow(*command).stdout.decode()


def test_evaluate_writes_a_site_of_the_greatest_losses(tmp_path: Path) -> None:
    folder = data(tmp_path / "pages")
    for number, words in ((1, "one"), (3, "one two three")):
        text = f"{STORY}\n{STORY}\nWords that the page does not have: {words}"
        (folder / "gold" / f"{number}.txt").write_text(text)
    site = tmp_path / "losses"
    command = ("extract", "evaluate", str(folder), "--extractor", "paragraphs", "--losses", str(site))
    found = windrow(*command, "--limit", "1")
    assert (found.returncode, f"{site}/index.html shows the pages" in found.stdout.decode()) == (0, True)
    assert sorted(path.name for path in (site / "pages").iterdir()) == ["0001.html", "0001.txt"]
    page = (site / "pages" / "0001.html").read_text("utf-8")
    assert "<del>Words that the page does not have: one two three</del>" in page
    assert "imprint" in page and "The old mill by the river" in page
    assert windrow(*command).returncode == 2


def test_only_lines_can_be_trained(tmp_path: Path) -> None:
    found = windrow(
        "extract", "train", str(data(tmp_path / "pages")), "--extractor", "paragraphs", "-o", str(tmp_path / "m.json")
    )
    assert (found.returncode, (tmp_path / "m.json").exists()) == (2, False)
    assert b"only lines can" in found.stderr


def test_a_site_with_fewer_pages_than_folds_is_tried_page_by_page(tmp_path: Path) -> None:
    rows = json.loads(
        windrow(
            "extract", "evaluate", str(data(tmp_path / "pages")), "--extractor", "lines", "--folds", "10", "--json"
        ).stdout
    )
    assert [(row["site"], row["pages"]) for row in rows] == [("pages", 4)]
    for number in (1, 2, 3):
        (tmp_path / "pages" / "html" / f"{number}.html").unlink()
    found = windrow("extract", "evaluate", str(tmp_path / "pages"), "--extractor", "lines", "--folds", "10")
    assert (found.returncode, found.stdout) == (2, b"") and b"pages has one usable page" in found.stderr


def refused(*arguments: str, stdin: bytes = PAGE) -> str:
    """Return the one sentence with which a command fails."""
    found = windrow("extract", *arguments, stdin=stdin)
    assert (found.returncode, found.stdout, found.stderr.count(b"\n")) == (2, b"", 1), found
    return found.stderr.decode().removeprefix("windrow: ").rstrip("\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--extractor", "line"], "there is no extractor 'line'; choose one of blocks, paragraphs, lines, none"),
        (
            ["--extractor", "paragraphs", "--model", "x"],
            "the extractor paragraphs has no model; --model is for blocks and lines",
        ),
        (["--format", "xml"], "--format 'xml' is unknown; it must be one of text, markdown, jsonl, tei, html"),
        (
            ["evaluate", "PAGES", "--extractor", "line"],
            "there is no extractor 'line'; choose one of blocks, paragraphs, lines, none",
        ),
        (
            ["evaluate", "PAGES", "--folds", "1"],
            "1 fold leaves no page for training; cross-validation needs 2 folds or more, the paper has 10",
        ),
        (
            ["evaluate", "PAGES", "--folds", "2", "--classifier", "x"],
            "there is no classifier 'x'; choose one of svm, bayes, tree",
        ),
        (
            ["evaluate", "PAGES", "--folds", "2", "--extractor", "blocks"],
            "the extractor 'blocks' cannot be trained here, only lines can; use",
        ),
        (
            ["evaluate", "PAGES", "--folds", "2", "--model", "x"],
            "--folds trains lines on these pages and tests it on them; leave out --model,",
        ),
        (
            ["evaluate", "PAGES", "--model", "x"],
            "--model x belongs to one extractor; measure that one alone: --extractor lines, or",
        ),
        (["evaluate", "PAGES", "--peers", "boilerpipe"], "there is no peer 'boilerpipe'; the peers are trafilatura,"),
        (["evaluate", "PAGES", "--only", "pages,other"], "PAGES has no data set 'other'; it has pages"),
        (["evaluate", "PAGES", "--losses", "PAGES"], "PAGES exists and is not empty; remove it, or name another"),
        (
            ["evaluate", "PAGES", "--losses", "PAGES/meta.jsonl"],
            "PAGES/meta.jsonl cannot be made a directory (File exists); name another one with --losses",
        ),
        (["evaluate", "PAGES/gold"], "PAGES/gold holds no pages with gold text; a data set is a folder or tar file of"),
        (["evaluate", "PAGES/meta.jsonl"], "PAGES/meta.jsonl cannot be read as a tar file"),
        (["evaluate", "PAGES", "--folds", "2", "--losses", "x"], "--folds trains lines on these pages and tests it"),
        (["train", "PAGES", "--classifier", "x"], "there is no classifier 'x'; choose one of svm, bayes, tree"),
        (["train", "PAGES", "-o", "PAGES"], "PAGES is a folder; name a file for the model with -o"),
        (
            ["train", "PAGES", "-o", "PAGES/no/m"],
            "there is no folder PAGES/no for the model; create it, or name another file with -o",
        ),
    ],
)
def test_an_error_is_one_sentence(arguments: list[str], words: str, tmp_path: Path) -> None:
    pages = str(data(tmp_path / "pages"))
    said = refused(*(one.replace("PAGES", pages) for one in arguments)).replace(pages, "PAGES")
    assert said.startswith(words) or said.startswith(f"{words} "), said
    assert not Path("lines.json").exists()


def test_a_site_that_cannot_be_tried_is_skipped(tmp_path: Path) -> None:
    """Another site has one page, and its URL is invalid."""
    facts = [{"id": str(number), "site": "mill"} for number in range(3)] + [{"id": "3", "url": "http://[::1"}]
    (data(tmp_path / "pages") / "meta.jsonl").write_text("\n".join(map(json.dumps, facts)))
    found = windrow("extract", "evaluate", str(tmp_path / "pages"), "--folds", "3", "--json")
    rows = json.loads(found.stdout)
    assert [(row["site"], row["pages"], row["left_out"]) for row in rows] == [("mill", 3, 0), ("pages", 0, 1)]
    shown = windrow("extract", "evaluate", str(tmp_path / "pages"), "--folds", "3").stdout.decode().splitlines()
    assert shown[-1].split()[3:] == shown[1].split()[3:]


def test_training_reports_the_model(tmp_path: Path) -> None:
    made = windrow(
        "extract",
        "train",
        str(data(tmp_path / "pages")),
        "-o",
        str(tmp_path / "m.json"),
        "--classifier",
        "tree",
        "--json",
    )
    assert json.loads(made.stdout) == {
        "model": str(tmp_path / "m.json"),
        "extractor": "lines",
        "classifier": "tree",
        "pages": 4,
    }


def test_a_trained_model_can_be_used(tmp_path: Path) -> None:
    model = tmp_path / "mill.json"
    trained = windrow("extract", "train", str(data(tmp_path / "pages")), "-o", str(model))
    assert (trained.returncode, model.exists()) == (0, True), trained.stderr
    assert b"The old mill" in windrow("extract", "--extractor", "lines", "--model", str(model), stdin=PAGE).stdout
    model.write_text('{"cuts":\n 3}')
    found = windrow("extract", "--extractor", "lines", "--model", str(model), stdin=PAGE)
    assert found.returncode == 2 and str(model).encode() in found.stderr
