"""Files to their main text, by the extractor that was asked for."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from windrow.config import ConfigError
from windrow.extract import files

STORY = " ".join(
    [
        "The old mill by the river had been closed for years when the children found that the door was not locked at all.",
        "They went in one after the other, and what they saw there they did not tell anyone until the summer was over.",
        "It was the smallest of them who spoke of it first, and by then the others had almost come to believe it was a dream.",
    ]
)
MENU = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in ("home", "news", "contact", "imprint"))
PAGE = f"<html lang=en><title>The mill</title><body><ul>{MENU}</ul>\n<p>{STORY}</p>\n<p>{STORY}</p>\n<div>© 2026</div></html>".encode()


@pytest.mark.parametrize("name", files.NAMES)
def test_an_extractor_keeps_the_story_and_drops_the_menu(name: str) -> None:
    row = files.row("mill.html", PAGE, files.extractor(name))
    assert (row.path, row.title, row.language) == ("mill.html", "The mill", "en")
    assert "The old mill by the river" in row.text
    assert "imprint" not in row.text


@pytest.mark.parametrize("body", [b"", b"\0\xff" * 50, b"%PDF-1.7 x", b"<p>" * 5000])
@pytest.mark.parametrize("name", files.NAMES)
def test_what_is_no_page_has_no_text(name: str, body: bytes) -> None:
    assert files.row("x", body, files.extractor(name)).text == ""


def test_an_unknown_extractor_is_named_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'paragraphs'"):
        files.extractor("paragraph")
    with pytest.raises(ConfigError, match="there is no preset 'best'"):
        files.extractor("paragraphs", preset="best")


def windrow(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "windrow.cli", *arguments], input=stdin, capture_output=True, check=False)


def test_the_command_reads_files_and_standard_input(tmp_path: Path) -> None:
    (tmp_path / "mill.html").write_bytes(PAGE)
    found = windrow("extract", "--format", "jsonl", str(tmp_path / "mill.html"), "-", stdin=PAGE)
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    assert [row["path"] for row in rows] == [str(tmp_path / "mill.html"), "-"]
    assert rows[0]["text"] == rows[1]["text"]
    assert windrow("extract", stdin=PAGE).stdout.decode().rstrip("\n") == rows[0]["text"]


def test_a_missing_file_is_one_sentence_and_code_2() -> None:
    found = windrow("extract", "no-such-file.html")
    assert (found.returncode, found.stdout) == (2, b"")
    assert found.stderr.decode().startswith("windrow: no-such-file.html")


def data(folder: Path) -> Path:
    for part, suffix, text in (("html", "html", PAGE), ("gold", "txt", f"{STORY}\n{STORY}".encode())):
        (folder / part).mkdir(parents=True)
        for number in range(4):
            (folder / part / f"{number}.{suffix}").write_bytes(text)
    (folder / "meta.jsonl").write_text("".join(json.dumps({"id": str(number), "language": "en"}) + "\n" for number in range(4)))
    return folder


def test_evaluate_measures_extractors_on_pages_with_gold_text(tmp_path: Path) -> None:
    found = windrow("extract", "evaluate", str(data(tmp_path / "pages")), "--extractor", "paragraphs", "--json")
    rows = json.loads(found.stdout)
    assert {(row["extractor"], row["pages"]) for row in rows} == {("paragraphs", 4)}
    assert rows[0]["bag"]["f1"] > 0.95
    shown = windrow("extract", "evaluate", str(tmp_path / "pages"), "--extractor", "paragraphs").stdout.decode()
    assert shown.startswith("extractor") and "paragraphs" in shown


def test_only_what_is_trained_can_be_trained(tmp_path: Path) -> None:
    found = windrow("extract", "train", str(data(tmp_path / "pages")), "--extractor", "paragraphs", "-o", str(tmp_path / "m.json"))
    assert (found.returncode, (tmp_path / "m.json").exists()) == (2, False)
    assert b"only lines is" in found.stderr
