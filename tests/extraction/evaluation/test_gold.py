"""Pages with gold text: folders and tar files give the same, and what is malformed is named with its line."""

import json
import tarfile
from pathlib import Path

import pytest

from windrow.config import ConfigError
from windrow.extraction.evaluation import gold


def data(folder: Path, **meta: object) -> Path:
    pages = {f"html/{name}.html": f"<p>{name}" for name in "bac"}
    for name, text in {**pages, "gold/a.txt": "A", "gold/b.txt": "\ufeffB"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (folder / "meta.jsonl").write_text(json.dumps({"id": "b", "url": "http://a.test/b", **meta}) + "\n\n")
    return folder


def test_pages_come_in_the_order_of_their_names_and_only_with_gold_text(tmp_path: Path) -> None:
    found = list(gold.samples(data(tmp_path / "set", language="cs", page_type="forum", site="s", encoding="utf-8")))
    assert [(one.name, one.dataset, one.body, one.gold) for one in found] == [
        ("a", "set", b"<p>a", "A"),
        ("b", "set", b"<p>b", "B"),
    ]
    assert (found[1].url, found[1].language, found[1].kind, found[1].site) == ("http://a.test/b", "cs", "forum", "s")
    assert (found[0].url, found[0].language, found[0].partial) == ("", "", False)


@pytest.mark.parametrize("root", ["", "set/"])
def test_a_tar_file_gives_what_its_folder_gives(root: str, tmp_path: Path) -> None:
    folder = data(tmp_path / "set", **{"with": ["x"], "without": ["y", 1], "segments_only": True})
    with tarfile.open(tmp_path / "set.tar.xz", "w:xz") as tar:
        for path in sorted(folder.rglob("*.*"), reverse=True):
            tar.add(path, root + str(path.relative_to(folder)))
    found = list(gold.samples(tmp_path / "set.tar.xz"))
    assert found == list(gold.samples(folder))
    assert (found[1].wanted, found[1].unwanted, found[1].partial) == (("x",), ("y", "1"), True)


def test_a_folder_of_data_sets_gives_all_of_them(tmp_path: Path) -> None:
    for name in ("two", "one"):
        data(tmp_path / name)
    assert [(one.dataset, one.name) for one in gold.samples(tmp_path)] == [
        ("one", "a"),
        ("one", "b"),
        ("two", "a"),
        ("two", "b"),
    ]


def test_every_nth_page_is_taken_of_each_data_set_and_of_chosen_ones() -> None:
    pages = [gold.Sample(str(number), dataset, b"", "") for dataset in ("one", "two") for number in range(5)]
    found = gold.chosen(pages, 2)
    assert [one.dataset + one.name for one in found] == ["one0", "one2", "one4", "two0", "two2", "two4"]
    assert [one.dataset + one.name for one in gold.chosen(pages, 3, ["two"])] == ["two0", "two3"]


def test_a_fact_is_unknown_or_empty_or_one_line(tmp_path: Path) -> None:
    folder = data(tmp_path / "set", title=" The\nmill ", author=["Ann Lee", "Bo\tEk"], date="")
    other, found = gold.samples(folder)
    assert (found.title, found.author, found.date) == ("The mill", "Ann Lee, Bo Ek", "")
    assert (other.title, other.author, other.date) == (None, None, None)


def test_a_page_is_captured_with_its_address_and_encoding() -> None:
    capture = gold.Sample("a", "set", b"x", "", url="http://a.test/x", encoding="iso-8859-2").capture()
    assert (capture.task.url.text, capture.header("content-type")) == (
        "http://a.test/x",
        "text/html; charset=iso-8859-2",
    )
    assert gold.Sample("a", "set", b"x", "").capture().task.url.host == "page.invalid"


def broken(folder: Path, name: str, content: bytes) -> str:
    (data(folder) / name).write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        list(gold.samples(folder))
    return str(raised.value).replace(str(folder), "SET")


@pytest.mark.parametrize("line", [b"{", b"[]", b"{}", b"3", b'"id"', b'{"id": "a"} {"id": "b"}'])
def test_a_malformed_line_of_facts_is_named(line: bytes, tmp_path: Path) -> None:
    complaint = broken(tmp_path / "set", "meta.jsonl", b'{"id": "a"}\n\n' + line + b"\n")
    assert complaint == 'SET/meta.jsonl, line 3: not a JSON object with an "id"; fix or remove the line'


def test_a_line_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    assert (
        broken(tmp_path / "one", "gold/a.txt", b"A\nB\xff")
        == "SET/gold/a.txt, line 2: not UTF-8; save the gold text as UTF-8"
    )
    assert broken(tmp_path / "two", "meta.jsonl", b"\n\n\xff").startswith("SET/meta.jsonl, line 3: not UTF-8; save ")


def test_facts_that_are_no_words_are_made_some(tmp_path: Path) -> None:
    """Halves of characters, line ends and bells would break tables and headers; numbers and lists are not refused."""
    folder = data(
        tmp_path / "set", site="a\ud800\r\nb\a", language=5, encoding=["x"], page_type={}, **{"with": ["\ud800"]}
    )
    found = list(gold.samples(folder))[1]
    assert (found.site, found.language, found.encoding, found.kind, found.wanted) == ("a? b", "5", "['x']", "", ("?",))
    assert found.capture().header("content-type") == "text/html; charset=['x']"


@pytest.mark.parametrize(
    "content", [b"", b"no tar", b"\xfd7zXZ\0\0", b"\x1f\x8b\x08\0\0\0\0\0\0\0broken", b"BZh9broken"]
)
def test_a_file_that_is_no_tar_file_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "set.tar").write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        list(gold.samples(tmp_path / "set.tar"))
    assert "\n" not in str(raised.value)


def test_a_line_of_facts_so_deep_that_python_gives_up_is_named(tmp_path: Path) -> None:
    assert broken(tmp_path / "set", "meta.jsonl", b"\n" + b"[" * 100_000).startswith("SET/meta.jsonl, line 2: ")


@pytest.mark.parametrize(
    "make", [Path.mkdir, lambda path: path.write_bytes(b"no tar"), lambda path: (path / "html").mkdir(parents=True)]
)
def test_what_holds_no_pages_is_one_sentence_with_the_layout(make: object, tmp_path: Path) -> None:
    path = tmp_path / "set"
    make(path)  # type: ignore[operator]
    with pytest.raises(ConfigError, match=r"html/ID.html with gold/ID.txt"):
        list(gold.samples(path))


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no .*nowhere"):
        list(gold.samples(tmp_path / "nowhere"))
